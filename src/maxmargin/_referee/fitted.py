"""What a fitted machine says in public, checked against itself and its data."""

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
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector

PARAMETERS = {
    "SVC": ("C",),
    "NuSVC": ("nu",),
    "SVR": ("C", "epsilon"),
    "NuSVR": ("C", "nu"),
    "OneClassSVM": ("nu",),
    "SVDD": ("nu", "radius_"),
}
CLASSIFIERS = ("SVC", "NuSVC")
JOINT = "crammer_singer"


def machine_of(estimator: Any) -> tuple[str, str]:
    """Which machine an estimator is, and the package that its class comes from.

    By the name of its class or of one it inherits from; else by what it has.
    """
    for base in type(estimator).__mro__:
        if base.__name__ in PARAMETERS:
            return base.__name__, base.__module__.partition(".")[0]

    def has(name: str) -> bool:
        return getattr(estimator, name, None) is not None

    if has("classes_"):
        # scikit-learn gives every machine every parameter, 0 where it has none.
        return "NuSVC" if has("nu") and not getattr(estimator, "C", None) else "SVC", ""
    if has("radius_"):
        return "SVDD", ""
    if has("nu"):
        return "OneClassSVM" if has("offset_") else "NuSVR", ""
    return "SVR" if has("epsilon") else "SVC", ""


@dataclass(frozen=True)
class Fitted:
    """What the public attributes of a fitted machine say, checked for consistency."""

    machine: str
    package: str  # where its class comes from; "" when that is not known
    classes: NDArray[Any]  # empty for machines that are no classifiers
    rest: bool  # one line of coefficients a class, instead of one against one
    joint: bool  # all classes in one problem
    support: Index
    owner: Index  # the class of each support vector; 0 where there are no classes
    counts: Index  # of the support vectors of each class
    vectors: Any  # None when the kernel is precomputed or a function
    dual: Vector
    intercept: Vector
    weights: Vector  # of the classes
    kernel: Kernel
    C: float  # 1 for machines without
    nu: float
    epsilon: float  # nan when a NuSVR does not tell
    radius: float
    tol: float
    criterion: str  # what tol bounds
    squared: bool
    fit_intercept: bool
    single: bool  # the model stores float32

    @classmethod
    def read(cls, estimator: Any, table: Any) -> Fitted:
        machine, package = machine_of(estimator)
        labelled = machine in CLASSIFIERS
        arrays = ["support_", "n_support_", "dual_coef_"]
        told = getattr(estimator, "intercept_", None) is not None
        arrays += ["intercept_"] if machine != "SVDD" or told else []
        arrays += ["class_weight_"] if labelled else []
        needed = (*PARAMETERS[machine], "kernel", *(["classes_"] if labelled else []))
        for name in (*needed, *arrays):
            require(
                getattr(estimator, name, None) is not None,
                f"{type(estimator).__name__} has no {name}: certify needs a machine "
                f"after fit, and judges this one as {machine}",
            )
        found = {name: as_numbers(name, getattr(estimator, name)) for name in arrays}
        classes = np.asarray(estimator.classes_ if labelled else [])
        rest = _against_the_rest(estimator, classes.size)
        _check_shapes(found, classes, labelled, rest)
        fitted = tuple(np.ravel(getattr(estimator, "shape_fit_", table.shape)).tolist())
        require(
            fitted == table.shape and min(fitted) > 0,
            f"X has shape {table.shape}, but that of the fit {fitted}",
        )
        names, counts = found["support_"], found["n_support_"]
        size, n = names.size, table.shape[0]
        require(
            ((names >= 0.0) & (names < n)).all() and np.unique(names // 1.0).size == size,
            f"support_ must name distinct rows of X, which has {n}",
        )
        require(
            (counts >= 0.0).all() and counts.sum() == size,
            f"n_support_ must sum to {size}, the number of rows in support_",
        )
        kernel = Kernel.of(estimator, table)
        tol, criterion = _promise(estimator)
        model = cls(
            machine=machine,
            package=package,
            classes=classes,
            rest=rest,
            joint=labelled and getattr(estimator, "multi_class", "") == JOINT,
            support=names.astype(np.intp),
            owner=np.empty(0, dtype=np.intp),
            counts=counts.astype(np.intp),
            vectors=_vectors(estimator, kernel, (size, *table.shape[1:])),
            dual=found["dual_coef_"],
            intercept=found.get("intercept_", np.full(1, np.nan)),
            weights=found.get("class_weight_", np.ones(1)),
            kernel=kernel,
            C=number_of(estimator, "C", 1.0) if "C" in PARAMETERS[machine] else 1.0,
            nu=number_of(estimator, "nu", 1.0) if "nu" in PARAMETERS[machine] else 1.0,
            epsilon=_tube(estimator, machine),
            radius=number_of(estimator, "radius_", 0.0) if machine == "SVDD" else 0.0,
            tol=tol,
            criterion=criterion,
            squared=machine == "SVC"
            and getattr(estimator, "loss", "hinge") == "squared_hinge",
            fit_intercept=bool(getattr(estimator, "fit_intercept", True)),
            single=getattr(estimator.dual_coef_, "dtype", None) == np.float32,
        )
        model._check_parameters(estimator)
        return model

    def _check_parameters(self, estimator: Any) -> None:
        require(self.C > 0.0, f"C={self.C}: the price of an error must be positive")
        require(0.0 < self.nu <= 1.0, f"nu={self.nu}: it must be in (0, 1]")
        require(
            not self.epsilon < 0.0, f"the tube is {self.epsilon}: it must be at least 0"
        )
        require(self.radius >= 0.0, f"radius_={self.radius}: it must not be negative")
        offset = getattr(estimator, "offset_", None)
        if self.machine not in {"OneClassSVM", "SVDD"} or offset is None:
            return
        told = as_numbers("offset_", offset).ravel()
        meant = -self.intercept if self.machine == "OneClassSVM" else -(self.radius**2)
        require(
            told.size == 1 and np.allclose(told, meant, rtol=1e-6, atol=1e-12),
            f"offset_ is {told}, but the rest of the model says {meant}",
        )


def _promise(estimator: Any) -> tuple[float, str]:
    """What was asked of the solver: a tolerance, and the figure that it bounds."""
    solver = getattr(estimator, "solver", "auto")
    if not isinstance(solver, str):  # one that a user made
        return number_of(solver, "tol", np.nan), str(solver.criterion)
    tol = number_of(estimator, "tol", np.nan)
    if solver == "pegasos":
        return max(tol, 1e-2), "relative_gap"
    return tol, "violation"


def _against_the_rest(estimator: Any, k: int) -> bool:
    how = getattr(estimator, "multi_class", "ovo")
    if k <= 2:  # one problem, whatever it is called
        return False
    require(
        how in {"ovo", "ovr", JOINT},
        f"multi_class={how!r}: certify judges 'ovo', 'ovr' and {JOINT!r}",
    )
    return bool(how != "ovo")


def _check_shapes(
    found: dict[str, Vector], classes: NDArray[Any], labelled: bool, rest: bool
) -> None:
    k, size = classes.size, found["support_"].size
    require(
        not labelled or (classes.shape == (k,) and k >= 2),
        "classes_ must name at least two classes",
    )
    problems, rows = (k, k) if rest else (k * (k - 1) // 2, k - 1)
    expected = {
        "support_": (size,),
        "n_support_": (k,) if labelled else (1,),
        "dual_coef_": (rows, size) if labelled else (1, size),
        "intercept_": (problems,) if labelled else (1,),
        "class_weight_": (k,),
    }
    for name, values in found.items():
        require(
            values.shape == expected[name],
            f"{name} has shape {values.shape}, but needs {expected[name]}",
        )


def _tube(estimator: Any, machine: str) -> float:
    if machine == "NuSVR":  # scikit-learn's has an ``epsilon`` that means nothing
        tube = number_of(estimator, "epsilon_", np.nan)
        # A tube that closes is 0 only within tol; below 0 it makes no sense.
        slightly = -number_of(estimator, "tol", 0.0) <= tube < 0.0
        return 0.0 if slightly else tube
    return number_of(estimator, "epsilon", 0.0) if machine == "SVR" else 0.0


def _vectors(estimator: Any, kernel: Kernel, shape: tuple[int, ...]) -> Any:
    if kernel.foreign or kernel.by_index:
        return None
    vectors = as_table("support_vectors_", getattr(estimator, "support_vectors_", None))
    if callable(estimator.kernel) and 0 in vectors.shape:
        return None  # scikit-learn keeps none for kernels that it calls
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
    documentation says; so where rows are left out, both readings are tried, for its own
    machines that one first.
    """
    kept = np.flatnonzero(price >= 0.0)
    readings = [model.support]
    if kept.size < price.size and model.support.max(initial=-1) < kept.size:
        readings.append(kept[model.support])
    if model.package == "sklearn":
        readings.reverse()
    for rows in readings:
        owner = code[rows]
        counts = np.bincount(owner, minlength=model.counts.size)
        if (
            np.array_equal(counts, model.counts)
            and (price[rows] > 0.0).all()
            and _same_rows(model.vectors, table, rows)
        ):
            return replace(model, support=rows, owner=owner)
    what = "these classes and positive" if model.classes.size else "positive"
    msg = (
        f"the support vectors are no rows of this X with {what} weights: pass the X, y "
        "and sample_weight of the fit, in the same order"
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
