"""NuSVC, SVR, NuSVR, OneClassSVM and SVDD as scikit-learn's users meet them."""

import inspect
import pickle
import re
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import maxmargin
from maxmargin import SVC, SVDD, SVR, InputError, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernels import RBF

PEERS = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")  # scikit-learn has them too
NEW = ("NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD")
every_machine = pytest.mark.parametrize("machine", NEW)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
Z = X[:, 0] - 0.5 * X[:, 1] + 0.1 * RNG.normal(size=60)


def make(machine: str, **options) -> Any:
    return getattr(maxmargin, machine)(**options)


def target(machine: str) -> np.ndarray:
    return Z if "SVR" in machine else Y


def fitted(machine: str, rows=X, **options) -> Any:
    return make(machine, **options).fit(rows, target(machine))


# --- interface --------------------------------------------------------------------------


@pytest.mark.parametrize("machine", PEERS)
def test_parameters_and_defaults_are_scikit_learns(machine):
    theirs = inspect.signature(getattr(sklearn.svm, machine)).parameters
    ours = inspect.signature(getattr(maxmargin, machine)).parameters
    for name, parameter in theirs.items():
        if name in ("probability", "verbose"):  # deprecated there; a count here
            assert name in ours
            continue
        assert ours[name].default == parameter.default, name
    assert {"n_jobs", "time_limit", "callbacks", "warm_start"} <= set(ours)


def test_svdd_has_the_parameters_of_the_one_class_machine():
    both = [inspect.signature(kind).parameters for kind in (OneClassSVM, SVDD)]
    assert {k: v.default for k, v in both[0].items()} == {
        k: v.default for k, v in both[1].items()
    }


@pytest.mark.parametrize("machine", PEERS[1:])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_attributes_have_scikit_learns_shapes(machine, storage):
    rows = storage(X)
    ours = make(machine, gamma=0.5).fit(rows, target(machine))
    theirs = getattr(sklearn.svm, machine)(gamma=0.5).fit(rows, target(machine))
    names = ["support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_"]
    names += ["offset_"] if machine == "OneClassSVM" else []
    names += ["classes_", "class_weight_"] if machine == "NuSVC" else []
    for name in names:
        mine, other = getattr(ours, name), getattr(theirs, name)
        count = [one.support_.size for one in (ours, theirs)]
        wanted = tuple(count[0] if n == count[1] else n for n in other.shape)
        assert mine.shape == wanted, name
        assert mine.dtype == other.dtype, name
        assert sp.issparse(mine) == sp.issparse(other), name
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.fit_status_ == theirs.fit_status_ == 0
    assert np.shape(ours.n_iter_) == np.shape(theirs.n_iter_)
    assert ours.n_features_in_ == 3
    assert ours.gamma_ == 0.5


@every_machine
def test_what_it_is(machine):
    one = make(machine)
    assert is_classifier(one) == (machine == "NuSVC")
    assert is_regressor(one) == ("SVR" in machine)
    assert is_outlier_detector(one) == (machine in ("OneClassSVM", "SVDD"))
    assert clone(one).get_params() == one.get_params()
    assert one.__sklearn_tags__().input_tags.sparse
    assert make(machine, kernel="precomputed").__sklearn_tags__().input_tags.pairwise


@every_machine
def test_copies_predict_the_same(machine):
    one = fitted(machine)
    other = pickle.loads(pickle.dumps(one))
    assert_array_equal(one.predict(X), other.predict(X))
    assert other.certificate_ == one.certificate_


@every_machine
def test_not_fitted(machine):
    with pytest.raises(NotFittedError):
        make(machine).predict(X)


@every_machine
def test_inputs_are_left_alone(machine):
    rows, y, w = X.copy(), target(machine).copy(), np.ones(60)
    for array in (rows, y, w):
        array.flags.writeable = False
    make(machine).fit(rows, y, sample_weight=w)
    assert_array_equal(rows, X)


@every_machine
def test_single_precision_and_column_order(machine):
    one = fitted(machine, tol=1e-6, gamma=0.5)
    other = fitted(machine, np.asfortranarray(X), tol=1e-6, gamma=0.5)
    single = fitted(machine, X.astype(np.float32), tol=1e-6, gamma=0.5)
    assert other.dual_coef_.tobytes() == one.dual_coef_.tobytes()
    assert single.support_vectors_.dtype == np.float32
    assert single.certificate_.dual == pytest.approx(one.certificate_.dual, rel=1e-4)


@every_machine
def test_kernels_by_name_object_function_and_matrix(machine):
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    named = fitted(machine, tol=1e-7, gamma=0.5)
    expected = scores(named, X)
    scale = np.abs(expected).max()

    def gauss(A, B):
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    for rows, kernel in ((X, RBF(gamma=0.5)), (X, gauss), (K, "precomputed")):
        one = fitted(machine, rows, tol=1e-7, kernel=kernel)
        assert_allclose(scores(one, rows), expected, atol=1e-4 * scale)
        assert one.certificate_.dual == pytest.approx(named.certificate_.dual, rel=1e-6)


def scores(one: Any, rows) -> np.ndarray:
    return one.predict(rows) if is_regressor(one) else one.decision_function(rows)


@every_machine
def test_coef_is_for_linear_machines(machine):
    # away from 0, which a linear one-class machine parts from the rows
    one = make(machine, kernel="linear", tol=1e-6).fit(X + 5.0, target(machine))
    assert one.coef_.shape == (1, 3)
    assert_allclose(one.coef_, one.dual_coef_ @ one.support_vectors_, atol=1e-9)
    with pytest.raises(AttributeError, match="linear"):
        fitted(machine).coef_  # noqa: B018
    if machine == "SVDD":
        distance2 = ((X + 5.0 - one.coef_) ** 2).sum(axis=1)
        assert_allclose(-one.score_samples(X + 5.0), distance2, atol=1e-9)
    else:
        expected = (X + 5.0) @ one.coef_[0] + one.intercept_[0]
        assert_allclose(scores(one, X + 5.0), expected, atol=1e-9)


@pytest.mark.parametrize("machine", ["OneClassSVM", "SVDD"])
def test_outliers(machine):
    one = fitted(machine, nu=0.1, tol=1e-6)
    decisions = one.decision_function(X)
    assert_allclose(one.score_samples(X) - one.offset_, decisions, atol=1e-12)
    assert_array_equal(one.predict(X), np.where(decisions >= 0.0, 1, -1))
    assert_array_equal(make(machine, nu=0.1, tol=1e-6).fit_predict(X), one.predict(X))
    assert one.predict([[99.0, 0.0, 0.0]]).tolist() == [-1]
    assert one.offset_.shape == (1,)
    if machine == "SVDD":
        assert one.radius_ == pytest.approx(np.sqrt(-one.offset_[0]))
        assert one.dual_coef_.sum() == pytest.approx(1.0, rel=1e-12)


def test_a_precomputed_ball_needs_k_of_every_row_with_itself():
    rows = X + 5.0
    table = SVDD(kernel="precomputed").fit(rows @ rows.T)
    with pytest.raises(InputError, match=r"SVDD needs k\(x, x\)"):
        table.decision_function(rows @ rows.T)
    assert table.radius_ == pytest.approx(SVDD(kernel="linear").fit(rows).radius_)


def test_predict_regression_of_a_search():
    search = GridSearchCV(SVR(), {"C": [0.1, 10.0], "epsilon": [0.01, 0.5]}, cv=3)
    search.fit(X, Z)
    assert search.best_params_ == {"C": 10.0, "epsilon": 0.01}
    assert search.best_score_ > 0.8


# --- refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["NuSVC", "NuSVR", "OneClassSVM", "SVDD"])
@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1, np.nan, "a", None])
def test_nu_is_a_fraction(machine, nu):
    with pytest.raises((InputError, TypeError), match=r"'nu' parameter.*\(0\.0, 1\.0\]"):
        fitted(machine, nu=nu)


@pytest.mark.parametrize("epsilon", [-0.1, np.inf, np.nan, "a"])
def test_epsilon_is_no_less_than_0(epsilon):
    with pytest.raises((InputError, TypeError), match="'epsilon' parameter"):
        fitted("SVR", epsilon=epsilon)


@pytest.mark.parametrize("machine", ["SVR", "NuSVR"])
@pytest.mark.parametrize("C", [0.0, -1.0, np.nan])
def test_regressions_have_a_price(machine, C):
    with pytest.raises(InputError, match="'C' parameter"):
        fitted(machine, C=C)


def test_the_price_of_nu_svr_is_finite():
    with pytest.raises(InputError, match="'C' parameter"):
        fitted("NuSVR", C=np.inf)


def test_a_hard_tube_holds_every_point():
    one = fitted("SVR", C=np.inf, epsilon=0.2, gamma=1.0, tol=1e-6)
    assert np.abs(Z - one.predict(X)).max() <= 0.2 + 1e-5
    large = fitted("SVR", C=1e6, epsilon=0.2, gamma=1.0, tol=1e-6)
    assert_allclose(one.predict(X), large.predict(X), atol=1e-4)


@pytest.mark.parametrize("machine", ["SVR", "NuSVR"])
@pytest.mark.parametrize(
    "z", [[np.nan] * 60, [np.inf] * 60, ["a"] * 60, np.ones((60, 2)), np.ones(59), None]
)
def test_targets_are_numbers(machine, z):
    with pytest.raises((ValueError, TypeError)):
        make(machine).fit(X, z)


def refused(y, weight=None, name="", **options) -> float:
    """The largest ν that a refusal names, which must do."""
    with pytest.raises(InputError, match="specified nu is infeasible") as error:
        NuSVC(**options).fit(X, y, weight)
    assert name in str(error.value)
    found = re.search(r"largest feasible nu is ([0-9.e-]+)", str(error.value))
    assert found
    limit = float(found[1])
    NuSVC(**(options | {"nu": limit})).fit(X, y, weight)
    return limit


def test_nu_that_is_too_large_for_the_classes():
    y = np.arange(60) < 6
    assert refused(y, nu=0.5) == pytest.approx(0.2, rel=1e-5)
    NuSVC(nu=0.2).fit(X, y)
    NuSVC(nu=0.5, class_weight="balanced").fit(X, y)
    weight = np.where(y, 0.5, 1.1)
    assert refused(y, weight, nu=0.2) == pytest.approx(6.0 / 62.4, rel=1e-5)


def test_the_worst_pair_decides():
    y = np.repeat([0, 1, 2], [30, 25, 5])
    assert refused(y, nu=0.5, name="(0 against 2:") == pytest.approx(2 / 7, rel=1e-5)
    limit = refused(y, nu=0.2, name="(2 against the rest:", multi_class="ovr")
    assert limit == pytest.approx(1 / 6, rel=1e-5)


@every_machine
def test_weights_that_leave_nothing(machine):
    with pytest.raises(InputError):
        make(machine).fit(X, target(machine), sample_weight=np.zeros(60))


@every_machine
def test_warm_start_wants_the_same_rows(machine):
    one = fitted(machine, warm_start=True)
    with pytest.raises(InputError, match=r"warm_start=True goes on.*shape \(60, 3\)"):
        one.fit(X[:50], target(machine)[:50])
    with pytest.raises(InputError, match="warm_start=True"):
        one.fit(X + 1.0, target(machine))


@every_machine
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dual_coef_", np.ones((1, 2))),
        ("intercept_", np.array([np.nan])),
        ("support_vectors_", np.ones((3, 2))),
        ("n_support_", np.array([10**6], np.int32)),
    ],
)
def test_altered_models_are_refused(machine, name, value):
    one = fitted(machine)
    setattr(one, name, value)
    with pytest.raises(InputError, match="altered"):
        one.predict(X)


def test_epsilon_of_nu_svr_is_never_negative():
    for nu in (0.2, 0.9, 1.0):
        one = NuSVR(nu=nu, tol=1e-2).fit(X, Z)
        assert one.epsilon_ >= 0.0


@every_machine
def test_a_second_fit_forgets_the_first(machine):
    one = fitted(machine)
    one.fit(X[:30], target(machine)[:30])
    assert one.shape_fit_ == (30, 3)
    assert_array_equal(
        scores(one, X), scores(make(machine).fit(X[:30], target(machine)[:30]), X)
    )


@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_one_against_the_rest_has_the_same_bits_for_every_n_jobs(kind):
    rng = np.random.default_rng(0)
    n = 700  # more than are solved in one call, which has one thread
    X, y = rng.normal(size=(n, 4)), rng.integers(0, 5, n)
    X += 2.0 * np.eye(5)[y][:, :4]
    given = {"nu": 0.3} if kind is NuSVC else {"C": 10.0}
    found = {
        kind(multi_class="ovr", n_jobs=jobs, **given).fit(X, y).dual_coef_.tobytes()
        for jobs in (1, 2, 4, 4, 4)
    }
    assert len(found) == 1


class Scaled(SVC):
    """A subclass with a fitted attribute of its own, set before the fit."""

    def fit(self, X, y, sample_weight=None):
        self.scaler_ = np.abs(X).max(axis=0)
        return super().fit(X / self.scaler_, y, sample_weight)


def test_a_fit_deletes_what_an_earlier_fit_set_and_nothing_else(tmp_path):
    machine = Scaled(probability=True, random_state=0).fit(X, Y)
    machine.note_ = "of the caller"
    machine.set_params(probability=False).fit(X, Y)
    assert machine.note_ == "of the caller"
    assert_array_equal(machine.scaler_, np.abs(X).max(axis=0))
    assert not hasattr(machine, "probA_")
    maxmargin.save(SVC(probability=True, random_state=0).fit(X, Y), tmp_path / "m")
    loaded = maxmargin.load(tmp_path / "m").set_params(calibration="isotonic").fit(X, Y)
    assert not hasattr(loaded, "probA_")
    assert not hasattr(loaded.set_params(probability=False).fit(X, Y), "calibrators_")
    ball = SVDD(kernel="precomputed").fit(X @ X.T)
    assert not hasattr(ball.set_params(kernel="linear").fit(X), "self_value_")


@pytest.mark.parametrize("given", [{}, {"multi_class": "ovr"}, {"probability": True}])
def test_next_to_no_memory_for_kernel_values(given):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    tiny = SVC(cache_size=1e-6, random_state=0, **given).fit(X, y)
    plenty = SVC(random_state=0, **given).fit(X, y)
    few, many = ([one.dual for one in m.certificate_.problems] for m in (tiny, plenty))
    np.testing.assert_allclose(few, many, rtol=1e-4)


def test_a_python_kernel_is_not_called_by_two_threads_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.integers(0, 4, 600)
    inside, most = [], []

    def kernel(A, B):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.0005)
        inside.pop()
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1))

    SVC(kernel=kernel, n_jobs=4).fit(X, y)
    assert max(most) == 1
