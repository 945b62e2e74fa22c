r"""Two solvers for one problem: the second takes over where the first converges slowly.

The first has cheap epochs and needs few of them for most problems; the second has
expensive steps, whose number hardly depends on the problem. Which is faster shows only as
the first works, from how fast its duality gap falls: as a power of a constant, once the
active variables are known. At each check the epochs that are left are estimated
from the second half of those that are done,

.. math:: e\,\frac{\ln(g/\text{tol})}{\ln(g'/g)},

g the smallest gap so far and g' that of e epochs ago. The second takes over when that is
more than its own steps cost, or than ``max_iter`` leaves, and a share of that (``taste``)
has been tried. All is counted in numbers read and multiplied, never in seconds: the same
data always take the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from maxmargin.solvers.base import Measures, Status
from maxmargin.solvers.wrapped import Wrapped

if TYPE_CHECKING:
    from maxmargin.problem import WarmStart

_LEAST = 20  # policy: epochs of the first before the second may take over


@dataclass(slots=True)
class State:
    """The solver at work with its state, and the checks of the first."""

    solver: Any
    inner: Any
    worth: float  # what the second costs, in iterations of the first
    first: str = ""  # its name, when the second is at work
    before: int = 0  # iterations of the first, when the second is at work
    model: Any = None  # of the first, when the second is at work, and its figures
    figures: Measures | None = None
    looks: list[tuple[int, float]] = field(default_factory=list)  # epochs, best gap


@dataclass(frozen=True)
class Relay(Wrapped):
    """One solver after another; a subclass says which, and what the second costs.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Iterations of both, each in its own unit; −1 for their own limits.
    seed : int
        Of the order of what the first visits.
    """

    tol: float = 1e-4
    max_iter: int = -1
    seed: int = 0
    criterion = "relative_gap"
    unit = "slice or step"
    taste = 0.1  # policy: share of the second's cost that the first may try at least

    def _first(self, problem: Any) -> Any:
        raise NotImplementedError

    def _second(self, limit: int) -> Any:
        """With so many iterations at most; −1 for its own limit."""
        raise NotImplementedError

    def _worth(self, problem: Any) -> float:
        """Epochs of the first in the time of the second; infinite where it cannot."""
        raise NotImplementedError

    def _handed(self, model: Any) -> WarmStart | None:
        """The warm start of the second from the model of the first; None for nothing."""
        raise NotImplementedError

    def at_work(self, state: State) -> Any:
        """The first, then the second."""
        return state.solver

    def start(self, problem: Any, warm: WarmStart | None = None) -> State:
        """That of the first."""
        first = self._first(problem)
        return State(first, first.start(problem, warm), self._worth(problem))

    def advance(self, problem: Any, state: State, budget: int) -> Status:
        """At most ``budget`` units of the solver at work."""
        for _ in range(budget):
            status: Status = state.solver.advance(problem, state.inner, 1)
            able = not state.first and state.worth < math.inf
            stalled = able and status is Status.STALLED
            if status is not Status.RUNNING and not stalled:
                return status
            if stalled or (able and self._is_slow(problem, state)):
                self._turn(problem, state)
        return Status.RUNNING

    def _is_slow(self, problem: Any, state: State) -> bool:
        """Whether the second would be faster than what is left of the first."""
        looks, epochs = state.looks, state.solver.n_iter(state.inner)
        gap = state.solver.measure(problem, state.inner).relative_gap
        if not math.isfinite(gap) or (looks and epochs == looks[-1][0]):
            return False
        looks.append((epochs, min(gap, looks[-1][1]) if looks else gap))
        limit = math.inf if self.max_iter < 0 else self.max_iter
        return crawls(looks, self.tol, state.worth, limit, self.taste)

    def _turn(self, problem: Any, state: State) -> None:
        """The second takes over."""
        state.model = state.solver.model(problem, state.inner)
        state.figures = state.solver.measure(problem, state.inner)
        state.before, state.first = state.solver.n_iter(state.inner), self.ran(state)
        left = -1 if self.max_iter < 0 else max(1, self.max_iter - state.before)
        state.solver = self._second(left)
        state.inner = state.solver.start(problem, self._handed(state.model))

    def measure(self, problem: Any, state: State) -> Measures:
        """Those of the solver at work, or of the first while that was better."""
        figures = super().measure(problem, state)
        if state.figures is None or figures.relative_gap <= state.figures.relative_gap:
            return figures
        return state.figures

    def model(self, problem: Any, state: State) -> Any:
        """That of the solver at work, or of the first while that was better."""
        if state.figures is not None and self.measure(problem, state) is state.figures:
            return state.model
        return super().model(problem, state)

    def ran(self, state: State) -> str:
        """The one, or one and then the other."""
        now = type(state.solver).__name__
        return f"{state.first}, then {now}" if state.first else now

    def n_iter(self, state: State) -> int:
        """Epochs of the first, and steps of the second."""
        return state.before + super().n_iter(state)


def crawls(
    looks: list[tuple[int, float]], tol: float, worth: float, limit: float, taste: float
) -> bool:
    """Whether more than ``worth`` epochs are left, or than ``limit`` allows in all.

    ``looks`` are pairs of epochs done and the smallest gap by then; until ``taste`` of
    what there may be is done, nothing is said.
    """
    done, gap = looks[-1]
    if done < max(_LEAST, taste * min(worth, limit)) or gap <= tol:
        return False
    earlier = [look for look in looks if 2 * look[0] <= done]
    if not earlier:
        return False
    epochs, wider = earlier[-1]
    if tol == 0.0 or wider <= gap:
        return True
    left = (done - epochs) * math.log(gap / tol) / math.log(wider / gap)
    return left > min(worth, limit - done)
