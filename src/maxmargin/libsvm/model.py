"""A model with the methods that LIBSVM's Python interface gives it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from maxmargin.persist.libsvm_model import SVM_TYPES

if TYPE_CHECKING:
    from maxmargin.persist.libsvm_model import LibsvmModel


class svm_model:  # noqa: N801 - LIBSVM's name
    """The result of ``svm_train`` and ``svm_load_model``.

    Parameters
    ----------
    layout : LibsvmModel
        Its content, as :func:`maxmargin.persist.libsvm_model.to_estimator` takes it.
    """

    def __init__(self, layout: LibsvmModel) -> None:
        self.layout = layout

    def __repr__(self) -> str:
        one = self.layout
        return f"<svm_model {one.svm_type} {one.kernel_type}, {one.total_sv} SVs>"

    def get_svm_type(self) -> int:
        """0 C-SVC, 1 ν-SVC, 2 one-class, 3 ε-SVR, 4 ν-SVR."""
        return SVM_TYPES.index(self.layout.svm_type)

    def get_nr_class(self) -> int:
        """Number of classes; 2 for machines without."""
        return self.layout.nr_class

    def get_svr_probability(self) -> float:
        """Scale σ of the Laplace distribution of a regression's errors, 0 if unknown."""
        known = self.layout.probA if self.layout.regresses else None
        return 0.0 if known is None else float(known[0])

    def get_labels(self) -> list[int]:
        """Labels in the order of all values; zeros for machines without."""
        label = self.layout.label
        return [0] * self.get_nr_class() if label is None else label.tolist()

    def get_sv_indices(self) -> list[int]:
        """Rows of the training set, from 1; zeros for a model from a file."""
        found = self.layout.sv_indices
        return [0] * self.get_nr_sv() if found is None else found.tolist()

    def get_nr_sv(self) -> int:
        """Number of support vectors."""
        return self.layout.total_sv

    def is_probability_model(self) -> bool:
        """Whether ``-b 1`` has an answer."""
        return self.layout.has_probabilities

    def get_sv_coef(self) -> list[tuple[float, ...]]:
        """The nr_class − 1 coefficients of every support vector."""
        return [tuple(one) for one in self.layout.sv_coef.T.tolist()]

    def get_SV(self) -> list[dict[int, float]]:  # noqa: N802 - LIBSVM's name
        """Support vectors as {index: value}; ``{0: number}`` of a precomputed kernel."""
        if self.layout.serial is not None:
            return [{0: float(one)} for one in self.layout.serial.tolist()]
        return dictionaries(self.layout.SV, base=1)

    # The fields of LIBSVM's structure that programs read.

    @property
    def nr_class(self) -> int:
        """Number of classes."""
        return self.get_nr_class()

    @property
    def l(self) -> int:  # noqa: E743 - LIBSVM's name
        """Number of support vectors."""
        return self.get_nr_sv()

    @property
    def rho(self) -> list[float]:
        """The number that is subtracted from each decision."""
        values: list[float] = self.layout.rho.tolist()
        return values

    @property
    def nSV(self) -> list[int] | None:  # noqa: N802 - LIBSVM's name
        """Support vectors of every label."""
        return None if self.layout.nr_sv is None else self.layout.nr_sv.tolist()


def dictionaries(X: Any, *, base: int) -> list[dict[int, float]]:
    """Rows of a CSR matrix as {index: value}, column 0 being index ``base``."""
    indices, values = (X.indices + base).tolist(), X.data.tolist()
    cuts = X.indptr.tolist()
    return [
        dict(zip(indices[begin:end], values[begin:end], strict=True))
        for begin, end in pairwise(cuts)
    ]
