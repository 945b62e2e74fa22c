"""The best weight of the constant column, against a search of the primal itself."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import LinearSVC, LinearSVR
from maxmargin.problem import LinearModel, linear_objective
from maxmargin.solvers.linear.descent.best_constant import best_shift

MACHINES = {
    "hinge": LinearSVC(loss="hinge"),
    "squared_hinge": LinearSVC(loss="squared_hinge", intercept_scaling=3.0),
    "tube": LinearSVR(epsilon=0.2),
    "squared_tube": LinearSVR(epsilon=0.2, loss="squared_epsilon_insensitive"),
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("about", [0.0, 0.5])
def test_the_shift_is_nearly_the_best_and_never_worse_than_none(name, about):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = np.where(X[:, 0] + rng.standard_normal(300) > 0.3, 1, -1)
    problem = MACHINES[name].problem(X, y)
    scaling = problem.design.scaling
    w = rng.standard_normal(5)

    def primal(delta):
        moved = w.copy()
        moved[-1] += delta
        f = problem.design.times(moved)
        return linear_objective(
            problem, LinearModel(moved, 0.0, np.zeros(300), f, w)
        ).primal

    found = best_shift(problem, problem.design.times(w), float(w[-1]), about)
    tried = min(primal(t) for t in np.linspace(-6.0, 6.0, 6001) / scaling)
    assert primal(found) <= primal(0.0)
    assert primal(found) - tried <= 0.05 * (primal(0.0) - tried)
