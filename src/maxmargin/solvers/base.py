"""The solver contract, and the one loop of the library.

A solver is a frozen dataclass of hyper-parameters with five verbs:

``start(problem, warm)``
    a feasible State, in O(n) work, from nothing or from a
    :class:`~maxmargin.problem.WarmStart`;
``advance(problem, state, budget)``
    does at most ``budget`` units of work in place and returns a Status. What it
    computes must not depend on the budget: 1, 7 and 10⁹ give the same bits;
``measure(problem, state)``
    violation, primal and dual as of the last point at which they were all known,
    cheap enough to be shown in a progress bar;
``model(problem, state)``
    β, its gradient and the intercept, even at iteration 0; exact at convergence, to
    the solver's working precision before;
``explain(problem, state)``
    what the last unit did and why, as a :class:`~maxmargin.solvers.step.Step`.

``solves`` says which kind of problem it takes; others are refused before ``start``. The
loop knows no kind by name: it asks what :class:`~maxmargin.problem.AnyProblem` answers.

Everything a solver remembers is in its State (arrays, counters, random state), so that
it can be paused, pickled, resumed, stepped and shipped. Kernel rows are not served by
the loop: every kernel, compiled or Python, answers the two questions of
:class:`~maxmargin.kernels.gram.contract.Gram` itself, so ``advance`` never has to ask for
them.
"""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from maxmargin.errors import OVERFLOW, InputError, InputTypeError, NumericalError, Stop
from maxmargin.problem import AnyProblem, Measures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from maxmargin._arrays import Vector
    from maxmargin.problem import WarmStart
    from maxmargin.solvers.step import Step

__all__ = ["Measures", "Snapshot", "Solver", "Status", "Steppable", "drive", "steps"]

CHUNK_SECONDS = 0.05  # policy: time between two calls of the observers


class Status(Enum):
    """Status of a run after ``advance``."""

    RUNNING = "running"
    CONVERGED = "converged"  # the optimality conditions hold within tol
    CLOSED = "closed"  # the duality gap is within tol
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    UNBOUNDED = "unbounded"

    @property
    def stop(self) -> Stop:
        """The reason to give when this status ends the run."""
        return Stop[self.name]


class Solver(Protocol):
    """The five verbs; see the module's docstring."""

    @property
    def tol(self) -> float:
        """Tolerance of the stopping test."""

    @property
    def criterion(self) -> str:
        """What ``tol`` bounds: ``"violation"`` or ``"relative_gap"``."""

    @property
    def unit(self) -> str:
        """What one unit of ``advance``'s budget is."""

    def start(self, problem: Any, warm: WarmStart | None = None) -> Any:
        """Feasible first state; ``warm`` is a model to go on from."""

    def advance(self, problem: Any, state: Any, budget: int) -> Status:
        """At most ``budget`` units, in place."""

    def measure(self, problem: Any, state: Any) -> Measures:
        """Figures of the last check."""

    def model(self, problem: Any, state: Any) -> Any:
        """The exact model of the current β."""

    def explain(self, problem: Any, state: Any) -> Step:
        """The last unit in words and numbers."""

    def n_iter(self, state: Any) -> int:
        """Iterations done, in the unit ``max_iter`` counts."""


@dataclass(repr=False)
class Snapshot:
    """State of a run, for observers. Its properties are computed on first access.

    Attributes
    ----------
    step : Step
        What was done last, in words and numbers.
    model : Model
        β, its gradient and the intercept, as if the solver stopped now.
    measures : Measures
        Primal, dual, gap and violation at the solver's last check.
    n_iter, n_kernel, seconds : int, int, float
        Iterations, kernel values and time so far.
    status : Status
        Running, or how the run ended.
    solver, problem, state, name :
        Who, what, all that the solver remembers, and which binary problem this is.
    """

    solver: Solver
    problem: Any
    state: Any
    status: Status
    seconds: float
    name: str = ""
    n_kernel: int = 0  # kernel values of the run, without those of snapshots

    @property
    def n_iter(self) -> int:
        """Iterations done so far."""
        return self.solver.n_iter(self.state)

    def __repr__(self) -> str:
        now = self.measures
        name = f"{self.name}: " if self.name else ""
        return (
            f"<{name}{self.n_iter} iterations, gap {now.gap:.3g}, violation "
            f"{now.violation:.3g}, {self.seconds:.3g} s, {self.status.value}>"
        )

    def __str__(self) -> str:
        return f"{self.n_iter}: {self.step}"

    @cached_property
    def step(self) -> Step:
        """The last step, with its reason."""
        return self.solver.explain(self.problem, self.state)

    @cached_property
    def measures(self) -> Measures:
        """Primal, dual, gap and violation at the solver's last check."""
        return self.solver.measure(self.problem, self.state)

    @cached_property
    def model(self) -> Any:
        """The model as it would be if the solver stopped now."""
        return self.solver.model(self.problem, self.state)


class Observer(Protocol):
    """Called at the start, after each chunk and at the end of a run; may stop it."""

    def on_start(self, snapshot: Snapshot) -> None:  # noqa: ARG002
        """Before the first step of a binary problem."""
        return

    def on_step(self, snapshot: Snapshot) -> Stop | None:
        """After every chunk of about 50 ms; a Stop ends the run."""

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:  # noqa: ARG002
        """After the last step; ``stop`` is None when the run ended in an exception."""
        return


class Outcome(NamedTuple):
    """The end of a run."""

    model: Any
    stop: Stop
    state: Any
    n_iter: int
    seconds: float


def drive(
    solver: Solver,
    problem: AnyProblem,
    *,
    warm: WarmStart | Vector | None = None,
    state: Any = None,
    observers: Sequence[Observer] = (),
    name: str = "",
    growth: float = 2.0,
) -> Outcome:
    """Run a solver to its end, or until an observer ends it: the only loop there is.

    Parameters
    ----------
    solver, problem : Solver, AnyProblem
        How, and what.
    warm : WarmStart, ndarray or None
        A model to start from, or β alone.
    state : State or None
        A state to resume; excludes ``warm``.
    observers : sequence of Observer
        Called at the start, after every chunk and at the end, in any event.
    name : str
        Which binary problem this is, for the observers.
    growth : float
        A chunk has this many times the units of the one before, until it takes about
        50 ms: 2 for speed, less for observers that want more of the beginning.
    """
    if state is not None and warm is not None:
        msg = "give either warm (a β to start from) or state (a run to resume), not both"
        raise InputError(msg)
    began, work = time.perf_counter(), _Work(problem)
    if state is None:
        check_kind(solver, problem)
        with work:
            state = solver.start(problem, problem.warm_start(warm))
    snapshot = Snapshot(solver, problem, state, Status.RUNNING, 0.0, name, work.done)
    stop: Stop | None = None

    def close(observer: Observer) -> None:
        observer.on_stop(snapshot, stop)

    with ExitStack() as closing:
        for observer in observers:
            # Called on the way out, whatever happens, with what is known by then.
            closing.callback(close, observer)
            observer.on_start(snapshot)
        for snapshot in _chunks(solver, problem, state, began, name, growth, work):
            if snapshot.status is not Status.RUNNING:
                stop = snapshot.status.stop
                break
            asked = [observer.on_step(snapshot) for observer in observers]
            reason = next((one for one in asked if one is not None), None)
            if reason is not None:
                stop = reason
                break
        ending, stop = stop, None  # None until the model stands
        model = solver.model(problem, state)
        problem.check_finite(model)
        stop = ending
    assert stop is not None  # _chunks ends only with a final status
    return Outcome(model, stop, state, solver.n_iter(state), time.perf_counter() - began)


def steps(
    solver: Solver,
    problem: AnyProblem,
    every: int = 1,
    *,
    warm: WarmStart | Vector | None = None,
) -> Iterator[Snapshot]:
    """The same run as a generator: one Snapshot after every ``every`` units.

    Every Snapshot has a state of its own, so that a list of them is a film of the run;
    stored kernel values, which only save time, are not copied.
    """
    if not isinstance(problem, AnyProblem):
        msg = (
            f"problem is {type(problem).__name__}: give a Problem; "
            "SVC(...).problem(X, y) makes one"
        )
        raise InputTypeError(msg)
    if not isinstance(every, Integral) or every < 1:
        msg = f"every={every!r}: it counts units of work and must be an integer ≥ 1"
        raise InputError(msg)
    check_kind(solver, problem)
    began, work = time.perf_counter(), _Work(problem)
    with work:
        state = solver.start(problem, problem.warm_start(warm))
    status = Status.RUNNING
    while status is Status.RUNNING:
        with work:
            status = solver.advance(problem, state, every)
        seconds = time.perf_counter() - began
        yield Snapshot(
            solver, problem, deepcopy(state), status, seconds, n_kernel=work.done
        )


class Steppable:
    """Base of all solvers: it checks parameters, and steps through a run.

    ``for snapshot in solver.steps(problem): ...``
    """

    solves: ClassVar[type[AnyProblem]] = AnyProblem
    boxes: ClassVar[bool] = True  # whether losses must be conjugates of boxes
    least_tol: ClassVar[float] = 0.0  # below which a machine's tol makes no sense for it
    restarts: ClassVar[bool] = True  # whether it can go on from a given β
    chooses: ClassVar[bool] = False  # whether it decides itself which algorithm runs

    def __post_init__(self: Any) -> None:
        if not isinstance(self.tol, Real) or not 0.0 <= float(self.tol) < math.inf:
            msg = f"tol={self.tol!r}: it must be a finite number of at least 0"
            raise InputError(msg)
        limits = {"max_iter": -1, "cache_bytes": 1}
        for name, least in limits.items():
            value = vars(self).get(name, least)
            if isinstance(value, bool) or not isinstance(value, Integral):
                msg = f"{name}={value!r}: it must be an integer"
                raise InputTypeError(msg)
            if value < least:
                msg = f"{name}={value}: it must be at least {least}"
                raise InputError(msg)

    def measure(self: Any, problem: Any, state: Any) -> Measures:
        """Figures of the model, where the solver keeps none of its own."""
        figures: Measures = problem.measures(self.model(problem, state))
        return figures

    def ran(self, state: Any) -> str:  # noqa: ARG002 - of those that hand over
        """Which algorithms did the work, for the certificate."""
        return type(self).__name__

    def tol_at(self: Any, state: Any) -> float:  # noqa: ARG002 - of those that change it
        """The tolerance that a run has come to."""
        return float(self.tol)

    def steps(
        self: Any,
        problem: AnyProblem,
        every: int = 1,
        *,
        warm: WarmStart | Vector | None = None,
    ) -> Iterator[Snapshot]:
        """Run, and hand out a Snapshot after every ``every`` units of work.

        Parameters
        ----------
        problem : AnyProblem
            What to solve; ``SVC(...).problem(X, y)`` makes one.
        every : int
            Units of work between two snapshots.
        warm : ndarray of shape (n,), WarmStart or None
            A β to start from, or a model.
        """
        return steps(self, problem, every, warm=warm)


@cache
def options_of(kind: Any) -> frozenset[str]:
    """The names of a solver's parameters; to ask a signature takes 50 µs."""
    return frozenset(signature(kind).parameters)


def check_kind(solver: Any, problem: AnyProblem) -> None:
    """Refuse a problem that a solver does not solve; a user's own solver is trusted."""
    if not isinstance(solver, Steppable):
        return
    if isinstance(problem, solver.solves):
        if solver.boxes and not problem.boxed:
            msg = (
                f"{type(solver).__name__} needs a loss that is the conjugate of a box, "
                "as the hinge, its square or a tube are, and this one is not: use "
                "solver='newton' or 'newton-cg'"
            )
            raise InputTypeError(msg)
        return
    msg = (
        f"{type(solver).__name__} was given a {type(problem).__name__}, and solves a "
        f"{solver.solves.__name__}: use {solver.solves.maker}, or a solver that takes "
        f"this one, such as maxmargin.solvers.{problem.solver}"
    )
    raise InputTypeError(msg)


class _Work:
    """Counts kernel values of a solver, without those of observers and snapshots.

    The counter is that of the Gram: problems that share one and run at the same time (one
    against the rest, in threads) each see the work of all.
    """

    def __init__(self, problem: AnyProblem) -> None:
        self._problem = problem
        self.done = self._before = 0

    def __enter__(self) -> None:
        self._before = self._problem.n_kernel

    def __exit__(self, kind: object, failure: object, trace: object) -> None:
        self.done += self._problem.n_kernel - self._before
        if isinstance(failure, NumericalError) and failure.args == (OVERFLOW,):
            raise NumericalError(self._problem.overflow) from None


def _chunks(
    solver: Solver,
    problem: AnyProblem,
    state: Any,
    began: float,
    name: str,
    growth: float,
    work: _Work,
) -> Iterator[Snapshot]:
    """Advance in chunks whose size follows the clock; their bits do not."""
    budget = 1
    status = Status.RUNNING
    while status is Status.RUNNING:
        before = time.perf_counter()
        with work:
            status = solver.advance(problem, state, budget)
        now = time.perf_counter()
        yield Snapshot(solver, problem, state, status, now - began, name, work.done)
        took = now - before
        if took < 0.5 * CHUNK_SECONDS:
            budget = min(max(budget + 1, int(growth * budget)), 1 << 40)
        elif took > 2.0 * CHUNK_SECONDS:
            budget = max(1, budget // 2)
