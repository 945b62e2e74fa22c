"""Where solvers begin: in the box, with the right sums, near what was given."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.errors import InputError
from maxmargin.problem import c_svc, epsilon_svr, nu_svc, nu_svr, one_class
from maxmargin.solvers.feasible import default_limit, feasible

steady = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow],
)
Y = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
W = np.array([1.0, 0.5, 2.0, 1.0, 0.0])


def check(problem, beta):
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    negative = problem.lower < 0.0
    sides = [~negative, negative] if len(problem.sums) == 2 else [slice(None)]
    for at, total in zip(sides, problem.sums, strict=False):
        assert beta[at].sum() == pytest.approx(total, rel=1e-12, abs=1e-12)


def problems(n, weight):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    share = 2.0 * min(weight[y > 0].sum(), weight[y < 0].sum()) / weight.sum()
    return [
        c_svc(None, y, weight),
        epsilon_svr(None, y, weight, 0.1),
        one_class(None, weight, 0.3),
        one_class(None, weight, 1.0),
        nu_svc(None, y, weight, 0.3 * share),
        nu_svc(None, y, weight, share),
        nu_svr(None, y, weight, 0.5),
        nu_svr(None, y, weight, 1.0),
    ]


@steady
@given(st.data())
def test_always_feasible(data):
    n = data.draw(st.integers(2, 12))
    weight = data.draw(
        arrays(np.float64, n, elements=st.sampled_from([0.0, 0.1, 1.0, 3.0, 1e6]))
    )
    weight[:2] = 1.0
    for problem in problems(n, weight):
        check(problem, feasible(problem, None))
        warm = data.draw(
            arrays(np.float64, problem.n, elements=st.floats(-5.0, 5.0, width=32))
        )
        before = warm.copy()
        beta = feasible(problem, warm)
        check(problem, beta)
        np.testing.assert_array_equal(warm, before)
        np.testing.assert_array_equal(feasible(problem, beta), beta)  # kept as it is


def test_nothing_to_begin_with_where_sums_are_zero():
    for problem in (c_svc(None, Y, W), epsilon_svr(None, Y, W, 0.1)):
        assert not feasible(problem, None).any()


def test_boxes_are_filled_from_the_first():
    np.testing.assert_allclose(
        feasible(one_class(None, W, 0.4), None), [1.0, 0.5, 0.3, 0.0, 0.0]
    )
    # 4.5·0.4/2 on either side
    np.testing.assert_allclose(
        feasible(nu_svc(None, Y, W, 0.4), None), [0.9, 0.0, -0.9, 0.0, 0.0]
    )


@pytest.mark.parametrize("heavy", [1e6, 1e12])
def test_a_huge_box_does_not_spoil_the_sums_of_small_ones(heavy):
    weight = np.array([1.0, 1.0, 3.0, 0.1, heavy, 0.1])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    problem = nu_svc(None, y, weight, 2.0 * 1.2 / weight.sum())
    check(problem, feasible(problem, None))
    order = np.array([4, 0, 2, 1, 3, 5])
    problem = nu_svc(None, y[order], weight[order], 2.0 * 1.1 / weight.sum())
    check(problem, feasible(problem, None))


def test_what_is_missing_goes_to_points_with_weight_first():
    warm = np.array([0.0, 0.0, 0.2, 0.0, 0.0])
    found = feasible(one_class(None, W, 0.2), warm)  # 0.9 in all
    np.testing.assert_allclose(found, [0.0, 0.0, 0.9, 0.0, 0.0])


def test_what_is_too_much_is_scaled_down():
    found = feasible(one_class(None, W, 0.2), np.array([1.0, 0.5, 0.3, 0.0, 0.0]))
    np.testing.assert_allclose(found, [0.5, 0.25, 0.15, 0.0, 0.0])


def test_the_heavier_sign_is_scaled_down():
    warm = np.array([0.4, 0.2, -0.3, 0.0, 0.0])
    np.testing.assert_allclose(
        feasible(epsilon_svr(None, Y, W, 0.1), warm), [0.2, 0.1, -0.3, 0.0, 0.0]
    )
    # one sign alone cannot be balanced
    assert not feasible(epsilon_svr(None, Y, W, 0.1), np.abs(warm)).any()


def test_boxes_that_hold_too_little():
    problem = nu_svc(None, Y, W, 0.9)  # 2.025 a side; the positive one holds 1.5
    with pytest.raises(InputError, match=r"boxes hold 1\.5 in all.*2\.025"):
        feasible(problem, None)


def test_another_shape():
    with pytest.raises(InputError, match=r"shape \(2,\).*\(10,\)"):
        feasible(nu_svr(None, Y, W, 0.5), np.zeros(2))


@pytest.mark.parametrize(("n", "limit"), [(10, 10**7), (10**6, 10**8)])
def test_default_limit(n, limit):
    assert default_limit(n) == limit
