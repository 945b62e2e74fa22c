"""Problems small enough to be solved by hand, and inputs that try to break arithmetic."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import maxmargin
from maxmargin import SVC, ConvergenceWarning, InputError, certify

# S1's example: one point below, one above.
TWO = np.array([[0.0, -1.0], [0.0, 1.0]])
SIGNS = np.array([-1, 1])


def fit(X, y, weight=None, **options):
    options = {"kernel": "linear", "tol": 1e-9, "n_jobs": 1} | options
    return SVC(**options).fit(X, y, sample_weight=weight)


# --- by hand ----------------------------------------------------------------------------


def test_two_points_with_a_price_of_a_quarter():
    machine = fit(TWO, SIGNS, C=0.25)
    np.testing.assert_allclose(machine.coef_, [[0.0, 0.5]], atol=1e-15)
    assert machine.intercept_.tolist() == [0.0]
    assert machine.dual_coef_.tolist() == [[-0.25, 0.25]]
    proof = machine.certificate_
    assert proof.bias_interval == (-0.5, 0.5)
    assert (proof.n_support, proof.n_free, proof.n_bound) == (2, 0, 2)
    assert proof.primal == proof.dual == 0.375
    assert machine.margin_ == 4.0


@pytest.mark.parametrize("C", [0.5, 1.0, 1e10, float("inf")])
def test_two_points_with_a_hard_margin(C):
    machine = fit(TWO, SIGNS, C=C)
    np.testing.assert_allclose(machine.coef_, [[0.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(machine.intercept_, 0.0, atol=1e-12)
    np.testing.assert_allclose(machine.decision_function(TWO), [-1.0, 1.0])
    assert machine.margin_ == pytest.approx(2.0)
    assert machine.certificate_.primal == pytest.approx(0.5)
    assert machine.certificate_.dual == pytest.approx(0.5)


@pytest.mark.parametrize("C", [0.1, 3.0, 1e4])
def test_two_points_with_squared_slack(C):
    # ½w² + C(ξ₁² + ξ₂²) with ξ = 1 − w by symmetry: w = 4C/(1 + 4C).
    machine = fit(TWO, SIGNS, C=C, loss="squared_hinge")
    w = 4.0 * C / (1.0 + 4.0 * C)
    np.testing.assert_allclose(machine.coef_, [[0.0, w]], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(machine.dual_coef_, [[-w / 2, w / 2]], rtol=1e-9)
    assert machine.certificate_.primal == pytest.approx(0.5 * w**2 + 2 * C * (1 - w) ** 2)


def test_one_point_of_each_class_off_centre():
    machine = fit([[1.0], [4.0]], [0, 1], C=100.0)
    np.testing.assert_allclose(machine.coef_, [[2.0 / 3.0]], rtol=1e-9)
    np.testing.assert_allclose(machine.intercept_, [-5.0 / 3.0], rtol=1e-9)


def test_without_an_intercept():
    # min ½w² + 10(|1 − w| ⁺ + |1 − 2w|⁺): the nearer point decides, w = 1.
    machine = fit([[1.0], [2.0], [-3.0]], [1, 1, 0], C=10.0, fit_intercept=False)
    np.testing.assert_allclose(machine.coef_, [[1.0]], rtol=1e-9)
    assert machine.intercept_.tolist() == [0.0]
    assert machine.certificate_.bias_interval == (0.0, 0.0)


def test_linear_kernel_is_its_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * rng.normal(size=60) > 0.3
    machine = fit(X, y)
    explicit = X @ machine.coef_[0] + machine.intercept_[0]
    np.testing.assert_allclose(machine.decision_function(X), explicit, atol=1e-11)
    by_hand = machine.dual_coef_[0] @ machine.support_vectors_
    np.testing.assert_allclose(machine.coef_[0], by_hand, atol=1e-13)
    table = fit(X @ X.T, y, kernel="precomputed")
    np.testing.assert_allclose(table.decision_function(X @ X.T), explicit, atol=1e-6)
    function = fit(X, y, kernel=lambda A, B: A @ B.T)
    np.testing.assert_allclose(function.decision_function(X), explicit, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_against_a_general_optimiser(loss, fit_intercept):
    """The primal with slack variables, by SLSQP: n = 12, d = 2."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(12, 2))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=12) > 0, 1.0, -1.0)
    C, power = 0.7, 2 if loss == "squared_hinge" else 1

    def objective(v):
        return 0.5 * v[:2] @ v[:2] + C * (v[3:] ** power).sum()

    def gradient(v):
        slope = C * np.ones(12) if power == 1 else 2.0 * C * v[3:]
        return np.concatenate([v[:2], [0.0], slope])

    jacobian = np.hstack([y[:, None] * X, y[:, None] * fit_intercept, np.eye(12)])
    rules = {
        "type": "ineq",
        "fun": lambda v: jacobian @ v - 1.0,
        "jac": lambda v: jacobian,
    }
    found = minimize(
        objective,
        np.concatenate([np.zeros(3), np.ones(12)]),
        jac=gradient,
        constraints=[rules],
        bounds=[(None, None)] * 3 + [(0, None)] * 12,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found.success, found.message
    machine = fit(X, y, C=C, loss=loss, fit_intercept=fit_intercept)
    assert machine.certificate_.primal == pytest.approx(found.fun, rel=1e-7)
    np.testing.assert_allclose(machine.coef_[0], found.x[:2], atol=1e-4)
    lo, hi = machine.certificate_.bias_interval
    if fit_intercept:
        assert lo - 1e-4 <= found.x[2] <= hi + 1e-4


# --- degenerate but legal ---------------------------------------------------------------


def test_contradicting_duplicates():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    y = np.tile([0, 1], 10)
    for kernel in ("linear", "rbf"):
        machine = fit(X, y, kernel=kernel)
        np.testing.assert_allclose(machine.decision_function(X), 0.0, atol=1e-6)
        assert machine.certificate_.dual == pytest.approx(20.0)
        assert machine.certificate_.gap == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_hard_margin_on_contradictions_says_that_they_overlap(kernel):
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    with pytest.raises(InputError, match=r"overlap.*use a finite C"):
        fit(X, np.tile([0, 1], 10), kernel=kernel, C=float("inf"))


def test_a_hard_margin_on_overlapping_clouds():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 1.0])
    with pytest.raises(InputError, match="overlap"):
        fit(X, np.repeat([0, 1], 40), C=float("inf"), tol=1e-3)


def test_constant_features():
    machine = fit(np.ones((6, 3)), [0, 0, 1, 1, 1, 1])
    np.testing.assert_allclose(machine.coef_, 0.0, atol=1e-9)
    assert machine.predict(np.ones((1, 3))) == [1]
    np.testing.assert_allclose(machine.certificate_.primal, 4.0, rtol=1e-8)
    assert np.isfinite(fit(np.zeros((4, 1)), [0, 0, 0, 1], kernel="rbf").intercept_).all()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_all_rows_are_zero(fit_intercept, loss):
    machine = fit(
        np.zeros((4, 1)), [0, 0, 0, 1], C=0.1, fit_intercept=fit_intercept, loss=loss
    )
    assert not machine.coef_.any()
    assert machine.certificate_.ok


def test_one_feature_that_is_constant_changes_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    one = fit(X, y, kernel="rbf", gamma=0.5)
    other = fit(np.hstack([X, np.full((30, 1), 7.0)]), y, kernel="rbf", gamma=0.5)
    assert one.certificate_.dual == pytest.approx(other.certificate_.dual, rel=1e-9)


def test_all_at_the_bound():
    X, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    machine = fit(X, y, C=1e-3)
    assert machine.certificate_.n_bound == 4
    assert machine.certificate_.n_free == 0
    lo, hi = machine.certificate_.bias_interval
    # w = C·(1 + 2 + 1 + 2); the margin takes all points in, for every b in the interval.
    np.testing.assert_allclose(machine.coef_, [[6e-3]])
    np.testing.assert_allclose([lo, hi], [-1.0 + 12e-3, 1.0 - 12e-3])
    assert machine.intercept_[0] == pytest.approx(0.0, abs=1e-15)


def test_one_class_dominates():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.zeros(200, int)
    y[17] = 1
    machine = fit(X, y, kernel="rbf")
    assert (machine.predict(X) == 0).mean() > 0.98
    assert machine.certificate_.ok
    assert abs(machine.dual_coef_.sum()) < 1e-12
    balanced = fit(X, y, kernel="rbf", class_weight="balanced")
    assert balanced.predict(X[17:18]) == [1]


def test_no_step_allowed_leaves_a_usable_model():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=0.*violation 2.*tol 1e-09"):
        machine = fit(TWO, SIGNS, max_iter=0)
    assert machine.support_.size == 0
    assert machine.fit_status_ == 1
    for kernel in ("linear", "rbf"):
        with pytest.warns(ConvergenceWarning):
            machine = fit(TWO, SIGNS, max_iter=0, kernel=kernel, gamma=1.0)
        np.testing.assert_array_equal(
            machine.decision_function(TWO), machine.intercept_[0]
        )


# --- prices and scales ------------------------------------------------------------------


def cloud(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int)
    return X, y


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1e3])
def test_prices(kernel, C):
    X, y = cloud()
    machine = fit(X, y, C=C, kernel=kernel, tol=1e-6)
    verdict = certify(machine, X, y)
    assert verdict.violation <= 1.01e-6
    assert verdict.gap >= -1e-9 * abs(verdict.primal)
    assert verdict.relative_gap < 1e-3


@pytest.mark.parametrize("gamma", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_widths(gamma):
    X, y = cloud()
    machine = fit(X, y, kernel="rbf", gamma=gamma, tol=1e-6)
    assert certify(machine, X, y).violation <= 1.01e-6
    if gamma == 1e6:  # every point is alone: all are learned by heart
        assert machine.score(X, y) == 1.0


HOSTILE = """
import sys
import warnings

import numpy as np

from maxmargin import SVC, ConvergenceWarning, InputError, NumericalError

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + 0.7 * rng.normal(size=60) > 0).astype(int)
scales = {
    "unit": 1.0, "huge": 1e200, "tiny": 1e-200, "denormal": 5e-310, "large": 1e25,
    "small": 1e-25, "decades": np.array([1e-6, 1.0, 1e6]), "top": 1e307,
}
for scale in sys.argv[2:]:
    for kernel in ("linear", "rbf", "poly", "sigmoid"):
        for C in (1e-6, 1.0, 1e10, np.inf):
            for loss in ("hinge", "squared_hinge"):
                if np.isinf(C) and loss == "squared_hinge":
                    continue
                Z = X * scales[scale]
                machine = SVC(
                    kernel=kernel, C=C, loss=loss, max_iter=int(sys.argv[1]), n_jobs=1
                )
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        machine.fit(Z, y)
                        decision = machine.decision_function(Z)
                    except (InputError, NumericalError) as error:
                        said = " ".join(str(error).split())
                        print(scale, kernel, C, loss, type(error).__name__, said, sep="|")
                        continue
                told = [one for one in caught if one.category is ConvergenceWarning]
                odd = {
                    one.category.__name__ + " " + str(one.message)
                    for one in caught
                    if one.category.__name__
                    not in ("ConvergenceWarning", "IndefiniteKernelWarning")
                }
                proof = machine.certificate_
                assert not odd, (scale, kernel, C, loss, odd)
                assert np.isfinite(decision).all(), (scale, kernel, C, loss, "decision")
                assert np.isfinite(machine.dual_coef_).all(), (scale, kernel, C, loss)
                assert np.isfinite(proof.violation), (scale, kernel, C, loss, proof)
                assert proof.ok != bool(told), (scale, kernel, C, loss, proof, told)
                for one in told:
                    text = str(one.message)
                    assert "violation" in text, text
                    assert "tol" in text, text
                inside = np.abs(machine.dual_coef_) <= C if loss == "hinge" else True
                assert np.all(inside), (scale, kernel, C, loss, "box")
                end = "warned" if told else "converged"
                print(scale, kernel, C, loss, end, "", sep="|")
"""


def hostile(tmp_path, *scales, max_iter=20_000):
    """Fit in another process, where a hang can be ended and a crash is seen."""
    program = tmp_path / "hostile.py"
    program.write_text(HOSTILE)
    ended = subprocess.run(
        [sys.executable, str(program), str(max_iter), *scales],
        env=os.environ | {"PYTHONPATH": str(Path(maxmargin.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-3000:]
    lines = [line.split("|") for line in ended.stdout.splitlines()]
    assert len(lines) == 28 * len(scales)
    for *_, kind, said in lines:
        if kind.endswith("Error"):
            words = ("scale the features", "StandardScaler", "overlap", "finite C")
            assert any(word in said for word in words), said
    return lines


def test_hostile_scales(tmp_path):
    lines = hostile(tmp_path, "huge", "tiny", "denormal", "decades", "unit")
    ends = {tuple(line[:4]): line[4] for line in lines}
    # An ordinary cloud at an ordinary price must simply work.
    for kernel in ("linear", "rbf", "poly"):
        for loss in ("hinge", "squared_hinge"):
            assert ends["unit", kernel, "1.0", loss] == "converged"
    # The Gaussian kernel with its own gamma sees no scale within reason.
    assert ends["huge", "linear", "1.0", "hinge"] == "InputError"


def test_hostile_scales_around_the_range_of_float32(tmp_path):
    lines = hostile(tmp_path, "large", "small", "top")
    ends = {tuple(line[:4]): line[4] for line in lines}
    assert ends["large", "rbf", "1.0", "hinge"] == "converged"
    assert ends["small", "rbf", "1.0", "hinge"] == "converged"


def gaussian_table(factor):
    X, y = cloud()
    return np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(2)) * factor, y


@pytest.mark.parametrize("factor", [1e-300, 1e-100, 1e-30, 1e30, 1e100, 1e290])
@pytest.mark.parametrize("C", [1.0, 1e10])
def test_precomputed_matrices_of_any_size(factor, C):
    K, y = gaussian_table(factor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = fit(K, y, kernel="precomputed", C=C, max_iter=20_000, tol=1e-3)
    assert np.isfinite(machine.decision_function(K)).all()
    assert (np.abs(machine.dual_coef_) <= C).all()
    assert abs(machine.dual_coef_.sum()) <= 1e-8 * C * len(y)


@pytest.mark.parametrize(
    "factor",
    [1e-60, 1e-30, 1e30, 1e60],
)
def test_the_unit_of_a_precomputed_matrix_does_not_matter(factor):
    """K·c at the price C/c is the same problem, whatever float32 can hold."""
    (K, y), (scaled, _) = gaussian_table(1.0), gaussian_table(factor)
    one = fit(K, y, kernel="precomputed", tol=1e-6)
    other = fit(scaled, y, kernel="precomputed", C=1.0 / factor, tol=1e-6)
    assert other.certificate_.dual * factor == pytest.approx(one.certificate_.dual)
    assert other.n_iter_[0] <= 2 * one.n_iter_[0]


def test_a_precomputed_matrix_that_is_too_large():
    K, y = gaussian_table(1e302)
    with pytest.raises(InputError, match=r"not finite.*1e\+302.*overflows"):
        fit(K, y, kernel="precomputed")


def test_a_warning_carries_what_one_needs_to_know():
    X, y = cloud()
    with pytest.warns(ConvergenceWarning) as caught:
        machine = fit(X, y, C=1e6, max_iter=50, tol=1e-4)
    (one,) = caught
    text = str(one.message)
    assert f"violation {machine.certificate_.violation:.3g}" in text
    assert "tol 0.0001" in text
    assert "raise max_iter" in text
    assert machine.certificate_.violation > 1e-4
    assert not machine.certificate_.ok
    assert machine.fit_status_ == 1
    assert one.filename == __file__
