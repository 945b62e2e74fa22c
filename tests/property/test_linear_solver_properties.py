"""What must not change for a solver that is named when its problem is put in other words.

``solver="auto"`` has its own tests (``test_linear_invariances``), on shapes for which it
takes two or three of them.
"""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from tests.conformance.linear_cases import SOLVERS

from maxmargin import LinearSVC

TOL = 1e-8
NAMES = (
    "newton",
    "newton-cg",
    "dual-descent",
    "proximal-newton",
    "gram",
)
INTERCEPTS = {
    "none": {"fit_intercept": False},
    "constant": {},
    "free": {"intercept": "free"},
}

for_every_solver = pytest.mark.parametrize(
    ("solver", "loss", "intercept"),
    [
        (name, loss, intercept)
        for name in NAMES
        for loss in ("hinge", "squared_hinge")
        for intercept in INTERCEPTS
        if loss in SOLVERS[name].losses and intercept in SOLVERS[name].intercepts
    ],
)
dense_and_sparse = pytest.mark.parametrize(
    "make", [np.asarray, sp.csr_array], ids=["dense", "csr"]
)


class Wording(NamedTuple):
    """A problem as it is put to a machine."""

    X: np.ndarray
    y: np.ndarray
    loss: str
    intercept: str
    C: float = 1.0
    scaling: float = 1.0
    weight: np.ndarray | None = None

    def fit(self, solver, make):
        machine = LinearSVC(
            loss=self.loss, C=self.C, intercept_scaling=self.scaling, solver=solver,
            tol=TOL, max_iter=-1, random_state=0, n_jobs=1, **INTERCEPTS[self.intercept],
        )  # fmt: skip
        machine.fit(make(self.X), self.y, sample_weight=self.weight)
        assert machine.certificate_.ok
        return machine

    def value(self, w, b):
        """The objective, from its definition; here the constant column is 1."""
        sign = np.where(self.y == 1, 1.0, -1.0)
        loss = np.maximum(0.0, 1.0 - sign * (self.X @ w + b))
        price = self.C * (np.ones(len(sign)) if self.weight is None else self.weight)
        counted = b * b if self.intercept == "constant" else 0.0
        return 0.5 * (w @ w + counted) + price @ loss ** (1 + (self.loss != "hinge"))


def wording(loss, intercept):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 5))
    X[rng.random(X.shape) < 0.4] = 0.0
    z = X @ rng.standard_normal(5) + 0.3 + 0.8 * rng.standard_normal(60)
    return Wording(X, (z > 0.0).astype(int), loss, intercept)


def weights_of(machine):
    return machine.coef_[0], float(np.ravel(machine.intercept_)[0])


def is_optimum(one, machine, w, b):
    """(w, b) answers ``one`` as well as what the machine found, with the same w."""
    best = one.value(*weights_of(machine))
    assert best == pytest.approx(machine.certificate_.primal, rel=1e-9)
    assert one.value(w, b) == pytest.approx(best, rel=2 * TOL)
    # ½‖w − w*‖² is at most what w misses the optimum by, on both sides.
    np.testing.assert_allclose(w, machine.coef_[0], atol=3.0 * np.sqrt(TOL * best))


@for_every_solver
@dense_and_sparse
def test_weight_is_repetition(solver, loss, intercept, make):
    plain = wording(loss, intercept)
    count = np.random.default_rng(1).integers(0, 4, 60)
    weighted = plain._replace(weight=count.astype(float))
    again = np.repeat(np.arange(60), count)
    repeated = plain._replace(X=plain.X[again], y=plain.y[again])
    found = weights_of(repeated.fit(solver, make))
    is_optimum(weighted, weighted.fit(solver, make), *found)


@for_every_solver
@dense_and_sparse
def test_flipped_labels(solver, loss, intercept, make):
    one = wording(loss, intercept)
    w, b = weights_of(one._replace(y=1 - one.y).fit(solver, make))
    is_optimum(one, one.fit(solver, make), -w, -b)


@for_every_solver
@dense_and_sparse
def test_order_of_rows(solver, loss, intercept, make):
    one = wording(loss, intercept)
    order = np.random.default_rng(2).permutation(60)
    other = one._replace(X=one.X[order], y=one.y[order])
    is_optimum(one, one.fit(solver, make), *weights_of(other.fit(solver, make)))


@for_every_solver
@dense_and_sparse
@pytest.mark.parametrize("factor", [0.25, 8.0])
def test_feature_scaling_goes_with_the_price(solver, loss, intercept, make, factor):
    """X·s, C/s² and a constant column of s have w/s, and the same intercept."""
    one = wording(loss, intercept)
    scaled = one._replace(X=factor * one.X, C=one.C / factor**2, scaling=factor)
    w, b = weights_of(scaled.fit(solver, make))
    is_optimum(one, one.fit(solver, make), factor * w, b)


@for_every_solver
def test_sparse_rows_are_dense_rows(solver, loss, intercept):
    one = wording(loss, intercept)
    found = weights_of(one.fit(solver, sp.csr_array))
    is_optimum(one, one.fit(solver, np.asarray), *found)
