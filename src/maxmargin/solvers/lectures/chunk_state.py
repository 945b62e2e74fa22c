"""State of chunking between two chunks, and its report of the last one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.problem import model_of
from maxmargin.solvers.lectures.subsets import counted, restricted
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Problem


class Block:
    """K of the subset, float64, as large as the subset is.

    A pure function of the points: left behind when a state is copied or pickled.
    """

    def __init__(self) -> None:
        self._values = np.empty((0, 0))

    def __getstate__(self) -> dict[str, Any]:
        return {"_values": np.empty((0, 0))}

    def of(self, gram: Gram, subset: Index, diagonal: Vector) -> Vector:
        """K of these points; those stored come first, in the order of their storing."""
        old, q = self._values.shape[0], subset.size
        if q > old:
            K = np.empty((q, q))
            K[:old, :old] = self._values
            self._values = K  # the smaller one is free before kernel values are made
            gram.block(subset[old:], subset, K[old:])
            K[:old, old:] = K[old:, :old].T
            np.fill_diagonal(K, diagonal)
        return self._values

    def retain(self, kept: Index) -> None:
        """Forget the other points."""
        if 0 < self._values.shape[0] != kept.size:
            self._values = self._values[np.ix_(kept, kept)]


class Report(NamedTuple):
    """The numbers of the last unit."""

    chunk: int = 0
    looked: int = 0
    outside: int = 0
    before: int = 0  # support vectors so far
    members: int = 0  # of the QP; 0 where there was none
    pairs: int = 0
    gain: float = 0.0
    dual: float = -np.inf  # after the unit
    support: int = 0  # support vectors after it
    peak_members: int = 0
    bytes: int = 0  # of the QP's block of K
    peak_bytes: int = 0


@dataclass(slots=True)
class State:
    """Everything the solver remembers.

    ``gradient`` is right for the support vectors, and for the points looked at since β
    last changed.
    """

    beta: Vector
    gradient: Vector
    diagonal: Vector  # of K, with the ridge
    support: Index  # in the order of the block
    block: Block
    # min F↑ and max F↓ of each sum over what was looked at since β changed, and whose
    ends: Vector
    bounding: Index
    # the QP under way, if any
    subset: Index
    local: Vector
    solving: bool = False
    moved: int = 0  # its pairs
    looked: int = 0  # at how many points for it
    # counters
    next: int = 0  # first point of the next chunk
    chunks: int = 0
    quiet: int = 0  # points looked at since β changed
    tried: bool = False  # the worst pair of all was given to a QP, in vain
    pairs: int = 0
    report: Report = field(default_factory=Report)


def story(problem: Problem, state: State) -> Step:
    """The last unit in words, from the numbers of its report."""
    report = state.report
    if not report.chunk:
        return Step("Nothing done yet.")
    known = state.support
    b = 0.0
    if known.size:
        part = restricted(problem, known)
        b = model_of(part, state.beta[known], state.gradient[known]).bias
    numbers = {**report._asdict(), "b": b}
    looked = f"Chunk {report.chunk}: {counted(report.looked, 'point')} looked at"
    if not report.members:
        words = (
            f"{looked}, all within their margin condition; "
            f"{state.quiet} since the coefficients last changed."
        )
        return Step(words, numbers)
    if report.looked:
        verb = "joins" if report.outside == 1 else "join"
        words = (
            f"{looked}, {report.outside} outside the margin condition {verb} "
            f"{counted(report.before, 'support vector')}"
        )
    elif not state.looked:
        words = f"After chunk {report.chunk}: the worst pair of all is given one more try"
    else:
        words = f"Chunk {report.chunk} goes on"
    words += f"; the QP of {counted(report.members, 'point')}"
    if report.pairs:
        words += (
            f" took {counted(report.pairs, 'pair')} and raised the dual by "
            f"{report.gain:.3g} to {report.dual:.8g}"
        )
    else:
        words += " changed nothing"
    words += f"; {counted(report.support, 'support vector')} retained. New b = {b:.4g}."
    return Step(words, numbers, tuple(state.subset.tolist()))
