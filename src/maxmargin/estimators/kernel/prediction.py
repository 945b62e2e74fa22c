"""Decision values from a fitted machine's public attributes.

Predictions use public attributes (``support_vectors_``, ``dual_coef_``, ``intercept_``,
…), which users can change. Compiled code does not check shapes and indices, so they are
checked here every time: an altered model gets an error, never a crash (CVE-2020-28975).
"""

from __future__ import annotations

from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from maxmargin.errors import InputError
from maxmargin.estimators.parameters import kernel_of
from maxmargin.kernels.factory import grouped_expansion
from maxmargin.kernels.gram.contract import Group
from maxmargin.validation import checked_csr, is_function, is_precomputed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.parallel import Workers

    Refusal = Callable[[str, str], NoReturn]

BLOCK = 1 << 22  # policy: decision values in memory at once, where only votes are needed


class Fitted(NamedTuple):
    """The checked attributes of a machine."""

    k: int  # classes; 1 for a machine without any
    bounds: NDArray[np.intp]  # support vectors of class c: bounds[c]:bounds[c + 1]
    vectors: Any  # support vectors, or for a precomputed kernel their row numbers
    dual_coef: Vector
    intercept: Vector

    @property
    def pairwise(self) -> bool:
        """Whether ``dual_coef`` is LIBSVM's table of pairs, not a line per output."""
        return self.k > 2 and self.dual_coef.shape[0] == self.k - 1


def checked_model(estimator: Any) -> Fitted:
    """Return the attributes of a fitted machine; an InputError names an altered one."""
    name = type(estimator).__name__

    def refuse(attribute: str, why: str) -> NoReturn:
        msg = (
            f"The internal representation of {name} was altered: {attribute} {why}; "
            "fit it anew"
        )
        raise InputError(msg)

    def array(attribute: str, kinds: str) -> NDArray[Any]:
        value = vars(estimator).get(attribute)
        if attribute == "dual_coef_" and sparse.issparse(value):
            value = _dense_coef(value, support.size, refuse)
        try:
            found = np.asarray(value)
        except ValueError:
            refuse(attribute, "is not an array")
        if found.dtype.kind not in kinds:
            refuse(attribute, f"has dtype {found.dtype}")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            refuse(attribute, "is not finite")
        return found

    k = 1
    if isinstance(estimator, ClassifierMixin):
        k = len(array("classes_", "biufUSOMm").reshape(-1))
        if k < 2:
            refuse("classes_", f"has {k} entries")
    support = array("support_", "iu")
    n_support = array("n_support_", "iu").astype(np.int64)
    dual_coef = np.ascontiguousarray(array("dual_coef_", "f"), dtype=np.float64)
    intercept = np.ascontiguousarray(array("intercept_", "f"), dtype=np.float64)
    n = support.size
    if support.ndim != 1:
        refuse("support_", f"has shape {support.shape}")
    if n_support.shape != (k,) or (n_support < 0).any() or (n_support > n).any():
        refuse("n_support_", f"must hold {k} counts of at most {n}")
    if int(n_support.sum()) != n:
        refuse("n_support_", f"adds up to {n_support.sum()}, not {n}")
    lines = max(1, k - 1)
    rests = k > 2 and dual_coef.shape[:1] == (k,)  # one against the rest
    if dual_coef.shape != (k if rests else lines, n):
        refuse("dual_coef_", f"has shape {dual_coef.shape}, not {(lines, n)}")
    if intercept.shape != (k if rests else max(1, k * (k - 1) // 2),):
        refuse("intercept_", f"has shape {intercept.shape}")
    if is_precomputed(estimator.kernel):
        rows = vars(estimator).get("n_features_in_", 0)
        if n and not (support.min() >= 0 and support.max() < rows):
            refuse("support_", f"must lie between 0 and {rows - 1}")
        vectors: Any = support.astype(np.intp)
    else:
        vectors = _checked_vectors(estimator, n, refuse)
    gamma = vars(estimator).get("gamma_")
    if not isinstance(gamma, Real) or not 0.0 <= float(gamma) < np.inf:
        refuse("gamma_", f"is {gamma!r}")
    bounds = np.concatenate([[0], np.cumsum(n_support)]).astype(np.intp)
    return Fitted(k, bounds, vectors, dual_coef, intercept)


def _checked_vectors(estimator: Any, n: int, refuse: Refusal) -> Any:
    vectors = vars(estimator).get("support_vectors_")
    name = "support_vectors_"
    if is_function(estimator.kernel) and not hasattr(estimator, "n_features_in_"):
        if not isinstance(vectors, np.ndarray) or vectors.shape[:1] != (n,):
            refuse(name, f"must be an array of {n} samples")
        return vectors
    if sparse.issparse(vectors):
        vectors = _own_csr(vectors, name, refuse)
        values = vectors.data
    elif isinstance(vectors, np.ndarray):
        vectors = values = np.require(np.asarray(vectors), requirements=["C", "A"])
    else:
        refuse(name, "is neither an array nor CSR")
    if values.dtype.type not in (np.float32, np.float64) or not values.dtype.isnative:
        refuse(name, f"has dtype {values.dtype}")
    if vectors.shape != (n, estimator.n_features_in_):
        refuse(name, f"has shape {vectors.shape}, not {(n, estimator.n_features_in_)}")
    if not np.isfinite(values).all():
        refuse(name, "is not finite")
    return vectors


def _dense_coef(coef: Any, n: int, refuse: Refusal) -> Any:
    if coef.shape[1:] != (n,):  # before it is made that large
        refuse("dual_coef_", f"has shape {coef.shape}")
    return _own_csr(coef, "dual_coef_", refuse).toarray()


def _own_csr(value: Any, attribute: str, refuse: Refusal) -> Any:
    if value.format != "csr" or value.ndim != 2:
        refuse(attribute, f"is sparse but {value.format}, not CSR")
    try:
        return checked_csr(value)
    except InputError as error:
        refuse(attribute, f"is malformed ({error})")


def decision_blocks(
    estimator: Any, X: Any, model: Fitted, *, workers: Workers, whole: bool
) -> Iterator[tuple[slice, Vector]]:
    """Yield decision values in blocks: (rows, values of shape (rows, problems)).

    The values of a pair are positive for its first class; with only two classes, for
    ``classes_[1]``. ``whole`` asks for one block.

    Kernel values are float64, except those of the Gaussian kernel between rows and
    support vectors that are both float32: then they are float32 where that is expected
    to change a decision value by less than 5e-4, half of the default ``tol``. Sums are
    always float64.
    """
    kernel, groups = kernel_of(estimator, estimator.gamma_), _groups(model)
    pairs = model.intercept.size
    n = X.shape[0]
    step = n if whole else max(1024, BLOCK // pairs)
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        block = X if step >= n else X[rows]
        with np.errstate(over="ignore", invalid="ignore"):  # refused just below
            values = (
                grouped_expansion(kernel, block, model.vectors, groups, workers=workers)
                if groups
                else np.zeros((rows.stop - start, pairs))
            )
            values += model.intercept
        if not np.isfinite(values).all():
            msg = (
                "the kernel overflows on this X, whose values are far larger than those "
                "of the fit; scale it as the training rows were scaled"
            )
            raise InputError(msg)
        yield rows, values


def _groups(model: Fitted) -> list[Group]:
    """Class by class, where its vectors have k − 1 coefficients: not one for every pair.

    Otherwise all vectors are one group; without vectors there is none.
    """
    if not model.bounds[-1]:
        return []
    if not model.pairwise:
        lines = np.arange(model.dual_coef.shape[0], dtype=np.intp)
        return [Group(0, model.dual_coef, lines)]
    k, bounds = model.k, model.bounds
    column = {pair: at for at, pair in enumerate(combinations(range(k), 2))}
    groups = []
    for c in range(k):
        others = (other for other in range(k) if other != c)
        places = [column[min(c, other), max(c, other)] for other in others]
        coef = np.ascontiguousarray(model.dual_coef[:, bounds[c] : bounds[c + 1]])
        groups.append(Group(int(bounds[c]), coef, np.array(places, np.intp)))
    return groups


def weights(model: Fitted) -> Any:
    """Return the weights of a linear kernel, a row per problem; CSR if the vectors are.

    The row of a pair is Σβ·x over its two classes, in the order of the decisions.
    """
    if not model.pairwise:
        return _product(model.dual_coef, model.vectors)
    lines = []
    for i in range(model.k):
        for j in range(i + 1, model.k):
            total: Any = 0
            for own, line in ((i, j - 1), (j, i)):
                some = slice(model.bounds[own], model.bounds[own + 1])
                part = _product(
                    model.dual_coef[line : line + 1, some], model.vectors[some]
                )
                total = part if isinstance(total, int) else total + part
            lines.append(total)
    if sparse.issparse(model.vectors):
        return type(model.vectors)(sparse.vstack(lines, format="csr"))
    return np.vstack(lines)


def _product(coef: Vector, vectors: Any) -> Any:
    if sparse.issparse(vectors):
        return type(vectors)(coef) @ vectors
    return coef @ vectors
