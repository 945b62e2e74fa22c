"""Kernel objects: their values against plain formulas, their bits, and their manners."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import pairwise as peer
from sklearn.svm import SVC

from maxmargin import kernels
from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels import (
    RBF,
    ChiSquared,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    kernel,
)
from maxmargin.kernels.factory import (
    cross_values,
    expansion,
    self_values,
    training_gram,
)
from maxmargin.kernels.gram.composite import CompositeGram
from maxmargin.kernels.gram.row_cache import StoredGram
from maxmargin.kernels.outside import BlockFunction
from maxmargin.parallel import Workers

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ALONE = Workers(1)


@kernel
def intersection(x, z):
    """Histogram intersection."""
    total = 0.0
    for k in range(x.size):
        total += min(x[k], z[k])
    return total


def distances(A, B, power):
    return (np.abs(A[:, None, :] - B[None, :, :]) ** power).sum(axis=2)


def chi_squared(A, B):
    apart, total = A[:, None, :] - B[None, :, :], A[:, None, :] + B[None, :, :]
    return np.where(total > 0, apart**2 / np.where(total > 0, total, 1.0), 0.0).sum(2)


FORMULAS = {
    Linear(): lambda A, B: A @ B.T,
    Polynomial(3): lambda A, B: (A @ B.T + 1.0) ** 3,
    Polynomial(2, coef0=0.5, gamma=0.3): lambda A, B: (0.3 * A @ B.T + 0.5) ** 2,
    RBF(gamma=0.2): lambda A, B: np.exp(-0.2 * distances(A, B, 2)),
    RBF(sigma=2.0): lambda A, B: np.exp(-distances(A, B, 2) / 8.0),
    Sigmoid(0.1, -0.5): lambda A, B: np.tanh(0.1 * A @ B.T - 0.5),
    Laplacian(0.3): lambda A, B: np.exp(-0.3 * distances(A, B, 1)),
    ChiSquared(0.4): lambda A, B: np.exp(-0.4 * chi_squared(A, B)),
    intersection: lambda A, B: np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2),
    Linear() + 0.5 * RBF(gamma=0.2): (
        lambda A, B: A @ B.T + 0.5 * np.exp(-0.2 * distances(A, B, 2))
    ),
    (Laplacian(0.3) * Linear()) ** 3: (
        lambda A, B: (np.exp(-0.3 * distances(A, B, 1)) * (A @ B.T)) ** 3
    ),
    intersection * Linear() + intersection**2 + Linear(): (
        lambda A, B: (
            np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2) * (A @ B.T)
            + np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2) ** 2
            + A @ B.T
        )
    ),
}
over_kernels = pytest.mark.parametrize("k", FORMULAS, ids=repr)
NEW = [k for k in FORMULAS if not isinstance(k, Linear | Polynomial | RBF | Sigmoid)]
over_new_grams = pytest.mark.parametrize("k", NEW, ids=repr)


def data(n=70, d=11, seed=0):
    """Not negative, about half zeros, a row of zeros, and a pair of equal rows."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[X < 0.1] = 0.0
    X[4] = 0.0
    X[5] = X[6]
    return X


def gram_of(k, X, workers=ALONE):
    return training_gram(k, X, workers=workers)


def block(gram, rows, cols, dtype=DOUBLE):
    out = np.full((len(rows), len(cols)), np.nan, dtype)
    gram.block(np.asarray(rows, np.intp), np.asarray(cols, np.intp), out)
    return out


def whole(gram, dtype=DOUBLE):
    return block(gram, range(gram.n), range(gram.n), dtype)


def product(gram, rows, cols, coef, dtype=DOUBLE):
    out = np.zeros(len(rows))
    gram.apply(np.asarray(rows, np.intp), np.asarray(cols, np.intp), coef, out, dtype)
    return out


# --- values -----------------------------------------------------------------------------


@over_kernels
def test_values_are_those_of_the_formula(k):
    A, B = data(), data(n=33, seed=1)
    expected = FORMULAS[k](A, B)
    scale = np.abs(expected).max()
    values = k(A, B)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(
        k.diagonal(A), np.diagonal(FORMULAS[k](A, A)), rtol=1e-12, atol=1e-13
    )


@over_kernels
def test_one_argument_is_symmetric_to_the_bit(k):
    K = k(data())
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, k(data(), data().copy()), rtol=1e-13, atol=1e-13)


@over_kernels
def test_sparse_rows_have_the_values_of_dense_ones(k):
    A, B = data(), data(n=33, seed=1)
    for kind in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array):
        np.testing.assert_array_equal(k(kind(A), kind(B)), k(A, B))


# Every combination of kernel and rows is another compilation: a few stand for all.
SOME = [RBF(gamma=0.2), Laplacian(0.3), intersection, Linear() + 0.5 * RBF(gamma=0.2)]


@pytest.mark.parametrize("k", SOME[:3], ids=repr)
def test_sparse_rows_meet_dense_ones(k):
    A, B = data(), data(n=33, seed=1)
    np.testing.assert_array_equal(k(sp.csr_matrix(A), B), k(A, B))
    np.testing.assert_array_equal(k(A, sp.csr_matrix(B)), k(A, B))


@pytest.mark.parametrize("k", SOME, ids=repr)
def test_float32_rows_are_taken_exactly(k):
    A = data().astype(np.float32)
    np.testing.assert_array_equal(k(A), k(A.astype(np.float64)))
    np.testing.assert_array_equal(k(A.tolist()), k(A))
    np.testing.assert_array_equal(k(np.asfortranarray(A)), k(A))


def test_values_are_those_of_scikit_learn():
    A, B = data(), data(n=20, seed=3)
    pairs = [
        (Laplacian(0.7), peer.laplacian_kernel(A, B, gamma=0.7)),
        (ChiSquared(0.7), peer.chi2_kernel(A, B, gamma=0.7)),
        (RBF(gamma=0.7), peer.rbf_kernel(A, B, gamma=0.7)),
        (Polynomial(4, 0.5, 0.2), peer.polynomial_kernel(A, B, 4, gamma=0.2, coef0=0.5)),
        (Sigmoid(0.7, 0.1), peer.sigmoid_kernel(A, B, gamma=0.7, coef0=0.1)),
    ]
    for k, expected in pairs:
        np.testing.assert_allclose(k(A, B), expected, rtol=1e-12)


@pytest.mark.parametrize("k", [Laplacian(0.3), ChiSquared(0.4)], ids=repr)
def test_thin_sparse_rows_are_merged_with_the_same_bits(k):
    S = sp.random(60, 900, density=0.01, random_state=0, format="csr")
    D = S.toarray()
    coef = np.random.default_rng(0).normal(size=60)
    merged, written = gram_of(k, S), gram_of(k, D)
    np.testing.assert_array_equal(whole(merged), whole(written))
    np.testing.assert_array_equal(
        product(merged, range(60), range(60), coef),
        product(written, range(60), range(60), coef),
    )
    apart = distances(D, D, 1) if isinstance(k, Laplacian) else chi_squared(D, D)
    np.testing.assert_allclose(whole(merged), np.exp(-k.gamma * apart), rtol=1e-12)


def test_chi_squared_of_huge_values_does_not_overflow():
    A = np.array([[1e300, 0.0], [1e300, 1e-300]])
    np.testing.assert_array_equal(ChiSquared(1.0)(A), np.ones((2, 2)))


def test_rows_are_not_changed():
    A = data()
    S = sp.csr_matrix(A)
    before, values = A.copy(), S.data.copy()
    for k in FORMULAS:
        k(A)
        k(S)
    np.testing.assert_array_equal(A, before)
    np.testing.assert_array_equal(S.data, values)


def test_unsorted_and_repeated_indices_are_put_in_order():
    indices, indptr = np.array([2, 0, 2, 1], np.int32), np.array([0, 3, 4], np.int32)
    S = sp.csr_matrix((np.array([1.0, 2.0, 3.0, 4.0]), indices, indptr), shape=(2, 3))
    np.testing.assert_array_equal(Laplacian(0.1)(S), Laplacian(0.1)(S.toarray()))


def test_no_rows_give_no_values():
    assert Laplacian(1.0)(np.zeros((0, 3)), np.zeros((4, 3))).shape == (0, 4)
    assert (Linear() + RBF(gamma=1.0))(np.zeros((4, 3)), np.zeros((0, 3))).shape == (4, 0)


# --- Gram matrices ----------------------------------------------------------------------


@over_new_grams
def test_blocks_have_the_bits_of_the_whole(k):
    X = data(n=150)
    gram, rng = gram_of(k, X), np.random.default_rng(1)
    K = whole(gram)
    np.testing.assert_array_equal(K, K.T)
    scale = np.abs(K).max()
    np.testing.assert_allclose(K, FORMULAS[k](X, X), rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(gram.diagonal(), np.diagonal(K), rtol=1e-13)
    for rows, cols in ((3, 150), (150, 3), (1, 1), (40, 41)):
        some, others = rng.permutation(150)[:rows], rng.permutation(150)[:cols]
        np.testing.assert_array_equal(block(gram, some, others), K[np.ix_(some, others)])
    np.testing.assert_array_equal(whole(gram_of(k, sp.csr_matrix(X))), K)


@over_new_grams
def test_products_agree_with_blocks(k):
    gram, rng = gram_of(k, data(n=150)), np.random.default_rng(2)
    rows, cols = rng.permutation(150)[:40], rng.permutation(150)[:90]
    coef = rng.normal(size=90)
    out = product(gram, rows, cols, coef)
    np.testing.assert_allclose(out, block(gram, rows, cols) @ coef, rtol=1e-10, atol=1e-9)
    for t in (0, 17, 39):  # a row's sum does not depend on the rows beside it
        assert product(gram, rows[t : t + 1], cols, coef)[0] == out[t]
    before = gram.n_kernel
    product(gram, rows, cols, coef)
    assert gram.n_kernel - before == 40 * 90


@over_new_grams
def test_parts_of_a_gram(k):
    gram, rng = gram_of(k, data(n=150)), np.random.default_rng(3)
    K, index = whole(gram), rng.permutation(150)[:50].astype(np.intp)
    for part in (gram.subset(index), gram.narrowed(index), gram.subset(index, DOUBLE)):
        assert part.n == 50
        assert part.n_kernel == 0
        np.testing.assert_array_equal(whole(part), K[np.ix_(index, index)])
        assert part.n_kernel == 2500
        np.testing.assert_array_equal(part.diagonal(), gram.diagonal()[index])
        inner = np.array([7, 3], np.intp)
        smaller = part.narrowed(inner)
        np.testing.assert_array_equal(
            whole(smaller), K[np.ix_(index[inner], index[inner])]
        )
        assert gram.precisions_for(50) == (DOUBLE,)
    assert gram.n_kernel == 150 * 150


@over_new_grams
def test_threads_do_not_change_bits(k):
    X, rng = data(n=700), np.random.default_rng(4)
    coef = rng.normal(size=700)
    everyone = range(700)
    with Workers(2) as two:
        many = gram_of(k, X, two)
        one = gram_of(k, X)
        np.testing.assert_array_equal(whole(many), whole(one))
        few = rng.permutation(700)[:20]
        np.testing.assert_array_equal(
            block(many, few, everyone), block(one, few, everyone)
        )
        np.testing.assert_array_equal(
            product(many, everyone, everyone, coef),
            product(one, everyone, everyone, coef),
        )
        weights = rng.normal(size=(2, 50))
        np.testing.assert_array_equal(
            expansion(k, X, X[:50], weights, workers=two),
            expansion(k, X, X[:50], weights, workers=ALONE),
        )


@over_kernels
def test_expansions_agree_with_values(k):
    A, B = data(), data(n=600, seed=1)
    coef = np.random.default_rng(5).normal(size=(3, 600))
    values = cross_values(k, A, B, workers=ALONE)
    expected = values @ coef.T
    got = expansion(k, A, B, coef, workers=ALONE)
    scale = np.abs(values).max()
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11 * scale)
    np.testing.assert_array_equal(values, k(A, B))
    np.testing.assert_array_equal(self_values(k, A), k.diagonal(A))


@over_new_grams
def test_grams_can_be_pickled(k):
    gram = gram_of(k, data())
    same = pickle.loads(pickle.dumps(gram))
    np.testing.assert_array_equal(whole(same), whole(gram))
    assert same.precisions == gram.precisions
    assert same.cost == gram.cost > 0.0


def test_composites_begin_in_float32_where_it_tells_points_apart():
    X = np.random.default_rng(0).normal(size=(1200, 5))
    k = RBF(gamma=0.1) * Polynomial(2) + 0.1 * Linear()
    gram = gram_of(k, X)
    assert gram.precisions == (SINGLE, DOUBLE)
    assert gram.subset(np.arange(30)).precisions == (DOUBLE,)
    assert gram.subset(np.arange(30), SINGLE).precisions == (SINGLE, DOUBLE)
    short, exact = whole(gram, SINGLE), whole(gram)
    np.testing.assert_array_equal(short, short.T)
    np.testing.assert_allclose(short, exact, atol=1e-5 * np.abs(exact).max())
    coef = np.random.default_rng(1).normal(size=1200)
    np.testing.assert_allclose(
        product(gram, range(1200), range(1200), coef, SINGLE),
        short.astype(float) @ coef,
        atol=1e-9 * np.abs(exact).max() * 1200,
    )
    remote = gram_of(RBF(gamma=0.1) + Linear(), X + 1e4)
    assert remote.precisions == (DOUBLE,)
    # The leaves are safe, their products leave float32 no room.
    large = gram_of(Polynomial(3, gamma=1e6) * Polynomial(3, gamma=1e6), X)
    assert large.precisions == (DOUBLE,)
    assert gram_of(1e-35 * (1e35 * RBF(gamma=0.1)), X).precisions == (SINGLE, DOUBLE)
    assert gram_of(1e-45 * (1e45 * RBF(gamma=0.1)), X).precisions == (DOUBLE,)


def test_a_leaf_that_occurs_twice_is_computed_once():
    leaf = RBF(gamma=0.3)
    gram = gram_of(leaf + leaf * Linear() + leaf**2, data())
    assert isinstance(gram, CompositeGram)
    assert len(gram._grams) == 2


def test_leaves_with_equal_parameters_are_told_apart():
    k = Laplacian(0.5) + ChiSquared(0.5)  # as tuples, their records are equal
    A = data()
    expected = Laplacian(0.5)(A) + ChiSquared(0.5)(A)
    np.testing.assert_array_equal(k(A), expected)


def test_many_parts_fit_in_the_same_memory():
    k = sum(RBF(gamma=0.01 * (i + 1)) for i in range(30))
    A = data(n=300)
    expected = sum(np.exp(-0.01 * (i + 1) * distances(A, A, 2)) for i in range(30))
    np.testing.assert_allclose(k(A), expected, rtol=1e-12)


def test_products_that_overflow_are_reported():
    X = np.full((4, 2), 1e10)
    k = Polynomial(9) * Polynomial(9)
    with pytest.raises(NumericalError, match="overflows float64"):
        gram_of(k, X)
    with pytest.raises(NumericalError, match="overflows float64"):
        k(X)


def test_plain_functions_and_tables_have_self_values_or_say_no():
    X = data(n=150)
    form = BlockFunction(lambda A, B: A @ B.T + 1.0)
    np.testing.assert_allclose(self_values(form, X), (X * X).sum(axis=1) + 1.0)
    np.testing.assert_allclose(
        cross_values(form, X, X[:5], workers=ALONE), X @ X[:5].T + 1
    )
    form.check_rows(-X)
    Precomputed().check_rows(-X)
    with pytest.raises(InputError, match="precomputed"):
        self_values(Precomputed(), X)
    with pytest.raises(InputError, match="precomputed"):
        cross_values(Precomputed(), X, np.arange(3), workers=ALONE)


# --- one StoredGram, several threads ----------------------------------------------------


class Slow:
    """A Gram that hands its values out slowly, so that threads meet in the middle."""

    def __init__(self, gram):
        self._gram, self._pause = gram, threading.Event()
        self.n, self.precisions, self.cost = gram.n, gram.precisions, gram.cost

    @property
    def n_kernel(self):
        return self._gram.n_kernel

    def diagonal(self):
        return self._gram.diagonal()

    def block(self, rows, cols, out):
        self._pause.wait(0.002)
        self._gram.block(rows, cols, out)


def test_threads_may_share_stored_rows():
    X = data(n=200)
    plain = gram_of(Laplacian(0.3), X)
    K = whole(plain)
    slow = Slow(plain.narrowed(np.arange(200)))
    stored, wrong = StoredGram(slow), []
    start = threading.Barrier(5)

    def fold(seed):
        rng = np.random.default_rng(seed)
        start.wait()
        for _ in range(40):
            rows = rng.permutation(200)[:10].astype(np.intp)
            if not np.array_equal(block(stored, rows, range(200)), K[rows]):
                wrong.append(rows)

    threads = [threading.Thread(target=fold, args=(seed,)) for seed in range(5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []
    assert stored.n_kernel <= 200 * 200  # every row once


def test_stored_rows_survive_pickling_and_pass_parts_on():
    gram = gram_of(Laplacian(0.3), data())
    stored = StoredGram(gram)
    K = whole(stored)
    same = pickle.loads(pickle.dumps(stored))
    np.testing.assert_array_equal(whole(same), K)
    index = np.array([4, 9, 2], np.intp)
    for part in (stored.subset(index), stored.narrowed(index)):
        np.testing.assert_array_equal(whole(part), K[np.ix_(index, index)])
    assert stored.precisions_for(10) == gram.precisions_for(10)


# --- manners ----------------------------------------------------------------------------

NESTED = [
    Linear() + (RBF(gamma=0.5) + Laplacian(2.0)),
    2.0 * (Linear() * RBF(sigma=0.5)) * (3.0 * Sigmoid(1, 2)),
    (Linear() + ChiSquared(0.1)) * Polynomial(2) ** 3,
    (2.0 * Linear()) ** 2 + (Linear() ** 2) ** 3,
    2.0 * (0.5 * Linear()),
    Linear() * (RBF(gamma=1) * Linear()),
    Precomputed(),
]


@pytest.mark.parametrize("k", [*FORMULAS, *NESTED], ids=repr)
def test_kernels_can_be_printed_compared_pickled_and_copied(k):
    names = {name: getattr(kernels, name) for name in kernels.__all__}
    assert eval(repr(k), names | {"intersection": intersection}) == k
    for same in (
        pickle.loads(pickle.dumps(k)),
        copy.copy(k),
        copy.deepcopy(k),
        clone(k, safe=False),
    ):
        assert same == k
        assert hash(same) == hash(k)
        assert repr(same) == repr(k)
    assert clone(SVC(kernel=k)).kernel == k


def test_different_kernels_differ():
    assert RBF(gamma=0.5) == RBF(sigma=1.0)
    assert RBF(gamma=0.5) != Laplacian(0.5)
    assert RBF(gamma=0.5) != RBF(gamma=0.6)
    assert Linear() + RBF(gamma=1) != Linear() * RBF(gamma=1)
    assert Linear() != "linear"
    assert len({Linear(), Linear(), Polynomial(2), Polynomial(2, gamma=2)}) == 3


def test_parameters_can_be_read_but_not_changed():
    k = RBF(sigma=2)
    assert (k.sigma, k.gamma) == (2.0, 0.125)
    assert RBF(gamma=0.125).sigma == 2.0
    with pytest.raises(AttributeError, match="cannot be changed"):
        k.gamma = 1.0
    with pytest.raises(AttributeError, match="cannot be changed"):
        del k.gamma
    assert k.gamma == 0.125


def test_definiteness_by_construction():
    definite = [
        Linear(), RBF(gamma=1), Laplacian(1), ChiSquared(1), Polynomial(3),
        Polynomial(3, coef0=0), 2 * Linear() + RBF(gamma=1) * Polynomial(2) ** 2,
    ]  # fmt: skip
    unknown = [
        Polynomial(3, coef0=-1), Sigmoid(1, 0), Precomputed(), intersection,
        Linear() + Sigmoid(1, 0), 2 * intersection, Sigmoid(1, 0) ** 2,
        Linear() * Polynomial(2, coef0=-0.1),
    ]  # fmt: skip
    assert all(k.is_semidefinite_by_construction is True for k in definite)
    assert all(k.is_semidefinite_by_construction is False for k in unknown)


def test_numbers_of_numpy_scale_too():
    assert np.float64(2) * Linear() == Linear() * 2 == np.int64(2) * Linear()
    assert sum([Linear(), RBF(gamma=1)]) == Linear() + RBF(gamma=1)


BAD = {
    "RBF()": "exactly one",
    "RBF(sigma=1, gamma=2)": "exactly one",
    "RBF(sigma=-1)": "sigma must be positive",
    "RBF(sigma=0)": "sigma must be positive",
    "RBF(sigma=1e-300)": "not representable",
    "RBF(gamma=float('nan'))": "gamma must be finite",
    "RBF(gamma='scale')": "gamma must be a number",
    "Polynomial(2.5)": "degree must be an integer",
    "Polynomial(True)": "degree must be an integer",
    "Polynomial(0)": "degree must be at least 1",
    "Polynomial(2, gamma=-1)": "gamma must be positive",
    "Polynomial(2, coef0=10**400)": "coef0 must be finite",
    "Sigmoid(float('inf'), 0)": "a must be finite",
    "Laplacian(0)": "gamma must be positive",
    "ChiSquared(None)": "gamma must be a number",
    "-2 * Linear()": "positive",
    "Linear() * 0.0": "positive",
    "Linear() * float('inf')": "finite",
    "Linear() * True": "expected a kernel object",
    "Linear() * 'a'": "expected a kernel object",
    "np.ones(2) * Linear()": "expected a kernel object",
    "Linear() + 1": "expected a kernel object",
    "1 + Linear()": "expected a kernel object",
    "Linear() + len": "@maxmargin.kernel",
    "Linear() ** 1.5": "positive integers",
    "Linear() ** 0": "at least 1",
    "Linear() - Linear()": "difference",
    "-Linear()": "negative",
    "Precomputed() + Linear()": "cannot be combined",
    "Linear() * Precomputed()": "cannot be combined",
    "2 * Precomputed()": "cannot be combined",
    "Precomputed() ** 2": "cannot be combined",
    "Precomputed()([[1.0]])": "no formula",
    "Precomputed().diagonal([[1.0]])": "no formula",
    "Linear()([1.0, 2.0])": "reshape",
    "Linear()([[1.0, 2.0], [1.0]])": "not a table",
    "Linear()([['a']])": "real numbers",
    "Linear()([[1j]])": "real numbers",
    "Linear()([[np.nan]])": "NaN or infinity",
    "Linear()(np.zeros((3, 0)))": "no features",
    "Linear()([[1.0]], [[1.0, 2.0]])": "1 features and B has 2",
    "ChiSquared(1)([[-1.0]])": "A contains -1",
    "ChiSquared(1)([[1.0]], [[-1.0]])": "B contains -1",
    "(Linear() + 2 * ChiSquared(1)).diagonal([[-1.0]])": "X contains -1",
    "ChiSquared(1)(sp.csr_matrix([[-1.0]]))": "A contains -1",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_refused(text):
    with pytest.raises(InputError, match=BAD[text]):
        eval(text)


def test_wrong_kinds_are_type_errors():
    with pytest.raises(InputTypeError):
        Laplacian("a")
    with pytest.raises(TypeError):
        Linear() + 1


def test_malformed_sparse_rows_are_refused():
    S = sp.csr_matrix(np.eye(3))
    S.indices[0] = 99
    with pytest.raises(InputError, match="malformed"):
        Laplacian(1.0)(S)


def test_check_rows_looks_into_combinations():
    (Linear() + RBF(gamma=1)).check_rows(-data())
    ChiSquared(1.0).check_rows(data())
    with pytest.raises(InputError, match="without negative values"):
        (2.0 * ChiSquared(1) * Linear()).check_rows(-data())


def test_kernels_serve_scikit_learn():
    X = data(n=80)
    y = (X[:, 0] > X[:, 1]).astype(int)
    for k in (RBF(gamma=0.3), Laplacian(0.3) + Linear()):
        model = SVC(kernel=k).fit(X, y)
        table = SVC(kernel="precomputed").fit(k(X), y)
        np.testing.assert_allclose(
            model.decision_function(X), table.decision_function(k(X)), atol=1e-6
        )


def test_numba_waits_for_the_first_value():
    code = (
        "import sys; from maxmargin import kernels as k\n"
        "one = k.RBF(gamma=1) + 2 * k.Laplacian(1) * k.kernel(lambda x, z: 1.0)\n"
        "repr(one), hash(one), one == one\n"
        "print('numba' in sys.modules)\n"
        "k.Linear()([[1.0]])\n"
        "print('numba' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["False", "True"], done.stderr


def test_names_are_listed_before_they_are_loaded():
    assert set(kernels.__all__) | set(kernels._HOME) <= set(dir(kernels))
    assert all(hasattr(kernels, name) for name in kernels.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Gaussian'"):
        kernels.Gaussian  # noqa: B018
