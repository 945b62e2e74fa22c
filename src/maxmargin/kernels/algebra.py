"""What kernel objects have in common, and what can be made of them.

Each holds its parameters, checked, and never changes: it can be compared, hashed,
pickled, cloned and printed so that the print gives it back. ``k(A, B)`` is the matrix of
all values. What computes them (Numba included) is imported on first evaluation.

Sums, products, positive multiples and powers of kernels are kernels (Schölkopf and
Smola, *Learning with Kernels*, 2002, section 13.1).
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels.parameters import positive, whole

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix


class Kernel:
    """What all kernel objects have in common."""

    combines = True  # whether it can be a part of sums and products
    __array_ufunc__ = None  # np.float64(2.0) * k is ours, not an array of objects

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
        """What equal kernels of one class share."""
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
        return _made, (type(self), self._arguments())

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self

    # --- values ---------------------------------------------------------------------

    def compiled(self) -> Any:
        """The form that :mod:`maxmargin.kernels.factory` understands."""
        raise NotImplementedError

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether every matrix of this kernel is positive semi-definite."""
        raise NotImplementedError

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
        from maxmargin.kernels.factory import check_rows, cross_values
        from maxmargin.kernels.inputs import checked_pair
        from maxmargin.parallel import Workers

        left, right = checked_pair(A, B)
        form = self.compiled()
        check_rows(form, left, name="A")
        if right is not left:
            check_rows(form, right, name="B")
        with Workers(None) as workers:
            return self._finite(cross_values(form, left, right, workers=workers))

    def diagonal(self, X: Any) -> Matrix:
        """``k(x, x)`` of every row of X, float64."""
        from maxmargin.kernels.factory import check_rows, self_values
        from maxmargin.kernels.inputs import checked_rows

        rows, form = checked_rows(X, "X"), self.compiled()
        check_rows(form, rows)
        return self._finite(self_values(form, rows))

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


def _made(kind: Any, arguments: dict[str, Any]) -> Any:
    return kind(**arguments)


# --- combinations -----------------------------------------------------------------------


class Sum(Kernel):
    """k(x, z) = left(x, z) + right(x, z); written ``left + right``."""

    left: Kernel
    right: Kernel

    def __init__(self, left: Kernel, right: Kernel) -> None:
        _combinable(left, right)
        self._set(left=left, right=right)

    def __repr__(self) -> str:
        return f"{self.left!r} + {_bracketed(self.right, Sum)}"

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels.gram import composite

        return composite.Sum(self.left.compiled(), self.right.compiled())

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether both parts are."""
        return _all_semidefinite(self.left, self.right)


class Product(Kernel):
    """k(x, z) = left(x, z)·right(x, z); written ``left * right``."""

    left: Kernel
    right: Kernel

    def __init__(self, left: Kernel, right: Kernel) -> None:
        _combinable(left, right)
        self._set(left=left, right=right)

    def __repr__(self) -> str:
        right = _bracketed(self.right, Sum, Product, Scaled)
        return f"{_bracketed(self.left, Sum)} * {right}"

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels.gram import composite

        return composite.Product(self.left.compiled(), self.right.compiled())

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether both parts are (Schur)."""
        return _all_semidefinite(self.left, self.right)


class Scaled(Kernel):
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

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels.gram import composite

        return composite.Scaled(self.factor, self.part.compiled())

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether its part is."""
        return _all_semidefinite(self.part)


class Power(Kernel):
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

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels.gram import composite

        return composite.Power(self.part.compiled(), self.exponent)

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether its part is."""
        return _all_semidefinite(self.part)


def _all_semidefinite(*parts: Kernel) -> bool:
    return all(part.is_semidefinite_by_construction for part in parts)


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
