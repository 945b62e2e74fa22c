r"""The tutorial's ``svmTrain``, its iterations, and random models.

.. math:: \max_\alpha \sum_i \alpha_i
          - \tfrac12 \sum_{ij} y_i y_j \alpha_i \alpha_j K(x_i, x_j), \qquad
          0 \le \alpha_i \le C, \quad \sum_i \alpha_i y_i = 0

Seed S3, "Learning phase", by :class:`~maxmargin.solvers.lectures.smo_simple.SimpleSmo`,
where the seed's b₂ is corrected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import ConvergenceWarning, InputError, Stop, warn
from maxmargin.estimators.kernel.fit.definiteness import warn_if_indefinite
from maxmargin.estimators.kernel.svc import SVC
from maxmargin.kernels.naming import as_kernel
from maxmargin.solvers.base import Snapshot, Status, drive
from maxmargin.solvers.lectures.smo_simple import SimpleSmo
from maxmargin.tutorial._checks import (
    checked_kernel,
    checked_positive,
    checked_seed,
    checked_whole,
    points,
    signs,
)
from maxmargin.tutorial.model import TutorialModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin._arrays import Matrix, Vector
    from maxmargin.problem import Model, Problem


class _Task(NamedTuple):
    """Checked arguments, with their problem and solver."""

    X: Matrix
    y: Vector
    C: float
    kernel: Any
    problem: Problem
    solver: SimpleSmo

    def tutorial_model(self, snapshot: Snapshot, model: Model) -> TutorialModel:
        """Return a solver's answer as the tutorial's model."""
        return TutorialModel(
            self.X,
            self.y,
            self.C,
            self.kernel,
            alphas=np.abs(model.beta),
            b=model.bias,
            n_iter=snapshot.n_iter,
            converged=snapshot.status is Status.CONVERGED,
            step=snapshot.step,
        )


def _task(
    X: Any, y: Any, C: Any, kernel: Any, tol: Any, max_iter: Any, seed: Any
) -> _Task:
    rows, labels, kernel = _checked(X, y, kernel)
    C, tol = checked_positive("C", C), checked_positive("tol", tol)
    meaning = "it counts sweeps over the data, and -1 means 10⁶"
    sweeps = checked_whole("max_iter", max_iter, -1, meaning)
    if sweeps == 0:
        msg = f"max_iter=0 leaves nothing to do: {meaning}"
        raise InputError(msg)
    solver = SimpleSmo(tol=tol, max_iter=sweeps, seed=checked_seed(seed))
    problem = SVC(C=C, kernel=kernel).problem(rows, labels)
    return _Task(rows, labels, C, kernel, problem, solver)


def _checked(X: Any, y: Any, kernel: Any) -> tuple[Matrix, Vector, Any]:
    rows = points(X)
    return rows, signs(y, rows.shape[0]), checked_kernel(kernel)


def svm_train(
    X: Any,
    y: Any,
    C: float,
    kernel: Any = "linear",
    tol: float = 1e-3,
    max_iter: int = -1,
    seed: int = 0,
) -> TutorialModel:
    """Train a machine by simplified SMO: the tutorial's ``svmTrain``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training examples, one a row.
    y : array-like of shape (n,) or (n, 1)
        Labels 0 and 1 (or −1 and 1).
    C : float
        Price of a margin error: α lies in [0, C].
    kernel : "linear", Kernel or callable
        A kernel object as ``maxmargin.kernels.RBF(sigma=0.1)``, ``Polynomial(degree=3)``
        or ``Sigmoid(a=1.0, r=0.0)``, a function compiled by ``@maxmargin.kernel``, or a
        function k(X, Z) that returns the matrix of values.
    tol : float
        Largest violation of the optimality conditions at the end.
    max_iter : int
        Sweeps over the data, at most; −1 leaves the limit to the solver.
    seed : int
        Seed of the random choice of α_j.

    Returns
    -------
    TutorialModel
        For :func:`~maxmargin.tutorial.svm_predict`.

    Warns
    -----
    ConvergenceWarning
        When the run ended before ``tol`` was reached; the model is usable.
    IndefiniteKernelWarning
        When the kernel is no dot product of features, as tanh for most parameters.
    """
    task = _task(X, y, C, kernel, tol, max_iter, seed)
    eps = float(np.finfo(np.float64).eps)
    kernel, gram = as_kernel(task.kernel), task.problem.gram
    if not kernel.is_semidefinite_by_construction:
        warn_if_indefinite(kernel, gram, named=task.kernel, eps=eps)
    outcome = drive(task.solver, task.problem)
    status = Status[outcome.stop.name]
    snapshot = Snapshot(task.solver, task.problem, outcome.state, status, outcome.seconds)
    if not outcome.stop.converged:
        more = outcome.stop is Stop.MAX_ITER
        warn(
            f"svm_train(C={task.C:g}, kernel={task.kernel!r}) {outcome.stop.value}, "
            f"after {snapshot.n_iter} sweeps: violation "
            f"{snapshot.measures.violation:.3g}, tol {task.solver.tol:g}. The model is "
            "usable; to improve it, "
            f"{'allow more sweeps (max_iter)' if more else 'try another seed'}, scale "
            "the features, or use maxmargin.SVC",
            ConvergenceWarning,
        )
    return task.tutorial_model(snapshot, outcome.model)


def iterations(
    X: Any,
    y: Any,
    C: float,
    kernel: Any = "linear",
    tol: float = 1e-3,
    max_iter: int = -1,
    seed: int = 0,
    every: int = 1,
) -> Iterator[TutorialModel]:
    """Yield the models of a run of :func:`svm_train`, one for every changed pair.

    The last one is the model that ``svm_train`` returns for the same arguments. There is
    no warning; its ``converged`` says whether the run converged.

    Parameters
    ----------
    X, y, C, kernel, tol, max_iter, seed :
        As for :func:`svm_train`.
    every : int
        Pairs from one model to the next.

    Yields
    ------
    TutorialModel
        ``step.points`` is the last changed pair, ``step.words`` gives the reason (its η
        is K_ii + K_jj − 2K_ij; the tutorial's has the opposite sign).
    """
    task = _task(X, y, C, kernel, tol, max_iter, seed)
    every = checked_whole("every", every, 1, "it counts pairs from model to model")
    # A generator of its own: the call, not the first model, refuses bad input.
    return _models(task, every)


def _models(task: _Task, every: int) -> Iterator[TutorialModel]:
    for snapshot in task.solver.steps(task.problem, every):
        yield task.tutorial_model(snapshot, snapshot.model)


def random_model(
    X: Any, y: Any, kernel: Any = "linear", *, C: float = 1.0, seed: int = 0
) -> TutorialModel:
    """Return a random initialisation: feasible multipliers, drawn at random.

    Exercise 2 of seed S3, section 3.1, "Run the predictions on random initializations of
    the models". In each class some points, drawn at random, get an α from [0, C]; the
    class with the larger sum is scaled down, so that Σαy = 0. The boundary passes halfway
    between two random points of different classes, so that pictures show it.

    Parameters
    ----------
    X, y, kernel :
        As for :func:`svm_train`.
    C : float
        Upper bound of every α.
    seed : int
        Seed of the random numbers.
    """
    rows, labels, kernel = _checked(X, y, kernel)
    C = checked_positive("C", C)
    random = np.random.default_rng(checked_seed(seed))
    alphas = np.zeros(labels.size)
    sums, ends = [], []
    for sign in (-1.0, 1.0):
        members = random.permutation(np.flatnonzero(labels == sign))
        # Few points as often as many: of all, w is about the difference of the means.
        some = members[: 1 + int(members.size * random.random() ** 2)]
        alphas[some] = C * (1.0 - random.random(some.size))  # in (0, C]
        sums.append(float(alphas[some].sum()))
        ends.append(rows[members[-1]])
    for sign, total in zip((-1.0, 1.0), sums, strict=True):
        alphas[labels == sign] *= min(sums) / total
    unshifted = TutorialModel(rows, labels, C, kernel, alphas, b=0.0)
    middle = 0.5 * (ends[0] + ends[1])
    b = -float(unshifted.decision(middle.reshape(1, -1))[0])
    return TutorialModel(rows, labels, C, kernel, alphas, b)
