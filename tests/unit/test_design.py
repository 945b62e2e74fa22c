"""X as an operator: every product with its rows, against plain NumPy."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.design import operator
from maxmargin.design.operator import Design
from maxmargin.design.row import dot_row, fetch_row
from maxmargin.parallel import Workers

KINDS = ("float64", "float32", "csr", "csr, float32", "csr, 64-bit indices")
N, D, K = 90, 13, 4


def rows(kind, n=N, d=D):
    """Rows of a kind, and the same numbers as a dense float64 array."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    if "float32" in kind:
        X = X.astype(np.float32)
    given = sp.csr_array(X) if "csr" in kind else X
    if "64-bit" in kind:
        given.indices, given.indptr = (
            given.indices.astype(np.int64),
            given.indptr.astype(np.int64),
        )
    return given, X.astype(np.float64)


def with_constant(X, scaling):
    return np.column_stack([X, np.full(len(X), scaling)]) if scaling else X


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("scaling", [0.0, 0.7])
@pytest.mark.parametrize("kind", KINDS)
def test_products_with_all_rows_and_with_some(kind, scaling, parts, monkeypatch):
    if parts:
        monkeypatch.setattr(operator, "_WORTH", 1)
        monkeypatch.setattr(operator, "_PIECE", 1)
    given, X = rows(kind)
    X = with_constant(X, scaling)
    rng = np.random.default_rng(1)
    w, u, weight = rng.normal(size=X.shape[1]), rng.normal(size=N), rng.random(N)
    u[::3] = 0.0
    with Workers(2) as workers:
        design = Design(given, scaling, workers)
        for some in (None, np.arange(N), np.arange(5, N, 4), np.zeros(0, np.intp)):
            A = X if some is None else X[some]
            mine = u if some is None else u[some]
            np.testing.assert_allclose(design.times(w, some), A @ w, atol=1e-12)
            np.testing.assert_allclose(design.back(mine, some), A.T @ mine, atol=1e-12)
            if some is None:
                continue
            D_, sums = weight[some], design.squares(weight[some], some)
            np.testing.assert_allclose(sums, D_ @ A**2, atol=1e-12)
            found, total = design.there_and_back(D_, w, some)
            np.testing.assert_allclose(found, A.T @ (D_ * (A @ w)), atol=1e-12)
            assert total == pytest.approx(D_ @ (A @ w))
        np.testing.assert_allclose(design.norms, (X**2).sum(axis=1))
        np.testing.assert_allclose(design.products, X @ X.T, atol=1e-5)


@pytest.mark.parametrize("scaling", [0.0, 0.7])
@pytest.mark.parametrize("kind", KINDS)
def test_products_with_the_weights_of_several_classes(kind, scaling):
    given, X = rows(kind)
    X = with_constant(X, scaling)
    beta = np.random.default_rng(2).normal(size=(N, K))
    beta[beta < 0.5] = 0.0
    design = Design(given, scaling, Workers(1))
    W = design.back_classes(beta)
    assert W.shape == design.no_weights(K).shape
    np.testing.assert_allclose(design.by_class(W), beta.T @ X, atol=1e-12)
    np.testing.assert_allclose(
        design.times_classes(W), X @ design.by_class(W).T, atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS[:3])
def test_threads_do_not_change_a_bit(kind):
    given, _ = rows(kind, n=80_000, d=20)
    rng = np.random.default_rng(3)
    w, u = rng.normal(size=21), rng.normal(size=80_000)
    some = np.arange(0, 80_000, 2)
    found = []
    for n_jobs in (1, 3):
        with Workers(n_jobs) as workers:
            design = Design(given, 1.0, workers)
            found.append(
                [
                    design.times(w),
                    design.times(w, some),
                    design.back(u),
                    design.back(u[some], some),
                    design.squares(u[some], some),
                    design.there_and_back(u[some], w, some)[0],
                    design.times_classes(design.back_classes(u[:, None])),
                    design.norms,
                ]
            )
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


def test_dense_rows_in_their_order_have_the_bits_of_all_rows():
    given, _ = rows("float64")
    design, w = Design(given, 1.0, Workers(1)), np.random.default_rng(4).normal(size=14)
    most = np.arange(1, N)
    np.testing.assert_array_equal(design.times(w)[1:], design.times(w, most))


def test_a_design_pickles():
    given, X = rows("csr")
    again = pickle.loads(pickle.dumps(Design(given, 0.0, Workers(1))))
    np.testing.assert_allclose(again.times(np.ones(D)), X.sum(axis=1))


def test_names_of_compiled_code_refuse_python():
    with pytest.raises(TypeError, match="in compiled code only"):
        dot_row(None, 0, None, 0.0)
    with pytest.raises(TypeError, match="in compiled code only"):
        fetch_row(None, 0)
