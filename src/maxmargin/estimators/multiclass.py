"""One machine for every two classes: which, how they are solved, what they add up to.

Conventions are LIBSVM's. Classes i < j meet once, in the order (0, 1), (0, 2), …,
(1, 2), …; the decision of the pair is positive for class i. With two classes in all it
is positive for class 1, as in every binary classifier of scikit-learn.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificate import certificate_of
from maxmargin.errors import InputError, Stop
from maxmargin.problem import c_svc
from maxmargin.solvers.base import drive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin.certificate import Certificate
    from maxmargin.kernels.base import Gram
    from maxmargin.problem import Model
    from maxmargin.solvers.base import Observer, Solver

    Vector = NDArray[np.float64]
    Index = NDArray[np.intp]

__all__ = [
    "Duals",
    "Pair",
    "Plan",
    "Solved",
    "class_pairs",
    "gather",
    "ovr_scores",
    "pair_betas",
    "solve",
    "votes",
]


class Pair(NamedTuple):
    """Two classes, by their positions in ``classes_``."""

    first: int
    second: int
    plus: int  # the one for which the decision is positive
    name: str


class Plan(NamedTuple):
    """What all binary problems of a fit have in common."""

    solver: Solver
    squared: bool
    fit_intercept: bool


class Solved(NamedTuple):
    """The end of one binary problem."""

    pair: Pair
    rows: Index
    model: Model
    stop: Stop
    n_iter: int
    n_kernel: int
    margin: float
    certificate: Certificate


class Duals(NamedTuple):
    """All binary problems together, as scikit-learn's attributes lay them out."""

    support: Index  # grouped by class
    n_support: NDArray[np.int32]
    dual_coef: Vector  # (n_classes − 1, n_support)
    intercept: Vector  # one for each pair


def class_pairs(classes: NDArray[Any]) -> list[Pair]:
    """All pairs, in LIBSVM's order."""
    k = len(classes)
    return [
        Pair(i, j, j if k == 2 else i, f"{classes[i]} against {classes[j]}")
        for i, j in combinations(range(k), 2)
    ]


def solve(
    pair: Pair,
    index: Index,
    part: Gram,
    codes: Index,
    price: Vector,
    plan: Plan,
    *,
    observers: Sequence[Observer] = (),
    warm: Vector | None = None,
) -> Solved:
    """Solve the binary problem of one pair.

    Parameters
    ----------
    pair : Pair
        Which classes.
    index : ndarray
        Rows of the two classes.
    part : Gram
        Their kernel matrix.
    codes, price : ndarray of shape (n,)
        Class of every row (−1: left out), and its C.
    plan : Plan
        How.
    observers : sequence of Observer
        Who watches.
    warm : ndarray of shape (n,) or None
        β of all rows to go on from.
    """
    y = np.where(codes[index] == pair.plus, 1.0, -1.0)
    problem = c_svc(
        part,
        y,
        price[index],
        squared=plan.squared,
        fit_intercept=plan.fit_intercept,
    )
    before = part.n_kernel
    outcome = drive(
        plan.solver,
        problem,
        warm=None if warm is None else warm[index],
        observers=observers,
        name=pair.name,
    )
    if outcome.stop is Stop.UNBOUNDED:
        msg = (
            f"C={float(price.max()):g}: a hard margin needs classes that can be "
            f"separated, and these overlap ({pair.name}): {outcome.stop.value}; use a "
            "finite C"
        )
        raise InputError(msg)
    model = outcome.model
    n_kernel = part.n_kernel - before
    norm2 = float(model.beta @ (model.gradient - problem.ridge * model.beta - problem.p))
    return Solved(
        pair=pair,
        rows=index,
        model=model,
        stop=outcome.stop,
        n_iter=outcome.n_iter,
        n_kernel=n_kernel,
        margin=2.0 / norm2**0.5 if norm2 > 0.0 else float("inf"),
        certificate=certificate_of(
            problem,
            model,
            tol=plan.solver.tol,
            criterion=plan.solver.criterion,
            stop=outcome.stop.value,
            n_iter=outcome.n_iter,
            n_kernel=n_kernel,
            seconds=outcome.seconds,
            name=pair.name,
        ),
    )


def gather(codes: Index, k: int, parts: Sequence[tuple[Pair, Index, Model]]) -> Duals:
    """Merge the β of all pairs: a row that supports any of them is a support vector.

    Every row meets the k − 1 other classes; its coefficient against class j stands in
    row j − 1 of ``dual_coef`` when j is above its own class, else in row j.
    """
    used = np.zeros(codes.size, dtype=bool)
    for _, index, model in parts:
        used[index[model.beta != 0.0]] = True
    rows = np.flatnonzero(used)
    support = rows[np.argsort(codes[rows], kind="stable")]
    place = np.full(codes.size, -1, dtype=np.intp)
    place[support] = np.arange(support.size)
    dual_coef = np.zeros((k - 1, support.size))
    for pair, index, model in parts:
        for own, line in ((pair.first, pair.second - 1), (pair.second, pair.first)):
            mine = (codes[index] == own) & (model.beta != 0.0)
            dual_coef[line, place[index[mine]]] = model.beta[mine]
    return Duals(
        support=support,
        n_support=np.bincount(codes[support], minlength=k).astype(np.int32),
        dual_coef=dual_coef,
        intercept=np.array([model.bias for _, _, model in parts]),
    )


def pair_betas(
    pair: Pair, n: int, support: Index, owner: Index, dual_coef: Vector
) -> Vector:
    """β of one pair over all n rows: the inverse of :func:`gather`."""
    beta = np.zeros(n)
    for own, line in ((pair.first, pair.second - 1), (pair.second, pair.first)):
        mine = owner == own
        beta[support[mine]] = dual_coef[line, mine]
    return beta


def votes(decisions: Vector, k: int) -> Index:
    """Class with the most won pairs; a tie goes to the lowest, 0 to the second class.

    ``decisions`` has one column for each pair, positive for its first class.
    """
    count = np.zeros((decisions.shape[0], k), dtype=np.int32)
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        won = decisions[:, column] > 0.0
        count[:, i] += won
        count[:, j] += ~won
    winner: Index = count.argmax(axis=1)
    return winner


def ovr_scores(decisions: Vector, k: int) -> Vector:
    """One score a class: its votes, ordered within equal votes by summed decisions.

    The sum s of the decisions in favour of a class is squashed to s/(3(|s| + 1)), in
    (−⅓, ⅓), so that it never outweighs a vote. Here a decision of 0 is a vote for
    the first class, as in scikit-learn, whose ``predict`` gives it to the second.
    """
    count = np.zeros((decisions.shape[0], k))
    total = np.zeros_like(count)
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        decision = decisions[:, column]
        lost = decision < 0.0
        count[:, i] += ~lost
        count[:, j] += lost
        total[:, i] += decision
        total[:, j] -= decision
    return count + total / (3.0 * (np.abs(total) + 1.0))
