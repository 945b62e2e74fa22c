"""The one quadratic programme: its adapters, conditions and objective, by formula."""

import numpy as np
import pytest

from maxmargin.errors import InputError
from maxmargin.problem import (
    Model,
    Objective,
    Problem,
    c_svc,
    model_of,
    objective,
    violation,
)

Y = np.array([1.0, -1.0, 1.0])
C = np.array([0.5, 1.0, 2.0])


def test_c_svc_box_and_linear_term():
    problem = c_svc(None, Y, C)
    np.testing.assert_array_equal(problem.p, [-1.0, 1.0, -1.0])
    np.testing.assert_array_equal(problem.lower, [0.0, -1.0, 0.0])
    np.testing.assert_array_equal(problem.upper, [0.5, 0.0, 2.0])
    np.testing.assert_array_equal(problem.ridge, 0.0)
    assert problem.sums == (0.0,)
    assert problem.n == 3
    assert not problem.hard


def test_c_svc_squared_hinge_has_a_ridge_and_no_bound():
    problem = c_svc(None, Y, C, squared=True, fit_intercept=False)
    np.testing.assert_array_equal(problem.ridge, 1.0 / (2.0 * C))
    np.testing.assert_array_equal(problem.lower, [0.0, -np.inf, 0.0])
    np.testing.assert_array_equal(problem.upper, [np.inf, 0.0, np.inf])
    assert problem.sums == ()
    assert not problem.hard


@pytest.mark.parametrize("squared", [False, True])
def test_infinite_price_is_the_hard_margin(squared):
    assert c_svc(None, Y, np.full(3, np.inf), squared=squared).hard


def test_a_problem_is_immutable():
    problem = c_svc(None, Y, C)
    with pytest.raises(AttributeError):
        problem.sums = ()


@pytest.mark.parametrize(
    ("beta", "gradient", "expected"),
    [
        # β₁ at 0 and β₂ at 0 may only go outwards: up = {1, 3}, low = {2, 3}.
        ([0.0, 0.0, 1.0], [-1.0, 3.0, 0.5], 4.0),
        # β₁ at its bound may only fall, β₂ at its bound only rise.
        ([0.5, -1.0, 0.0], [-1.0, 3.0, 2.0], 0.0),
        ([0.5, -1.0, 0.0], [5.0, 3.0, 2.0], 3.0),
        # all free: the spread of F.
        ([0.2, -0.2, 0.2], [1.0, 2.0, 4.0], 3.0),
    ],
)
def test_violation(beta, gradient, expected):
    problem = c_svc(None, Y, C)
    assert violation(problem, np.array(beta), np.array(gradient)) == expected


@pytest.mark.parametrize(
    ("gradient", "expected"),
    [
        ([0.3, -0.2, 0.1], 0.2),  # β₂ should rise
        ([-0.4, 0.1, 0.0], 0.4),  # β₁ should rise
        ([0.3, 0.2, 0.25], 0.25),  # β₃ should fall; the others cannot
        ([0.3, 0.2, 0.0], 0.0),
    ],
)
def test_violation_without_intercept_is_measured_from_zero(gradient, expected):
    # β₁ = 0 and β₂ at its lower bound may only rise, β₃ may do both.
    problem = c_svc(None, Y, C, fit_intercept=False)
    assert violation(problem, np.array([0.0, -1.0, 1.0]), np.array(gradient)) == expected


def test_bias_is_the_mean_over_free_points():
    problem = c_svc(None, Y, C)
    _, _, b, (lo, hi), _ = model_of(
        problem, np.array([0.2, -0.4, 2.0]), np.array([1.0, 2.0, -9.0])
    )
    assert b == -1.5
    assert (lo, hi) == (-2.0, -1.0)


def test_bias_without_free_points_is_the_midpoint():
    # S1's two points with C = ¼: F = (½ for y = −1, −½ for y = +1), b in [−½, ½].
    problem = c_svc(None, np.array([-1.0, 1.0]), np.full(2, 0.25))
    _, _, b, interval, _ = model_of(
        problem, np.array([-0.25, 0.25]), np.array([0.5, -0.5])
    )
    assert b == 0.0
    assert interval == (-0.5, 0.5)


def test_bias_with_one_open_end_is_the_finite_one():
    problem = c_svc(None, np.array([1.0, 1.0]), np.ones(2))
    _, _, b, interval, _ = model_of(problem, np.zeros(2), np.array([-1.0, -0.5]))
    assert b == 1.0
    assert interval == (1.0, np.inf)


def test_bias_of_zero_boxes_is_an_error():
    with pytest.raises(InputError, match="zero box"):
        model_of(c_svc(None, Y, np.zeros(3)), np.zeros(3), -Y)


def test_no_intercept_has_no_bias():
    problem = c_svc(None, Y, C, fit_intercept=False)
    model = model_of(problem, np.zeros(3), -Y)
    assert (model.bias, model.interval) == (0.0, (0.0, 0.0))


def random_case(seed, *, squared, n=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = X @ X.T
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    prices = rng.uniform(0.5, 2.0, n)
    alpha = prices * rng.choice([0.0, 0.3, 1.0], n)
    problem = c_svc(None, y, prices, squared=squared)
    gradient = K @ (y * alpha) + problem.ridge * y * alpha - y
    return K, y, prices, alpha, problem, gradient


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("squared", [False, True])
def test_objective_is_the_textbook_formula(squared, seed):
    K, y, prices, alpha, problem, gradient = random_case(seed, squared=squared)
    b = 0.3
    found = objective(problem, Model(y * alpha, gradient, b, (b, b)))
    w2 = (y * alpha) @ K @ (y * alpha)
    slack = np.maximum(0.0, 1.0 - y * (K @ (y * alpha) + b))
    cost = slack**2 if squared else slack
    ridge = (alpha**2 / (4.0 * prices)).sum() if squared else 0.0
    assert found.primal == pytest.approx(0.5 * w2 + prices @ cost, rel=1e-12)
    assert found.dual == pytest.approx(alpha.sum() - 0.5 * w2 - ridge, rel=1e-12)


@pytest.mark.parametrize(("b", "primal"), [(0.0, 0.5), (0.5, 2.0), (1.0, np.inf)])
def test_hard_margin_primal_is_rescaled(b, primal):
    # x = ±1, α = ½: w = 1, the smallest y·f is 1 − |b|.
    y = np.array([-1.0, 1.0])
    problem = c_svc(None, y, np.full(2, np.inf))
    found = objective(problem, Model(0.5 * y, np.zeros(2), b, (b, b)))
    assert found.primal == primal
    assert found.dual == 0.5


def test_objective_of_another_machine_by_the_same_formula():
    # One point, l = −1, u = 1, p = 0.5, K = 1, β = −0.25: both sides by hand.
    one = np.ones(1)
    problem = Problem(None, 0.5 * one, -one, one, 0.0 * one, sums=())
    beta = np.array([-0.25])
    found = objective(problem, Model(beta, beta + 0.5, 0.0, (0.0, 0.0)))
    assert found.dual == -0.5 * 0.0625 + 0.125
    assert found.primal == 0.5 * 0.0625 + 0.25  # the best β for a slope of −¼ is −1


@pytest.mark.parametrize(
    ("primal", "dual", "gap", "relative"),
    [(4.0, 3.0, 1.0, 0.25), (0.0, 0.0, 0.0, 0.0), (np.inf, 1.0, np.inf, np.inf)],
)
def test_gap(primal, dual, gap, relative):
    both = Objective(primal, dual)
    assert both.gap == gap
    assert both.relative_gap == relative
