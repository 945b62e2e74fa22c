"""What the papers promise of a solution: fractions bounded by ν, tubes, balls; and what
every estimator promises of a fit: threads, going on, stopping early.
"""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import maxmargin
from maxmargin import (
    SVDD,
    SVR,
    ConvergenceWarning,
    NuSVC,
    NuSVR,
    OneClassSVM,
    VanishingMarginWarning,
    certify,
)
from maxmargin.observers import Patience

TOL = 1e-6
MACHINES = {
    "SVC": {"C": 5.0},
    "NuSVC": {"nu": 0.3},
    "SVR": {"C": 5.0, "epsilon": 0.1},
    "NuSVR": {"C": 5.0, "nu": 0.3},
    "OneClassSVM": {"nu": 0.1},
    "SVDD": {"nu": 0.1},
}
every_machine = pytest.mark.parametrize("machine", MACHINES)


def cloud(n=120, d=3, seed=0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels 0 and 1 that overlap, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)


def weights(n: int) -> np.ndarray:
    return np.random.default_rng(1).choice([0.5, 1.0, 3.0], n)


def data_for(machine: str, n=120) -> tuple[np.ndarray, np.ndarray]:
    X, y, z = cloud(n)
    return X, z if "SVR" in machine else y


def make(machine: str, **more) -> Any:
    return getattr(maxmargin, machine)(**(MACHINES[machine] | more))


def values(one: Any, X) -> np.ndarray:
    return one.predict(X) if "SVR" in type(one).__name__ else one.decision_function(X)


def coefficients(one: Any, n: int) -> np.ndarray:
    coef = np.zeros(n)
    found = one.dual_coef_
    coef[one.support_] = (found.toarray() if sp.issparse(found) else found)[0]
    return coef


# --- ν ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("kind", [OneClassSVM, SVDD])
def test_nu_bounds_outliers_and_support_vectors(kind, kernel, nu, weighted):
    X, _, _ = cloud()
    X = X + 4.0  # for the linear one-class machine, away from 0
    w = weights(len(X)) if weighted else np.ones(len(X))
    one = kind(kernel=kernel, degree=2, gamma=0.3, nu=nu, tol=TOL).fit(X, None, w)
    decisions = one.decision_function(X)
    outside = decisions < -1e-4 * np.abs(decisions).max()
    assert w[outside].sum() <= nu * w.sum() * (1.0 + 1e-9)
    assert w[one.support_].sum() >= nu * w.sum() * (1.0 - 1e-9)
    on = np.setdiff1d(one.support_, np.flatnonzero(outside))  # what makes the difference
    assert (decisions[on] <= 1e-4 * np.abs(decisions).max()).all()
    if not weighted:
        assert (one.predict(X) == -1)[outside].all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.4, 0.6, 0.8])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_nu_bounds_margin_errors(kernel, nu, weighted):
    X, y, _ = cloud()
    w = weights(len(X)) if weighted else np.ones(len(X))
    one = NuSVC(kernel=kernel, gamma=0.3, nu=nu, tol=1e-8).fit(X, y, w)
    margin = (2 * y - 1) * one.decision_function(X)
    errors = margin < 1.0 - 1e-4
    assert w[errors].sum() <= nu * w.sum() * (1.0 + 1e-9)
    assert w[one.support_].sum() >= nu * w.sum() * (1.0 - 1e-9)
    assert (margin[one.support_] <= 1.0 + 1e-4).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_nu_bounds_points_outside_the_tube(kernel, nu, weighted):
    X, _, z = cloud()
    w = weights(len(X)) if weighted else np.ones(len(X))
    one = NuSVR(kernel=kernel, gamma=0.3, nu=nu, tol=TOL).fit(X, z, w)
    assert one.epsilon_ > 0.01
    errors = np.abs(z - one.predict(X))
    outside = errors > one.epsilon_ + 1e-4
    assert w[outside].sum() <= nu * w.sum() * (1.0 + 1e-9)
    assert w[one.support_].sum() >= nu * w.sum() * (1.0 - 1e-9)
    assert (errors[one.support_] >= one.epsilon_ - 1e-4).all()


@pytest.mark.parametrize("kind", [OneClassSVM, SVDD, NuSVR])
def test_more_nu_means_less(kind):
    X, _, z = cloud()
    fits = [kind(nu=nu, tol=TOL, gamma=0.3).fit(X, z) for nu in (0.05, 0.2, 0.5, 0.9)]
    found = [getattr(one, "radius_", getattr(one, "epsilon_", None)) for one in fits]
    if kind is OneClassSVM:  # ρ over the mass that pays for it
        found = [-float(one.offset_[0]) / one.nu for one in fits]
    assert (np.diff(found) < 0.0).all()


# --- tubes ------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("machine", ["SVR", "NuSVR"])
def test_the_tube(machine, kernel, weighted):
    X, _, z = cloud()
    w = weights(len(X)) if weighted else np.ones(len(X))
    one = make(machine, kernel=kernel, gamma=0.3, coef0=1.0, tol=TOL, C=1.0).fit(X, z, w)
    width = one.epsilon if machine == "SVR" else one.epsilon_
    beta = coefficients(one, len(z))
    error = z - one.predict(X)
    full = np.abs(beta) >= w * (1.0 - 1e-12)
    free = (beta != 0.0) & ~full
    assert free.any()
    assert full.any()
    assert (np.abs(error[beta == 0.0]) <= width + 2 * TOL).all()
    assert_allclose(np.abs(error[free]), width, atol=2 * TOL)
    assert (np.abs(error[full]) >= width - 2 * TOL).all()
    assert (np.sign(error) == np.sign(beta))[full & (np.abs(error) > 2 * TOL)].all()
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    labels = certify(one, X, z, w).label
    assert set(labels[free]) == {"on the tube"}
    assert set(labels[full]) == {"outside the tube"}


def test_a_tube_of_half_the_spread_is_a_constant():
    X, _, z = cloud()
    one = SVR(epsilon=0.5 * np.ptp(z) + 1e-9, tol=1e-8).fit(X, z)
    assert one.support_.size == 0
    assert_allclose(one.predict(X), 0.5 * (z.min() + z.max()), atol=1e-6)
    assert one.dual_coef_.shape == (1, 0)
    assert one.support_vectors_.shape == (0, 3)


# --- balls ------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0])
def test_ball_and_plane_agree_where_k_is_constant(nu, weighted):
    X, _, _ = cloud()
    w = weights(len(X)) if weighted else np.ones(len(X))
    new = np.random.default_rng(5).normal(size=(50, 3)) * 2.0
    ball = SVDD(nu=nu, tol=1e-8, gamma=0.3).fit(X, None, w)
    plane = OneClassSVM(nu=nu, tol=1e-8, gamma=0.3).fit(X, None, w)
    mass = nu * w.sum()
    atol = 1e-5 * w.max()
    assert_allclose(mass * coefficients(ball, 120), coefficients(plane, 120), atol=atol)
    decisions = plane.decision_function(new)
    assert_allclose(ball.decision_function(new) * mass / 2, decisions, atol=1e-5 * mass)
    clear = np.abs(decisions) > 1e-5 * mass
    assert clear.sum() > 40
    assert (ball.predict(new) == plane.predict(new))[clear].all()
    difference = ball.certificate_.dual - plane.certificate_.dual
    assert difference == pytest.approx(0.5 * mass * mass, rel=1e-9)  # (M/2)·Σβ·k(x, x)


def test_a_ball_around_a_circle():
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    X = np.column_stack([3.0 + 2.0 * np.cos(angle), -1.0 + 2.0 * np.sin(angle)])
    X = np.concatenate([X, [[3.0, -1.0], [3.5, -1.2]]])  # and two inside it
    ball = SVDD(kernel="linear", nu=0.01, tol=1e-10).fit(X)
    assert ball.radius_ == pytest.approx(2.0, rel=1e-7)
    assert_allclose(ball.coef_, [[3.0, -1.0]], atol=1e-6)
    assert_allclose(ball.dual_coef_.sum(), 1.0, rtol=1e-12)
    assert not {24, 25} & set(ball.support_)
    assert ball.offset_ == pytest.approx(-4.0, rel=1e-7)
    new = np.array([[3.0, -1.0], [5.0, -1.0], [6.0, -1.0]])
    assert_allclose(ball.score_samples(new), [0.0, -4.0, -9.0], atol=1e-6)
    assert_allclose(ball.decision_function(new), [4.0, 0.0, -5.0], atol=1e-6)
    assert ball.predict(new[[0, 2]]).tolist() == [1, -1]


def test_the_smallest_ball_around_a_triangle():
    # Obtuse: the longest side is a diameter, and the third corner is inside.
    ball = SVDD(kernel="linear", nu=1e-3, tol=1e-10).fit([[-2.0, 0.0], [2.0, 0], [0, 1]])
    assert ball.radius_ == pytest.approx(2.0, rel=1e-8)
    assert ball.support_.tolist() == [0, 1]
    # Acute (equilateral): its circumscribed circle.
    corners = [[0.0, 0.0], [2.0, 0.0], [1.0, np.sqrt(3.0)]]
    ball = SVDD(kernel="linear", nu=1e-3, tol=1e-10).fit(corners)
    assert ball.radius_ == pytest.approx(2.0 / np.sqrt(3.0), rel=1e-8)
    assert_allclose(ball.dual_coef_, 1.0 / 3.0, rtol=1e-7)


def test_a_polynomial_ball_is_a_ball_of_its_features():
    # (x·z)² is the linear kernel of (x₁², √2·x₁x₂, x₂²), whose length is not constant.
    X = np.random.default_rng(3).normal(size=(40, 2))
    lifted = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    one = SVDD(kernel="poly", degree=2, gamma=1.0, nu=0.2, tol=1e-9).fit(X)
    other = SVDD(kernel="linear", nu=0.2, tol=1e-9).fit(lifted)
    assert one.radius_ == pytest.approx(other.radius_, rel=1e-7)
    decisions = other.decision_function(lifted)
    assert_allclose(one.decision_function(X), decisions, atol=1e-6)
    distance2 = ((lifted - other.coef_) ** 2).sum(axis=1)
    assert_allclose(-other.score_samples(lifted), distance2, atol=1e-9)


# --- threads, storage, going on, stopping -----------------------------------------------


@pytest.mark.parametrize("shrinking", [True, False])
@every_machine
def test_threads_do_not_matter_where_float32_begins(machine, shrinking):
    X, y = data_for(machine, n=1200)
    fits = [make(machine, n_jobs=n, shrinking=shrinking).fit(X, y) for n in (1, 2, 3)]
    for other in fits[1:]:
        for name in ("dual_coef_", "intercept_", "support_", "n_iter_"):
            a, b = (np.asarray(getattr(one, name)) for one in (fits[0], other))
            assert a.tobytes() == b.tobytes(), name
        assert values(other, X).tobytes() == values(fits[0], X).tobytes()
    assert fits[0].certificate_.ok
    assert certify(fits[0], X, y).violation <= 1.01e-3


@every_machine
def test_sparse_rows_where_float32_begins(machine):
    X, y = data_for(machine, n=1200)
    one, other = (
        make(machine, tol=1e-5, gamma=0.3).fit(Z, y) for Z in (X, sp.csr_array(X))
    )
    scale = np.abs(values(one, X)).max()
    assert_allclose(values(one, X), values(other, X), atol=5e-3 * scale)
    assert sp.issparse(other.dual_coef_)
    assert sp.issparse(other.support_vectors_)
    assert certify(other, sp.csr_array(X), y).violation <= 1.01e-5


@every_machine
def test_warm_start_goes_on(machine):
    X, y = data_for(machine)
    cold = make(machine, tol=TOL).fit(X, y)
    one = make(machine, tol=1e-2, warm_start=True).fit(X, y)
    one.set_params(tol=TOL).fit(X, y)
    assert one.certificate_.ok
    assert one.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-6)
    assert_allclose(values(one, X), values(cold, X), atol=1e-3)
    again = int(np.sum(one.fit(X, y).n_iter_))
    assert again <= max(2, int(np.sum(cold.n_iter_)) // 10)
    assert one.certificate_.ok


@every_machine
def test_warm_start_from_an_early_stop(machine):
    X, y = data_for(machine)
    cold = make(machine, tol=TOL).fit(X, y)
    one = make(machine, tol=TOL, max_iter=20, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="max_iter=20"):
        one.fit(X, y)
    assert one.fit_status_ == 1
    first = one.certificate_
    one.set_params(max_iter=-1).fit(X, y)
    assert one.certificate_.ok
    assert one.certificate_.dual > first.dual
    assert one.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-6)


@every_machine
def test_warm_start_on_other_weights(machine):
    X, y = data_for(machine)
    w = weights(len(y))
    w[::7] = 0.0
    one = make(machine, tol=TOL, gamma=0.3, warm_start=True).fit(X, y).fit(X, y, w)
    cold = make(machine, tol=TOL, gamma=0.3).fit(X, y, w)
    assert one.certificate_.ok
    assert one.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-6)
    assert certify(one, X, y, w).violation <= 1.01 * TOL


@every_machine
def test_no_step_at_all_leaves_a_usable_model(machine):
    X, y = data_for(machine)
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        one = make(machine, max_iter=0).fit(X, y)
    assert one.fit_status_ == 1
    assert not one.certificate_.ok
    assert np.isfinite(values(one, X)).all()


# An honest label, a usable model, and a certificate that anybody can recompute.
def check_early(one: Any, X, y) -> None:
    proof, seen = one.certificate_, certify(one, X, y)
    assert one.fit_status_ == 1
    assert not proof.ok
    assert proof.violation > one.tol
    assert np.isfinite(values(one, X)).all()
    if isinstance(one, NuSVR):  # α and α* of one point: the model has their difference
        assert seen.violation <= proof.violation * (1.0 + 1e-3)
    else:
        assert seen.violation == pytest.approx(proof.violation, rel=1e-3, abs=1e-6)
    assert seen.dual == pytest.approx(proof.dual, rel=1e-4)
    assert seen.feasible
    assert proof.gap >= 0.0


@every_machine
def test_time_limit(machine):
    X, y = data_for(machine, n=1200)
    one = make(machine, tol=1e-13, time_limit=1e-6)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        one.fit(X, y)
    check_early(one, X, y)


@every_machine
def test_callbacks_end_a_run(machine):
    X, y = data_for(machine, n=1200)
    seen: list[Any] = []

    def enough(snapshot):
        seen.append((snapshot.n_iter, snapshot.measures))
        return snapshot.n_iter > 0

    one = make(machine, tol=1e-13, callbacks=enough).fit(X, y)  # they know why they did
    check_early(one, X, y)
    assert seen[-1][0] == np.sum(one.n_iter_)
    assert all(measures.gap >= 0.0 for _, measures in seen)


@every_machine
def test_patience_waits_while_the_dual_rises(machine):
    X, y = data_for(machine, n=1200)
    patient = make(machine, callbacks=Patience(3, 1e-9), cache_size=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one = patient.fit(X, y)
    whole = make(machine, cache_size=0.05).fit(X, y)
    assert one.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-2)


@every_machine
def test_no_figure_says_converged_before_it_is(machine):
    """A callback that waits for the violation must not be told of one that is unknown."""
    X, y = data_for(machine, n=1200)
    told: list[Any] = []
    make(machine, callbacks=lambda snapshot: told.append(snapshot.measures)).fit(X, y)
    assert told[0].violation > 1e-3
    assert told[0].gap > 0.0


# --- the units of tol ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [OneClassSVM, SVDD])
@pytest.mark.parametrize("size", [1e-2, 1e-5])
def test_small_weights_leave_the_model_as_exact(kind, size):
    X = np.random.default_rng(0).normal(size=(200, 2))
    plain = kind(nu=0.1, gamma=0.5).fit(X)
    light = kind(nu=0.1, gamma=0.5).fit(X, sample_weight=np.full(200, size))
    factor = size if kind is OneClassSVM else 1.0
    np.testing.assert_allclose(
        light.decision_function(X),
        factor * plain.decision_function(X),
        atol=2e-3 * factor,
    )
    assert light.certificate_.tol == pytest.approx(size * 1e-3)


def test_a_ball_around_all_points_has_their_radius():
    angle = np.linspace(0.0, 2.0 * np.pi, 50, endpoint=False)
    X = 2.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    assert SVDD(kernel="linear", nu=1e-6).fit(X).radius_ == pytest.approx(2.0, abs=1e-3)


def test_nu_svc_is_as_exact_after_the_division_by_rho():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int)
    loose = NuSVC(nu=0.55, kernel="linear").fit(X, y)
    exact = NuSVC(nu=0.55, kernel="linear", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        loose.decision_function(X), exact.decision_function(X), atol=5e-3
    )


def test_a_margin_that_vanishes_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    with pytest.warns(VanishingMarginWarning, match=r"nu=0\.5 is too small.*vanishes"):
        machine = NuSVC(kernel="linear", nu=0.5).fit(X, y)
    assert machine.predict(X).shape == (200,)


def test_a_fold_without_a_margin_does_not_spoil_probabilities():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int)
    nu = 0.6 * 2 * min(y.mean(), 1 - y.mean())
    machine = NuSVC(
        nu=nu, kernel="linear", tol=1e-6, probability=True, random_state=0
    ).fit(X, y)
    assert machine.score(X, y) > 0.7
