"""What every kernel machine does alike: a fit from checks to certificate, and scores."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from maxmargin._callback_bridge import CallbackSupport, bridge_for
from maxmargin.certificate import worst_of
from maxmargin.errors import InputError, Stop
from maxmargin.estimators.convergence_warnings import warn_about
from maxmargin.estimators.kernel.fit.fitting import (
    Solution,
    Task,
    fitted_attributes,
    solve_all,
)
from maxmargin.estimators.kernel.fit.parts import judged
from maxmargin.estimators.kernel.fit.schemes import Duals
from maxmargin.estimators.kernel.fit.warm_start import (
    coefficients_to_go_on_from,
    earlier_model,
)
from maxmargin.estimators.kernel.prediction import (
    checked_model,
    decision_blocks,
    is_linear,
    kernel_of,
    weights,
)
from maxmargin.estimators.magnitude import check_precomputed
from maxmargin.estimators.parameters import check_parameters, effective_gamma
from maxmargin.kernels.factory import check_rows, training_gram
from maxmargin.parallel import Workers
from maxmargin.validation import (
    is_function,
    is_precomputed,
    prediction_rows,
    training_rows,
    unless_refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.certificate import Certificate
    from maxmargin.estimators.kernel.fit.parts import Expansion, Part
    from maxmargin.estimators.kernel.prediction import Fitted
    from maxmargin.estimators.parameters import Rule
    from maxmargin.problem import Problem
    from maxmargin.solvers.base import Snapshot


class KernelMachine(CallbackSupport, BaseEstimator):
    """The frame of a fit. A machine says what its parts are (``_task``), and what is to
    be remembered of their solution beyond the common attributes (``_extras``).
    """

    # Parameters that are narrower here than in the table of all machines.
    _own_rules: ClassVar[dict[str, Rule]] = {}

    support_: NDArray[np.int32]
    certificate_: Certificate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = is_precomputed(self.kernel)
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags

    # --- fitting --------------------------------------------------------------------

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:
        """Check what ``fit`` was given, and say what is to be solved."""
        raise NotImplementedError

    def _extras(self, task: Task, solution: Solution) -> dict[str, Any]:
        """Further fitted attributes."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """The body of every ``fit``."""
        began = time.perf_counter()
        check_parameters(self)
        before = earlier_model(self)
        with unless_refused(self):
            task = self._task(X, y, sample_weight)
        warm = None if before is None else coefficients_to_go_on_from(before, task)
        metadata = {} if sample_weight is None else {"sample_weight": sample_weight}

        def attributes(snapshot: Snapshot) -> dict[str, Any] | None:
            if len(task.parts) > 1:
                return None
            now = judged(
                task.parts[0],
                snapshot.problem,
                snapshot.model,
                snapshot.solver,
                stop=Stop.CALLBACK,
            )
            return self._attributes(
                task._replace(folds=None), Solution([now], [], [], n_kernel=0)
            )

        bridges = bridge_for(
            self, X, y, attributes, metadata=metadata, total=len(task.parts)
        )
        (solution,) = solve_all(self, [task], warm, bridges)
        self._accept(task, solution, time.perf_counter() - began)
        warn_about(self, solution)
        for bridge in bridges:
            bridge.finish()
        return self

    def problem(self, X: Any, y: Any = None, sample_weight: Any = None) -> Problem:
        """The quadratic programme that ``fit`` would solve, for a solver to be stepped.

        Parameters
        ----------
        X, y, sample_weight : as for ``fit``
            The data, checked in the same way. Rows of weight ≤ 0 are left out; the
            others are the problem's points, in their order.

        Returns
        -------
        Problem
            What :mod:`maxmargin.solvers` solve:
            ``for snapshot in PlattSmo().steps(problem): ...``
        """
        check_parameters(self)
        task = clone(self)._task(X, y, sample_weight)
        if getattr(self, "multi_class", "") == "crammer_singer":
            msg = (
                "multi_class='crammer_singer' is no problem that solvers can share: use "
            )
            msg += "'ovo' or 'ovr' for a problem to step"
            raise InputError(msg)
        if len(task.parts) != 1:
            msg = (
                f"y has {len(task.known['classes_'])} classes, which make "
                f"{len(task.parts)} problems: give the rows of two classes"
            )
            raise InputError(msg)
        (part,) = task.parts
        gram = training_gram(task.kernel, task.rows, workers=Workers(1))
        if part.rows.size != gram.n:
            gram = gram.narrowed(part.rows)
        problem: Problem = part.problem(gram)
        return problem

    def _accept(self, task: Task, solution: Solution, seconds: float) -> None:
        """Become the fitted machine of a solution."""
        solved = solution.solved
        attributes = self._attributes(task, solution)
        kept = {"n_features_in_", "feature_names_in_", *attributes}
        for name in [
            name for name in vars(self) if name.endswith("_") and name not in kept
        ]:
            delattr(self, name)  # of an earlier fit
        self.__dict__.update(attributes)
        counts = np.array([one.n_iter for one in solved], dtype=np.int32)
        self.n_iter_ = counts if task.scheme is not None else int(counts[0])
        self.fit_status_ = int(not all(one.stop.converged for one in solved))
        self.certificate_ = worst_of(
            [one.certificate for one in solved],
            n_support=int(self.support_.size),
            n_kernel=solution.n_kernel,
            seconds=seconds,
        )

    def _attributes(self, task: Task, solution: Solution) -> dict[str, Any]:
        """The fitted attributes of a solution, but for those about the run."""
        duals = _duals(task, [(one.part, one.expansion) for one in solution.solved])
        common = fitted_attributes(task, duals)
        return {**common, **task.known, **self._extras(task, solution)}

    def _rows(self, X: Any, y: Any = None, *, target: str = "labels") -> tuple[Any, Any]:
        """X and y of a fit, checked as the kernel needs it."""
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
        """The task of some parts, its kernel settled and the rows checked against it."""
        if is_precomputed(self.kernel):
            check_precomputed(rows)
        gamma = effective_gamma(self, rows, weight)
        kernel = kernel_of(self, gamma)
        check_rows(kernel, rows)
        return Task(rows=rows, kernel=kernel, gamma=gamma, parts=parts, **more)

    # --- predicting -----------------------------------------------------------------

    def _values(self, X: Any, *, whole: bool = True) -> Iterator[tuple[Any, ...]]:
        """Blocks of (rows of X as a slice, their decision values, model, X's block)."""
        check_is_fitted(self)
        check_parameters(self)
        rows = prediction_rows(
            self,
            X,
            precomputed=is_precomputed(self.kernel),
            any_rows=is_function(self.kernel),
        )
        model: Fitted = checked_model(self)
        check_rows(kernel_of(self, self.gamma_), rows)
        with Workers(self.n_jobs) as workers:
            for some, values in decision_blocks(
                self, rows, model, workers=workers, whole=whole
            ):
                yield some, values, model, rows

    @property
    def coef_(self) -> Any:
        """Weights of the features, when the kernel is linear; read-only."""
        if not is_linear(self.kernel):
            msg = "coef_ is only available when using a linear kernel"
            raise AttributeError(msg)
        check_is_fitted(self)
        coef = weights(checked_model(self))
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef

    @property
    def _gamma(self) -> float:
        """``gamma_`` under the name that skl2onnx and others read from scikit-learn's."""
        return float(self.gamma_)


def _duals(task: Task, parts: list[tuple[Part, Expansion]]) -> Duals:
    """All decision functions in one table; without classes there is one of each."""
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
