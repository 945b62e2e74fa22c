"""Outputs of linear machines: one pass over X that also tells whether all is finite."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC
from maxmargin.design import outputs
from maxmargin.design.outputs import linear_outputs
from maxmargin.errors import InputError
from maxmargin.validation.csr import check_structure

N, D = 57, 11
KINDS = ("float64", "float32", "csr", "csr, 64-bit indices", "csr, float32")


def problem(kind, lines, *, sparse_weights=False, seed=0):
    """Rows of one kind, W and b, and what comes out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4)
    W, b = rng.normal(size=(lines, D)), rng.normal(size=lines)
    if sparse_weights:
        W[:, 3] = 0.0
    if "float32" in kind:
        X = X.astype(np.float32)
    expected = X.astype(np.float64) @ W.T + b
    if "csr" in kind:
        X = sp.csr_array(X)
        if "64" in kind:
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X, W, b, expected


def in_small_pieces(monkeypatch):
    """Every slab, block and gathering of weights, on rows as few as these."""
    for name, least in (("_LARGE", 40), ("_LARGE_SPARSE", 40), ("_BLOCK", 40)):
        monkeypatch.setattr(outputs, name, least)
    monkeypatch.setattr(outputs, "_FEW", 4)


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lines", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_the_product(kind, lines, order, pieces, monkeypatch):
    X, W, b, expected = problem(kind, lines)
    if pieces:
        in_small_pieces(monkeypatch)
    got, finite = linear_outputs(X, np.asarray(W, order=order), b, 2)
    assert finite
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "lines"),
    # of dense rows and several lines, which are the BLAS's, n_jobs says nothing
    [(kind, k) for kind in KINDS for k in (1, 5) if k == 1 or "csr" in kind],
)
def test_threads_do_not_change_a_bit(kind, lines, monkeypatch):
    X, W, b, _ = problem(kind, lines)
    in_small_pieces(monkeypatch)
    one, three = (linear_outputs(X, W, b, n_jobs)[0] for n_jobs in (1, 3))
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("kind", KINDS[2:])
def test_a_few_sparse_rows_read_the_weights_of_their_own_columns(kind):
    X, W, b, expected = problem(kind, 5)
    few = X[:1]
    assert few.nnz < D
    W[:, np.setdiff1d(np.arange(D), few.indices)] = np.nan  # nobody reads them
    got, finite = linear_outputs(few, W, b, 1)
    assert finite
    np.testing.assert_allclose(got, expected[:1], rtol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, N])
def test_sparse_arrays_longer_than_their_rows(n, order, monkeypatch):
    X, W, b, expected = problem("csr", 5)
    some = X[:n]
    some.data, some.indices = np.r_[some.data, 1e9], np.r_[some.indices, np.int32(0)]
    if n == N:
        in_small_pieces(monkeypatch)
    got, finite = linear_outputs(some, np.asarray(W, order=order), b, 2)
    assert finite
    np.testing.assert_allclose(got, expected[:n], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lines", [1, 3])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.uint32])
def test_indices_of_few_bits(dtype, lines, order):
    """More numbers are stored than such an index could count."""
    rng = np.random.default_rng(0)
    A = np.zeros((5, 1000))
    A[:, :100] = rng.normal(size=(5, 100))
    W, b = rng.normal(size=(lines, 1000)), np.zeros(lines)
    X = sp.csr_array(A)
    X.indices = X.indices.astype(dtype)
    got, finite = linear_outputs(X, np.asarray(W, order=order), b, 1)
    assert finite
    np.testing.assert_allclose(got, A @ W.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("lines", [1, 3])
def test_rows_without_any_number(make, lines):
    _, W, b, _ = problem("csr", lines)
    got, finite = linear_outputs(make((4, D)), W, b, 1)
    assert finite
    np.testing.assert_array_equal(got, np.tile(b, (4, 1)))


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["X", "X where a weight is 0", "W", "b"])
@pytest.mark.parametrize("lines", [1, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_not_finite_is_told(kind, lines, where, bad, pieces, monkeypatch):
    zero = where.endswith("0")
    X, W, b, _ = problem(kind, lines, sparse_weights=zero)
    if pieces:
        in_small_pieces(monkeypatch)
    if where.startswith("X"):
        dense = X.toarray() if sp.issparse(X) else X
        dense[40, 3 if zero else 5] = bad
        X = sp.csr_array(dense) if sp.issparse(X) else dense
    elif where == "W":
        W[-1, 5] = bad
    else:
        b[-1] = bad
    assert not linear_outputs(X, W, b, 2)[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", [1, 5])
def test_outputs_that_overflow_are_told(kind, lines):
    X, W, b, _ = problem(kind, lines)
    assert not linear_outputs(100.0 * X, np.full_like(W, 1e308), b, 1)[1]


def test_outputs_whose_sum_alone_overflows_are_right():
    """Then they are looked at one by one."""
    X = np.full((100, 2), 1.0)
    machine = LinearSVC().fit(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1])
    machine.coef_ = np.array([[1e307, 0.0]])
    with np.errstate(over="raise"):
        decision = machine.decision_function(X)
    np.testing.assert_array_equal(decision, np.full(100, 1e307))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["coef_", "intercept_"])
def test_altered_weights_are_named(classes, name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % classes
    machine = LinearSVC().fit(X, y)
    altered = np.array(getattr(machine, name))
    altered.flat[0] = np.nan
    setattr(machine, name, altered)
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(InputError, match="was altered"):
            machine.predict(rows)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_weights_by_rows_by_columns_and_with_gaps_are_the_same(kind, classes):
    X, _, _, _ = problem(kind, 1)
    machine = LinearSVC().fit(X, np.arange(N) % classes)
    decision = machine.decision_function(X)
    gaps = np.zeros((machine.coef_.shape[0], 2 * D))
    gaps[:, ::2] = machine.coef_
    given = machine.coef_
    for coef in (gaps[:, ::2], np.array(given, order="C"), np.array(given, order="F")):
        machine.coef_ = coef
        np.testing.assert_allclose(machine.decision_function(X), decision, rtol=1e-13)


# --- indices that point outside ---------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "columns"),
    [
        (np.int8, 300),
        (np.int8, 100),
        (np.int16, 40_000),
        (np.int32, 2**31 + 9),
        (">i4", 9),
    ],
)
def test_negative_indices_of_any_width_are_refused(dtype, columns):
    X = sp.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), (2, columns))
    X.indices = np.array([1, -1]).astype(dtype)
    with pytest.raises(InputError, match="indices must lie between 0 and"):
        check_structure(X)
    X.indices = np.array([1, 2]).astype(dtype)
    check_structure(X)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float64])
def test_negative_coordinates_are_refused(dtype):
    X = sp.coo_array(np.eye(3))
    X.coords = (np.array([-1, 1, 2]).astype(dtype), X.coords[1])
    with pytest.raises(InputError, match="do not fit its shape"):
        check_structure(X)
