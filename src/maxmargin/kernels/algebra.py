"""The base of all kernel objects, and sums, products, multiples and powers of them.

A kernel object holds its parameters, checked, and never changes: it can be compared,
hashed, pickled, cloned and printed so that the print gives it back. ``k(A, B)`` is the
matrix of all values. The code that computes them (Numba included) is imported when the
first value is asked for.

Sums, products, positive multiples and powers of kernels are kernels (Schölkopf and
Smola, *Learning with Kernels*, 2002, section 13.1).
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels.gram.contract import Family
from maxmargin.kernels.parameters import positive, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from maxmargin._arrays import Matrix

    # The values of a part, and whether their memory may be written to.
    Values = tuple[NDArray[Any], bool]


class Kernel:
    """The base of all kernel objects.

    Everything that is decided about a kernel is an attribute or a method of its class. A
    kernel of rows derives from :class:`~maxmargin.kernels.DotKernel` or
    :class:`~maxmargin.kernels.PairKernel`.
    """

    family: ClassVar[Family]  # which Gram matrices serve it
    combines = True  # whether it can be a part of sums and products
    compiles = True  # whether compiled code makes its values from rows of numbers
    precomputed = False  # whether X is the kernel matrix itself
    is_function = False  # whether it is a user's function of two rows, compiled
    is_linear = False  # whether k(x, z) = x·z: then features have weights
    fixed_gamma: ClassVar[float | None] = None  # ``gamma_`` of a machine that names a
    # kernel without gamma
    __array_ufunc__ = None  # np.float64(2.0) * k is ours, not an array of objects

    @classmethod
    def from_parameters(cls, *, degree: int, gamma: float, coef0: float) -> Kernel:
        """Make the object from scikit-learn's parameters; for kernels with a name.

        They may be 0 where machines allow it, though the constructor refuses it.
        """
        raise NotImplementedError

    @classmethod
    def _unchecked(cls, **values: Any) -> Any:
        made = object.__new__(cls)
        made._set(**values)
        return made

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        msg = f"{type(self).__name__} cannot be changed; make a new kernel instead"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    # --- identity -------------------------------------------------------------------

    def _arguments(self) -> dict[str, Any]:
        """Arguments that make this kernel again."""
        return dict(self.__dict__)

    def _key(self) -> tuple[Any, ...]:
        """Equal for equal kernels of one class."""
        return tuple(self._arguments().values())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value!r}" for name, value in self._arguments().items()
        )
        return f"{type(self).__name__}({given})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), dict(self.__dict__))

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self

    # --- properties of the function -------------------------------------------------

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether every matrix of this kernel is positive semi-definite."""
        return False

    def magnitude(self, norm2: float) -> float:
        """Bound the numbers that k(x, z) is computed from, given ‖x‖², ‖z‖² ≤ norm2."""
        return norm2

    def check_rows(self, X: Any, *, name: str = "X") -> None:
        """Refuse rows for which the kernel is not defined; none, as a rule."""

    # --- parts ----------------------------------------------------------------------

    @property
    def leaves(self) -> tuple[Kernel, ...]:
        """The kernels that it is combined of, from left to right, with repetitions."""
        return (self,)

    @property
    def operations(self) -> int:
        """Operations that make a value from those of the leaves."""
        return 0

    def combined(self, values_of: Callable[[Kernel], Values]) -> Values:
        """Values from those of the leaves, and whether they may be written to."""
        return values_of(self)

    # --- values ---------------------------------------------------------------------

    def __call__(self, A: Any, B: Any = None) -> Matrix:
        """All values k(a, b) of the rows of A and B (of A with itself without B).

        Parameters
        ----------
        A, B : array-like or sparse matrix of shape (n, d) and (m, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, m), float64
        """
        from maxmargin.kernels.factory import cross_values
        from maxmargin.kernels.inputs import checked_pair
        from maxmargin.parallel import Workers

        left, right = checked_pair(A, B)
        self.check_rows(left, name="A")
        if right is not left:
            self.check_rows(right, name="B")
        with Workers(None) as workers:
            return self._finite(cross_values(self, left, right, workers=workers))

    def diagonal(self, X: Any) -> Matrix:
        """``k(x, x)`` of every row of X, float64."""
        from maxmargin.kernels.factory import self_values
        from maxmargin.kernels.inputs import checked_rows

        rows = checked_rows(X, "X")
        self.check_rows(rows)
        return self._finite(self_values(self, rows))

    def _finite(self, values: Matrix) -> Matrix:
        if not np.isfinite(values).all():
            msg = (
                f"{self!r} overflows float64 on these rows; scale the features "
                "(StandardScaler) or reduce gamma and degree"
            )
            raise NumericalError(msg)
        return values

    # --- arithmetic -----------------------------------------------------------------

    def __add__(self, other: Any) -> Kernel:
        return Sum(self, _operand(self, other, "+"))

    def __radd__(self, other: Any) -> Kernel:
        if isinstance(other, Integral) and other == 0:  # sum() begins with it
            return self
        return Sum(_operand(self, other, "+"), self)

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Real) and not isinstance(other, bool):
            return Scaled(float(other), self)
        return Product(self, _operand(self, other, "*"))

    def __rmul__(self, other: Any) -> Kernel:
        return self.__mul__(other)

    def __pow__(self, exponent: Any) -> Kernel:
        return Power(self, exponent)

    def __sub__(self, other: Any) -> NoReturn:
        msg = f"{self!r} - …: a difference of kernels is no kernel in general; use sums"
        raise InputTypeError(msg)

    def __neg__(self) -> NoReturn:
        msg = f"-({self!r}) is no kernel: k(x, x) would be negative"
        raise InputTypeError(msg)


def _restored(kind: type[Kernel], values: dict[str, Any]) -> Any:
    return kind._unchecked(**values)


# --- combinations -----------------------------------------------------------------------


class Combination(Kernel):
    """A kernel made of other kernels, its parts."""

    family = Family.COMBINED

    @property
    def _parts(self) -> list[Kernel]:
        return [one for one in self.__dict__.values() if isinstance(one, Kernel)]

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether all parts are (of a product: Schur)."""
        return all(part.is_semidefinite_by_construction for part in self._parts)

    def check_rows(self, X: Any, *, name: str = "X") -> None:
        """Refuse rows for which a part is not defined."""
        for part in self._parts:
            part.check_rows(X, name=name)

    @property
    def leaves(self) -> tuple[Kernel, ...]:
        """Those of all parts."""
        return tuple(leaf for part in self._parts for leaf in part.leaves)

    @property
    def operations(self) -> int:
        """Those of all parts, and one."""
        return 1 + sum(part.operations for part in self._parts)


class _Pair(Combination):
    """Two kernels, their values joined element by element."""

    left: Kernel
    right: Kernel
    _join: ClassVar[Any]

    def __init__(self, left: Kernel, right: Kernel) -> None:
        _combinable(left, right)
        self._set(left=left, right=right)

    def combined(self, values_of: Callable[[Kernel], Values]) -> Values:
        """In the memory of one side, where it may be written to."""
        left, mine = self.left.combined(values_of)
        right, also_mine = self.right.combined(values_of)
        out = left if mine else right if also_mine else None
        return self._join(left, right, out=out), True


class Sum(_Pair):
    """k(x, z) = left(x, z) + right(x, z); written ``left + right``."""

    _join = np.add

    def __repr__(self) -> str:
        return f"{self.left!r} + {_bracketed(self.right, Sum)}"


class Product(_Pair):
    """k(x, z) = left(x, z)·right(x, z); written ``left * right``."""

    _join = np.multiply

    def __repr__(self) -> str:
        right = _bracketed(self.right, Sum, Product, Scaled)
        return f"{_bracketed(self.left, Sum)} * {right}"


class Scaled(Combination):
    """k(x, z) = factor·part(x, z), factor positive; written ``factor * part``."""

    factor: float
    part: Kernel

    def __init__(self, factor: float, part: Kernel) -> None:
        _combinable(part)
        if not isinstance(factor, Real) or not 0.0 < factor < math.inf:
            msg = (
                f"{factor!r} * {part!r}: a kernel may be multiplied by positive, finite "
                "numbers only; k(x, x) would not be positive otherwise"
            )
            raise InputError(msg)
        self._set(factor=positive("Scaled", "factor", factor), part=part)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_bracketed(self.part, Sum, Product, Scaled)}"

    def combined(self, values_of: Callable[[Kernel], Values]) -> Values:
        """In the precision of the part."""
        part, mine = self.part.combined(values_of)
        factor = part.dtype.type(self.factor)
        return np.multiply(part, factor, out=part if mine else None), True


class Power(Combination):
    """k(x, z) = part(x, z)^exponent for an integer ≥ 1; written ``part ** exponent``."""

    part: Kernel
    exponent: int

    def __init__(self, part: Kernel, exponent: int) -> None:
        _combinable(part)
        if not isinstance(exponent, Integral) or isinstance(exponent, bool):
            msg = (
                f"({part!r}) ** {exponent!r}: a power of a kernel is a kernel in general "
                "for positive integers only"
            )
            raise InputTypeError(msg)
        self._set(part=part, exponent=whole("Power", "exponent", exponent))

    def __repr__(self) -> str:
        part = _bracketed(self.part, Sum, Product, Scaled, Power)
        return f"{part} ** {self.exponent}"

    @property
    def operations(self) -> int:
        """Those of the part, and the squarings."""
        return self.exponent.bit_length() + self.part.operations

    def combined(self, values_of: Callable[[Kernel], Values]) -> Values:
        """By squaring: the order of the products is fixed by the exponent."""
        square, _ = self.part.combined(values_of)
        power, exponent = None, self.exponent
        while True:
            if exponent & 1:
                power = (
                    square.copy() if power is None else np.multiply(power, square, power)
                )
            exponent >>= 1
            if exponent == 0:
                assert power is not None
                return power, True
            square = square * square


def _bracketed(part: Kernel, *weaker: type) -> str:
    return f"({part!r})" if isinstance(part, weaker) else repr(part)


def _combinable(*parts: Kernel) -> None:
    for part in parts:
        if not part.combines:
            msg = (
                f"{part!r} cannot be combined with other kernels: it does not see "
                "rows; combine the matrices themselves and give the result as X"
            )
            raise InputError(msg)


def _operand(kernel: Kernel, other: Any, sign: str) -> Kernel:
    if isinstance(other, Kernel):
        return other
    advice = (
        "; decorate the function k(x, z) of two rows with @maxmargin.kernel"
        if callable(other)
        else "; write 2.0 * k for a multiple of a kernel"
        if sign == "+"
        else "; multiply by a positive number or another kernel"
    )
    msg = f"{kernel!r} {sign} {other!r}: expected a kernel object{advice}"
    raise InputTypeError(msg)
