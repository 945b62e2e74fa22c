"""The referee and the machines of this library: both must find the same figures."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from tests.unit.test_referee_machines import answers, rows

import maxmargin
from maxmargin import (
    SVC,
    SVDD,
    SVR,
    InputError,
    NuSVC,
    NuSVR,
    OneClassSVM,
    certify,
    kernels,
)

MACHINES = {
    "NuSVC": (NuSVC(nu=0.3), {}),
    "NuSVC, weighted classes": (NuSVC(nu=0.3, class_weight={0: 1.2, 1: 0.9}), {}),
    "SVR": (SVR(epsilon=0.2), {}),
    "NuSVR": (NuSVR(nu=0.4), {}),
    "NuSVR, closed": (NuSVR(nu=0.9, C=100.0), {"split": False}),
    "OneClassSVM": (OneClassSVM(nu=0.2), {}),
    "SVDD": (SVDD(nu=0.2), {}),
    "SVDD, poly": (SVDD(nu=0.2, kernel="poly", coef0=1.0), {}),
    "SVDD, linear": (SVDD(nu=0.2, kernel="linear"), {}),
}


def agree(seen, own, *, split=True):
    """``split``: whether α and α* of NuSVR are both known from their difference."""
    assert seen.ok
    assert own.ok
    assert seen.primal == pytest.approx(own.primal, rel=1e-9)
    assert seen.dual == pytest.approx(own.dual, rel=1e-9)
    assert seen.gap == pytest.approx(own.gap, rel=1e-6, abs=1e-11 * abs(own.primal))
    assert seen.balance <= 1e-12
    assert seen.feasible
    if split:
        assert seen.violation == pytest.approx(own.violation, rel=1e-6, abs=1e-11)
        np.testing.assert_allclose(seen.bias_interval, own.bias_interval, rtol=1e-9)
        assert seen.n_support == own.n_support
        assert (seen.n_free, seen.n_bound) == (own.n_free, own.n_bound)
    else:
        assert seen.violation <= own.violation + 1e-12


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MACHINES)
def test_certificates_agree(name, weighted, sparse):
    machine, how = MACHINES[name]
    machine = clone(machine)
    X, y = rows()
    y = y if "SVC" in name else answers(SVR, X, y)
    weight = None
    if weighted:
        weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
        weight[::7] = 0.0
        weight[3] = -1.0
    data = sp.csr_matrix(X) if sparse else X
    machine.fit(data, y, sample_weight=weight)
    seen = certify(machine, data, y, weight)
    assert seen.machine == name.partition(",")[0]
    agree(seen, machine.certificate_, **how)
    if "NuSVR" in name:
        assert seen.level == max(0.0, machine.epsilon_)
        assert ("closed" in name) == (seen.level < 1e-3)
    if "SVDD" in name:
        assert seen.level == machine.radius_


@pytest.mark.parametrize("machine", [SVC(C=2.0), NuSVC(nu=0.2)])
@pytest.mark.parametrize("how", ["ovo", "ovr"])
def test_several_classes(machine, how):
    X, y = load_iris(return_X_y=True)
    weight = 0.5 + np.arange(150) % 3
    weight[7] = 0.0
    machine = clone(machine).set_params(
        multi_class=how, class_weight={0: 1.2, 1: 1.0, 2: 0.9}
    )
    machine.fit(X, y, sample_weight=weight)
    seen, own = certify(machine, X, y, weight), machine.certificate_
    assert [one.name for one in seen.problems] == [one.name for one in own.problems]
    for mine, theirs in zip(seen.problems, own.problems, strict=True):
        agree(mine, theirs)
    assert seen.n_support == own.n_support == len(machine.support_)
    assert seen.ok


@maxmargin.kernel
def intersection(x, z):
    total = 1.0
    for k in range(x.size):
        total += min(x[k], z[k])
    return total


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Linear(),
        kernels.Polynomial(2, 1.0, 0.1),
        kernels.RBF(sigma=2.0),
        kernels.Laplacian(0.1),
        kernels.ChiSquared(0.3),
        2.0 * kernels.RBF(gamma=0.1) * kernels.Linear() + kernels.Laplacian(0.1) ** 2,
        intersection,
    ],
    ids=repr,
)
@pytest.mark.parametrize("machine", [SVR(epsilon=0.2), SVDD(nu=0.2)])
def test_kernel_objects(machine, kernel):
    X, y = rows(60)
    X, y = np.abs(X), answers(SVR, X, y)
    machine = clone(machine).set_params(kernel=kernel).fit(X, y)
    agree(certify(machine, X, y), machine.certificate_)


@pytest.mark.parametrize("kernel", ["precomputed", kernels.Precomputed()])
@pytest.mark.parametrize("machine", [SVDD(nu=0.2), NuSVR(nu=0.4), OneClassSVM(nu=0.2)])
def test_precomputed(machine, kernel):
    X, y = rows(60)
    K, y = (1.0 + 0.1 * X @ X.T) ** 2, answers(SVR, X, y)
    machine = clone(machine).set_params(kernel=kernel).fit(K, y)
    agree(certify(machine, K, y), machine.certificate_)


def test_words():
    words = ["tree", "trek", "tram", "free", "flea", "plea", "pram", "prey", "they"]

    def spelling(A, B):
        return np.array([[sum(map(str.__eq__, a, b)) for b in B] for a in A], float)

    for machine in (SVC(kernel=spelling), NuSVC(kernel=spelling, nu=0.3)):
        machine.fit(words, np.arange(9) % 2)
        agree(certify(machine, words, np.arange(9) % 2), machine.certificate_)
    ball = SVDD(kernel=spelling, nu=0.4).fit(words)
    agree(certify(ball, words), ball.certificate_)


def test_spoiled_machines_are_seen():
    X, _ = rows(60)
    ball = SVDD(nu=0.2).fit(X)
    assert certify(ball, X).ok
    ball.radius_ *= 1.1
    ball.offset_ = -(ball.radius_**2)
    assert not certify(ball, X).ok
    ball.radius_ /= 1.1
    with pytest.raises(maxmargin.InputError, match="offset_ is"):
        certify(ball, X)


def test_a_class_without_weight_is_not_missed():
    X, y = load_iris(return_X_y=True)
    weight = np.repeat([0.0, 1.0], [50, 100])
    machine = maxmargin.SVC().fit(X, y, sample_weight=weight)
    assert certify(machine, X, y, sample_weight=weight).ok
    with pytest.raises(InputError, match="y contains"):
        certify(machine, X, y)


def test_an_altered_ball_is_not_ok():
    X, _ = load_iris(return_X_y=True)
    machine = maxmargin.SVDD(nu=0.3).fit(X)
    assert certify(machine, X).ok
    machine.intercept_ = machine.intercept_ + 0.05
    assert not certify(machine, X).ok
