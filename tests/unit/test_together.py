"""Small fits in one compiled call: the same answers as one problem after the other."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification

from maxmargin import SVC, certify
from maxmargin.estimators.kernel.fit import solving
from maxmargin.observers import History
from maxmargin.solvers.smo import batch as _together
from maxmargin.solvers.smo.batch import Group, solve_together


@pytest.fixture
def together(monkeypatch):
    """Whether fits went through the one call, in order."""
    taken = []
    able, real = solving.plain_margins, solving.solved_together

    def asked(*args):
        taken.append(False)
        return able(*args)

    def spy(*args):
        found = real(*args)
        taken[-1] = found is not None
        return found

    monkeypatch.setattr(solving, "plain_margins", asked)
    monkeypatch.setattr(solving, "solved_together", spy)
    return taken


def rows_of(kind):
    if kind == "wine":
        return load_wine(return_X_y=True)
    if kind == "iris":
        return load_iris(return_X_y=True)
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    return (sp.csr_matrix(X) if kind == "sparse" else X.astype(np.float32)), y


@pytest.mark.parametrize("kind", ["iris", "wine", "sparse", "float32"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 100.0},
        {"C": 1e-6},
        {"kernel": "linear", "C": 0.01},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 0.1},
        {"multi_class": "ovr"},
        {"multi_class": "ovr", "kernel": "poly", "degree": 3, "coef0": 1.0, "C": 0.1},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_same_bits_as_a_watched_fit(kind, parameters, together):
    X, y = rows_of(kind)
    quick = SVC(**parameters).fit(X, y)
    watched = SVC(callbacks=[History()], **parameters).fit(X, y)
    # A watched fit does not even ask.
    assert together == [True]
    for name in ("support_", "n_iter_", "intercept_", "n_support_"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(watched, name))
    dense = [getattr(one.dual_coef_, "toarray", lambda one=one: one.dual_coef_)()
             for one in (quick, watched)]  # fmt: skip
    np.testing.assert_array_equal(*dense)
    np.testing.assert_allclose(quick.margin_, watched.margin_, rtol=1e-13)
    for mine, theirs in zip(
        quick.certificate_.problems or (quick.certificate_,),
        watched.certificate_.problems or (watched.certificate_,),
        strict=True,
    ):
        differing = {
            field.name
            for field in dataclasses.fields(mine)
            if getattr(mine, field.name) != getattr(theirs, field.name)
        }
        # Sums of β in another order; values of shared rows are counted once.
        assert differing <= {"balance", "seconds", "n_kernel", "problems"}
        assert mine.balance < 1e-15
    assert certify(quick, X, y).ok


@pytest.fixture
def alone(monkeypatch):
    """Whether parts of larger fits had one call each, in any order."""
    taken = []
    real = solving.solved_alone

    def spy(*args, **options):
        found = real(*args, **options)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(solving, "solved_alone", spy)
    return taken


def larger(kind):
    if kind == "digits":
        return load_digits(return_X_y=True)
    n = 900 if kind == "two" else 1500
    X, y = make_classification(
        n, 8, n_informative=6, n_classes=2 if kind == "two" else 5, random_state=0
    )
    return (sp.csr_matrix(X) if kind == "sparse" else X), y


@pytest.mark.parametrize("kind", ["digits", "two", "five", "sparse"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 100.0, "n_jobs": 1},
        {"kernel": "linear", "C": 0.01},
        {"kernel": "poly", "degree": 3, "coef0": 1.0, "C": 0.1},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_small_pairs_of_a_larger_fit_have_one_call_each(kind, parameters, alone):
    X, y = larger(kind)
    parameters = {"gamma": "scale", **parameters}
    quick = SVC(**parameters).fit(X, y)
    pairs = len(np.unique(y)) * (len(np.unique(y)) - 1) // 2
    assert alone == [True] * pairs
    watched = SVC(callbacks=[History(["gap"])], **parameters).fit(X, y)
    assert len(alone) == pairs  # a watched fit does not even ask
    for name in ("support_", "n_iter_", "intercept_", "n_support_"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(watched, name))
    assert abs(quick.dual_coef_ - watched.dual_coef_).max() == 0.0
    assert quick.certificate_.n_kernel == watched.certificate_.n_kernel
    assert certify(quick, X, y).ok


def test_a_pair_that_takes_long_goes_the_general_way(alone, monkeypatch):
    X, y = larger("five")
    monkeypatch.setattr(_together, "pairs_of_a_slice", lambda q: 64)
    some = SVC(C=100.0).fit(X, y)
    assert not all(alone)
    assert len(alone) == 10
    monkeypatch.undo()
    whole = SVC(C=100.0).fit(X, y)
    np.testing.assert_array_equal(some.dual_coef_, whole.dual_coef_)
    assert some.certificate_.ok


def test_the_limit_is_that_of_all_pairs_together(monkeypatch):
    X, y = load_iris(return_X_y=True)
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    pairs = [np.flatnonzero(y != left_out) for left_out in range(3)]
    groups = [
        Group(rows, np.where(y[rows] == y[rows[0]], 1.0, -1.0), np.full(rows.size, 10.0))
        for rows in pairs
    ]
    answers = solve_together(K, np.ones(len(y)), groups, 1e-3)
    steps = [answer.n_iter for answer in answers]
    for limit, solved in ((sum(steps) + 1, True), (max(steps) + 1, False)):
        monkeypatch.setattr(_together, "pairs_of_a_slice", lambda n, most=limit: most)
        again = solve_together(K, np.ones(len(y)), groups, 1e-3)
        assert (again is not None) == solved


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_in_float32_do_not_go_alone(n_classes, alone):
    X, y = make_classification(
        1200 * n_classes // 2, 5, n_informative=4, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=1, random_state=0,
    )  # fmt: skip
    assert SVC().fit(X, y).certificate_.ok
    assert not any(alone)


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": float("inf"), "gamma": 10.0},
        {"fit_intercept": False},
        {"loss": "squared_hinge"},
        {"max_iter": 100_000},
        {"solver": "smo-platt", "random_state": 0},
        {"cache_size": 0.01},
    ],
    ids=str,
)
def test_other_machines_go_the_general_way(parameters, together):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:] + 0.0, y[50:]
    if parameters.get("C") == float("inf"):
        keep = np.unique(X, axis=0, return_index=True)[1]
        X, y = X[keep], y[keep]
    fitted = SVC(**parameters).fit(X, y)
    assert not any(together)
    assert fitted.certificate_.ok


def test_many_rows_go_the_general_way_and_weights_of_zero_are_no_rows(together):
    X, y = make_classification(600, random_state=0)
    SVC().fit(X, y)
    weight = np.arange(200) % 3
    weighted = SVC().fit(X[:200], y[:200], sample_weight=weight)
    assert together == [False, True]
    watched = SVC(callbacks=[History()]).fit(X[:200], y[:200], sample_weight=weight)
    np.testing.assert_array_equal(weighted.support_, watched.support_)
    np.testing.assert_array_equal(weighted.dual_coef_, watched.dual_coef_)
    assert not weighted.support_[weight[weighted.support_] == 0].size


def test_what_takes_long_is_left_to_the_solver(together):
    X, y = make_classification(
        400, 8, n_informative=4, flip_y=0.3, class_sep=0.3, random_state=1
    )
    parameters = {"kernel": "linear", "C": 1e9, "tol": 1e-4, "solver": "smo"}
    limited = SVC(**parameters, time_limit=0.5)
    with pytest.warns(match="time limit"):
        limited.fit(X, y)  # watched by a clock: not asked
    assert together == []
    K = X @ X.T
    everyone = np.arange(400)
    group = Group(everyone, np.where(y == 1, 1.0, -1.0), np.full(400, 1e9))
    assert solve_together(K, np.diagonal(K).copy(), [group], 1e-4) is None


def test_the_answer_of_two_points():
    # w = (1, 0) apart by 2: α = ½ each, b = 0, margin 2 (S1's shape, solved by hand).
    X = np.array([[-1.0, 0.0], [1.0, 0.0]])
    K = X @ X.T
    group = Group(np.array([0, 1]), np.array([-1.0, 1.0]), np.array([10.0, 10.0]))
    (answer,) = solve_together(K, np.diagonal(K).copy(), [group], 1e-6)
    np.testing.assert_allclose(answer.beta, [-0.5, 0.5])
    assert answer.bias == pytest.approx(0.0, abs=1e-15)
    assert answer.norm2 == pytest.approx(1.0)
    assert (answer.n_support, answer.n_bound, answer.cost) == (2, 0, 0.0)


def test_rows_in_any_order_have_the_same_answer():
    # All rows in their order are solved on K itself, in any other on a copy.
    X, y = load_iris(return_X_y=True)
    X, signs = X[50:], np.where(y[50:] == 1, 1.0, -1.0)
    K = X @ X.T
    order = np.random.default_rng(0).permutation(100)
    groups = [
        Group(rows, signs[rows], np.full(100, 0.1)) for rows in (np.arange(100), order)
    ]
    one, other = solve_together(K, np.diagonal(K).copy(), groups, 1e-6)
    assert one.norm2 == pytest.approx(other.norm2, rel=1e-5)
    np.testing.assert_allclose(one.beta[order], other.beta, atol=1e-4)


def test_what_cancels_leaves_nothing_behind():
    # K is the identity but for underflow: two classes of seven points have b = 0.
    X = np.random.default_rng(0).standard_normal((14, 2))
    y = np.arange(14) % 2
    fitted = SVC(gamma=1e6).fit(X, y)
    assert fitted.intercept_.tolist() == [0.0]
    assert SVC(gamma=1e6, callbacks=[History()]).fit(X, y).intercept_.tolist() == [0.0]
