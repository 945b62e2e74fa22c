"""What a fitted classifier says in public, checked against itself and its data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from maxmargin._referee.kernel import Kernel
from maxmargin._referee.tables import (
    as_numbers,
    as_table,
    number_of,
    require,
    take,
    tiles,
)
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Index = NDArray[np.intp]
    Vector = NDArray[np.float64]

ARRAYS = ("support_", "n_support_", "dual_coef_", "intercept_", "class_weight_")
NEEDED = ("C", "kernel", "classes_", *ARRAYS)


@dataclass(frozen=True)
class Fitted:
    """What the public attributes of a fitted classifier say, checked for consistency."""

    classes: NDArray[Any]
    support: Index
    owner: Index  # the class of each support vector
    counts: Index  # of the support vectors of each class
    vectors: Any  # None when the kernel is precomputed or a callable
    dual: Vector
    intercept: Vector
    weights: Vector  # of the classes
    kernel: Kernel
    C: float
    tol: float
    criterion: str  # what tol bounds
    squared: bool
    fit_intercept: bool
    single: bool  # the model stores float32

    @classmethod
    def read(cls, estimator: Any, table: Any) -> Fitted:
        kind = type(estimator).__name__
        for name in NEEDED:
            require(
                getattr(estimator, name, None) is not None,
                f"{kind} has no {name}: certify needs a kernel classifier after fit",
            )
        found = {name: as_numbers(name, getattr(estimator, name)) for name in ARRAYS}
        classes, n = np.asarray(estimator.classes_), table.shape[0]
        k, size = classes.size, found["support_"].size
        expected = {
            "support_": (size,),
            "n_support_": (k,),
            "dual_coef_": (k - 1, size),
            "intercept_": (k * (k - 1) // 2,),
            "class_weight_": (k,),
        }
        require(
            classes.shape == (k,) and k >= 2, "classes_ must name at least two classes"
        )
        for name, shape in expected.items():
            require(
                found[name].shape == shape,
                f"{name} has shape {found[name].shape}, but needs {shape}",
            )
        fitted = tuple(np.ravel(getattr(estimator, "shape_fit_", table.shape)).tolist())
        require(
            fitted == table.shape and min(fitted) > 0,
            f"X has shape {table.shape}, but that of the fit {fitted}",
        )
        names, counts = found["support_"], found["n_support_"]
        require(
            ((names >= 0.0) & (names < n)).all() and np.unique(names // 1.0).size == size,
            f"support_ must name distinct rows of X, which has {n}",
        )
        require(
            (counts >= 0.0).all() and counts.sum() == size,
            f"n_support_ must sum to {size}, the number of rows in support_",
        )
        return cls(
            classes=classes,
            support=names.astype(np.intp),
            owner=np.empty(0, dtype=np.intp),
            counts=counts.astype(np.intp),
            vectors=_vectors(estimator, (size, table.shape[1])),
            dual=found["dual_coef_"],
            intercept=found["intercept_"],
            weights=found["class_weight_"],
            kernel=Kernel.of(estimator, table),
            C=number_of(estimator, "C", 1.0),
            tol=number_of(estimator, "tol", np.nan),
            criterion=(
                "relative_gap"
                if getattr(estimator, "solver", "smo") == "pegasos"
                else "violation"
            ),
            squared=getattr(estimator, "loss", "hinge") == "squared_hinge",
            fit_intercept=bool(getattr(estimator, "fit_intercept", True)),
            single=getattr(estimator.dual_coef_, "dtype", None) == np.float32,
        )

    def coefficients(self, c: int) -> Vector:
        """β of the problems of class c, one column for each other class in order.

        LIBSVM's layout: row s of ``dual_coef_`` holds, for a vector of class i, its
        coefficient against the s-th of the other classes.
        """
        other = self.owner != c
        i = self.owner[other]
        out = np.zeros((self.support.size, self.classes.size - 1))
        out[~other] = self.dual[:, ~other].T
        out[other, i - (i > c)] = self.dual[c - (i < c), np.flatnonzero(other)]
        return out


def _vectors(estimator: Any, shape: tuple[int, int]) -> Any:
    if callable(estimator.kernel) or estimator.kernel == "precomputed":
        return None
    vectors = as_table("support_vectors_", getattr(estimator, "support_vectors_", None))
    if issparse(vectors) and vectors.shape[1] < shape[1]:
        vectors = vectors.copy()  # sklearnex drops empty columns at the end
        vectors.resize(vectors.shape[0], shape[1])
    require(
        vectors.shape == shape,
        f"support_vectors_ has shape {vectors.shape}, support_ and X need {shape}",
    )
    return vectors


def located(model: Fitted, table: Any, code: Index, price: Vector) -> Fitted:
    """Find the rows of X that ``support_`` means, and their classes.

    scikit-learn (1.9) counts only the rows of positive weight there, whatever its
    documentation says; so where rows are left out, both readings are tried.
    """
    kept = np.flatnonzero(price >= 0.0)
    readings = [model.support]
    if kept.size < price.size and model.support.max(initial=-1) < kept.size:
        readings.append(kept[model.support])
    for rows in readings:
        owner = code[rows]
        counts = np.bincount(owner, minlength=model.classes.size)
        if (
            np.array_equal(counts, model.counts)
            and (price[rows] > 0.0).all()
            and _same_rows(model.vectors, table, rows)
        ):
            return replace(model, support=rows, owner=owner)
    msg = (
        "the support vectors are no rows of this X with these classes and positive "
        "weights: pass the X, y and sample_weight of the fit, in the same order"
    )
    raise InputError(msg)


def _same_rows(vectors: Any, table: Any, rows: Index) -> bool:
    """Compare loosely: a float32 model may be shown the float64 X it was rounded from."""
    if vectors is None:
        return True
    sparse = issparse(table) and issparse(vectors)
    for some in tiles(rows.size, 1 if sparse else table.shape[1]):
        A, B = take(vectors, some), take(table, rows[some])
        if abs(A - B).max() > 1e-6 * abs(B).max():
            return False
    return True


def codes_of(classes: NDArray[Any], y: ArrayLike, n: int) -> Index:
    """Find each label in classes_."""
    labels = np.asarray(y)
    require(
        labels.shape in {(n,), (n, 1)},
        f"y has shape {labels.shape}: X has {n} rows and needs one label for each",
    )
    known = {label: code for code, label in enumerate(classes.tolist())}
    strange = set(labels.ravel().tolist()) - known.keys()
    require(not strange, f"y contains {[*strange][:1]}, but classes_ is {[*known]}")
    return np.array([known[label] for label in labels.ravel().tolist()], dtype=np.intp)


def prices_of(model: Fitted, code: Index, sample_weight: ArrayLike | None) -> Vector:
    """C · class weight · sample weight; −1 marks the rows that are left out."""
    require(model.C > 0.0, f"C={model.C}: the price of a margin error must be positive")
    weight = as_numbers("sample_weight", 1.0 if sample_weight is None else sample_weight)
    require(
        weight.shape in {(), code.shape},
        f"sample_weight has shape {weight.shape}: one weight a row is {code.shape}",
    )
    factor = model.weights[code] * weight
    price = np.where(factor > 0.0, model.C, 0.0)  # ∞·0 = 0: a zero box
    price *= np.where(factor > 0.0, factor, 1.0)
    return np.where(weight > 0.0, price, -1.0)
