"""The certificate: the quality of an answer, in numbers that can be recomputed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import Stop

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BALANCE", "Certificate", "Run", "certificate_of", "settled", "worst_of"]

BALANCE = 1e-10  # rounding: relative error of a sum; steps leave 1e-15·√iterations


@dataclass(frozen=True)
class Certificate:
    """Proof of quality of a fitted machine.

    Attributes
    ----------
    primal, dual : float
        Objective of the model, and of its dual variables (the value that is
        maximised; LIBSVM prints −dual). For ``C=inf`` the primal is that of w
        rescaled to feasibility.
    gap, relative_gap : float
        primal − dual, and that over max(|primal|, |dual|).
    violation : float
        max over I_low of F − min over I_up of F, what ``tol`` bounds.
    tol, criterion : float, str
        The tolerance that was asked of the solver (nan when it is not known; machines
        without C translate the user's into the units of their gradient), and the field
        that it bounds: ``"violation"``, or ``"relative_gap"`` for linear machines and
        Pegasos.
    balance : float
        How far Σβ misses the value it must have (0 for a classifier or regression with
        an intercept), relative to Σ|β|.
    bias_interval : tuple of float
        −F at the two extremes, lo ≤ hi: at the optimum, all optimal intercepts; before
        it, an interval about as wide as the violation. In the units of the problem:
        ``intercept_`` is divided by ρ for NuSVC, and times 2/(νN) for SVDD. nan where
        intercepts are part of w (Crammer and Singer), and for linear machines.
    n_support, n_free, n_bound : int
        Support vectors: all, strictly inside the box, and at its bound.
    n_iter, n_kernel : int
        Iterations, and kernel values computed.
    seconds : float
        Time the solver took; on top of several problems, that of the whole fit.
    stop : Stop
        Why it stopped; it is a str, a sentence.
    solver : str
        Which solver ran, where there was a choice.
    problems : tuple of Certificate
        One for each binary problem; empty when there is only one, which is this.
    name : str
        Which binary problem this is, such as ``"2 against 7"``.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    violation: float
    bias_interval: tuple[float, float]
    n_support: int
    n_free: int
    n_bound: int
    n_iter: int = 0
    n_kernel: int = 0
    seconds: float = 0.0
    stop: Stop = Stop.UNKNOWN
    tol: float = float("nan")
    criterion: str = "violation"
    balance: float = 0.0
    name: str = ""
    solver: str = ""
    problems: tuple[Certificate, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether every problem is within ``tol``, its dual variables feasible."""
        if self.problems:
            return all(one.ok for one in self.problems)
        bounded: float = getattr(self, self.criterion)
        return bounded <= self.tol and self.balance <= BALANCE

    def _against(self, name: str) -> str:
        """The comparison with tol, behind the figure that tol bounds."""
        if name != self.criterion or np.isnan(self.tol):
            return ""
        sign = "≤" if getattr(self, name) <= self.tol else ">"
        return f" {sign} tol {self.tol:g}"

    def __str__(self) -> str:
        lo, hi = self.bias_interval
        lines = [
            f"primal      {self.primal:.10g}",
            f"dual        {self.dual:.10g}",
            f"gap         {self.gap:.3g} (relative {self.relative_gap:.2g}"
            f"{self._against('relative_gap')})",
            f"violation   {self.violation:.3g}{self._against('violation')}",
            *([] if np.isnan(lo) else [f"intercept   in [{lo:.6g}, {hi:.6g}]"]),
            f"support     {self.n_support:,} vectors"
            f"{' in all; the worst problem' if self.problems else ''}: "
            f"{self.n_free:,} free, {self.n_bound:,} at bound",
        ]
        if self.n_iter or self.n_kernel:
            values = f"{self.n_kernel:,} kernel values, " if self.n_kernel else ""
            lines.append(
                f"work        {self.n_iter:,} iterations, {values}{self.seconds:.3g} s"
            )
        if np.isnan(self.tol):
            lines.append("tol         none that bounds one of these: never ok")
        if self.solver:
            lines.append(f"solver      {self.solver}")
        if self.stop:
            lines.append(f"stop        {self.stop}")
        if self.problems:
            count = len(self.problems)
            late = sum(not one.ok for one in self.problems)
            verdict = "all within tol" if late == 0 else f"{late} not"
            lines.append(f"problems    {count} binary, {verdict}; the worst: {self.name}")
        return "\n".join(lines)


class Run(NamedTuple):
    """The run of a solver, as far as a certificate tells of it."""

    stop: Stop
    tol: float
    criterion: str
    n_iter: int = 0
    n_kernel: int = 0
    seconds: float = 0.0
    name: str = ""  # which binary problem
    solver: str = ""  # which solver ran, where there was a choice


def certificate_of(problem: Any, model: Any, run: Run) -> Certificate:
    """The certificate that a machine gives itself; the referee has its own figures.

    Parameters
    ----------
    problem : AnyProblem
        What was solved: its ``evidence`` has all figures.
    model : model of such a problem
        The answer.
    run : Run
        How it was found.
    """
    found = problem.evidence(model)
    measures = found.measures
    return Certificate(
        primal=measures.primal,
        dual=measures.dual,
        gap=measures.gap,
        relative_gap=measures.relative_gap,
        violation=measures.violation,
        bias_interval=found.interval,
        n_support=found.n_support,
        n_free=found.n_support - found.n_bound,
        n_bound=found.n_bound,
        balance=found.balance,
        **run._asdict(),
    )


def settled(found: Certificate) -> Certificate:
    """A certificate whose reason to stop agrees with its own figures.

    Where tol is near rounding, figures that a solver carries along and those made afresh
    may lie on its two sides. A run that was ended from outside keeps its reason.
    """
    by_gap = found.criterion == "relative_gap"
    within = getattr(found, found.criterion) <= found.tol
    early = found.stop in (Stop.STALLED, Stop.MAX_ITER)
    if found.stop.converged and not within:
        return replace(found, stop=Stop.STALLED)
    if early and within and found.balance <= BALANCE:
        return replace(found, stop=Stop.CLOSED if by_gap else Stop.CONVERGED)
    return found


def worst_of(
    problems: Sequence[Certificate],
    *,
    n_support: int,
    n_kernel: int,
    seconds: float,
) -> Certificate:
    """The certificate of a whole machine: its worst binary problem on top.

    Objective, violation, interval and counts of free and bound vectors are those of
    the problem that is worst in what its ``tol`` bounds; iterations are summed; support
    vectors
    (each counted once), kernel values and seconds are those of the whole fit.
    """
    if len(problems) == 1:
        return replace(problems[0], n_kernel=n_kernel, seconds=seconds)
    worst = max(problems, key=lambda one: (getattr(one, one.criterion), one.relative_gap))
    return replace(
        worst,
        n_support=n_support,
        n_iter=sum(one.n_iter for one in problems),
        balance=max(one.balance for one in problems),
        n_kernel=n_kernel,
        seconds=seconds,
        problems=tuple(problems),
    )
