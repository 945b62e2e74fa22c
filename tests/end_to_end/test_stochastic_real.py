"""The stochastic linear machines on real data: under their bounds, and of use."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC
from tests import data

from maxmargin.estimators.linear.averaged_sgd import AveragedSGDClassifier
from maxmargin.estimators.linear.pegasos import PegasosClassifier

EARLY = pytest.mark.filterwarnings("ignore:The solver stopped early")


def heart():
    return data.Split(*data.libsvm("heart_scale"))


def w8a():
    return data.Split(*data.libsvm("w8a"))


# λ and epochs with which the bounds of averages say more than that f(0) = 1
SETS = {
    "heart_scale": (heart, 0.1, 100),
    "a9a": (data.a9a, 0.01, 10),
    "w8a": (w8a, 0.1, 10),
}
RUNS = {
    "averaged SGD": AveragedSGDClassifier(),
    "all": PegasosClassifier(average="all", replacement=True),
    "tail": PegasosClassifier(average="tail", replacement=True),
    "last": PegasosClassifier(average="last", replacement=True),
    "projection": PegasosClassifier(average="all", replacement=True, projection=True),
    "batches": PegasosClassifier(average="tail", replacement=True, batch_size=16),
    "in order": PegasosClassifier(),
}


def optimum(X, y, lam):
    """The smallest f, by LIBLINEAR: its w, measured here."""
    n = X.shape[0]
    peer = LinearSVC(
        loss="hinge", C=1.0 / (lam * n), tol=1e-6, max_iter=10**6, random_state=0
    ).fit(X, y)
    return value(peer, X, y, lam)


def value(machine, X, y, lam):
    w = np.append(machine.coef_[0], machine.intercept_)
    sign = np.where(y > 0, 1.0, -1.0)
    loss = np.maximum(0.0, 1.0 - sign * machine.decision_function(X)).mean()
    return 0.5 * lam * w @ w + loss


@pytest.fixture(scope="module")
def optima():
    found = {}

    def of(name):
        if name not in found:
            load, lam, _ = SETS[name]
            split = load()
            found[name] = optimum(split.X, split.y, lam)
        return found[name]

    return of


@EARLY
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", SETS)
def test_the_distance_is_below_the_bound(optima, name, run):
    load, lam, epochs = SETS[name]
    X, y = load()[:2]
    best = optima(name)
    machine = RUNS[run].set_params(lam=lam, max_iter=epochs, random_state=0, tol=1e-9)
    machine.fit(X, y)
    reached = value(machine, X, y, lam) - best
    # distance_ is an upper bound of the distance; LIBLINEAR's f of min f, within 1e-6.
    assert -1e-5 <= reached <= machine.distance_ + 1e-9
    assert machine.distance_ < machine.bound_.bound
    assert machine.bound_.vacuous == (run in {"last", "batches"})
    assert machine.bound_.applies == (run != "in order")
    assert machine.bound_.steps == machine.t_


@EARLY
def test_the_distance_falls_as_the_theorem_says():
    """Ten times the steps, a tenth of the distance: within a factor of three."""
    X, y = heart()[:2]
    machine = PegasosClassifier(lam=1e-2, random_state=0, tol=1e-9)
    distances = [
        machine.set_params(max_iter=epochs).fit(X, y).distance_
        for epochs in (10, 100, 1000)
    ]
    assert distances[0] > 3.0 * distances[1] > 9.0 * distances[2]
    assert distances[2] < 1e-4


@pytest.mark.slow
def test_adult_incomes_to_the_tolerance():
    split, lam = data.a9a(), 1e-3
    machine = PegasosClassifier(lam=lam, random_state=0).fit(split.X, split.y)
    assert machine.certificate_.ok
    assert machine.score(split.X_test, split.y_test) > 0.845
    best = optimum(split.X, split.y, lam)
    assert value(machine, split.X, split.y, lam) <= best * 1.01
    dense = PegasosClassifier(lam=lam, random_state=0).fit(split.X.toarray(), split.y)
    np.testing.assert_allclose(dense.coef_, machine.coef_, rtol=1e-8, atol=1e-10)


def test_a_stream_of_parts_learns_digits():
    split = data.usps()
    machine = PegasosClassifier(lam=1e-3, random_state=0, n_jobs=2)
    classes = np.unique(split.y)
    for _ in range(3):
        for start in range(0, len(split.y), 1000):
            some = slice(start, start + 1000)
            machine.partial_fit(split.X[some], split.y[some], classes=classes)
    assert machine.t_.tolist() == [3 * len(split.y)] * 10
    assert machine.score(split.X_test, split.y_test) > 0.89
