r"""S2's two theorems on generalisation, evaluated for a fitted machine.

Let m points be drawn from D, and :math:`\rho\ge\|\varphi(x)\|`.

**Hard margin.** If D is separated with margin γ by a homogeneous half-space, then with
probability at least 1 − δ the 0-1 loss of the hard-margin machine is at most

.. math:: \sqrt{\frac{4(\rho/\gamma)^2}{m}} + \sqrt{\frac{2\log(2/\delta)}{m}}.

**Soft margin.** For the minimiser A(S) of :math:`\lambda\|w\|^2 + L_S^{hinge}(w)`,

.. math:: E\,L_D^{0\text-1}(A(S)) \le E\,L_D^{hinge}(A(S)) \le
          \inf_u L_D^{hinge}(u) + \lambda\|u\|^2 + \frac{2\rho^2}{\lambda m},

and for every B, with :math:`\lambda = \sqrt{2\rho^2/(B^2m)}`, at most
:math:`\inf_{\|u\|\le B}L_D^{hinge}(u) + \sqrt{8\rho^2B^2/m}`.

Both are about half-spaces through the origin. A machine with an intercept is one after a
coordinate 1 is added to every φ(x): then w is (w, b), its norm
:math:`\sqrt{\|w\|^2+b^2}`, and ρ² is :math:`\max k(x,x) + 1`. (The theorems would have
such a machine regularise b too; ours does not.)

γ, ρ and :math:`L^{hinge}` of D are unknown: those of the training rows stand in for them.
The figures are therefore estimates of the bounds, good for comparing machines.

Source: S2; proofs in S. Shalev-Shwartz and S. Ben-David, "Understanding Machine
Learning", 2014, theorem 15.4 and corollary 15.7.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels.factory import self_values
from maxmargin.kernels.inputs import checked_rows
from maxmargin.kernels.naming import as_kernel
from maxmargin.theory.conversion import from_C, to_C

if TYPE_CHECKING:
    from maxmargin._arrays import Vector


class MarginBound(NamedTuple):
    """S2's hard-margin bound with its parts."""

    bound: float  # of the 0-1 loss
    radius: float  # ρ
    margin: float  # γ
    n: int
    delta: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound is 1 or more, which holds for every 0-1 loss."""
        return self.bound >= 1.0

    def __str__(self) -> str:
        return (
            f"With probability {1.0 - self.delta:.4g} the error on new points is, by "
            f"estimate, at most {self.bound:.4g}: radius {self.radius:.4g}, margin "
            f"{self.margin:.4g}, {self.n} points{_verdict(self.vacuous)}."
        )


class SoftMarginBound(NamedTuple):
    """S2's soft-margin bounds with their parts."""

    bound: float  # hinge + λ‖w‖² + 2ρ²/(λn), for the λ of the machine's C
    hinge: float  # mean hinge loss of the training rows
    norm: float  # ‖w‖
    radius: float  # ρ
    regularisation: float  # λ
    n: int
    B: float
    best_regularisation: float  # λ* = √(2ρ²/(B²n))
    best_C: float  # noqa: N815 - the C that λ* stands for
    best_bound: float  # hinge of w, shortened to B if longer, + √(8ρ²B²/n)

    @property
    def vacuous(self) -> bool:
        """Whether ``bound`` is 1 or more, which holds for every 0-1 loss."""
        return self.bound >= 1.0

    def __str__(self) -> str:
        return (
            f"The expected error on new points is, by estimate, at most "
            f"{self.bound:.4g}: hinge loss {self.hinge:.4g}, λ "
            f"{self.regularisation:.4g}, norm {self.norm:.4g}, radius "
            f"{self.radius:.4g}, {self.n} points{_verdict(self.vacuous)}. For norms up "
            f"to {self.B:.4g} the theorem's λ is {self.best_regularisation:.4g} (C = "
            f"{self.best_C:.4g}), with the bound {self.best_bound:.4g}."
        )


def margin_bound(machine: Any, X: Any, y: Any, delta: float = 0.05) -> MarginBound:
    r"""Return S2's bound :math:`\sqrt{4(\rho/\gamma)^2/m} + \sqrt{2\log(2/\delta)/m}`.

    Parameters
    ----------
    machine : fitted SVC of two classes
        A machine that separates the rows; γ is the distance of the nearest row from the
        boundary, which for the hard margin is 1/‖w‖ (with an intercept, 1/‖(w, b)‖).
    X, y : array-like
        The rows and labels it was fitted to.
    delta : float
        Probability with which the bound may fail, between 0 and 1.

    Returns
    -------
    MarginBound
        ``bound, radius, margin, n, delta`` and ``vacuous`` (a bound of 1 or more).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVC
    >>> X = np.repeat([[-1.0], [1.0]], 500, axis=0)
    >>> y = np.repeat([0, 1], 500)
    >>> machine = SVC(C=np.inf, kernel="linear", fit_intercept=False).fit(X, y)
    >>> round(margin_bound(machine, X, y).bound, 4)
    0.1491
    """
    if not isinstance(delta, Real) or not 0.0 < float(delta) < 1.0:
        msg = f"delta={delta!r}: the probability of failure must be between 0 and 1"
        raise InputError(msg)
    seen = _looked_at(machine, X, y)
    smallest = float(seen.margins.min())
    if smallest <= 0.0:
        wrong = int(np.count_nonzero(seen.margins <= 0.0))
        msg = (
            f"the machine does not separate its training rows ({wrong} of {seen.n} are "
            "on the wrong side or on the boundary), which the margin bound assumes: use "
            "soft_margin_bound, or a larger C or another kernel"
        )
        raise InputError(msg)
    gamma = smallest / seen.norm
    ratio = seen.radius / gamma
    bound = math.sqrt(4.0 * ratio**2 / seen.n)
    bound += math.sqrt(2.0 * math.log(2.0 / float(delta)) / seen.n)
    return MarginBound(bound, seen.radius, gamma, seen.n, float(delta))


def soft_margin_bound(
    machine: Any, X: Any, y: Any, B: float | None = None
) -> SoftMarginBound:
    r"""Return S2's bound :math:`L^{hinge}(w) + \lambda\|w\|^2 + 2\rho^2/(\lambda m)`.

    λ is that of the machine's C, 1/(2Cm) (:func:`maxmargin.theory.from_C`). The u of the
    theorem is the machine's own w, and the mean hinge loss on the training rows stands in
    for that of D, an estimate on the low side. Class and sample weights are no part of
    the theorem: all rows count alike.

    Parameters
    ----------
    machine : fitted SVC of two classes
        With the hinge loss and a finite C.
    X, y : array-like
        The rows and labels it was fitted to.
    B : float or None
        Norm of the theorem's best λ; the machine's own by default. For ``best_bound``, a
        w longer than B is shortened to B.

    Returns
    -------
    SoftMarginBound
        ``bound``, its parts, ``best_regularisation`` (λ*), ``best_C``, ``best_bound`` and
        ``vacuous`` (a bound of 1 or more).
    """
    C = getattr(machine, "C", None)
    if not isinstance(C, Real) or getattr(machine, "loss", "hinge") != "hinge":
        msg = (
            f"{machine!r}: the soft-margin bound is about the hinge loss with a C; use "
            "SVC(loss='hinge')"
        )
        raise InputError(msg)
    if not math.isfinite(float(C)):
        msg = (
            "C=inf is λ=0, for which the soft-margin bound is infinite: use margin_bound"
        )
        raise InputError(msg)
    seen = _looked_at(machine, X, y)
    if B is None:
        if seen.norm == 0.0:
            msg = "the machine's w is 0: give B, the norm for which λ is wanted"
            raise InputError(msg)
        B = seen.norm
    if not isinstance(B, Real) or not 0.0 < float(B) < np.inf:
        msg = f"B={B!r}: a norm must be positive and finite"
        raise InputError(msg)
    n, rho, B = seen.n, seen.radius, float(B)
    if rho == 0.0:
        msg = "every k(x, x) is 0, so no machine can tell the rows apart; scale X"
        raise InputError(msg)
    hinge = _hinge(seen.margins)
    lam = from_C(float(C), n, "soft-svm")
    best = math.sqrt(2.0 * rho**2 / (B**2 * n))
    shortened = min(1.0, B / seen.norm) if seen.norm > 0.0 else 1.0
    return SoftMarginBound(
        bound=hinge + lam * seen.norm**2 + 2.0 * rho**2 / (lam * n),
        hinge=hinge,
        norm=seen.norm,
        radius=rho,
        regularisation=lam,
        n=n,
        B=B,
        best_regularisation=best,
        best_C=to_C(best, n, "soft-svm"),
        best_bound=_hinge(shortened * seen.margins) + math.sqrt(8.0 * rho**2 * B**2 / n),
    )


class _Seen(NamedTuple):
    """Margins, norm and radius of a machine and its rows, intercept included."""

    margins: Vector  # y·f(x)
    norm: float
    radius: float
    n: int


def _looked_at(machine: Any, X: Any, y: Any) -> _Seen:
    width = getattr(machine, "margin_", None)
    classes = getattr(machine, "classes_", None)
    if width is None or classes is None:
        msg = (
            f"{machine!r} has no margin_ and classes_: the bounds need a fitted SVC of "
            "maxmargin; call fit first"
        )
        raise InputTypeError(msg)
    if len(classes) != 2 or not isinstance(width, Real) or math.isnan(float(width)):
        msg = (
            f"the machine tells {len(classes)} classes apart by {np.size(width)} "
            "problems: the bounds are about two classes and one w; fit the rows of two "
            "classes, with multi_class='ovo'"
        )
        raise InputError(msg)
    labels = np.asarray(y)
    decision = np.asarray(machine.decision_function(X), np.float64)
    if labels.shape != decision.shape:
        msg = f"y has shape {labels.shape} for {decision.size} rows: give one label a row"
        raise InputError(msg)
    first, second = labels == classes[0], labels == classes[1]
    if not (first | second).all():
        strange = labels[~(first | second)][0]
        msg = (
            f"y contains {strange!r}, which the machine does not know: its classes are "
            f"{classes[0]!r} and {classes[1]!r}"
        )
        raise InputError(msg)
    n = int(decision.size)
    if n != machine.shape_fit_[0]:
        msg = (
            f"X has {n} rows, the machine was fitted to {machine.shape_fit_[0]}: the "
            "bounds are about the training sample; give the same rows"
        )
        raise InputError(msg)
    norm2 = (2.0 / float(width)) ** 2  # margin_ = 2/‖w‖
    radius2 = float(_self_values(machine, X).max())
    if getattr(machine, "fit_intercept", True):
        norm2 += float(machine.intercept_[0]) ** 2
        radius2 += 1.0
    margins = np.where(second, decision, -decision)
    return _Seen(margins, math.sqrt(norm2), math.sqrt(max(0.0, radius2)), n)


def _self_values(machine: Any, X: Any) -> Vector:
    """Return k(x, x) of the training rows."""
    kernel = as_kernel(
        machine.kernel,
        degree=int(machine.degree),
        gamma=float(machine.gamma_),
        coef0=float(machine.coef0),
    )
    if kernel.precomputed:
        return np.asarray(X, np.float64).diagonal()
    # compiled code needs rows of numbers; a function takes any rows
    numbers = kernel.compiles or sparse.issparse(X)
    return self_values(kernel, checked_rows(X, "X") if numbers else np.asarray(X))


def _hinge(margins: Vector) -> float:
    return float(np.maximum(0.0, 1.0 - margins).mean())


def _verdict(vacuous: bool) -> str:
    return "; that is vacuous, for no loss exceeds 1" if vacuous else ""
