"""Sparse rows with columns in any order, as vectorisers of text leave them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC, LinearSVR, PegasosClassifier, certify
from maxmargin.design.hessian import curvature
from maxmargin.rows.records import repeats
from maxmargin.validation.csr import checked_csr

SOLVERS = {
    "hinge": ("dual-descent", "proximal-newton", "gram"),
    "squared_hinge": ("dual-descent", "newton", "newton-cg", "gram"),
}


def rows(n=120, d=40, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(sp.random_array((n, d), density=0.2, rng=rng))
    y = np.where(X @ rng.normal(size=d) + 0.2 * rng.normal(size=n) > 0.0, 1, -1)
    return X, y


def shuffled(X, seed=1):
    """The same matrix, the entries of every row in an order of their own."""
    rng = np.random.default_rng(seed)
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    order = np.concatenate([a + rng.permutation(b - a) for a, b in ends])
    other = sp.csr_matrix((X.data[order], X.indices[order], X.indptr), shape=X.shape)
    assert not other.has_sorted_indices
    return other


def doubled(X):
    """The same matrix, every entry as two halves in different places of its row."""
    parts = [np.r_[a:b, a:b] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    order = np.concatenate(parts)
    return sp.csr_matrix(
        (0.5 * X.data[order], X.indices[order], 2 * X.indptr), shape=X.shape
    )


def test_columns_in_any_order_are_taken_as_they_are():
    X, _ = rows()
    other = shuffled(X)
    assert checked_csr(other, ordered=False) is other
    assert checked_csr(other) is not other


@pytest.mark.parametrize("lying", [False, True])
def test_columns_that_come_twice_are_added_up(lying):
    X, _ = rows()
    other = doubled(X)
    if lying:  # flags can be set, or go stale
        other.has_canonical_format = True
    got = checked_csr(other, ordered=False)
    np.testing.assert_array_equal(got.indices, X.indices)
    np.testing.assert_allclose(got.data, X.data, rtol=1e-15)
    assert other.nnz == 2 * X.nnz


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_repeats(index):
    X, _ = rows()
    for matrix, wanted in ((X, False), (shuffled(X), False), (doubled(X), True)):
        matrix.indices = matrix.indices.astype(index)
        matrix.indptr = matrix.indptr.astype(index)
        assert repeats(matrix) is wanted
    # The same column in two rows, one after the other, is no repetition.
    ones = np.ones(2)
    assert not repeats(sp.csr_matrix((ones, [3, 3], [0, 1, 2]), shape=(2, 5)))


@pytest.mark.parametrize("constant", [0.0, 1.5])
def test_curvature_does_not_care(constant):
    X, y = rows(300, 60)
    some, weight = np.arange(5, 290), np.linspace(0.1, 2.0, 285)
    design = LinearSVC(intercept_scaling=constant or 1.0).problem(shuffled(X), y).design
    got = np.tril(curvature(design, constant, weight, some))
    dense = X.toarray()[some]
    if constant:
        dense = np.column_stack([dense, np.full(len(some), constant)])
    wanted = np.tril(dense.T @ (weight[:, None] * dense))
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "solver"), [(loss, name) for loss in SOLVERS for name in SOLVERS[loss]]
)
def test_every_solver_finds_the_same_optimum(loss, solver):
    X, y = rows()
    wanted = LinearSVC(loss=loss, solver=solver, tol=1e-9, random_state=0).fit(X, y)
    for other in (shuffled(X), doubled(X)):
        data, indices = other.data.copy(), other.indices.copy()
        got = LinearSVC(loss=loss, solver=solver, tol=1e-9, random_state=0)
        got.fit(other, y)
        np.testing.assert_allclose(got.coef_, wanted.coef_, atol=1e-3)
        assert got.certificate_.primal == pytest.approx(
            wanted.certificate_.primal, rel=1e-8
        )
        assert certify(got, other, y).ok
        np.testing.assert_array_equal(other.data, data)
        np.testing.assert_array_equal(other.indices, indices)


@pytest.mark.parametrize("penalty", ["l1", "crammer_singer"])
def test_the_other_machines(penalty):
    X, y = rows()
    options = (
        {"penalty": "l1", "dual": False}
        if penalty == "l1"
        else {"multi_class": "crammer_singer"}
    )
    y = y if penalty == "l1" else np.where(X.sum(axis=1).A1 > 4.5, 2, y)
    wanted = LinearSVC(tol=1e-8, **options).fit(X, y).certificate_.primal
    got = LinearSVC(tol=1e-8, **options).fit(shuffled(X), y).certificate_.primal
    assert got == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regression(loss):
    X, _ = rows()
    z = X @ np.linspace(-1.0, 1.0, X.shape[1])
    wanted = LinearSVR(loss=loss, tol=1e-8).fit(X, z)
    got = LinearSVR(loss=loss, tol=1e-8).fit(shuffled(X), z)
    np.testing.assert_allclose(got.predict(shuffled(X)), wanted.predict(X), atol=1e-3)


def test_row_by_row():
    X, y = rows()
    wanted = PegasosClassifier(lam=0.1, tol=0.1, random_state=0).fit(X, y)
    got = PegasosClassifier(lam=0.1, tol=0.1, random_state=0).fit(shuffled(X), y)
    np.testing.assert_allclose(got.coef_, wanted.coef_, rtol=1e-9, atol=1e-12)
