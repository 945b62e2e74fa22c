r"""The free points of a working set, solved together: steps of an active-set method.

Problem: that of :mod:`maxmargin.solvers.smo.pairs`, q points whose kernel block is
stored. At large C most of the pair steps go into few points that are strictly between
their bounds, and whose kernel matrix is nearly singular: each pair undoes what others
did.

Update. With f the n free points and one column of A for each sum, solve

.. math:: \begin{pmatrix}K_{ff} + \lambda I & A\\ A^\top & 0\end{pmatrix}
          \begin{pmatrix}\delta\\ b\end{pmatrix} = \begin{pmatrix}-F_f\\ 0\end{pmatrix}

by Cholesky's factor; λ is what rounding of K amounts to, more where the factor fails. Go
along δ. Where a β meets its bound (or 0, the kink of |β|) it stays there, and δ becomes
the step to the minimum without it: with H the inverse on the sums, h its column of that
point k,

.. math:: \delta \leftarrow \delta - h\,\delta_k/h_k,\qquad H \leftarrow H - hh^\top/h_k.

H is never made: its columns are solved for some at a time, and corrected by those of the
points that left before. At the end F is computed anew with K as it is, without λ, and the
way is gone once more from there, while that halves the violation: a proximal method
(R. T. Rockafellar, 1976) whose every step descends. The dual rises by

.. math:: t\,(-F_f^\top d) - \tfrac12 t^2\,d^\top K d,\qquad
          t = \min(1, -F_f^\top d / d^\top K d),\quad d \text{ the whole way},

or nothing moves. Points at a bound that want to leave it are for pair steps.

Cost: n³/3 for the factor, 2n² for each column, n for each pair of points that left: as
many points may leave as take no longer than the factor, or 128. 8n(n + …) bytes.

When: see :mod:`maxmargin.solvers.smo.turns`. The BLAS has one thread.

References: J. Nocedal and S. Wright, "Numerical Optimization", 2006, §16.5;
S. Vishwanathan, A. Smola and M. Murty, "SimpleSVM", ICML 2003; M. Vogt and V. Kecman,
"Active-set methods for support vector machines", 2005.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from maxmargin._jit import inlined, njit
from maxmargin.parallel import one_blas_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Matrix, Vector
    from maxmargin.problem import Problem

_WORSE, _FACTORS = 5.0, 4  # policy: growth of λ after a failed factor; factors tried
_PASSES = 4  # policy: steps with one factor
_SLOW = 0.5  # policy: share of the free points' violation that a step may leave
_NEAR = 0.1  # policy: share of the violation aimed at that ends the steps
_COLUMNS = 16  # policy: columns of H solved for at a time
_LEAVE, _PART = 128, 6  # policy: 128 points may leave, or a sixth of them
_ROUNDING = 1e-10  # rounding: least relative λ; below it H is all rounding
_OFF = 1e-14  # rounding: share of Σ|β| by which a sum may be off
_SINGULAR = 1e-9  # rounding: share of H_kk that must be left after corrections
_FLOPS = 9.0  # policy: operations of the factor in the time of one point of a sweep
_CALL = 3e6  # policy: points of sweeps in the time of the calls around a step
_DONE, _WANTS, _FULL = 0, 1, 2


@njit(allocates=False)
def _lower_triangle(K, points, jitter, out):
    """The lower triangle of K at these points, with jitter on its diagonal."""
    for a in range(points.size):
        row, line = K[points[a]], out[a]
        for b in range(a + 1):
            line[b] = row[points[b]]
        line[a] += jitter


@njit(allocates=False)
def _columns_times(K, q, points, d, out):
    """Out = Σ d_i K_i on the leading q columns, in float64."""
    for k in range(q):
        out[k] = 0.0
    for a in range(points.size):
        step, row = d[a], K[points[a]][:q]
        if step != 0.0:
            for k in range(q):
                out[k] += step * row[k]


@inlined
def _first_end(z, delta, low, high):
    """Share of delta to the first end, at most 1, and the point that meets it, or −1."""
    share, k = 1.0, -1
    for i in range(z.size):
        d = delta[i]
        room = high[i] - z[i] if d > 0.0 else z[i] - low[i]
        if room < share * abs(d):
            share, k = max(room, 0.0) / abs(d), i
    return share, k


@njit(allocates=False)
def _walk(z, delta, low, high, slot, columns, gone, left, count):
    """Go along delta, in place; points that meet an end leave: (code, count, point).

    ``slot`` tells which of ``columns`` is the one of a point (−1: none), ``gone`` has
    the h/√h_k of those that left, ``left`` is True for them.
    """
    n = z.size
    while True:
        share, k = _first_end(z, delta, low, high)
        if k < 0:
            for i in range(n):
                z[i] = min(max(z[i] + delta[i], low[i]), high[i])
            return _DONE, count, -1
        if count == gone.shape[0]:
            return _FULL, count, k
        if slot[k] < 0:
            return _WANTS, count, k
        h, whole = gone[count], columns[slot[k]]
        for i in range(n):
            h[i] = whole[i]
        for s in range(count):
            other = gone[s]
            weight = other[k]
            for i in range(n):
                h[i] -= weight * other[i]
        if not h[k] > _SINGULAR * whole[k]:
            return _FULL, count, k
        end = high[k] if delta[k] > 0.0 else low[k]
        rest = 1.0 - share
        pull, scale = rest * delta[k] / h[k], 1.0 / np.sqrt(h[k])
        for i in range(n):
            z[i] = min(max(z[i] + share * delta[i], low[i]), high[i])
            delta[i] = rest * delta[i] - pull * h[i]
            h[i] *= scale
        z[k], left[k] = end, True
        for i in range(n):
            if left[i]:
                delta[i] = 0.0
        count += 1


class Way(NamedTuple):
    """Result of a step: points moved, gain of the dual, operations."""

    moved: int
    gain: float
    cost: float
    whole: bool  # whether it went as far as it wanted


def _ends(problem: Problem, members: Index, beta: Vector) -> tuple[Vector, Vector]:
    """The next end below and above every β: of its box, or the kink of |β|."""
    low, high = problem.lower[members], problem.upper[members]
    if problem.epsilon > 0.0:
        low = np.where(beta >= 0.0, np.maximum(low, 0.0), low)
        high = np.where(beta <= 0.0, np.minimum(high, 0.0), high)
    return low, high


def free_points(problem: Problem, members: Index, beta: Vector) -> Index:
    """Those strictly between two ends."""
    low, high = _ends(problem, members, beta)
    return np.flatnonzero((beta > low) & (beta < high))


def _leavers(n: int) -> int:
    """Points that may leave in one step."""
    return min(n, max(_LEAVE, n // _PART))


def operations(n: int, q: int) -> float:
    """Cost of a step on n free points of q, in points of sweeps."""
    return _CALL + n**3 / (3.0 * _FLOPS) + 4.0 * n * n + 2.0 * n * q


def scratch_size(n: int) -> int:
    """Numbers of scratch that :func:`solve_free` takes."""
    return n * (n + _leavers(n) + _COLUMNS)


class _FreePoints(NamedTuple):
    """The free points before a step, and the ends of their segments."""

    K: NDArray[Any]
    q: int
    points: Index
    slope: Vector  # the gradient, with the price of |β|
    beta: Vector
    low: Vector
    high: Vector
    sums: Matrix  # one column of 0 and 1 for each

    def change(self, z: Vector) -> Vector:
        """Change of F on all of W when the free points move to z."""
        out = np.empty(self.q)
        _columns_times(self.K, self.q, self.points, z - self.beta, out)
        return out


class _Inverse:
    """H of the free points, by the factor of K_ff + λI in the front of ``scratch``."""

    def __init__(self, free: _FreePoints, jitter: float, scratch: Vector) -> None:
        n = free.points.size
        square = scratch[: n * n].reshape(n, n)
        self.failed, self.tried = 1, 0
        while self.failed and self.tried < _FACTORS:
            _lower_triangle(free.K, free.points, jitter, square)
            # The lower triangle by rows is the upper one by columns, as Fortran has it.
            self._upper, self.failed = dpotrf(square.T, clean=0, overwrite_a=1)
            self.tried += 1
            jitter *= _WORSE
        self._sums = free.sums
        if not self.failed and free.sums.size:
            self._border = dpotrs(self._upper, free.sums)[0]
            self._small = np.linalg.inv(free.sums.T @ self._border)

    def times(self, right: Any) -> Any:
        """H·right; right has one column or several, in Fortran's order."""
        found = dpotrs(self._upper, right)[0]
        if self._sums.size:
            found -= self._border @ (self._small @ (self._sums.T @ found))
        return found


def solve_free(
    problem: Problem,
    members: Index,
    K: NDArray[Any],
    F: Vector,
    beta: Vector,
    points: Index,
    scratch: Vector,
    *,
    noise: float,
    goal: float,
) -> Way:
    """Solve the free points together, in place.

    Parameters
    ----------
    problem : Problem
        The problem.
    members : ndarray of int of shape (q,)
        The points of the working set.
    K : ndarray of shape (at least q, at least q)
        Their kernel values, with the ridge on the diagonal.
    F, beta : ndarray of shape (q,)
        Their gradients and coefficients.
    points : ndarray of int of shape (n,)
        Places of the free ones among them.
    scratch : ndarray of float64
        At least :func:`scratch_size` numbers.
    noise : float
        Relative rounding error of K's values.
    goal : float
        Violation that is aimed at.
    """
    n, q = points.size, members.size
    start, side = beta[points], problem.side[members[points]]
    low, high = (end[points] for end in _ends(problem, members, beta))
    slope = F[points] + problem.epsilon * np.sign(start)
    present = [s for s in range(len(problem.sums)) if (side == s).any()]
    sums = np.asfortranarray([side == s for s in present], float).T
    free = _FreePoints(K, q, points, slope, start, low, high, sums)
    largest = float(np.abs(np.diagonal(K)[points]).max())
    jitter = max(noise, _ROUNDING) * float(np.sqrt(n)) * largest
    with one_blas_thread():
        H = _Inverse(free, jitter, scratch)
        cost = operations(n, q) * H.tried
        if H.failed:
            return Way(0, 0.0, cost, whole=False)
        z, more, whole = _go(free, H, scratch, goal)
        cost += more
        balanced = _balance(free, z)
        d, change = z - start, free.change(z)
        rise, curvature = -float(slope @ d), float(d @ change[points])
    if not (balanced and 0.0 < rise < np.inf and curvature < np.inf):
        return Way(0, 0.0, cost, whole=False)
    share = 1.0 if curvature <= rise else rise / curvature
    if share < 1.0:
        z = np.clip(start + share * d, low, high)
        change = free.change(z)
    beta[points] = z
    F += change
    gain = share * (rise - 0.5 * share * curvature)
    return Way(int(np.count_nonzero(d)), gain, cost, whole)


def _go(
    free: _FreePoints, H: _Inverse, scratch: Vector, goal: float
) -> tuple[Vector, float, bool]:
    """The end of the steps, operations beyond those expected, whether none was cut."""
    n = free.points.size
    gone, columns = np.split(
        scratch[n * n : scratch_size(n)].reshape(-1, n), [_leavers(n)]
    )
    z, left, now = free.beta.copy(), np.zeros(n, bool), free.slope
    code, count, asked, before, ways = _WANTS, 0, 0, np.inf, 0
    while ways < _PASSES:
        ways += 1
        delta = -H.times(now) + gone[:count].T @ (gone[:count] @ now)
        delta[left] = 0.0
        slot = np.full(n, -1, np.intp)
        while True:
            code, count, who = _walk(
                z, delta, free.low, free.high, slot, columns, gone, left, count
            )
            if code != _WANTS:
                break
            asked += _fetch(free, H, z, delta, slot, columns, who)
        now = free.slope + free.change(z)[free.points]
        worst = _spread(now, left, free.sums)
        if code == _FULL or worst <= _NEAR * goal or worst > _SLOW * before:
            break
        before = worst
    more = 2.0 * n * n * asked / _FLOPS + 0.5 * count * count * n
    return z, more + (ways - 1) * (4.0 * n * n + n * free.q), code == _DONE


def _fetch(
    free: _FreePoints,
    H: _Inverse,
    z: Vector,
    delta: Vector,
    slot: Index,
    columns: Matrix,
    who: int,
) -> int:
    """Columns of H for point ``who`` and those that would meet an end next; how many."""
    room = np.where(delta > 0.0, free.high - z, z - free.low)
    length = np.abs(delta)
    share = np.divide(room, length, out=np.full_like(room, np.inf), where=length > 0.0)
    share[who] = -1.0
    some = np.argsort(share, kind="stable")[: len(columns)]
    some = some[share[some] < 1.0]
    units = np.zeros((z.size, some.size), order="F")
    units[some, np.arange(some.size)] = 1.0
    columns[: some.size] = H.times(units).T
    slot[:] = -1
    slot[some] = np.arange(some.size)
    return int(some.size)


def _spread(F: Vector, left: NDArray[np.bool_], sums: Matrix) -> float:
    """Violation of the points that have not left."""
    stay = ~left
    if not sums.size:
        return float(np.abs(F[stay]).max(initial=0.0))
    parts = (F[stay & (mine > 0.0)] for mine in sums.T)
    return max((float(np.ptp(part)) for part in parts if part.size), default=0.0)


def _balance(free: _FreePoints, z: Vector) -> bool:
    """Repair the rounding of each sum; whether that could be done.

    Points inside share it by their room, and in the end the one with most takes the rest.
    """
    low, high = free.low, free.high
    total = float(np.abs(z).sum())
    for mine in free.sums.T:
        some = np.flatnonzero((mine > 0.0) & (low < z) & (z < high))
        for last in (False, False, True):
            off = float(((z - free.beta) * mine).sum())
            room = (z - low if off > 0.0 else high - z)[some]
            room = np.where(np.isfinite(room), room, abs(off))
            if last and some.size:
                some = some[[np.argmax(room)]]
                room = np.full(1, abs(off))
            if not (whole := float(room.sum())) > 0.0:
                break
            move = np.copysign(min(1.0, abs(off) / whole), off) * room
            z[some] = np.clip(z[some] - move, low[some], high[some])
        if not abs(float(((z - free.beta) * mine).sum())) <= _OFF * total:
            return False
    return True
