"""Every solver on every problem it can solve, through the five verbs alone.

What is checked is the contract of :mod:`maxmargin.solvers.base`: bits that depend on
nothing but the problem, states that survive a pickle, and answers that hold when they are
recomputed from a plain NumPy kernel matrix.
"""

import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from tests.conformance.problems import (
    BY_NAME,
    CASES,
    DESCRIPTIONS,
    MARGINS,
    REGRESSIONS,
    UNBALANCED,
    Case,
    Run,
    in_box,
    missed,
    plain,
    run,
)
from tests.conformance.solvers import (
    ALL,
    EXACT,
    RESTARTABLE,
    STOPPABLE,
    changed,
    decomposition,
    distinct,
    pegasos,
    qp,
    smo,
    smo_platt,
    working_set,
)

from maxmargin.errors import InputError, Stop
from maxmargin.kernels import RBF
from maxmargin.kernels.gram.table import TableGram
from maxmargin.observers import TimeLimit
from maxmargin.problem import c_svc, objective, violation
from maxmargin.solvers import Pegasos, Smo, WorkingSetSmo
from maxmargin.solvers.base import Status, drive, steps
from maxmargin.solvers.feasible import feasible

SOME = (
    "heart-rbf",
    "heart-squared-hinge",
    "moons",
    "contradictions",
    "moons-repeated",
    "svr-repeated",
    "svr-wave",
    "nu-svr-wave",
    "nu-svc-moons",
    "one-class-moons",
    "svdd-moons",
)


EXACTLY = ("heart-rbf", "heart-sparse", "heart-weighted", "heart-squared-hinge", "svr",
           "nu-svc", "one-class", "contradictions", "heart-rbf-repeated", "svr-repeated",
           "heart-squared-hinge-repeated", "nu-svc-repeated")  # fmt: skip


def name(value: Any) -> str:
    return value.name if isinstance(value, Case) else getattr(value, "__name__", "")


def over(pairs: list[Any]) -> Any:
    return pytest.mark.parametrize(("make", "case"), pairs, ids=name)


@cache
def reference(make, case) -> Run:
    """One chunk, one thread."""
    return run(make(case), case.build())


def last_words(make, case, budget) -> str:
    """What the end is told to be."""
    solver, problem = make(case), case.build()
    state = solver.start(problem)
    while solver.advance(problem, state, budget) is Status.RUNNING:
        pass
    return solver.explain(problem, state).words


@cache
def single_steps(make, case) -> Run:
    return run(make(case), case.build(), budget=1)


# --- the bits ---------------------------------------------------------------------------


@over(ALL)
def test_budget_does_not_matter(make, case):
    whole = reference(make, case)
    assert single_steps(make, case).same_as(whole)
    assert run(make(case), case.build(), budget=7).same_as(whole)
    assert last_words(make, case, 7) == last_words(make, case, 10**9)


@over(ALL)
def test_resumes_after_a_pickle(make, case):
    solver, problem = make(case), case.build()
    units = single_steps(make, case).units
    for cut in sorted({min(1, units - 1), units // 2}):
        state = solver.start(problem)
        if cut:
            assert solver.advance(problem, state, cut) is Status.RUNNING
        solver2, problem2, state2 = pickle.loads(pickle.dumps((solver, problem, state)))
        assert run(solver2, problem2, state=state2).same_as(reference(make, case)), cut
    # the original is none the worse for having been pickled
    assert run(solver, problem, state=state).same_as(reference(make, case))


@over(ALL)
def test_looking_changes_nothing(make, case):
    solver, problem = make(case), case.build()
    stride = max(1, single_steps(make, case).units // 25)

    def look(state):
        solver.measure(problem, state)
        solver.model(problem, state)

    watched = run(solver, problem, stride, between=look)
    assert watched.same_as(reference(make, case))


@over([(make, case) for make, case in ALL if case.name in SOME])
def test_threads_inside_do_not_matter(make, case):
    assert run(make(case), case.build(n_jobs=2)).same_as(reference(make, case))
    assert run(make(case), case.build(n_jobs=3)).same_as(reference(make, case))


@pytest.mark.parametrize("make", STOPPABLE, ids=name)
def test_two_problems_at_once(make):
    cases = UNBALANCED if make is pegasos else MARGINS
    chosen = [case for case in cases if case.name in ("heart-rbf", "moons")]
    assert len(chosen) == 2
    problems = [case.build() for case in chosen]
    barrier = Barrier(2, timeout=60)

    def one(case, problem):
        barrier.wait()
        return run(make(case), problem, budget=3)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(one, chosen, problems))
    for case, result in zip(chosen, results, strict=True):
        assert result.same_as(reference(make, case))


# --- the answers ------------------------------------------------------------------------


@over(EXACT)
def test_converged_means_optimal(make, case):
    status, n_iter, model, _ = reference(make, case)
    problem = case.build()
    exact = plain(case, model.beta)
    assert status is Status.CONVERGED
    assert n_iter > 0
    assert violation(problem, model.beta, exact.gradient) <= case.tol * (1.0 + 1e-9)
    assert in_box(problem, model.beta)
    assert missed(problem, model.beta) <= 1e-12
    assert np.abs(model.gradient - exact.gradient).max() <= 1e-4
    assert model.bias == pytest.approx(exact.bias, abs=1e-5)
    assert model.split == pytest.approx(exact.split, abs=1e-5)
    # The gap is at most (violation)·Σ|β|, so this is what tol promises.
    both = objective(problem, exact)
    assert both.gap >= -1e-9 * abs(both.primal)
    assert both.gap <= 2 * case.tol * np.abs(model.beta).sum()


@pytest.mark.parametrize("case", CASES, ids=name)
def test_solvers_agree(case):
    problem = case.build()
    duals = {
        make: objective(problem, plain(case, reference(make, case).model.beta)).dual
        for make, solved in EXACT
        if solved is case
    }
    assert len(duals) >= 4
    # Each may be below the optimum by the gap that the test above allows.
    total = np.abs(reference(smo, case).model.beta).sum()
    for dual in duals.values():
        assert dual == pytest.approx(duals[smo], abs=2 * case.tol * total, rel=1e-4)


@over([(make, case) for make, case in EXACT if case.name in EXACTLY])
def test_exact_ones_meet(make, case):
    """At a small tol all optima are one, to 1e-6 and far better."""
    sharp = case._replace(tol=1e-6)
    best = objective(case.build(), plain(case, run(smo(sharp), case.build()).model.beta))
    solver, problem = make(sharp), case.build()
    end = run(solver, problem)
    exact = plain(case, end.model.beta)
    assert end.status is Status.CONVERGED
    assert violation(problem, end.model.beta, exact.gradient) <= 1.01e-6
    assert objective(problem, exact).dual == pytest.approx(best.dual, rel=1e-8)
    allowed = 2e-6 * np.abs(end.model.beta).sum()  # the gap is at most violation·Σ|β|
    assert objective(problem, exact).primal == pytest.approx(best.dual, abs=allowed)


@over(EXACT)
def test_dual_never_falls(make, case):
    solver, problem = make(case), case.build()
    stride = max(1, single_steps(make, case).units // 60)
    K, seen, told = case.matrix(), [], []

    def look(state):
        beta = solver.model(problem, state).beta
        quadratic = beta @ (K @ beta) + beta @ (problem.ridge * beta)
        tube = problem.epsilon * np.abs(beta).sum()
        seen.append(-0.5 * quadratic - problem.p @ beta - tube)
        figure = solver.measure(problem, state).dual
        told.extend([figure] if np.isfinite(figure) else [])  # −inf: not known yet

    state = solver.start(problem)
    look(state)
    run(solver, problem, stride, state=state, between=look)
    allowed = 1e-9 * max(map(abs, seen))
    assert np.diff(seen).min(initial=0.0) >= -allowed
    assert seen[-1] > seen[0]
    # The solver's own figure is made from the gradient it has.
    single = problem.gram.precisions[0] == np.float32 and problem.n > 1000
    rounding = {working_set: 1e-6, distinct: 4e-6} if single else {}  # of larger prices
    blur = rounding.get(make, 1e-9) * max(map(abs, seen))
    assert np.diff(told).min(initial=0.0) >= -blur
    assert told[-1] == pytest.approx(seen[-1], abs=blur)


@pytest.mark.parametrize("case", UNBALANCED, ids=name)
def test_pegasos_closes_the_gap(case):
    problem, solver = case.build(), dataclasses.replace(pegasos(case), max_iter=80)
    start = solver.model(problem, solver.start(problem))
    assert objective(problem, start).relative_gap == 1.0
    gaps = []

    def look(state):
        model = solver.model(problem, state)
        assert in_box(problem, model.beta)
        exact = plain(case, model.beta)
        scale = 1.0 + np.abs(exact.gradient).max()
        assert np.abs(exact.gradient - model.gradient).max() <= 1e-9 * scale
        gaps.append(objective(problem, exact).relative_gap)

    end = run(solver, problem, 20 * problem.n, between=look)
    assert min(gaps) >= -1e-9
    # 80 epochs give a rough answer, the rougher the larger ΣC is; it has an honest label.
    assert gaps[-1] < 0.6
    assert gaps[-1] <= max(0.8 * gaps[0], 1e-2)
    assert (gaps[-1] <= 1e-2) == (end.status is Status.CLOSED)
    best = objective(problem, plain(case, reference(smo, case).model.beta)).dual
    assert objective(problem, plain(case, end.model.beta)).dual <= best * (1.0 + 1e-6)


def test_pegasos_finds_the_optimum_given_time():
    case = BY_NAME["contradictions"]._replace(balanced=False)
    problem = case.build()
    end = run(Pegasos(tol=1e-2, max_iter=20_000), problem)
    assert end.status is Status.CLOSED
    mine = objective(problem, plain(case, end.model.beta))
    best = objective(problem, plain(case, reference(smo, case).model.beta))
    assert mine.relative_gap <= 1e-2
    assert mine.dual == pytest.approx(best.dual, rel=1e-2)
    other = run(Pegasos(tol=1e-2, max_iter=20_000, seed=7), problem)
    assert other.status is Status.CLOSED
    assert other.model.beta.tobytes() != end.model.beta.tobytes()


# --- the beginning ----------------------------------------------------------------------


@over(ALL)
def test_model_before_the_first_step(make, case):
    solver, problem = make(case), case.build()
    model = solver.model(problem, solver.start(problem))
    assert np.isfinite(model.bias)
    assert solver.n_iter(solver.start(problem)) == 0
    measures = solver.measure(problem, solver.start(problem))
    assert measures.gap > 0.0
    if not any(problem.sums):
        assert not model.beta.any()
        np.testing.assert_array_equal(model.gradient, problem.p)
        assert measures.dual == 0.0
    else:
        assert in_box(problem, model.beta)
        assert missed(problem, model.beta) <= 1e-14
        exact = plain(case, model.beta)
        scale = np.abs(exact.gradient).max()
        np.testing.assert_allclose(model.gradient, exact.gradient, atol=1e-12 * scale)


FOUR = TableGram(np.eye(4))
KEPT = np.array([0.1, 0.1, 0.1, -0.3])  # sums to 5.6e-17


def test_a_start_that_is_feasible_but_for_rounding_is_kept():
    problem = c_svc(FOUR, np.sign(KEPT), np.abs(KEPT))
    assert KEPT.sum() != 0.0
    np.testing.assert_array_equal(feasible(problem, KEPT), KEPT)


def test_a_start_is_never_pushed_out_of_its_box():
    rng, outside = np.random.default_rng(0), 0
    for _ in range(200):
        warm = rng.uniform(0.0, 3.0, 50) * np.where(np.arange(50) % 2, 1.0, -1.0)
        problem = c_svc(TableGram(np.eye(50)), np.sign(warm), np.ones(50))
        beta = feasible(problem, warm)
        assert abs(beta.sum()) <= 1e-13
        outside += not in_box(problem, beta)
    assert outside == 0


@over(RESTARTABLE)
def test_goes_on_from_a_solution(make, case):
    solver, problem = make(case), case.build()
    first = reference(make, case)
    warm = first.model.beta.copy()
    state = solver.start(problem, problem.warm_start(warm))
    assert solver.model(problem, state).gradient == pytest.approx(
        first.model.gradient, abs=1e-4
    )
    again = run(solver, problem, state=state)
    assert again.status is Status.CONVERGED
    least = problem.n if solver.unit == "coordinate" else 3  # it looks at every one
    assert again.n_iter <= max(least, first.n_iter // 20)
    np.testing.assert_array_equal(warm, first.model.beta)  # what was given is kept


@over(EXACT)
def test_a_finished_run_stays_finished(make, case):
    solver, problem = make(case), case.build()
    state = solver.start(problem)
    first = run(solver, problem, state=state)
    again = run(solver, problem, state=state)
    assert again.status is first.status is Status.CONVERGED
    # some take another look, and may improve on it; none begins anew
    assert again.n_iter <= first.n_iter + max(3, 2 * problem.n)
    duals = [
        objective(problem, plain(case, one.model.beta)).dual for one in (first, again)
    ]
    assert duals[1] >= duals[0] - 1e-9 * abs(duals[0])


@over([(make, case) for make, case in EXACT if case.name in EXACTLY])
def test_goes_on_with_a_smaller_tol(make, case):
    solver, problem = make(case), case.build()
    state = solver.start(problem)
    run(changed(solver, tol=0.3), problem, state=state)
    end = run(solver, problem, state=state)
    assert end.status is Status.CONVERGED
    exact = plain(case, end.model.beta)
    assert violation(problem, end.model.beta, exact.gradient) <= case.tol * (1.0 + 1e-9)


@over(RESTARTABLE)
def test_goes_on_with_half_the_price(make, case):
    X, y, C = case.points()
    half = case._replace(points=lambda: type(case.points())(X, y, 0.5 * C))
    solver, problem = make(case), half.build()
    state = solver.start(problem, problem.warm_start(reference(make, case).model.beta))
    beta = solver.model(problem, state).beta
    assert in_box(problem, beta)
    assert missed(problem, beta) <= 1e-12
    assert beta.any()
    end = run(solver, problem, state=state)
    assert end.status is Status.CONVERGED
    assert in_box(problem, end.model.beta)
    exact = plain(half, end.model.beta)
    assert violation(problem, end.model.beta, exact.gradient) <= case.tol * (1.0 + 1e-9)


@pytest.mark.parametrize(
    "make", [smo, working_set, decomposition, smo_platt, qp], ids=name
)
def test_refuses_a_start_that_is_none(make):
    case = BY_NAME["heart-rbf"]
    with pytest.raises(InputError, match="warm has values that are not finite"):
        make(case).start(case.build(), np.full(270, np.nan))
    with pytest.raises(InputError, match=r"warm has shape \(3,\).*\(270,\)"):
        make(case).start(case.build(), np.zeros(3))


def test_plain_smo_says_how_much_memory_it_wants():
    with pytest.raises(InputError, match=r"1500 points need 17 MB.*WorkingSetSmo"):
        Smo(cache_bytes=1 << 20).start(BY_NAME["moons"].build())


@pytest.mark.parametrize(
    ("case", "match"),
    [
        (BY_NAME["heart-rbf"], "no intercept: use fit_intercept=False"),
        (BY_NAME["heart-squared-hinge-no-intercept"], "use loss='hinge' and a finite C"),
        *((case, "Pegasos has no intercept") for case in REGRESSIONS + DESCRIPTIONS),
    ],
    ids=name,
)
def test_pegasos_says_what_it_cannot_do(case, match):
    with pytest.raises(InputError, match=match):
        pegasos(case).start(case.build())


def test_pegasos_takes_no_warm_start():
    case = UNBALANCED[0]
    problem = case.build()
    with pytest.raises(InputError, match="warm_start=False"):
        pegasos(case).start(problem, problem.warm_start(np.full(problem.n, 0.5)))


# --- the end before the end -------------------------------------------------------------


@over(RESTARTABLE)
@pytest.mark.parametrize("limit", [0, 1, 10])
def test_max_iter(make, case, limit):
    whole = reference(make, case)
    solver, problem = changed(make(case), max_iter=limit), case.build()
    end = run(solver, problem)
    assert end.n_iter <= limit
    if whole.n_iter > limit:
        assert end.status is Status.MAX_ITER
        assert end.n_iter == limit
        assert end.status.stop is Stop.MAX_ITER
    assert in_box(problem, end.model.beta)
    exact = plain(case, end.model.beta)
    assert np.abs(exact.gradient - end.model.gradient).max() <= 1e-5
    assert run(solver, case.build(), budget=1).same_as(end)


def test_max_iter_counts_epochs_of_pegasos():
    case = UNBALANCED[0]
    problem = case.build()
    end = run(Pegasos(tol=1e-9, max_iter=3), problem)
    assert end.status is Status.MAX_ITER
    assert end.n_iter == 3


@pytest.mark.parametrize("make", STOPPABLE, ids=name)
def test_time_limit(make):
    """A problem that would take long, stopped early: honest label, usable model."""
    case = BY_NAME["moons-no-intercept" if make is pegasos else "moons"]
    X, y, C = case.points()
    hard = case._replace(points=lambda: type(case.points())(X, y, 1e6 * C))
    solver = dataclasses.replace(make(hard), tol=1e-13, max_iter=10**12)
    problem = hard.build()
    solver.advance(problem, solver.start(problem), 5)  # compiled before the clock runs
    outcome = drive(solver, problem, observers=[TimeLimit(0.2)])
    assert outcome.stop is Stop.TIME_LIMIT
    assert not outcome.stop.converged
    assert 0.2 <= outcome.seconds < 3.0  # slices are of some 30 ms; CI may be slow
    model = outcome.model
    assert in_box(problem, model.beta)
    assert np.isfinite(model.gradient).all()
    exact = plain(hard, model.beta)
    scale = np.abs(exact.gradient).max()
    # float32 kernel values, where the solver has not come to verify them yet
    assert np.abs(exact.gradient - model.gradient).max() <= 1e-2 * scale
    score = np.mean(np.sign(model.gradient + model.bias - problem.p) == y)
    if make in (smo, working_set, pegasos):  # those built for speed have come somewhere
        assert score > 0.6
    # and it goes on from there
    before = solver.n_iter(outcome.state)
    solver.advance(problem, outcome.state, 1)
    assert solver.n_iter(outcome.state) >= before


@over([(make, case) for make, case in ALL if case.name in SOME])
def test_drive_and_steps_are_the_same_run(make, case):
    solver = make(case)
    whole = reference(make, case)
    outcome = drive(solver, case.build())
    assert outcome.stop is whole.status.stop
    assert outcome.model.beta.tobytes() == whole.model.beta.tobytes()
    assert outcome.n_iter == whole.n_iter
    *_, last = steps(solver, case.build(), every=101)
    assert last.status is whole.status
    assert last.model.beta.tobytes() == whole.model.beta.tobytes()


@over([(make, case) for make, case in ALL if case.name in SOME])
def test_every_step_is_told(make, case):
    """In words and numbers that are about this very step, and survive a pickle."""
    solver, problem = make(case), case.build()
    before = solver.explain(problem, solver.start(problem))
    assert before.words
    assert before.points == ()
    told = []
    for snapshot in islice(solver.steps(problem), 40):
        step = snapshot.step
        assert step.words.endswith(".")
        assert all(0 <= point < problem.n for point in step.points)
        assert pickle.loads(pickle.dumps(step)) == step
        told.append((step.words, snapshot.model.beta))
    assert any(step != before.words for step, _ in told)
    # a Snapshot keeps its state: the film can be seen again
    again = [snapshot.step.words for snapshot in islice(solver.steps(case.build()), 40)]
    assert again == [words for words, _ in told]


@pytest.mark.parametrize("shrinking", [True, False])
def test_memory_is_kept_within_the_promise(shrinking):
    """A tolerance that float32 cannot reach: the working set goes over to float64."""
    case = BY_NAME["moons"]._replace(kernel=RBF(gamma=60.0))
    problem, promise = case.build(), 1 << 20
    solver = WorkingSetSmo(tol=1e-12, cache_bytes=promise, shrinking=shrinking)
    state, status, widths = solver.start(problem), Status.RUNNING, set()
    while status is Status.RUNNING:
        status = solver.advance(problem, state, 1)
        memory = state.memory
        widths.add(memory.dtype)
        assert state.size <= memory.size  # beyond it lies foreign memory
        assert memory.size**2 * memory.dtype.itemsize <= promise
    assert widths == {np.dtype(np.float32), np.dtype(np.float64)}
    assert status is Status.CONVERGED
    beta = solver.model(problem, state).beta
    assert violation(problem, beta, plain(case, beta).gradient) <= 2e-12


def test_kernel_values_are_counted():
    problem = BY_NAME["heart-rbf"].build()
    run(WorkingSetSmo(), problem)
    assert problem.n < problem.gram.n_kernel
    problem = BY_NAME["heart-rbf"].build()
    run(Smo(), problem)
    assert problem.gram.n_kernel == problem.n**2
