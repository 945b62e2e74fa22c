r"""Picture of convergence: one measure of a run against the work done.

By default it shows the relative duality gap

.. math:: \frac{P(w, b) - D(\alpha)}{\max(|P|, |D|)}

against the kernel values computed since the beginning of the run, the main cost of large
problems. An axis of positive values is logarithmic. Infinite gaps and work 0 are left out
there; a gap of 0 or less, which is rounding, is drawn at a floor a decade below the
smallest positive one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import InputError, InputTypeError, Stop, load_extra
from maxmargin.estimators.kernel.fit.solver_choice import is_solver, named_solver
from maxmargin.observers import History, TimeLimit
from maxmargin.plots.canvas.marks import entry
from maxmargin.plots.canvas.style import (
    COLOURS,
    DASHES,
    GREY,
    MARKERS,
    cycled,
    figure_and_axes,
    legend,
)
from maxmargin.problem import Objective, Problem
from maxmargin.solvers.base import drive

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes

    from maxmargin._arrays import Vector
    from maxmargin.solvers.base import Outcome

WORK = {"n_kernel": "kernel values", "n_iter": "iterations", "seconds": "seconds"}
FIGURES = {
    "relative_gap": "relative duality gap",
    "gap": "duality gap",
    "violation": "violation of the optimality conditions",
    "primal": "primal objective",
    "dual": "dual objective",
    "n_support": "support vectors",
}
DISTANCES = ("relative_gap", "gap", "violation")  # 0 at the optimum
ENDS = {True: ("*", "converged"), False: ("X", "stopped early")}
WARM_UP = 1.0  # seconds of a run before the timed one, at most
WIDE = 30.0  # policy: an objective within this factor has a plain axis


class _Run(NamedTuple):
    """One line: work, measure, and whether it ended by converging (None: not known)."""

    x: Vector
    y: Vector
    converged: bool | None


class ConvergenceDisplay:
    """Picture of one or several runs.

    :meth:`from_solvers` runs solvers, :meth:`from_histories` takes recorded runs.

    Parameters
    ----------
    runs : mapping from str to (x, y, converged)
        Work and measure of every run, arrays of equal length, and whether it ended by
        converging; None where that is not known.
    x, y : str
        Names of work and measure: see :meth:`from_histories`.

    Attributes
    ----------
    figure_, ax_ : Figure, Axes
        Where it was drawn.
    lines_ : dict of Line2D
        The line of every run.
    ends_ : dict of Line2D
        The mark at the end of every run, if its end is known.
    floor_ : float or None
        Where values of 0 or less were drawn.
    outcomes_ : dict of Outcome
        How every run of :meth:`from_solvers` ended.
    """

    def __init__(
        self,
        runs: Mapping[str, tuple[Any, Any, bool | None]],
        *,
        x: str = "n_kernel",
        y: str = "relative_gap",
    ) -> None:
        _check_names(x, y)
        self.x, self.y = x, y
        self.outcomes_: dict[str, Outcome] = {}
        self.runs = {
            name: _Run(np.asarray(a, np.float64), np.asarray(b, np.float64), converged)
            for name, (a, b, converged) in runs.items()
        }
        if not self.runs:
            msg = "there are no runs to draw: give at least one"
            raise InputError(msg)

    @classmethod
    def from_histories(
        cls,
        histories: Mapping[str, Any],
        *,
        x: str = "n_kernel",
        y: str = "relative_gap",
        stops: Mapping[str, Stop] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw recorded runs.

        Parameters
        ----------
        histories : mapping from str to History or mapping from str to list
            Runs by name: a :class:`~maxmargin.observers.History` (one line for each of
            its problems), or lists by the same keys.
        x : {'n_kernel', 'n_iter', 'seconds'}, default='n_kernel'
            Work. Kernel values are counted from the first entry on: solvers that share
            a problem share its counter.
        y : {'relative_gap', 'gap', 'violation', 'primal', 'dual', 'n_support'}
            Measure; the gaps follow from primal and dual where they were not recorded.
        stops : mapping from str to Stop or None
            How runs ended, by name; others get no mark at their end.
        ax : matplotlib Axes or None
            Where to draw; None for a figure of its own.
        """
        _check_names(x, y)
        if not isinstance(histories, Mapping):
            msg = (
                f"histories is {type(histories).__name__}: give a dict "
                "{'name of the run': History or dict of lists}"
            )
            raise InputTypeError(msg)
        runs: dict[str, tuple[Any, Any, bool | None]] = {}
        for name, history in histories.items():
            stop = None if stops is None else stops.get(name)
            for part, columns in _columns(name, history).items():
                work = _column(part, columns, x)
                if x == "n_kernel" and work.size:
                    work = work - work[0]
                figure = _column(part, columns, y)
                if work.shape != figure.shape:
                    msg = f"{part}: {x} has {work.size} entries and {y} {figure.size}"
                    raise InputError(msg)
                runs[part] = (work, figure, None if stop is None else stop.converged)
        return cls(runs, x=x, y=y).plot(ax=ax)

    @classmethod
    def from_solvers(
        cls,
        solvers: Mapping[str, Any],
        problem: Problem | None = None,
        *,
        x: str = "n_kernel",
        y: str = "relative_gap",
        time_limit: float | None = None,
        growth: float = 2.0,
        ax: Axes | None = None,
    ) -> Self:
        """Run solvers, one after the other, and draw their convergence.

        A run is measured after chunks of work: at first they grow by the factor
        ``growth``, later they take 50 ms. Seconds include measuring; to draw them, every
        solver runs once before, for a second at most, which loads its code.

        Parameters
        ----------
        solvers : mapping from str to Solver, its name, or (Solver, Problem)
            Solvers by their names in the legend: a solver, or a name for
            ``SVC(solver=...)``; with a problem of its own, or else ``problem``.
        problem : Problem or None
            The problem to solve; ``SVC(...).problem(X, y)`` makes one.
        x, y : str
            As for :meth:`from_histories`.
        time_limit : float or None
            Seconds after which a solver is stopped; each has as many.
        growth : float, default=2.0
            Factor from one chunk of work to the next; 1.2 shows more.
        ax : matplotlib Axes or None
            Where to draw; None for a figure of its own.
        """
        load_extra("matplotlib", extra="plot", purpose="drawing")  # before the runs
        _check_names(x, y)
        histories, outcomes = {}, {}
        if not isinstance(solvers, Mapping):
            msg = f"solvers is {type(solvers).__name__}: give a dict {{'name': solver}}"
            raise InputTypeError(msg)
        for name, given in solvers.items():
            solver, own = given if isinstance(given, tuple) else (given, problem)
            if isinstance(solver, str):
                solver = named_solver(solver)
            if not is_solver(solver):
                msg = f"{name}: {solver!r} is no solver; give one of maxmargin.solvers"
                raise InputTypeError(msg)
            if not isinstance(own, Problem):
                msg = (
                    f"{name}: there is no problem to solve; give one for all, or "
                    "(solver, problem) here: SVC(...).problem(X, y) makes one"
                )
                raise InputTypeError(msg)
            if x == "seconds":  # loads or compiles the code
                drive(solver, own, observers=[TimeLimit(WARM_UP)])
            history = History((x, y))
            limit = [] if time_limit is None else [TimeLimit(time_limit)]
            outcomes[name] = drive(
                solver, own, observers=[history, *limit], name=name, growth=growth
            )
            histories[name] = history
        stops = {name: outcome.stop for name, outcome in outcomes.items()}
        display = cls.from_histories(histories, x=x, y=y, stops=stops, ax=ax)
        display.outcomes_ = outcomes
        return display

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where; None for a figure of its own.
        """
        self.figure_, self.ax_ = figure_and_axes(ax, figsize=(7.0, 4.8))
        logs = self._logarithmic()
        self.floor_ = self._floor() if logs[1] else None
        self.lines_: dict[str, Any] = {}
        self.ends_: dict[str, Any] = {}
        for k, (name, run) in enumerate(self.runs.items()):
            x, y = self._shown(run, *logs)
            (self.lines_[name],) = self.ax_.plot(
                x,
                y,
                color=cycled(COLOURS, k),
                linestyle=cycled(DASHES, k),
                # between two measurements nothing is known
                drawstyle="steps-post",
                marker=cycled(MARKERS, k),
                markersize=5,
                # shifted from line to line, so that lines that coincide are seen
                markevery=(0.03 * (k % 4), 0.12),
                label=name,
            )
            if run.converged is not None and x.size:
                marker, _ = ENDS[run.converged]
                (self.ends_[name],) = self.ax_.plot(
                    x[-1:],
                    y[-1:],
                    marker=marker,
                    markersize=13,
                    color=cycled(COLOURS, k),
                    markeredgecolor="white",
                    linestyle="none",
                    zorder=4,
                )
        for log, axis in zip(logs, ("x", "y"), strict=True):
            if log:
                self.ax_.set(**{f"{axis}scale": "log"})
        self.ax_.set(xlabel=WORK[self.x], ylabel=FIGURES[self.y])
        self.ax_.grid(visible=True, color=GREY, alpha=0.25, linewidth=0.6)
        self._explain()
        return self

    def _explain(self) -> None:
        handles, _ = self.ax_.get_legend_handles_labels()
        known = {run.converged for run in self.runs.values()}
        handles += [
            entry(words, marker=marker, markersize=10, color=GREY)
            for converged, (marker, words) in ENDS.items()
            if converged in known
        ]
        if self.floor_ is not None:
            floor = self.ax_.axhline(self.floor_, color=GREY, linewidth=0.8)
            floor.set_label("0, drawn at this floor")
            handles.append(floor)
        legend(self.ax_, handles=handles)

    # --- logarithmic axes -----------------------------------------------------------

    def _logarithmic(self) -> tuple[bool, bool]:
        """Return whether the x and the y axis are logarithmic."""
        x = np.concatenate([run.x[np.isfinite(run.y)] for run in self.runs.values()])
        y = self._finite()
        positive = bool((y > 0.0).all()) and y.size > 0
        distance = self.y in DISTANCES and bool((y > 0.0).any())
        wide = positive and float(y.max()) > WIDE * float(y.min())
        return bool(x.size and (x > 0.0).any()), distance or wide

    def _finite(self) -> Vector:
        """Return the finite measures of all runs."""
        y: Vector = np.concatenate([run.y for run in self.runs.values()])
        return np.extract(np.isfinite(y), y)

    def _floor(self) -> float | None:
        """Return a decade below the smallest positive value, if any is not positive."""
        y = self._finite()
        if (y > 0.0).all():
            return None
        return float(10.0 ** np.floor(np.log10(y[y > 0.0].min()) - 1.0))

    def _shown(self, run: _Run, log_x: bool, log_y: bool) -> tuple[Vector, Vector]:
        """Return the points of a run that the axes can show."""
        x, y = run.x, run.y
        keep = np.isfinite(x) & np.isfinite(y)
        if log_x:
            keep &= x > 0.0
        if log_y and self.floor_ is not None:
            y = np.maximum(y, self.floor_)
        return x[keep], y[keep]


def _check_names(x: str, y: str) -> None:
    for given, name, allowed in ((x, "x", WORK), (y, "y", FIGURES)):
        if given not in allowed:
            msg = f"{name}={given!r}: it can be {', '.join(allowed)}"
            raise InputError(msg)


def _columns(name: str, history: Any) -> dict[str, Mapping[str, Any]]:
    """Return lists by key, for each problem of a history."""
    if isinstance(history, History):
        parts = history.to_dict()
        if not parts:
            msg = f"{name}: the History is empty; hand it to a fit as a callback first"
            raise InputError(msg)
        if len(parts) == 1:
            return {name: next(iter(parts.values()))}
        return {f"{name}, {part}": columns for part, columns in parts.items()}
    if isinstance(history, Mapping):
        return {name: history}
    msg = (
        f"{name}: {type(history).__name__} is no record of a run; give a "
        "maxmargin.observers.History, or a dict of lists"
    )
    raise InputTypeError(msg)


def _column(name: str, columns: Mapping[str, Any], key: str) -> Vector:
    """Return one list; the gaps follow from primal and dual where they are missing."""
    if key in columns:
        return np.asarray(columns[key], dtype=np.float64)
    if key in ("gap", "relative_gap") and {"primal", "dual"} <= set(columns):
        both = zip(columns["primal"], columns["dual"], strict=True)
        gaps = [getattr(Objective(float(p), float(d)), key) for p, d in both]
        return np.asarray(gaps, dtype=np.float64)
    msg = f"{name}: {key!r} was not recorded, only {', '.join(columns)}"
    raise InputError(msg)
