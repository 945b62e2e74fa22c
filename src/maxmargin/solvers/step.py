"""The last unit of a solver's work, in words and numbers.

A solver writes the numbers of every step into its State as it goes (an array of float64,
so that compiled loops can), and turns them into a :class:`Step` on demand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Step(Mapping[str, Any]):
    """One step for people and for programs: ``print(step)``, ``dict(step)``.

    Parameters
    ----------
    words : str
        What was done and why, a sentence or two with the numbers that matter.
    numbers : mapping from str to numbers
        The same for programs: ``step["eta"]``.
    points : tuple of int
        Points that the step was about: the pair (of many pairs, the last), the chunk,
        the working set. Empty before the first step.
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

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __bool__(self) -> bool:
        return True  # also without numbers

    def __str__(self) -> str:
        return self.words

    def __reduce__(self) -> Any:
        # a MappingProxyType cannot be pickled
        return type(self), (self.words, dict(self.numbers), self.points)


def pair_moved(last: NDArray[np.float64], b: float) -> Step:
    """The last step of :func:`maxmargin.solvers.smo.pairs.move`, as it wrote it.

    ``b`` is the intercept after it.
    """
    if math.isnan(last[2]):
        return Step("No pair moved.")
    i, j = int(last[0]), int(last[1])
    t, gain, price, slope, eta, total = last[2:].tolist()
    wanted = slope / eta
    clipped = abs(t) < abs(wanted)
    numbers: dict[str, Any] = {
        "i": i, "j": j, "F_i": price, "F_j": price + slope, "eta": eta, "t": t,
        "t_unclipped": wanted, "clipped": clipped, "b": b, "gain": gain,
        "unit_gain": total,
    }  # fmt: skip
    how = f"clipped from {wanted:.4g} to its box" if clipped else "not clipped"
    end = f"New b = {b:.4g}; the dual rises by {gain:.3g}."
    if j < 0:
        del numbers["j"], numbers["F_j"]
        words = (
            f"Point {i}, the one of largest gain: F_i = {price:.4g}, η = {eta:.4g}; β_i "
            f"moves by {t:.4g}, {how}. {end}"
        )
        return Step(words, numbers, (i,))
    words = (
        f"Pair ({i}, {j}), j the one of largest gain for i: errors without b F_i = "
        f"{price:.4g}, F_j = {price + slope:.4g}; η = {eta:.4g}; β_i rises and β_j "
        f"falls by {t:.4g}, {how}. {end}"
    )
    return Step(words, numbers, (i, j))
