"""Rows that are there more than once: found, and solved as one."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons

from maxmargin import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, certify, path
from maxmargin.estimators.kernel.fit import solving
from maxmargin.kernels import RBF, Polynomial
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.copies import CopiedGram, distinct_points
from maxmargin.kernels.gram.table import TableGram
from maxmargin.observers import History
from maxmargin.parallel import Workers
from maxmargin.problem import c_svc
from maxmargin.rows import duplicates as alike
from maxmargin.rows.duplicates import first_alike
from maxmargin.solvers.distinct import shared_out

RNG = np.random.default_rng(0)


def plain_first(X, target):
    """The definition, one row after the other."""
    seen = {}
    rows = X.toarray() if sp.issparse(X) else X
    keys = [(*row, t) for row, t in zip(rows.tolist(), target.tolist(), strict=True)]
    return np.array([seen.setdefault(key, i) for i, key in enumerate(keys)])


def repeated_rows(kind, n=600):
    """Zeros and ones, most of which are there several times."""
    X = (RNG.random((n, 6)) < 0.3).astype(np.float32 if kind == "float32" else float)
    return sp.csr_matrix(X) if kind == "csr" else X


# --- who is a copy of whom --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
def test_the_first_of_every_kind_is_found(kind):
    X, target = repeated_rows(kind), RNG.integers(0, 3, 600)
    np.testing.assert_array_equal(first_alike(X, target), plain_first(X, target))


@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_equal_numbers_are_not_believed(kind, monkeypatch):
    """Rows whose numbers meet by chance are compared value by value."""
    monkeypatch.setattr(alike, "_numbers", lambda X: np.zeros(X.shape[0]))
    monkeypatch.setattr(alike, "_BLOCK", 64)  # in several blocks
    monkeypatch.setattr(alike, "_SMALL_WORTH", 0.0)
    X, target = repeated_rows(kind), np.zeros(600)
    first = first_alike(X, target)
    rows = X.toarray() if kind == "csr" else X
    np.testing.assert_array_equal(rows, rows[first])
    assert (first == 0).sum() == (rows == rows[0]).all(axis=1).sum()


def test_sparse_rows_of_other_columns_or_values_are_no_copies(monkeypatch):
    monkeypatch.setattr(alike, "_numbers", lambda X: np.zeros(X.shape[0]))
    monkeypatch.setattr(alike, "_SMALL_WORTH", 0.0)
    X = sp.csr_matrix(np.array([[1.0, 0, 2], [1, 2, 0], [1, 0, 3], [1, 0, 0], [1, 0, 2]]))
    assert first_alike(X, np.zeros(5)).tolist() == [0, 1, 2, 3, 0]


@pytest.mark.parametrize(("n", "least"), [(1000, 250), (3000, 300)])
def test_few_copies_are_not_worth_it(n, least):
    X = RNG.normal(size=(n, 3))
    X[1 - least :] = X[: least - 1]
    assert first_alike(X, np.zeros(n)) is None
    X[-least:] = X[:least]
    assert first_alike(X, np.zeros(n))[-least:].tolist() == list(range(least))
    assert first_alike(X, np.arange(float(n))) is None  # no two have the same target


def test_columns_that_nobody_uses_take_no_memory():
    """Hashed features: a number for each of 2³⁰ columns would be 8 GB."""
    X = repeated_rows("csr")
    wide = sp.csr_array((X.data, X.indices * (1 << 27), X.indptr), shape=(600, 1 << 30))
    tracemalloc.start()
    found = first_alike(wide, np.zeros(600))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, first_alike(X, np.zeros(600)))
    assert peak < 10 << 20


def test_rows_too_large_to_add_up_are_not_merged_wrongly():
    X = np.full((100, 4), 1e308)
    X[:, 0] = np.arange(100) % 50
    first = first_alike(X, np.zeros(100))
    assert first is None or (X == X[first]).all()


# --- the kernel matrix ------------------------------------------------------------------


@pytest.fixture
def pair_of_grams():
    X = RNG.normal(size=(30, 4))
    X = X[RNG.integers(0, 30, 80)]
    whole = training_gram(RBF(gamma=0.3), X, workers=Workers(1))
    kept, place = distinct_points(plain_first(X, np.zeros(80)), np.arange(80))
    return whole, CopiedGram(whole.narrowed(kept), place)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_copies_have_the_values_of_all_points(pair_of_grams, dtype):
    whole, copied = pair_of_grams
    rows, cols = RNG.integers(0, 80, 33), RNG.integers(0, 80, 51)
    expected, found = (np.empty((33, 51), dtype) for _ in range(2))
    whole.block(rows, cols, expected)
    copied.block(rows, cols, found)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(copied.diagonal(), whole.diagonal())
    coef, sums, out = RNG.normal(size=51), np.ones(33), np.ones(35)
    whole.apply(rows, cols, coef, sums, np.dtype(dtype))
    copied.apply(rows, cols, coef, out, np.dtype(dtype))
    np.testing.assert_allclose(
        out[:33], sums, rtol=1e-5 if dtype is np.float32 else 1e-12
    )
    assert (out[33:] == 1.0).all()


def test_a_narrowed_one_still_knows_its_copies(pair_of_grams):
    whole, copied = pair_of_grams
    some = RNG.permutation(80)[:40]
    part = copied.narrowed(some)
    assert part.n == 40
    assert part.distinct.n == np.unique(copied.place[some]).size < 40
    expected, found, everyone = np.empty((40, 40)), np.empty((40, 40)), np.arange(40)
    whole.block(some, some, expected)
    part.block(everyone, everyone, found)
    np.testing.assert_array_equal(found, expected)
    assert part.n_kernel > 0
    assert copied.n_kernel == 0


def test_a_value_is_computed_once_for_all_copies(pair_of_grams):
    _, copied = pair_of_grams
    everyone = np.arange(80)
    copied.apply(everyone, everyone, np.ones(80), np.zeros(80), np.dtype(np.float64))
    assert copied.n_kernel == copied.distinct.n**2 < 80**2


# --- every point twice, as ν-SVR has them -----------------------------------------------

TWO_VARIABLES = RNG.normal(size=(40, 3))
GRAMS = {
    "dense": lambda X: training_gram(RBF(gamma=0.3), X, workers=Workers(1)),
    "sparse": lambda X: training_gram(
        RBF(gamma=0.3), sp.csr_matrix(X), workers=Workers(1)
    ),
    "poly": lambda X: training_gram(Polynomial(2, 1.0, 0.5), X, workers=Workers(2)),
    "table": lambda X: TableGram(X @ X.T),
}


def with_twins(name="dense"):
    gram = GRAMS[name](TWO_VARIABLES)
    return gram, CopiedGram(gram, np.tile(np.arange(gram.n), 2))


@pytest.mark.parametrize("name", GRAMS)
def test_parts_of_the_matrix_of_points_that_are_there_twice(name):
    gram, twins = with_twins(name)
    everyone = np.arange(gram.n)
    K = np.empty((gram.n, gram.n))
    gram.block(everyone, everyone, K)
    K = np.tile(K, (2, 2))
    assert (twins.n, twins.precisions) == (80, gram.precisions)
    for some, others in [
        ([3, 43, 79, 0], [41, 1, 7]),  # twins of one another, in no order
        ([5], [5, 45]),
        (list(range(80)), [10]),
        ([], [1]),
        ([1], []),
    ]:
        rows, cols = np.array(some, np.intp), np.array(others, np.intp)
        block = np.empty((rows.size, cols.size))
        if block.size:
            twins.block(rows, cols, block)
            np.testing.assert_array_equal(block, K[np.ix_(rows, cols)])
        coef = RNG.normal(size=cols.size)
        out = np.ones(rows.size + 2)  # what is behind the rows is somebody else's
        twins.apply(rows, cols, coef, out, np.dtype(np.float64))
        expected = 1.0 + K[np.ix_(rows, cols)] @ coef
        np.testing.assert_allclose(out[: rows.size], expected, rtol=1e-10, atol=1e-12)
        assert (out[rows.size :] == 1.0).all()


def test_twins_cancel_exactly_and_have_the_same_bits():
    gram, twins = with_twins()
    everyone, some = np.arange(80), np.array([3, 44, 12])
    out, beta = np.zeros(80), RNG.normal(size=40)
    opposite = np.concatenate([beta, -beta])
    before = twins.n_kernel
    twins.apply(everyone, everyone, opposite, out, np.dtype(np.float64))
    assert not out.any()
    assert twins.n_kernel - before == gram.n**2  # computed once for both
    twins.apply(everyone, some, RNG.normal(size=3), out, np.dtype(np.float64))
    assert out[:40].tobytes() == out[40:].tobytes()


# --- whole fits -------------------------------------------------------------------------


@pytest.fixture
def merging(monkeypatch):
    """Switch merging on and off, and tell how many rows were copies."""
    real, found = solving._copies, []

    def switch(on):
        def copies(estimator, task):
            first = real(estimator, task)
            found.append(
                0 if first is None else int((first != np.arange(first.size)).sum())
            )
            return first

        monkeypatch.setattr(solving, "_copies", copies if on else lambda *_: None)
        return found

    return switch


def classes(k=2, kind="dense"):
    X, y = make_classification(
        700, 8, n_informative=6, n_classes=k, flip_y=0.1, random_state=k
    )
    rng = np.random.default_rng(k)
    again = np.concatenate([np.arange(700), rng.integers(0, 700, 500)])
    X, y = X[again], y[again]
    y[-20:] = (y[-20:] + 1) % k  # equal rows that contradict each other
    some = rng.permutation(1200)
    X, y = X[some], y[some]
    X = X.astype(np.float32) if kind == "float32" else X
    return (sp.csr_matrix(X) if kind == "csr" else X), y


WEIGHT = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], 1200)
FITS = {
    "svc": (SVC(), 2, None),
    "svc-large-C": (SVC(C=1e3), 2, None),
    "svc-weighted": (SVC(C=2.0), 2, WEIGHT),
    "svc-squared": (SVC(loss="squared_hinge"), 2, None),
    "svc-squared-weighted": (SVC(loss="squared_hinge"), 2, WEIGHT),
    "svc-no-intercept": (SVC(fit_intercept=False), 2, None),
    "svc-poly": (SVC(kernel="poly", coef0=1.0), 2, None),
    "svc-linear-smo": (SVC(kernel="linear", C=0.1, solver="smo"), 2, None),
    "svc-ovo": (SVC(class_weight="balanced"), 4, None),
    "svc-ovr": (SVC(multi_class="ovr"), 4, WEIGHT),
    "nu-svc": (NuSVC(nu=0.4), 2, None),
    "nu-svc-weighted": (NuSVC(nu=0.4), 3, WEIGHT),
    "svr": (SVR(epsilon=0.2), 3, WEIGHT),
    "one-class": (OneClassSVM(nu=0.2), 2, WEIGHT),
    "svdd": (SVDD(nu=0.2), 2, None),
}


def decisions(machine, X):
    score = getattr(machine, "decision_function", None) or machine.predict
    return score(X)


@pytest.mark.parametrize("kind", ["dense", "float32", "csr"])
@pytest.mark.parametrize("name", FITS)
def test_merged_fits_have_the_answer_of_all_rows(name, kind, merging):
    model, k, weight = FITS[name]
    X, y = classes(k, kind)
    sharp = {"tol": 1e-6}
    copies = merging(True)
    merged = model.__class__(**{**model.get_params(), **sharp}).fit(X, y, weight)
    assert copies[-1] > 300
    merging(False)
    apart = model.__class__(**{**model.get_params(), **sharp}).fit(X, y, weight)
    judged = certify(merged, X, y, sample_weight=weight)
    assert judged.ok
    assert judged.violation <= 1.1e-6
    if np.ndim(merged.n_iter_) == 0 or merged.n_iter_.size == 1:  # of more, the worst
        assert judged.dual == pytest.approx(apart.certificate_.dual, rel=1e-7)
        assert merged.certificate_.dual == pytest.approx(judged.dual, rel=1e-8)
        assert merged.certificate_.n_kernel < apart.certificate_.n_kernel
    assert merged.certificate_.n_support == judged.n_support == merged.support_.size
    assert merged.certificate_.n_bound == judged.n_bound
    np.testing.assert_allclose(
        decisions(merged, X), decisions(apart, X), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("name", ["svc-weighted", "svr", "svc-ovo", "one-class"])
@pytest.mark.parametrize("spread", [1.0, 1e6])
def test_no_more_support_vectors_than_with_all_rows(name, spread, merging):
    model, k, weight = FITS[name]
    if weight is not None:
        weight = np.where(np.arange(1200) % 3 == 0, weight * spread, weight)
    X, y = classes(k)
    merging(True)
    merged = model.fit(X, y, weight).support_.size
    merging(False)
    assert merged <= 1.02 * model.fit(X, y, weight).support_.size


def test_hard_margins_of_repeated_rows(merging):
    X, y = make_moons(300, noise=0.02, random_state=0)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    copies = merging(True)
    hard = SVC(C=np.inf, gamma=2.0).fit(X, y)
    assert copies[-1] == 600
    assert certify(hard, X, y).ok
    once = SVC(C=np.inf, gamma=2.0).fit(X[:300], y[:300])
    assert hard.margin_ == pytest.approx(once.margin_, rel=1e-3)
    assert hard.support_.max() < 300  # the first copy carries it all


def test_threads_do_not_matter(merging):
    copies = merging(True)
    X, y = classes(4)
    found = [SVC(n_jobs=jobs).fit(X, y).dual_coef_.tobytes() for jobs in (1, 2, 3)]
    assert min(copies) > 300
    assert len(set(found)) == 1


def test_who_watches_sees_all_rows(merging):
    copies = merging(True)
    X, y = classes(2)
    seen = []

    def look(snapshot):
        step = snapshot.step
        if step.points:
            assert step.points == (step["i"], step["j"])
            assert f"({step['i']}, {step['j']})" not in step.words  # which says so
        seen.append((snapshot.problem.n, snapshot.model.beta.size, step.words))

    watched = SVC(callbacks=[look, history := History()]).fit(X, y)
    assert copies[-1] > 300
    assert seen
    assert {n for n, *_ in seen} == {size for _, size, _ in seen} == {1200}
    assert f"{1200 - copies[-1]:,} of 1,200 points are distinct" in seen[-1][2]
    assert len(history["gap"]) >= len(seen)
    quiet = SVC().fit(X, y)
    assert quiet.dual_coef_.tobytes() == watched.dual_coef_.tobytes()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_folds_hold_out_some_copies_of_a_row(loss, merging):
    copies = merging(True)
    X, y = classes(2)
    model = SVC(loss=loss, C=0.1, probability=True, random_state=0, tol=1e-6)
    merged = clone(model).fit(X, y)
    assert copies[-1] > 300
    merging(False)
    apart = model.fit(X, y)
    np.testing.assert_allclose(merged.predict_proba(X), apart.predict_proba(X), atol=1e-4)
    # what is kept serves the folds too
    assert merged.certificate_.n_kernel < apart.certificate_.n_kernel


def test_paths_and_second_fits(merging):
    """Other C, and a fit that goes on from the one before."""
    copies = merging(True)
    X, y = classes(2)
    machines = path(SVC(tol=1e-6), X, y, [0.1, 1.0, 10.0])
    warm = SVC(warm_start=True, tol=1e-6).fit(X, y)
    steps = warm.n_iter_
    warm.fit(X, y)
    assert warm.n_iter_ < 0.1 * steps
    assert min(copies) > 300
    merging(False)
    for machine, C in zip(machines, [0.1, 1.0, 10.0], strict=True):
        alone = SVC(C=C, tol=1e-6).fit(X, y)
        assert machine.certificate_.ok
        assert machine.certificate_.dual == pytest.approx(
            alone.certificate_.dual, rel=1e-7
        )


@pytest.mark.parametrize(
    "model",
    [
        SVC(solver="decomposition"),
        SVC(kernel="linear"),
        SVC(kernel=lambda A, B: A @ B.T),
        SVC(multi_class="crammer_singer"),
        NuSVR(),
    ],
    ids=["lectures'", "through weights", "callable", "joint", "twins"],
)
def test_others_see_every_row(model, merging):
    copies = merging(True)
    X, y = classes(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(max_iter=5) if model.kernel != "linear" else None
        model.fit(X, y)
    assert not any(copies)


def test_few_rows_are_not_searched(merging):
    """The same bits in one compiled call and under a watcher."""
    copies = merging(True)
    X, y = classes(2)
    X, y = np.tile(X[:200], (2, 1)), np.tile(y[:200], 2)
    quick = SVC().fit(X, y)
    watched = SVC(callbacks=[History()]).fit(X, y)
    assert copies == [0]  # of the watched one
    assert quick.dual_coef_.tobytes() == watched.dual_coef_.tobytes()


def test_many_copies_of_few_rows():
    """Sums of thousands of boxes: nothing is left over, and all at a bound are at it."""
    X = np.repeat(RNG.normal(size=(12, 3)), 3000, axis=0)
    y = np.tile([0, 0, 0, 0, 1], 7200)  # within each of the rows, too
    found = SVC(C=0.1, gamma=0.1).fit(X, y)
    assert found.certificate_.ok
    coef = np.abs(found.dual_coef_[0])
    assert coef.min() > 1e-9
    assert (coef == 0.1).sum() == found.certificate_.n_bound >= coef.size - 24
    assert abs(found.dual_coef_.sum()) <= 1e-10 * coef.sum()


def test_squared_hinge_at_prices_whose_inverse_is_no_number(merging):
    copies = merging(True)
    X, y = classes(2)
    y = (X[:, 0] > 0).astype(int)  # no contradictions
    merged = SVC(loss="squared_hinge", C=3e307, gamma=5.0).fit(X, y)
    assert copies[-1] > 300
    assert certify(merged, X, y).ok


@pytest.mark.parametrize("filled", [300_000, 123_456, 1, 0])
def test_rounding_leaves_nothing_over(filled):
    """So many boxes, added up in another order, are full and the others empty."""
    n = 300_000
    X, y = np.ones((n + 1, 2)), np.append(np.ones(n), -1.0)
    C = np.append(np.repeat(RNG.random(n // 100), 100), np.inf)
    place = np.append(np.zeros(n, np.intp), 1)
    gram = training_gram(RBF(gamma=1.0), X, workers=Workers(1)).narrowed(np.array([0, n]))
    problem = c_svc(CopiedGram(gram, place), y, C)
    widest = np.argsort(-C[:n], kind="stable")
    total = sum(sorted(C[widest[:filled]]))
    beta = shared_out(problem, np.array([total, -total]), np.zeros(2)).beta
    np.testing.assert_array_equal(beta[widest[:filled]], C[widest[:filled]])
    assert not beta[widest[filled:]].any()
    assert beta[n] == -total
