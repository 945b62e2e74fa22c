"""The base of the stochastic linear machines, which add only parameters and a solver."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from maxmargin._interrupt import Interrupt
from maxmargin.certificate import Certificate, Run, certificate_of, settled
from maxmargin.design.operator import Design
from maxmargin.errors import InputError, Stop
from maxmargin.estimators.convergence_warnings import STOCHASTIC_ADVICE, warn_of_walks
from maxmargin.estimators.linear.scores import LinearScores
from maxmargin.estimators.linear.stochastic_task import Task, partial_task, whole_task
from maxmargin.estimators.machine import Machine, Solution, refuse_several
from maxmargin.estimators.parameters import (
    FINITE_C,
    RULES,
    Rule,
    Settings,
    check_parameters,
)
from maxmargin.parallel import Workers
from maxmargin.problem import linear_svc
from maxmargin.solvers.base import drive
from maxmargin.theory.descent import descent_bound
from maxmargin.validation import unless_refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from maxmargin.problem import LinearModel, LinearProblem
    from maxmargin.solvers.base import Observer, Outcome, Snapshot
    from maxmargin.solvers.linear.stochastic.walk import StochasticSolver, Walk
    from maxmargin.theory.descent import DescentBound

_LENGTH = Rule(
    FINITE_C.kind,
    lambda value: 1e-30 <= value <= 1e30,
    "a number between 1e-30 and 1e30",
)


class Solved(NamedTuple):
    """One solved problem: the end of one walk (a run of stochastic steps)."""

    outcome: Outcome
    certificate: Certificate
    longest: float  # norm of the longest row
    goes_on: bool  # whether the walk began in an earlier call


class StochasticClassifier(LinearScores, ClassifierMixin, Machine):
    """Base of classifiers that take subgradient steps on rows drawn at random.

    Each problem is a walk of its own w. A machine defines its solver (``_solver``).
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

    _walks: list[Walk]
    _radius: float  # of the longest row so far

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _solver(self, *, tol: float, max_iter: int) -> StochasticSolver:
        """Return the solver of one problem."""
        raise NotImplementedError

    # --- fitting ----------------------------------------------------------------------

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue with one epoch on these rows; the step counter ``t_`` continues too.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of this call.
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
        began = time.perf_counter()
        check_parameters(self)
        with unless_refused(self):
            task = partial_task(self, X, y, classes, sample_weight)
            walks = vars(self).get("_walks")
            # Exactly one epoch: no small gap ends it early.
            solver = self._solver(tol=0.0, max_iter=1)
            observers = Settings.of(self).observers(task.n_problems)
            solution = self._walk(task, walks, solver, observers)
        self._accept(task, solution, time.perf_counter() - began)
        advice = dict(STOCHASTIC_ADVICE)
        del advice[Stop.MAX_ITER]
        warn_of_walks(solution, self.n_iter_, advice)
        return self

    def _model_before(self) -> Any:
        return self._walks if hasattr(self, "_walks") else None

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:
        return whole_task(self, X, y, sample_weight)

    def _problem(self, task: Task) -> LinearProblem:
        if task.n_problems != 1:
            what = "each of which is a problem against the rest"
            refuse_several(task.classes.size, what)
        return self._class_problem(task, self._design(task, Workers(1)), 0)

    def _solve(
        self,
        task: Task,
        settings: Settings,  # noqa: ARG002
        before: Any,
        observers: Sequence[Observer],
    ) -> Solution:
        if before is not None:
            self._check_before(task)
        solver = self._solver(tol=float(self.tol), max_iter=int(self.max_iter))
        return self._walk(task, before, solver, observers)

    def _check_before(self, task: Task) -> None:
        """Refuse to continue from a fit of other classes or columns."""
        width = task.rows.shape[1]
        same = np.array_equal(self.classes_, task.classes)
        if same and width == self.coef_.shape[1]:
            return
        msg = (
            "warm_start=True goes on from the model of the fit before, which has "
            f"{self.coef_.shape[1]} features and classes {self.classes_.tolist()}; "
            f"this X has {width} and classes {task.classes.tolist()}: set "
            "warm_start=False to start anew"
        )
        raise InputError(msg)

    def _design(self, task: Task, workers: Workers) -> Design:
        scaling = float(self.intercept_scaling) if self.fit_intercept else 0.0
        return Design(task.rows, scaling, workers)

    def _class_problem(self, task: Task, design: Design, number: int) -> LinearProblem:
        """Return one class against the rest; of two, the second class is positive."""
        positive = number if task.n_problems > 1 else 1
        y = np.where(task.codes == positive, 1.0, -1.0)
        return linear_svc(design, y, task.weight / float(self.lam), squared=False)

    def _walk(
        self,
        task: Task,
        walks: list[Walk] | None,
        solver: StochasticSolver,
        observers: Sequence[Observer],
    ) -> Solution:
        """Run the walk of every problem, continuing ``walks`` if there are any."""
        count = task.n_problems
        seeds = [0] * count  # a walk that continues has its own seed
        if walks is None:
            random = check_random_state(self.random_state)
            seeds = random.randint(2**31 - 1, size=count).tolist()
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
            watching = [interrupt, *observers]

            def one(number: int) -> tuple[LinearProblem, Outcome]:
                problem = self._class_problem(task, design, number)
                seeded: Any = replace(solver, seed=seeds[number])  # type: ignore[type-var]
                state = (
                    seeded.start(problem)
                    if walks is None
                    else seeded.resume(problem, walks[number])
                )
                name = task.names[number]
                return problem, drive(
                    seeded, problem, state=state, observers=watching, name=name
                )

            ended = workers.map(one, range(count))
            longest = float(np.sqrt(design.norms[task.codes >= 0].max()))
        return Solution(
            [
                Solved(
                    outcome,
                    self._certified(solver, problem, outcome, name),
                    longest,
                    walks is not None,
                )
                for (problem, outcome), name in zip(ended, task.names, strict=True)
            ]
        )

    def _certified(
        self,
        solver: StochasticSolver,
        problem: LinearProblem,
        outcome: Outcome,
        name: str,
    ) -> Certificate:
        # A partial_fit runs without tol; its certificate has the machine's tol.
        run = Run(
            outcome.stop, float(self.tol), solver.criterion, outcome.n_iter,
            seconds=outcome.seconds, name=name, solver=solver.ran(outcome.state),
        )  # fmt: skip
        return settled(certificate_of(problem, outcome.model, run))

    def _attributes(self, task: Task, solution: Solution) -> dict[str, Any]:
        return self._of_models(task, [one.outcome.model for one in solution.solved])

    def _attributes_now(self, task: Task, snapshot: Snapshot) -> dict[str, Any] | None:
        return None if task.n_problems > 1 else self._of_models(task, [snapshot.model])

    def _of_models(self, task: Task, models: list[LinearModel]) -> dict[str, Any]:
        width = task.rows.shape[1]
        return {
            **task.known,
            "coef_": np.array([model.w[:width] for model in models]),
            "intercept_": np.array([model.bias for model in models]),
        }

    def _of_the_run(self, task: Task, solution: Solution) -> dict[str, Any]:  # noqa: ARG002
        solved: Sequence[Solved] = solution.solved
        walks = [one.outcome.state.walk for one in solved]
        first, proofs = solved[0], [one.certificate for one in solved]
        radius = max(first.longest, self._radius) if first.goes_on else first.longest
        steps = np.array([walk.steps for walk in walks])
        gaps = float(self.lam) * np.array([one.gap for one in proofs])
        several = steps.size > 1
        return {
            "_walks": walks,
            "_radius": radius,
            "n_iter_": max(one.n_iter for one in proofs),
            "t_": steps if several else int(steps[0]),
            "distance_": gaps if several else float(gaps[0]),
            "bound_": self._bound(walks, radius, goes_on=first.goes_on),
            "fit_status_": int(not all(one.stop.converged for one in proofs)),
        }

    def _n_support(self, solution: Solution) -> int:
        betas = [one.outcome.model.beta for one in solution.solved]
        return int(np.count_nonzero(np.any(betas, axis=0)))

    def _bound(
        self, walks: list[Walk], radius: float, *, goes_on: bool
    ) -> DescentBound | None:
        """Return the bound of the class with the fewest steps, which holds for all."""
        walk = min(walks, key=lambda one: one.steps)
        if walk.steps == 0:
            return None
        solver = self._solver(tol=float(self.tol), max_iter=int(self.max_iter))
        caveat = ""
        if goes_on:
            caveat = "rows came in several calls, and it is about draws from all of them"
        elif not solver.replacement:
            caveat = "it is about rows drawn anew at every step (replacement=True)"
        return descent_bound(
            walk.steps,
            float(self.lam),
            radius,
            average=solver.average if walk.tail < walk.steps else "last",
            tail=walk.tail if walk.tail < walk.steps else 0,
            projection=solver.projection,
            caveat=caveat,
        )

    def _warn(self, solution: Solution, settings: Settings) -> None:  # noqa: ARG002
        warn_of_walks(solution, self.n_iter_)
