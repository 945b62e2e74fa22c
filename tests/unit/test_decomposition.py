"""Decomposition: every step gains, and the end is the optimum."""

import copy
import pickle

import numpy as np
import pytest
from tests.conformance.problems import (
    BY_NAME,
    SMALL,
    check_optimum,
    plain,
    plain_dual,
    plain_kernel,
    run,
)

from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.table import TableGram
from maxmargin.parallel import Workers
from maxmargin.problem import c_svc, objective, scores, violation
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.lectures import decomposition as module
from maxmargin.solvers.lectures import subsets as _subsets
from maxmargin.solvers.lectures.decomposition import Decomposition, Phase, choice
from maxmargin.solvers.lectures.subsets import add_columns, attainable, gained, restricted

EVERY_KIND = ("heart-rbf", "heart-no-intercept", "heart-squared-hinge", "svr-weighted",
              "nu-svr", "nu-svc-weighted", "one-class")  # fmt: skip


def by_name(case):
    return case.name


def some(*names):
    return pytest.mark.parametrize("name", names)


# --- the answer -------------------------------------------------------------------------


@pytest.mark.parametrize("case", SMALL, ids=by_name)
def test_finds_the_optimum(case):
    check_optimum(Decomposition(tol=1e-7), case)


@pytest.mark.parametrize("q", [2, 3, 10, 1000])
@some(*EVERY_KIND)
def test_every_step_gains(name, q):
    case = BY_NAME[name]
    problem, K = case.build(), case.matrix()
    solver = Decomposition(q=q)
    dual = plain_dual(problem, K, solver.start(problem).beta)
    snapshots = list(solver.steps(problem))
    assert snapshots[-1].status is Status.CONVERGED
    for snapshot in snapshots:
        step, beta = snapshot.step, snapshot.state.beta
        now = plain_dual(problem, K, beta)
        assert step["gain"] > 0.0
        assert now >= dual - 1e-12 * abs(dual)
        assert step["gain"] == pytest.approx(now - dual, abs=1e-10 * abs(now))
        assert step["dual"] == pytest.approx(now, rel=1e-9)
        assert step["violation"] > solver.tol
        assert len(step.points) == step["members"] <= min(q, problem.n)
        dual = now
    worst = violation(problem, beta, plain(case, beta).gradient)
    assert worst <= solver.tol * (1.0 + 1e-9)
    if q >= problem.n:
        assert len(snapshots) == 1


def test_gains_near_the_optimum_are_not_lost_in_the_dual():
    """They are far below the last bit of the dual, and yet positive."""
    case = BY_NAME["heart-rbf"]
    gains = [one.step["gain"] for one in Decomposition(tol=1e-9).steps(case.build())]
    assert 0.0 < min(gains) < 1e-16 * sum(gains)


# --- the working set --------------------------------------------------------------------


@some(*EVERY_KIND)
@pytest.mark.parametrize("q", [2, 3, 10])
def test_what_a_working_set_consists_of(name, q):
    case = BY_NAME[name]
    problem = case.build()
    solver = Decomposition(q=q)
    state = solver.start(problem)
    last, beta = np.empty(0, np.intp), state.beta.copy()
    for _ in range(40):
        F = plain(case, beta).gradient
        up, low = scores(problem, beta, F)
        status = solver.advance(problem, state, 1)
        members = state.members
        assert np.unique(members).size == members.size == min(q, problem.n)
        # the most violating pair, or without a sum the worst point
        if problem.sums:
            sides = [problem.side == side for side in range(len(problem.sums))]
            worst = max(
                violation(restricted(problem, np.flatnonzero(one)), beta[one], F[one])
                for one in sides
            )
            mine = [np.intersect1d(members, np.flatnonzero(one)) for one in sides]
            found = [low[at].max(initial=-9e9) - up[at].min(initial=9e9) for at in mine]
            assert max(found) == pytest.approx(worst, abs=1e-9)
        else:
            merit = np.maximum(-up, low)
            assert merit[members].max() == pytest.approx(merit.max(), abs=1e-9)
        # Osuna's swap: those inside their box stay, as long as half is left to others
        inside = last[up[last] == low[last]]
        assert np.intersect1d(inside, members).size >= min(
            inside.size, q - max(2, q // 2)
        )
        assert state.report.entered == np.setdiff1d(members, last).size
        if inside.size >= q - q // 2 and q > 3:
            assert state.report.entered <= q // 2
        last, beta = members.copy(), state.beta.copy()
        if status is not Status.RUNNING:
            break


def test_joachims_takes_half_of_each_kind():
    problem = c_svc(TableGram(np.eye(8)), np.tile([1.0, -1.0], 4), np.ones(8))
    F = np.array([-4.0, 4.0, -3.0, 3.0, -2.0, 2.0, -1.0, 1.0])
    chosen = choice(problem, np.zeros(8), F, np.empty(0, np.intp), 4)
    assert chosen.tolist() == [0, 1, 2, 3]
    # one violator that rises is worth as many places as there are others that fall
    F = np.array([-4.0, 4.0, 9.0, 3.0, 9.0, 2.0, 9.0, 1.0])
    chosen = choice(problem, np.zeros(8), F, np.empty(0, np.intp), 4)
    assert chosen.tolist() == [0, 1, 3, 5]


def test_points_that_cannot_move_are_never_chosen():
    weight = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 1.0])
    problem = c_svc(TableGram(np.eye(6)), np.tile([1.0, -1.0], 3), weight)
    chosen = choice(problem, np.zeros(6), problem.p, np.empty(0, np.intp), 6)
    assert chosen.tolist() == [0, 1, 4, 5]


@pytest.mark.parametrize("q", [-1, 0, 1, 1001])
def test_q_has_bounds(q):
    with pytest.raises(InputError, match=rf"q={q}: a working set has 2 to 1000 points"):
        Decomposition(q=q)


@pytest.mark.parametrize("q", [2.5, "10", None, True])
def test_q_is_an_integer(q):
    with pytest.raises(InputTypeError, match="must be an integer"):
        Decomposition(q=q)


def test_memory_must_hold_a_working_set():
    problem = BY_NAME["heart-rbf"].build()
    with pytest.raises(InputError, match=r"100 points need 80000 bytes.*smaller q"):
        Decomposition(q=100, cache_bytes=79_999).start(problem)
    Decomposition(q=100, cache_bytes=80_000).start(problem)
    Decomposition(q=1000, cache_bytes=8 * 270**2).start(problem)  # q > n means n


# --- the contract -----------------------------------------------------------------------


@some("heart-rbf", "nu-svr", "heart-no-intercept")
def test_goes_on_from_a_copy_or_a_pickle(name):
    case = BY_NAME[name]
    solver, problem = Decomposition(), case.build()
    whole = run(solver, problem)
    for cut in (0, 1, 7):
        state = solver.start(problem)
        assert solver.advance(problem, state, cut) is Status.RUNNING
        for other in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert solver.explain(problem, other) == solver.explain(problem, state)
            assert run(solver, problem, state=other).same_as(whole)
        assert run(solver, problem, budget=3, state=state).same_as(whole)


@pytest.mark.parametrize("limit", [0, 1, 10, 37])
@some("heart-rbf", "nu-svc", "heart-no-intercept")
def test_max_iter_is_exact(name, limit):
    case = BY_NAME[name]
    problem, solver = case.build(), Decomposition(max_iter=limit)
    end = run(solver, problem)
    assert end.status is Status.MAX_ITER
    assert end.n_iter == limit
    exact = plain(case, end.model.beta)
    assert np.abs(exact.gradient - end.model.gradient).max() <= 1e-9
    assert run(solver, problem, budget=1).same_as(end)


@some("svr-no-tube", "nu-svc", "heart-no-intercept")
def test_long_work_is_cut_into_units(name, monkeypatch):
    """Programmes and gradients that take several units come to the same answer."""
    case = BY_NAME[name]
    whole = run(Decomposition(q=50, tol=1e-8), case.build())
    monkeypatch.setattr(module, "SLICE", 3000)
    monkeypatch.setattr(_subsets, "SLICE", 3000)
    solver, problem = Decomposition(q=50, tol=1e-8), case.build()
    seen, words, dual = set(), "", -np.inf
    for snapshot in solver.steps(problem):
        seen.add(snapshot.state.phase)
        words += str(snapshot.step)
        exact = plain(case, snapshot.model.beta)
        assert np.abs(exact.gradient - snapshot.model.gradient).max() <= 1e-9
        now = objective(problem, exact).dual
        assert now >= dual - 1e-12 * abs(now)
        dual = now
    assert snapshot.status is Status.CONVERGED
    assert seen == set(Phase)
    assert "goes on" in words
    assert "Gradient anew" in words
    best = objective(problem, plain(case, whole.model.beta)).dual
    assert dual == pytest.approx(best, rel=1e-9)


def test_the_figures_are_those_of_the_last_complete_gradient(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 3000)
    monkeypatch.setattr(_subsets, "SLICE", 3000)
    case = BY_NAME["svr-no-tube"]
    solver, problem = Decomposition(q=50), case.build()
    state = solver.start(problem)
    solver.advance(problem, state, 1)
    assert state.phase is Phase.SOLVE
    assert state.pairs > 0
    assert solver.measure(problem, state).dual == 0.0  # β = 0 is all that is known
    assert solver.model(problem, state).beta.any()
    nu = BY_NAME["nu-svc"].build()
    start = Decomposition().start(nu)
    assert Decomposition().measure(nu, start).gap == np.inf


def test_drift_is_found_out():
    """A wrong gradient does not pass: the last one is computed anew."""
    case = BY_NAME["heart-rbf"]
    solver, problem = Decomposition(), case.build()
    state = solver.start(problem)
    solver.advance(problem, state, 20)
    state.gradient += 0.01 * np.sin(np.arange(problem.n))
    end = run(solver, problem, state=state)
    assert end.status is Status.CONVERGED
    exact = plain(case, end.model.beta)
    assert violation(problem, end.model.beta, exact.gradient) <= 1e-3 * (1 + 1e-9)


@pytest.mark.parametrize("tol", [0.0, 1e-16])
def test_a_tolerance_below_rounding_stalls(tol):
    case = BY_NAME["heart-rbf"]
    end = run(Decomposition(tol=tol), case.build())
    assert end.status is Status.STALLED
    exact = plain(case, end.model.beta)
    assert violation(case.build(), end.model.beta, exact.gradient) <= 1e-13


def separated(gap):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.sign(X[:, 0])
    X[:, 0] += gap * y
    return (
        X,
        y,
        c_svc(training_gram(Linear(), X, workers=Workers(1)), y, np.full(200, np.inf)),
    )


@pytest.mark.parametrize("q", [2, 10, 1000])
def test_hard_margin(q):
    X, y, problem = separated(0.5)
    end = run(Decomposition(q=q, tol=1e-6), problem)
    assert end.status is Status.CONVERGED
    f = plain_kernel(Linear(), X, X) @ end.model.beta + end.model.bias
    assert (y * f).min() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("q", [10, 1000])
def test_hard_margin_of_classes_that_overlap(q):
    assert run(Decomposition(q=q), separated(-0.3)[2]).status is Status.UNBOUNDED


def test_an_optimal_start_needs_no_working_set():
    case = BY_NAME["heart-rbf"]
    solver, problem = Decomposition(), case.build()
    first = run(solver, problem)
    (only,) = solver.steps(problem, warm=first.model.beta)
    assert only.status is Status.CONVERGED
    assert only.n_iter == 0
    assert str(only.step).startswith("No working set is needed: the violation is 0.000")
    assert only.step.points == ()


def test_overflow_is_an_error():
    K = np.full((4, 4), 1e308)
    problem = c_svc(TableGram(K), np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 1e200))
    warm = np.array([1e200, 1e200, -1e200, -1e200])
    with np.errstate(all="ignore"), pytest.raises(NumericalError, match="overflows"):
        run(
            Decomposition(),
            problem,
            state=Decomposition().start(problem, problem.warm_start(warm)),
        )


def test_what_is_told():
    case = BY_NAME["heart-rbf"]
    solver, problem = Decomposition(), case.build()
    assert str(solver.explain(problem, solver.start(problem))) == "Nothing done yet."
    first, *_, last = solver.steps(problem)
    assert set(first.step.numbers) == {
        "set", "members", "entered", "violation", "pairs", "gain", "dual", "b",
    }  # fmt: skip
    assert first.step["set"] == 1
    assert first.step["entered"] == first.step["members"] == 10
    assert first.step["violation"] == 2.0
    assert first.step["pairs"] == first.n_iter
    assert str(first.step).startswith(
        "Working set 1: 10 points, 10 of them new, for a violation of 2; "
        f"{first.step['pairs']} pairs raised the dual by "
    )
    assert f"to {last.measures.dual:.8g}." in str(last.step)
    outcome = drive(solver, problem)
    assert outcome.n_iter == last.n_iter


# --- what it shares with chunking -------------------------------------------------------


def test_parts():
    case = BY_NAME["svr-weighted"]
    problem, K = case.build(), case.matrix()
    rng = np.random.default_rng(0)
    old = rng.normal(size=problem.n)
    old -= old.mean()
    new = old.copy()
    new[:9] += rng.normal(size=9)
    new[9] -= (new - old).sum()  # Σβ is kept
    at = np.arange(10)
    F, G = (K @ beta + problem.ridge * beta + problem.p for beta in (old, new))
    difference = plain_dual(problem, K, new) - plain_dual(problem, K, old)
    told = gained(problem, at, (old[at], F[at]), (new[at], G[at]))
    assert told == pytest.approx(difference, rel=1e-12)
    moved = F.copy()
    add_columns(problem, at, new[at] - old[at], moved)
    np.testing.assert_allclose(moved, G, atol=1e-12)
    assert attainable(1e-3, F) == 1e-3
    assert attainable(0.0, np.array([1.0, -1024.0])) == 2.0**-40


def test_kernel_values_are_those_of_the_members():
    """n·q a step and q² for its block: nothing else is asked of the kernel."""
    X = BY_NAME["heart-rbf"].points().X
    gram = training_gram(RBF(gamma=1.0 / 13.0), X, workers=Workers(1))
    problem = c_svc(gram, BY_NAME["heart-rbf"].points().y, np.ones(270))
    before = gram.n_kernel
    next(iter(Decomposition(q=10).steps(problem)))
    assert gram.n_kernel - before <= 270 * 10 + 10 * 10
