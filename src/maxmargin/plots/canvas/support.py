r"""Support vectors of a picture: how large α is, and where they lie.

For a machine with :math:`0 \le \alpha_i \le C_i`, the optimality conditions say

.. math:: 0 < \alpha_i < C_i \Rightarrow y_i f(x_i) = 1, \qquad
          \alpha_i = C_i \Rightarrow y_i f(x_i) \le 1

so free ones lie on the margin. Those at their bound lie inside it or, where
:math:`y_i f(x_i) < 0`, on the wrong side of the boundary. :math:`C_i` is C · class weight
· sample weight. The machines with ν have no C: their bound is the largest coefficient in
units of its weight, which all points inside the margin share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.pipeline import Pipeline

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Flags, Index, Vector

ROUNDING = 1e-12  # relative: NuSVC and SVDD divide their coefficients


class Supports(NamedTuple):
    """Support vectors in the plane of a picture.

    Parameters
    ----------
    at : ndarray of shape (m, 2)
        Where they are drawn.
    share : ndarray of shape (m,)
        α over its bound; over the largest α where there is none.
    bound, wrong : ndarray of shape (m,), bool
        Whether α is at its bound, and whether the point is on the wrong side.
    """

    at: NDArray[np.float64]
    share: Vector
    bound: Flags
    wrong: Flags


def innermost(machine: Any) -> Any:
    """Return the last step of a pipeline, or the machine itself."""
    return machine.steps[-1][1] if isinstance(machine, Pipeline) else machine


def support_rows(machine: Any, X: Any) -> Any:
    """Return the support vectors in the coordinates of X; None if they are not known.

    The machine of a pipeline has seen transformed rows: X must be that of the fit.
    """
    core = innermost(machine)
    if not (hasattr(core, "dual_coef_") and hasattr(core, "support_")):
        return None
    if core is machine:
        vectors = machine.support_vectors_
        return vectors if sparse.issparse(vectors) else np.asarray(vectors)
    fitted = getattr(core, "shape_fit_", (None,))[0]
    return X[core.support_] if X.shape[0] == fitted else None


def supports_of(
    machine: Any,
    at: NDArray[np.float64],
    decided: Any,
    sample_weight: Any = None,
) -> Supports:
    """Return the support vectors of a fitted machine as they are drawn.

    They stand at the places ``at``, and the machine predicts ``decided`` for them.
    ``sample_weight`` are the weights of the fit.
    """
    coef = machine.dual_coef_
    alpha = np.abs(coef.toarray() if sparse.issparse(coef) else np.asarray(coef))
    owner = np.repeat(np.arange(len(machine.n_support_)), machine.n_support_)
    outliers = is_outlier_detector(machine)
    wrong = np.asarray(decided) != (1 if outliers else machine.classes_[owner])
    weight = _weights(machine, owner, sample_weight)
    relative = (alpha / weight).max(axis=0)  # several classes: the largest α of a point
    limit = _limit(machine, relative)
    if np.isinf(limit):
        top = float(alpha.max(initial=0.0)) or 1.0
        return Supports(at, alpha.max(axis=0) / top, np.zeros(len(at), bool), wrong)
    bound = relative >= limit * (1.0 - ROUNDING)
    if outliers:
        wrong &= bound  # free ones are on the boundary itself, up to tol
    certificate = getattr(machine, "certificate_", None)
    if certificate is not None and not certificate.problems and sample_weight is None:
        _check_counts(int(bound.sum()), certificate.n_bound)
    return Supports(at, np.minimum(relative / limit, 1.0), bound, wrong)


def _weights(machine: Any, owner: Index, sample_weight: Any) -> Vector:
    """Return class weight times sample weight of every support vector."""
    weight = np.ones(owner.size)
    if is_classifier(machine):
        weight *= np.asarray(machine.class_weight_, dtype=np.float64)[owner]
    if sample_weight is None:
        return weight
    given = np.asarray(sample_weight, dtype=np.float64)
    rows = getattr(machine, "shape_fit_", (given.size,))[0]
    if given.shape != (rows,):
        msg = (
            f"sample_weight has shape {given.shape}: give the weights of the fit, one "
            f"for each of its {rows} rows"
        )
        raise InputError(msg)
    weight *= given[machine.support_]
    return weight


def _limit(machine: Any, relative: Vector) -> float:
    """Return the bound of α in units of its weight; inf where there is none."""
    if getattr(machine, "loss", "hinge") == "squared_hinge":
        return np.inf
    if not hasattr(machine, "nu"):
        return float(machine.C)
    certificate = getattr(machine, "certificate_", None)
    top = float(relative.max(initial=0.0))
    if certificate is None:
        shared = int((relative >= top * (1.0 - ROUNDING)).sum()) > 1
    else:
        shared = certificate.n_bound > 0
    return top if shared and top > 0.0 else np.inf


def _check_counts(found: int, certified: int) -> None:
    if found != certified:
        msg = (
            f"the certificate counts {certified} support vectors at their bound, but "
            f"{found} have the coefficient C · class weight: the machine was fitted with "
            "sample weights, or its C was changed since; give sample_weight as it was "
            "given to fit"
        )
        raise InputError(msg)
