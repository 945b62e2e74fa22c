"""The referee's kernels: objects of maxmargin.kernels, and functions of any rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM
from tests.unit.test_referee_machines import answers, laplacian, rows, stand_in

from maxmargin import kernels as objects
from maxmargin._referee import certify
from maxmargin.errors import InputError
from maxmargin.kernels.function import FunctionKernel


def scalar(x, z):
    return 1.0 + float(np.minimum(x, z).sum())


def chi(A, B):
    total = A[:, None] + B[None]
    terms = (A[:, None] - B[None]) ** 2 / np.where(total > 0.0, total, 1.0)
    return np.exp(-0.3 * terms.sum(axis=2))


def gaussian(X):
    return pairwise_kernels(X, metric="rbf", gamma=0.125)


OBJECTS = {
    "linear": (objects.Linear(), lambda X: X @ X.T),
    "poly": (objects.Polynomial(2, 1.0, 0.1), lambda X: (0.1 * X @ X.T + 1.0) ** 2),
    "rbf": (objects.RBF(sigma=2.0), gaussian),
    "sigmoid": (objects.Sigmoid(0.02, 0.1), lambda X: np.tanh(0.02 * X @ X.T + 0.1)),
    "laplacian": (objects.Laplacian(0.1), lambda X: laplacian(X, X)),
    "chi": (objects.ChiSquared(0.3), lambda X: chi(X, X)),
    "function": (
        FunctionKernel(scalar),
        lambda X: 1.0 + np.minimum(X[:, None], X[None]).sum(axis=2),
    ),
    "combined": (
        2.0 * (objects.Linear() + objects.RBF(gamma=0.125)) * objects.Laplacian(0.1) ** 2,
        lambda X: 2.0
        * (X @ X.T + gaussian(X))
        * laplacian(X, X) ** 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", OBJECTS)
def test_kernel_objects(name, sparse, monkeypatch):
    # Their own values belong to the library that is judged: they are not asked.
    monkeypatch.setattr(objects.Kernel, "__call__", None)
    kernel, values = OBJECTS[name]
    X, y = rows(60)
    X, z = np.abs(X), answers(SVR, X, y)
    K = values(X)
    model = SVR(kernel="precomputed", C=0.7, epsilon=0.2, tol=1e-7).fit(K, z)
    data = sp.csr_matrix(X) if sparse else X
    expected = certify(model, K, z)
    seen = certify(
        stand_in(
            model,
            kernel=kernel,
            gamma_=0.0,
            support_vectors_=data[model.support_],
            shape_fit_=X.shape,
        ),
        data,
        z,
    )
    assert seen.dual == pytest.approx(expected.dual, rel=1e-12)
    assert seen.violation == pytest.approx(expected.violation, abs=1e-10)
    np.testing.assert_allclose(seen.residual, expected.residual, atol=1e-10)


def test_precomputed_object_and_an_object_that_a_peer_called():
    X, y = rows(60)
    z = answers(SVR, X, y)
    K = laplacian(X, X)
    model = SVR(kernel="precomputed", tol=1e-7).fit(K, z)
    expected = certify(model, K, z)
    seen = certify(stand_in(model, kernel=objects.Precomputed()), K, z)
    assert (seen.primal, seen.violation) == (expected.primal, expected.violation)
    peer = stand_in(
        model,
        kernel=objects.Laplacian(0.1),
        support_vectors_=np.empty((0, 0)),
        shape_fit_=X.shape,
    )
    assert certify(peer, X, z).primal == pytest.approx(expected.primal, rel=1e-12)


def spelling(A, B):
    """How many letters two words share, place by place."""
    return np.array([[sum(map(str.__eq__, a, b)) for b in B] for a in A], dtype=float)


# Rows that are no numbers


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda w: np.array(w, object)])
def test_rows_that_are_words(form):
    words = ["tree", "trek", "tram", "free", "flea", "plea", "pram", "prey", "they"]
    K, y = spelling(words, words), np.arange(9) % 2
    for cls, y_ in ((SVC, y), (NuSVC, y), (SVR, 0.5 * y), (OneClassSVM, None)):
        model = cls(kernel="precomputed", tol=1e-8).fit(K, y_)
        expected = certify(model, K, y_)
        data = form(words)
        told = stand_in(model, kernel=spelling, shape_fit_=(9,))
        seen = certify(told, data, y_)
        assert seen.primal == pytest.approx(expected.primal, rel=1e-12)
        assert seen.violation == pytest.approx(expected.violation, abs=1e-12)
    with pytest.raises(InputError, match="X has shape"):
        certify(told, form(words[:-1]))
    with pytest.raises(InputError, match="X must hold numbers"):
        certify(stand_in(model, kernel="linear", shape_fit_=(9,)), form(words))


def test_rows_of_unequal_length_and_objects():
    sets = [{1, 2}, {2, 3, 4}, {5}, {1, 5, 6}]

    def overlap(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    K = overlap(sets, sets)
    model = OneClassSVM(kernel="precomputed", tol=1e-8).fit(K)
    expected = certify(model, K)
    told = stand_in(model, kernel=overlap, shape_fit_=(4,))
    for data in (sets, [sorted(one) for one in sets]):
        assert certify(told, data).primal == pytest.approx(expected.primal, rel=1e-12)
    for nothing in ("tree", 3, np.float64(3.0)):
        with pytest.raises(InputError, match="no sequence"):
            certify(told, nothing)
