"""The base of the kernel machines SVC, NuSVC, SVR, NuSVR, OneClassSVM and SVDD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Run
from maxmargin.errors import InputError, Stop
from maxmargin.estimators.convergence_warnings import warn_of_kernel_fit
from maxmargin.estimators.kernel.fit.parts import judged
from maxmargin.estimators.kernel.fit.schemes import Duals
from maxmargin.estimators.kernel.fit.solving import Task, solve_all
from maxmargin.estimators.kernel.prediction import (
    checked_model,
    decision_blocks,
    weights,
)
from maxmargin.estimators.machine import Machine, Solution, refuse_several
from maxmargin.estimators.magnitude import check_precomputed
from maxmargin.estimators.parameters import (
    Settings,
    check_parameters,
    effective_gamma,
    kernel_of,
)
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.naming import kind_of
from maxmargin.parallel import Workers
from maxmargin.validation import (
    is_function,
    is_precomputed,
    prediction_rows,
    training_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.estimators.kernel.fit.parts import Expansion, Part
    from maxmargin.estimators.kernel.prediction import Fitted
    from maxmargin.kernels import Kernel
    from maxmargin.problem import Problem
    from maxmargin.solvers.base import Observer, Snapshot


class KernelMachine(Machine):
    """Base of the machines with a kernel; a machine defines its parts (``_task``)."""

    support_: NDArray[np.int32]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = is_precomputed(self.kernel)
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags

    # --- fitting --------------------------------------------------------------------

    def _rows(self, X: Any, y: Any = None, *, target: str = "labels") -> tuple[Any, Any]:
        """Return X and y of a fit, checked as the kernel needs it."""
        return training_rows(
            self,
            X,
            y,
            target=target,
            precomputed=is_precomputed(self.kernel),
            any_rows=is_function(self.kernel),
        )

    def _kernel_task(
        self, rows: Any, weight: Vector | None, parts: list[Part], **more: Any
    ) -> Task:
        """Return the task of these parts, with its kernel; check the rows against it."""
        if is_precomputed(self.kernel):
            check_precomputed(rows)
        gamma = effective_gamma(self, rows, weight)
        kernel = kernel_of(self, gamma)
        kernel.check_rows(rows)
        return Task(rows, kernel, gamma, parts, named=self.kernel, **more)

    def _problem(self, task: Task) -> Problem:
        if task.scheme is not None and task.scheme.solver:
            msg = (
                "multi_class='crammer_singer' is no problem that solvers can share: use "
                "'ovo' or 'ovr' for a problem to step"
            )
            raise InputError(msg)
        if len(task.parts) != 1:
            made = f"which make {len(task.parts)} problems"
            refuse_several(len(task.known["classes_"]), made)
        (part,) = task.parts
        gram = training_gram(task.kernel, task.rows, workers=Workers(1))
        if part.rows.size != gram.n:
            gram = gram.narrowed(part.rows)
        problem: Problem = part.problem(gram)
        return problem

    def _model_before(self) -> Any:
        if not hasattr(self, "dual_coef_"):
            return None
        from maxmargin.estimators.kernel.fit.warm_start import earlier_model

        return earlier_model(self)

    def _solve(
        self, task: Task, settings: Settings, before: Any, observers: Sequence[Observer]
    ) -> Solution:
        warm = None if before is None else before.coefficients(task)
        (solution,) = solve_all([task], settings, warm, observers)
        return solution

    def _fit_along(
        self, machines: Sequence[Any], X: Any, y: Any, sample_weight: Any
    ) -> None:
        settings = Settings.of(self)
        tasks = [machine._task(X, y, sample_weight) for machine in machines]
        observers = settings.observers(sum(task.n_problems for task in tasks))
        solutions = solve_all(tasks, settings, None, observers)
        for machine, task, solution in zip(machines, tasks, solutions, strict=True):
            seconds = sum(one.certificate.seconds for one in solution.solved)
            machine._accept(task, solution, seconds)
            machine._warn(solution, settings)

    def _attributes(self, task: Task, solution: Solution) -> dict[str, Any]:
        duals = _duals(task, [(one.part, one.expansion) for one in solution.solved])
        rows, dual_coef = task.rows, duals.dual_coef
        vectors = (
            np.empty((0, 0), dtype=rows.dtype)
            if task.precomputed
            else rows[duals.support]
        )
        if sparse.issparse(rows):
            dual_coef = _full_csr(dual_coef, type(rows))
        return {
            "support_": duals.support.astype(np.int32),
            "support_vectors_": vectors,
            "n_support_": duals.n_support,
            "dual_coef_": dual_coef,
            "intercept_": duals.intercept,
            "shape_fit_": rows.shape,
            "gamma_": task.gamma,
            **task.known,
        }

    def _of_the_run(self, task: Task, solution: Solution) -> dict[str, Any]:
        solved = solution.solved
        counts = np.array([one.certificate.n_iter for one in solved], dtype=np.int32)
        return {
            "n_iter_": counts if task.scheme is not None else int(counts[0]),
            "fit_status_": int(not all(one.stop.converged for one in solved)),
        }

    def _attributes_now(self, task: Task, snapshot: Snapshot) -> dict[str, Any] | None:
        if len(task.parts) > 1:
            return None
        solver: Any = snapshot.solver
        run = Run(Stop.CALLBACK, solver.tol, solver.criterion)
        now = judged(task.parts[0], snapshot.problem, snapshot.model, run)
        return self._attributes(task._replace(folds=None), Solution([now]))

    def _n_support(self, solution: Solution) -> int:  # noqa: ARG002
        return int(self.support_.size)

    def _warn(self, solution: Solution, settings: Settings) -> None:
        warn_of_kernel_fit(solution, settings)

    # --- predicting -----------------------------------------------------------------

    def _values(self, X: Any, *, whole: bool = True) -> Iterator[tuple[Any, ...]]:
        """Yield blocks: rows of X as a slice, their decision values, the model, X."""
        check_is_fitted(self)
        check_parameters(self)
        rows = prediction_rows(
            self,
            X,
            precomputed=is_precomputed(self.kernel),
            any_rows=is_function(self.kernel),
        )
        model: Fitted = checked_model(self)
        kernel_of(self, self.gamma_).check_rows(rows)
        with Workers(self.n_jobs) as workers:
            for some, values in decision_blocks(
                self, rows, model, workers=workers, whole=whole
            ):
                yield some, values, model, rows

    @property
    def coef_(self) -> Any:
        """Weights of the features, when the kernel is linear; read-only."""
        if not kind_of(self.kernel).is_linear:
            msg = "coef_ is only available when using a linear kernel"
            raise AttributeError(msg)
        check_is_fitted(self)
        coef = weights(checked_model(self))
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef

    @property
    def kernel_(self) -> Kernel:
        """The kernel object that ``kernel`` and its parameters stand for; read-only."""
        check_is_fitted(self)
        return kernel_of(self, self.gamma_)

    @property
    def _gamma(self) -> float:
        """``gamma_`` under scikit-learn's name, which skl2onnx and others read."""
        return float(self.gamma_)


def _duals(task: Task, parts: list[tuple[Part, Expansion]]) -> Duals:
    """Return all decision functions in one table; without classes there is one."""
    if task.scheme is not None:
        return task.scheme.gather(parts)
    ((part, found),) = parts
    used = found.coef != 0.0
    support = part.rows[used]
    return Duals(
        support=support,
        n_support=np.array([support.size], dtype=np.int32),
        dual_coef=found.coef[used].reshape(1, -1),
        intercept=np.array([found.intercept]),
    )


def _full_csr(dense: Vector, kind: Any) -> Any:
    """Return CSR that stores zeros too, as in scikit-learn's dual_coef_."""
    lines, width = dense.shape
    indices = np.tile(np.arange(width, dtype=np.int32), lines)
    indptr = np.arange(lines + 1, dtype=np.int32) * width
    return kind((dense.ravel(), indices, indptr), shape=dense.shape)
