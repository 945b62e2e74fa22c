"""A kernel from outside of maxmargin, one file: it works as those of maxmargin do."""

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.toys.toy_kernel import Cauchy

from maxmargin import SVC, SVDD, InputError, NuSVR, certify
from maxmargin.kernels import (
    KERNELS,
    RBF,
    Laplacian,
    Linear,
    PairKernel,
    Polynomial,
    register,
)
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram import pair_tiles, tiles
from maxmargin.parallel import Workers

ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sp.csr_matrix,
    "sparse32": lambda X: sp.csr_matrix(X.astype(np.float32)),
}
over_kinds = pytest.mark.parametrize("kind", KINDS)


def rows(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)
    X[np.abs(X) < 0.5] = 0.0
    return X, (X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n) > 0.0).astype(int)


# --- the toy ----------------------------------------------------------------------------


@over_kinds
def test_values_are_those_of_the_plain_formula(kind):
    k, (X, _), (Z, _) = Cauchy(0.7), rows(), rows(40, 1)
    A, B = KINDS[kind](X), KINDS[kind](Z)
    np.testing.assert_allclose(k(A, B), k.plain(X, Z), rtol=1e-13)
    K = k(A)
    assert K.tobytes() == np.ascontiguousarray(K.T).tobytes()
    assert (k.diagonal(A) == 1.0).all()
    assert (np.diagonal(K) == 1.0).all()


@over_kinds
def test_fits_and_predictions_are_those_of_its_matrix(kind):
    (X, y), (Z, _) = rows(), rows(40, 1)
    plain = Cauchy(0.7).plain
    table = SVC(kernel="precomputed", tol=1e-8).fit(plain(X, X), y)
    called = SVC(kernel=plain, tol=1e-8).fit(X, y)
    expected = table.decision_function(plain(Z, X))
    np.testing.assert_allclose(called.decision_function(Z), expected, atol=1e-6)
    for given in ({"kernel": "cauchy", "gamma": 0.7}, {"kernel": Cauchy(0.7)}):
        model = SVC(tol=1e-8, **given).fit(KINDS[kind](X), y)
        assert model.certificate_.ok
        assert model.kernel_ == Cauchy(0.7)
        found = model.decision_function(KINDS[kind](Z))
        tolerance = 5e-4 if kind.endswith("32") else 1e-6
        np.testing.assert_allclose(found, expected, atol=tolerance)
        assert certify(model, KINDS[kind](X), y).ok


def test_many_rows_begin_in_float32():
    X, y = rows(1200)
    gram = training_gram(Cauchy(0.7), X, workers=Workers(1))
    assert gram.precisions[0] == np.float32
    model = SVC(kernel="cauchy", gamma=0.7).fit(X, y)
    assert certify(model, X, y).ok


def test_gamma_means_what_it_means_for_others():
    X, y = rows()
    gamma = SVC().fit(X, y).gamma_
    model = SVC(kernel="cauchy").fit(X, y)
    assert model.gamma_ == gamma
    assert model.kernel_ == Cauchy(gamma)
    with pytest.raises(InputError, match="the kernel overflows"):
        SVC(kernel="cauchy", gamma=1e300).fit(1e5 * X, y)


@pytest.mark.parametrize("machine", [SVDD(), NuSVR(), SVC(multi_class="ovr")])
def test_other_machines(machine):
    X, y = rows()
    model = clone(machine).set_params(kernel="cauchy").fit(X, y)
    assert certify(model, X, y).ok


def test_three_classes():
    X, y = rows()
    y = y + (X[:, 2] > 0.5)
    model = SVC(kernel=Cauchy(0.7)).fit(X, y)
    table = SVC(kernel="precomputed").fit(Cauchy(0.7).plain(X, X), y)
    np.testing.assert_allclose(
        model.decision_function(X), table.decision_function(Cauchy(0.7).plain(X, X)),
        atol=5e-3,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_sums_and_products(kind):
    X, y = rows()
    k = Cauchy(0.7) * Linear() + 0.5 * Cauchy(0.1) ** 2 + Laplacian(0.2)
    one, two = Cauchy(0.7).plain(X, X), Cauchy(0.1).plain(X, X)
    expected = one * (X @ X.T) + 0.5 * two**2 + Laplacian(0.2)(X)
    np.testing.assert_allclose(k(KINDS[kind](X)), expected, rtol=1e-12, atol=1e-12)
    assert k.is_semidefinite_by_construction
    model = SVC(kernel=k, C=0.1).fit(KINDS[kind](X), y)
    assert certify(model, KINDS[kind](X), y).ok


def test_it_has_the_manners_of_a_kernel_object():
    k = Cauchy(0.7)
    for same in (pickle.loads(pickle.dumps(k)), copy.deepcopy(k), eval(repr(k))):
        assert (same, hash(same), repr(same)) == (k, hash(k), "Cauchy(gamma=0.7)")
    assert clone(SVC(kernel=k)).kernel == k
    X, y = rows()
    model = SVC(kernel="cauchy").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.raises(InputError, match="gamma must be positive"):
        Cauchy(-1.0)


# --- the registry -----------------------------------------------------------------------


def test_unknown_names_are_told_the_known_ones():
    X, y = rows()
    known = "'linear', 'poly', 'rbf', 'sigmoid', 'precomputed', 'cauchy'"
    with pytest.raises(InputError, match=f"a str among {known}, a kernel object"):
        SVC(kernel="cosine").fit(X, y)
    with pytest.raises(InputError, match=r"the names of kernels are .*'cauchy'"):
        KERNELS.named("cosine")


def test_names_are_taken_once():
    assert register(Cauchy, name="cauchy") is Cauchy  # once more: nothing happens
    other = type("Other", (PairKernel,), {})
    with pytest.raises(InputError, match="there is a kernel of this name"):
        register(other, name="rbf")


def test_what_files_may_name():
    files = KERNELS.names_in_files()
    assert files["tests.toys.toy_kernel.Cauchy"] == "Cauchy"
    ours = {name for name in files if name.startswith("maxmargin.")}
    assert ours == {
        f"maxmargin.kernels.{one}"
        for one in (
            "ChiSquared", "Laplacian", "Linear", "Polynomial", "Power", "Precomputed",
            "Product", "RBF", "Scaled", "Sigmoid", "Sum",
        )
    }  # fmt: skip


# --- other forms of kernels -------------------------------------------------------------


class CosineRecord(NamedTuple):
    shift: float

    def of_dots(self, values, norm, norms):
        work = values.dtype.type
        for c in range(values.size):
            values[c] = values[c] / np.sqrt(norm * norms[c]) + work(self.shift)

    def diagonal(self, norms):
        return np.full(norms.size, 1.0 + self.shift)


class Cosine(Polynomial):
    """x·z/(‖x‖·‖z‖) + shift, which uses both norms; 0 is not among its rows."""

    is_semidefinite_by_construction = True

    def __init__(self, shift):
        self._set(shift=shift)

    def magnitude(self, norm2):
        return norm2

    def compiled(self, scale=1.0):
        return CosineRecord(self.shift)


class OverlapRecord(NamedTuple):
    weight: float

    def term(self, x, z):
        return min(x, z)

    def closing(self, total):
        return self.weight * total


class Overlap(PairKernel):
    """weight·Σ min(x_k, z_k), for rows that are not negative: k(x, x) is not constant."""

    def __init__(self, weight):
        self._set(weight=weight)

    def compiled(self):
        return OverlapRecord(self.weight)


@over_kinds
def test_dots_with_norms(kind):
    X = rows(60)[0] + np.eye(60, 4) + 0.1
    norms = np.sqrt((X**2).sum(axis=1))
    expected = X @ X.T / np.outer(norms, norms) + 0.5
    tolerance = 1e-6 if kind.endswith("32") else 1e-13
    k, A = Cosine(0.5), KINDS[kind](X)
    np.testing.assert_allclose(k(A), expected, atol=tolerance)
    np.testing.assert_allclose(k.diagonal(A), 1.5)
    np.testing.assert_allclose((k * k)(1e100 * X), expected**2, atol=1e-12)


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_pairs_whose_diagonal_is_not_constant(kind, thin):
    X = np.abs(rows(60)[0])
    if thin:
        X = sp.random(60, 500, density=0.01, random_state=0).toarray()
    y = np.arange(60) % 2
    expected = 2.0 * np.minimum(X[:, None], X[None]).sum(axis=2)
    k, A = Overlap(2.0), KINDS[kind](X)
    np.testing.assert_allclose(k(A), expected, rtol=1e-13)
    np.testing.assert_allclose(k.diagonal(A), np.diagonal(expected), rtol=1e-13)
    model = SVC(kernel=k, tol=1e-8).fit(A, y)
    table = SVC(kernel="precomputed", tol=1e-8).fit(expected, y)
    np.testing.assert_allclose(
        model.decision_function(A), table.decision_function(expected), atol=1e-5
    )


# --- Numba's disk cache -----------------------------------------------------------------


def run(code, tmp_path, **env):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{tmp_path}"} | env,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_our_formulas_are_found_in_the_cache(tmp_path):
    """A record can be imported by name; otherwise every process would compile."""
    code = """
        from maxmargin.kernels import RBF, Laplacian, Polynomial
        from maxmargin.kernels.gram import pair_tiles, tiles
        for k in (RBF(gamma=1.0), Polynomial(2), Laplacian(1.0)):
            k([[1.0, 2.0]]), k.diagonal([[1.0, 2.0]])
        found = [one.stats for one in (tiles.product, pair_tiles.panel_product)]
        misses = [sum(one.cache_misses.values()) for one in found]
        print(*misses, len(found[0].cache_hits))
    """.replace("\n        ", "\n")
    run(code, tmp_path)
    assert run(code, tmp_path) == "0 0 2"


def test_an_edited_formula_from_outside_is_never_answered_by_the_old_one(tmp_path):
    text = (ROOT / "tests" / "toys" / "toy_kernel.py").read_text(encoding="utf-8")
    text = text.replace("class Cauchy(DotKernel)", "class Edited(DotKernel)")
    text = text.replace('register(Cauchy, name="cauchy")', "")
    code = "from edited import *; print(Edited(1.0)([[0.0]], [[1.0]])[0, 0])"
    for one, expected in (("1.0", "0.5"), ("3.0", "1.5")):
        changed = text.replace("values[c] = one /", f"values[c] = {one} * one /")
        (tmp_path / "edited.py").write_text(changed, encoding="utf-8")
        assert run(code, tmp_path, PYTHONDONTWRITEBYTECODE="1") == expected


def test_which_loops_are_cached():
    for loop in (tiles.product, pair_tiles.panel_product):
        assert tiles.compiled_for(RBF(gamma=1.0).compiled(), loop) is loop
        theirs = tiles.compiled_for(Cauchy(1.0).compiled(), loop)
        assert theirs is not loop
        assert theirs is tiles.compiled_for(OverlapRecord(1.0), loop)
