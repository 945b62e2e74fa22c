"""LinearSVC with Crammer and Singer's one problem for all classes."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

import maxmargin
from maxmargin import SVC, InputError, LinearSVC, certify

TIGHT = {"multi_class": "crammer_singer", "tol": 1e-8, "max_iter": -1}


@pytest.fixture(scope="module")
def three():
    X, y = load_iris(return_X_y=True)
    return X - X.mean(axis=0), y


def theirs(**options):
    return svm.LinearSVC(
        multi_class="crammer_singer",
        tol=1e-9,
        max_iter=100_000,
        random_state=0,
        **options,
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 0.1},
        {"fit_intercept": False},
        {"intercept_scaling": 3.0},
        {"class_weight": {0: 2.0, 1: 0.5}},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_machine_is_scikit_learns(three, classes, options):
    X, y = three
    X, y = X[y >= 3 - classes], y[y >= 3 - classes]
    if isinstance(options.get("class_weight"), dict) and classes == 2:
        options = {**options, "class_weight": {1: 2.0, 2: 0.5}}
    ours, peer = LinearSVC(**TIGHT, **options).fit(X, y), theirs(**options).fit(X, y)
    assert ours.coef_.shape == peer.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(peer.intercept_)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-3)
    np.testing.assert_allclose(
        ours.decision_function(X), peer.decision_function(X), atol=1e-2
    )
    assert (ours.predict(X) == peer.predict(X)).mean() > 0.99
    assert ours.dual_coef_.shape == (classes, len(y))
    assert ours.certificate_.ok
    name = "TwoClasses" if classes == 2 else "LinearCrammerSinger"
    assert ours.certificate_.solver.startswith(name)


def test_the_machine_is_that_of_the_linear_kernel(three):
    X, y = three
    linear = LinearSVC(**TIGHT).fit(X, y)
    kernel = SVC(kernel="linear", multi_class="crammer_singer", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(
        linear.decision_function(X), kernel.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, np.asfortranarray])
def test_rows_of_every_kind(three, make):
    X, y = three
    dense = LinearSVC(**TIGHT).fit(X, y)
    other = LinearSVC(**TIGHT).fit(make(X), y)
    np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_referee_agrees(three, classes):
    X, y = three
    X, y = X[y >= 3 - classes], y[y >= 3 - classes]
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    machine = LinearSVC(**TIGHT, class_weight="balanced").fit(X, y, weight)
    own, seen = machine.certificate_, certify(machine, X, y, weight)
    assert seen.ok
    assert seen.primal == pytest.approx(own.primal, rel=1e-9)
    assert seen.dual == pytest.approx(own.dual, rel=1e-9)
    assert seen.violation == pytest.approx(own.violation, abs=1e-6)
    assert seen.n_support == own.n_support

    worse = pickle.loads(pickle.dumps(machine))
    worse.coef_ = 1.1 * machine.coef_
    assert certify(worse, X, y, weight).gap > 100 * max(seen.gap, 1e-12)
    broken = pickle.loads(pickle.dumps(machine))
    broken.dual_coef_[0] += 0.1
    assert not certify(broken, X, y, weight).feasible


def test_scikit_learns_machine_is_not_judged(three):
    X, y = three
    with pytest.raises(ValueError, match="dual variables"):
        certify(theirs().fit(X, y), X, y)


def test_weights_are_repetition(three):
    X, y = three
    count = np.random.default_rng(1).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), count)
    weighted = LinearSVC(**TIGHT).fit(X, y, count)
    repeated = LinearSVC(**TIGHT).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


@pytest.mark.parametrize("name", ["crammer-singer", "joint-newton", "joint-relay"])
def test_only_crammer_and_singers_problem_has_its_solvers(name):
    with pytest.raises(InputError, match=f"{name!r} with multi_class='ovr'"):
        LinearSVC(solver=name).fit([[0.0], [1.0]], [0, 1])


def test_a_solver_that_is_named_runs(three):
    X, y = three
    options = {"multi_class": "crammer_singer", "C": 1e-3}
    narrow = LinearSVC(**options).fit(X, y)
    assert narrow.certificate_.solver.startswith("LinearCrammerSinger")
    named = LinearSVC(**options, solver="crammer-singer").fit(X, y)
    assert named.certificate_.solver == "LinearCrammerSinger"
    assert named.certificate_.primal == pytest.approx(
        narrow.certificate_.primal, rel=2e-4
    )


@pytest.mark.parametrize("load", [load_wine, load_iris])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_columns_as_they_were_measured(load, C):
    """One row at a time ended at its 1000 epochs with a gap of 0.999 of the primal."""
    X, y = load(return_X_y=True)
    machine = LinearSVC(multi_class="crammer_singer", C=C).fit(X, y)
    proof = certify(machine, X, y)
    assert machine.certificate_.relative_gap <= machine.tol
    assert proof.ok
    assert proof.relative_gap <= 1.01 * machine.tol
    assert machine.n_iter_ < 300  # cheap epochs, and some 30 Newton steps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it did not converge
        peer = svm.LinearSVC(multi_class="crammer_singer", C=C, random_state=0).fit(X, y)
    f = peer.decision_function(X) + 1.0
    rows = np.arange(len(y))
    f[rows, y] -= 1.0
    price = C * (f.max(axis=1) - f[rows, y]).sum()
    price += 0.5 * (peer.coef_**2).sum() + 0.5 * (peer.intercept_**2).sum()
    assert proof.dual <= price
    assert proof.primal <= price * (1.0 + machine.tol)


def test_dual_variables_of_other_rows_are_refused(three):
    X, y = three
    machine = LinearSVC(**TIGHT).fit(X, y)
    with pytest.raises(ValueError, match=r"dual_coef_ has shape \(3, 150\)"):
        certify(machine, X[:50], y[:50])


def test_warm_start_has_nothing_left_to_do(three):
    X, y = three
    machine = LinearSVC(**TIGHT, warm_start=True).fit(X, y)
    total, primal = machine.n_iter_, machine.certificate_.primal
    machine.fit(X, y)
    assert machine.n_iter_ <= 0.1 * total
    assert machine.certificate_.primal == pytest.approx(primal, rel=1e-7)
    with pytest.raises(InputError, match="warm_start=True"):
        machine.fit(X[:100], y[:100])


def test_a_path_has_the_answers_of_separate_fits(three):
    X, y = three
    for machine in maxmargin.path(LinearSVC(**TIGHT), X, y, [0.01, 0.1, 1.0]):
        alone = clone(machine).fit(X, y)
        assert machine.certificate_.ok
        assert machine.certificate_.primal == pytest.approx(
            alone.certificate_.primal, rel=1e-7
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"intercept": "free"}, "always regularised"),
        ({"solver": "newton"}, "solver='newton' with multi_class='crammer_singer'"),
        ({"multi_class": "ovr", "solver": "crammer-singer"}, "no other does"),
    ],
)
def test_refusals(three, options, words):
    with pytest.raises(InputError, match=words):
        LinearSVC(**{**TIGHT, **options}).fit(*three)
