"""The public attributes of a fitted kernel machine, checked against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from maxmargin._referee.certification import Task
from maxmargin._referee.kernel import Kernel
from maxmargin._referee.losses import is_squared
from maxmargin._referee.optimality import BALANCE, Terms
from maxmargin._referee.tables import as_numbers, as_table, number_of, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.certification import Machine
    from maxmargin._referee.given import Given

JOINT = "crammer_singer"


@dataclass(frozen=True)
class Fitted:
    """The public attributes of a fitted kernel machine, checked for consistency."""

    machine: Machine
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
    def read(cls, given: Given, table: Any) -> Fitted:
        """Read a fitted kernel machine; ``table`` has the rows of its fit."""
        estimator, machine = given.estimator, given.machine
        found = _arrays(estimator, machine)
        labelled = machine.task is Task.CLASSIFY
        classes = np.asarray(estimator.classes_ if labelled else [])
        rest = _against_the_rest(estimator, classes.size)
        _check_shapes(found, classes, labelled, rest)
        _check_support(found, estimator, table)
        support, kernel = found["support_"], Kernel.of(estimator, table)
        tol, criterion = _promise(estimator)

        def number(name: str, default: float) -> float:
            known = name in machine.parameters
            return number_of(estimator, name, default) if known else default

        model = cls(
            machine=machine,
            package=given.package,
            classes=classes,
            rest=rest,
            joint=labelled and getattr(estimator, "multi_class", "") == JOINT,
            support=support.astype(np.intp),
            owner=np.empty(0, dtype=np.intp),
            counts=found["n_support_"].astype(np.intp),
            vectors=_vectors(estimator, kernel, (support.size, *table.shape[1:])),
            dual=found["dual_coef_"],
            intercept=found.get("intercept_", np.full(1, np.nan)),
            weights=found.get("class_weight_", np.ones(1)),
            kernel=kernel,
            C=number("C", 1.0),
            nu=number("nu", 1.0),
            epsilon=_tube(estimator, machine),
            radius=number("radius_", 0.0),
            tol=tol,
            criterion=criterion,
            squared=labelled and is_squared(estimator),
            fit_intercept=bool(getattr(estimator, "fit_intercept", True)),
            single=getattr(estimator.dual_coef_, "dtype", None) == np.float32,
        )
        model._check_parameters(estimator)
        return model

    @property
    def terms(self) -> Terms:
        """The facts that a verdict depends on.

        The coefficients of a model that is divided by ρ come back by way of ρ, a
        quotient of two sums of them.
        """
        slop = 1e-6 if self.single else 1e-10 if self.machine.divided else 1e-12
        return Terms(
            self.machine,
            self.tol,
            self.criterion,
            slop=slop,
            balance=10.0 * max(slop, BALANCE),
            unbounded=self.squared,
        )

    def _check_parameters(self, estimator: Any) -> None:
        require(self.C > 0.0, f"C={self.C}: the price of an error must be positive")
        require(0.0 < self.nu <= 1.0, f"nu={self.nu}: it must be in (0, 1]")
        require(
            not self.epsilon < 0.0, f"the tube is {self.epsilon}: it must be at least 0"
        )
        require(self.radius >= 0.0, f"radius_={self.radius}: it must not be negative")
        offset = getattr(estimator, "offset_", None)
        if self.machine.task is not Task.OUTLIERS or offset is None:
            return
        told = as_numbers("offset_", offset).ravel()
        ball = "radius_" in self.machine.parameters
        meant = -(self.radius**2) if ball else -self.intercept
        require(
            told.size == 1 and np.allclose(told, meant, rtol=1e-6, atol=1e-12),
            f"offset_ is {told}, but the rest of the model says {meant}",
        )


def _arrays(estimator: Any, machine: Machine) -> dict[str, Vector]:
    """Read the arrays of a machine, and refuse it when something is missing."""
    labelled = machine.task is Task.CLASSIFY
    told = getattr(estimator, "intercept_", None) is not None
    optional = "radius_" in machine.parameters and not told  # of a ball
    arrays = ["support_", "n_support_", "dual_coef_"]
    arrays += [] if optional else ["intercept_"]
    arrays += ["class_weight_"] if labelled else []
    needed = (*machine.parameters, "kernel", *(["classes_"] if labelled else []))
    for name in (*needed, *arrays):
        require(
            getattr(estimator, name, None) is not None,
            f"{type(estimator).__name__} has no {name}: certify needs a machine "
            f"after fit, and judges this one as {machine.name}",
        )
    return {name: as_numbers(name, getattr(estimator, name)) for name in arrays}


def _promise(estimator: Any) -> tuple[float, str]:
    """The tolerance that was asked of the solver, and the figure that it bounds."""
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


def _check_support(found: dict[str, Vector], estimator: Any, table: Any) -> None:
    """Compare the support vectors with the shape of X."""
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


def _tube(estimator: Any, machine: Machine) -> float:
    if "epsilon" in machine.parameters:
        return number_of(estimator, "epsilon", 0.0)
    if machine.task is not Task.REGRESS:
        return 0.0
    # Of a free tube; scikit-learn's NuSVR has an ``epsilon`` that means nothing.
    tube = number_of(estimator, "epsilon_", np.nan)
    # A tube that closes is 0 only within tol; below 0 it makes no sense.
    slightly = -number_of(estimator, "tol", 0.0) <= tube < 0.0
    return 0.0 if slightly else tube


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
