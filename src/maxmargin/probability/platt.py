"""Platt's sigmoid: P(y = 1 | f) = 1 / (1 + exp(A f + B)).

A and B minimise the cross entropy

    F(A, B) = −Σᵢ wᵢ [tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ)],   pᵢ = 1 / (1 + exp(A fᵢ + B)),

against the targets t₊ = (N₊ + 1)/(N₊ + 2) and t₋ = 1/(N₋ + 2) instead of 1 and 0: the
posterior means under a uniform prior, which keep A and B finite where the scores separate
the classes (Platt, "Probabilistic outputs for support vector machines", 1999). N₊ and N₋
are sums of weights, so that a weight of 2 is the row twice.

The minimiser is found by Newton's method with backtracking, from A = 0 and
B = log((N₋ + 1)/(N₊ + 1)), with the loss in forms that neither overflow nor cancel (Lin,
Lin and Weng, "A note on Platt's probabilistic outputs for support vector machines",
Machine Learning 68, 2007).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from maxmargin.errors import NumericalError
from maxmargin.probability._checks import checked_sample, checked_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from maxmargin._arrays import Vector
    from maxmargin.probability._checks import Sample

MAX_STEPS = 1000  # 5 to 20 are usual; heavy tails with weights of many sizes need 60
# Added to the second derivatives, against a division by 0. The 1e-12 of Lin, Lin and Weng
# would dominate the steps where one score is a million times the others.
RIDGE = 1e-40
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must achieve
SHORTEST = 2.0**-200  # a shorter step ends the search
# rounding: decreases below this share of the loss may be lost in its sum, so that the
# gradient judges the steps. Below the second share, one more step leaves only rounding.
RESOLVED = 1e-11
FINAL = 1e-24
DISTINCT = 1e-13  # rounding: scores within this share of their size count as equal


class Sigmoid(NamedTuple):
    """P(y = 1 | f) = 1 / (1 + exp(A f + B)); A < 0 where high scores are positive."""

    A: float
    B: float

    def __call__(self, scores: ArrayLike) -> Vector:
        """Return probabilities of the positive class, for scores of any shape."""
        f = checked_scores(scores)
        if self.A == 0.0:  # 0 · ∞ is no number, but the answer is the same for all
            return np.full(f.shape, expit(-self.B))
        with np.errstate(over="ignore"):  # the sigmoid of ±∞ is 0 or 1
            return np.asarray(expit(-(self.A * f + self.B)))


def fit_sigmoid(
    scores: ArrayLike, positive: ArrayLike, weight: ArrayLike | None = None
) -> Sigmoid:
    """Fit the sigmoid that minimises Platt's cross entropy.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Finite scores of rows, made by a machine that has not seen them.
    positive : array-like of bool, shape (n,)
        Which rows are of the positive class.
    weight : array-like of shape (n,), optional
        How often each row counts, in the targets too; 1 by default.

    Returns
    -------
    Sigmoid
        ``A`` and ``B``. A is 0, and the probability a constant, if all scores are equal
        or all rows are of one class.

    Notes
    -----
    LIBSVM stops where both derivatives are below 1e-5, whatever the units of the scores.
    Here the scores are shifted and scaled first, which changes no Newton step, and the
    steps go on to the limits of float64; the two agree within LIBSVM's tolerance.

    Examples
    --------
    >>> sigmoid = fit_sigmoid([-2.0, -1.0, 1.0, 2.0], [False, False, True, True])
    >>> sigmoid([-1.0, 0.0, 1.0]).round(2)
    array([0.34, 0.5 , 0.66])
    """
    sample = checked_sample(scores, positive, weight)
    u, centre, spread, exponent = _standard(sample.scores)
    slope, offset = _minimise(sample._replace(scores=u))
    if slope == 0.0:
        return Sigmoid(0.0, offset)
    # The scores are 2^exponent (centre + spread u).
    return Sigmoid(
        float(np.ldexp(slope / spread, -exponent)), offset - slope * centre / spread
    )


def _standard(f: Vector) -> tuple[Vector, float, float, int]:
    """Return scores as 2^exponent (centre + spread u), with u at most 1 in size.

    Newton's steps do not depend on the units of f, but float64 does: squares of 1e300
    overflow, and the second derivatives for scores near 1e9 are singular to rounding.
    """
    # A power of 2, so that nothing is rounded; the floor keeps 2^-exponent A finite.
    exponent = max(int(np.frexp(np.abs(f).max())[1]), -900)
    f = np.ldexp(f, -exponent)
    # The score nearest to 0, or 0 where scores have both signs: B then loses no digits.
    centre = float(max(f.min(), 0.0) or min(f.max(), 0.0))
    u = f - centre
    spread = float(np.abs(u).max())
    if spread <= DISTINCT * abs(centre) or spread < 1e-30:
        return np.zeros_like(f), 0.0, 1.0, 0
    return u / spread, centre, spread, exponent


class _Problem(NamedTuple):
    """Scores with targets t and 1 − t, which has no digits if computed near t = 1."""

    f: Vector
    w: Vector
    positive: NDArray[np.bool_]
    target: Vector
    other: Vector  # 1 − target

    def loss(self, A: float, B: float) -> float:
        """Return Σ w [log(1 + eᶻ) − (1 − t) z] without overflow and cancellation."""
        z = A * self.f + B
        linear = np.where(z >= 0.0, self.target, -self.other) * z
        return float(self.w @ (linear + np.log1p(np.exp(-np.abs(z)))))

    def newton(self, A: float, B: float) -> tuple[float, float, float]:
        """Return Newton's step for A and B, and −gᵀstep, twice the predicted decrease.

        The 2 × 2 system is eliminated with f centred by its curvature-weighted mean: the
        determinant h₁₁h₂₂ − h₁₂² would cancel where all rows with curvature score alike.
        """
        z = A * self.f + B
        p, q = expit(-z), expit(z)
        plus = np.where(self.positive, q, self.target)
        minus = np.where(self.positive, self.other, p)
        rest = self.w * (plus - minus)
        curvature = self.w * p * q
        ridge = RIDGE * min(1.0, float(self.w.sum()))
        h_BB = float(curvature.sum()) + ridge
        mean = float(curvature @ self.f) / h_BB
        around = self.f - mean
        h_AA = float(curvature @ (around * around)) + ridge
        g_A, g_B = float(rest @ around), float(rest.sum())
        dA = -g_A / h_AA
        dB = -g_B / h_BB - mean * dA
        return dA, dB, g_A * g_A / h_AA + g_B * g_B / h_BB


def _minimise(sample: Sample) -> tuple[float, float]:
    """Minimise by Newton's method with backtracking; Lin, Lin and Weng, algorithm 1."""
    f, positive, w = sample
    n_positive, n_negative = float(w[positive].sum()), float(w[~positive].sum())
    if n_positive == 0.0 or n_negative == 0.0 or not f.any():
        # One target, or one score: the best constant is the mean target.
        return 0.0, _constant(n_positive, n_negative)
    likely = np.where(positive, n_positive + 1.0, n_negative + 1.0)
    likely, unlikely = likely / (likely + 1.0), 1.0 / (likely + 1.0)
    problem = _Problem(
        f,
        w,
        positive,
        target=np.where(positive, likely, unlikely),
        other=np.where(positive, unlikely, likely),
    )
    A, B = 0.0, float(np.log((n_negative + 1.0) / (n_positive + 1.0)))
    loss = problem.loss(A, B)
    for _ in range(MAX_STEPS):
        dA, dB, decrement = problem.newton(A, B)
        if decrement <= RESOLVED * loss:
            return _polish(problem, A, B, loss)
        step = 1.0
        while (new := problem.loss(A + step * dA, B + step * dB)) >= (
            loss - SUFFICIENT * step * decrement
        ):
            step /= 2.0
            if step < SHORTEST:
                # A minimum up to rounding: a further decrease, on rows of nearly no
                # weight, is lost in the rounding of the others' loss.
                return A, B
        A, B, loss = A + step * dA, B + step * dB, new
    msg = f"Platt's sigmoid: {MAX_STEPS} Newton steps did not reach the minimum"
    raise NumericalError(msg)


def _polish(problem: _Problem, A: float, B: float, loss: float) -> tuple[float, float]:
    """Go on by Newton's method to the last bits, backtracking on gᵀH⁻¹g, not the loss."""
    dA, dB, decrement = problem.newton(A, B)
    while decrement > FINAL * loss:
        step = 1.0
        # A step along Newton's direction reduces it by a share of about 2 · step.
        while (new := problem.newton(A + step * dA, B + step * dB))[2] > (
            (1.0 - 0.5 * step) * decrement
        ):
            step /= 2.0
            if step < 1e-3:
                return A, B
        A, B = A + step * dA, B + step * dB
        dA, dB, decrement = new
    return A + dA, B + dB


def _constant(n_positive: float, n_negative: float) -> float:
    """Return B of the constant probability with the least loss: the mean target."""
    ones = n_positive * ((n_positive + 1.0) / (n_positive + 2.0))
    ones += n_negative / (n_negative + 2.0)
    noughts = n_positive / (n_positive + 2.0)
    noughts += n_negative * ((n_negative + 1.0) / (n_negative + 2.0))
    return float(np.log(noughts / ones))
