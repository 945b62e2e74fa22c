"""The parameter ``kernel`` of machines: a name, an object or a function.

Behind :func:`as_kernel` there are kernel objects only, which answer for themselves.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels import KERNELS
from maxmargin.kernels.algebra import Kernel
from maxmargin.kernels.outside import BlockFunction


def kind_of(kernel: Any) -> type[Kernel]:
    """The class of the kernel that a parameter stands for, known before any row is.

    Of what no machine accepts it is :class:`Kernel`, which has no special property.
    """
    if isinstance(kernel, Kernel):
        return type(kernel)
    if isinstance(kernel, str):
        try:
            return _named(kernel)
        except InputError:  # no machine accepts it, but some ask before they check
            return Kernel
    return BlockFunction if callable(kernel) else Kernel


def as_kernel(
    kernel: Any, *, degree: int = 3, gamma: float = 1.0, coef0: float = 0.0
) -> Kernel:
    """The kernel object that a parameter stands for.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name, made an object of; an object, returned as it is; or a function k(A, B)
        of blocks of rows, wrapped.
    degree, gamma, coef0
        For names, as in ``SVC``; gamma as a number.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return _made(kernel, degree, gamma, coef0)
    if not callable(kernel) or isinstance(kernel, type):
        msg = (
            f"kernel={kernel!r}: expected a kernel object such as RBF(gamma=1.0), one of "
            f"the names {', '.join(map(repr, KERNELS.names()))}, or a function k(A, B)"
        )
        raise InputTypeError(msg)
    return BlockFunction(kernel)


@cache  # a name that was registered keeps its class
def _named(name: str) -> type[Kernel]:
    kind: type[Kernel] = KERNELS.named(name)
    return kind


@lru_cache(maxsize=64, typed=True)  # kernel objects are values: one of each is enough
def _made(name: str, degree: int, gamma: float, coef0: float) -> Kernel:
    return _named(name).from_parameters(degree=degree, gamma=gamma, coef0=coef0)
