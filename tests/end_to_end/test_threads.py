"""Threads change the time a fit takes, and not one bit of its result."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed
from tests import data

from maxmargin import SVC

SETS = {
    "usps": (data.usps, {"C": 10.0, "gamma": 1 / 64}),
    "letter": (data.letter, {"C": 16.0, "gamma": 4.0}),
}


def assert_same_bits(one: SVC, other: SVC, X) -> None:
    for name in ("support_", "n_support_", "dual_coef_", "intercept_", "n_iter_"):
        mine, its = (getattr(machine, name) for machine in (one, other))
        if sp.issparse(mine):
            mine, its = mine.toarray(), its.toarray()
        np.testing.assert_array_equal(mine, its, name)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for mine, its in zip(
        one.certificate_.problems or [one.certificate_],
        other.certificate_.problems or [other.certificate_],
        strict=True,
    ):
        assert (mine.primal, mine.dual, mine.violation, mine.n_iter) == (
            its.primal,
            its.dual,
            its.violation,
            its.n_iter,
        )


@pytest.mark.parametrize("n", [3000, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SETS)
def test_many_classes(name, n):
    load, how = SETS[name]
    split = load()
    X, y = split.X[:n], split.y[:n]
    serial, two, three = (SVC(**how, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 3))
    assert_same_bits(serial, two, split.X_test)
    assert_same_bits(serial, three, split.X_test[:200])


@pytest.mark.parametrize("layout", ["dense", "sparse", "float32"])
def test_two_classes(layout):
    split = data.a9a()
    X, y = split.X[:5000], split.y[:5000]
    if layout != "sparse":
        X = X.toarray().astype("float32" if layout == "float32" else "float64")
    how = {"C": 10.0, "gamma": 0.1}
    serial, two = (SVC(**how, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert serial.certificate_.n_iter > 1000
    assert_same_bits(serial, two, split.X_test)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_two_classes_of_other_kernels(kernel):
    split = data.ijcnn1()
    X, y = split.X[:5000], split.y[:5000]
    how = {"kernel": kernel, "coef0": 1.0}
    serial, two = (SVC(**how, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert_same_bits(serial, two, split.X_test[:5000])


@pytest.mark.slow
def test_two_classes_of_many_rows():
    split = data.covtype_binary(20_000, 2_000)
    how = {"C": 10.0, "gamma": 8.0}
    serial, two = (SVC(**how, n_jobs=jobs).fit(split.X, split.y) for jobs in (1, 2))
    assert_same_bits(serial, two, split.X_test)


# --- fits inside other people's threads and processes ----------------------------------


def rows(n: int = 1500):
    split = data.usps()
    return split.X[:n], split.y[:n], split.X_test[:500]


def fitted(C: float, X, y, n_jobs=None) -> SVC:
    return SVC(C=C, gamma=1 / 64, n_jobs=n_jobs).fit(X, y)


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_fits_inside_joblib(backend, n_jobs):
    X, y, test = rows()
    prices = (1.0, 10.0, 100.0)
    work = Parallel(n_jobs=2, backend=backend)
    found = work(delayed(fitted)(C, X, y, n_jobs) for C in prices)
    for C, machine in zip(prices, found, strict=True):
        assert_same_bits(fitted(C, X, y, n_jobs=1), machine, test)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_of_two_threads_at_once(n_jobs):
    X, y, test = rows()
    binary = np.where(y < 5, -1, 1)
    jobs = [(1.0, y), (10.0, y), (10.0, binary), (100.0, binary)]
    found = [None] * len(jobs)
    together = threading.Barrier(2)

    def work(first: int) -> None:
        together.wait()
        for place in range(first, len(jobs), 2):
            C, labels = jobs[place]
            found[place] = fitted(C, X, labels, n_jobs)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (C, labels), machine in zip(jobs, found, strict=True):
        assert_same_bits(fitted(C, X, labels, n_jobs=1), machine, test)


def test_one_machine_predicts_in_two_threads_at_once():
    X, y, test = rows()
    machine = fitted(10.0, X, y)
    wanted = machine.decision_function(test)
    found = Parallel(n_jobs=2, backend="threading")(
        delayed(machine.decision_function)(test) for _ in range(6)
    )
    for one in found:
        np.testing.assert_array_equal(one, wanted)


def test_rows_are_decided_one_by_one_as_all_together():
    # A batch may be cut anywhere: no row's decision depends on its neighbours.
    X, y, test = rows()
    machine = fitted(10.0, X, y)
    whole = machine.decision_function(test)
    parts = [machine.decision_function(test[at : at + 70]) for at in range(0, 500, 70)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
