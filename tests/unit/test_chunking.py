"""Chunking: the eight steps, their memory, and the optimum at the end."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from tests.conformance.problems import (
    BY_NAME,
    SMALL,
    Points,
    check_optimum,
    plain,
    plain_dual,
    plain_kernel,
    run,
)
from tests.unit.toy_solver import DenseGram

from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.table import TableGram
from maxmargin.parallel import Workers
from maxmargin.problem import c_svc, objective, violation
from maxmargin.solvers.base import Status
from maxmargin.solvers.lectures import chunking as module
from maxmargin.solvers.lectures import subsets as _subsets
from maxmargin.solvers.lectures.chunk_state import Block
from maxmargin.solvers.lectures.chunking import Chunking
from maxmargin.solvers.lectures.subsets import restricted


def by_name(case):
    return case.name


def some(*names):
    return pytest.mark.parametrize("name", names)


def easy(n=3000):
    """Two clouds far apart: a handful of support vectors out of many points."""
    rng = np.random.default_rng(2)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 2.5 * y[:, None]
    return c_svc(training_gram(RBF(gamma=0.5), X, workers=Workers(1)), y, np.ones(n))


# --- the answer -------------------------------------------------------------------------


@pytest.mark.parametrize("case", SMALL, ids=by_name)
def test_finds_the_optimum(case):
    check_optimum(Chunking(chunk=50, tol=1e-7), case)


@pytest.mark.parametrize("chunk", [1, 7, 100, 10**6])
@some("heart-rbf", "heart-no-intercept", "svr-weighted", "nu-svc", "two-points",
      "contradictions")  # fmt: skip
def test_any_chunk_will_do(name, chunk):
    case = BY_NAME[name]
    problem = case.build()
    end = run(Chunking(chunk=chunk), problem)
    assert end.status is Status.CONVERGED
    exact = plain(case, end.model.beta)
    assert violation(problem, end.model.beta, exact.gradient) <= 1e-3 * (1 + 1e-9)


@some("heart-rbf", "heart-no-intercept", "nu-svr")
def test_classes_in_order(name):
    """The first chunks have one class only, so that b is not known for a while."""
    case = BY_NAME[name]
    X, y, C = case.points()
    order = np.argsort(y, kind="stable")
    points = Points(X[order], y[order], C[order])
    case = case._replace(points=lambda: points)
    problem = case.build()
    end = run(Chunking(chunk=10), problem)
    assert end.status is Status.CONVERGED
    exact = plain(case, end.model.beta)
    assert violation(problem, end.model.beta, exact.gradient) <= 1e-3 * (1 + 1e-9)


# --- the eight steps --------------------------------------------------------------------


@some("heart-rbf", "heart-squared-hinge", "heart-no-intercept", "svr", "nu-svc",
      "nu-svr-weighted", "one-class")  # fmt: skip
def test_the_eight_steps(name):
    """Every unit against a plain matrix, by what it was given and what it left."""
    case = BY_NAME[name]
    problem, K = case.build(), case.matrix()
    solver, n = Chunking(chunk=40, tol=1e-4), problem.n
    state = solver.start(problem)
    status, begin, unchanged, ignored_in_all = Status.RUNNING, 0, 0, 0
    beta, F = state.beta.copy(), plain(case, state.beta).gradient

    def among(points, beta, F):
        return violation(restricted(problem, points), beta[points], F[points])

    while status is Status.RUNNING:
        support = np.flatnonzero(beta)
        status = solver.advance(problem, state, 1)
        step = solver.explain(problem, state)
        new, G = state.beta.copy(), plain(case, state.beta).gradient
        subset = np.array(step.points, np.intp)
        # 1 and 4: the next chunk of the data, in the order given
        chunk = (begin + np.arange(40)) % n
        begin = (begin + 40) % n
        assert step["looked"] == (40 if step["chunk"] > 1 else
                                  np.union1d(chunk, support).size)  # fmt: skip
        # 5: who is ignored satisfies the margin condition beside the support vectors
        ignored = np.setdiff1d(chunk, np.union1d(subset, support))
        ignored_in_all += ignored.size
        if step["chunk"] > 1:
            assert among(np.union1d(ignored, support), beta, F) <= 1e-4 * (1 + 1e-9)
        # 2 and 6: the QP of the others and the support vectors, solved
        if step["members"]:
            assert np.isin(support, subset).all()
            assert step["members"] == np.unique(subset).size == subset.size
            assert among(subset, new, G) <= 0.25e-4 * (1 + 1e-9)
            assert np.isin(np.flatnonzero(beta != new), subset).all()
        # 3: only the support vectors are retained
        assert np.array_equal(np.sort(state.support), np.flatnonzero(new))
        assert step["support"] == state.support.size
        assert step["before"] == support.size
        # the dual rises whenever β changes
        now = plain_dual(problem, K, new)
        assert step["dual"] == pytest.approx(now, rel=1e-9)
        assert step["gain"] == pytest.approx(now - plain_dual(problem, K, beta), abs=1e-9)
        assert (step["gain"] > 0.0) == (step["pairs"] > 0) == (not (beta == new).all())
        unchanged = unchanged + 40 if step["pairs"] == 0 else 0
        # 7: back to step 4 …
        assert unchanged < n or status is not Status.RUNNING
        beta, F = new, G
    # 8: … until nothing changes for a whole round
    assert status is Status.CONVERGED
    assert unchanged >= n
    assert ignored_in_all > n // 2  # it is not that everybody is always taken along
    assert violation(problem, beta, F) <= 1e-4 * (1 + 1e-9)


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_a_quiet_round_proves_the_optimum(chunk):
    """Where no support vector is free, b is an interval that ignored points bound too.

    Without remembering these, and taking them along, a round would end quietly with a
    violation above tol, and the worst pair would need its extra QP.
    """
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(12, 2)), np.where(rng.random(12) < 0.5, 1.0, -1.0)
        K = X @ X.T
        problem = c_svc(TableGram(K), y, np.full(12, 0.05))
        snapshots = list(Chunking(chunk=chunk, tol=0.5).steps(problem))
        assert not any("one more try" in str(one.step) for one in snapshots)
        beta = snapshots[-1].state.beta
        assert snapshots[-1].status is Status.CONVERGED
        assert violation(problem, beta, K @ beta + problem.p) <= 0.5


# --- memory -----------------------------------------------------------------------------


def test_memory_is_that_of_the_subset():
    problem = easy()
    solver = Chunking(chunk=50)
    run(solver, problem)  # compiled, and the diagonal asked
    tracemalloc.start()
    state = solver.start(problem)
    while solver.advance(problem, state, 1) is Status.RUNNING:
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    step = solver.explain(problem, state)
    support = np.count_nonzero(state.beta)
    assert 0 < support < 200
    # the largest set of support vectors on the way was not much larger than the last
    assert step["peak_members"] <= 1.5 * support + 50
    assert step["peak_bytes"] == 8 * step["peak_members"] ** 2
    # A dozen vectors of n numbers; the block of a QP beside the one that it grew from.
    assert peak <= 2 * step["peak_bytes"] + 12 * 8 * problem.n + 200_000
    assert peak <= 0.02 * 8 * problem.n**2


def test_too_large_a_subset_says_what_to_do():
    problem = BY_NAME["heart-rbf"].build()
    solver = Chunking(chunk=100, cache_bytes=8 * 110**2)
    words = (
        r"subset: 1[1-9]\d points \(\d+ of them support vectors\) need 0.\d+ MB, "
        r"cache_bytes allows 0.0923; raise cache_size, or use solver='decomposition'"
    )
    with pytest.raises(InputError, match=words):
        run(solver, problem)
    with pytest.raises(InputError, match=r"120 points .120 of them support vectors."):
        solver.start(
            problem,
            problem.warm_start(np.where(np.arange(270) < 120, -problem.p, 0.0) * 0.5),
        )


def test_only_rows_of_newcomers_are_computed():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    K, ridge = A + A.T, rng.random(30)
    gram, block = DenseGram(K), Block()

    def expected(points):
        want = K[np.ix_(points, points)].copy()
        want[np.diag_indices(points.size)] += ridge[points]
        return want

    members, asked = np.array([4, 9, 2, 17], np.intp), 0
    for new, kept in (([7, 3], [0, 2, 4]), ([], [0, 2]), ([1, 5, 6], [1, 4])):
        members = np.concatenate([members, np.array(new, np.intp)])
        diagonal = np.diagonal(K)[members] + ridge[members]
        np.testing.assert_array_equal(
            block.of(gram, members, diagonal), expected(members)
        )
        added = len(new) if asked else members.size
        asked += added * members.size
        assert gram.n_kernel == asked
        copied = copy.deepcopy(block)
        np.testing.assert_array_equal(
            copied.of(gram, members, diagonal), expected(members)
        )
        asked += members.size**2  # a copy has nothing stored
        block.retain(np.array(kept, np.intp))
        members = members[kept]


# --- the contract -----------------------------------------------------------------------


@some("heart-rbf", "nu-svr", "heart-no-intercept")
def test_goes_on_from_a_copy_or_a_pickle(name):
    case = BY_NAME[name]
    solver, problem = Chunking(chunk=40), case.build()
    whole = run(solver, problem)
    for cut in (0, 1, 5):
        state = solver.start(problem)
        assert solver.advance(problem, state, cut) is Status.RUNNING
        for other in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert solver.explain(problem, other) == solver.explain(problem, state)
            assert run(solver, problem, state=other).same_as(whole)
        assert run(solver, problem, budget=3, state=state).same_as(whole)


@pytest.mark.parametrize("limit", [0, 1, 10, 111])
@some("heart-rbf", "nu-svc", "heart-no-intercept")
def test_max_iter_is_exact(name, limit):
    case = BY_NAME[name]
    problem, solver = case.build(), Chunking(chunk=40, max_iter=limit)
    end = run(solver, problem)
    assert end.status is Status.MAX_ITER
    assert end.n_iter == limit
    exact = plain(case, end.model.beta)
    assert np.abs(exact.gradient - end.model.gradient).max() <= 1e-9
    assert run(solver, problem, budget=1).same_as(end)


@some("svr-no-tube", "nu-svc", "heart-no-intercept")
def test_long_programmes_are_cut_into_units(name, monkeypatch):
    case = BY_NAME[name]
    whole = run(Chunking(tol=1e-6), case.build())
    monkeypatch.setattr(_subsets, "SLICE", 3000)
    solver, problem = Chunking(tol=1e-6), case.build()
    dual, goes_on = -np.inf, 0
    for snapshot in solver.steps(problem):
        goes_on += "goes on" in str(snapshot.step)
        exact = plain(case, snapshot.model.beta)
        assert np.abs(exact.gradient - snapshot.model.gradient).max() <= 1e-9
        now = objective(problem, exact).dual
        assert now >= dual - 1e-12 * abs(now)
        assert snapshot.step["dual"] == pytest.approx(now, rel=1e-9, abs=1e-12)
        dual = now
    assert goes_on
    assert snapshot.status is Status.CONVERGED
    # what was cut is the same programme
    assert snapshot.n_iter == whole.n_iter
    np.testing.assert_array_equal(snapshot.model.beta, whole.model.beta)


@some("heart-rbf", "nu-svc")
def test_figures(name, monkeypatch):
    """The dual is always told; the rest when the gradients of all points are cheap."""
    case = BY_NAME[name]
    solver, problem = Chunking(chunk=40), case.build()
    for snapshot in solver.steps(problem):
        exact = plain(case, snapshot.state.beta)
        both = objective(problem, exact)
        told = snapshot.measures
        assert told.primal == pytest.approx(both.primal, rel=1e-9)
        assert told.dual == pytest.approx(both.dual, rel=1e-9, abs=1e-12)
        worst = violation(problem, exact.beta, exact.gradient)
        assert told.violation == pytest.approx(worst, abs=1e-9)
    monkeypatch.setattr(module, "_CHEAP", 0)
    dear = list(solver.steps(case.build()))
    assert all(np.isfinite(one.measures.dual) for one in dear)
    assert [one.measures.violation for one in dear[:-1]] == [np.inf] * (len(dear) - 1)
    assert dear[-1].measures == told


def test_kernel_values_of_a_chunk():
    problem = BY_NAME["heart-rbf"].build()
    solver = Chunking(chunk=40)
    state = solver.start(problem)
    solver.advance(problem, state, 2)
    before = problem.gram.n_kernel
    # 40 points for b and the block of 40; then 40 by the support vectors, and so on
    solver.advance(problem, state, 1)
    step = solver.explain(problem, state)
    rows = step["members"] - step["before"]
    assert problem.gram.n_kernel - before == 40 * step["before"] + rows * step["members"]


def test_drift_is_found_out():
    """Wrong gradients of the support vectors do not pass: a round computes all anew."""
    case = BY_NAME["heart-rbf"]
    solver, problem = Chunking(chunk=40), case.build()
    state = solver.start(problem)
    solver.advance(problem, state, 6)
    state.gradient += 0.01 * np.sin(np.arange(problem.n))
    end = run(solver, problem, state=state)
    assert end.status is Status.CONVERGED
    exact = plain(case, end.model.beta)
    assert violation(problem, end.model.beta, exact.gradient) <= 1e-3 * (1 + 1e-9)


@pytest.mark.parametrize("tol", [0.0, 1e-16])
def test_a_tolerance_below_rounding_stalls(tol):
    case = BY_NAME["heart-rbf"]
    solver, problem = Chunking(chunk=40, tol=tol), case.build()
    *_, last = solver.steps(problem)
    assert last.status is Status.STALLED
    assert "the worst pair of all is given one more try" in str(last.step)
    exact = plain(case, last.model.beta)
    assert violation(problem, exact.beta, exact.gradient) <= 1e-13


def separated(gap):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.sign(X[:, 0])
    X[:, 0] += gap * y
    gram = training_gram(Linear(), X, workers=Workers(1))
    return X, y, c_svc(gram, y, np.full(200, np.inf))


@pytest.mark.parametrize("chunk", [10, 500])
def test_hard_margin(chunk):
    X, y, problem = separated(0.5)
    end = run(Chunking(chunk=chunk, tol=1e-6), problem)
    assert end.status is Status.CONVERGED
    f = plain_kernel(Linear(), X, X) @ end.model.beta + end.model.bias
    assert (y * f).min() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("chunk", [10, 500])
def test_hard_margin_of_classes_that_overlap(chunk):
    assert run(Chunking(chunk=chunk), separated(-0.3)[2]).status is Status.UNBOUNDED


def test_an_optimal_start_is_looked_at_once():
    case = BY_NAME["heart-rbf"]
    solver, problem = Chunking(chunk=100, tol=1e-6), case.build()
    first = run(solver, problem)
    again = list(solver.steps(problem, warm=first.model.beta))
    assert len(again) == 3  # 270 points
    assert again[-1].status is Status.CONVERGED
    np.testing.assert_array_equal(again[-1].model.beta, first.model.beta)


@pytest.mark.parametrize("chunk", [0, -5])
def test_a_chunk_has_points(chunk):
    with pytest.raises(InputError, match=f"chunk={chunk}: .* at least 1"):
        Chunking(chunk=chunk)


@pytest.mark.parametrize("chunk", [2.0, "all", None, False])
def test_a_chunk_is_an_integer(chunk):
    with pytest.raises(InputTypeError, match="must be an integer"):
        Chunking(chunk=chunk)


def test_overflow_is_an_error():
    K = np.full((4, 4), 1e308)
    problem = c_svc(TableGram(K), np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 1e200))
    warm = np.array([1e200, 1e200, -1e200, -1e200])
    with np.errstate(all="ignore"), pytest.raises(NumericalError, match="overflows"):
        run(
            Chunking(), problem, state=Chunking().start(problem, problem.warm_start(warm))
        )


def test_what_is_told():
    case = BY_NAME["heart-rbf"]
    solver, problem = Chunking(chunk=40), case.build()
    assert str(solver.explain(problem, solver.start(problem))) == "Nothing done yet."
    first, second, *_, last = solver.steps(problem)
    assert set(first.step.numbers) == {
        "chunk", "looked", "outside", "before", "members", "pairs", "gain", "dual",
        "support", "peak_members", "bytes", "peak_bytes", "b",
    }  # fmt: skip
    assert str(first.step) == (
        "Chunk 1: 40 points looked at, 40 outside the margin condition join 0 support "
        f"vectors; the QP of 40 points took {first.n_iter} pairs and raised the dual by "
        f"{first.measures.dual:.3g} to {first.measures.dual:.8g}; "
        f"{first.step['support']} support vectors retained. "
        f"New b = {first.step['b']:.4g}."
    )
    assert first.step["bytes"] == 8 * 40 * 40
    assert first.step.points == tuple(range(40))
    assert second.step["before"] == first.step["support"]
    assert f"join {first.step['support']} support vectors" in str(second.step)
    assert str(last.step).startswith(
        f"Chunk {last.step['chunk']}: 40 points looked at, all"
    )
    assert last.step.points == ()
