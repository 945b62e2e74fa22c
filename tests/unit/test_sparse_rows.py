"""Dense rows that are mostly zeros are read as sparse ones: when, and with what bits."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import maxmargin
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.factory import expansion
from maxmargin.kernels.gram import dot_products as gram_module
from maxmargin.kernels.gram import tiles
from maxmargin.kernels.gram.dot_products import VectorGram
from maxmargin.parallel import Workers
from maxmargin.rows import compress as thinning
from maxmargin.rows.compress import (
    both_thinned,
    compressed,
    sparse_spread,
    thinned,
    without_zeros,
)
from maxmargin.rows.records import CsrRows, DenseRows, rows_of, spread_of

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ALONE = Workers(1)


def thin(n=1200, d=250, seed=0, density=0.2):
    """Mostly zeros; the first column, far from the origin, hardly ever is."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < density, rng.normal(size=(n, d)), 0.0)
    X[:, 0] = 4.0 + rng.random(n)
    X[5, 0] = 0.0
    return X


def dense_gram(monkeypatch, kernel, X):
    """The Gram that does without."""
    with monkeypatch.context() as patch:
        patch.setattr(gram_module, "thinned", lambda X, spread, *_, **__: (X, spread))
        return VectorGram(kernel, X, ALONE)


def kind(gram, dtype=SINGLE):
    return type(gram._side(dtype)[0])


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_compressed(dtype, n_jobs):
    X = thin().astype(dtype)
    with Workers(n_jobs) as workers:
        got = compressed(X, np.zeros(X.shape[1]), workers)
    expected = sp.csr_array(X)
    assert got.dtype == dtype
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))
    assert got.indices.dtype == got.indptr.dtype == np.int32


def test_a_shifted_column_is_stored_whole():
    X = thin()
    shift = np.zeros(X.shape[1])
    shift[[0, 3]] = 2.0
    got = compressed(X, shift, ALONE)
    np.testing.assert_array_equal(got.toarray(), X)
    for k in (0, 3):
        assert np.count_nonzero(got.indices == k) == X.shape[0]
    assert got.nnz == np.count_nonzero(X) + np.count_nonzero(X[:, [0, 3]] == 0.0)


def test_more_than_a_third_is_not_compressed():
    X = thin(density=0.32)
    assert compressed(X, np.zeros(X.shape[1]), ALONE) is not None
    assert compressed(thin(density=0.34), np.zeros(X.shape[1]), ALONE) is None
    # a sample that lies: only the rows that are looked at are sparse
    some = np.linspace(0, 1199, 256).astype(np.intp)
    lying = np.random.default_rng(0).normal(size=X.shape)
    lying[some] = X[some]
    assert sparse_spread(lying, spread_of(lying), centred=False) is not None
    assert kind(VectorGram(Linear(), lying, ALONE)) is DenseRows


def test_a_copy_that_is_too_large_is_not_made(monkeypatch):
    X = thin()
    stored = compressed(X, np.zeros(X.shape[1]), ALONE).nnz
    monkeypatch.setattr(thinning, "_ROOM", 12 * stored - 1)  # a float64 and an int32
    assert compressed(X, np.zeros(X.shape[1]), ALONE) is None
    narrow = X.astype(np.float32)
    assert compressed(narrow, np.zeros(X.shape[1]), ALONE) is not None


def test_the_copy_of_a_linear_machine_grows_with_n_and_d_squared():
    """At most 32·(n + d²) numbers: 21 values a row, or few rows and many columns."""
    few, many = np.zeros((3000, 100)), np.zeros((3000, 100))
    few[:, :10] = many[:, :30] = 1.0
    assert sp.issparse(without_zeros(few, ALONE))
    assert sp.issparse(without_zeros(many, ALONE))  # d² = 10,000 numbers
    long = np.tile(many, (20, 1))
    assert without_zeros(long, ALONE) is long
    assert sp.issparse(without_zeros(np.tile(few, (20, 1)), ALONE))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_rows_have_small_blocks_of_the_same_values(dtype):
    """A block of hashed features: one panel, and at most 64 MB for 2^18 columns."""
    d = 1 << 18
    shape = tiles.shape_of(rows_of(sp.csr_array((3, d), dtype=dtype)), d, dtype, 500)
    assert shape.columns == shape.width
    assert shape.columns * d * np.dtype(dtype).itemsize <= 1 << 26
    X = sp.random(150, 500, 0.1, "csr", dtype, random_state=0)
    wide = sp.csr_array((X.data, X.indices * 500, X.indptr), shape=(150, d))
    everyone = np.arange(150)
    K, same = np.empty((150, 150), dtype), np.empty((150, 150), dtype)
    VectorGram(RBF(gamma=0.1), X, ALONE).block(everyone, everyone, K)
    VectorGram(RBF(gamma=0.1), wide, ALONE).block(everyone, everyone, same)
    np.testing.assert_array_equal(K, same)


def test_which_rows_are_read_as_sparse():
    X = thin()
    assert kind(VectorGram(RBF(gamma=0.01), X, ALONE)) is CsrRows
    assert kind(VectorGram(Linear(), X, ALONE)) is CsrRows
    assert kind(VectorGram(RBF(gamma=0.01), X[:1000], ALONE)) is DenseRows
    narrow = thin(d=200)  # 240,000 values
    assert kind(VectorGram(RBF(gamma=0.01), narrow, ALONE)) is DenseRows
    assert kind(VectorGram(RBF(gamma=0.01), thin(density=0.4), ALONE)) is DenseRows


def test_what_centring_keeps_stays_dense():
    X = thin()
    # Columns that are nearly whole may be centred, these may not.
    X[np.arange(1200) % 10 < 6, 1:20] = 10.0
    assert kind(VectorGram(RBF(gamma=0.01), X, ALONE)) is DenseRows
    assert kind(VectorGram(Linear(), X, ALONE)) is CsrRows
    remote = thin()
    remote[:, :3] += 1e8
    assert spread_of(remote).remote
    assert thinned(remote, spread_of(remote), ALONE, centred=True)[0] is remote
    assert sparse_spread(remote, spread_of(remote), centred=False) is None


def test_only_columns_that_are_hardly_ever_zero_are_centred():
    X = thin()
    spread = spread_of(X)
    found = sparse_spread(X, spread, centred=True)
    assert found.means[0] == spread.means[0]
    assert not found.means[1:].any()
    gram = VectorGram(RBF(gamma=0.01), X, ALONE)
    assert gram._side(SINGLE)[0].shift[0] == spread.means[0]
    assert not gram._side(DOUBLE)[0].shift.any()


@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.02)], ids=["linear", "rbf"])
def test_float64_keeps_its_bits(monkeypatch, kernel):
    X, rng = thin(), np.random.default_rng(0)
    thinner, plain = VectorGram(kernel, X, ALONE), dense_gram(monkeypatch, kernel, X)
    assert (kind(thinner), kind(plain)) == (CsrRows, DenseRows)
    rows, cols = rng.integers(0, 1200, 40), np.arange(900, dtype=np.intp)
    blocks, products = np.empty((2, 40, 900)), np.zeros((2, 40))
    coef = rng.normal(size=900)
    for at, gram in enumerate((thinner, plain)):
        gram.block(rows, cols, blocks[at])
        gram.apply(rows, cols, coef, products[at], DOUBLE)
    assert blocks[0].tobytes() == blocks[1].tobytes()
    assert products[0].tobytes() == products[1].tobytes()
    np.testing.assert_array_equal(thinner.diagonal(), plain.diagonal())


def test_float32_keeps_its_digits():
    X = thin()
    X[:, 0] += 500.0  # uncentred, squared distances would be off by 0.02
    X[5, 0] = 0.0
    rows, cols = np.arange(40, dtype=np.intp), np.arange(900, dtype=np.intp)
    exact, short = np.empty((40, 900)), np.empty((40, 900), SINGLE)
    gram = VectorGram(RBF(gamma=0.02), X, ALONE)
    assert kind(gram) is CsrRows
    gram.block(rows, cols, exact)
    gram.block(rows, cols, short)
    np.testing.assert_allclose(np.delete(short, 5, 0), np.delete(exact, 5, 0), atol=1e-5)


def test_cost_depends_on_what_is_stored():
    wide = sp.random_array((50, 100_000), density=1e-4, format="csr", rng=0)
    assert VectorGram(Linear(), wide, ALONE).cost < 3.0
    X = thin()
    assert VectorGram(RBF(gamma=0.01), X, ALONE).cost < 1.0 + 250 / 50
    assert VectorGram(RBF(gamma=0.01), X[:900], ALONE).cost == 1.0 + 250 / 50


# --- prediction -------------------------------------------------------------------------


def test_both_sides_or_none():
    X, B, nothing = thin(seed=1, n=300), thin(), np.zeros(250)
    left, right = both_thinned(X, B, nothing, ALONE)
    assert sp.issparse(left)
    assert sp.issparse(right)
    # X is not sparse, too few rows to make up for it, no array
    for A in (np.ones_like(X), X[:200], sp.csr_array(X)):
        left, right = both_thinned(A, B, nothing, ALONE)
        assert left is A
        assert right is B
    # too few support vectors
    assert sparse_spread(B[:100], spread_of(B[:100]), centred=False) is None


def test_decisions_keep_their_bits():
    B, X, rng = thin(), thin(seed=1, n=600), np.random.default_rng(0)
    coef = rng.normal(size=(3, B.shape[0]))
    seen = set()
    for n_jobs in (1, 2):
        with Workers(n_jobs) as workers:
            # In pieces too small to be made sparse, and all at once.
            parts = [
                expansion(RBF(gamma=0.02), X[a : a + 100], B, coef, workers=workers)
                for a in range(0, 600, 100)
            ]
            seen.add(np.vstack(parts).tobytes())
            seen.add(expansion(RBF(gamma=0.02), X, B, coef, workers=workers).tobytes())
    assert len(seen) == 1


def test_users_see_dense_support_vectors():
    X = thin()
    y = np.where(X[:, 1:8].sum(axis=1) > 0.0, 1, -1)
    model = maxmargin.SVC(gamma=0.02).fit(X, y)
    assert isinstance(model.support_vectors_, np.ndarray)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    again = maxmargin.SVC(gamma=0.02).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(
        model.decision_function(X), again.decision_function(X), atol=5e-3
    )


def test_a_mapped_file_stays_on_disk(tmp_path):
    X = thin(2000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for rows, sparse in ((X, True), (mapped, False), (np.asarray(mapped)[:1900], False)):
        found, _ = thinned(rows, spread_of(rows), ALONE, centred=True)
        assert sp.issparse(found) == sparse


# --- very many columns ----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_columns_that_nobody_uses_take_no_memory(kernel):
    few = sp.random(80, 300, 0.1, "csr", random_state=0)
    few.resize(80, 301)  # the last column is empty
    y = np.arange(80) % 3
    places = np.arange(301) ** 2 * 10_000
    wide = sp.csr_matrix((few.data, places[few.indices], few.indptr), (80, 10**9))
    machine = maxmargin.SVC(kernel=kernel, gamma=0.5, C=10.0)
    narrow = clone(machine).fit(few[:60], y[:60])
    found = clone(machine).fit(wide[:60], y[:60])
    np.testing.assert_array_equal(found.support_, narrow.support_)
    np.testing.assert_allclose(
        found.decision_function(wide), narrow.decision_function(few), rtol=1e-9
    )
    # A row may have a column that no support vector has: its norm counts that.
    other = sp.csr_matrix(([3.0], ([0], [300])), (1, 301))
    same = sp.csr_matrix(([3.0], ([0], [places[300]])), (1, 10**9))
    np.testing.assert_allclose(
        found.decision_function(same), narrow.decision_function(other), rtol=1e-9
    )
