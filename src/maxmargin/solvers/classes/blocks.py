r"""All classes of one point at a time: the compiled steps of Crammer and Singer.

With :math:`A = k(x_i, x_i)` and :math:`B_m = G_{im} - A\beta_{im}` the K variables of
point i have the exact solution

.. math:: \beta_{im} = \min\bigl(C_i 1[m=y_i],\ (\lambda - B_m)/A\bigr),\qquad
          \lambda:\ \sum_m\beta_{im} = 0

(S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh and C.-J. Lin, "A sequential dual
method for large scale multi-class linear SVMs", KDD 2008). λ is found by taking classes
out at their bound until none is left beyond it, at most K rounds and usually two
(C. Michelot, J. Optim. Theory Appl. 50, 1986), which needs neither sorting nor memory.

Steps alone zigzag where points are much alike. After every third sweep a leap goes on in
the direction d of the last three, to the minimum or to a bound: −G·d / d'Kd, where Kd is
the change of G, so that it costs no kernel value (a pattern move: R. Hooke and T. Jeeves,
J. ACM 8, 1961). Iris, linear kernel, C = 100: 31 000 steps, without it
764 000; never more on anything tried.

Gradients are (K, q) here: a step adds a kernel row to the lines of the classes it moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Table, Vector

CONVERGED, PAUSED, STUCK = range(3)  # how sweep() ends
NEXT, MOVED, SWEEPS = range(3)  # its counters: next slot, steps, sweeps since a leap

_FLAT = 1e-12  # rounding: A·C relative to G; below it the curvature counts as 0
_STEP = 4e-16  # rounding: least change relative to β that is a step
_SHARE = 0.5  # policy: share of the worst violation above which a point is solved
_EVERY = 3  # policy: sweeps between two leaps (extrapolations)
_FAR = 1e3  # rounding: longest leap, for it multiplies the rounding of G
_PAYS = 1e-13  # rounding: least gain of a leap relative to Σ|Gβ|


class WorkingSet(NamedTuple):
    """The q points of W: K_WW, gradients (K, q), β (q, K), and where a leap begins."""

    K: NDArray[Any]
    G: Table
    beta: Table
    codes: Index
    C: Vector
    diagonal: Vector
    from_gradient: Table
    from_beta: Table


@njit
def _violation(G, i, beta, y, C):
    """Largest G of point i minus the least that may rise; −inf if none may."""
    top, low = G[0, i], np.inf
    for m in range(G.shape[0]):
        top = max(top, G[m, i])
        if beta[m] < (C if m == y else 0.0):
            low = min(low, G[m, i])
    return top - low


@njit
def _corner(C, y, B, new):
    """The minimiser for A = 0: the whole price against the class with the largest B."""
    best = y
    for m in range(B.size):
        new[m] = 0.0
        if B[m] > B[best]:
            best = m
    if best != y:
        new[best], new[y] = -C, C


@njit
def _spread(A, spent, y, B, new, fixed):
    """Michelot's rounds over the classes with a mark (1) in ``new``.

    Class y, if not ``fixed`` at its bound, goes along without a mark. Sets the other
    classes, and returns what they hold against y, −Σβ.
    """
    before = 0
    while True:
        count, total = (0, 0.0) if fixed else (1, B[y])
        for m in range(B.size):
            if new[m] > 0.0:
                count, total = count + 1, total + B[m]
        if count in (0, before):
            break
        before, level = count, (total - spent) / count
        for m in range(B.size):
            if B[m] <= level:
                new[m] = 0.0
    weight = 0.0
    for m in range(B.size):
        if new[m] > 0.0:
            new[m] = (level - B[m]) / A
            weight -= new[m]
    return weight


@njit
def minimise(A, C, y, B, new):
    """Set ``new`` to the minimiser of ½A‖β‖² + B·β, Σβ = 0, β ≤ C·1[m = y]; A, C > 0."""
    for m in range(B.size):
        new[m] = 1.0 if B[m] > B[y] else 0.0
    weight = _spread(A, 0.0, y, B, new, False)
    if weight < C:  # the point's own class stays below its bound
        new[y] = weight
        return
    for m in range(B.size):
        new[m] = 0.0 if m == y else 1.0
    weight = _spread(A, A * C, y, B, new, True)
    if not weight > 0.0:  # A·C is lost beside B
        _corner(C, y, B, new)
        return
    for m in range(B.size):
        new[m] *= C / weight  # 1 but for rounding
    new[y] = C


@njit
def _step(K, G, i, beta, y, C, A, B, new):
    """Solve point i of W, bring its changes to G of W; returns how many classes moved."""
    largest, size = 0.0, 0.0
    for m in range(beta.size):
        largest = max(largest, abs(G[m, i]))
        size = max(size, abs(beta[m]))
    if A * C > _FLAT * largest:
        for m in range(beta.size):
            B[m] = G[m, i] - A * beta[m]
        minimise(A, C, y, B, new)
    else:  # flat, or with an indefinite kernel bent downward
        for m in range(beta.size):
            B[m] = G[m, i]
        _corner(C, y, B, new)
    longest, moved, turned = 0.0, 0, False
    for m in range(beta.size):
        upper = C if m == y else 0.0
        longest = max(longest, abs(new[m] - beta[m]))
        size = max(size, abs(new[m]))
        # The last digit to a bound, or from it, decides whether it may rise.
        turned = turned or (beta[m] == upper) != (new[m] == upper)
    if longest <= _STEP * size and not turned:
        return 0
    row = K[i]
    for m in range(beta.size):
        change = new[m] - beta[m]
        if change != 0.0:
            beta[m] = new[m]
            moved += 1
            line = G[m]
            for j in range(line.size):
                line[j] += change * row[j]
    return moved


@njit
def _length(W):
    """How far to go on, relative to the way behind: to the minimum, or to a bound."""
    G, beta, from_gradient, from_beta = W.G, W.beta, W.from_gradient, W.from_beta
    gain, bend, far, size = 0.0, 0.0, _FAR, 0.0
    for i in range(G.shape[1]):
        for m in range(G.shape[0]):
            d = beta[i, m] - from_beta[i, m]
            size += abs(G[m, i] * beta[i, m])
            gain -= G[m, i] * d
            bend += (G[m, i] - from_gradient[m, i]) * d
            room = (W.C[i] if m == W.codes[i] else 0.0) - beta[i, m]
            if d > 0.0 and room < far * d:
                far = room / d
    length = min(gain / bend, far) if gain > 0.0 and bend > 0.0 else 0.0
    return length if gain * length > _PAYS * size else 0.0


@njit
def _follow(beta, y, C, start, length):
    """β of one point further along the way from ``start``; its sum stays 0."""
    total, moved = 0.0, False
    for m in range(beta.size):
        step = length * (beta[m] - start[m])
        upper = C if m == y else 0.0
        moved = moved or step != 0.0
        beta[m] += step
        if upper - beta[m] <= 1e-15 * step:
            beta[m] = upper
        if m != y:
            total -= beta[m]
    if not moved:
        return
    if total < C and beta[y] < C:
        beta[y] = total
    elif total > 0.0:
        for m in range(beta.size):
            beta[m] *= C / total  # 1 but for rounding
        beta[y] = C


@njit
def _leap(W):
    """Extrapolate from ``from_beta`` (gradient ``from_gradient``) to β (gradient G).

    Afterwards the two are where the next leap begins.
    """
    G, beta, from_gradient, from_beta = W.G, W.beta, W.from_gradient, W.from_beta
    length = _length(W)
    for i in range(G.shape[1]):
        _follow(beta[i], W.codes[i], W.C[i], from_beta[i], length)
        for m in range(G.shape[0]):
            from_beta[i, m] = beta[i, m]
    for m in range(G.shape[0]):
        for i in range(G.shape[1]):
            G[m, i] += length * (G[m, i] - from_gradient[m, i])
            from_gradient[m, i] = G[m, i]


@njit
def sweep(W, counters, level, stop_at, limit, work):
    """Steps on W until its violation is at most ``stop_at``; returns why, and how many.

    ``level[0]`` is the violation over which a point is solved in this sweep. It ends
    early (PAUSED) after ``limit`` steps or ``work`` operations, and can go on.
    """
    G, beta, codes, C = W.G, W.beta, W.codes, W.C
    n_classes, q = G.shape
    B, new = np.empty(n_classes), np.empty(n_classes)
    done, spent = 0, 0
    while True:
        if counters[NEXT] == 0:
            if spent >= work:
                return PAUSED, done
            if counters[SWEEPS] == _EVERY:
                _leap(W)
                counters[SWEEPS] = 0
                spent += 4 * q * n_classes
            worst = 0.0
            for i in range(q):
                worst = max(worst, _violation(G, i, beta[i], codes[i], C[i]))
            spent += q * n_classes
            if worst <= stop_at:
                return CONVERGED, done
            if done >= limit:
                return PAUSED, done
            if counters[MOVED] == 0:
                return STUCK, done
            counters[MOVED] = 0
            counters[SWEEPS] += 1
            level[0] = max(stop_at, _SHARE * worst)
        for i in range(counters[NEXT], q):
            counters[NEXT] = i
            if i > 0 and (done >= limit or spent >= work):
                return PAUSED, done
            spent += n_classes
            if _violation(G, i, beta[i], codes[i], C[i]) > level[0]:
                moved = _step(W.K, G, i, beta[i], codes[i], C[i], W.diagonal[i], B, new)
                if moved:
                    spent += moved * q
                    counters[MOVED] += 1
                    done += 1
        counters[NEXT] = 0


@njit
def merits(G, beta, codes, C, merit):
    """Violation of every point; if 0, minus what it lacks until another class counts."""
    for i in range(merit.size):
        merit[i] = _violation(G, i, beta[i], codes[i], C[i])
        if merit[i] == 0.0:
            top, other = -np.inf, -np.inf
            for m in range(G.shape[0]):
                top = max(top, G[m, i])
                if beta[i, m] == (C[i] if m == codes[i] else 0.0):
                    other = max(other, G[m, i])
            merit[i] = other - top if other > -np.inf else 0.0


@njit
def add(values, change, G, first, last):
    """G[m, first + t] += Σ_j change[j, m]·values[j, t]; a strip of points at a time."""
    for start in range(first, last, 512):
        end = min(start + 512, last)
        for j in range(change.shape[0]):
            row = values[j, start - first : end - first]
            for m in range(change.shape[1]):
                factor = change[j, m]
                if factor != 0.0:
                    line = G[m, start:end]
                    for t in range(line.size):
                        line[t] += factor * row[t]
