"""Every linear solver keeps the contract, on every problem that it solves.

The referee is SciPy's bounded quasi-Newton method on the primal where that is smooth, and
on the dual where it is not; neither shares a line with the solvers.
"""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.conformance.linear_cases import PAIRS, SOLVERS, Case, data, problem_of

from maxmargin import InputError
from maxmargin.problem import linear_objective, linear_violation
from maxmargin.solvers.base import Status, drive

over_pairs = pytest.mark.parametrize(
    ("name", "case"), PAIRS, ids=lambda one: one if isinstance(one, str) else "-".join(
        str(part) for part in one if part is not False
    ),
)  # fmt: skip


def solver_of(name, **options):
    return SOLVERS[name].make(**options)


def matrix(problem):
    X = problem.design.X
    X = np.asarray(X.todense() if problem.design.sparse else X, dtype=float)
    if problem.design.scaling:
        X = np.column_stack([X, np.full(problem.n, problem.design.scaling)])
    return X


def plain_primal(problem, w, b):
    """The objective as the lectures write it, from C, y and ε alone."""
    f = matrix(problem) @ w + b
    squared = problem.ridge.any()
    C = np.where(
        problem.ridge > 0, 0.5 / np.where(problem.ridge > 0, problem.ridge, 1), 0
    )
    if not squared:
        C = np.maximum(problem.upper, -problem.lower)
    target = -problem.p
    if problem.epsilon > 0:
        loss = np.maximum(0, np.abs(f - target) - problem.epsilon)
    else:
        loss = np.maximum(0, 1 - target * f)
    size = np.abs(w).sum() if problem.lasso else 0.5 * w @ w
    return size + C @ (loss**2 if squared else loss)


def best_primal(problem):
    """The optimum by SciPy, through a smooth problem of twice the variables for l1."""
    X = matrix(problem)
    width = X.shape[1]
    free = int(problem.free)
    rising = np.where(problem.upper > 0, problem.upper, 0)
    falling = np.where(problem.lower < 0, -problem.lower, 0)
    if problem.lasso:

        def value(v):
            return plain_primal(problem, v[:width] - v[width:], 0.0)

        found = minimize(
            value, np.full(2 * width, 0.01), method="L-BFGS-B",
            bounds=[(0, None)] * 2 * width,
            options={"maxiter": 50_000, "maxfun": 10**7, "ftol": 1e-15, "gtol": 1e-9},
        )  # fmt: skip
        return found.fun
    if problem.ridge.any():
        found = minimize(
            lambda v: plain_primal(problem, v[:width], v[width] if free else 0.0),
            np.zeros(width + free), method="BFGS", options={"gtol": 1e-8},
        )  # fmt: skip
        return found.fun
    # The dual of β = rise − fall; an equality for the free intercept.
    K = X @ X.T

    def dual(v):
        beta = v[: problem.n] - v[problem.n :]
        g = K @ beta + problem.p
        value = 0.5 * beta @ (g + problem.p) + problem.epsilon * v.sum()
        return value, np.concatenate([g, -g]) + problem.epsilon

    signs = np.repeat([1.0, -1.0], problem.n)
    balance = {"type": "eq", "fun": lambda v: signs @ v, "jac": lambda v: signs}
    found = minimize(
        dual,
        np.zeros(2 * problem.n),
        jac=True,
        bounds=[(0, top) for top in np.concatenate([rising, falling])],
        method="SLSQP" if free else "L-BFGS-B",
        constraints=[balance] if free else (),
        options={"maxiter": 2000, "ftol": 1e-12},
    )
    return -found.fun


@over_pairs
def test_reaches_the_optimum(name, case):
    problem = problem_of(case)
    solver = solver_of(name, tol=1e-7)
    outcome = drive(solver, problem)
    assert outcome.stop.converged, outcome.stop
    model = outcome.model
    both = linear_objective(problem, model)
    assert both.relative_gap <= 1e-7
    # the library's figures are those of the lectures
    b = model.bias if problem.free else 0.0
    assert both.primal == pytest.approx(plain_primal(problem, model.w, b), rel=1e-10)
    np.testing.assert_allclose(model.outputs, matrix(problem) @ model.w + b, atol=1e-8)
    # and the optimum is the referee's
    assert both.primal == pytest.approx(best_primal(problem), rel=2e-6)
    # the dual variables are feasible
    assert (model.beta >= problem.lower).all()
    assert (model.beta <= problem.upper).all()
    np.testing.assert_allclose(model.pull, matrix(problem).T @ model.beta, atol=1e-7)
    if problem.free:
        assert abs(model.beta.sum()) <= 1e-9 * np.abs(model.beta).sum()


@over_pairs
def test_budget_changes_nothing(name, case):
    ends = []
    for budget in (1, 7, 10**9):
        problem = problem_of(case)
        solver = solver_of(name, tol=1e-5)
        state = solver.start(problem)
        while solver.advance(problem, state, budget) is Status.RUNNING:
            pass
        model = solver.model(problem, state)
        ends.append((model.w.tobytes(), model.beta.tobytes(), solver.n_iter(state)))
    assert ends[0] == ends[1] == ends[2]


@over_pairs
def test_threads_change_nothing(name, case):
    ends = set()
    for jobs in (1, 2, 3):
        model = drive(solver_of(name, tol=1e-5), problem_of(case, jobs=jobs)).model
        ends.add((model.w.tobytes(), model.beta.tobytes(), model.bias))
    assert len(ends) == 1


@pytest.mark.parametrize("name", sorted(SOLVERS))
class TestEverySolver:
    def case(self, name):
        able = SOLVERS[name]
        return Case(min(able.losses), "constant", lasso=able.lasso)

    def test_a_state_can_be_stored(self, name):
        problem = problem_of(self.case(name))
        solver = solver_of(name, tol=1e-6)
        state = solver.start(problem)
        assert solver.advance(problem, state, 2) in Status
        stored = pickle.loads(pickle.dumps((problem, state)))
        ends = []
        for task, now in ((problem, state), stored):
            while solver.advance(task, now, 1000) is Status.RUNNING:
                pass
            ends.append(solver.model(task, now).w.tobytes())
        assert ends[0] == ends[1]

    def test_stops_at_the_limit_and_says_so(self, name):
        problem = problem_of(self.case(name))
        outcome = drive(solver_of(name, tol=1e-13, max_iter=1), problem)
        assert outcome.n_iter <= 1
        assert not outcome.stop.converged or (
            linear_objective(problem, outcome.model).relative_gap <= 1e-13
        )

    def test_a_model_at_any_time(self, name):
        problem = problem_of(self.case(name))
        solver = solver_of(name)
        state = solver.start(problem)
        for _ in range(3):
            model = solver.model(problem, state)
            assert np.isfinite(linear_objective(problem, model).primal)
            assert linear_violation(problem, model) >= 0.0
            assert solver.explain(problem, state) is not None
            if solver.advance(problem, state, 1) is not Status.RUNNING:
                break

    def test_goes_on_from_a_given_answer(self, name):
        problem = problem_of(self.case(name))
        solver = solver_of(name, tol=1e-6)
        first = drive(solver, problem)
        known = first.model.w if problem.lasso else first.model.beta
        if getattr(solver, "restarts", True):
            again = drive(solver, problem, warm=known)
            assert again.stop.converged
            assert again.n_iter <= first.n_iter
        else:
            with pytest.raises(InputError, match="warm_start"):
                drive(solver, problem, warm=known)

    def test_gap_falls_to_tol(self, name):
        problem = problem_of(self.case(name))
        for tol in (1e-2, 1e-4, 1e-8):
            outcome = drive(solver_of(name, tol=tol), problem)
            assert linear_objective(problem, outcome.model).relative_gap <= tol


def test_rows_without_weight_do_not_matter():
    _, _, weight = data("dense")
    assert (weight == 0).any()
    for name, able in SOLVERS.items():
        case = Case(min(able.losses), "none", weights=True, lasso=able.lasso)
        problem = problem_of(case)
        model = drive(solver_of(name, tol=1e-9), problem).model
        assert not model.beta[weight == 0].any(), name
