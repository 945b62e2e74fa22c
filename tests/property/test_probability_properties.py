"""Probabilities, one against the rest, and the C-path: what they promise of every fit."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import chi2_kernel
from tests import data

from maxmargin import (
    SVC,
    SVR,
    ConvergenceWarning,
    InputError,
    InputTypeError,
    NuSVC,
    NuSVR,
    OneClassSVM,
    path,
)

# Random rows may overlap by more than nu allows, which is told (and tested elsewhere).
pytestmark = pytest.mark.filterwarnings("ignore:nu=.* is too small for these data")

KINDS = {"SVC": (SVC, {"C": 2.0}), "NuSVC": (NuSVC, {"nu": 0.3})}


def clouds(k: int, n=90, seed=0) -> tuple[np.ndarray, np.ndarray]:
    """k classes of points in the plane, which overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    angle = 2.0 * np.pi * y / k
    X = 1.3 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(n, 2))
    return X, y


def make(kind: str, **more):
    made, options = KINDS[kind]
    always = {"probability": True, "random_state": 0, "gamma": 0.5}
    return made(**(always | options | more))


CASES = pytest.mark.parametrize(
    ("kind", "multi_class", "calibration", "k"),
    list(product(KINDS, ("ovo", "ovr"), ("sigmoid", "isotonic"), (2, 3, 4))),
)


# --- probabilities ----------------------------------------------------------------------


@CASES
def test_probabilities_and_predictions_agree(kind, multi_class, calibration, k):
    X, y = clouds(k)
    names = np.array(["ash", "birch", "cedar", "dogwood"])[y]
    one = make(kind, multi_class=multi_class, calibration=calibration).fit(X, names)
    new = np.random.default_rng(9).normal(size=(200, 2)) * 2.0
    p = one.predict_proba(new)
    assert p.shape == (200, k)
    assert_allclose(p.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert ((p >= 0.0) & (p <= 1.0)).all()
    assert (one.predict(new) == one.classes_[p.argmax(axis=1)]).all()
    with np.errstate(divide="ignore"):
        assert_allclose(one.predict_log_proba(new), np.log(p), atol=1e-12)
    assert one.score(X, names) > 1.5 / k  # they say something
    assert p.max(axis=1).std() > 0.01


@CASES
def test_seeds_and_threads(kind, multi_class, calibration, k):
    X, y = clouds(k)
    options = {"multi_class": multi_class, "calibration": calibration}
    first = make(kind, n_jobs=1, **options).fit(X, y).predict_proba(X)
    for n_jobs in (1, 2, 3):
        again = make(kind, n_jobs=n_jobs, **options).fit(X, y)
        assert again.predict_proba(X).tobytes() == first.tobytes()
    rows = make(kind, **options).fit(sp.csr_array(X), y)
    assert_allclose(rows.predict_proba(X), first, atol=1e-6)
    other = make(kind, **options).set_params(random_state=1).fit(X, y)
    assert np.abs(other.predict_proba(X) - first).max() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_do_not_change_the_machine(kind):
    X, y = clouds(3)
    one = make(kind).fit(X, y)
    plain = make(kind).set_params(probability=False).fit(X, y)
    for name in ("dual_coef_", "intercept_", "support_"):
        assert getattr(one, name).tobytes() == getattr(plain, name).tobytes()
    with pytest.raises(AttributeError, match="predict_proba"):
        plain.predict_proba(X)
    assert one.probA_.shape == one.probB_.shape == (3,)
    assert (one.probA_ < 0.0).all()  # a larger decision is a larger probability


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("few", [1, 2, 3])
def test_tiny_classes(few, k, multi_class, calibration):
    X, y = clouds(k)
    kept = np.concatenate([np.flatnonzero(y == 0)[:few], np.flatnonzero(y > 0)])
    if k == 2 and few == 1:
        kept = np.concatenate([kept[:1], np.flatnonzero(y == 1)])
    one = make("SVC", multi_class=multi_class, calibration=calibration)
    p = one.fit(X[kept], y[kept]).predict_proba(X)
    assert np.isfinite(p).all()
    assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert p[:, 0].mean() < 0.4  # few rows are no reason for a large share


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("few", [1, 2, 3])
def test_tiny_classes_of_nu_svc(few, multi_class, calibration):
    X, y = clouds(3)
    kept = np.concatenate([np.flatnonzero(y == 0)[:few], np.flatnonzero(y > 0)])
    limit = 2.0 * few / (few + 60 if multi_class == "ovr" else few + 30)
    one = make("NuSVC", multi_class=multi_class, calibration=calibration, nu=0.99 * limit)
    one.set_params(gamma=5.0)  # so small a ν needs classes that can be told apart
    p = one.fit(X[kept], y[kept]).predict_proba(X)
    assert np.isfinite(p).all()
    assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


def test_two_rows():
    p = make("SVC").fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0], [1.0]])
    assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_weight_do_not_count(kind, k):
    X, y = clouds(k)
    weight = np.random.default_rng(2).choice([0.0, 1.0, 2.0], len(y))
    some = make(kind).fit(X, y, weight)
    other = X.copy()
    other[weight == 0.0] += 100.0  # wherever they are
    assert_allclose(
        some.predict_proba(X),
        make(kind).fit(other, y, weight).predict_proba(X),
        atol=1e-9,
    )
    assert (weight[some.support_] > 0.0).all()
    assert_allclose(some.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_move_probabilities(kind):
    X, y = clouds(2, n=200)
    plain = make(kind).fit(X, y).predict_proba(X)
    heavy = make(kind, nu=0.15) if kind == "NuSVC" else make(kind)
    moved = heavy.fit(X, y, np.where(y == 1, 5.0, 1.0)).predict_proba(X)
    assert moved[:, 1].mean() > plain[:, 1].mean() + 0.1


def test_a_callback_that_ends_folds_is_told_and_warned_about():
    X, y = clouds(2)
    names = []
    one = make("SVC", callbacks=lambda snapshot: names.append(snapshot.name)).fit(X, y)
    assert len(names) >= 6  # the machine and its folds
    assert one.certificate_.ok


def test_two_classes_overlap_as_much_as_probabilities_say():
    X, y = data.libsvm("german.numer_scale")
    train, test = slice(0, 700), slice(700, None)
    one = SVC(probability=True, random_state=0).fit(X[train], y[train])
    p = one.predict_proba(X[test])[:, 1]
    share = (y[test] == one.classes_[1]).mean()
    assert p.mean() == pytest.approx(share, abs=0.05)
    assert (
        np.mean((p - (y[test] == one.classes_[1])) ** 2) < 0.19
    )  # share·(1−share) = 0.21


# --- one against the rest ---------------------------------------------------------------


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [3, 4])
def test_one_against_the_rest_is_k_binary_machines(kind, k, storage):
    X, y = clouds(k)
    weight = 1.0 + np.arange(len(y)) % 3
    options = {"multi_class": "ovr", "probability": False, "tol": 1e-6}
    one = make(kind, **options).fit(storage(X), y, weight)
    decisions = one.decision_function(X)
    assert decisions.shape == (len(y), k)
    assert one.dual_coef_.shape == (k, one.support_.size)
    assert one.intercept_.shape == (k,)
    for label in range(k):
        binary = make(kind, probability=False, tol=1e-6).fit(X, y == label, weight)
        expected = binary.decision_function(X)
        atol = 1e-3 * np.abs(expected).max()
        assert_allclose(decisions[:, label], expected, atol=atol)
        mine = one.certificate_.problems[label]
        assert mine.name == f"{label} against the rest"
        assert mine.dual == pytest.approx(binary.certificate_.dual, rel=1e-6)
    assert (one.predict(X) == decisions.argmax(axis=1)).all()
    two = make(kind, **options).fit(X[y < 2], y[y < 2])
    plain = make(kind, probability=False, tol=1e-6).fit(X[y < 2], y[y < 2])
    assert two.dual_coef_.tobytes() == plain.dual_coef_.tobytes()


def test_pairs_have_no_decisions_of_one_against_the_rest():
    X, y = clouds(3)
    one = SVC(multi_class="ovr", decision_function_shape="ovo").fit(X, y)
    with pytest.raises(InputError, match="decision_function_shape='ovo' needs"):
        one.decision_function(X)


# --- the path ---------------------------------------------------------------------------

PRICES = [3.0, 0.01, 100.0, 0.3, 30.0, 100.0]


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("k", [2, 3])
def test_path_of_a_classifier(k, loss, multi_class):
    X, y = clouds(k)
    weight = 0.5 + np.arange(len(y)) % 3
    plain = SVC(tol=1e-6, loss=loss, gamma=0.5, multi_class=multi_class)
    machines = path(plain, X, y, PRICES, sample_weight=weight)
    assert [one.C for one in machines] == PRICES
    assert not hasattr(plain, "support_")
    for one in machines:
        alone = SVC(**one.get_params()).fit(X, y, weight)
        assert one.certificate_.ok
        assert_allclose(
            one.decision_function(X), alone.decision_function(X), atol=1e-3 * one.C**0.5
        )
        pairs = zip(
            one.certificate_.problems or (one.certificate_,),
            alone.certificate_.problems or (alone.certificate_,),
            strict=True,
        )
        for mine, other in pairs:
            assert mine.dual == pytest.approx(other.dual, rel=1e-6)


@pytest.mark.parametrize("kind", [SVR, NuSVR])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_path_of_a_regression(kind, kernel):
    X, y = clouds(2)
    z = np.sin(X[:, 0]) + 0.1 * y
    machines = path(kind(tol=1e-6, kernel=kernel, gamma=0.5), X, z, PRICES)
    assert [one.C for one in machines] == PRICES
    for one in machines:
        alone = kind(**one.get_params()).fit(X, z)
        assert one.certificate_.ok
        assert one.certificate_.dual == pytest.approx(alone.certificate_.dual, rel=1e-6)
        assert_allclose(one.predict(X), alone.predict(X), atol=1e-3)


def test_a_price_that_nobody_pays_is_not_solved_again():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    machines = path(
        SVC(kernel="linear", tol=1e-8), X, [0, 0, 1, 1], [1e3, 0.1, 10.0, 1e9]
    )
    assert [int(one.n_iter_[0]) > 0 for one in machines] == [False, True, True, False]
    for one in machines:
        assert one.certificate_.ok
        assert_allclose(one.coef_, [[1.0 if one.C > 1.0 else 0.5]], rtol=1e-6)
    z = np.array([-2.0, -1.0, 1.0, 2.0])
    machines = path(SVR(kernel="linear", tol=1e-8), X, z, [1e6, 1e-3, 1e3])
    assert [one.n_iter_ > 0 for one in machines] == [False, True, True]
    assert_allclose(machines[0].coef_, machines[2].coef_)


def test_a_path_is_shorter_than_its_parts():
    X, y = clouds(2, n=300)
    prices = np.geomspace(0.1, 100.0, 12)
    machines = path(SVC(gamma=0.5), X, y, prices)
    alone = [SVC(gamma=0.5, C=C).fit(X, y) for C in prices]
    assert sum(int(one.n_iter_[0]) for one in machines) < sum(
        int(one.n_iter_[0]) for one in alone
    )
    values = [one.certificate_.n_kernel for one in machines]
    assert values[0] > 0
    assert sum(values) < sum(one.certificate_.n_kernel for one in alone)


def test_a_path_has_probabilities():
    X, y = clouds(3)
    for one in path(make("SVC"), X, y, [0.1, 10.0]):
        alone = make("SVC", C=one.C).fit(X, y)
        assert_allclose(one.predict_proba(X), alone.predict_proba(X), atol=2e-2)


@pytest.mark.parametrize(
    ("estimator", "prices", "kind", "said"),
    [
        (
            OneClassSVM(),
            [1.0],
            InputTypeError,
            "path needs a machine of maxmargin with C.*OneClassSVM",
        ),
        (NuSVC(), [1.0], InputTypeError, "NuSVC"),
        (SVC(), [], InputError, r"shape \(0,\)"),
        (SVC(), 1.0, InputError, r"shape \(\)"),
        (SVC(), ["a"], InputTypeError, "positive numbers"),
        (SVC(), [1.0, -1.0], InputError, "'C' parameter"),
        (NuSVR(), [1.0, np.inf], InputError, "'C' parameter"),
    ],
)
def test_what_a_path_refuses(estimator, prices, kind, said):
    X, y = clouds(2)
    with pytest.raises(kind, match=said):
        path(estimator, X, y, prices)


def test_a_path_goes_on_where_an_answer_was_not_finished():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    machine = SVC(max_iter=20, gamma=1.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=20"):
        found = path(machine, X, y, [1e4, 1e5])
    assert [one.n_iter_.tolist() for one in found] == [[20], [20]]


def test_folds_of_a_saturated_price_are_not_solved_again():
    X, y = load_iris(return_X_y=True)
    machine = SVC(probability=True, random_state=0, gamma=1.0)
    first, second, third = path(machine, X[:100], y[:100], [1e3, 1e4, 1e5])
    assert first.certificate_.n_kernel > 0
    for one in (second, third):
        assert one.n_iter_.tolist() == [0]
        assert one.certificate_.n_kernel == 0
        np.testing.assert_array_equal(one.probA_, first.probA_)


def test_folds_without_a_margin_still_tell_the_classes_apart():
    X, y = load_iris(return_X_y=True)
    X = X[50:] + 0.6 * np.random.default_rng(0).normal(size=(100, 4))
    machine = NuSVC(nu=0.2, probability=True, random_state=0).fit(X, y[50:])
    assert machine.score(X, y[50:]) > 0.8


def test_folds_that_are_stopped_leave_a_usable_prediction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 10))
    y = (X[:, 0] + 0.1 * rng.normal(size=1500) > 0).astype(int)
    # the machine itself takes more steps than any fold is given
    limit = SVC(C=1e4).fit(X, y).n_iter_[0] // 20
    with pytest.warns(ConvergenceWarning, match="Where folds were stopped"):
        machine = SVC(C=1e4, probability=True, random_state=0, max_iter=int(limit)).fit(
            X, y
        )
    by_sign = (machine.decision_function(X) > 0.0) == (y == 1)
    assert machine.score(X, y) > by_sign.mean() - 0.05


def test_a_kernel_function_may_want_to_write():
    X, y = load_iris(return_X_y=True)
    assert SVC(kernel=chi2_kernel).fit(X, y).score(X, y) > 0.9
