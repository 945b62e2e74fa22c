"""The C-path of linear machines: the same answers, for less than separate fits cost."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import maxmargin
from maxmargin import LinearSVC, LinearSVR
from maxmargin.design.operator import Design
from maxmargin.estimators.linear.solving import LinearTask
from maxmargin.estimators.linear.warm_start import Before
from maxmargin.parallel import Workers
from maxmargin.problem import WarmStart, linear_objective, linear_svc
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import Newton, NewtonCg, ProximalNewton
from maxmargin.solvers.linear.warm_start import _growth

PRICES = np.geomspace(0.01, 10.0, 8)
MACHINES = {
    "hinge": LinearSVC(loss="hinge"),
    "squared hinge": LinearSVC(loss="squared_hinge"),
    "hinge, free": LinearSVC(loss="hinge", intercept="free"),
    "coordinates": LinearSVC(loss="hinge", solver="dual-descent"),
    "gram": LinearSVC(loss="hinge", solver="gram"),
    "Crammer and Singer": LinearSVC(
        multi_class="crammer_singer", solver="crammer-singer"
    ),
    "tube": LinearSVR(loss="epsilon_insensitive", epsilon=0.1),
    "squared tube": LinearSVR(loss="squared_epsilon_insensitive"),
}


def rows(n=500, d=12):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.standard_normal(n)
    return X, np.digitize(score, [-0.5, 0.5])


@pytest.mark.parametrize("name", MACHINES)
def test_a_path_takes_fewer_iterations_than_separate_fits(name):
    X, y = rows()
    model = clone(MACHINES[name]).set_params(tol=1e-6, max_iter=-1, random_state=0)
    if name != "Crammer and Singer":
        y = y > 0
    along = maxmargin.path(model, X, y, PRICES)
    alone = [clone(model).set_params(C=C).fit(X, y) for C in PRICES]
    for ours, other in zip(along, alone, strict=True):
        assert ours.certificate_.ok
        # and is what it was, though others began from it
        assert maxmargin.certify(ours, X, y).ok
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=3e-3)
    assert sum(one.n_iter_ for one in along) < sum(one.n_iter_ for one in alone)


@pytest.mark.parametrize("weight", ["rows", "classes"])
def test_bounds_grow_with_the_price_whatever_a_row_weighs(weight):
    """A row at its bound begins at the new one: near the answer if most stay there."""
    X, y = rows()
    y = y > 0
    model = LinearSVC(loss="hinge", solver="dual-descent", tol=1e-6, random_state=0)
    given = None
    if weight == "rows":
        given = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    else:
        model.set_params(class_weight={False: 1.0, True: 10.0})
    first, second = maxmargin.path(model, X, y, [1.0, 2.0], sample_weight=given)
    price = np.ones(len(y)) if given is None else given
    if given is None:
        price = np.where(y, 10.0, 1.0)
    size = np.abs(first.dual_coef_[0])
    full = size == price
    assert 0.2 < full.mean() < 1.0
    assert np.unique(price[full]).size > 1  # of several bounds
    alone = clone(second).fit(X, y, sample_weight=given)
    assert second.n_iter_ < alone.n_iter_
    np.testing.assert_allclose(second.coef_, alone.coef_, atol=1e-3)


def test_rows_are_prepared_once(monkeypatch):
    made, design_of = [], LinearTask.design

    def counted(*given):
        made.append(given)
        return design_of(*given)

    monkeypatch.setattr(LinearTask, "design", counted)
    X, y = rows()
    maxmargin.path(LinearSVC(), X, y, PRICES)
    assert len(made) == 1


def test_names_of_features_reach_every_machine():
    pd = pytest.importorskip("pandas")
    X, y = rows(100, 2)
    frame = pd.DataFrame(X, columns=["left", "right"])
    for machine in maxmargin.path(LinearSVC(), frame, y, [0.1, 1.0]):
        assert machine.feature_names_in_.tolist() == ["left", "right"]


# --- what is saved: rows that are read, checks that are made ----------------------------


def test_data_are_checked_once(monkeypatch):
    checked, task_of = [], LinearSVC._task

    def counted(self, *given):
        checked.append(self)
        return task_of(self, *given)

    monkeypatch.setattr(LinearSVC, "_task", counted)
    X, y = rows()
    machines = maxmargin.path(LinearSVC(), X, y, PRICES)
    assert len(checked) == 1
    # What they know of the data is theirs, nevertheless.
    machines[0].classes_[0] = 99
    assert machines[1].classes_[0] == 0


@pytest.mark.parametrize("intercept", ["regularised", "free"])
@pytest.mark.parametrize("name", ["hinge", "squared hinge", "tube", "squared tube"])
def test_a_path_reads_far_fewer_rows_than_separate_fits(name, intercept, monkeypatch):
    """Separate fits take their first steps on an eighth: steps alone do not tell."""
    read, times = [], Design.times

    def counted(design, w, some=None):
        read.append(0 if some is None else some.size)  # all rows: the certificate
        return times(design, w, some)

    monkeypatch.setattr(Design, "times", counted)
    X, y = rows(20_000, 8)
    model = clone(MACHINES[name]).set_params(intercept=intercept)
    prices = np.geomspace(1e-3, 10.0, 10)
    along = maxmargin.path(model, X, y > 0, prices)
    path = sum(read)
    read.clear()
    for C in prices:
        clone(model).set_params(C=C).fit(X, y > 0)
    assert all(machine.certificate_.ok for machine in along)
    assert path < (0.9 if "tube" in name and "squared" in name else 0.7) * sum(read)


@pytest.mark.parametrize("name", ["hinge", "tube"])
def test_far_from_the_price_before_a_kinked_loss_is_solved_from_nothing(name):
    X, y = rows(3000)
    model = clone(MACHINES[name])
    far, near = (maxmargin.path(model, X, y > 0, [0.01, C])[1] for C in (1.0, 0.02))
    assert far.n_iter_ == clone(model).set_params(C=1.0).fit(X, y > 0).n_iter_
    assert near.n_iter_ < clone(model).set_params(C=0.02).fit(X, y > 0).n_iter_


# --- the same answers -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "hinge, free"])
def test_a_path_has_the_same_bits_for_every_number_of_threads(name):
    X, y = rows(20_000, 40)
    found = set()
    for jobs in (1, 2, 3):
        model = clone(MACHINES[name]).set_params(n_jobs=jobs)
        machines = maxmargin.path(model, X, y > 0, [0.01, 0.03, 0.1])
        found.add(b"".join(one.coef_.tobytes() for one in machines))
    assert len(found) == 1


def problem_at(C, squared, free):
    X, y = rows(3000)
    design = Design(X, 0.0 if free else 1.0, Workers(1))
    sign = np.where(y > 0, 1.0, -1.0)
    return linear_svc(design, sign, np.full(len(y), C), squared=squared, free=free)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("kind", [ProximalNewton, Newton, NewtonCg])
def test_a_run_from_a_model_does_not_depend_on_budgets_or_storage(kind, free):
    squared = kind is not ProximalNewton
    before = drive(kind(), problem_at(0.1, squared, free)).model
    warm = WarmStart(3.0 * before.beta, before.w, before.bias)
    problem, solver, ends = problem_at(0.3, squared, free), kind(tol=1e-9), set()
    for budget in (1, 7, 10**9):
        state = solver.start(problem, warm)
        while solver.advance(problem, state, budget) is Status.RUNNING:
            task, state = pickle.loads(pickle.dumps((problem, state)))
        model = solver.model(task if budget == 1 else problem, state)
        assert linear_objective(problem, model).relative_gap <= 1e-9
        ends.add((model.w.tobytes(), model.beta.tobytes(), solver.n_iter(state)))
    assert len(ends) == 1
    assert solver.n_iter(state) < drive(solver, problem).n_iter


@pytest.mark.parametrize("kind", [ProximalNewton, Newton])
def test_a_model_without_weights_is_begun_with_its_dual_variables(kind):
    problem = problem_at(0.1, kind is Newton, free=False)
    known = drive(kind(tol=1e-8), problem).model
    nothing = np.zeros_like(known.w)
    for warm in (WarmStart(known.beta), WarmStart(known.beta, nothing)):
        start = kind().start(problem, warm)
        at = start.at if kind is Newton else start
        np.testing.assert_allclose(at.w, known.pull, rtol=1e-12)
    empty = kind().start(problem, WarmStart(np.zeros(problem.n), nothing))
    at = empty.at if kind is Newton else empty
    assert not at.w.any()


# --- refits -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "hinge, free", "tube"])
def test_a_refit_begins_at_the_weights_whatever_became_of_the_price(name):
    X, y = rows(3000)
    y = y > 0
    model = clone(MACHINES[name]).set_params(C=0.3, warm_start=True)
    model.fit(X, y)
    model.fit(X, y)
    assert model.n_iter_ <= 1
    refits, alone = 0, 0
    for C in (0.6, 0.2, 0.5):
        other = clone(model).set_params(C=C).fit(X, y)
        model.set_params(C=C).fit(X, y)
        assert model.certificate_.ok
        np.testing.assert_allclose(model.coef_, other.coef_, atol=5e-2)
        refits, alone = refits + model.n_iter_, alone + other.n_iter_
    assert refits < 0.8 * alone


def test_dual_variables_tell_by_how_much_their_bounds_grew():
    bound = np.array([1.0, 2.0, 3.0, 0.0, 1.0])
    assert _growth(np.array([0.5, 1.0, 0.2, 0.0, 0.0]), bound) == 2.0
    assert _growth(np.array([4.0, 8.0, 12.0, 0.0, 1.0]), bound) == 0.25
    assert _growth(np.array([0.5, 0.1, 0.2, 0.0, 0.0]), bound) == 1.0  # nobody was full
    assert _growth(np.zeros(5), bound) == 1.0
    assert _growth(np.ones(3), np.full(3, np.inf)) == 1.0


@pytest.mark.parametrize("altered", ["other columns", "no numbers"])
def test_weights_that_cannot_be_gone_on_from_are_left_alone(altered):
    X, y = rows()
    model = LinearSVC(loss="hinge", warm_start=True).fit(X, y > 0)
    if altered == "no numbers":
        model.coef_[0, 0] = np.nan
    else:
        X = X[:, :5]
    model.fit(X, y > 0)
    assert model.certificate_.ok
    alone = LinearSVC(loss="hinge").fit(X, y > 0)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-2)


def test_the_last_two_prices_foretell_the_weights():
    def at(*weights):
        return Before(np.zeros((1, 3)), np.array([weights]), np.zeros(1))

    now = at(2.0, 0.0).along(10.0, (1.0, at(1.0, 0.0)), 100.0)
    assert now.growth == 10.0
    np.testing.assert_allclose(now.trend, [[0.5, 0.0]])
    assert at(2.0, 0.0).along(10.0, (10.0, at(1.0, 0.0)), 100.0).trend is None
    assert at(2.0, 0.0).along(10.0, None, 10.0).growth == 1.0
