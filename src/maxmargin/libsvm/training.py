"""Training with the options of ``svm-train``, and LIBSVM's report of it.

LIBSVM prints, for every binary problem, the value of the dual it minimises (minus ours),
ρ, the support vectors and those at a bound, and ν = Σα/(C·l) of a C-SVC or ε-SVR, C = 1/ρ
of the margin of a ν-SVC, ε of a ν-SVR. All of them come from the fitted machine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.errors import Stop
from maxmargin.estimators import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.libsvm.folds import UnseededRand, folds_of, labels_in_order
from maxmargin.libsvm.prediction import decisions, predict
from maxmargin.libsvm.problem import (
    WIDE,
    Rows,
    labels_of,
    narrowed,
    serials_of,
    suited,
)
from maxmargin.observers import Watcher
from maxmargin.persist.libsvm_model import (
    MARKS,
    LibsvmModel,
    from_estimator,
    pairs,
    widened,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.libsvm.options import TrainOptions
    from maxmargin.solvers.base import Snapshot

_LEAST_CACHE = 0.001  # MB; LIBSVM, too, keeps two rows even if -m is smaller
_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped work that is of no use in part."""


class _Ending(Watcher):
    """Remembers whether Ctrl-C ended any run of a fit, including its folds."""

    def __init__(self) -> None:
        self.interrupted = False

    def on_step(self, snapshot: Snapshot) -> Stop | None:  # noqa: ARG002
        return None

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:  # noqa: ARG002
        self.interrupted |= stop is Stop.INTERRUPTED


class Trained(NamedTuple):
    """A model, LIBSVM's report about it, and whether Ctrl-C cut it short."""

    model: LibsvmModel
    report: str
    interrupted: bool


def train(rows: Rows, y: Vector, options: TrainOptions) -> Trained:
    """Train one model.

    Parameters
    ----------
    rows : Rows
        Training rows.
    y : ndarray of shape (n,)
        Labels (whole numbers) of a classification, or numbers.
    options : TrainOptions
        The machine.

    Returns
    -------
    Trained
        Its labels have the order of first appearance.
    """
    X, serial, columns = rows.X, None, None
    if options.precomputed:
        serial = serials_of(rows)
        X = np.ascontiguousarray(X[:, serial - 1])
    elif sparse.issparse(X) and X.shape[1] > WIDE:
        columns, (X,) = narrowed(X)
    estimator, ending = _estimator(options, rows.max_index, y), _Ending()
    estimator.set_params(callbacks=[ending])
    targets = labels_of(y) if options.classifies else y
    estimator.fit(suited(X), targets)
    labels = labels_in_order(labels_of(y)) if options.classifies else None
    model = from_estimator(estimator, labels=labels)
    if serial is not None and model.serial is not None:
        model = replace(model, serial=serial[model.serial - 1])
    if columns is not None:
        all_columns = widened(model.SV, rows.X.shape[1], columns[model.SV.indices])
        model = replace(model, SV=all_columns)
    stopped = ending.interrupted
    if options.probability and not options.classifies and not stopped:
        try:
            model = _with_probabilities(model, rows, y, options)
        except Interrupted:  # the model stands, without them
            stopped = True
    report = _report(estimator, model, targets, options)
    return Trained(model, report, stopped)


def _estimator(options: TrainOptions, max_index: int, y: Vector) -> Any:
    """The machine of ``-s``, with LIBSVM's parameters."""
    gamma = options.gamma
    if gamma == 0.0 and max_index > 0:
        gamma = 1.0 / max_index
    common: dict[str, Any] = {
        "kernel": _KERNELS[options.kernel_type],
        "degree": options.degree,
        "gamma": gamma,
        "coef0": options.coef0,
        "cache_size": max(options.cache_size, _LEAST_CACHE),
        "tol": options.eps,
        "shrinking": bool(options.shrinking),
    }
    if options.classifies:
        common |= {"probability": bool(options.probability), "random_state": 0}
    if options.svm_type == 0:
        known = set(labels_of(y).tolist())
        weights = {label: w for label, w in options.weights.items() if label in known}
        return SVC(C=options.C, class_weight=weights or None, **common)
    if options.svm_type == 1:
        return NuSVC(nu=options.nu, **common)
    if options.svm_type == 2:
        return OneClassSVM(nu=options.nu, **common)
    if options.svm_type == 3:
        return SVR(C=options.C, epsilon=options.p, **common)
    return NuSVR(C=options.C, nu=options.nu, **common)


# --- the report -----------------------------------------------------------------------


def _report(
    estimator: Any, model: LibsvmModel, targets: NDArray[Any], options: TrainOptions
) -> str:
    """LIBSVM's lines about every binary problem, in its order."""
    lines: list[str] = []
    certificate = estimator.certificate_
    every = certificate.problems or (certificate,)
    iterations = np.atleast_1d(estimator.n_iter_).tolist()
    label = model.label
    order = [0] if label is None else np.argsort(np.argsort(label)).tolist()
    place = {pair: at for at, pair in enumerate(pairs(len(order)))}
    for number, rho in enumerate(model.rho.tolist()):
        at, rows, mass = 0, targets.size, float(np.abs(model.sv_coef).sum())
        if label is not None:
            a, b = pairs(model.nr_class)[number]
            at = place[min(order[a], order[b]), max(order[a], order[b])]
            rows = int(np.isin(targets, label[[a, b]]).sum())
            mass = _mass(model, a, b)
        one = every[at]
        value = -one.dual
        lines += ["*", f"optimization finished, #iter = {iterations[at]}"]
        if options.svm_type == 0:
            first, second = _prices(options, label, number)
            if first == second:  # otherwise ν has no meaning, and LIBSVM is silent
                lines.append(f"nu = {mass / (first * rows):.6f}")
        elif options.svm_type == 1:
            # Σα = νl before the division by the margin, 1/C, which tells the margin.
            price = mass / (options.nu * rows)
            lines.append(f"C = {price:.6f}")
            value *= price  # twice: the square may be beyond float64
            value *= price
        elif options.svm_type == 3:
            lines.append(f"nu = {mass / (options.C * rows):.6f}")
        elif options.svm_type == 4:
            lines.append(f"epsilon = {estimator.epsilon_:.6f}")
        lines.append(f"obj = {value:.6f}, rho = {rho:.6f}")
        lines.append(f"nSV = {one.n_support}, nBSV = {one.n_bound}")
    if options.classifies:
        lines.append(f"Total nSV = {model.total_sv}")
    return "\n".join([*lines, ""])


def _mass(model: LibsvmModel, a: int, b: int) -> float:
    """Σ|α| of the pair (a, b) of labels."""
    assert model.nr_sv is not None
    bounds = [0, *np.cumsum(model.nr_sv).tolist()]
    first = model.sv_coef[b - 1, bounds[a] : bounds[a + 1]]
    second = model.sv_coef[a, bounds[b] : bounds[b + 1]]
    return float(np.abs(first).sum() + np.abs(second).sum())


def _prices(options: TrainOptions, label: Any, number: int) -> list[float]:
    """C of the two labels of a pair."""
    a, b = pairs(len(label))[number]
    return [options.C * options.weights.get(int(label[one]), 1.0) for one in (a, b)]


# --- cross-validation and its uses ----------------------------------------------------


def cross_validation(
    rows: Rows,
    y: Vector,
    options: TrainOptions,
    n_folds: int,
) -> Vector:
    """Predictions of every row by a machine that has not seen it, in LIBSVM's folds.

    Parameters
    ----------
    rows, y, options
        As for :func:`train`.
    n_folds : int
        How many.
    """
    found = np.empty(y.size)
    classes = labels_of(y) if options.classifies else None
    for rest, held in folds_of(y.size, n_folds, classes, UnseededRand()):
        if classes is not None and np.unique(classes[rest]).size == 1:
            found[held] = y[rest[0]]  # nothing to tell apart: always the one label
            continue
        trained = train(_some(rows, rest), y[rest], options)
        if trained.interrupted:
            raise Interrupted
        likely = bool(options.probability) and options.classifies
        found[held] = predict(trained.model, _some(rows, held), probability=likely).labels
    return found


def _some(rows: Rows, which: NDArray[np.intp]) -> Rows:
    serial = None if rows.serial is None else rows.serial[which]
    return rows._replace(X=rows.X[which], serial=serial)


def _with_probabilities(
    model: LibsvmModel, rows: Rows, y: Vector, options: TrainOptions
) -> LibsvmModel:
    """The marks of a one-class machine, or the scale of a regression's errors."""
    if options.regresses:
        plain = replace(options, probability=0)
        error = np.abs(y - cross_validation(rows, y, plain, 5))
        # Errors beyond five standard deviations, √2·σ each, are left out (C.-J. Lin and
        # R. C. Weng, "Simple probabilistic predictions for support vector regression",
        # 2004).
        usual = error <= 5.0 * np.sqrt(2.0) * error.mean()
        return replace(model, probA=np.array([error[usual].mean()]))
    marks = _density_marks(np.sort(decisions(model, rows)[:, 0]))
    return model if marks is None else replace(model, prob_density_marks=marks)


def _density_marks(values: Vector) -> Vector | None:
    """Ten marks between fifths of the negative and of the positive decisions.

    ``values`` ascend. None where either side has less than five (Que and Lin 2022).
    """
    half = MARKS // 2
    negative = int(np.searchsorted(values, 0.0))
    positive = values.size - negative
    if min(negative, positive) < half:
        return None
    below = [values[one * negative // half] for one in range(half)]
    above = [values[negative - 1 + one * positive // half] for one in range(1, half + 1)]
    edges = np.array([*below, 0.0, *above])
    marks: Vector = (edges[:-1] + edges[1:]) / 2.0
    return marks
