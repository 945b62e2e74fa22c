"""The dual objective against LIBSVM's, on real data.

Both duals are recomputed here from the coefficients, with a float64 kernel matrix, so
that nobody's own figure is believed. Both are lower bounds of the same optimum: the
higher one is the better answer.
"""

import warnings
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from libsvm.svmutil import svm_parameter, svm_problem, svm_train
from sklearn.exceptions import ConvergenceWarning
from tests import data
from threadpoolctl import threadpool_limits

from maxmargin import SVC, IndefiniteKernelWarning, certify

SETS = (
    "heart_scale",
    "german.numer_scale",
    "diabetes_scale",
    "breast-cancer",
    "fourclass_scale",
    "a1a",
    "ionosphere",
    "sonar",
    "wine_recognition",
    "iris",
    "glass",
)
KERNELS = ("linear", "poly", "rbf", "sigmoid")  # in the order of LIBSVM's -t
WEIGHTS = ("unweighted", "class weights", "sample weights")
PRICES = (1e-3, 1.0, 100.0, 1e4)
LAYOUTS = ("dense", "sparse")

# One case in 13 is for every run; 13 shares no factor with the numbers of choices, so
# these cases meet every pair of kernel, weights, C and layout. Beginning at 2 avoids the
# longest, linear machines at C = 10⁴.
CASES = [
    pytest.param(*case, marks=() if number % 13 == 2 else pytest.mark.slow)
    for number, case in enumerate(product(SETS, KERNELS, WEIGHTS, PRICES, LAYOUTS))
]

TOL = 1e-6
AGREE = 1e-6


class Betas(NamedTuple):
    """A machine of any library: its coefficients, in LIBSVM's layout."""

    order: list[float]  # labels, in the library's own order
    support: np.ndarray
    owner: np.ndarray  # position in ``order`` of the class of each support vector
    coef: np.ndarray  # (classes − 1, support vectors)

    def pairs(self, n: int) -> dict[tuple[float, float], np.ndarray]:
        """β over all n rows, of every two classes; positive for the lower label."""
        out = {}
        for i, j in combinations(range(len(self.order)), 2):
            beta = np.zeros(n)
            for own, line in ((i, j - 1), (j, i)):
                mine = self.owner == own
                beta[self.support[mine]] = np.abs(self.coef[line, mine])
            first, second = sorted((self.order[i], self.order[j]))
            beta[self.support[self.owner == self.order.index(second)]] *= -1.0
            out[first, second] = beta
        return out


@cache
def load(name: str, rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """At most ``rows`` rows of a set, features in [−1, 1]."""
    if (data.folder() / "libsvm" / name).exists() or name == "a1a":
        X, y = data.libsvm(name)
        X = X.toarray()
    else:
        X, y = data.pmlb(name)
    if name == "breast-cancer":
        X = X[:, 1:]  # the first is the patient's number
    some = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X[some], y[some].astype(float)
    if name != "a1a":  # zeros and ones, mostly zeros
        low, high = X.min(axis=0), X.max(axis=0)
        X = 2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0
    return X, y


def sample(name: str, kernel: str, C: float) -> tuple[np.ndarray, np.ndarray]:
    # Few features and a large price: pairwise methods, LIBSVM's too, crawl here, and 10⁷
    # steps may not reach 1e-2. On few rows they do not.
    flat = kernel == "linear" or (kernel == "poly" and name == "fourclass_scale")
    return load(name, 100 if flat and C > 100.0 else 300)


def settings(kernel: str, d: int) -> dict[str, Any]:
    """Kernel parameters. A large gamma makes sigmoid violently indefinite."""
    gamma = 0.01 / d if kernel == "sigmoid" else 1.0 / d
    return {
        "kernel": kernel,
        "gamma": gamma,
        "degree": 3,
        "coef0": 1.0 if kernel == "poly" else 0.0,
    }


def gram(X: np.ndarray, kernel: str, gamma: float, degree: int, coef0: float) -> Any:
    dots = X @ X.T
    if kernel == "linear":
        return dots
    if kernel == "rbf":
        norms = np.diag(dots)
        return np.exp(-gamma * np.maximum(0.0, norms[:, None] + norms - 2.0 * dots))
    base = gamma * dots + coef0
    return base**degree if kernel == "poly" else np.tanh(base)


def class_weights(y: np.ndarray) -> dict[int, float]:
    return {int(label): 0.5 + place for place, label in enumerate(np.unique(y))}


def sample_weights(y: np.ndarray) -> np.ndarray:
    return np.random.default_rng(1).integers(1, 4, len(y)).astype(float)


def prices(weights: str, C: float, y: np.ndarray) -> np.ndarray:
    """C of every row."""
    if weights == "class weights":
        factor = class_weights(y)
        return C * np.array([factor[int(label)] for label in y])
    return C * sample_weights(y) if weights == "sample weights" else np.full(len(y), C)


def libsvm_betas(X: Any, y: np.ndarray, options: str) -> tuple[Betas, Any]:
    with threadpool_limits(1):  # its threads spin, to no use on so few rows
        model = svm_train(svm_problem(y, X), svm_parameter(options))
    order = [float(label) for label in model.get_labels()]
    support = np.array(model.get_sv_indices()) - 1
    owner = np.array([order.index(label) for label in y[support]])
    return Betas(order, support, owner, np.array(model.get_sv_coef()).T), model


def sklearn_betas(machine: Any) -> Betas:
    """Of scikit-learn's machine or of ours."""
    coef = machine.dual_coef_
    owner = np.repeat(np.arange(len(machine.classes_)), machine.n_support_)
    coef = coef.toarray() if sp.issparse(coef) else coef
    return Betas(machine.classes_.tolist(), machine.support_, owner, coef)


@cache
def reference(name: str, kernel: str, weights: str, C: float) -> dict[Any, np.ndarray]:
    """β of LIBSVM; by way of scikit-learn where rows have weights of their own.

    Without shrinking: with it LIBSVM stops percents below the optimum on some of these.
    """
    X, y = sample(name, kernel, C)
    how = settings(kernel, X.shape[1])
    if weights == "sample weights":
        # LIBSVM gives up after 10⁷ steps, scikit-learn's copy of it never does.
        peer = sklearn.svm.SVC(C=C, tol=1e-8, shrinking=False, max_iter=10**7, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer.fit(X, y, sample_weights(y))
        return sklearn_betas(peer).pairs(len(y))
    options = (
        f"-q -s 0 -t {KERNELS.index(kernel)} -e 1e-8 -h 0 -c {C!r} "
        f"-g {how['gamma']!r} -d 3 -r {how['coef0']!r}"
    )
    if weights == "class weights":
        options += "".join(f" -w{label} {w}" for label, w in class_weights(y).items())
    return libsvm_betas(X, y, options)[0].pairs(len(y))


def dual(K: np.ndarray, beta: np.ndarray) -> float:
    return float(np.abs(beta).sum() - 0.5 * beta @ K @ beta)


def violation(K: np.ndarray, sign: np.ndarray, C: np.ndarray, beta: np.ndarray) -> float:
    """How far β misses the optimality conditions, b being free."""
    F = K @ beta - sign
    alpha = sign * beta
    rises, falls = alpha < C * (1.0 - 1e-12), alpha > 0.0
    up = np.where(sign > 0, rises, falls)
    low = np.where(sign > 0, falls, rises)
    return max(0.0, float(F[low].max() - F[up].min()))


@pytest.mark.parametrize(("name", "kernel", "weights", "C", "layout"), CASES)
@pytest.mark.filterwarnings("ignore::maxmargin.IndefiniteKernelWarning")
def test_dual_objective(name, kernel, weights, C, layout):
    X, y = sample(name, kernel, C)
    how = settings(kernel, X.shape[1])
    given = sp.csr_matrix(X) if layout == "sparse" else X
    class_weight = class_weights(y) if weights == "class weights" else None
    row_weight = sample_weights(y) if weights == "sample weights" else None
    machine = SVC(C=C, tol=TOL, class_weight=class_weight, **how)
    machine.fit(given, y, sample_weight=row_weight)

    own = machine.certificate_
    seen = certify(machine, given, y, row_weight)
    assert machine.fit_status_ == 0
    assert own.violation <= TOL
    assert seen.violation <= TOL * (1.0 + 1e-3)
    assert seen.feasible
    theirs = reference(name, kernel, weights, C)
    ours = sklearn_betas(machine).pairs(len(y))
    assert ours.keys() == theirs.keys()

    # The sigmoid has no feature space: there are local optima, and two solvers may stop
    # at different ones. Where its matrix has a negative eigenvalue the optimality
    # conditions, asserted above, are all that can be compared.
    K = gram(X, **how)
    spectrum = np.linalg.eigvalsh(K) if kernel == "sigmoid" else np.ones(1)
    convex = spectrum[0] >= -1e-12 * spectrum[-1]
    own_problems, seen_problems = own.problems or (own,), seen.problems or (seen,)
    for pair, mine, judged in zip(ours, own_problems, seen_problems, strict=True):
        members = np.flatnonzero(np.isin(y, pair))
        sign = np.where(y[members] == pair[0], 1.0, -1.0)
        K_pair, C_pair = K[np.ix_(members, members)], prices(weights, C, y)[members]
        beta, other = ours[pair][members], theirs[pair][members]
        value, their_value = dual(K_pair, beta), dual(K_pair, other)
        assert mine.dual == pytest.approx(judged.dual, rel=1e-9)
        assert judged.dual == pytest.approx(value, rel=1e-9)
        miss = violation(K_pair, sign, C_pair, beta)
        assert miss == pytest.approx(judged.violation, abs=1e-8)
        if not convex:
            continue
        gain = (value - their_value) / abs(their_value)
        assert gain >= -AGREE / 100
        if gain > AGREE:
            # LIBSVM keeps kernel values in float32, which the largest C magnifies beyond
            # its own tolerance. The gap proves that ours is the optimum all the same.
            assert C == 1e4
            assert gain <= 1e-4
            assert violation(K_pair, sign, C_pair, other) > 10.0 * miss
            assert judged.relative_gap <= AGREE


def test_quick_cases_meet_every_pair_of_choices():
    quick = [case.values for case in CASES if not case.marks]
    assert {name for name, *_ in quick} == set(SETS)
    axes = (KERNELS, WEIGHTS, PRICES, LAYOUTS)
    for a, b in combinations(range(len(axes)), 2):
        met = {(choices[a], choices[b]) for _, *choices in quick}
        assert met == set(product(axes[a], axes[b]))


def test_indefinite_sigmoid_says_so():
    X, y = load("heart_scale")
    machine = SVC(kernel="sigmoid", gamma=0.5, C=1.0, tol=1e-3)
    with pytest.warns(IndefiniteKernelWarning, match="sigmoid"):
        machine.fit(X, y)
    assert certify(machine, X, y).violation <= 1e-3


def test_heart_scale_at_the_defaults_of_libsvm():
    X, y = data.libsvm("heart_scale")
    machine = SVC(C=1.0, gamma=1 / 13).fit(X, y)
    theirs, model = libsvm_betas(X, y, "-q")
    K = gram(X.toarray(), **settings("rbf", 13))
    assert dual(K, theirs.pairs(len(y))[-1.0, 1.0]) == pytest.approx(100.877288, abs=2e-6)

    assert machine.certificate_.dual == pytest.approx(100.877288, rel=1e-6)
    assert certify(machine, X, y).dual == pytest.approx(100.877288, rel=1e-6)
    # LIBSVM's f is positive for the label it met first, +1, as is ours: b = −ρ.
    assert model.get_labels() == [1, -1]
    assert -machine.intercept_[0] == pytest.approx(0.4245, abs=1e-4)
    assert -machine.intercept_[0] == pytest.approx(model.rho[0], abs=1e-4)
    lo, hi = machine.certificate_.bias_interval
    assert lo <= machine.intercept_[0] <= hi
    assert machine.certificate_.n_support == model.get_nr_sv() == 132
    assert machine.certificate_.n_bound == 107
    assert machine.n_support_.tolist() == [68, 64]


@pytest.mark.parametrize("name", ["heart_scale", "sonar", "german.numer_scale"])
def test_coefficients_where_they_are_unique(name):
    # Distinct points make the RBF matrix positive definite, hence α unique.
    X, y = load(name)
    how = settings("rbf", X.shape[1])
    K = gram(X, **how)
    assert np.linalg.eigvalsh(K)[0] > 1e-5
    machine = SVC(C=1.0, tol=1e-8, **how).fit(X, y)
    (ours,) = sklearn_betas(machine).pairs(len(y)).values()
    (theirs,) = reference(name, "rbf", "unweighted", 1.0).values()
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    support = np.flatnonzero(np.abs(theirs) > 1e-4)
    assert set(support) <= set(machine.support_)
