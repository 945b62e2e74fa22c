"""Sums over vectors, by the calling thread: a BLAS would wake others for a long one."""

from __future__ import annotations

from maxmargin._jit import ASSOCIATIVE, njit


def _dot(a, b):
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


def _forward(s, r, d, image, gradient, length):
    """S += length·d, r −= length·image; then s·r, s·g and r·r."""
    model, fall, rest = 0.0, 0.0, 0.0
    for k in range(s.size):
        s[k] += length * d[k]
        r[k] -= length * image[k]
        model += s[k] * r[k]
        fall += s[k] * gradient[k]
        rest += r[k] * r[k]
    return model, fall, rest


def _turn(d, z, factor):
    """D = z + factor·d."""
    for k in range(d.size):
        d[k] = z[k] + factor * d[k]


dot = njit(_dot, fastmath=set(ASSOCIATIVE))
forward = njit(_forward, fastmath=set(ASSOCIATIVE))
turn = njit(_turn)
