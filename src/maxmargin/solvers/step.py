"""What the last unit of a solver's work did, in words and numbers.

A solver writes the numbers of every step into its State as it goes (an array of float64,
so that compiled loops can), and turns them into a :class:`Step` when somebody looks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Step", "pair_moved"]


@dataclass(frozen=True)
class Step:
    """One step, told to people and to programs.

    Parameters
    ----------
    words : str
        What was done and why, a sentence or two with the numbers that matter.
    numbers : mapping from str to numbers
        The same for programs: ``step["eta"]``.
    points : tuple of int
        Points whose coefficients the step changed or tried to change: the pair, the
        chunk, the working set. Empty before the first step.
    """

    words: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    points: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", MappingProxyType(dict(self.numbers)))

    def __getitem__(self, key: str) -> Any:
        """One of the numbers."""
        if key not in self.numbers:
            known = ", ".join(self.numbers) or "none yet"
            msg = f"{key!r}: this step tells {known}"
            raise KeyError(msg)
        return self.numbers[key]

    def __str__(self) -> str:
        return self.words

    def __reduce__(self) -> Any:
        # a MappingProxyType cannot be pickled
        return type(self), (self.words, dict(self.numbers), self.points)


def pair_moved(last: NDArray[np.float64]) -> Step:
    """The last step of :func:`maxmargin.solvers._pairs.move`, as it wrote it."""
    if math.isnan(last[2]):
        return Step("No pair moved.")
    i, j, t, gain = int(last[0]), int(last[1]), float(last[2]), float(last[3])
    numbers = {"i": i, "j": j, "t": t, "gain": gain}
    if j < 0:
        words = f"Point {i}: β moves by {t:.4g}; the dual rises by {gain:.3g}."
        return Step(words, {"i": i, "t": t, "gain": gain}, (i,))
    words = (
        f"Pair ({i}, {j}), the one of largest gain: β_i rises and β_j falls by {t:.4g}; "
        f"the dual rises by {gain:.3g}."
    )
    return Step(words, numbers, (i, j))
