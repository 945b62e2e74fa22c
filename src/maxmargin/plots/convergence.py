r"""How runs converge: one figure of a solver against the work it took.

By default the relative duality gap

.. math:: \frac{P(w, b) - D(\alpha)}{\max(|P|, |D|)}

against kernel values computed, which is what solvers pay for on large problems, counted
from the beginning of each run. Both axes are logarithmic where what they show is
positive; what a logarithm cannot show is left out (infinite gaps, work 0), but a gap of 0
or less, which is rounding, is drawn at a floor a decade below the smallest positive one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import InputError, InputTypeError, Stop, load_extra
from maxmargin.estimators.kernel.fit.solver_choice import is_solver, named_solver
from maxmargin.observers import History, TimeLimit
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
DISTANCES = ("relative_gap", "gap", "violation")  # 0 is their goal
ENDS = {True: ("*", "converged"), False: ("X", "stopped early")}
WARM_UP = 1.0  # seconds
WIDE = 30.0  # an objective that stays within this factor is shown on a plain axis


class _Run(NamedTuple):
    """One line: work, figure, and whether it ended by converging (None: not known)."""

    x: Vector
    y: Vector
    converged: bool | None


class ConvergenceDisplay:
    """Picture of one or several runs.

    :meth:`from_solvers` runs solvers, :meth:`from_histories` takes what was recorded.

    Parameters
    ----------
    runs : mapping from str to (x, y, converged)
        Work and figure of every run, arrays of equal length, and whether it ended by
        converging; None where that is not known.
    x, y : str
        What they are: see :meth:`from_histories`.

    Attributes
    ----------
    figure_, ax_ : Figure, Axes
        Where it was drawn.
    lines_ : dict of Line2D
        The line of every run.
    ends_ : dict of Line2D
        The mark at the end of every run of which the end is known.
    floor_ : float or None
        Where figures of 0 or less were drawn.
    outcomes_ : dict of Outcome
        Of :meth:`from_solvers`: how every run ended.
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
        """Draw what was recorded.

        Parameters
        ----------
        histories : mapping from str to History or mapping from str to list
            Runs by name: a :class:`~maxmargin.observers.History` (one line for each of
            its problems), or lists by the same keys.
        x : {'n_kernel', 'n_iter', 'seconds'}, default='n_kernel'
            Work. Kernel values are counted from the first entry on: solvers that share
            a problem share its counter.
        y : {'relative_gap', 'gap', 'violation', 'primal', 'dual', 'n_support'}
            Figure; the gaps follow from primal and dual where they were not recorded.
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
        """Run solvers, one after the other, and draw how they came along.

        Figures are taken when a solver is looked at: after units of work whose number
        grows by the factor ``growth`` at first, and every 50 ms later. Seconds include
        that looking; for their sake every solver runs before, for a second at most.

        Parameters
        ----------
        solvers : mapping from str to Solver, its name, or (Solver, Problem)
            Who runs, by a name for the legend: a solver, or what ``SVC(solver=...)``
            takes; with a problem of its own, or else ``problem``.
        problem : Problem or None
            What to solve; ``SVC(...).problem(X, y)`` makes one.
        x, y : str
            As for :meth:`from_histories`.
        time_limit : float or None
            Seconds after which a solver is stopped; each has as many.
        growth : float, default=2.0
            Units of work between two looks grow by this factor; 1.2 shows more.
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
            if x == "seconds":  # once before: code is loaded, or compiled
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
                # between two looks nothing is known to have changed
                drawstyle="steps-post",
                marker=cycled(MARKERS, k),
                markersize=5,
                # apart on the page, and shifted so that lines that coincide are seen
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
        from matplotlib.lines import Line2D

        handles, labels = self.ax_.get_legend_handles_labels()
        known = {run.converged for run in self.runs.values()}
        for converged, (marker, words) in ENDS.items():
            if converged in known:
                look = {"marker": marker, "markersize": 10, "color": GREY}
                handles.append(Line2D([], [], linestyle="none", **look))  # type: ignore[arg-type]
                labels.append(words)
        if self.floor_ is not None:
            handles.append(self.ax_.axhline(self.floor_, color=GREY, linewidth=0.8))
            labels.append("0, drawn at this floor")
        legend(self.ax_, handles=handles, labels=labels)

    # --- what an axis can show ------------------------------------------------------

    def _logarithmic(self) -> tuple[bool, bool]:
        x = np.concatenate([run.x[np.isfinite(run.y)] for run in self.runs.values()])
        y = np.concatenate([run.y for run in self.runs.values()])
        y = y[np.isfinite(y)]
        positive = bool((y > 0.0).all()) and y.size > 0
        distance = self.y in DISTANCES and bool((y > 0.0).any())
        wide = positive and float(y.max()) > WIDE * float(y.min())
        return bool(x.size and (x > 0.0).any()), distance or wide

    def _floor(self) -> float | None:
        """A decade below the smallest positive figure, if any is not positive."""
        y = np.concatenate([run.y for run in self.runs.values()])
        y = y[np.isfinite(y)]
        if (y > 0.0).all():
            return None
        return float(10.0 ** np.floor(np.log10(y[y > 0.0].min()) - 1.0))

    def _shown(self, run: _Run, log_x: bool, log_y: bool) -> tuple[Vector, Vector]:
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
    """Lists by key, for each problem of a history."""
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
    """One list, or for the gaps what follows from primal and dual."""
    if key in columns:
        return np.asarray(columns[key], dtype=np.float64)
    if key in ("gap", "relative_gap") and {"primal", "dual"} <= set(columns):
        both = zip(columns["primal"], columns["dual"], strict=True)
        gaps = [getattr(Objective(float(p), float(d)), key) for p, d in both]
        return np.asarray(gaps, dtype=np.float64)
    msg = f"{name}: {key!r} was not recorded, only {', '.join(columns)}"
    raise InputError(msg)
