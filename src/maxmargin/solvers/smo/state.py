"""State of the working-set solver between two slices of work."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.solvers.step import Step, pair_moved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import Problem
    from maxmargin.solvers.gram_memory import WorkingMemory
    from maxmargin.solvers.smo.shrinking import Scope


class Phase(Enum):
    """The next slice of work."""

    REFRESH = "compute the gradient of a given β from nothing"
    SELECT = "measure the violation, choose the working set"
    SOLVE = "pair steps on the working set"
    TOGETHER = "its free points solved together"
    FOLD = "bring its changes to the gradients of all points"
    VERIFY = "compute gradients that decide anew, in float64"


@dataclass(slots=True)
class State:
    """Everything the solver remembers.

    ``gradient`` is always F of ``applied``; ``beta`` runs ahead of ``applied`` while W
    is being solved, and while some points only are in ``focus``. A gradient under
    construction, ``fresh``, is that of the points ``targets``; ``cursor`` of the columns
    ``pending`` have gone into it. The points ``given`` have a known new gradient.
    """

    # the problem's variables
    beta: Vector
    applied: Vector
    gradient: Vector
    diagonal: Vector  # of K, with the ridge
    # the working set: the first ``size`` of ``members``, their F, and K_WW
    members: Index
    local: Vector
    memory: WorkingMemory
    # the points whose gradients are kept up to date; None: all
    focus: Scope | None
    # a gradient under construction
    fresh: Vector
    targets: Index
    pending: Index
    cursor: int = 0
    given: Index = field(default_factory=lambda: np.empty(0, np.intp))
    given_gradient: Vector = field(default_factory=lambda: np.empty(0))
    # where the solver stands
    phase: Phase = Phase.REFRESH
    size: int = 0
    iterations: int = 0
    began: int = 0  # iterations when W was chosen
    swept: float = 0.0  # points swept by pairs on this W, or since the last TOGETHER
    patience: float = 1.0  # how much longer than usual pairs have before the next
    moved_together: int = 0  # points that TOGETHER moved in the last unit
    idle: bool = False  # the last SOLVE moved nothing
    stop_at: float = 0.0  # violation at which SOLVE ends
    centre: Any = 0.0  # what deciding gradients of W are near to
    last: Vector = field(default_factory=lambda: np.full(8, np.nan))  # pair of the unit
    dual: float = field(default=-np.inf)  # the best so far
    violation: float = field(default=np.inf)  # at the last SELECT or VERIFY
    # precision
    wide: bool = False  # float64 kernel values from here on
    rounds: int = 0  # verifications that failed
    verified: float = field(default=np.inf)  # violation of the last one that did
    slack: float = 0.0  # distance from deciding beyond which VERIFY leaves points out
    drift: float = 0.0  # largest error of F that was seen
    known: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    converged: bool = False
    settled: bool = False  # VERIFY is at all support vectors, for the objective

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of kernel values that are not to verify anything."""
        return np.dtype(np.float64 if self.wide else np.float32)

    @property
    def working_set(self) -> Index:
        """Its members, in the order of K_WW."""
        return self.members[: self.size]

    @property
    def complete(self) -> bool:
        """Whether all points are members."""
        return self.size == self.beta.size


def story(problem: Problem, state: State, b: float) -> Step:
    """Where the solver stands, and the last pair that the last unit moved."""
    pair = pair_moved(state.last, b)
    kind = "float64" if state.wide else "float32"
    words = (
        f"{state.iterations:,} pairs so far on a working set of {state.size:,} of "
        f"{problem.n:,} points, kernel values in {kind}; violation at the last look "
        f"{state.violation:.3g}. "
    )
    if pair.points:
        total = pair["unit_gain"]
        words += f"This unit raised the dual by {total:.3g}, last by: {pair.words} "
    elif state.moved_together:
        words += (
            "This unit solved free points of the working set together: "
            f"{state.moved_together:,} moved, and the dual rose by {state.last[7]:.3g}. "
        )
    words += "Verified." if state.converged else f"Next: {state.phase.value}."
    together = {"moved": state.moved_together, "unit_gain": float(state.last[7])}
    numbers = {
        **(together if state.moved_together else pair.numbers),
        "iterations": state.iterations,
        "working_set": state.size,
        "violation": state.violation,
        "phase": state.phase.name.lower(),
    }
    return Step(words, numbers, pair.points)
