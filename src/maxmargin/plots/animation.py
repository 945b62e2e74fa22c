r"""A film of a solver at work: the boundary after every step, and the step in words.

.. math:: f(x) = \sum_i \beta_i k(x_i, x) + b

is drawn for the β and b of every frame by :class:`~maxmargin.plots.BoundaryDisplay`.
Thick rings mark the points whose coefficients the step has changed, and the step's own
words stand below. A run of more steps than frames is shown at steps whose logarithms are
evenly spread, for most changes happen at the beginning.

Cost: the run itself, which pauses at each step that may be shown; grid_resolution² · n
kernel values; and some tenths of a second for each frame.
"""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from maxmargin.errors import InputError, InputTypeError, load_extra
from maxmargin.estimators.kernel.fit.solver_choice import chosen_solver, is_solver
from maxmargin.estimators.kernel.svc import SVC
from maxmargin.estimators.parameters import effective_gamma, kernel_of
from maxmargin.kernels.factory import expansion
from maxmargin.parallel import Workers
from maxmargin.plots.boundary import BoundaryDisplay, shade_top
from maxmargin.plots.canvas.plane import as_table, choose_plane, grid_of, names_of
from maxmargin.plots.film import checked_path, write_film
from maxmargin.plots.stage import Frame, Stage
from maxmargin.solvers.base import Snapshot, Status
from maxmargin.validation import is_precomputed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from maxmargin._arrays import Table
    from maxmargin.problem import Problem
    from maxmargin.solvers.base import Solver

GROWTH = 1.05  # policy: after max_frames steps, factor from one recorded step to the next


def animate(
    solver: Any,
    X: Any,
    y: Any,
    path: Any,
    *,
    machine: SVC | None = None,
    every: int = 1,
    max_frames: int = 60,
    fps: float = 4.0,
    grid_resolution: int = 100,
    verbose: bool = False,
    **parameters: Any,
) -> Path:
    """Write a film of a solver at work, as a GIF or a page of HTML.

    Parameters
    ----------
    solver : Solver or str
        One of :mod:`maxmargin.solvers`, or a name for ``SVC(solver=...)``.
    X : array-like of shape (n_samples, 2)
        Points of the plane.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    path : str or Path
        The file to write: ``.gif``, or ``.html`` for a page with a slider that needs no
        other file.
    machine : SVC or None
        The machine whose problem is solved; it is not fitted. None for ``SVC()``.
    every : int, default=1
        Units of the solver's work between two frames.
    max_frames : int, default=60
        Frames at most. A longer run is shown step by step at its beginning and then in
        ever longer strides; its start and its end are always shown.
    fps : float, default=4.0
        Frames a second.
    grid_resolution : int, default=100
        Points of the grid along either axis.
    verbose : bool, default=False
        Whether to count the drawn frames on stderr: 60 take ten or twenty seconds.
    **parameters
        Parameters of the machine: ``C=1.0``, ``kernel="linear"``, …

    Returns
    -------
    Path
        The file written.
    """
    load_extra("matplotlib", extra="plot", purpose="an animation")  # before the run
    where = checked_path(path)
    _check_numbers(every=every, max_frames=max_frames, fps=fps)
    table = as_table(X)
    if not isinstance(table, np.ndarray) or table.shape[1] != 2:
        msg = f"X has shape {table.shape}: a film is drawn of two features, in an array"
        raise InputError(msg)
    rows = np.ascontiguousarray(table)
    chosen = _machine(machine, solver, parameters)
    classes = np.unique(np.asarray(y))
    if classes.size != 2:
        msg = f"y has {classes.size} classes: a film is drawn of two"
        raise InputError(msg)
    problem = chosen.problem(rows, y)
    memory = int(chosen.cache_size * (1 << 20))
    runner = chosen_solver(chosen, memory) if isinstance(solver, str) else solver
    recorded = list(_record(runner, problem, int(every), int(max_frames)))
    frames = _spread(recorded, int(max_frames))
    plane = choose_plane(rows, None, names=names_of(chosen, X, 2))
    xx0, xx1, grid = grid_of(rows, grid_resolution)
    values = _decisions(chosen, rows, grid, frames)
    display = BoundaryDisplay(
        xx0=xx0,
        xx1=xx1,
        response=values[:, -1].reshape(xx0.shape),
        points=rows,
        labels=np.asarray(y),
        classes=classes,
        top=shade_top(values[:, -1]),
        axis_labels=plane.labels,
    )
    stage = Stage(type(runner).__name__, display, problem, frames)
    pictures = []
    for k, frame in enumerate(frames):
        if verbose:
            sys.stderr.write(f"\rframe {k + 1} of {len(frames)}")
        pictures.append(stage.picture(frame, values[:, k].reshape(xx0.shape)))
    if verbose:
        sys.stderr.write("\n")
    words = [f"{frame.n_iter}: {frame.step.words}" for frame in frames]
    write_film(where, pictures, words, fps=float(fps), title=f"{stage.name} at work")
    return where


# --- the run ------------------------------------------------------------------------


def _record(
    solver: Solver, problem: Problem, every: int, max_frames: int
) -> Iterator[Frame]:
    """Yield the start, the first steps, then frames ever further apart, and the end."""
    state = solver.start(problem)
    status = Status.RUNNING
    units = 0
    last = _frame(solver, problem, state, status, units)
    while status is Status.RUNNING:
        stride = 1 if units < max_frames else math.ceil((GROWTH - 1.0) * units)
        status = solver.advance(problem, state, stride * every)
        units += stride
        now = _frame(solver, problem, state, status, units)
        if not now.repeats(last):
            yield last
        last = now
    yield last


def _frame(
    solver: Solver, problem: Problem, state: Any, status: Status, units: int
) -> Frame:
    snapshot = Snapshot(solver, problem, state, status, 0.0)
    model = snapshot.model
    scores = model.gradient - problem.ridge * model.beta - problem.p + model.bias
    return Frame(
        units=units,
        n_iter=snapshot.n_iter,
        beta=model.beta.copy(),
        bias=float(model.bias),
        scores=scores,
        step=snapshot.step,
        measures=problem.measures(model),
        status=status,
    )


def _spread(frames: list[Frame], max_frames: int) -> list[Frame]:
    """Keep the first, the last, and frames whose logarithms are evenly spread."""
    if len(frames) <= max_frames:
        return frames
    units = np.array([frame.units for frame in frames], dtype=np.float64)
    first, final = max(1.0, float(units[1])), float(units[-1])
    wanted = [first][: max_frames - 2]
    while wanted and len(wanted) < max_frames - 1:
        left = max_frames - 1 - len(wanted)
        even = wanted[-1] * (final / wanted[-1]) ** (1 / left)
        wanted.append(max(wanted[-1] + 1.0, even))  # frames are a unit apart at least
    nearest = {int(np.abs(units - one).argmin()) for one in wanted}
    return [frames[k] for k in sorted({0, *nearest, len(frames) - 1})]


def _decisions(machine: SVC, rows: Table, grid: Table, frames: list[Frame]) -> Table:
    """Return decision values on the grid, a column for every frame.

    One product for all frames computes every kernel value once.
    """
    kernel = kernel_of(machine, effective_gamma(machine, rows))
    coef = np.array([frame.beta for frame in frames])
    bias = np.array([frame.bias for frame in frames])
    with Workers(machine.n_jobs) as workers:
        values: Table = expansion(kernel, grid, rows, coef, workers=workers)
    values += bias
    return values


# --- checks -------------------------------------------------------------------------


def _machine(machine: SVC | None, solver: Any, parameters: dict[str, Any]) -> SVC:
    """Return a copy of the machine with these parameters, or refuse it."""
    chosen: SVC = SVC() if machine is None else machine
    if not isinstance(chosen, SVC):
        msg = (
            f"machine is {type(machine).__name__}: a film is drawn of an SVC, such as "
            "SVC(C=1.0, kernel='rbf', gamma=0.5)"
        )
        raise InputTypeError(msg)
    unknown = sorted(set(parameters) - set(chosen.get_params()))
    if unknown:
        msg = f"{', '.join(unknown)}: neither an option of animate nor one of SVC"
        raise InputError(msg)
    if not isinstance(solver, str) and not is_solver(solver):
        msg = (
            f"solver is {type(solver).__name__}: give one of maxmargin.solvers, or a "
            "name such as 'smo-platt'; an SVC goes to machine="
        )
        raise InputTypeError(msg)
    named = {"solver": solver} if isinstance(solver, str) else {}
    chosen = clone(chosen)
    chosen.set_params(**parameters, **named)
    if chosen.multi_class == "crammer_singer" or is_precomputed(chosen.kernel):
        msg = (
            "a film needs one decision function of the plane: it cannot be drawn with "
            "multi_class='crammer_singer' or kernel='precomputed'"
        )
        raise InputError(msg)
    return chosen


def _check_numbers(*, every: Any, max_frames: Any, fps: Any) -> None:
    for name, value, least in (("every", every, 1), ("max_frames", max_frames, 2)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            msg = f"{name}={value!r}: give an integer of at least {least}"
            raise InputError(msg)
    if not isinstance(fps, Real) or not 0.0 < float(fps) <= 100.0:
        msg = f"fps={fps!r}: give frames a second, more than 0 and at most 100"
        raise InputError(msg)
