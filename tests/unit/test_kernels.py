"""Kernel values against their formulas, and the promise about their bits.

The promise of :class:`maxmargin.kernels.gram.contract.Gram`: the bits of K[i, j] depend
on the two points and the precision, never on the block, the order, the threads or the
storage, and are those of K[j, i].
"""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.conformance.problems import laplacian, plain_kernel

from maxmargin.errors import InputError, NumericalError
from maxmargin.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.kernels.factory import expansion, training_gram
from maxmargin.kernels.gram import tiles
from maxmargin.kernels.gram.dot_products import VectorGram, prepare
from maxmargin.kernels.gram.table import CallableGram, TableGram
from maxmargin.kernels.naming import as_kernel, kind_of
from maxmargin.kernels.outside import BlockFunction
from maxmargin.parallel import Workers
from maxmargin.rows.records import DenseRows, rows_of, spread_of, squared_norms

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
KERNELS = [Linear(), Polynomial(3, 1.0, 0.2), RBF(gamma=0.1), Sigmoid(0.05, -0.2)]
ALONE = Workers(1)


def name(value):
    return type(value).__name__ if isinstance(value, Kernel) else str(value)


over_kernels = pytest.mark.parametrize("kernel", KERNELS, ids=name)
over_precisions = pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)


def data(n=150, d=11, seed=0):
    """About half zeros, a row of zeros, and a pair of equal rows."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[np.abs(X) < 0.6] = 0.0
    X[4] = 0.0
    X[5] = X[6]
    return X


def block(gram, rows, cols, dtype):
    out = np.full((len(rows), len(cols)), np.nan, dtype)
    gram.block(np.asarray(rows, np.intp), np.asarray(cols, np.intp), out)
    return out


def whole(gram, dtype):
    return block(gram, range(gram.n), range(gram.n), dtype)


# --- values -----------------------------------------------------------------------------


# Every combination of kernel, precision and dtype of X is another compilation, so each is
# met once, not all with all.
VALUES = [(kernel, dtype, DOUBLE) for kernel in KERNELS for dtype in (SINGLE, DOUBLE)]
VALUES += [(RBF(gamma=0.1), dtype, SINGLE) for dtype in (SINGLE, DOUBLE)]


@pytest.mark.parametrize(("kernel", "dtype", "kept"), VALUES, ids=name)
def test_values(kernel, dtype, kept):
    X = data().astype(kept)
    gram = VectorGram(kernel, X, ALONE)
    expected = plain_kernel(kernel, X, X)
    scale = np.abs(expected).max()
    got = whole(gram, dtype)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, expected, atol=30 * np.finfo(dtype).eps * scale)
    np.testing.assert_allclose(
        gram.diagonal(), np.diagonal(expected), atol=1e-14 * scale, rtol=0.0
    )
    assert gram.diagonal().dtype == np.float64


@over_precisions
@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.1)], ids=name)
def test_products(kernel, dtype):
    X, rng = data(), np.random.default_rng(1)
    gram = VectorGram(kernel, X, ALONE)
    rows, cols = (
        rng.permutation(150)[:70].astype(np.intp),
        np.arange(3, 140, dtype=np.intp),
    )
    coef, out = rng.normal(size=cols.size), rng.normal(size=rows.size)
    expected = out + plain_kernel(kernel, X, X)[np.ix_(rows, cols)] @ coef
    gram.apply(rows, cols, coef, out, dtype)
    np.testing.assert_allclose(out, expected, atol=1e4 * np.finfo(dtype).eps)


def test_more_features_and_columns_than_one_block_holds():
    X = np.random.default_rng(3).normal(size=(700, 300)) / 10
    gram = VectorGram(RBF(gamma=0.3), X, ALONE)
    assert tiles.panel_columns(300, DOUBLE) < 700
    np.testing.assert_allclose(
        whole(gram, DOUBLE)[:20], plain_kernel(RBF(gamma=0.3), X[:20], X), rtol=1e-13
    )


def test_far_from_the_origin_no_digits_are_lost():
    X = data()
    near, far = (VectorGram(RBF(gamma=0.1), Z, ALONE) for Z in (X, X + 2.0**20))
    np.testing.assert_allclose(whole(near, SINGLE), whole(far, SINGLE), atol=1e-5)
    np.testing.assert_allclose(whole(near, DOUBLE), whole(far, DOUBLE), atol=1e-9)


@pytest.mark.parametrize(
    "kernel_of",
    [
        lambda gamma: Polynomial(3, 1.0, 0.2 * gamma),
        lambda gamma: RBF(gamma=0.1 * gamma),
        lambda gamma: Sigmoid(0.05 * gamma, -0.2),
        lambda gamma: gamma * Linear(),
    ],
    ids=["poly", "rbf", "sigmoid", "linear"],
)
@pytest.mark.parametrize("factor", [2.0**60, 2.0**-60])
def test_a_power_of_two_in_the_features_changes_no_digit(kernel_of, factor):
    X = data()
    plain = training_gram(kernel_of(1.0), X, workers=ALONE)
    scaled = training_gram(kernel_of(factor**-2), X * factor, workers=ALONE)
    np.testing.assert_allclose(whole(scaled, DOUBLE), whole(plain, DOUBLE), rtol=1e-13)


@over_precisions
def test_equal_rows_are_at_distance_zero(dtype):
    X = data() * 3.7
    for Z in (X, sp.csr_matrix(X)):
        K = whole(VectorGram(RBF(gamma=50.0), Z, ALONE), dtype)
        assert (np.diagonal(K) == 1.0).all()
        assert K[5, 6] == 1.0


# --- bits -------------------------------------------------------------------------------


@over_kernels
@over_precisions
def test_bits_are_symmetric(kernel, dtype):
    K = whole(VectorGram(kernel, data(), ALONE), dtype)
    assert K.tobytes() == np.ascontiguousarray(K.T).tobytes()


@over_kernels
@over_precisions
def test_bits_do_not_depend_on_the_block(kernel, dtype):
    gram = VectorGram(kernel, data(), ALONE)
    K = whole(gram, dtype)
    rng = np.random.default_rng(0)
    for count in (1, 2, 5, 6, 7, 13, 64, 65):
        rows, cols = rng.integers(0, 150, count), rng.integers(0, 150, 77 - count)
        assert block(gram, rows, cols, dtype).tobytes() == K[np.ix_(rows, cols)].tobytes()


@over_precisions
def test_bits_do_not_depend_on_the_threads(dtype):
    X, coef = data(n=800), np.random.default_rng(0).normal(size=800)
    everyone = np.arange(800, dtype=np.intp)
    seen = set()
    for n_jobs in (1, 2, 3):
        with Workers(n_jobs) as workers:
            gram = VectorGram(RBF(gamma=0.1), X, workers)
            product = np.zeros(800)
            gram.apply(everyone, everyone, coef, product, dtype)
            seen.add((whole(gram, dtype).tobytes(), product.tobytes()))
    assert len(seen) == 1


@over_precisions
def test_bits_of_a_subset(dtype):
    X, index = data(), np.array([140, 3, 5, 77, 6, 20], np.intp)
    gram = VectorGram(RBF(gamma=0.1), X, ALONE)
    part = gram.subset(index)
    assert part.n == 6
    assert part.n_kernel == 0
    expected = whole(gram, dtype)[np.ix_(index, index)]
    assert whole(part, dtype).tobytes() == expected.tobytes()
    assert part.n_kernel == 36
    assert gram.n_kernel == 150**2
    np.testing.assert_array_equal(part.diagonal(), gram.diagonal()[index])
    smaller = part.subset(np.array([4, 1], np.intp))
    assert whole(smaller, dtype).tobytes() == expected[np.ix_([4, 1], [4, 1])].tobytes()
    same = gram.narrowed(index)
    assert whole(same, dtype).tobytes() == expected.tobytes()
    assert same.n_kernel == 36


@over_precisions
def test_bits_are_the_same_for_dense_and_sparse_rows(dtype):
    record, X = RBF(gamma=0.1).compiled(), data(n=90)
    kinds = [rows_of(X), rows_of(sp.csr_matrix(X))]
    index, n, d = np.arange(90, dtype=np.intp), *X.shape
    seen = set()
    for left in kinds:
        for right in kinds:
            norms = [np.empty(n, dtype) for _ in kinds]
            for rows, target in zip((left, right), norms, strict=True):
                squared_norms(rows, 0, n, dtype.type(0.0), target)
            shape = tiles.shape_of(left, d, dtype, n)
            space = np.zeros(tiles.scratch_size(shape), dtype)
            for mode in (tiles.STORE, tiles.TURN):
                out = np.empty((n, n), dtype)
                tiles.product(
                    record, tiles.Side(left, norms[0], index),
                    tiles.Side(right, norms[1], index), np.empty((0, 0)), shape, space,
                    mode, 0, out, np.empty((0, 0)), index[:1], np.empty(12),
                )  # fmt: skip
                seen.add(out.tobytes())  # K is symmetric, so a turned block is the same
            # Panels of sparse columns must be left as they were found.
            assert isinstance(right, DenseRows) or not space[: shape.columns * d].any()
    assert len(seen) == 1


@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.1)], ids=name)
def test_a_sparse_gram_is_a_dense_gram(kernel):
    X = data()
    dense, sparse = (VectorGram(kernel, Z, ALONE) for Z in (X, sp.csr_matrix(X)))
    assert whole(dense, DOUBLE).tobytes() == whole(sparse, DOUBLE).tobytes()
    # In float32 dense rows are centred for the Gaussian kernel: digits agree, not bits.
    np.testing.assert_allclose(whole(dense, SINGLE), whole(sparse, SINGLE), atol=1e-5)


def test_a_gram_survives_a_pickle():
    gram = VectorGram(RBF(gamma=0.1), data(), Workers(2))
    again = pickle.loads(pickle.dumps(gram))
    assert whole(again, DOUBLE).tobytes() == whole(gram, DOUBLE).tobytes()


# --- counting, precision, overflow ------------------------------------------------------


def test_kernel_values_are_counted():
    gram = VectorGram(Linear(), data(), ALONE)
    block(gram, range(10), range(7), SINGLE)
    assert gram.n_kernel == 70
    few = np.arange(5, dtype=np.intp)
    gram.apply(few, few, np.ones(5), np.zeros(5), DOUBLE)
    assert gram.n_kernel == 95


def test_precisions():
    large = data(n=1001)
    assert VectorGram(RBF(gamma=0.1), large[:1000], ALONE).precisions == (DOUBLE,)
    gram = VectorGram(RBF(gamma=0.1), large, ALONE)
    assert gram.precisions == (SINGLE, DOUBLE)
    few = np.arange(5)
    assert gram.subset(few).precisions == (DOUBLE,)
    assert gram.subset(few, SINGLE).precisions == (SINGLE, DOUBLE)
    assert gram.narrowed(few).precisions == (DOUBLE,)
    # where float32 has no room for the values, the norms or the parameters
    assert VectorGram(Linear(), 1e20 * large, ALONE).precisions == (DOUBLE,)
    assert VectorGram(RBF(gamma=1e35), large, ALONE).precisions == (DOUBLE,)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 0.0, 1.0)], ids=name)
def test_overflow_is_an_error_that_says_what_to_do(kernel):
    with pytest.raises(NumericalError, match=r"overflows float64.*scale the features"):
        VectorGram(kernel, 1e200 * data(), ALONE)


def test_transform_is_for_compiled_code():
    with pytest.raises(TypeError, match="no transform for RBFRecord"):
        tiles.transform(RBF(gamma=1.0).compiled(), np.zeros(1), 0.0, np.zeros(1))


# --- kernels from outside ---------------------------------------------------------------


@pytest.fixture(params=["table", "table32", "callable"])
def outside(request):
    """A Gram whose values were not made here, and those values."""
    X = data(n=80)
    K = laplacian(X, X)
    if request.param == "callable":
        return CallableGram(laplacian, X), K
    K = K.astype(np.float32 if request.param == "table32" else np.float64)
    K.flags.writeable = False
    return TableGram(K), K.astype(np.float64)


def test_outside_values(outside):
    gram, K = outside
    assert gram.n == 80
    assert gram.precisions == (DOUBLE,)
    assert whole(gram, DOUBLE).tobytes() == K.tobytes()
    np.testing.assert_array_equal(gram.diagonal(), np.diagonal(K))
    rows, cols = np.array([7, 3, 70], np.intp), np.arange(10, 40, dtype=np.intp)
    coef, out = np.linspace(-1, 1, 30), np.ones(3)
    gram.apply(rows, cols, coef, out, DOUBLE)
    np.testing.assert_allclose(out, 1.0 + K[np.ix_(rows, cols)] @ coef, rtol=1e-12)


def test_outside_block_fills_the_corner_only(outside):
    gram, K = outside
    out = np.full((6, 90), -7.0)
    gram.block(np.array([5, 1], np.intp), np.arange(80, dtype=np.intp), out[:2, :80])
    np.testing.assert_array_equal(out[:2, :80], K[[5, 1]])
    np.testing.assert_array_equal(out[2:], -7.0)
    np.testing.assert_array_equal(out[:, 80:], -7.0)


def test_outside_subset(outside):
    gram, K = outside
    index = np.array([9, 2, 55, 31], np.intp)
    part = gram.subset(index)
    assert whole(part, DOUBLE).tobytes() == K[np.ix_(index, index)].tobytes()
    np.testing.assert_array_equal(part.diagonal(), np.diagonal(K)[index])
    inner = np.array([3, 0], np.intp)
    for smaller in (part.subset(inner), part.narrowed(inner)):
        assert smaller.n == 2
        expected = K[np.ix_(index[inner], index[inner])]
        np.testing.assert_array_equal(whole(smaller, DOUBLE), expected)


def test_a_table_costs_no_kernel_values_a_function_does():
    X = data(n=20)
    table, function = TableGram(laplacian(X, X)), CallableGram(laplacian, X)
    whole(table, DOUBLE)
    whole(function, DOUBLE)
    assert table.n_kernel == 0
    assert function.n_kernel == 400


def test_a_function_is_asked_in_bounded_blocks(monkeypatch):
    from maxmargin.kernels.gram import table

    monkeypatch.setattr(table, "_VALUES", 100)
    asked = []

    def spy(A, B):
        asked.append(len(A) * len(B))
        return laplacian(A, B)

    X, out = data(n=30), np.zeros(30)
    gram = CallableGram(spy, X)
    everyone = np.arange(30, dtype=np.intp)
    np.testing.assert_array_equal(whole(gram, DOUBLE), laplacian(X, X))
    gram.apply(everyone, everyone, np.ones(30), out, DOUBLE)
    np.testing.assert_allclose(out, laplacian(X, X).sum(axis=1), rtol=1e-13)
    assert max(asked) <= 100


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (
            lambda A, B: np.ones(len(A)),
            r"shape \(5,\).*one value for each pair.*\(5, 5\)",
        ),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN or infinity"),
        (lambda A, B: np.full((len(A), len(B)), -np.inf), "NaN or infinity"),
    ],
)
def test_a_function_that_is_no_kernel(kernel, match):
    with pytest.raises(InputError, match=match):
        whole(CallableGram(kernel, data(n=10)).subset(np.arange(5)), DOUBLE)


# --- prediction -------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), laplacian], ids=["linear", "function"])
def test_expansion(kernel):
    vectors, X = data(seed=1, n=40), data(seed=2, n=60)
    coef = np.random.default_rng(0).normal(size=(3, 40))
    got = expansion(as_kernel(kernel), X, vectors, coef, workers=ALONE)
    np.testing.assert_allclose(got, plain_kernel(kernel, X, vectors) @ coef.T, atol=1e-11)


def test_expansion_of_sparse_and_dense():
    vectors, X = data(seed=1, n=40), data(seed=2, n=60)
    coef = np.random.default_rng(0).normal(size=(1, 40))
    expected = plain_kernel(RBF(gamma=0.1), X, vectors) @ coef.T
    for left in (X, sp.csr_matrix(X)):
        for right in (vectors, sp.csr_matrix(vectors)):
            got = expansion(RBF(gamma=0.1), left, right, coef, workers=ALONE)
            np.testing.assert_allclose(got, expected, atol=1e-12)


def test_expansion_of_a_table():
    K, coef = np.random.default_rng(0).normal(size=(6, 9)), np.ones((2, 3))
    got = expansion(Precomputed(), K, np.array([8, 0, 4]), coef, workers=ALONE)
    np.testing.assert_allclose(got[:, 1], K[:, [8, 0, 4]].sum(axis=1), rtol=1e-14)


def test_expansion_of_a_function_without_vectors_is_zero():
    kernel, none = BlockFunction(laplacian), data()[:0]
    got = expansion(kernel, data(n=7), none, np.empty((2, 0)), workers=ALONE)
    np.testing.assert_array_equal(got, np.zeros((7, 2)))


# --- names ------------------------------------------------------------------------------


def test_names():
    def made(name):
        return as_kernel(name, degree=4, gamma=0.5, coef0=2.0)

    assert made("linear") == Linear()
    assert made("poly") == Polynomial(4, coef0=2.0, gamma=0.5)
    assert made("rbf") == RBF(gamma=0.5)
    assert made("sigmoid") == Sigmoid(0.5, 2.0)
    assert made("precomputed") == Precomputed()
    with pytest.raises(InputError, match=r"'cosine'.*'linear', 'poly', 'rbf', 'sigmoid'"):
        made("cosine")
    with pytest.raises(InputError, match="expected a kernel object"):
        as_kernel(RBF)


def test_objects_and_functions_are_themselves():
    k = RBF(gamma=1.0)
    assert as_kernel(k) is k
    assert as_kernel(laplacian).function is laplacian
    assert [kind_of(one) for one in (k, "rbf", laplacian, "cosine", None)] == [
        RBF,
        RBF,
        BlockFunction,
        Kernel,
        Kernel,
    ]


def test_what_machines_allow_and_constructors_refuse():
    """gamma=0 and degree=0, where all values are the same."""
    X = data(n=8)
    for name, expected in (("rbf", 1.0), ("poly", 0.25)):
        kernel = as_kernel(name, degree=2, gamma=0.0, coef0=0.5)
        np.testing.assert_array_equal(kernel(X), np.full((8, 8), expected))
        assert pickle.loads(pickle.dumps(kernel)) == kernel
    constant = as_kernel("poly", degree=0, gamma=1.0, coef0=0.5)
    np.testing.assert_array_equal(constant(X), np.ones((8, 8)))
    with pytest.raises(InputError, match="gamma must be positive"):
        as_kernel("rbf", gamma=-1.0)


def test_which_gram():
    X = data(n=8)
    assert isinstance(training_gram(RBF(gamma=1.0), X, workers=ALONE), VectorGram)
    called = training_gram(BlockFunction(laplacian), X, workers=ALONE)
    assert isinstance(called, CallableGram)
    assert isinstance(training_gram(Precomputed(), X @ X.T, workers=ALONE), TableGram)


def test_dense_rows_are_centred_where_digits_would_be_lost():
    X = data() + 5.0

    def shift(kernel, X, dtype):
        return prepare(kernel, spread_of(X), dtype, X)[1][0].shift

    np.testing.assert_allclose(shift(RBF(gamma=1.0), X, SINGLE), X.mean(axis=0))
    assert not shift(RBF(gamma=1.0), X, DOUBLE).any()
    np.testing.assert_allclose(
        shift(RBF(gamma=1.0), X + 1e5, DOUBLE), X.mean(axis=0) + 1e5
    )
    assert not shift(Linear(), X + 1e5, SINGLE).any()  # it sees translations
    record, (left, right) = prepare(RBF(gamma=1.0), spread_of(X), SINGLE, X[:9], X)
    assert record == RBF(gamma=1.0).compiled()
    np.testing.assert_array_equal(left.shift, right.shift)  # one map for both sides
