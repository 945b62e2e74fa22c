"""Linear problems and the solvers that can do them, for the tests of the contract."""

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.design.operator import Design
from maxmargin.parallel import Workers
from maxmargin.problem import linear_svc, linear_svr
from maxmargin.solvers import linear

INTERCEPTS = ("none", "constant", "free")
ANY = frozenset(INTERCEPTS)
SQUARED = frozenset({"squared_hinge", "squared_tube"})
FLAT = frozenset({"hinge", "tube"})


class Able(NamedTuple):
    """A solver, and what it solves."""

    make: type
    losses: frozenset
    intercepts: frozenset = ANY
    lasso: bool = False
    restarts: bool = True


SOLVERS = {
    "dual-descent": Able(linear.DualDescent, SQUARED | FLAT, ANY - {"free"}),
    "gram": Able(linear.GramSmo, SQUARED | FLAT),
    "newton": Able(linear.Newton, SQUARED),
    "proximal-newton": Able(linear.ProximalNewton, FLAT),
    "newton-cg": Able(linear.NewtonCg, SQUARED),
    "lasso-descent": Able(
        linear.LassoDescent, frozenset({"squared_hinge"}), ANY - {"free"}, lasso=True
    ),
    "lasso-newton": Able(
        linear.LassoNewton, frozenset({"squared_hinge"}), ANY - {"free"}, lasso=True
    ),
    "lasso-interior": Able(
        linear.LassoInterior,
        frozenset({"squared_hinge"}),
        ANY - {"free"},
        lasso=True,
        restarts=False,
    ),
    "lasso-relay": Able(
        linear.LassoRelay, frozenset({"squared_hinge"}), ANY - {"free"}, lasso=True
    ),
}


class Case(NamedTuple):
    """A problem by its properties."""

    loss: str
    intercept: str
    rows: str = "dense"  # or "sparse", "single"
    weights: bool = False
    lasso: bool = False


@cache
def data(kind):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((150, 12))
    X[rng.random(X.shape) < 0.5] = 0.0
    truth = rng.standard_normal(12)
    z = X @ truth + 0.5 + 0.8 * rng.standard_normal(150)
    weight = rng.integers(0, 4, 150).astype(float)
    if kind == "sparse":
        X = sp.csr_matrix(X)
    if kind == "single":
        X = X.astype(np.float32)
    return X, z, weight


def problem_of(case, C=1.0, jobs=1):
    X, z, weight = data(case.rows)
    scaling = 1.5 if case.intercept == "constant" else 0.0
    design = Design(X, scaling, Workers(jobs))
    price = C * (weight if case.weights else np.ones(z.size))
    free = case.intercept == "free"
    squared = case.loss.startswith("squared")
    if case.loss.endswith("tube"):
        return linear_svr(design, z, price, epsilon=0.3, squared=squared, free=free)
    y = np.where(z > 0.4, 1.0, -1.0)
    return linear_svc(design, y, price, squared=squared, free=free, lasso=case.lasso)


def cases_of(able):
    for loss in sorted(able.losses):
        for intercept in sorted(able.intercepts):
            yield Case(loss, intercept, lasso=able.lasso)
    loss = min(able.losses)
    yield Case(loss, "constant", rows="sparse", lasso=able.lasso)
    yield Case(loss, "constant", rows="single", lasso=able.lasso)
    yield Case(loss, "none", weights=True, lasso=able.lasso)


PAIRS = [
    (name, case)
    for name, able in SOLVERS.items()
    for case in dict.fromkeys(cases_of(able))
]
