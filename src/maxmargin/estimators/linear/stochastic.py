"""What the stochastic linear machines have in common: all but their parameters."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from maxmargin._callback_bridge import CallbackSupport, bridge_for, with_callbacks
from maxmargin._interrupt import Interrupt
from maxmargin.certificate import worst_of
from maxmargin.design.operator import Design
from maxmargin.errors import ConvergenceWarning, InputError, Stop
from maxmargin.estimators.convergence_warnings import CALLER
from maxmargin.estimators.kernel.fit.fitting import observers_of
from maxmargin.estimators.linear.own_certificate import certificate_of
from maxmargin.estimators.linear.scores import LinearScores
from maxmargin.estimators.linear.stochastic_task import Task, partial_task, whole_task
from maxmargin.estimators.parameters import FINITE_C, RULES, Rule, check_parameters
from maxmargin.parallel import Workers
from maxmargin.problem import linear_svc
from maxmargin.solvers.base import drive
from maxmargin.theory.descent import descent_bound

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from maxmargin.certificate import Certificate
    from maxmargin.problem import LinearModel, LinearProblem
    from maxmargin.solvers.base import Outcome, Snapshot
    from maxmargin.solvers.linear.stochastic.walk import StochasticSolver, Walk
    from maxmargin.theory.descent import DescentBound

_LENGTH = Rule(
    FINITE_C.kind,
    lambda value: 1e-30 <= value <= 1e30,
    "a number between 1e-30 and 1e30",
)
ADVICE = {
    Stop.MAX_ITER: "raise max_iter, lam or tol, scale the features, or go on from here "
    "with warm_start=True",
    Stop.TIME_LIMIT: "raise time_limit, or go on from here with warm_start=True",
    Stop.INTERRUPTED: "go on from here with warm_start=True",
}


class StochasticClassifier(LinearScores, ClassifierMixin, CallbackSupport, BaseEstimator):
    """One or several walks of one w each: by steps on rows that are drawn.

    A machine says what its solver is (``_solver``).
    """

    _own_rules: ClassVar[dict[str, Rule]] = {
        "lam": _LENGTH._replace(
            advice="lam is the price of ‖w‖²/2 beside the mean loss: 1/(C·n)"
        ),
        "intercept_scaling": _LENGTH._replace(
            advice="it is the value of the constant column"
        ),
        "tol": FINITE_C._replace(
            advice="tol is the relative duality gap at which fit stops; 1e-2 is "
            "customary, for a walk gets much closer in many epochs only"
        ),
        "replacement": RULES["fit_intercept"],
    }

    certificate_: Certificate
    _walks: list[Walk]
    _radius: float  # of the longest row so far

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _solver(self, *, tol: float, max_iter: int) -> StochasticSolver:
        """The solver of one class."""
        raise NotImplementedError

    # --- fitting ----------------------------------------------------------------------

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Walk until the duality gap is within ``tol``, or for ``max_iter`` epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; rows of weight ≤ 0 are left out.

        Returns
        -------
        self : object
            The fitted machine.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        check_parameters(self)
        task = whole_task(self, X, y, sample_weight)
        walks = self._earlier_walks(task) if self.warm_start else None
        metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
        bridges = bridge_for(
            self,
            X,
            y,
            lambda snapshot: self._attributes_now(task, snapshot),
            metadata=metadata,
            total=task.problems,
        )
        outcomes = self._run(
            task,
            walks,
            bridges,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
        )
        self._warn_if_early(outcomes, CALLER)
        for bridge in bridges:
            bridge.finish()
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on with one epoch on these rows; the step counter ``t_`` goes on too.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as many as a call brings.
        y : array-like of shape (n_samples,)
            Their labels; not every class has to be there.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row is drawn, relative to the others of this call; rows of
            weight ≤ 0 are left out.

        Returns
        -------
        self : object
            The machine; ``certificate_`` and ``distance_`` are about the rows of this
            call.
        """
        check_parameters(self)
        task = partial_task(self, X, y, classes, sample_weight)
        walks = getattr(self, "_walks", None)
        # One epoch is what was asked for: neither a gap nor a limit ends it early.
        outcomes = self._run(task, walks, [], tol=0.0, max_iter=1)
        on_the_way = [one for one in outcomes if one.stop is not Stop.MAX_ITER]
        self._warn_if_early(on_the_way, 3)
        return self

    def problem(self, X: Any, y: Any, sample_weight: Any = None) -> LinearProblem:
        """The problem that ``fit`` would solve, for a solver to be stepped.

        Parameters
        ----------
        X, y, sample_weight : as for ``fit``
            The data of two classes, checked in the same way.

        Returns
        -------
        LinearProblem
            What :mod:`maxmargin.solvers.linear` solve, in the C-form:
            ``for snapshot in LinearPegasos().steps(problem): ...``
        """
        check_parameters(self)
        task = whole_task(self, X, y, sample_weight)
        if task.classes.size != 2:
            msg = (
                f"y has {task.classes.size} classes, each of which is a problem against "
                "the rest: give the rows of two classes"
            )
            raise InputError(msg)
        return self._problem(task, self._design(task, Workers(1)), 1)

    def _earlier_walks(self, task: Task) -> list[Walk] | None:
        """Where the fit before ended, which must have been about the same things."""
        if not hasattr(self, "_walks"):
            return None
        width = task.rows.shape[1]
        same = np.array_equal(self.classes_, task.classes)
        if not (same and width == self.coef_.shape[1]):
            msg = (
                "warm_start=True goes on from the model of the fit before, which has "
                f"{self.coef_.shape[1]} features and classes {self.classes_.tolist()}; "
                f"this X has {width} and classes {task.classes.tolist()}: set "
                "warm_start=False to start anew"
            )
            raise InputError(msg)
        return self._walks

    def _design(self, task: Task, workers: Workers) -> Design:
        scaling = float(self.intercept_scaling) if self.fit_intercept else 0.0
        return Design(task.rows, scaling, workers)

    def _problem(self, task: Task, design: Design, k: int) -> LinearProblem:
        """Class k against the rest."""
        y = np.where(task.codes == k, 1.0, -1.0)
        return linear_svc(design, y, task.weight / float(self.lam), squared=False)

    def _run(
        self,
        task: Task,
        walks: list[Walk] | None,
        bridges: list[Any],
        *,
        tol: float,
        max_iter: int,
    ) -> list[Outcome]:
        """Walk for every class, and become the machine of what is found."""
        began = time.perf_counter()
        count = task.problems
        seeds = [0] * count  # a walk that goes on has one
        if walks is None:
            random = check_random_state(self.random_state)
            seeds = random.randint(2**31 - 1, size=count).tolist()
        solver = self._solver(tol=tol, max_iter=max_iter)
        with (
            Interrupt() as interrupt,
            Workers(self.n_jobs, interrupt.abandon) as workers,
        ):
            design = self._design(task, workers)
            if walks is not None and walks[0].v.size != design.width:
                msg = (
                    f"fit_intercept={self.fit_intercept} was not so in the call before: "
                    "a walk cannot gain or lose its intercept; set it back, or fit anew"
                )
                raise InputError(msg)
            watching = [interrupt, *observers_of(self, count), *bridges]

            def one(k: int) -> tuple[LinearProblem, Outcome]:
                # Of two classes, the second is the positive one.
                problem: Any = self._problem(task, design, k if count > 1 else 1)
                seeded: Any = replace(solver, seed=seeds[k])  # type: ignore[type-var]
                state = (
                    seeded.start(problem)
                    if walks is None
                    else seeded.resume(problem, walks[k])
                )
                name = _name(task.classes, k)
                outcome = drive(
                    seeded, problem, state=state, observers=watching, name=name
                )
                return problem, outcome

            solved = workers.map(one, range(count))
            longest = float(np.sqrt(design.norms[task.codes >= 0].max()))
        outcomes = [outcome for _, outcome in solved]
        seconds = time.perf_counter() - began
        self._accept(task, solver, solved, longest, walks is not None, seconds)
        return outcomes

    def _accept(
        self,
        task: Task,
        solver: StochasticSolver,
        solved: list[tuple[LinearProblem, Any]],
        longest: float,
        goes_on: bool,
        seconds: float,
    ) -> None:
        """Become the fitted machine of the outcomes."""
        certificates, used = [], np.zeros(task.codes.size, dtype=bool)
        # A part of a fit runs to no tol, and is judged by the machine's all the same.
        judge: Any = replace(solver, tol=float(self.tol))  # type: ignore[type-var]
        for k, (problem, outcome) in enumerate(solved):
            used |= outcome.model.beta != 0.0
            name = _name(task.classes, k)
            certificates.append(certificate_of(problem, outcome, judge, name=name))
        radius = max(longest, self._radius) if goes_on else longest
        outcomes = [outcome for _, outcome in solved]
        found = self._attributes(task, [one.model for one in outcomes])
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # of an earlier fit
        self.__dict__.update(found)
        self._radius = radius
        self._walks = [one.state.walk for one in outcomes]
        steps = np.array([walk.steps for walk in self._walks])
        gaps = float(self.lam) * np.array([one.gap for one in certificates])
        several = steps.size > 1
        self.n_iter_ = max(one.n_iter for one in outcomes)
        self.t_ = steps if several else int(steps[0])
        self.distance_ = gaps if several else float(gaps[0])
        self.bound_ = self._bound(solver, goes_on)
        ends = [Stop(one.stop) for one in certificates]
        self.fit_status_ = int(not all(end.converged for end in ends))
        self.certificate_ = worst_of(
            certificates,
            n_support=int(np.count_nonzero(used)),
            n_kernel=0,
            seconds=seconds,
        )

    def _bound(self, solver: StochasticSolver, goes_on: bool) -> DescentBound | None:
        """What theory says of the class with the fewest steps, and so of all."""
        walk = min(self._walks, key=lambda one: one.steps)
        if walk.steps == 0:
            return None
        caveat = ""
        if goes_on:
            caveat = "rows came in several calls, and it is about draws from all of them"
        elif not solver.replacement:
            caveat = "it is about rows drawn anew at every step (replacement=True)"
        return descent_bound(
            walk.steps,
            float(self.lam),
            self._radius,
            average=solver.average if walk.tail < walk.steps else "last",
            tail=walk.tail if walk.tail < walk.steps else 0,
            projection=solver.projection,
            caveat=caveat,
        )

    def _attributes(self, task: Task, models: list[LinearModel]) -> dict[str, Any]:
        """The fitted attributes of a solution, but for those about the run."""
        width = task.rows.shape[1]
        return {
            **task.known,
            "coef_": np.array([model.w[:width] for model in models]),
            "intercept_": np.array([model.bias for model in models]),
        }

    def _attributes_now(self, task: Task, snapshot: Snapshot) -> dict[str, Any] | None:
        if task.problems > 1:
            return None
        model: Any = snapshot.model
        return self._attributes(task, [model])

    def _warn_if_early(self, outcomes: list[Outcome], stacklevel: int) -> None:
        """Say how far from its tolerance the solver stopped; callbacks know why."""
        early = [one for one in outcomes if one.stop in ADVICE]
        if not early:
            return
        stop = early[0].stop
        gaps = [one.relative_gap for one in self.certificate_.problems]
        gap = max(gaps, default=self.certificate_.relative_gap)
        warnings.warn(
            f"The solver {stop.value}: relative gap {gap:.3g}, tol {self.tol:g}, "
            f"{self.n_iter_:,} epochs. The model is usable; to improve it, "
            f"{ADVICE[stop]}.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def _name(classes: NDArray[Any], k: int) -> str:
    if classes.size == 2:
        return f"{classes[0]} against {classes[1]}"
    return f"{classes[k]} against the rest"
