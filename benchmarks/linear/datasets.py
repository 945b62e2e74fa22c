"""The panel of linear machines: real data, and two sets that are made."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from tests import data

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LOSSES", "SETS", "Problem", "Set", "load", "problem_of"]

LOSSES = {
    "SVC": ("hinge", "squared_hinge"),
    "SVR": ("epsilon_insensitive", "squared_epsilon_insensitive"),
}
WIDTH, FILLED = 100_000, 50  # columns of the sparse set, and those that a row has
CHUNK = 100_000  # rows that are made at a time


@dataclass(frozen=True)
class Problem:
    """One set with its price, tube and loss, ready for a machine."""

    kind: str
    loss: str
    C: float
    epsilon: float
    X: Any
    y: np.ndarray

    @property
    def n(self) -> int:
        """How many rows there are to learn from."""
        return int(self.X.shape[0])

    @property
    def squared(self) -> bool:
        """Whether the loss is a square."""
        return self.loss.startswith("squared")

    def thinned(self, n: int) -> Problem:
        """About evenly spread n rows: some files are sorted."""
        if n >= self.n:
            return self
        some = np.linspace(0, self.n - 1, n).astype(np.intp)
        return replace(self, X=self.X[some], y=self.y[some])


Rows = tuple[Any, np.ndarray]


class Set(NamedTuple):
    """Data with the parameters that they are fitted with.

    ``load`` is told how many rows are wanted, and may give more.
    """

    load: Callable[[int | None], Rows]
    group: str  # dense, sparse or regression
    shape: str
    C: float = 1.0
    epsilon: float = 0.1

    @property
    def kind(self) -> str:
        """Of the machine."""
        return "SVR" if self.group == "regression" else "SVC"


def _covtype(rows: int | None) -> Rows:
    split = data.covtype_binary(rows or 500_000)
    return split.X, split.y


def _mnist(rows: int | None) -> Rows:
    split = data.mnist(rows)
    return split.X.astype(np.float64), split.y


def _synthetic(rows: int | None) -> Rows:
    """Standard normal columns; a plane with noise decides, and no plane fits all."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows or 100_000, 200))
    plane = rng.standard_normal(200) / np.sqrt(200.0)
    noise = 0.5 * rng.standard_normal(len(X))
    return X, np.where(X @ plane + noise > 0.0, 1, -1)


def _a9a(_: int | None) -> Rows:
    split = data.a9a()
    return split.X, split.y


def _newsgroups(_: int | None) -> Rows:
    """20 newsgroups by date, its training part, as scikit-learn's tf-idf sees it."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, groups = [], []
    packed = io.BytesIO(data.find("text/20news-bydate.tar.xz").read_bytes())
    with tarfile.open(fileobj=packed, mode="r:xz") as archive:
        for member in archive:
            parts = member.name.split("/")
            if member.isfile() and parts[-3] == "20news-bydate-train":
                content = archive.extractfile(member)
                if content is None:
                    raise OSError(f"{member.name} cannot be read")
                texts.append(content.read().decode("latin-1"))
                groups.append(parts[-2])
    _, y = np.unique(groups, return_inverse=True)
    return sp.csr_matrix(TfidfVectorizer().fit_transform(texts)), y


def _sparse(rows: int | None) -> Rows:
    """Rows of length 1 with 50 of 100,000 columns, some columns oftener than others.

    Every fiftieth part of the columns gives one to each row, so that they are sorted
    and distinct as they are drawn. A chunk's numbers are its own: fewer rows are the
    beginning of more.
    """
    n, part = rows or 1_000_000, WIDTH // FILLED
    plane = np.random.default_rng(0).standard_normal(WIDTH)
    starts = np.arange(0, WIDTH, part, dtype=np.int32)
    columns, values = np.empty((n, FILLED), np.int32), np.empty((n, FILLED))
    y = np.empty(n, np.int64)
    for begin in range(0, n, CHUNK):
        rng, some = np.random.default_rng([1, begin]), slice(begin, begin + CHUNK)
        size = len(y[some])
        # A column's chance falls with its number within the part.
        drawn = rng.random((CHUNK, FILLED))[:size] ** 2 * part
        columns[some] = starts + drawn.astype(np.int32)
        sizes = np.abs(rng.standard_normal((CHUNK, FILLED))[:size])
        values[some] = sizes / np.linalg.norm(sizes, axis=1, keepdims=True)
        noise = 0.5 * rng.standard_normal(CHUNK)[:size]
        outputs = (values[some] * plane[columns[some]]).sum(axis=1)
        y[some] = np.where(outputs + noise > 0.0, 1, -1)
    ends = np.arange(0, n * FILLED + 1, FILLED, dtype=np.int32)
    X = sp.csr_matrix((values.ravel(), columns.ravel(), ends), shape=(n, WIDTH))
    X.has_sorted_indices = True
    return X, y


def _w8a(_: int | None) -> Rows:
    return data.libsvm("w8a")


def _house_8l(_: int | None) -> Rows:
    X, y = data.pmlb("218_house_8L")
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def _houses(_: int | None) -> Rows:
    split = data.houses()
    return split.X, split.y


def _abalone(_: int | None) -> Rows:
    split = data.abalone()
    return split.X, split.y


SETS: dict[str, Set] = {
    "covtype": Set(_covtype, "dense", "500,000 × 54"),
    "mnist": Set(_mnist, "dense", "60,000 × 784, 10 classes"),
    "synthetic-C0.01": Set(_synthetic, "dense", "100,000 × 200", C=0.01),
    "synthetic-C1": Set(_synthetic, "dense", "100,000 × 200"),
    "synthetic-C100": Set(_synthetic, "dense", "100,000 × 200", C=100.0),
    "a9a": Set(_a9a, "sparse", "32,561 × 123"),
    "w8a": Set(_w8a, "sparse", "49,749 × 300"),
    "20news": Set(_newsgroups, "sparse", "11,314 × 130,108, 20 classes"),
    "sparse1m": Set(_sparse, "sparse", "1,000,000 × 100,000"),
    "houses": Set(_houses, "regression", "18,576 × 8"),
    "house_8L": Set(_house_8l, "regression", "22,784 × 8"),
    "abalone": Set(_abalone, "regression", "3,760 × 10"),
}


def load(name: str, rows: int | None = None) -> Rows:
    """The rows of a set, all or about so many; float64."""
    X, y = SETS[name].load(rows)
    return X.astype(np.float64, copy=False), y


def problem_of(name: str, loss: str, loaded: Rows, rows: int | None = None) -> Problem:
    """A set that was loaded, with one of the losses of its kind."""
    one = SETS[name]
    whole = Problem(one.kind, loss, one.C, one.epsilon, *loaded)
    return whole if rows is None else whole.thinned(rows)
