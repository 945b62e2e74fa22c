"""The panel: real data with the parameters that they are fitted with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tests import data

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["SETS", "Problem", "Set", "Task", "problem_of"]

TEST_ROWS = 10_000  # of sets without a test part


@dataclass(frozen=True)
class Problem:
    """One set in one precision, ready for a machine."""

    kind: str
    parameters: dict[str, float]
    X: Any
    y: np.ndarray | None
    X_test: Any

    @property
    def n(self) -> int:
        """How many rows there are to learn from."""
        return int(self.X.shape[0])

    def thinned(self, n: int) -> Problem:
        """About evenly spread n rows (some files are sorted), and as many test rows."""
        if n >= self.n:
            return self
        some = np.linspace(0, self.n - 1, n).astype(np.intp)
        y = None if self.y is None else self.y[some]
        return replace(self, X=self.X[some], y=y, X_test=self.X_test[:n])


class Set(NamedTuple):
    """One row of the table."""

    load: Callable[[], data.Split]
    kind: str
    parameters: dict[str, float]
    shape: str
    small: bool = False  # its time is that of calling, not of computing


class Task(NamedTuple):
    """What a machine is asked to work on."""

    name: str
    dtype: str = "float64"
    rows: int | None = None  # only so many of them


def _dense_a9a() -> data.Split:
    split = data.a9a()
    return split._replace(X=split.X.toarray(), X_test=split.X_test.toarray())


def _w8a() -> data.Split:
    X, y = data.libsvm("w8a")
    return data.Split(X, y, X[:TEST_ROWS], y[:TEST_ROWS])


def _iris() -> data.Split:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return data.Split(X, y, X, y)


def _heart() -> data.Split:
    X, y = data.libsvm("heart_scale")
    return data.Split(X.toarray(), y, X.toarray(), y)


SETS: dict[str, Set] = {
    "svmguide1": Set(data.svmguide1, "SVC", {"C": 2.0, "gamma": 2.0}, "3,089 × 4"),
    "usps": Set(
        data.usps, "SVC", {"C": 10.0, "gamma": 1 / 64}, "7,291 × 256, 10 classes"
    ),
    "letter": Set(
        data.letter, "SVC", {"C": 16.0, "gamma": 4.0}, "15,000 × 16, 26 classes"
    ),
    "a9a": Set(_dense_a9a, "SVC", {"C": 1.0, "gamma": 1 / 32}, "32,561 × 123"),
    "mnist10k": Set(
        lambda: data.mnist(10_000), "SVC", {"C": 10.0, "gamma": 0.02},
        "10,000 × 784, 10 classes",
    ),
    "mnist60k": Set(
        data.mnist, "SVC", {"C": 10.0, "gamma": 0.02}, "60,000 × 784, 10 classes"
    ),
    "ijcnn1": Set(data.ijcnn1, "SVC", {"C": 32.0, "gamma": 2.0}, "49,990 × 22"),
    "covtype50k": Set(
        lambda: data.covtype_binary(50_000, TEST_ROWS), "SVC", {"C": 10.0, "gamma": 8.0},
        "50,000 × 54",
    ),
    "covtype10k-C1e4": Set(
        lambda: data.covtype_binary(10_000, TEST_ROWS), "SVC", {"C": 1e4, "gamma": 8.0},
        "10,000 × 54",
    ),
    "a9a-csr": Set(data.a9a, "SVC", {"C": 1.0, "gamma": 1 / 32}, "32,561 × 123, CSR"),
    # Platt's parameters (1998): C = 5, σ² = 10. It has no test part: its first rows.
    "w8a-csr": Set(_w8a, "SVC", {"C": 5.0, "gamma": 0.05}, "49,749 × 300, CSR"),
    "houses": Set(data.houses, "SVR", {"C": 1.0, "gamma": 0.125}, "18,576 × 8"),
    "mnist10k-one": Set(
        lambda: data.mnist(10_000), "OneClassSVM", {"nu": 0.1, "gamma": 0.02},
        "10,000 × 784",
    ),
    "iris": Set(
        _iris, "SVC", {"C": 1.0, "gamma": 0.25}, "150 × 4, 3 classes", small=True
    ),
    "heart_scale": Set(
        _heart, "SVC", {"C": 1.0, "gamma": 1 / 13}, "270 × 13", small=True
    ),
}  # fmt: skip


def problem_of(task: Task) -> Problem:
    """Load a set in the precision asked for."""
    one = SETS[task.name]
    split = one.load()
    X, X_test = (part.astype(task.dtype) for part in (split.X, split.X_test))
    y = None if one.kind == "OneClassSVM" else split.y
    whole = Problem(one.kind, one.parameters, X, y, X_test)
    return whole if task.rows is None else whole.thinned(task.rows)
