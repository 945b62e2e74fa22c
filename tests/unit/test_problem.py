"""The one quadratic programme: its adapters, conditions and objective, by formula."""

import numpy as np
import pytest

from maxmargin.errors import InputError
from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import (
    Model,
    Objective,
    Problem,
    c_svc,
    dual_value,
    epsilon_svr,
    imbalance,
    model_of,
    nu_svc,
    nu_svr,
    objective,
    one_class,
    scores,
    svdd,
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


# --- the other machines -----------------------------------------------------------------

W = np.array([0.5, 1.0, 2.0])
Z = np.array([3.0, -1.0, 0.5])


def test_nu_svc_has_a_sum_for_each_class():
    problem = nu_svc(None, Y, W, 0.4)
    np.testing.assert_array_equal(problem.p, 0.0)
    np.testing.assert_array_equal(problem.lower, [0.0, -1.0, 0.0])
    np.testing.assert_array_equal(problem.upper, [0.5, 0.0, 2.0])
    assert problem.sums == pytest.approx((0.7, -0.7))
    np.testing.assert_array_equal(problem.side, [0, 1, 0])


def test_epsilon_svr_prices_both_signs():
    problem = epsilon_svr(None, Z, W, 0.1)
    np.testing.assert_array_equal(problem.p, -Z)
    np.testing.assert_array_equal(problem.lower, -W)
    np.testing.assert_array_equal(problem.upper, W)
    assert problem.sums == (0.0,)
    assert problem.epsilon == 0.1
    assert not problem.side.any()


def test_nu_svr_has_two_variables_a_point():
    problem = nu_svr(None, Z, W, 0.4)
    np.testing.assert_array_equal(problem.p, [*-Z, *-Z])
    np.testing.assert_array_equal(problem.lower, [0.0, 0.0, 0.0, *-W])
    np.testing.assert_array_equal(problem.upper, [*W, 0.0, 0.0, 0.0])
    assert problem.sums == pytest.approx((0.7, -0.7))
    assert problem.n == 6
    np.testing.assert_array_equal(problem.side, [0, 0, 0, 1, 1, 1])


def test_one_class_and_ball():
    problem = one_class(None, W, 0.4)
    np.testing.assert_array_equal(problem.p, 0.0)
    np.testing.assert_array_equal(problem.lower, 0.0)
    np.testing.assert_array_equal(problem.upper, W)
    assert problem.sums == pytest.approx((1.4,))
    ball = svdd(TableGram(np.diag([1.0, 2.0, 3.0])), W, 0.4)
    np.testing.assert_allclose(ball.p, [-0.7, -1.4, -2.1])
    assert ball.sums == pytest.approx((1.4,))


@pytest.mark.parametrize(
    ("beta", "up", "low"),
    [
        # β > 0 pays ε to rise and is paid it to fall; β < 0 the other way round; at 0
        # either way costs.
        ([0.2, -0.2, 0.0], [1.1, 1.9, 3.1], [1.1, 1.9, 2.9]),
        ([0.5, -1.0, 0.0], [np.inf, 1.9, 3.1], [1.1, -np.inf, 2.9]),
    ],
)
def test_scores_with_a_tube(beta, up, low):
    problem = epsilon_svr(None, Z, W, 0.1)
    found = scores(problem, np.array(beta), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found, [up, low])
    top = max(value for value in low if np.isfinite(value))
    least = min(value for value in up if np.isfinite(value))
    worst = violation(problem, np.array(beta), np.array([1.0, 2.0, 3.0]))
    assert worst == pytest.approx(max(0.0, top - least))


def test_violation_of_two_sums_is_that_of_the_worse():
    problem = nu_svc(None, np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), 0.5)
    beta = np.array([0.5, 0.5, -0.5, -0.5])
    # the two sides are 100 apart, which is no violation
    F = np.array([1.0, 1.5, 101.0, 103.0])
    assert violation(problem, beta, F) == 2.0
    model = model_of(problem, beta, F)
    assert model.bias == pytest.approx(-(1.25 + 102.0) / 2)
    assert model.split == pytest.approx((-1.25 + 102.0) / 2)


@pytest.mark.parametrize(
    ("problem", "beta", "missed"),
    [
        (one_class(None, np.ones(3), 0.5), [0.5, 0.5, 0.5], 0.0),
        (one_class(None, np.ones(3), 0.5), [0.5, 0.5, 0.0], 0.5),
        (nu_svc(None, np.array([1.0, -1.0]), np.ones(2), 1.0), [1.0, -0.5], 1 / 3),
        (epsilon_svr(None, Z, W, 0.1), [0.5, -0.25, 0.0], 1 / 3),
        (epsilon_svr(None, Z, W, 0.1), [0.0, 0.0, 0.0], 0.0),
        (c_svc(None, Y, C, fit_intercept=False), [0.5, 0.0, 0.0], 0.0),
    ],
)
def test_imbalance(problem, beta, missed):
    assert imbalance(problem, np.array(beta)) == pytest.approx(missed)


def random_points(seed, n=10):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return rng, X @ X.T, rng.standard_normal(n), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("seed", range(3))
def test_objective_of_epsilon_svr(seed):
    rng, K, z, prices = random_points(seed)
    problem = epsilon_svr(None, z, prices, 0.3)
    beta = prices * rng.choice([-1.0, -0.4, 0.0, 0.5, 1.0], z.size)
    gradient, b = K @ beta - z, 0.2
    found = objective(problem, Model(beta, gradient, b, (b, b)))
    cost = prices @ np.maximum(0.0, np.abs(z - K @ beta - b) - 0.3)
    assert found.primal == pytest.approx(0.5 * beta @ K @ beta + cost, rel=1e-12)
    dual = -0.5 * beta @ K @ beta + z @ beta - 0.3 * np.abs(beta).sum()
    assert found.dual == pytest.approx(dual, rel=1e-12)
    assert dual_value(problem, beta, gradient) == pytest.approx(dual, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_objective_of_nu_svc(seed):
    rng, K, _, weight = random_points(seed)
    y = np.where(np.arange(10) % 2, 1.0, -1.0)
    problem = nu_svc(None, y, weight, 0.3)
    beta = y * weight * rng.random(10)
    b, rho = 0.2, 0.7  # the multipliers are b ∓ ρ
    found = objective(problem, Model(beta, K @ beta, b, (b, b), -rho))
    cost = weight @ np.maximum(0.0, rho - y * (K @ beta + b))
    norm2 = beta @ K @ beta
    assert found.primal == pytest.approx(
        0.5 * norm2 - 0.3 * weight.sum() * rho + cost, rel=1e-12
    )
    assert found.dual == pytest.approx(-0.5 * norm2, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_objective_of_nu_svr(seed):
    rng, K, z, prices = random_points(seed)
    problem = nu_svr(None, z, prices, 0.3)
    pair = np.concatenate([prices * rng.random(10), -prices * rng.random(10)])
    beta, b, width = pair[:10] + pair[10:], 0.2, 0.4
    gradient = np.tile(K @ beta - z, 2)
    found = objective(problem, Model(pair, gradient, b, (b, b), width))
    cost = prices @ np.maximum(0.0, np.abs(z - K @ beta - b) - width)
    norm2, tube = beta @ K @ beta, 0.3 * width * prices.sum()
    assert found.primal == pytest.approx(0.5 * norm2 + tube + cost, rel=1e-12)
    assert found.dual == pytest.approx(-0.5 * norm2 + z @ beta, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_objective_of_one_class(seed):
    rng, K, _, weight = random_points(seed)
    beta, rho = weight * rng.random(10), 0.7
    found = objective(one_class(None, weight, 0.3), Model(beta, K @ beta, -rho, (0, 0)))
    cost = weight @ np.maximum(0.0, rho - K @ beta)
    norm2 = beta @ K @ beta
    assert found.primal == pytest.approx(
        0.5 * norm2 - 0.3 * weight.sum() * rho + cost, rel=1e-12
    )
    assert found.dual == pytest.approx(-0.5 * norm2, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_objective_of_svdd_is_that_of_the_ball_times_half_its_mass_squared(seed):
    rng, K, _, weight = random_points(seed)
    problem = svdd(TableGram(K), weight, 0.3)
    mass = 0.3 * weight.sum()
    alpha = rng.random(10)
    alpha /= alpha.sum()
    beta = mass * alpha
    gradient = K @ beta + problem.p
    centre2 = alpha @ K @ alpha
    r2 = 1.3 * centre2
    b = 0.5 * mass * (r2 - centre2)  # R² = ‖a‖² + 2b/M
    found = objective(problem, Model(beta, gradient, b, (b, b)))
    distance2 = np.diag(K) - 2.0 * K @ alpha + centre2
    ball = r2 + weight @ np.maximum(0.0, distance2 - r2) / mass
    assert found.primal == pytest.approx(0.5 * mass**2 * ball, rel=1e-12)
    assert found.dual == pytest.approx(
        0.5 * mass**2 * (alpha @ np.diag(K) - centre2), rel=1e-12
    )


def test_bias_of_a_tube_around_everything_is_the_midpoint():
    problem = epsilon_svr(None, Z, W, 10.0)
    model = model_of(problem, np.zeros(3), -Z)
    assert model.interval == (3.0 - 10.0, -1.0 + 10.0)
    assert model.bias == 1.0
    assert violation(problem, model.beta, model.gradient) == 0.0


def test_all_at_the_bound_takes_the_finite_end():
    problem = one_class(None, np.ones(2), 1.0)
    model = model_of(problem, np.ones(2), np.array([1.0, 3.0]))
    assert model.interval == (-np.inf, -3.0)  # ρ = −b from the last point on
    assert model.bias == -3.0
    assert violation(problem, model.beta, model.gradient) == 0.0


def test_a_hard_tube_costs_nothing_inside_and_everything_outside():
    z, C = np.array([0.0, 1.0]), np.full(2, np.inf)
    problem = epsilon_svr(None, z, C, 0.1)
    assert problem.hard
    assert not problem.separating
    nothing = np.zeros(2)
    # f = 0.5 everywhere: both points are 0.4 outside
    outside = objective(problem, Model(nothing, -z, 0.5, (0.5, 0.5)))
    assert outside.primal == np.inf
    wide = epsilon_svr(None, z, C, 0.6)
    assert objective(wide, Model(nothing, -z, 0.5, (0.5, 0.5))).primal == 0.0
    assert c_svc(None, Y, np.full(3, np.inf)).separating


def test_a_problem_prints_in_one_line():
    problem = c_svc(None, np.array([1.0, -1.0, 1.0]), np.array([0.5, 1.0, 2.0]))
    assert repr(problem) == (
        "<Problem: 3 points, boxes of 0.5 to 2, sums (0.0,), epsilon 0>"
    )
