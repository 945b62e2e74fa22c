"""Crammer and Singer's machine: the block of one point, the problem, the contract."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from maxmargin.errors import InputError, NumericalError, Stop
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.table import TableGram
from maxmargin.parallel import Workers
from maxmargin.problem import (
    JointModel,
    JointProblem,
    joint_dual,
    joint_imbalance,
    joint_objective,
    joint_violation,
)
from maxmargin.solvers.base import Status, drive, steps
from maxmargin.solvers.classes import blocks as _class_blocks
from maxmargin.solvers.classes.crammer_singer import CrammerSinger, feasible

BUDGETS = (1, 7, 10**9)


def blobs(n=120, n_classes=4, seed=0, spread=3.0):
    return make_blobs(n, 3, centers=n_classes, cluster_std=spread, random_state=seed)


def problem_of(X, codes, C=1.0, kernel=None, n_jobs=1, n_classes=None):
    gram = training_gram(kernel or RBF(gamma=0.1), X, workers=Workers(n_jobs))
    prices = np.full(len(codes), C) if np.ndim(C) == 0 else C
    return JointProblem(
        gram, codes.astype(np.intp), prices, n_classes or int(codes.max()) + 1
    )


def rbf(X, gamma=0.1):
    return np.exp(-gamma * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))


def recomputed(problem, K, beta):
    """The model of β from a kernel matrix made by NumPy."""
    return JointModel(beta, K @ beta + problem.offset)


def assert_feasible(problem, beta):
    assert (beta <= problem.upper).all()
    assert joint_imbalance(beta) < 1e-14


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one[:2], other[:2], strict=True))


# -- the block of one point ------------------------------------------------------------


def by_bisection(A, C, y, B):
    """The same minimiser, from λ found by halving an interval."""
    upper = np.where(np.arange(B.size) == y, C, 0.0)
    low, high = B.min() - A * C - 1.0, B.max() + A * C + 1.0
    for _ in range(200):
        level = 0.5 * (low + high)
        if np.minimum(upper, (level - B) / A).sum() < 0.0:
            low = level
        else:
            high = level
    return np.minimum(upper, (level - B) / A)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 60])
def test_block_is_the_exact_minimiser(n_classes):
    rng = np.random.default_rng(n_classes)
    bound = 0
    for trial in range(300):
        A, C = 10.0 ** rng.uniform(-3, 3, 2)
        y = int(rng.integers(n_classes))
        B = rng.normal(size=n_classes) * 10.0 ** rng.uniform(-2, 2)
        if trial % 3 == 0:
            B = np.round(B)  # ties
        found = np.empty(n_classes)
        _class_blocks.minimise(A, C, y, B, found)
        rounding = 1e-9 * C + 1e-14 * np.abs(B).max() / A
        np.testing.assert_allclose(found, by_bisection(A, C, y, B), atol=rounding)
        assert abs(found.sum()) <= 1e-14 * np.abs(found).sum()
        assert found[y] <= C
        bound += found[y] == C
    assert 30 < bound < 270  # both branches were taken


def test_block_at_extreme_prices():
    B, found = np.array([0.0, 1.0, 1.0, -2.0]), np.empty(4)
    _class_blocks.minimise(1.0, 1e300, 0, B, found)
    np.testing.assert_allclose(found, [2 / 3, -1 / 3, -1 / 3, 0.0], rtol=1e-15)
    _class_blocks.minimise(1e-200, 1e-200, 0, B, found)  # A·C vanishes beside B
    assert found[0] == 1e-200 == -found[1:].sum()
    _class_blocks.minimise(1.0, 1.0, 1, B, found)
    assert not found.any()  # a tie with the own class is no reason to move


def prepared():
    """Arguments of sweep() for a small working set at β = 0, but for the last three."""
    X, codes = blobs(40)
    K = rbf(X)
    problem = problem_of(X, codes)
    G, beta = np.ascontiguousarray(problem.offset.T), np.zeros((40, 4))
    fixed = problem.codes, problem.C, K.diagonal().copy()
    W = _class_blocks.WorkingSet(K, G, beta, *fixed, G.copy(), beta.copy())
    return W, np.array([0, 1, 0]), np.zeros(1)


def test_pauses_change_nothing_and_are_not_taken_for_the_end():
    whole = prepared()
    code, done = _class_blocks.sweep(*whole, 1e-8, 10**9, 10**9)
    assert code == _class_blocks.CONVERGED
    for limit, work in ((1, 10**9), (10**9, 1), (3, 500)):
        parts, total = prepared(), 0
        code = _class_blocks.PAUSED
        while code == _class_blocks.PAUSED:
            code, more = _class_blocks.sweep(*parts, 1e-8, limit, work)
            assert more <= limit
            total += more
        assert code == _class_blocks.CONVERGED
        assert total == done
        assert np.array_equal(parts[0].G, whole[0].G)
        assert np.array_equal(parts[0].beta, whole[0].beta)


def test_leaps_keep_the_gradient_and_the_sums():
    args = prepared()
    K, G, beta, codes, C, *_ = args[0]
    problem = JointProblem(TableGram(K), codes, C, 4)
    paused, dual = _class_blocks.PAUSED, 0.0
    while paused == _class_blocks.PAUSED:
        paused, _ = _class_blocks.sweep(*args, 1e-8, 10**9, 1)
        exact = recomputed(problem, K, beta)
        np.testing.assert_allclose(G.T, exact.gradient, atol=1e-12)
        assert_feasible(problem, beta)
        now = joint_dual(problem, beta, exact.gradient)
        assert now >= dual - 1e-12
        dual = now


def test_a_sweep_that_cannot_move_says_so():
    code, _ = _class_blocks.sweep(*prepared(), -1.0, 10**6, 10**9)  # none is below 0
    assert code == _class_blocks.STUCK


# -- the problem -----------------------------------------------------------------------


def test_objective_by_hand():
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    C = np.array([3.0, 5.0])
    problem = JointProblem(TableGram(K), np.array([0, 2]), C, 3)
    beta = np.array([[1.0, -0.25, -0.75], [-2.0, 0.0, 2.0]])
    f = K @ beta
    model = JointModel(beta, f + problem.offset)
    loss = [
        max(0.0, 1 + f[0, 1] - f[0, 0], 1 + f[0, 2] - f[0, 0]),
        max(0.0, 1 + f[1, 0] - f[1, 2], 1 + f[1, 1] - f[1, 2]),
    ]
    norms = np.trace(beta.T @ K @ beta)
    both = joint_objective(problem, model)
    assert both.primal == pytest.approx(0.5 * norms + C @ loss)
    dual = -0.5 * norms - (beta[0, 1:].sum() + beta[1, :2].sum())
    assert both.dual == pytest.approx(dual) == joint_dual(problem, beta, model.gradient)
    G = model.gradient  # class 1 of the second point is at its bound 0
    by_hand = max(np.ptp(G[0]), G[1].max() - min(G[1, 0], G[1, 2]))
    assert joint_violation(problem, beta, model.gradient) == pytest.approx(by_hand)


def test_a_point_without_price_violates_nothing():
    problem = JointProblem(
        TableGram(np.eye(2)), np.array([0, 1]), np.array([1.0, 0.0]), 2
    )
    beta = np.array([[0.5, -0.5], [0.0, 0.0]])
    model = recomputed(problem, np.eye(2), beta)
    assert joint_violation(problem, *model[:2]) == 0.0
    assert joint_objective(problem, model).gap == 0.0


@pytest.mark.parametrize(
    ("codes", "C", "n_classes", "match"),
    [
        ([0, 1], [1.0], 2, "shape"),
        ([0, 1], [1.0, 1.0], 1, "at least two"),
        ([0, 2], [1.0, 1.0], 2, "from 0 to 2"),
        ([-1, 1], [1.0, 1.0], 2, "from -1 to 1"),
        ([0, 1], [1.0, np.inf], 2, "finite"),
        ([0, 1], [1.0, -1.0], 2, "not negative"),
        ([0, 1], [1.0, np.nan], 2, "finite"),
    ],
)
def test_bad_problems(codes, C, n_classes, match):
    with pytest.raises(InputError, match=match):
        JointProblem(TableGram(np.eye(2)), np.array(codes), np.array(C), n_classes)


# -- the contract ----------------------------------------------------------------------


NAMES = ("small", "tight", "little cache", "float32", "float32 fails")


@cache
def case(name):
    """A solver and a problem; 1300 points are enough to begin in float32."""
    if name.startswith("float32"):
        X, codes = blobs(1300, 5, seed=1)
        if name == "float32":
            return CrammerSinger(cache_bytes=4 * 300**2), problem_of(X, codes, 5.0)
        return CrammerSinger(tol=1e-8), problem_of(X, codes)
    X, codes = blobs()
    solver = {
        "small": CrammerSinger(),
        "tight": CrammerSinger(tol=1e-9),
        "little cache": CrammerSinger(tol=1e-5, cache_bytes=8 * 20**2),
    }[name]
    return solver, problem_of(X, codes, 10.0 if name == "tight" else 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_converged_means_optimal(name):
    solver, problem = case(name)
    X = blobs()[0] if problem.n == 120 else blobs(1300, 5, seed=1)[0]
    outcome = drive(solver, problem)
    assert outcome.stop is Stop.CONVERGED
    exact = recomputed(problem, rbf(X), outcome.model.beta)
    assert_feasible(problem, exact.beta)
    rounding = 1e-14 * np.abs(exact.beta).sum()
    assert joint_violation(problem, *exact[:2]) <= solver.tol + rounding
    both = joint_objective(problem, exact)
    assert -1e-9 * both.primal <= both.gap <= solver.tol * problem.C.sum() + rounding
    np.testing.assert_allclose(outcome.model.gradient, exact.gradient, atol=1e-9)
    figures = solver.measure(problem, outcome.state)
    assert figures.primal == pytest.approx(both.primal, rel=1e-9)
    assert figures.violation <= solver.tol
    assert outcome.n_iter == solver.n_iter(outcome.state) > 0
    assert problem.gram.n_kernel > 0


@pytest.mark.parametrize("name", NAMES)
def test_budget_does_not_matter(name):
    solver, problem = case(name)
    models = []
    for budget in BUDGETS:
        state = solver.start(problem)
        while (status := solver.advance(problem, state, budget)) is Status.RUNNING:
            pass
        assert status is Status.CONVERGED
        models.append(solver.model(problem, state))
    assert same_bits(models[0], models[1])
    assert same_bits(models[0], models[2])


@pytest.mark.parametrize("name", NAMES)
def test_resumes_after_a_pickle(name):
    solver, problem = case(name)
    whole = drive(solver, problem)
    state = solver.start(problem)
    status, turns = Status.RUNNING, 0
    while status is Status.RUNNING:
        status = solver.advance(problem, state, 1)
        solver.model(problem, state)  # looking changes nothing
        solver.measure(problem, state)
        state = pickle.loads(pickle.dumps(state))
        turns += 1
    assert turns > 4
    assert same_bits(solver.model(problem, state), whole.model)
    assert solver.n_iter(state) == whole.n_iter


def test_threads_do_not_matter():
    X, codes = blobs(1300, 5, seed=1)
    one, two = (drive(CrammerSinger(), problem_of(X, codes, n_jobs=n)) for n in (1, 2))
    assert same_bits(one.model, two.model)


def test_the_dual_rises_and_the_gap_closes():
    solver, problem = case("tight")
    duals = [shot.measures.dual for shot in steps(solver, problem)]
    assert (np.diff(duals) >= -1e-12 * abs(duals[-1])).all()
    assert shot_gap(solver, problem) < 1e-7


def shot_gap(solver, problem):
    return joint_objective(problem, drive(solver, problem).model).relative_gap


def test_a_tighter_tol_gives_a_smaller_gap():
    X, codes = blobs()
    problem = problem_of(X, codes, 10.0)
    gaps = [shot_gap(CrammerSinger(tol=tol), problem) for tol in (1e-1, 1e-3, 1e-6)]
    assert gaps[0] > gaps[1] > gaps[2] >= -1e-15


def test_a_stopped_run_goes_on():
    solver, problem = case("tight")
    whole = drive(solver, problem)
    short = replace(solver, max_iter=100)
    outcome = drive(short, problem)
    assert outcome.stop is Stop.MAX_ITER
    assert outcome.n_iter == 100
    assert_feasible(problem, outcome.model.beta)
    exact = recomputed(problem, rbf(blobs()[0]), outcome.model.beta)
    np.testing.assert_allclose(outcome.model.gradient, exact.gradient, atol=1e-10)
    on = drive(solver, problem, state=outcome.state)
    assert on.stop is Stop.CONVERGED
    assert same_bits(on.model, whole.model)


def test_an_observer_ends_the_run():
    class AfterThree:
        seen = 0

        def on_start(self, snapshot):
            assert snapshot.n_iter == 0

        def on_step(self, snapshot):
            self.seen += 1
            assert np.isfinite(snapshot.measures.gap)
            return Stop.CALLBACK if self.seen == 3 else None

        def on_stop(self, snapshot, stop):
            assert stop is Stop.CALLBACK

    solver, problem = case("float32")
    outcome = drive(solver, problem, observers=[AfterThree()])
    assert outcome.stop is Stop.CALLBACK
    assert_feasible(problem, outcome.model.beta)


def test_goes_on_from_a_solution():
    solver, problem = case("tight")
    first = drive(solver, problem)
    assert np.array_equal(feasible(problem, first.model.beta), first.model.beta)
    again = drive(solver, problem, warm=first.model.beta)
    assert again.stop is Stop.CONVERGED
    assert again.n_iter == 0
    assert np.array_equal(again.model.beta, first.model.beta)


@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_goes_on_at_another_price(factor):
    solver, problem = case("tight")
    other = replace(problem, C=factor * problem.C)
    warm = drive(solver, problem).model.beta
    solved = [drive(solver, other, warm=w).model for w in (warm, None)]
    values = [joint_objective(other, model).dual for model in solved]
    assert values[0] == pytest.approx(values[1], rel=1e-8)


def test_any_start_is_repaired():
    _, problem = case("small")
    rng = np.random.default_rng(0)
    assert_feasible(problem, feasible(problem, rng.normal(size=(120, 4))))
    with pytest.raises(InputError, match=r"\(120, 4\)"):
        feasible(problem, np.zeros(120))
    with pytest.raises(InputError, match="finite"):
        feasible(problem, np.full((120, 4), np.nan))


def test_memory_is_kept_within_the_promise():
    solver, problem = case("little cache")
    sizes = [shot.state.size for shot in steps(solver, problem)]
    assert max(sizes) == 20


# -- what the numbers mean -------------------------------------------------------------


def test_weights_are_repetitions():
    X, codes = blobs(60)
    times = np.arange(60) % 3  # some points not at all
    solver = CrammerSinger(tol=1e-9)
    weighted = drive(solver, problem_of(X, codes, 2.0 * times)).model
    rows = np.repeat(np.arange(60), times)
    repeated = drive(solver, problem_of(X[rows], codes[rows], 2.0)).model
    some = times > 0
    decisions = np.zeros_like(weighted.beta)
    np.add.at(decisions, rows, repeated.beta)
    np.testing.assert_allclose(rbf(X) @ decisions, rbf(X) @ weighted.beta, atol=1e-6)
    assert not weighted.beta[~some].any()


def test_names_of_classes_do_not_matter():
    X, codes = blobs()
    solver = CrammerSinger(tol=1e-9)
    turn = np.array([2, 0, 3, 1])
    plain, turned = (
        drive(solver, problem_of(X, c)).model.gradient for c in (codes, turn[codes])
    )
    np.testing.assert_allclose(turned[:, turn], plain, atol=1e-7)


def test_separable_classes_are_told_apart():
    X, codes = blobs(spread=0.5)
    model = drive(CrammerSinger(), problem_of(X, codes, 10.0, RBF(gamma=1.0))).model
    decisions = rbf(X, 1.0) @ model.beta
    assert (decisions.argmax(axis=1) == codes).all()
    assert (model.beta.any(axis=1)).mean() < 0.9


def test_a_class_without_points():
    X, codes = blobs()
    model = drive(CrammerSinger(tol=1e-8), problem_of(X, codes, n_classes=6)).model
    assert_feasible(problem_of(X, codes, n_classes=6), model.beta)
    assert (model.beta[:, 4:] <= 0.0).all()


# -- degenerate data -------------------------------------------------------------------


def test_points_that_contradict_each_other():
    X = np.zeros((30, 2))
    codes = np.arange(30) % 3
    problem = problem_of(X, codes, 4.0)
    outcome = drive(CrammerSinger(tol=1e-8), problem)
    assert outcome.stop is Stop.CONVERGED
    np.testing.assert_allclose(outcome.model.gradient, problem.offset, atol=1e-7)
    both = joint_objective(problem, outcome.model)
    assert both.primal == pytest.approx(30 * 4.0) == pytest.approx(both.dual)


def test_points_without_a_norm():
    X, codes = blobs(60)
    X[::4] = 0.0  # K_ii = 0
    problem = problem_of(X, codes, 2.0, Linear())
    outcome = drive(CrammerSinger(tol=1e-7), problem)
    assert outcome.stop is Stop.CONVERGED
    assert_feasible(problem, outcome.model.beta)
    both = joint_objective(problem, outcome.model)
    assert both.relative_gap < 1e-6
    # Σ e·β of such a point is −C: its loss is 1 whatever W is.
    own = outcome.model.beta[::4][np.arange(15), codes[::4]]
    np.testing.assert_allclose(own, 2.0)


def test_nothing_but_zeros():
    X, codes = np.zeros((9, 2)), np.arange(9) % 3
    problem = problem_of(X, codes, 2.0, Linear())
    outcome = drive(CrammerSinger(tol=1e-12), problem)
    assert outcome.stop is Stop.CONVERGED
    assert joint_objective(problem, outcome.model) == (18.0, 18.0)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_kernels_of_any_size(scale):
    X, codes = blobs(60)
    gram = TableGram(scale * rbf(X))
    problem = JointProblem(gram, codes.astype(np.intp), np.full(60, 1.0 / scale), 4)
    outcome = drive(CrammerSinger(tol=1e-6), problem)
    plain = drive(CrammerSinger(tol=1e-6), problem_of(X, codes))
    assert outcome.stop is Stop.CONVERGED
    np.testing.assert_allclose(outcome.model.gradient, plain.model.gradient, atol=1e-5)


def test_an_indefinite_kernel_ends():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(40, 40))
    K = K + K.T
    problem = JointProblem(TableGram(K), np.arange(40) % 4, np.ones(40), 4)
    outcome = drive(CrammerSinger(max_iter=2000), problem)
    assert outcome.stop in {Stop.CONVERGED, Stop.MAX_ITER, Stop.STALLED}
    assert_feasible(problem, outcome.model.beta)


def test_a_tol_below_rounding_ends():
    X, codes = blobs()
    outcome = drive(CrammerSinger(tol=0.0), problem_of(X, codes, 10.0))
    assert outcome.stop is Stop.STALLED
    assert joint_violation(problem_of(X, codes, 10.0), *outcome.model[:2]) < 1e-11


def test_values_that_overflow_are_an_error():
    gram = TableGram(
        np.array([[1e308, 0.0, 1e308], [0.0, 1e308, 0.0], [1e308, 0.0, 1e308]])
    )
    problem = JointProblem(gram, np.array([0, 1, 2]), np.full(3, 1e10), 3)
    with pytest.raises(NumericalError, match="overflow"):
        drive(CrammerSinger(), problem, warm=problem.upper - problem.upper[::-1])
