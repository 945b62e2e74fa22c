r"""The analytic step of SMO in the lectures' terms: α, y, E, L, H, η and b.

Two coefficients are optimised together, the others stay. With
:math:`E_k = f(x_k) - y_k`, :math:`s = y_i y_j` and
:math:`\eta = K_{ii} + K_{jj} - 2K_{ij}` (S1; the tutorial S3 writes −η):

.. math:: L, H = \begin{cases}
          \max(0, \alpha_j - \alpha_i),\ \min(C_j, C_i + \alpha_j - \alpha_i) & s = -1\\
          \max(0, \alpha_i + \alpha_j - C_i),\ \min(C_j, \alpha_i + \alpha_j) & s = +1
          \end{cases}

.. math:: \alpha_j \leftarrow \mathrm{clip}\Bigl(\alpha_j
          + \frac{y_j(E_i - E_j)}{\eta},\ L,\ H\Bigr),\qquad
          \alpha_i \leftarrow \alpha_i - s\,\Delta\alpha_j

.. math:: b_1 = b - E_i - y_i\Delta\alpha_i K_{ii} - y_j\Delta\alpha_j K_{ij},\qquad
          b_2 = b - E_j - y_i\Delta\alpha_i K_{ij} - y_j\Delta\alpha_j K_{jj}

with Δα = new − old, and b becomes b₁ where α_i is strictly between its bounds, else b₂
where α_j is, else their mean. (S3 has two misprints here: E_i in b₂, which must be E_j so
that the new E_j is 0, and old − new in the brackets of both.)

Where η is not positive (equal points, an indefinite kernel) the dual along the segment
has its maximum at an end: both are compared (Platt 1998, equation 19).

The dual rises by :math:`t(E_j - E_i) - \tfrac12\eta t^2` with
:math:`t = y_i\Delta\alpha_i`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin.errors import InputError
from maxmargin.problem import WarmStart, model_of
from maxmargin.solvers.base import Steppable
from maxmargin.solvers.feasible import feasible
from maxmargin.solvers.gram_memory import RowStore
from maxmargin.solvers.lectures.subsets import add_products
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.problem import Model, Problem

NOWHERE, MOVES, UNBOUNDED = 0, 1, 2  # what try_pair found
LOADED = 0  # the first counter of both: whether F is that of α

# The numbers of a step, in the order of State.record.
FIELDS = (
    "i", "j", "y_i", "y_j", "E_i", "E_j", "L", "H", "eta", "alpha_i_before",
    "alpha_j_before", "alpha_j_unclipped", "alpha_i", "alpha_j", "b_before", "b1", "b2",
    "b", "gain", "chosen_by",
)  # fmt: skip
(
    AT_I, AT_J, Y_I, Y_J, E_I, E_J, LOW, HIGH, ETA, OLD_I, OLD_J, UNCLIPPED, NEW_I, NEW_J,
    OLD_B, B1, B2, NEW_B, GAIN, CHOSEN_BY,
) = range(len(FIELDS))  # fmt: skip

LEAST = 1e-12  # rounding: relative change of α_j that is a step
# rounding: relative distance to a bound up to which α is at the bound
_ROUNDING = 4.0 * np.finfo(np.float64).eps


@njit
def _on_bound(value, scale, C):
    """Value, or the bound from which only the rounding of α_i ± α_j keeps it."""
    if value <= _ROUNDING * scale:
        return 0.0
    return C if value >= C - _ROUNDING * scale else value


@njit
def try_pair(i, j, alpha, y, C, F, b, diagonal, k_ij, flat, least, record):
    """Work the step of a pair out into ``record``; nothing is changed yet.

    ``flat`` is the curvature below which η counts as 0, ``least`` the relative change of
    α_j below which there is no step.
    """
    a_i, a_j, same = alpha[i], alpha[j], y[i] == y[j]
    if same:
        low, high = max(0.0, a_i + a_j - C[i]), min(C[j], a_i + a_j)
    else:
        low, high = max(0.0, a_j - a_i), min(C[j], C[i] + a_j - a_i)
    if i == j or not low < high:
        return NOWHERE
    eta = diagonal[i] + diagonal[j] - 2.0 * k_ij
    slope = y[j] * (F[i] - F[j])  # of the dual, in α_j; b is in both errors
    if eta > flat:
        unclipped = a_j + slope / eta
        new_j = min(max(unclipped, low), high)
    elif np.isinf(high) and slope > 0.0:
        return UNBOUNDED  # equal points of both classes, and no price that ends it
    else:
        at_low = slope * (low - a_j) - 0.5 * eta * (low - a_j) ** 2
        at_high = slope * (high - a_j) - 0.5 * eta * (high - a_j) ** 2
        new_j = low if at_low > at_high else high
        if not max(at_low, at_high) > 0.0:
            return NOWHERE
        unclipped = new_j
    if not np.isfinite(new_j):
        return UNBOUNDED
    # However short, a step to the end of the segment puts a point on its bound, where
    # rounding may have kept it from being; others end where α_j no longer changes.
    at_end = new_j in (low, high)
    if new_j == a_j or (not at_end and abs(new_j - a_j) <= least * (new_j + a_j)):
        return NOWHERE
    scale = a_i + a_j + abs(new_j - a_j)
    new_j = _on_bound(new_j, scale, C[j])
    moved = new_j - a_j
    new_i = _on_bound(a_i - moved if same else a_i + moved, scale, C[i])
    t_i, t_j = y[i] * (new_i - a_i), y[j] * moved
    e_i, e_j = F[i] + b, F[j] + b
    b1 = b - e_i - t_i * diagonal[i] - t_j * k_ij
    b2 = b - e_j - t_i * k_ij - t_j * diagonal[j]
    record[AT_I], record[AT_J], record[Y_I], record[Y_J] = i, j, y[i], y[j]
    record[E_I], record[E_J], record[LOW], record[HIGH] = e_i, e_j, low, high
    record[ETA], record[OLD_I], record[OLD_J] = eta, a_i, a_j
    record[UNCLIPPED], record[NEW_I], record[NEW_J] = unclipped, new_i, new_j
    record[OLD_B], record[B1], record[B2] = b, b1, b2
    if 0.0 < new_i < C[i]:
        record[NEW_B] = b1
    else:
        record[NEW_B] = b2 if 0.0 < new_j < C[j] else 0.5 * (b1 + b2)
    record[GAIN] = slope * moved - 0.5 * eta * moved**2
    return MOVES


@njit
def apply_pair(alpha, F, y, ridge, record, row_i, row_j):
    """Take the step of ``record``: F += y_iΔα_i K_i + y_jΔα_j K_j; returns the new b.

    Rows are those of K; the ridge is on the diagonal only.
    """
    i, j = int(record[AT_I]), int(record[AT_J])
    t_i = y[i] * (record[NEW_I] - record[OLD_I])
    t_j = y[j] * (record[NEW_J] - record[OLD_J])
    alpha[i], alpha[j] = record[NEW_I], record[NEW_J]
    for k in range(F.size):
        F[k] += t_i * row_i[k] + t_j * row_j[k]
    F[i] += t_i * ridge[i]
    F[j] += t_j * ridge[j]
    return record[NEW_B]


class State(NamedTuple):
    """State of both SMOs of the lectures.

    ``F`` is E without b (the error cache); ``b`` an array of one; ``counters`` are the
    algorithm's own; ``record`` the last step, by :data:`FIELDS`.
    """

    alpha: Vector
    y: Vector
    C: Vector
    F: Vector
    b: Vector
    diagonal: Vector
    counters: NDArray[np.int64]
    record: Vector
    rows: RowStore

    @property
    def beta(self) -> Vector:
        """The template's variables, yα."""
        return self.y * self.alpha


def begin(
    name: str,
    problem: Problem,
    warm: WarmStart | None,
    n_counters: int,
    cache_bytes: int,
) -> State:
    """α = 0 or that of ``warm``; the first unit computes its F (:func:`load`)."""
    y, C = -problem.p, np.maximum(problem.upper, -problem.lower)
    margins = bool((np.abs(y) == 1.0).all()) and not problem.epsilon
    if problem.sums != (0.0,) or not margins:
        msg = (
            f"{name} solves the margin problem with an intercept, that of SVC with "
            "fit_intercept=True; use 'smo', 'chunking', 'decomposition' or 'qp'"
        )
        raise InputError(msg)
    rows = RowStore(problem.n, max(cache_bytes, 16 * problem.n))  # two at the least
    return State(
        alpha=np.abs(feasible(problem, warm)),
        y=y,
        C=C,
        F=problem.p.copy(),
        b=np.zeros(1),
        diagonal=problem.diagonal + problem.ridge,
        counters=np.zeros(n_counters, np.int64),
        record=np.full(len(FIELDS), np.nan),
        rows=rows,
    )


def rest(problem: Problem, state: State) -> None:
    """Note that the run has converged: the last unit found no pair to move.

    From here on b is the mean over the free points, or without any the middle of its
    interval, as everywhere in the house; that of the last pair is as good within tol.
    """
    state.b[0] = model_of(problem, state.beta, state.F).bias
    state.record[:] = np.nan
    state.record[NEW_B] = state.b[0]


def load(problem: Problem, state: State, tol: float) -> tuple[Any, ...]:
    """The arguments of both compiled loops; F and b of a start that is not 0, once.

    They are α, y, C, F, b, diagonal, ridge, counters, record, the table of kernel rows,
    the slot of every point in it (−1: none), by how much a point must break its condition
    to be moved, and the curvature below which η counts as 0. A plain tuple: Numba takes
    3 µs less for it than for a record, on every row that is fetched.
    """
    if not state.counters[LOADED] and state.alpha.any():
        add_products(problem, state.beta, state.F)
        state.b[0] = model_of(problem, state.beta, state.F).bias
    state.counters[LOADED] = 1
    return (
        *state[:6], problem.ridge, state.counters, state.record, *state.rows.arrays(),
        tol, flatness(state.diagonal),
    )  # fmt: skip


class PairSolver(Steppable):
    """Base of both solvers: the model of a State."""

    def model(self, problem: Problem, state: State) -> Model:
        """The model of α with the algorithm's own b, as the last step set it."""
        F = state.F.copy()
        if not state.counters[LOADED]:
            add_products(problem, state.beta, F)
            return model_of(problem, state.beta, F)
        return model_of(problem, state.beta, F)._replace(bias=float(state.b[0]))


def pair_story(state: State, violator: str, when: str, partner: str) -> Step:
    """The last step in words and numbers.

    ``violator`` is "i" or "j", the point that broke its optimality condition, ``when``
    says in which sweep that was seen, and ``partner`` how the other was chosen.
    """
    numbers = dict(zip(FIELDS, state.record.tolist(), strict=True))
    if np.isnan(numbers["i"]):
        if np.isnan(numbers["b"]):
            return Step("Nothing done yet.")
        b = numbers["b"]
        free = bool(((state.alpha > 0.0) & (state.alpha < state.C)).any())
        where = "mean over the free points" if free else "middle of what is optimal"
        words = "Nothing is left to do: no pair violates by more than tol. b is the "
        return Step(f"{words}{where}, {_short(b)}.", {"b": b})
    i, j = int(numbers["i"]), int(numbers["j"])
    numbers |= {"i": i, "j": j, "y_i": int(numbers["y_i"]), "y_j": int(numbers["y_j"])}
    del numbers["chosen_by"]
    curved = numbers["eta"] > flatness(state.diagonal)
    clipped = not curved or numbers["alpha_j"] != numbers["alpha_j_unclipped"]
    numbers["clipped"] = clipped
    text = {key: _short(value) for key, value in numbers.items()}
    if curved:
        how = f"the optimum {text['alpha_j_unclipped']} "
        how += "is clipped to it" if clipped else "is inside"
    else:
        how = "η is not positive, so its better end is taken"
    chosen = "the mean of b₁ and b₂, for neither α is free"
    if 0.0 < numbers["alpha_i"] < state.C[i]:
        chosen = "b₁, for α_i is free"
    elif 0.0 < numbers["alpha_j"] < state.C[j]:
        chosen = "b₂, for α_j is free"
    pull = numbers[f"y_{violator}"] * numbers[f"E_{violator}"]
    side = "should rise" if pull < 0.0 else "should fall"
    words = (
        f"Pair (i, j) = ({i}, {j}), y = ({numbers['y_i']:+d}, {numbers['y_j']:+d}). "
        f"{when}: y_{violator}·E_{violator} = {_short(pull)} and α_{violator} = "
        f"{text[f'alpha_{violator}_before']}, so α_{violator} {side}; {partner} Errors "
        f"E_i = {text['E_i']}, E_j = {text['E_j']}; η = {text['eta']}; α_j may be in "
        f"[L, H] = [{text['L']}, {text['H']}], and {how}. α_i "
        f"{text['alpha_i_before']} → {text['alpha_i']}, α_j {text['alpha_j_before']} → "
        f"{text['alpha_j']}, b {text['b_before']} → {text['b']} ({chosen}); the dual "
        f"rises by {numbers['gain']:.3g}."
    )
    return Step(words, numbers, (i, j))


def _short(value: float) -> str:
    """Four digits; what rounding has left of 0 is 0."""
    return f"{0.0 if abs(value) < 1e-14 else value:.4g}"


def flatness(diagonal: Vector) -> float:
    """Curvature that is mere rounding of kernel values."""
    return 1e-12 * (float(np.abs(diagonal).max()) or 1.0)
