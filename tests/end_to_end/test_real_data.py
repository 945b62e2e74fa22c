"""Whole machines on real data: accuracy, certificate, layouts, precision, and peers."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from tests import data

from maxmargin import SVC, certify

TOL = 1e-3


def ijcnn1_sample() -> data.Split:
    whole = data.ijcnn1()  # a time series: neighbours are alike, so rows are drawn
    some = np.random.default_rng(0).permutation(len(whole.y))[:8000]
    test = np.random.default_rng(1).permutation(len(whole.y_test))[:10000]
    return data.Split(
        whole.X[some], whole.y[some], whole.X_test[test], whole.y_test[test]
    )


class Case(NamedTuple):
    """A set, the parameters it is known by, and the accuracy to be reached."""

    load: Any
    C: float
    gamma: float
    accuracy: float


CASES = {
    "ex6data3": Case(lambda: data.teaching(3), 1.0, 50.0, 0.96),
    "svmguide1": Case(data.svmguide1, 2.0, 2.0, 0.968),
    "ijcnn1": Case(ijcnn1_sample, 32.0, 2.0, 0.98),
    "usps": Case(data.usps, 10.0, 1 / 64, 0.950),
    "letter": Case(data.letter, 16.0, 4.0, 0.979),
    "a9a": Case(data.a9a, 1.0, 1 / 32, 0.849),
}
SLOW = {"letter", "a9a"}
NAMES = [
    pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES
]


@pytest.fixture(scope="module")
def machines():
    """Fitted machines, each made once for all tests of this file."""
    made = {}

    def machine(name: str) -> tuple[SVC, data.Split]:
        case, split = CASES[name], CASES[name].load()
        if name not in made:
            made[name] = SVC(C=case.C, gamma=case.gamma, tol=TOL).fit(split.X, split.y)
        return made[name], split

    return machine


@pytest.mark.parametrize("name", NAMES)
def test_accuracy(machines, name):
    machine, split = machines(name)
    assert machine.fit_status_ == 0
    assert machine.score(split.X_test, split.y_test) >= CASES[name].accuracy


@pytest.mark.parametrize("name", NAMES)
def test_referee_agrees_with_the_certificate(machines, name):
    machine, split = machines(name)
    own, seen = machine.certificate_, certify(machine, split.X, split.y)
    assert own.ok
    assert seen.ok
    assert own.stop.startswith("converged")
    assert own.violation == pytest.approx(seen.violation, rel=1e-3, abs=1e-6)
    assert own.n_support == seen.n_support == len(machine.support_)
    for mine, judged in zip(own.problems or [own], seen.problems or [seen], strict=True):
        assert mine.name == judged.name
        assert mine.violation <= TOL
        assert judged.violation <= TOL
        assert mine.primal == pytest.approx(judged.primal, rel=1e-5)
        assert mine.dual == pytest.approx(judged.dual, rel=1e-5)
        assert mine.relative_gap == pytest.approx(judged.relative_gap, abs=1e-5)
        assert (mine.n_support, mine.n_bound) == (judged.n_support, judged.n_bound)
        assert judged.dual <= judged.primal


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("usps", 1500),
        ("svmguide1", None),
        ("a9a", 2000),
        pytest.param("letter", 6000, marks=pytest.mark.slow),
        pytest.param("a9a", 10000, marks=pytest.mark.slow),
    ],
)
def test_dense_and_sparse_are_the_same_machine(name, n):
    case, split = CASES[name], CASES[name].load()
    layouts = {}
    for layout, convert in (("dense", to_dense), ("sparse", sp.csr_matrix)):
        machine = SVC(C=case.C, gamma=case.gamma, tol=TOL)
        layouts[layout] = machine.fit(convert(split.X[:n]), split.y[:n])
    assert sp.issparse(layouts["sparse"].support_vectors_)
    assert not sp.issparse(layouts["dense"].support_vectors_)

    dense, sparse = to_dense(split.X_test), sp.csr_matrix(split.X_test)
    for machine in layouts.values():
        np.testing.assert_array_equal(machine.predict(dense), machine.predict(sparse))
        np.testing.assert_allclose(
            machine.decision_function(dense), machine.decision_function(sparse), atol=1e-4
        )
    one, other = layouts["dense"], layouts["sparse"]
    assert one.certificate_.ok
    assert other.certificate_.ok
    same = one.predict(dense) == other.predict(sparse)
    assert same.mean() > 0.999
    for mine, judged in zip(
        one.certificate_.problems or [one.certificate_],
        other.certificate_.problems or [other.certificate_],
        strict=True,
    ):
        assert mine.dual == pytest.approx(judged.dual, rel=1e-4)


def to_dense(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_float32_stays_float32(layout):
    split = data.usps()
    convert = sp.csr_matrix if layout == "sparse" else np.asarray
    X, y = convert(split.X[:1500]), split.y[:1500]
    single = SVC(C=10.0, gamma=1 / 64, tol=1e-5).fit(X, y)
    double = SVC(C=10.0, gamma=1 / 64, tol=1e-5).fit(X.astype(np.float64), y)
    assert X.dtype == np.float32
    assert single.support_vectors_.dtype == np.float32
    assert double.support_vectors_.dtype == np.float64
    # The duals are float64 either way, and so is the decision.
    assert single.dual_coef_.dtype == single.intercept_.dtype == np.float64
    test = convert(split.X_test)
    decision = single.decision_function(test)
    assert decision.dtype == np.float64
    np.testing.assert_allclose(
        decision, double.decision_function(test.astype(np.float64)), atol=1e-4
    )
    assert certify(single, X, y).ok
    # Either machine takes rows of the other precision.
    np.testing.assert_array_equal(
        single.predict(test), single.predict(test.astype(np.float64))
    )
    np.testing.assert_array_equal(
        double.predict(test), double.predict(test.astype(np.float64))
    )


@pytest.fixture(
    params=[load_iris, load_wine, load_digits], ids=["iris", "wine", "digits"]
)
def bundled(request):
    X, y = request.param(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_predictions_of_scikit_learn(bundled, kernel, C):
    X, y = bundled
    fit, rest = slice(0, None, 2), slice(1, None, 2)
    how = {"kernel": kernel, "C": C, "tol": 1e-6, "coef0": 1.0}
    ours, theirs = SVC(**how), sklearn.svm.SVC(**how)
    for machine in (ours, theirs):
        machine.fit(X[fit], y[fit])
    np.testing.assert_array_equal(ours.predict(X[rest]), theirs.predict(X[rest]))
    assert ours.score(X[rest], y[rest]) == theirs.score(X[rest], y[rest])
    for shape in ("ovo", "ovr"):
        values = []
        for machine in (ours, theirs):
            machine.set_params(decision_function_shape=shape)
            values.append(machine.decision_function(X[rest]))
        # Two answers within tol of the optimum differ by some tol in f.
        np.testing.assert_allclose(*values, atol=1e-4)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_weights_of_scikit_learn(bundled, C, layout):
    X, y = bundled
    X = sp.csr_matrix(X) if layout == "sparse" else X
    ours = SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
    theirs = sklearn.svm.SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert sp.issparse(ours.coef_) == sp.issparse(theirs.coef_)
    np.testing.assert_allclose(to_dense(ours.coef_), to_dense(theirs.coef_), atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    norms = np.linalg.norm(to_dense(ours.coef_), axis=1)
    np.testing.assert_allclose(ours.margin_, 2.0 / norms, rtol=1e-9)
