"""A model in LIBSVM's layout.

The decision of the pair of labels (a, b), a before b in ``label``, is

    f_ab(x) = Σ_i c_i k(x_i, x) − ρ_ab,   positive for a,

over the support vectors of a (coefficients in line b − 1 of ``sv_coef``) and of b (line
a). Support vectors are grouped by label, pairs ordered (0, 1), (0, 2), …, (1, 2), …
Regressions and one-class machines have one line and one ρ (C.-C. Chang and C.-J. Lin,
"LIBSVM: a library for support vector machines", 2011, sections 5 and 7; the file's
keywords are those of the README of LIBSVM).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

    Index = NDArray[np.int64]

SVM_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")  # in -s order
KERNEL_TYPES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")  # in -t order
LARGEST_INT = 2**31 - 1  # labels, indices and counts are C's int
MARKS = 10  # density marks of a one-class machine


def pairs(k: int) -> list[tuple[int, int]]:
    """Positions of the labels of every decision, in order."""
    return list(combinations(range(k), 2))


def widened(table: Any, width: int, columns: Any = None) -> Any:
    """A CSR matrix of another width; ``columns`` are those of its entries, if others."""
    parts = (table.data, table.indices if columns is None else columns, table.indptr)
    return sparse.csr_matrix(parts, shape=(table.shape[0], width))


@dataclass(frozen=True, eq=False)
class LibsvmModel:
    """The content of a model file of LIBSVM.

    Parameters
    ----------
    svm_type : {'c_svc', 'nu_svc', 'one_class', 'epsilon_svr', 'nu_svr'}
        The machine.
    kernel_type : {'linear', 'polynomial', 'rbf', 'sigmoid', 'precomputed'}
        u'v, (γu'v + r)^d, exp(−γ‖u − v‖²), tanh(γu'v + r), or a matrix.
    rho : ndarray of shape (n_decisions,)
        The number that is subtracted from every decision.
    sv_coef : ndarray of shape (nr_class − 1, total_sv)
        Coefficients of the support vectors.
    SV : csr_matrix of shape (total_sv, n_features)
        Support vectors, index 1 in column 0. For a precomputed kernel without columns.
    serial : ndarray of int or None
        For a precomputed kernel: number of every support vector in the kernel matrix,
        from 1.
    degree, gamma, coef0 : int, float, float
        d, γ and r, where the kernel has them.
    label, nr_sv : ndarray of int or None
        Labels of a classification, and how many support vectors each has.
    probA, probB : ndarray or None
        P(first of the pair) = 1 / (1 + exp(A f + B)); for a regression A is the scale of
        the Laplace distribution of its errors, and there is no B.
    prob_density_marks : ndarray of shape (10,) or None
        Of a one-class machine: decision values between which a row is normal with
        probability 0.1, 0.2, …
    sv_indices : ndarray of int or None
        Rows of the training set, from 1; the file does not hold them.
    """

    svm_type: str
    kernel_type: str
    rho: Vector
    sv_coef: Vector
    SV: Any
    serial: Index | None = None
    degree: int = 3
    gamma: float = 0.0
    coef0: float = 0.0
    label: Index | None = None
    nr_sv: Index | None = None
    probA: Vector | None = None  # noqa: N815 - LIBSVM's name
    probB: Vector | None = None  # noqa: N815
    prob_density_marks: Vector | None = None
    sv_indices: Index | None = None

    @property
    def classifies(self) -> bool:
        """Whether it tells classes apart."""
        return self.svm_type in ("c_svc", "nu_svc")

    @property
    def regresses(self) -> bool:
        """Whether it predicts numbers."""
        return self.svm_type in ("epsilon_svr", "nu_svr")

    @property
    def nr_class(self) -> int:
        """Number of labels; 2 where there are none, as LIBSVM has it."""
        return int(self.sv_coef.shape[0]) + 1

    @property
    def total_sv(self) -> int:
        """Number of support vectors."""
        return int(self.sv_coef.shape[1])

    @property
    def n_features(self) -> int:
        """The largest index that a row needs: of features, or of the kernel matrix."""
        if self.serial is not None:
            return int(self.serial.max(initial=0))
        return int(self.SV.shape[1])

    @property
    def has_probabilities(self) -> bool:
        """Whether ``-b 1`` has an answer."""
        if self.classifies:
            return self.probA is not None and self.probB is not None
        if self.regresses:
            return self.probA is not None
        return self.prob_density_marks is not None

    def widened(self, n_features: int) -> LibsvmModel:
        """The same model in a space of more features, all 0 so far."""
        if self.serial is not None or n_features <= self.SV.shape[1]:
            return self
        return replace(self, SV=widened(self.SV, n_features))

    def reordered(self, labels: Sequence[int] | Index) -> LibsvmModel:
        """The same decisions with the labels in another order.

        A pair whose labels change places changes its sign: of its coefficients, of ρ,
        and of B, since P(second) = 1 / (1 + exp(A (−f) − B)). Every number is moved or
        negated, so the way back gives the same bits. Votes are tied for the same rows,
        and LIBSVM gives a tie to the first label.
        """
        if self.label is None or self.nr_sv is None:
            return self
        wanted = np.asarray(labels, dtype=np.int64)
        if sorted(wanted.tolist()) != sorted(self.label.tolist()):
            msg = (
                f"labels {wanted.tolist()} are not those of the model, "
                f"{self.label.tolist()}: give the same in another order"
            )
            raise InputError(msg)
        place = {label: at for at, label in enumerate(self.label.tolist())}
        old = [place[label] for label in wanted.tolist()]
        k = len(old)
        bounds = np.concatenate([[0], np.cumsum(self.nr_sv)])
        rows = np.concatenate(
            [np.arange(bounds[c], bounds[c + 1], dtype=np.int64) for c in old]
        )
        nr_sv = self.nr_sv[old]
        starts = np.concatenate([[0], np.cumsum(nr_sv)])
        sv_coef = np.empty_like(self.sv_coef)
        moved = self.sv_coef[:, rows]
        column = {pair: at for at, pair in enumerate(pairs(k))}
        take, flipped = [], []
        for a, b in pairs(k):
            flip = old[a] > old[b]
            for own, other in ((a, b), (b, a)):
                some = slice(starts[own], starts[own + 1])
                line = moved[_line(old[own], old[other]), some]
                sv_coef[_line(own, other), some] = -line if flip else line
            take.append(column[min(old[a], old[b]), max(old[a], old[b])])
            flipped.append(flip)
        turn = np.array(flipped)

        def turned(values: Vector) -> Vector:
            return np.where(turn, -values[take], values[take])

        return replace(
            self,
            rho=turned(self.rho),
            sv_coef=sv_coef,
            SV=self.SV[rows],
            serial=None if self.serial is None else self.serial[rows],
            label=wanted,
            nr_sv=nr_sv,
            probA=None if self.probA is None else self.probA[take],
            probB=None if self.probB is None else turned(self.probB),
            sv_indices=None if self.sv_indices is None else self.sv_indices[rows],
        )


def _line(own: int, other: int) -> int:
    """Line of ``sv_coef`` with the coefficients of a label's vectors against another."""
    return other - 1 if other > own else other
