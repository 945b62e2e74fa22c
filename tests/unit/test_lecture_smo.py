"""The lectures' two SMOs: the step by its formulas, the choices, the words."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons

from maxmargin import (
    SVC,
    ConvergenceWarning,
    IndefiniteKernelWarning,
    InputError,
    certify,
    path,
)
from maxmargin.errors import Stop
from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import c_svc, epsilon_svr, model_of, objective
from maxmargin.solvers import Decomposition, PlattSmo, SimpleSmo, Smo, drive
from maxmargin.solvers.lectures import two_points as two

BOTH = [PlattSmo, SimpleSmo]


def made(n=40, seed=0, C=1.0, gamma=0.5, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    return K, y, c_svc(TableGram(K), y, np.broadcast_to(C, n).astype(float), **options)


# --- one step ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_step_is_the_optimum_on_its_segment(seed):
    """Against brute force along α_j, with the seeds' formulas for everything told."""
    rng = np.random.default_rng(seed)
    K, y, problem = made(12, seed, C=rng.uniform(0.5, 2.0, 12))
    C = np.maximum(problem.upper, -problem.lower)
    alpha = rng.uniform(0.0, 1.0, 12) * C * rng.integers(0, 2, 12)
    F, b = K @ (y * alpha) - y, rng.normal()
    i, j = rng.permutation(12)[:2]
    record = np.full(len(two.FIELDS), np.nan)
    code = two.try_pair(i, j, alpha, y, C, F, b, np.diag(K), K[i, j], 1e-12, 0.0, record)
    s = y[i] * y[j]
    if s < 0:
        low = max(0.0, alpha[j] - alpha[i])
        high = min(C[j], C[i] + alpha[j] - alpha[i])
    else:
        low = max(0.0, alpha[i] + alpha[j] - C[i])
        high = min(C[j], alpha[i] + alpha[j])

    def dual(a_j):
        a = alpha.copy()
        a[j], a[i] = a_j, alpha[i] + s * (alpha[j] - a_j)
        return a.sum() - 0.5 * (y * a) @ K @ (y * a)

    grid = np.linspace(min(low, high), max(low, high), 2001)
    if code == two.NOWHERE:  # there is no segment, or its best point is where we are
        assert high - low < 1e-12 or max(map(dual, grid)) <= dual(alpha[j]) + 1e-12
        return
    told = dict(zip(two.FIELDS, record, strict=True))
    assert (told["L"], told["H"]) == pytest.approx((low, high))
    assert told["E_i"] == pytest.approx(F[i] + b)
    assert told["eta"] == pytest.approx(K[i, i] + K[j, j] - 2 * K[i, j])

    assert dual(told["alpha_j"]) >= max(map(dual, grid)) - 1e-12
    assert told["gain"] == pytest.approx(
        dual(told["alpha_j"]) - dual(alpha[j]), abs=1e-12
    )
    new = alpha.copy()
    new[[i, j]] = told["alpha_i"], told["alpha_j"]
    assert y @ new == pytest.approx(y @ alpha, abs=1e-14)
    f = K @ (y * new)
    # b₁ makes the error of i zero, b₂ that of j: S3 prints the wrong error in b₂
    assert f[i] + told["b1"] == pytest.approx(y[i])
    assert f[j] + told["b2"] == pytest.approx(y[j])
    free_i, free_j = 0 < new[i] < C[i], 0 < new[j] < C[j]
    mean = 0.5 * (told["b1"] + told["b2"])
    want = told["b1"] if free_i else told["b2"] if free_j else mean
    assert told["b"] == want


@pytest.mark.parametrize("make", BOTH)
def test_snapshots_tell_what_happened(make):
    K, y, problem = made()
    alpha, b, dual = np.zeros(40), 0.0, 0.0
    for snapshot in make(tol=1e-5).steps(problem):
        step, beta = snapshot.step, snapshot.model.beta
        now = y @ beta - 0.5 * beta @ K @ beta
        if (beta == y * alpha).all():  # the last look finds nothing to do
            assert snapshot.status.stop is Stop.CONVERGED
            assert step.words.startswith("Nothing is left to do")
            assert step["b"] == pytest.approx(b, abs=1e-5)  # the mean over free points
            mean = model_of(problem, beta, K @ beta - y).bias
            assert step["b"] == pytest.approx(mean, rel=1e-12)
            break
        i, j = step.points
        assert (step["i"], step["j"]) == (i, j)
        changed = np.flatnonzero(beta != y * alpha)
        assert set(changed) <= {i, j}
        assert step["alpha_i_before"] == alpha[i]
        assert step["b_before"] == b
        assert step["E_j"] == pytest.approx(K[j] @ (y * alpha) + b - y[j])
        assert snapshot.model.bias == step["b"]  # pictures show the b that is told
        assert step["gain"] == pytest.approx(now - dual, abs=1e-12)
        assert step["gain"] > -1e-15  # a step to a bound may be mere rounding
        assert step["L"] <= step["alpha_j"] <= step["H"]
        assert step["clipped"] == (step["alpha_j"] != step["alpha_j_unclipped"])
        for part in ("η = ", "[L, H] = ", "E_i = ", "the dual rises by ", "b "):
            assert part in step.words
        assert ("is clipped" in step.words) == step["clipped"]
        alpha, b, dual = np.abs(beta), step["b"], now
    assert dual > 1.0


def test_platt_says_who_chose_the_partner():
    _, _, problem = made()
    words = " ".join(str(s.step) for s in PlattSmo(tol=1e-4).steps(problem))
    assert "Sweep over all points" in words
    assert "Sweep over the non-bound points" in words
    assert "has the largest |E_i − E_j|" in words
    assert "no non-bound point makes a step" in words


# --- curvature that is not positive -----------------------------------------------------


@pytest.mark.parametrize("make", BOTH)
def test_equal_points_with_either_label(make):
    """η = 0: the step goes to the end of its segment."""
    X = np.repeat(np.arange(4.0), 4)[:, None]
    y = np.tile([1.0, 1.0, 1.0, -1.0], 4)
    K = X @ X.T + 1.0
    problem = c_svc(TableGram(K), y, np.full(16, 0.7))
    flat = [s.step for s in make().steps(problem) if s.step.numbers.get("eta") == 0.0]
    assert flat
    assert all("η is not positive" in step.words for step in flat)
    assert all(step["alpha_j"] in (step["L"], step["H"]) for step in flat)
    mine, best = drive(make(tol=1e-8), problem), drive(Smo(tol=1e-10), problem)
    assert mine.stop is Stop.CONVERGED
    assert objective(problem, mine.model).dual == pytest.approx(
        objective(problem, best.model).dual, rel=1e-9
    )


def test_an_indefinite_kernel():
    """η < 0: Platt compares the ends; the dual rises all the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.sign(rng.normal(size=60))
    K = np.tanh(0.8 * X @ X.T - 1.0)
    problem = c_svc(TableGram(K), y, np.ones(60))
    gains, below = [], 0
    for snapshot in PlattSmo().steps(problem):
        if snapshot.step.points:
            gains.append(snapshot.step["gain"])
            below += snapshot.step["eta"] < -1e-6
    assert below > 0
    assert min(gains) > 0.0
    assert snapshot.status.stop is Stop.CONVERGED
    with pytest.warns(IndefiniteKernelWarning):
        machine = SVC(kernel="precomputed", solver="smo-platt").fit(K, y)
    assert machine.certificate_.ok


# --- what they can do, and what they say they cannot ------------------------------------


@pytest.mark.parametrize("make", BOTH)
def test_hard_margin(make):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 2.0], [0.0, 1.0]])
    y = np.array([-1, -1, 1, 1, -1])
    problem = SVC(C=np.inf, kernel="linear").problem(X, y)
    mine, best = drive(make(tol=1e-9), problem), drive(Smo(tol=1e-9), problem)
    assert mine.stop is Stop.CONVERGED
    np.testing.assert_allclose(mine.model.beta, best.model.beta, atol=1e-8)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("twins", [False, True])
def test_hard_margin_of_classes_that_overlap(make, twins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0.0, 1, -1)
    if twins:  # η = 0 between them, and no end of the segment
        X[1], y[1] = X[0], -y[0]
    problem = SVC(C=np.inf, kernel="linear").problem(X, y)
    assert drive(make(), problem).stop is Stop.UNBOUNDED
    with pytest.raises(InputError, match="C=inf: a hard margin needs classes that can"):
        SVC(C=np.inf, kernel="linear", solver=make()).fit(X, y)


INTEGERS = np.array(
    [[-6, -1], [-1, -1], [-1, 0], [3, 0], [-3, -5], [4, 4], [-3, 4], [0, 1]], float
)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("C", [0.003, 0.00352245, 0.01])
def test_a_point_a_rounding_away_from_its_bound_gets_there(make, C):
    """Steps shorter than rounding of α: without them every fifth seed stalled."""
    y = np.array([0, 1, 1, 1, 1, 0, 1, 0])
    problem = SVC(C=C, kernel="linear").problem(INTEGERS, y)
    ends = {drive(make(tol=1e-6, seed=seed), problem).stop for seed in range(60)}
    assert ends == {Stop.CONVERGED}


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("scale", [1e-300, 1e-25, 1e6])
def test_any_size_of_C(make, scale):
    _, _, problem = made(C=scale)
    mine, best = drive(make(), problem), drive(Smo(), problem)
    assert mine.stop is Stop.CONVERGED
    assert objective(problem, mine.model).dual == pytest.approx(
        objective(problem, best.model).dual, rel=1e-3
    )


def test_one_point_alone():
    problem = c_svc(TableGram(np.ones((1, 1))), np.ones(1), np.ones(1))
    for make in BOTH:
        assert drive(make(), problem).model.beta.tolist() == [0.0]


@pytest.mark.parametrize("make", BOTH)
def test_squared_hinge_and_weights(make):
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 4.0], 40)
    _, _, problem = made(C=weight, squared=True)
    mine, best = drive(make(tol=1e-8), problem), drive(Smo(tol=1e-10), problem)
    assert mine.stop is Stop.CONVERGED
    np.testing.assert_allclose(mine.model.beta, best.model.beta, atol=1e-7)
    assert not mine.model.beta[weight == 0.0].any()


@pytest.mark.parametrize("make", BOTH)
def test_only_margins_with_an_intercept(make):
    K, y, problem = made(fit_intercept=False)
    with pytest.raises(InputError, match=r"with an intercept.*fit_intercept=True"):
        make().start(problem)
    with pytest.raises(InputError, match="solves the margin problem"):
        make().start(epsilon_svr(TableGram(K), y, np.ones(40), 0.1))


def test_simple_gives_up_honestly():
    """A pass that draws the wrong partners for too long is no convergence."""
    _, _, problem = made(200, seed=3)
    end = drive(SimpleSmo(tol=1e-10, max_passes=1), problem)
    assert end.stop is Stop.MAX_ITER
    assert objective(problem, end.model).gap > 0.0
    last = SimpleSmo(tol=1e-10).explain(problem, end.state)
    assert last.words.startswith("Pair")  # it does not claim that nothing is left
    with pytest.raises(InputError, match="max_passes=0"):
        SimpleSmo(max_passes=0).start(problem)


def test_seeds_matter_and_repeat():
    _, _, problem = made()
    first = drive(SimpleSmo(seed=1), problem).model.beta
    assert (first == drive(SimpleSmo(seed=1), problem).model.beta).all()
    assert (first != drive(SimpleSmo(seed=2), problem).model.beta).any()


# --- through SVC ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "solver", ["smo-platt", "smo-simple", "decomposition", "chunking", "qp"]
)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_svc_of_three_classes_with_weights(solver, layout):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 3.0], y.size)
    best = SVC(tol=1e-7).fit(X, y, weight)
    mine = SVC(solver=solver, tol=1e-6, random_state=0).fit(layout(X), y, weight)
    for one, two_ in zip(
        mine.certificate_.problems, best.certificate_.problems, strict=True
    ):
        assert one.dual == pytest.approx(two_.dual, rel=1e-8)
        assert one.violation <= 1e-6
    assert certify(mine, layout(X), y, sample_weight=weight).ok
    np.testing.assert_array_equal(mine.predict(layout(X)), best.predict(X))


def test_a_path_of_pegasos_begins_anew_at_every_C():
    X, y = make_moons(60, noise=0.25, random_state=0)
    machine = SVC(solver="pegasos", fit_intercept=False, random_state=0)
    for C, one in zip([0.1, 1.0, 10.0], path(machine, X, y, [0.1, 1, 10]), strict=True):
        assert one.C == C
        assert one.certificate_.relative_gap <= 0.01
        assert certify(one, X, y).ok


def test_a_clock_stops_qp_between_problems():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 4, 400)
    with pytest.warns(ConvergenceWarning, match=r"time limit was reached in \d of 6"):
        machine = SVC(solver="qp", time_limit=0.05).fit(X, y)
    assert not machine.certificate_.ok


def test_a_warning_names_the_tolerance_that_was_asked_for():
    X, y = make_moons(60, noise=0.25, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"tol 1e-05\. The model"):
        SVC(solver=SimpleSmo(tol=1e-5, max_iter=2)).fit(X, y)


def test_a_solver_that_was_made():
    X, y = load_iris(return_X_y=True)
    made_one = Decomposition(q=4, tol=1e-5)
    machine = SVC(solver=made_one, tol=1e-3).fit(X, y)
    assert machine.certificate_.tol == 1e-5
    assert certify(machine, X, y).tol == 1e-5
    assert certify(machine, X, y).ok
    with pytest.raises(InputError, match=r"'smo-platt'.*or a solver of maxmargin"):
        SVC(solver="simplex").fit(X, y)
    with pytest.raises(InputError, match="a solver of maxmargin"):
        SVC(solver=Decomposition).fit(X, y)


def test_problem_of_a_machine():
    X, y = load_iris(return_X_y=True)
    machine = SVC()
    with pytest.raises(InputError, match="3 classes, which make 3 problems"):
        machine.problem(X, y)
    weight = np.where(np.arange(100) < 3, 0.0, 1.0)
    problem = machine.problem(X[:100], y[:100], weight)
    assert problem.n == 97
    assert not hasattr(machine, "n_features_in_")
    fitted = SVC().fit(X[:100], y[:100], weight)
    assert objective(problem, drive(Smo(), problem).model).dual == pytest.approx(
        fitted.certificate_.dual, rel=1e-3
    )
