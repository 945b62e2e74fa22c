"""``multi_class="crammer_singer"``: all classes in one problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.estimators.kernel.fit.parts import Expansion, Part
from maxmargin.estimators.kernel.fit.schemes import Duals, Scheme, grouped
from maxmargin.kernels.gram.plus_constant import ShiftedGram
from maxmargin.problem import JointProblem, row_prices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.schemes import Labelled
    from maxmargin.kernels.gram.contract import Gram


@dataclass(frozen=True, eq=False)
class Joint(Part):
    """One problem for all K classes, ``y`` = their codes; a row has K coefficients.

    An intercept is the weight of a constant feature, regularised as in LIBLINEAR:
    the dual has no constraint between points, which a free intercept would need.
    """

    y: Vector
    C: float
    n_classes: int
    fit_intercept: bool = True
    merges = False

    def instance(self, gram: Gram, weight: Vector) -> Any:
        """Return Crammer and Singer's programme."""
        own = ShiftedGram(gram) if self.fit_intercept else gram
        prices = row_prices(self.C, weight)
        return JointProblem(own, self.y.astype(np.intp), prices, self.n_classes)

    def expansion(self, problem: Any, model: Any) -> Expansion:  # noqa: ARG002
        """Return a decision function with one column for each class."""
        b = model.beta.sum(axis=0) if self.fit_intercept else np.zeros(self.n_classes)
        return Expansion(model.beta, b)

    def scores(self, problem: Any, model: Any) -> Vector:
        """Return the decisions of all classes, one column each."""
        scores: Vector = model.gradient - problem.offset
        return scores

    def margin(self, problem: Any, model: Any) -> float:  # noqa: ARG002
        """Return nan: several classes have no common margin."""
        return float("nan")


class AllAtOnce(Scheme):
    """One problem for all classes; the largest decision wins, a tie the lowest class.

    With two classes, only the difference of their decisions is kept, as in every binary
    classifier.
    """

    solver = "CrammerSinger"

    @property
    def lines(self) -> int:
        """One for every class; one for two."""
        return len(self.classes) if len(self.classes) > 2 else 1

    def problems(self) -> list[Labelled]:
        """Return one problem; its y are the codes of the classes."""
        rows = np.flatnonzero(self.codes >= 0)
        return [("all classes at once", rows, self.codes[rows].astype(np.float64))]

    def gather(self, parts: Sequence[tuple[Part, Expansion]]) -> Duals:
        """Return a table with one line for each class; one line for two classes."""
        ((part, found),) = parts
        coef, intercept = (
            self._shown(found.coef),
            self._shown(np.atleast_2d(found.intercept)),
        )
        support = grouped(part.rows[coef.any(axis=1)], self.codes)
        whole = np.zeros((self.codes.size, self.lines))
        whole[part.rows] = coef
        counts = np.bincount(self.codes[support], minlength=len(self.classes))
        return Duals(
            support=support,
            n_support=counts.astype(np.int32),
            dual_coef=np.ascontiguousarray(whole[support].T),
            intercept=intercept[0],
        )

    def restarts(
        self, parts: Sequence[Part], support: Index, dual_coef: Vector
    ) -> list[Vector]:
        """Return the coefficients of all classes."""
        coef = np.zeros((self.codes.size, self.lines))
        coef[support] = dual_coef.T
        if self.lines == 1:
            coef = np.column_stack([-0.5 * coef, 0.5 * coef])
        return [coef[parts[0].rows]]

    def _shown(self, table: Vector) -> Vector:
        """Return the columns of a table; of two their difference."""
        return table if self.lines > 1 else table[:, 1:] - table[:, :1]
