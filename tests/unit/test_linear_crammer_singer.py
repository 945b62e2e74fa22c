"""Crammer and Singer's linear machine: the block, the problem, optimum and contract."""

import pickle
import warnings
from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import LinearSVC

from maxmargin import SVC
from maxmargin.design.operator import Design
from maxmargin.errors import InputError, NumericalError
from maxmargin.parallel import Workers
from maxmargin.problem import (
    LinearJointModel,
    LinearJointProblem,
    linear_joint_objective,
    linear_joint_violation,
    linear_svc,
)
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.classes.blocks import minimise
from maxmargin.solvers.linear.classes.active_set import active_set_of, climb, take
from maxmargin.solvers.linear.classes.crammer_singer import LinearCrammerSinger
from maxmargin.solvers.linear.classes.visits import LEFT, solve_classes

TIGHT = LinearCrammerSinger(tol=1e-9)


@cache
def sample(name):
    """Rows and codes; "clouds" have zeros, so that CSR has something to leave out."""
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        return X - X.mean(axis=0), y
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:400] / 16.0, y[:400]
    if name == "two":
        X, y = load_iris(return_X_y=True)
        return X[50:], y[50:] - 1
    rng = np.random.default_rng(5)
    y = np.arange(160) % 5
    X = rng.normal(size=(160, 8)) + 1.2 * rng.normal(size=(5, 8))[y]
    X[rng.random(X.shape) < 0.4] = 0.0
    return X, y


def problem_of(X, y, C=1.0, scaling=0.0, jobs=1, n_classes=None):
    price = np.full(len(y), C) if np.ndim(C) == 0 else np.asarray(C, float)
    design = Design(X, scaling, Workers(jobs))
    return LinearJointProblem(
        design, np.asarray(y, np.intp), price, n_classes or int(np.max(y)) + 1
    )


def given(name, rows="dense", **options):
    X, y = sample(name)
    X = {"dense": X, "csr": sp.csr_matrix(X), "single": X.astype(np.float32)}[rows]
    return problem_of(X, y, **options)


def run(solver, problem, budget=1, state=None, warm=None):
    state = solver.start(problem, problem.warm_start(warm)) if state is None else state
    while (status := solver.advance(problem, state, budget)) is Status.RUNNING:
        pass
    return status, state


def solved(solver, problem, **options):
    status, state = run(solver, problem, **options)
    assert status is Status.CLOSED
    return solver.model(problem, state)


def matrix(problem):
    """The design, written out."""
    X = problem.design.X
    X = np.asarray(X.toarray() if problem.design.sparse else X, dtype=float)
    if problem.design.scaling:
        X = np.column_stack([X, np.full(problem.n, problem.design.scaling)])
    return X


def plain_primal(X, y, C, W):
    """The primal as Crammer and Singer write it."""
    f = X @ W.T
    loss = [max(f[i, m] - f[i, y[i]] + (m != y[i]) for m in range(len(W)))
            for i in range(len(y))]  # fmt: skip
    return 0.5 * np.sum(W * W) + np.asarray(C) @ loss


def assert_sound(problem, model, tol):
    """W, β, outputs and figures belong together, and prove what they must."""
    X, rows = matrix(problem), np.arange(problem.n)
    upper = np.zeros_like(model.beta)
    upper[rows, problem.codes] = problem.C
    assert (model.beta <= upper).all()
    size = np.abs(model.beta).sum(axis=1)
    assert (np.abs(model.beta.sum(axis=1)) <= 1e-13 * size).all()
    np.testing.assert_allclose(model.W, model.beta.T @ X, atol=1e-9)
    np.testing.assert_allclose(model.outputs, X @ model.W.T, atol=1e-9)
    both = linear_joint_objective(problem, model)
    price = plain_primal(X, problem.codes, problem.C, model.W)
    assert both.primal == pytest.approx(price, rel=1e-10)
    gain = model.beta[rows, problem.codes].sum() - 0.5 * np.sum(model.W**2)
    assert both.dual == pytest.approx(gain, rel=1e-10)
    assert -1e-12 <= both.relative_gap <= tol
    return both


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# -- the block of one row ----------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 10, 40])
def test_block_is_the_exact_minimiser(K):
    rng = np.random.default_rng(K)
    bound = 0
    for trial in range(300):
        A, C = 10.0 ** rng.uniform(-3, 3, 2)
        B = rng.normal(size=K) * 10.0 ** rng.uniform(-2, 2)
        if trial % 3 == 0:
            B = np.round(B)  # ties
        mine, theirs = np.empty(K), np.empty(K)
        solve_classes(A, C, B, K, mine)
        minimise(A, C, 0, B, theirs)
        np.testing.assert_allclose(mine, theirs, atol=1e-14 * (C + np.abs(B).max() / A))
        assert abs(mine.sum()) <= 1e-14 * np.abs(mine).sum()
        assert mine[0] <= C
        assert (mine[1:] <= 0.0).all()
        bound += mine[0] == C
    assert 30 < bound < 270  # both ends were met


def test_block_without_curvature_goes_to_the_corner():
    found = np.full(4, np.nan)
    for A, C in ((0.0, 2.0), (1e-200, 1e-200)):
        solve_classes(A, C, np.array([0.0, 1.0, 3.0, -2.0]), 4, found)
        assert found.tolist() == [C, 0.0, -C, 0.0]
    solve_classes(0.0, 1.0, np.zeros(4), 4, found)  # a tie is no reason to move
    assert not found.any()


# -- the problem -------------------------------------------------------------------------


def test_objective_and_violation_by_hand():
    X = np.array([[1.0, 0.0], [1.0, 2.0]])
    C = np.array([3.0, 5.0])
    problem = problem_of(X, [0, 2], C, n_classes=3)
    beta = np.array([[1.0, -0.25, -0.75], [-2.0, 0.0, 2.0]])
    W = beta.T @ X
    f = X @ W.T
    model = LinearJointModel(W, np.zeros(3), beta, f)
    loss = [
        max(0.0, 1 + f[0, 1] - f[0, 0], 1 + f[0, 2] - f[0, 0]),
        max(0.0, 1 + f[1, 0] - f[1, 2], 1 + f[1, 1] - f[1, 2]),
    ]
    norms = np.sum(W * W)
    both = linear_joint_objective(problem, model)
    assert both.primal == pytest.approx(0.5 * norms + C @ loss)
    assert both.dual == pytest.approx(-0.5 * norms + 1.0 + 2.0)
    G = f + np.array([[0, 1, 1], [1, 1, 0]])
    # class 1 of the second row is at its bound 0
    by_hand = max(np.ptp(G[0]), G[1].max() - min(G[1, 0], G[1, 2]))
    assert linear_joint_violation(problem, model) == pytest.approx(by_hand)
    transposed = model._replace(W=np.asfortranarray(W))
    assert problem.measures(transposed) == problem.measures(model)


def test_a_row_without_price_violates_nothing():
    problem = problem_of(np.eye(2), [0, 1], [1.0, 0.0])
    beta = np.array([[0.5, -0.5], [0.0, 0.0]])
    model = LinearJointModel(beta.T @ np.eye(2), np.zeros(2), beta, np.eye(2) @ beta)
    assert linear_joint_violation(problem, model) == 0.0
    assert linear_joint_objective(problem, model).gap == 0.0


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
    design = Design(np.eye(2), 0.0, Workers(1))
    with pytest.raises(InputError, match=match):
        LinearJointProblem(design, np.array(codes), np.array(C), n_classes)


def test_a_problem_tells_its_size():
    words = repr(given("iris", scaling=1.0))
    assert words == "<LinearJointProblem: 150 × 5, dense, 3 classes>"
    assert "sparse" in repr(given("clouds", "csr"))


# -- rows and weights --------------------------------------------------------------------


@pytest.mark.parametrize("rows", ["dense", "csr", "single"])
@pytest.mark.parametrize("scaling", [0.0, 1.5])
def test_products(rows, scaling):
    problem = given("clouds", rows, scaling=scaling)
    X = matrix(problem)
    beta = np.random.default_rng(0).normal(size=(problem.n, 5))
    beta[::3] = 0.0
    beta[:, 1] = 0.0
    W = problem.design.back_classes(beta)
    np.testing.assert_allclose(problem.design.by_class(W), beta.T @ X, atol=1e-12)
    np.testing.assert_allclose(
        problem.design.times_classes(W), X @ (beta.T @ X).T, atol=1e-11
    )


# -- the optimum -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iris", "digits", "clouds", "two"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_optimum_is_that_of_the_kernel_solver(name, C):
    X, y = sample(name)
    both = assert_sound(problem := given(name, C=C), solved(TIGHT, problem), TIGHT.tol)
    machine = SVC(
        kernel="linear", multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-6
    ).fit(X, y)
    assert both.primal == pytest.approx(machine.certificate_.primal, rel=1e-5)
    assert both.dual == pytest.approx(machine.certificate_.dual, rel=1e-5)


@pytest.mark.parametrize("name", ["iris", "digits", "two"])
@pytest.mark.parametrize("scaling", [0.0, 1.0, 3.0])
def test_optimum_is_that_of_liblinear(name, scaling):
    X, y = sample(name)
    problem = given(name, scaling=scaling)
    model = solved(TIGHT, problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may say that it did not converge
        peer = LinearSVC(
            multi_class="crammer_singer", tol=1e-8, max_iter=200_000,
            fit_intercept=scaling > 0.0, intercept_scaling=scaling or 1.0, random_state=0,
        ).fit(X, y)  # fmt: skip
    theirs = np.array(peer.coef_)
    if scaling:
        theirs = np.column_stack([theirs, peer.intercept_ / scaling])
    if name == "two":  # it tells the difference of the two classes
        theirs = np.vstack([-0.5 * theirs, 0.5 * theirs])
    np.testing.assert_allclose(model.W, theirs, atol=2e-4)
    np.testing.assert_allclose(model.bias, scaling * model.W[:, -1] if scaling else 0.0)
    price = plain_primal(matrix(problem), problem.codes, problem.C, theirs)
    assert linear_joint_objective(problem, model).primal <= price * (1.0 + 1e-9)
    assert linear_joint_objective(problem, model).dual <= price
    assert (model.outputs.argmax(axis=1) == peer.predict(X)).mean() > 0.99


def test_two_classes_are_a_machine_with_twice_the_price():
    X, y = sample("two")
    model = solved(TIGHT, given("two", C=0.5))
    np.testing.assert_allclose(model.W[0], -model.W[1], atol=1e-12)
    machine = SVC(kernel="linear", fit_intercept=False, C=1.0, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.W[1] - model.W[0], machine.coef_[0], atol=1e-5)


@pytest.mark.parametrize("rows", ["csr", "single"])
@pytest.mark.parametrize("name", ["clouds", "digits"])  # exact in float32, or nearly
def test_rows_of_every_kind(rows, name):
    dense = solved(TIGHT, given(name, scaling=1.0))
    problem = given(name, rows, scaling=1.0)
    other = solved(TIGHT, problem)
    assert_sound(problem, other, TIGHT.tol)
    assert other.W.flags.c_contiguous
    np.testing.assert_allclose(other.W, dense.W, atol=1e-4)


def test_csr_with_wide_indices():
    X = sp.csr_matrix(sample("clouds")[0])
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    y = sample("clouds")[1]
    assert same_bits(solved(TIGHT, problem_of(X, y)), solved(TIGHT, problem_of(wide, y)))


@pytest.mark.parametrize("rows", ["dense", "csr"])
def test_weights_are_repetition(rows):
    X, y = sample("clouds")
    times_ = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), times_)
    make = sp.csr_matrix if rows == "csr" else np.array
    weighted = problem_of(make(X), y, times_.astype(float))
    one = solved(TIGHT, weighted)
    other = solved(TIGHT, problem_of(make(X[repeated]), y[repeated]))
    np.testing.assert_allclose(one.W, other.W, atol=1e-4)
    assert not one.beta[times_ == 0].any()
    assert_sound(weighted, one, TIGHT.tol)


def test_rows_without_price_do_not_matter():
    X, y = sample("clouds")
    some = np.arange(len(y)) % 4 != 0
    absurd = np.where(some[:, None], X, 1e6)
    one = solved(TIGHT, problem_of(absurd, y, some.astype(float)))
    other = solved(TIGHT, problem_of(X[some], y[some]))
    np.testing.assert_allclose(one.W, other.W, atol=1e-4)
    nothing = problem_of(X, y, np.zeros(len(y)))
    status, state = run(TIGHT, nothing)
    assert status is Status.CLOSED
    assert not TIGHT.model(nothing, state).W.any()
    assert TIGHT.n_iter(state) == 0


def test_zero_rows_and_absent_classes():
    X, y = sample("clouds")
    X = X.copy()
    X[:6] = 0.0  # nothing tells these apart: their loss is 1 each
    problem = problem_of(X, y, n_classes=8)
    model = solved(TIGHT, problem)
    both = assert_sound(problem, model, TIGHT.tol)
    assert not model.W[5:].any()
    rest = problem_of(X[6:], y[6:])
    best = linear_joint_objective(rest, solved(TIGHT, rest)).primal
    assert both.primal == pytest.approx(best + 6.0, rel=1e-8)


@pytest.mark.parametrize("options", [{"shrinking": False}, {"conjugate": False}])
def test_what_only_speeds_up_does_not_change_the_optimum(options):
    problem = given("digits")
    best = linear_joint_objective(problem, solved(TIGHT, problem)).primal
    solver = replace(TIGHT, tol=1e-7, **options)
    both = assert_sound(problem, solved(solver, problem), 1e-7)
    assert both.primal == pytest.approx(best, rel=1e-7)


def test_conjugate_gradients_save_work():
    problem = given("digits")
    counts = []
    for helped in (True, False):
        solver = LinearCrammerSinger(tol=1e-7, conjugate=helped)
        status, state = run(solver, problem)
        assert status is Status.CLOSED
        counts.append(solver.n_iter(state))
    assert counts[0] < 0.5 * counts[1]


def test_a_climb_raises_the_dual_and_keeps_the_bounds():
    problem, solver = given("digits"), LinearCrammerSinger(tol=1e-9, conjugate=False)
    state = solver.start(problem)
    while state.epoch < 60:
        solver.advance(problem, state, 1)
    design = problem.design
    before = linear_joint_objective(problem, solver.model(problem, state))
    parts = design, state.table, state.beta
    order = state.order[: state.place[LEFT]]
    face = active_set_of(*parts, state.watched, state.W, order, state.work)
    assert climb(design.rows, 0.0, state.table, state.beta, face, state.work[4], 10**6)
    assert 1 < face.iterations[0] <= 100
    gain, _ = take(*parts, state.W, face, state.work)
    state.fresh = False
    after = solver.model(problem, state)
    both = assert_sound(problem, after, np.inf)
    assert gain > 0.0
    assert both.dual - before.dual == pytest.approx(gain, rel=1e-6)


def test_a_face_of_too_many_dimensions_is_left_alone():
    problem = given("iris")  # 12 weights
    state = TIGHT.start(problem)
    TIGHT.advance(problem, state, 1)
    state.beta[:] = -0.25  # everything is free
    state.beta[np.arange(150), problem.codes] = 0.5
    face = active_set_of(
        problem.design, state.table, state.beta, state.watched, state.W, state.order,
        state.work,
    )  # fmt: skip
    assert face is None


# -- the contract ------------------------------------------------------------------------

CASES = [("iris", "dense"), ("digits", "dense"), ("digits", "csr"), ("clouds", "single")]
over_cases = pytest.mark.parametrize(("name", "rows"), CASES)


@over_cases
def test_the_gap_falls_to_tol(name, rows):
    problem = given(name, rows, scaling=1.0)
    for tol in (1e-2, 1e-4, 1e-6, 1e-8):
        solver = LinearCrammerSinger(tol=tol)
        status, state = run(solver, problem)
        assert status is Status.CLOSED
        both = assert_sound(problem, solver.model(problem, state), tol)
        figures = solver.measure(problem, state)
        assert figures.primal == pytest.approx(both.primal, rel=1e-12)
        assert figures.relative_gap <= tol
    exact = deepcopy(state)
    exact.fresh = False  # outputs of the model anew
    assert linear_joint_violation(problem, solver.model(problem, exact)) < 1e-2


@over_cases
def test_budget_does_not_matter(name, rows, monkeypatch):
    monkeypatch.setattr("maxmargin.solvers.linear.classes.crammer_singer._SLICE", 1 << 16)
    problem, ends = given(name, rows), []
    for budget in (1, 7, 10**9):
        solver = LinearCrammerSinger(tol=1e-6)
        status, state = run(solver, problem, budget)
        assert status is Status.CLOSED
        ends.append((*solver.model(problem, state), solver.n_iter(state)))
    assert same_bits(ends[0], ends[1])
    assert same_bits(ends[0], ends[2])


@over_cases
def test_slices_do_not_matter(name, rows, monkeypatch):
    problem = given(name, rows)
    whole = solved(LinearCrammerSinger(tol=1e-6), problem)
    monkeypatch.setattr("maxmargin.solvers.linear.classes.crammer_singer._SLICE", 1 << 12)
    assert same_bits(solved(LinearCrammerSinger(tol=1e-6), problem), whole)


@over_cases
def test_resumes_after_a_pickle(name, rows, monkeypatch):
    monkeypatch.setattr("maxmargin.solvers.linear.classes.crammer_singer._SLICE", 1 << 17)
    problem, solver = given(name, rows), LinearCrammerSinger(tol=1e-6)
    whole = solved(solver, problem)
    state, status = solver.start(problem), Status.RUNNING
    stories, faces = set(), 0
    while status is Status.RUNNING:
        status = solver.advance(problem, state, 1)
        solver.model(problem, state)  # looking changes nothing
        solver.measure(problem, state)
        stories.add(str(solver.explain(problem, state)))
        problem, state = pickle.loads(pickle.dumps((problem, state)))
        faces += state.active_set is not None
    assert same_bits(solver.model(problem, state), whole)
    assert len(stories) > 4
    assert faces or name == "clouds"


@pytest.mark.parametrize("rows", ["dense", "csr", "single"])
def test_threads_do_not_matter(rows):
    X, y = sample("digits")
    X = np.tile(X, (4, 1)) if rows == "dense" else sp.vstack([sp.csr_matrix(X)] * 4)
    X = X.tocsr() if rows == "csr" else X
    if rows == "single":
        X = X.toarray().astype(np.float32)
    ends = []
    for jobs in (1, 2, 3):
        problem = problem_of(X, np.tile(y, 4), scaling=1.0, jobs=jobs)
        with problem.design.workers:
            ends.append(solved(LinearCrammerSinger(tol=1e-5), problem))
    assert same_bits(ends[0], ends[1])
    assert same_bits(ends[0], ends[2])


def test_seeds_lead_to_one_optimum():
    problem = given("clouds")
    one, other = (solved(replace(TIGHT, seed=seed), problem) for seed in (0, 7))
    assert not np.array_equal(one.W, other.W)
    np.testing.assert_allclose(one.W, other.W, atol=1e-4)


@pytest.mark.parametrize("limit", [0, 1, 2, 5, 30])
def test_max_iter(limit):
    problem = given("digits")
    solver = LinearCrammerSinger(tol=1e-12, max_iter=limit)
    status, state = run(solver, problem)
    assert status is Status.MAX_ITER
    assert limit - 1 <= solver.n_iter(state) <= limit
    model = solver.model(problem, state)
    both = assert_sound(problem, model, np.inf)
    assert solver.measure(problem, state).primal == pytest.approx(both.primal)
    assert solver.advance(problem, state, 1) is Status.MAX_ITER
    assert solver.n_iter(state) <= limit
    # and with leave to go on it does
    on = LinearCrammerSinger(tol=1e-6)
    assert run(on, problem, state=state)[0] is Status.CLOSED


def test_rounding_is_the_end():
    problem = given("clouds")
    status, state = run(LinearCrammerSinger(tol=0.0), problem)
    assert status in {Status.STALLED, Status.CLOSED}
    assert abs(state.looked.relative_gap) < 1e-11


def test_goes_on_from_a_given_answer():
    problem, solver = given("digits"), LinearCrammerSinger(tol=1e-6)
    first = solved(solver, problem)
    status, state = run(solver, problem, warm=first.beta)
    assert status is Status.CLOSED
    assert solver.n_iter(state) == 0
    # Each row's β are made to add up to 0 again, which may cost the last bit.
    np.testing.assert_allclose(solver.model(problem, state).beta, first.beta, atol=1e-15)
    # the answer for another price, and one that breaks the bounds, are repaired
    cheap = given("digits", C=0.7)
    for warm in (np.asfortranarray(first.beta), first.beta + 0.3):
        status, state = run(solver, cheap, warm=warm)
        assert status is Status.CLOSED
        assert_sound(cheap, solver.model(cheap, state), solver.tol)


def test_a_model_and_a_story_at_any_time():
    problem, solver = given("clouds", "csr", scaling=2.0), LinearCrammerSinger()
    state = solver.start(problem)
    assert "W is 0" in str(solver.explain(problem, state))
    beta = solved(solver, problem).beta
    assert "given" in str(
        solver.explain(problem, solver.start(problem, problem.warm_start(beta)))
    )
    duals, status = [], Status.RUNNING
    while status is Status.RUNNING:
        both = assert_sound(problem, solver.model(problem, state), np.inf)
        duals.append(both.dual)
        status = solver.advance(problem, state, 1)
    assert duals[0] == 0.0
    assert (np.diff(duals) >= -1e-12 * duals[-1]).all()
    step = solver.explain(problem, state)
    assert step["i"] in range(160)
    assert step.points == (step["i"],)
    assert f"row {step['i']}" in str(step)


def test_refusals():
    X, y = sample("two")
    binary = linear_svc(Design(X, 0.0, Workers(1)), 2.0 * y - 1.0, np.ones(len(y)))
    with pytest.raises(InputError, match="LinearCrammerSinger was given a LinearProblem"):
        drive(LinearCrammerSinger(), binary)
    problem = given("two")
    for warm in (np.zeros(100), np.full((100, 2), np.nan)):
        with pytest.raises(InputError, match=r"shape \(100, 2\)"):
            LinearCrammerSinger().start(problem, problem.warm_start(warm))
    with pytest.raises(InputError, match="tol"):
        LinearCrammerSinger(tol=-1.0)
    with pytest.raises(InputError, match="max_iter"):
        LinearCrammerSinger(max_iter=-2)


def test_numbers_out_of_range_are_said():
    X, y = sample("two")
    with pytest.raises(NumericalError):
        run(LinearCrammerSinger(), problem_of(X * 1e200, y))
    huge = np.full((100, 2), 1e200) * [1.0, -1.0] * np.where(y == 0, 1.0, -1.0)[:, None]
    problem = problem_of(X * 1e150, y, C=1e200)
    with pytest.raises(NumericalError):
        run(LinearCrammerSinger(), problem, warm=huge)
