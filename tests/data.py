"""The one helper that finds real data, for tests and benchmarks.

The folder is ``$MAXMARGIN_DATA``, by default ``../shared/data`` beside the checkout.
A set that is not there raises :class:`DataMissing`, which ``conftest.py`` turns into a
skip; call the loaders inside tests or fixtures, not while a module is imported.

Loaders keep what they read, so the arrays they return are shared and read-only. Sparse
matrices have sorted 32-bit indices, which every library accepts.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]

# Files name the largest index they use, which in a .t file may be less.
N_FEATURES = {
    "a1a": 123,
    "a9a": 123,
    "w8a": 300,
    "ijcnn1": 22,
    "letter": 16,
    "svmguide1": 4,
}


class DataMissing(Exception):  # noqa: N818 - nothing is wrong
    """A real data set is not on this machine."""


class Split(NamedTuple):
    """A set with its test part (None where it has none)."""

    X: Any
    y: np.ndarray
    X_test: Any = None
    y_test: np.ndarray | None = None

    def first(self, n: int) -> "Split":
        """The first n training rows, with the whole test part."""
        return self._replace(X=self.X[:n], y=self.y[:n])


def folder() -> Path:
    """Where real data are looked for."""
    return Path(os.environ.get("MAXMARGIN_DATA") or ROOT.parent / "shared" / "data")


def find(name: str) -> Path:
    """Path of a file below :func:`folder`, compressed or not."""
    for candidate in (name, f"{name}.bz2"):
        path = folder() / candidate
        if path.is_file():
            return path
    raise DataMissing(
        f"real data set {name!r} is not in {folder()}; "
        "set MAXMARGIN_DATA to the folder that holds it"
    )


def _shared(values: Any) -> Any:
    """The same array or matrix, made read-only."""
    parts = [values] if isinstance(values, np.ndarray) else []
    if sp.issparse(values):
        parts = [values.data, values.indices, values.indptr]
    for part in parts:
        part.flags.writeable = False
    return values


@cache
def libsvm(name: str, n_features: int | None = None) -> tuple[sp.csr_matrix, np.ndarray]:
    """``(X, y)`` of a file of ``libsvm/``: CSR float64, labels as written."""
    from sklearn.datasets import load_svmlight_file

    if n_features is None:
        n_features = N_FEATURES.get(name.partition(".")[0])
    # The format counts features from 1; guessing from the data fails where none has it.
    path = str(find(f"libsvm/{name}"))
    X, y = load_svmlight_file(path, n_features=n_features, zero_based=False)
    X.sort_indices()
    X.indices = X.indices.astype(np.int32)
    X.indptr = X.indptr.astype(np.int32)
    return _shared(X), _shared(y)


def _libsvm_split(train: str, test: str, *, dense: bool) -> Split:
    X, y = libsvm(train)
    X_test, y_test = libsvm(test)
    if dense:
        X, X_test = _shared(X.toarray()), _shared(X_test.toarray())
    return Split(X, y, X_test, y_test)


@cache
def letter() -> Split:
    """26 classes, 15000/5000 × 16, dense, in [-1, 1]."""
    return _libsvm_split("letter.scale", "letter.scale.t", dense=True)


@cache
def a9a() -> Split:
    """Adult incomes, 32561/16281 × 123, CSR of zeros and ones, labels ±1."""
    return _libsvm_split("a9a", "a9a.t", dense=False)


@cache
def ijcnn1() -> Split:
    """49990/91701 × 22, dense, labels ±1, one in ten positive."""
    return _libsvm_split("ijcnn1.trn", "ijcnn1.tst", dense=True)


@cache
def svmguide1() -> Split:
    """3089/4000 × 4, dense; both parts scaled by the ranges of training to [-1, 1]."""
    raw = _libsvm_split("svmguide1", "svmguide1.t", dense=True)
    low, span = _ranges(raw.X)
    X, X_test = (_shared(2.0 * (part - low) / span - 1.0) for part in (raw.X, raw.X_test))
    return Split(X, raw.y, X_test, raw.y_test)


@cache
def usps() -> Split:
    """Ten digits, 7291/2007 × 256, float32 in [0, 1]."""
    with np.load(find("usps.npz")) as z:
        return Split(*(_shared(z[key]) for key in ("X", "y", "X_test", "y_test")))


@cache
def mnist(n: int | None = None) -> Split:
    """Ten digits, float32 in [0, 1]: the first ``n`` training rows, all 10000 test rows.

    The file is shuffled, so its first rows are a sample.
    """
    with np.load(find("mnist.npz")) as z:
        X, X_test = z["X"][:n], z["X_test"]
        y, y_test = z["y"][:n].astype(np.int64), z["y_test"].astype(np.int64)
    unit = np.float32(1 / 255)
    return Split(_shared(X * unit), _shared(y), _shared(X_test * unit), _shared(y_test))


@cache
def covtype_binary(n: int, n_test: int = 0) -> Split:
    """Forest cover type 2 (+1) against the rest (−1): ``n`` rows, then ``n_test`` others.

    The file is ordered by place, so rows are those of ``default_rng(0).permutation``,
    from its beginning: a smaller ``n`` is the beginning of a larger one. float64, scaled
    by the ranges of the ``n`` rows to [0, 1]; columns that are constant there become 0.
    """
    with np.load(find("covtype.npz")) as z:
        X, y = z["X"], z["y"]
    rows = np.random.default_rng(0).permutation(len(y))[: n + n_test]
    X = X[rows].astype(np.float64)
    y = np.where(y[rows] == 2, 1, -1)
    low, span = _ranges(X[:n])
    X = (X - low) / span
    train = Split(_shared(X[:n]), _shared(y[:n]))
    return (
        train._replace(X_test=_shared(X[n:]), y_test=_shared(y[n:])) if n_test else train
    )


@cache
def pmlb(name: str) -> tuple[np.ndarray, np.ndarray]:
    """``(X, y)`` of a file of ``pmlb/``: float64; whole-numbered targets as int64."""
    path = find(f"pmlb/{name}.tsv.gz")
    columns = np.loadtxt(path, dtype=str, delimiter="\t", max_rows=1).tolist()
    table = np.loadtxt(path, delimiter="\t", skiprows=1, ndmin=2)
    target = columns.index("target")
    y = table[:, target]
    if (y == np.rint(y)).all():
        y = y.astype(np.int64)
    return _shared(np.delete(table, target, axis=1)), _shared(y.copy())


@cache
def houses() -> Split:
    """California house prices, 18576/2064 × 8 (every tenth row is a test row)."""
    X, y = pmlb("537_houses")
    return _standardised(X, y)


@cache
def abalone() -> Split:
    """Ages of abalone, 3760/417 × 10 (sex is three columns of zeros and ones)."""
    lines = find("regression/abalone.data").read_text().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    sexes = sorted({row[0] for row in cells})
    X = np.array(
        [
            [*(float(row[0] == sex) for sex in sexes), *map(float, row[1:-1])]
            for row in cells
        ]
    )
    return _standardised(X, np.array([float(row[-1]) for row in cells]), target=False)


def _standardised(X: np.ndarray, y: np.ndarray, *, target: bool = True) -> Split:
    """Mean 0 and variance 1 by the training rows; every tenth row is a test row."""
    held = np.arange(y.size) % 10 == 0
    X = (X - X[~held].mean(axis=0)) / X[~held].std(axis=0)
    if target:
        y = (y - y[~held].mean()) / y[~held].std()
    return Split(*map(_shared, (X[~held], y[~held], X[held], y[held])))


@cache
def teaching(k: int) -> Split:
    """Course example ``k`` in the plane, labels 0 and 1; only 3 has a test part."""
    from scipy.io import loadmat

    parts = loadmat(find(f"teaching/ex6data{k}.mat"))

    def labels(key: str) -> np.ndarray:
        return _shared(parts[key].ravel().astype(np.int64))

    train = Split(_shared(np.ascontiguousarray(parts["X"])), labels("y"))
    if "Xval" not in parts:
        return train
    X_test = _shared(np.ascontiguousarray(parts["Xval"]))
    return train._replace(X_test=X_test, y_test=labels("yval"))


def _ranges(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest value and width of every column; width 1 where it is constant."""
    low = X.min(axis=0)
    span = X.max(axis=0) - low
    return low, np.where(span > 0.0, span, 1.0)
