"""Kernels whose values come from outside: a given matrix, or a function of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from maxmargin.errors import InputError
from maxmargin.kernels.algebra import Kernel
from maxmargin.kernels.gram.contract import Family

if TYPE_CHECKING:
    from collections.abc import Callable


class Precomputed(Kernel):
    """X is the kernel matrix itself; there is nothing to evaluate or to combine."""

    family = Family.TABLE
    combines = False
    compiles = False
    precomputed = True
    fixed_gamma = 0.0

    @classmethod
    def from_parameters(cls, *, degree: int, gamma: float, coef0: float) -> Precomputed:
        """It has no parameters."""
        return cls()

    def __call__(self, A: Any, B: Any = None) -> NoReturn:
        """Refused: the values are what a machine is given as X."""
        msg = "Precomputed() has no formula: give k(X, X) itself as the X of a machine"
        raise InputError(msg)

    def diagonal(self, X: Any) -> NoReturn:
        """Refused, as values are."""
        self(X)


class BlockFunction(Kernel):
    """A Python function k(A, B) of blocks of rows, which may be anything.

    ``SVC(kernel=function)`` is made one of these by
    :func:`~maxmargin.kernels.naming.as_kernel`; users never see it.
    """

    family = Family.BLOCKS
    combines = False
    compiles = False

    function: Callable[[Any, Any], Any]

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._set(function=function)

    def __call__(self, A: Any, B: Any = None) -> Any:
        """Whatever the function returns."""
        return self.function(A, A if B is None else B)
