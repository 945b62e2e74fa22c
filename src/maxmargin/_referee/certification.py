"""The referee's verdict: a certificate, with slack, residual and label of every point."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from maxmargin.certificate import Certificate, worst_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.given import Given


class Task(Enum):
    """The purpose of a machine.

    The value has the labels of its points: not in the problem, coefficient 0, inside its
    box, at its bound.
    """

    CLASSIFY = ("left out", "outside", "on the margin", "violating")
    REGRESS = ("left out", "inside the tube", "on the tube", "outside the tube")
    OUTLIERS = ("left out", "inside", "on the boundary", "outside")


class Machine(NamedTuple):
    """One entry of the table of machines."""

    name: str  # of its class
    judge: Callable[[Given], Certification]
    task: Task
    parameters: tuple[str, ...] = ()  # numbers that define the problem, with a kernel
    level: str = ""  # the number it has besides w and b, as people read it
    sum: str = "a sum"  # that its coefficients must keep, as people read it
    divided: bool = False  # the model is stored divided by its level
    ignoring: tuple[str, ...] = ()  # packages where class_weight_ has no effect


@dataclass(frozen=True, eq=False)
class Certification(Certificate):
    r"""The referee's :class:`~maxmargin.Certificate`, with a verdict on every point.

    Attributes
    ----------
    machine : str
        What it was judged as: ``"SVC"``, ``"NuSVC"``, ``"SVR"``, ``"NuSVR"``,
        ``"OneClassSVM"``, ``"SVDD"``, ``"LinearSVC"`` or ``"LinearSVR"``.
    slack : ndarray of shape (n,)
        The cost of a point, before its price: :math:`\max(0, 1 - y_i f(x_i))` for SVC,
        :math:`\max(0, \rho - y_i f(x_i))` for NuSVC before its rescaling,
        :math:`\max(0, |z_i - f(x_i)| - \varepsilon)` for SVR and NuSVR,
        :math:`\max(0, \rho - \langle w, \varphi(x_i)\rangle)` for OneClassSVM,
        :math:`\max(0, \|\varphi(x_i) - a\|^2 - R^2)` for SVDD, the value of a loss from
        outside; 0 for rows left out.
    residual : ndarray of shape (n,)
        How far a point misses its own optimality condition, with the model's own
        intercept, ρ, ε or R: for SVC :math:`y_i f(x_i) \ge 1` where α = 0, = 1 where
        0 < α < C, ≤ 1 where α = C (the squared hinge: 1 − α/(2C) in place of 1). In the
        units of ``violation``; 0 for rows left out.
    label : ndarray of str of shape (n,)
        For a coefficient of 0, one inside its box, and one at its bound: ``"outside"``
        the margin, ``"on the margin"``, ``"violating"`` (for the squared hinge every
        α > 0, since there ξ = α/(2C)); ``"inside the tube"``, ``"on the tube"``,
        ``"outside the tube"``; or ``"inside"``, ``"on the boundary"``, ``"outside"``.
        ``"left out"`` without a positive sample weight.
    index : ndarray of int of shape (n,)
        The rows of X that the three arrays speak of. A member of ``problems`` speaks of
        the rows of its own classes; the whole of all rows, each with its worst slack,
        residual and label.
    margin : float
        2/‖w‖, of OneClassSVM ρ/‖w‖ (the distance to the origin); nan for the others.
    level, level_interval : float, tuple of float
        The number that a machine has besides w and b, and the interval of its optimal
        values: ρ of NuSVC (before rescaling) and OneClassSVM, ε of SVR and NuSVR, R of
        SVDD; nan for SVC, and the interval also for SVR, where ε is given.
    stray : float
        How far the model's intercept, ρ, ε or R lies outside the optimal ones.
    excess : float
        How far the worst coefficient lies outside its box, as a fraction of the bound.
    feasible : bool
        Whether the dual variables keep the box and the sums up to rounding, without
        which ``dual`` bounds nothing.
    """

    machine: str = field(kw_only=True)
    kind: Machine = field(kw_only=True, repr=False)
    slack: Vector = field(kw_only=True, repr=False)
    residual: Vector = field(kw_only=True, repr=False)
    label: NDArray[np.str_] = field(kw_only=True, repr=False)
    index: Index = field(kw_only=True, repr=False)
    margin: float = field(kw_only=True)
    level: float = field(kw_only=True)
    level_interval: tuple[float, float] = field(kw_only=True)
    stray: float = field(kw_only=True)
    excess: float = field(kw_only=True)
    feasible: bool = field(kw_only=True)

    @property
    def ok(self) -> bool:
        """Whether every problem is feasible and within ``tol``, its intercept too."""
        if self.problems:
            return all(one.ok for one in self.problems)
        # The relative gap already holds the intercept to account.
        stray = self.stray if self.criterion == "violation" else 0.0
        within = getattr(self, self.criterion) <= self.tol and stray <= self.tol
        return bool(self.feasible and within)

    def __str__(self) -> str:
        ranks = self.kind.task.value[::-1]
        counts = {rank: int((self.label == rank).sum()) for rank in ranks}
        points = ", ".join(f"{count:,} {rank}" for rank, count in counts.items() if count)
        lines = [
            *self._certificate_lines(),
            *self._level_lines(),
            f"points      {points}",
            f"largest     slack {self.slack.max():.6g}, "
            f"residual {self.residual.max():.3g}",
        ]
        if self.stray > self.tol and self.criterion == "violation":
            lines.append(
                f"stray       the intercept or its like is {self.stray:.2g} off the "
                "optimal ones"
            )
        if not self.feasible:
            lines.append(
                f"infeasible  a coefficient leaves its box by {self.excess:.2g} of its "
                f"bound, {self.kind.sum} is {self.balance:.2g}·Σ|β| off: the dual is no "
                "bound"
            )
        return "\n".join(lines)

    def _certificate_lines(self) -> list[str]:
        """The certificate, its intercept in the units of ``intercept_``."""
        lines = super().__str__().splitlines()
        at = next(
            (i for i, line in enumerate(lines) if line.startswith("intercept")), None
        )
        if at is None:
            return lines
        if self.kind.task is Task.OUTLIERS:  # −ρ, or R in other units
            del lines[at]
        elif self.kind.divided:
            lo, hi = (end / self.level for end in self.bias_interval)
            lines[at] = f"intercept   in [{lo:.6g}, {hi:.6g}] after division by rho"
        return lines

    def _level_lines(self) -> list[str]:
        lines = []
        if not np.isnan(self.margin):
            lines.append(f"margin      {self.margin:.6g}")
        lo, hi = self.level_interval
        if self.kind.level:
            known = f", optimal in [{lo:.6g}, {hi:.6g}]"
            how = " to either side" if np.isnan(lo) else known  # of a given tube
            lines.append(f"{self.kind.level:11} {self.level:.6g}{how}")
        return lines


def labels_of(task: Task, rank: Index) -> NDArray[np.str_]:
    """Name the ranks 0 (left out), 1 (zero), 2 (free) and 3 (at bound)."""
    return np.array(task.value)[rank]


def whole(problems: list[Certification], n: int, n_support: int) -> Certification:
    """Put the worst problem on top, and give each row its worst slack and residual."""
    task = problems[0].kind.task
    slack, residual, rank = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.intp)
    for one in problems:
        at = one.index
        found = (one.label[:, None] == np.array(task.value)).argmax(axis=1)
        slack[at] = np.maximum(slack[at], one.slack)
        residual[at] = np.maximum(residual[at], one.residual)
        rank[at] = np.maximum(rank[at], found)
    top = worst_of(problems, n_support=n_support, n_kernel=0, seconds=0.0)
    return replace(
        cast("Certification", top),
        slack=slack,
        residual=residual,
        label=labels_of(task, rank),
        index=np.arange(n),
        stray=max(one.stray for one in problems),
        excess=max(one.excess for one in problems),
        balance=max(one.balance for one in problems),
        feasible=all(one.feasible for one in problems),
    )
