"""What happens between checked arrays and fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from maxmargin._callback_bridge import FIT_IS_WRAPPED
from maxmargin._interrupt import Interrupt
from maxmargin.errors import ConvergenceWarning, InputError, Stop
from maxmargin.estimators.definiteness import warn_if_indefinite
from maxmargin.estimators.multiclass import Plan, pair_betas, solve
from maxmargin.estimators.prediction import checked_model, kernel_of
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.store import PairGrams, binary_gram
from maxmargin.observers import Locked, Progress, TimeLimit, as_observer
from maxmargin.parallel import Workers
from maxmargin.solvers.pegasos import Pegasos
from maxmargin.solvers.working_set import WorkingSetSmo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin.estimators.multiclass import Duals, Pair, Solved
    from maxmargin.estimators.prediction import Fitted
    from maxmargin.solvers.base import Observer

    Vector = NDArray[np.float64]
    Index = NDArray[np.intp]

__all__ = [
    "Earlier",
    "Task",
    "fitted_attributes",
    "model_to_go_on_from",
    "solve_all",
    "warm_betas",
    "warn_if_early",
]

# warn → warn_if_early → fit → (the decorator with_callbacks →) the caller
CALLER = 4 if FIT_IS_WRAPPED else 3

ADVICE = {
    Stop.MAX_ITER: "raise max_iter, scale the features, or go on from here with "
    "warm_start=True",
    Stop.TIME_LIMIT: "raise time_limit, or go on from here with warm_start=True",
    Stop.INTERRUPTED: "go on from here with warm_start=True",
    Stop.STALLED: "scale the features, lower C, or raise tol",
}
SLOW_ADVICE = dict.fromkeys(ADVICE, "raise max_iter or tol, or use solver='smo'")


class Task(NamedTuple):
    """What a fit was given, checked."""

    rows: Any  # X
    precomputed: bool  # whether X is the kernel matrix
    gamma: float
    classes: NDArray[Any]
    class_weight: Vector
    codes: Index  # class of every row; −1: left out
    price: Vector  # C · class weight · sample weight of every row
    pairs: list[Pair]


class Earlier(NamedTuple):
    """The fitted model that ``warm_start`` goes on from."""

    shape: tuple[int, ...]
    classes: NDArray[Any]
    support: Index
    model: Fitted


def solve_all(
    estimator: Any,
    task: Task,
    warm: Sequence[Vector] | None,
    bridges: Sequence[Observer],
) -> tuple[list[Solved], int]:
    """Solve every pair; also the number of kernel values computed in all."""
    count = len(task.pairs)
    kernel = kernel_of(estimator, task.gamma)
    observers = [*_observers(estimator, count), *bridges]
    cache_bytes = int(estimator.cache_size * (1 << 20))
    with Interrupt() as interrupt, Workers(estimator.n_jobs) as workers:
        gram = training_gram(kernel, task.rows, workers=workers)
        floating = task.rows.dtype.kind == "f"
        warn_if_indefinite(
            estimator.kernel,
            gram,
            coef0=float(estimator.coef0),
            eps=float(np.finfo(task.rows.dtype).eps) if floating else 0.0,
            stacklevel=CALLER + 1,
        )
        watching = [interrupt, *observers]
        if count == 1:
            one = _solve_one(estimator, task, gram, cache_bytes, watching, warm)
            return [one], one.n_kernel
        return _solve_pairs(estimator, task, gram, cache_bytes, watching, warm, workers)


def _solve_one(
    estimator: Any,
    task: Task,
    gram: Any,
    cache_bytes: int,
    observers: Sequence[Observer],
    warm: Sequence[Vector] | None,
) -> Solved:
    """Two classes: one problem, which has all threads and all memory."""
    index = np.flatnonzero(task.codes >= 0)
    part = gram if index.size == task.codes.size else gram.narrowed(index)
    part, left = binary_gram(part, cache_bytes)
    return solve(
        task.pairs[0],
        index,
        part,
        task.codes,
        task.price,
        _plan(estimator, left),
        observers=observers,
        warm=None if warm is None else warm[0],
    )


def _solve_pairs(
    estimator: Any,
    task: Task,
    gram: Any,
    cache_bytes: int,
    observers: Sequence[Observer],
    warm: Sequence[Vector] | None,
    workers: Workers,
) -> tuple[list[Solved], int]:
    """More classes: every pair is a problem, several at a time, one thread each."""
    classes = range(len(task.classes))
    members = [np.flatnonzero(task.codes == k) for k in classes]
    grams = PairGrams(gram, members, cache_bytes, workers)
    plan = _plan(estimator, grams.share)

    def one(number: int) -> Solved:
        pair = task.pairs[number]
        index, part = grams.pair(pair.first, pair.second)
        return solve(
            pair,
            index,
            part,
            task.codes,
            task.price,
            plan,
            observers=observers,
            warm=None if warm is None else warm[number],
        )

    with Workers(min(workers.count, grams.at_once)) as outside:
        solved = outside.map(one, range(len(task.pairs)))
    return solved, grams.n_kernel + sum(one.n_kernel for one in solved)


def _plan(estimator: Any, cache_bytes: int) -> Plan:
    """How every problem of this fit is solved, with so much memory for kernel values."""
    return Plan(
        solver=_solver(estimator, cache_bytes),
        squared=estimator.loss == "squared_hinge",
        fit_intercept=bool(estimator.fit_intercept),
    )


def _solver(estimator: Any, cache_bytes: int) -> Any:
    """The solver a user named."""
    tol, limit = float(estimator.tol), int(estimator.max_iter)
    if estimator.solver == "pegasos":
        seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
        return Pegasos(tol=tol, max_iter=limit, cache_bytes=cache_bytes, seed=seed)
    return WorkingSetSmo(
        tol=tol,
        max_iter=limit,
        cache_bytes=cache_bytes,
        shrinking=bool(estimator.shrinking),
    )


def _observers(estimator: Any, problems: int) -> list[Observer]:
    observers: list[Observer] = []
    if estimator.time_limit is not None:
        observers.append(TimeLimit(float(estimator.time_limit)))
    if estimator.verbose:
        observers.append(Progress(tol=float(estimator.tol), total=problems))
    given = estimator.callbacks
    if given is None:
        given = ()
    elif not isinstance(given, Iterable):
        given = (given,)
    # Pairs run in threads; nobody's callback should have to know.
    return [*observers, *(Locked(as_observer(thing)) for thing in given)]


def fitted_attributes(task: Task, duals: Duals) -> dict[str, Any]:
    """What makes a fitted machine, and is enough to predict."""
    rows, dual_coef = task.rows, duals.dual_coef
    vectors = (
        np.empty((0, 0), dtype=rows.dtype) if task.precomputed else rows[duals.support]
    )
    return {
        "support_": duals.support.astype(np.int32),
        "support_vectors_": vectors,
        "n_support_": duals.n_support,
        "dual_coef_": (
            _full_csr(dual_coef, type(rows)) if sparse.issparse(rows) else dual_coef
        ),
        "intercept_": duals.intercept,
        "classes_": task.classes,
        "class_weight_": task.class_weight,
        "shape_fit_": rows.shape,
        "gamma_": task.gamma,
    }


def _full_csr(dense: Vector, kind: Any) -> Any:
    """Every entry stored, zeros too, as scikit-learn lays dual_coef_ out."""
    lines, width = dense.shape
    indices = np.tile(np.arange(width, dtype=np.int32), lines)
    indptr = np.arange(lines + 1, dtype=np.int32) * width
    return kind((dense.ravel(), indices, indptr), shape=dense.shape)


# --- going on -----------------------------------------------------------------------


def model_to_go_on_from(estimator: Any) -> Earlier | None:
    """Take what warm_start needs, before validation changes anything."""
    if not (estimator.warm_start and hasattr(estimator, "dual_coef_")):
        return None
    model = checked_model(estimator)
    support = np.asarray(estimator.support_, dtype=np.intp)
    return Earlier(estimator.shape_fit_, estimator.classes_, support, model)


def warm_betas(before: Earlier, task: Task) -> list[Vector]:
    """β of every pair in the earlier model, whose rows must be these rows."""
    support, model = before.support, before.model
    owner = np.repeat(np.arange(model.k), np.diff(model.bounds))
    same = before.shape == task.rows.shape and np.array_equal(
        before.classes, task.classes
    )
    if same:
        now = task.codes[support]
        same = bool(((now == owner) | (now == -1)).all())
    if same and not task.precomputed:
        same = _same_rows(task.rows[support], model.vectors)
    if not same:
        msg = (
            "warm_start=True goes on from the model of the fit before, so X and y must "
            f"be its X and y: it was fitted on shape {before.shape} with classes "
            f"{list(before.classes)}, and this X has shape {task.rows.shape}, classes "
            f"{list(task.classes)} or other rows; set warm_start=False to start anew"
        )
        raise InputError(msg)
    n = task.rows.shape[0]
    return [pair_betas(pair, n, support, owner, model.dual_coef) for pair in task.pairs]


def _same_rows(rows: Any, vectors: Any) -> bool:
    """Whether two blocks of rows are equal, dense or sparse."""
    if rows.shape != vectors.shape:
        return False
    if sparse.issparse(rows) or sparse.issparse(vectors):
        kind = type(rows) if sparse.issparse(rows) else type(vectors)
        return bool((kind(rows) != kind(vectors)).nnz == 0)
    return bool(np.array_equal(rows, vectors))


def warn_if_early(estimator: Any, solved: Sequence[Solved]) -> None:
    """Say how far from its tolerance the solver stopped; callbacks know why they did."""
    advice = ADVICE if estimator.solver == "smo" else SLOW_ADVICE
    early = [one for one in solved if one.stop in ADVICE]
    if not early:
        return
    worst = max(early, key=lambda one: one.certificate.violation)
    if worst.stop in (Stop.MAX_ITER, Stop.STALLED) and np.isinf(worst.certificate.primal):
        msg = (
            f"C=inf: no plane separating {worst.pair.name} was found in {worst.n_iter:,} "
            "iterations: the classes overlap, or are too close for features of such "
            "different sizes; use a finite C, or scale the features"
        )
        raise InputError(msg)
    limit = (
        f"Solver terminated early (max_iter={worst.n_iter}).  Consider "
        "pre-processing your data with StandardScaler or MinMaxScaler. "
        if worst.stop is Stop.MAX_ITER
        else ""
    )
    where = f" in {len(early)} of {len(solved)} problems" if len(solved) > 1 else ""
    warnings.warn(
        f"{limit}The solver {worst.stop.value}{where}: violation "
        f"{worst.certificate.violation:.3g}, relative gap "
        f"{worst.certificate.relative_gap:.3g}, tol {estimator.tol:g}. The model is "
        f"usable; to improve it, {advice[worst.stop]}.",
        ConvergenceWarning,
        stacklevel=CALLER,
    )
