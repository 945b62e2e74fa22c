"""Decimal digits and binary floats, exactly: compiled, without allocation.

Reading: a decimal w·10^q with w < 2^53 and |q| ≤ 22 is one correctly rounded operation
on two exact doubles (W. Clinger, "How to read floating point numbers accurately", PLDI
1990). Others up to w < 2^64 are multiplied with 128 bits of 10^q, and the bits below the
mantissa decide the rounding unless they lie within the error of that product (the idea
of M. Eisel; D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and
Experience 51, 2021; the interval test here is simpler and gives up somewhat sooner). The
caller converts undecided numbers by Python's ``float``: no bit is ever wrong.

Writing: the shortest decimal that is read back as the same float, and of those the
nearest (R. Giulietti, "The Schubfach way to render doubles", 2020, with 128 bits of 10^q
where the paper proves that 126 suffice).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The outcome of reading a number: done, grammatical but undecided, or no number.
READ, HARD, MALFORMED = 0, 1, 2

_LOWEST, _HIGHEST = -342, 324  # of the powers of ten that a float64 can need


def _powers_of_ten() -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """``10^q = (T + t)·2^e`` with 2^127 ≤ T < 2^128, 0 ≤ t < 1: halves of T, and e."""
    count = _HIGHEST - _LOWEST + 1
    high, low = np.empty(count, np.uint64), np.empty(count, np.uint64)
    exponents = np.empty(count, np.int64)
    for place, q in enumerate(range(_LOWEST, _HIGHEST + 1)):
        five = 5 ** abs(q)
        if q < 0:
            e = -127 - five.bit_length()
            significand = (1 << -e) // five
        else:
            e = five.bit_length() - 128
            significand = five >> e if e > 0 else five << -e
        high[place], low[place] = significand >> 64, significand & (2**64 - 1)
        exponents[place] = e + q
    return high, low, exponents


_HIGH, _LOW, _EXPONENTS = _powers_of_ten()
_EXACT_TENS = np.array([float(10**q) for q in range(23)])

# Numba turns a mixture of signed and unsigned 64 bits into a float: all are unsigned.
_U0, _U1, _U2, _U4 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4)
_U10, _U40, _U32, _U63 = np.uint64(10), np.uint64(40), np.uint64(32), np.uint64(63)
_U48, _U52, _U64_MAX = np.uint64(48), np.uint64(52), np.uint64(2**64 - 1)
_HALF_WORD = np.uint64(2**32 - 1)
_TWO_52, _TWO_53 = np.uint64(2**52), np.uint64(2**53)
_PLUS, _MINUS, _POINT, _E = 43, 45, 46, 101
_MOST_DIGITS = 19  # that always fit into 64 bits
_EXPONENT_LIMIT = 10**17  # farther than a file is long: no zeros make up for it


@njit
def _high_product(a: Any, b: Any) -> Any:
    """The upper 64 of the 128 bits of a·b."""
    a1, a0 = a >> _U32, a & _HALF_WORD
    b1, b0 = b >> _U32, b & _HALF_WORD
    middle = a1 * b0 + ((a0 * b0) >> _U32)
    other = a0 * b1 + (middle & _HALF_WORD)
    return a1 * b1 + (middle >> _U32) + (other >> _U32)


@njit
def _scaled(w: Any, q: int) -> tuple[float, bool]:
    """w·10^q correctly rounded, for w > 0, and whether it could be decided."""
    if q < _LOWEST or q > _HIGHEST:
        return 0.0, False
    shift = 0
    step = 32
    while step > 0:  # until the first bit of w is 1
        if w >> np.uint64(64 - step) == _U0:
            w = w << np.uint64(step)
            shift += step
        step >>= 1
    place = q - _LOWEST
    low = w * _HIGH[place]
    high = _high_product(w, _HIGH[place])
    carry = _high_product(w, _LOW[place])
    low = low + carry
    if low < carry:
        high = high + _U1
    # The true product lies in [high:low, high:low + 2): less than 1 was cut off from
    # w·T, and the part t of 10^q that T lacks adds less than another 1.
    dropped = 10 + np.int64(high >> _U63)
    mantissa = high >> np.uint64(dropped)
    rest = high & ((_U1 << np.uint64(dropped)) - _U1)
    half = _U1 << np.uint64(dropped - 1)
    if rest < half:
        if rest == half - _U1 and low >= _U64_MAX - _U1:
            return 0.0, False
    elif rest == half and low == _U0:
        return 0.0, False
    else:
        mantissa = mantissa + _U1
    exponent = dropped + 128 + _EXPONENTS[place] - shift
    if mantissa == _TWO_53:
        mantissa = _TWO_52
        exponent += 1
    biased = exponent + 1075
    if biased < 1 or biased > 2046:  # subnormal, or beyond the largest
        return 0.0, False
    bits = (np.uint64(biased) << _U52) | (mantissa - _TWO_52)
    return np.uint64(bits).view(np.float64), True


@njit
def _significant(text: Any, p: int, q: int) -> Any:
    """First 19 significant digits at p as w, the power of ten of w, whether more follow.

    ``q`` is the exponent that is written behind the digits.
    """
    w = _U0
    taken = 0
    behind_point = False
    more: Any = False
    while True:
        digit = np.uint64(text[p]) - _U48
        if digit < _U10:
            if taken < _MOST_DIGITS:
                w = w * _U10 + digit
                if w > _U0:
                    taken += 1
                if behind_point:
                    q -= 1
            else:
                if not behind_point:
                    q += 1
                more = more or digit > _U0
        elif text[p] == _POINT and not behind_point:
            behind_point = True
        else:
            return w, q, more
        p += 1


@njit
def _hard_number(text: Any, first: int, written: int) -> tuple[float, bool]:
    """The unsigned number whose digits begin at ``first``, with ``written`` as exponent.

    Returns its value, and whether it could be decided.
    """
    w, q, more = _significant(text, first, written)
    if w == _U0:
        return 0.0, True
    value, decided = _scaled(w, q)
    if more and decided:
        # The true number lies between w·10^q and (w+1)·10^q.
        above, decided = _scaled(w + _U1, q)
        decided = decided and above == value
    return value, decided


@njit
def read_number(text: Any, p: int) -> tuple[int, float, int]:  # noqa: PLR0912 - inline
    """Read ``[+-]digits[.digits][e[+-]digits]`` at ``text[p]``.

    Text must end with a byte that no number holds. Returns the place behind, the value,
    and READ, HARD (a number, which Python's ``float`` must convert) or MALFORMED.
    """
    c = text[p]
    negative = c == _MINUS
    if negative or c == _PLUS:
        p += 1
    first = p
    w = _U0
    digit = np.uint64(text[p]) - _U48
    while digit < _U10:
        w = w * _U10 + digit
        p += 1
        digit = np.uint64(text[p]) - _U48
    digits = p - first
    q = 0
    if text[p] == _POINT:
        p += 1
        mark = p
        digit = np.uint64(text[p]) - _U48
        while digit < _U10:
            w = w * _U10 + digit
            p += 1
            digit = np.uint64(text[p]) - _U48
        q = mark - p
        digits -= q
    if digits == 0:
        return p, 0.0, MALFORMED
    written: Any = 0
    if text[p] | 32 == _E:
        p += 1
        c = text[p]
        if c in (_MINUS, _PLUS):
            p += 1
        mark = p
        while text[p] >= 48 and text[p] <= 57:
            if written < _EXPONENT_LIMIT:
                written = 10 * written + np.int64(text[p]) - 48
            p += 1
        if p == mark:
            return p, 0.0, MALFORMED
        if c == _MINUS:
            written = -written
        q += written
    decided = True
    # More than 19 digits may have left the 64 bits of w: they are looked at again.
    if digits <= _MOST_DIGITS and w <= _TWO_53 and -22 <= q <= 22:
        value: Any = np.float64(np.int64(w))
        value = value / _EXACT_TENS[-q] if q < 0 else value * _EXACT_TENS[q]
    else:
        value, decided = _hard_number(text, first, written)
    if negative:
        value = -value
    return p, value, READ if decided else HARD


@njit
def _rounded_to_odd(place: int, c: Any) -> Any:
    """c·10^q·2^−(e+128) cut to an integer, odd if anything was cut off."""
    high, low = _HIGH[place], _LOW[place] + _U1  # the paper's g: just above 10^q
    if low == _U0:
        high = high + _U1
    carry = _high_product(low, c)
    rest = high * c + carry
    whole = _high_product(high, c)
    if rest < carry:
        whole = whole + _U1
    return whole | _U1 if rest > _U1 else whole


@njit
def shortest_digits(c: Any, q: Any, closer: Any) -> tuple[Any, int]:
    """Integer d and exponent k: d·10^k is the shortest decimal that means c·2^q.

    ``closer`` tells that the next smaller float is only half as far as the next larger
    (c is a power of two above the subnormals). d may end with zeros.
    """
    # floor(log10(2^q)), or floor(log10(3/4·2^q)), and floor(log2(10^-k)): Giulietti, §9.
    k = (q * 1262611 - (524031 if closer else 0)) >> 22
    h = np.uint64(q + ((-k * 1741647) >> 19) + 1)
    place = -k - _LOWEST
    middle = _rounded_to_odd(place, (_U4 * c) << h)  # 4·v/10^k; of the interval's ends:
    lower = _rounded_to_odd(place, (_U4 * c - (_U1 if closer else _U2)) << h)
    upper = _rounded_to_odd(place, (_U4 * c + _U2) << h)
    if c & _U1:  # a tie is read as the even neighbour: the ends do not belong to us
        lower = lower + _U1
        upper = upper - _U1
    s = middle >> _U2
    if s >= _U10:
        tens = s // _U10
        below = lower <= _U40 * tens
        above = _U40 * tens + _U40 <= upper
        if below != above:
            return tens + (_U1 if above else _U0), k + 1
    below = lower <= _U4 * s
    above = _U4 * s + _U4 <= upper
    if below != above:
        return s + (_U1 if above else _U0), k
    between = _U4 * s + _U2
    up = middle > between or (middle == between and s & _U1 == _U1)
    return s + (_U1 if up else _U0), k
