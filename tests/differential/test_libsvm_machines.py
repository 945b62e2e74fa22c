"""NuSVC, SVR, NuSVR, OneClassSVM against LIBSVM on real data; SVDD by way of one-class.

Both answers are judged here, from their coefficients and a float64 kernel matrix, so that
nobody's own figure is believed. Rows with weights of their own go to scikit-learn's copy
of LIBSVM, which has them. (For SVC, see ``test_libsvm.py``.)
"""

from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from libsvm.svmutil import svm_parameter, svm_problem, svm_train
from numpy.testing import assert_allclose
from tests import data
from tests.differential.test_libsvm import gram
from threadpoolctl import threadpool_limits

import maxmargin
from maxmargin import SVC, SVDD, IndefiniteKernelWarning, NuSVC, OneClassSVM, certify

TYPES = {"SVC": 0, "NuSVC": 1, "OneClassSVM": 2, "SVR": 3, "NuSVR": 4}  # LIBSVM's -s
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")  # LIBSVM's -t
SETS = {
    "SVC": ("heart_scale",),
    "NuSVC": ("heart_scale", "diabetes_scale", "sonar"),
    "OneClassSVM": ("heart_scale", "fourclass_scale", "ionosphere"),
    "SVR": ("housing_scale", "abalone", "560_bodyfat"),
    "NuSVR": ("housing_scale", "abalone", "560_bodyfat"),
}
SETTINGS = {
    "SVC": {"C": 2.0},
    "NuSVC": {"nu": 0.6},
    "OneClassSVM": {"nu": 0.2},
    "SVR": {"C": 2.0, "epsilon": 0.2},
    "NuSVR": {"C": 2.0, "nu": 0.4},
}
# SVC meets everything but a precomputed matrix in its own file.
CASES = [
    case
    for machine in TYPES
    for case in product(
        [machine], SETS[machine], KERNELS, ("dense", "sparse"), ("equal", "weighted")
    )
    if case[2:4] != ("precomputed", "sparse")
    if machine != "SVC" or case[2] == "precomputed"
]
TOL = 1e-8


@cache
def load(name: str, rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """At most ``rows`` rows, features in [−1, 1], labels ±1 or targets of unit spread."""
    if name == "abalone":
        table = np.loadtxt(
            data.find("regression/abalone.data"),
            delimiter=",",
            skiprows=1,
            usecols=range(1, 9),
        )
        X, y = table[:, :-1], table[:, -1]
    elif (data.folder() / "libsvm" / name).exists():
        X, y = data.libsvm(name)
        X = X.toarray()
    else:
        X, y = data.pmlb(name)
    some = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X[some], np.array(y[some], dtype=float)
    low, high = X.min(axis=0), X.max(axis=0)
    X = 2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0
    if np.unique(y).size == 2:
        return X, np.where(y == y.max(), 1.0, -1.0)
    return X, (y - y.mean()) / y.std()


def settings(kernel: str, d: int) -> dict[str, Any]:
    """Kernel parameters; a sigmoid of larger gamma is violently indefinite."""
    return {
        "gamma": 0.01 / d if kernel == "sigmoid" else 1.0 / d,
        "degree": 3,
        "coef0": 1.0 if kernel == "poly" else 0.0,
    }


def tolerance(kernel: str) -> float:
    """A sigmoid's local optima are compared with nobody's."""
    return 1e-4 if kernel == "sigmoid" else TOL


class Answer(NamedTuple):
    """f(x) = K·coef + intercept, over all rows."""

    coef: np.ndarray
    intercept: float


class Question(NamedTuple):
    """One case: rows as the library gets them, kernel matrix, and the rest."""

    machine: str
    kernel: str
    rows: Any
    K: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    options: dict[str, Any]

    @property
    def counts(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.weight is None else self.weight


def question(machine, name, kernel, layout, weights) -> Question:
    X, y = load(name)
    if machine == "OneClassSVM":
        X = 0.5 * (X + 1.0)  # a plane can part points from 0 that do not surround it
    how = settings(kernel, X.shape[1])
    # a precomputed matrix: a kernel that has no name here
    K = gram(X, "rbf", 0.5 / X.shape[1], 3, 0.0) + 0.1 * X @ X.T
    if kernel != "precomputed":
        K = gram(X, kernel, **how)
    rows = K if kernel == "precomputed" else X
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    return Question(
        machine=machine,
        kernel=kernel,
        rows=sp.csr_matrix(rows) if layout == "sparse" else rows,
        K=K,
        y=y,
        weight=weight if weights == "weighted" else None,
        options=SETTINGS[machine] | how,
    )


def ours(one: Question) -> tuple[Any, Answer]:
    kind = getattr(maxmargin, one.machine)
    machine = kind(kernel=one.kernel, tol=tolerance(one.kernel), **one.options)
    machine.fit(one.rows, one.y, sample_weight=one.weight)
    return machine, answer_of(machine, len(one.y))


def answer_of(machine: Any, n: int) -> Answer:
    """Of a machine of ours or scikit-learn's."""
    coef, found = np.zeros(n), machine.dual_coef_
    coef[machine.support_] = (found.toarray() if sp.issparse(found) else found)[0]
    return Answer(coef, float(machine.intercept_[0]))


def theirs(one: Question) -> Answer:
    """LIBSVM without shrinking: with it, it stops percents short on some of these."""
    if one.weight is not None:
        kind = getattr(sklearn.svm, one.machine)
        peer = kind(kernel=one.kernel, tol=TOL, shrinking=False, **one.options)
        return answer_of(peer.fit(one.rows, one.y, one.weight), len(one.y))
    letters = {"C": "c", "nu": "n", "epsilon": "p", "gamma": "g", "degree": "d"}
    said = " ".join(f"-{letters.get(k, 'r')} {v!r}" for k, v in one.options.items())
    table = one.kernel == "precomputed"
    rows = one.rows
    if table:  # LIBSVM wants the number of the row in front
        rows = np.column_stack([np.arange(1.0, len(one.y) + 1.0), rows])
    options = f"-q -s {TYPES[one.machine]} -t {KERNELS.index(one.kernel)} -e 1e-8 -h 0 "
    with threadpool_limits(1):  # its threads spin, to no use on so few rows
        model = svm_train(svm_problem(one.y, rows, table), svm_parameter(options + said))
    coef = np.zeros(len(one.y))
    coef[np.array(model.get_sv_indices()) - 1] = np.ravel(model.get_sv_coef())
    # Of a classifier, f is positive for the label that came first.
    sign = 1.0
    if "SVC" in one.machine:
        sign = float(model.get_labels()[0])
    return Answer(sign * coef, -sign * model.rho[0])


def dual(one: Question, answer: Answer) -> float:
    """What is maximised, of feasible coefficients; they are looked at too."""
    beta, w = answer.coef, one.counts
    nu = one.options.get("nu", 0.0)
    if one.machine == "NuSVC":
        beta = beta * (nu * w.sum() / np.abs(beta).sum())  # ρ undone
        assert abs(beta.sum()) <= 1e-8 * w.sum()
    if one.machine == "OneClassSVM":
        assert beta.sum() == pytest.approx(nu * w.sum(), rel=1e-8)
    top = one.options.get("C", 1.0) * w
    assert (np.abs(beta) <= top * (1.0 + 1e-8)).all()
    value = -0.5 * beta @ one.K @ beta
    if one.machine in ("SVR", "NuSVR"):
        assert abs(beta.sum()) <= 1e-8 * top.sum()
        value += one.y @ beta - one.options.get("epsilon", 0.0) * np.abs(beta).sum()
    if one.machine == "NuSVR":
        assert np.abs(beta).sum() <= nu * top.sum() * (1.0 + 1e-8)
    if one.machine == "SVC":
        value += np.abs(beta).sum()
    return float(value)


def is_convex(one: Question) -> bool:
    spectrum = np.linalg.eigvalsh(one.K)
    return bool(spectrum[0] >= -1e-12 * spectrum[-1])


@pytest.mark.parametrize(("machine", "name", "kernel", "layout", "weights"), CASES)
@pytest.mark.filterwarnings("ignore::maxmargin.IndefiniteKernelWarning")
def test_same_answer(machine, name, kernel, layout, weights):
    one = question(machine, name, kernel, layout, weights)
    fitted, mine = ours(one)
    assert fitted.certificate_.ok
    seen = certify(fitted, one.rows, one.y, one.weight)
    assert seen.violation <= 1.01 * tolerance(kernel)
    assert seen.feasible
    assert fitted.certificate_.dual == pytest.approx(seen.dual, rel=1e-9)
    value = dual(one, mine)
    assert fitted.certificate_.dual == pytest.approx(value, rel=1e-9)
    if not is_convex(one):
        # Two solvers may stop at different local optima; the conditions hold, above.
        assert kernel == "sigmoid"
        return
    other = theirs(one)
    best = dual(one, other)
    assert value == pytest.approx(best, rel=1e-6)
    assert value >= best - 1e-7 * abs(best)
    decisions = fitted.predict if "SVR" in machine else fitted.decision_function
    expected = one.K @ other.coef + other.intercept
    scale = np.abs(expected).max()
    # LIBSVM's kernel values are float32.
    assert_allclose(decisions(one.rows), expected, atol=5e-5 * scale)
    assert mine.intercept == pytest.approx(other.intercept, abs=5e-5 * scale)
    if machine == "OneClassSVM":
        assert fitted.offset_ == pytest.approx(-mine.intercept, rel=1e-15)
    if machine == "NuSVR":
        # LIBSVM prints the width of its tube and forgets it; free points are on it.
        top = one.options["C"] * one.counts
        free = (np.abs(other.coef) > 1e-3 * top) & (np.abs(other.coef) < 0.999 * top)
        assert free.sum() >= 3
        width = np.abs(one.y - expected)[free]
        assert_allclose(width, fitted.epsilon_, atol=5e-5 * scale)


@pytest.mark.parametrize("weights", ["equal", "weighted"])
@pytest.mark.parametrize("machine", ["NuSVC", "OneClassSVM", "SVR", "NuSVR"])
def test_coefficients_where_they_are_unique(machine, weights):
    X, _ = load(SETS[machine][0])
    one = question(machine, SETS[machine][0], "rbf", "dense", weights)
    one = one._replace(
        rows=X, K=gram(X, "rbf", 1.0, 3, 0.0), options=one.options | {"gamma": 1.0}
    )
    assert np.linalg.eigvalsh(one.K)[0] > 1e-4
    (fitted, mine), other = ours(one), theirs(one)
    largest = np.abs(other.coef).max()
    assert_allclose(mine.coef, other.coef, atol=1e-3 * largest)
    sure = np.abs(other.coef) > 2e-3 * largest
    assert 10 < sure.sum()
    assert set(np.flatnonzero(sure)) <= set(fitted.support_)


@pytest.mark.parametrize("machine", ["NuSVC", "OneClassSVM", "SVR", "NuSVR"])
def test_an_indefinite_sigmoid_says_so(machine):
    X, y = load(SETS[machine][0])
    how = {"gamma": 0.5, "coef0": -1.0, **SETTINGS[machine]}
    fitted = getattr(maxmargin, machine)(kernel="sigmoid", max_iter=20_000, **how)
    with pytest.warns(IndefiniteKernelWarning, match="sigmoid"):
        fitted.fit(X, y)
    assert certify(fitted, X, y).violation <= 1.01e-3


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("name", SETS["OneClassSVM"])
def test_svdd_of_constant_k_is_the_one_class_machine_of_libsvm(name, layout):
    one = question("OneClassSVM", name, "rbf", layout, "equal")
    ball = SVDD(kernel="rbf", tol=TOL, nu=0.2, gamma=one.options["gamma"]).fit(one.rows)
    other = theirs(one)
    alpha, mass = answer_of(ball, len(one.y)).coef, 0.2 * len(one.y)
    expected = one.K @ other.coef + other.intercept
    assert_allclose(
        ball.decision_function(one.rows) * mass / 2,
        expected,
        atol=2e-5 * np.abs(expected).max(),
    )
    beta = mass * alpha
    assert beta @ one.K @ beta == pytest.approx(other.coef @ one.K @ other.coef, rel=1e-6)


# --- several classes ------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("weights", ["equal", "weighted"])
@pytest.mark.parametrize("name", ["iris", "wine_recognition"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pairs_of_nu_machines(name, kernel, weights, layout):
    X, y = data.pmlb(name)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    weight = weight if weights == "weighted" else None
    # 15.5 a side: a whole number could put every α at 0 or 1 and leave ρ open
    how = {"nu": 0.31, "kernel": kernel, "tol": TOL, "decision_function_shape": "ovo"}
    rows = sp.csr_matrix(X) if layout == "sparse" else X
    mine = NuSVC(**how).fit(rows, y, weight)
    peer = sklearn.svm.NuSVC(gamma=mine.gamma_, shrinking=False, **how)
    peer.fit(rows, y, weight)
    expected = peer.decision_function(rows)
    scale = np.abs(expected).max()
    assert_allclose(mine.decision_function(rows), expected, atol=5e-5 * scale)
    assert_allclose(mine.intercept_, peer.intercept_, atol=5e-5 * scale)
    assert (mine.predict(rows) == peer.predict(rows)).all()


def test_class_weights_of_nu_svc_are_not_ignored():
    # scikit-learn ignores them; sample weights of the same size are the referee.
    X, y = load("heart_scale")
    weights = {-1.0: 0.5, 1.0: 2.0}
    how = {"nu": 0.3, "gamma": 1 / 13, "tol": TOL}
    mine = NuSVC(class_weight=weights, **how).fit(X, y)
    peer = sklearn.svm.NuSVC(**how).fit(X, y, [weights[label] for label in y])
    plain = sklearn.svm.NuSVC(**how).fit(X, y)
    decisions = mine.decision_function(X)
    assert_allclose(decisions, peer.decision_function(X), atol=1e-4)
    assert np.abs(decisions - plain.decision_function(X)).max() > 0.1


@pytest.mark.parametrize("name", ["iris", "wine_recognition", "glass"])
def test_one_against_the_rest_by_libsvm(name):
    X, y = data.pmlb(name)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    mine = SVC(multi_class="ovr", tol=TOL, gamma=0.1).fit(X, y)
    for column, label in enumerate(mine.classes_):
        peer = sklearn.svm.SVC(tol=TOL, gamma=0.1).fit(X, y == label)
        decisions = mine.decision_function(X)[:, column]
        assert_allclose(decisions, peer.decision_function(X), atol=1e-4)


def test_offsets_of_one_class_machines_are_scikit_learns():
    X, _ = load("heart_scale")
    mine = OneClassSVM(nu=0.1, gamma=0.1, tol=TOL).fit(X)
    peer = sklearn.svm.OneClassSVM(nu=0.1, gamma=0.1, tol=TOL).fit(X)
    assert_allclose(mine.offset_, peer.offset_, rtol=1e-5)
    assert_allclose(mine.score_samples(X), peer.score_samples(X), rtol=1e-5)
    clear = np.abs(mine.decision_function(X)) > 1e-5  # free points are at 0
    assert clear.mean() > 0.8
    assert (mine.predict(X) == peer.predict(X))[clear].all()
