"""The problems every solver is held against, each with its kernel matrix in plain NumPy.

A :class:`Case` is a recipe: ``build`` makes its Problem through the library's own Gram,
``matrix`` the same kernel values by the textbook formula in float64, which is what
answers are checked with. :data:`CASES` has every machine, first the classifiers with C.
At the end: how a solver is run, and what its answer is worth.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_moons
from tests.data import libsvm

from maxmargin.kernels import RBF, Linear, Polynomial, Sigmoid
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.copies import CopiedGram, distinct_points
from maxmargin.kernels.naming import as_kernel
from maxmargin.parallel import Workers
from maxmargin.problem import (
    Model,
    Problem,
    c_svc,
    epsilon_svr,
    model_of,
    nu_svc,
    nu_svr,
    objective,
    one_class,
    svdd,
    violation,
)
from maxmargin.solvers import Smo
from maxmargin.solvers.base import Status


class Points(NamedTuple):
    """Rows, their labels −1 or +1 or targets, and the price or weight of each one."""

    X: Any
    y: np.ndarray
    C: np.ndarray


class Case(NamedTuple):
    """One problem; ``points`` is called late, because real data may be absent."""

    name: str
    points: Callable[[], Points]
    kernel: Any = RBF(gamma=1.0 / 13.0)  # heart_scale has 13 features
    squared: bool = False
    balanced: bool = True
    cache_bytes: int = 200 << 20
    tol: float = 1e-3
    machine: str = "SVC"
    nu: float = 0.3
    epsilon: float = 0.0
    copies: bool = False  # whether the Gram knows which rows are copies

    def build(self, n_jobs: int = 1) -> Problem:
        """The Problem, its kernel values made by ``n_jobs`` threads."""
        X, y, C = self.points()
        gram = training_gram(as_kernel(self.kernel), X, workers=Workers(n_jobs))
        if self.copies:
            rows = np.column_stack([X.toarray() if sp.issparse(X) else X, y])
            _, first = np.unique(rows, axis=0, return_inverse=True)
            kept, place = distinct_points(first, np.arange(y.size))
            gram = CopiedGram(gram.narrowed(kept), place)
        if self.machine == "NuSVC":
            return nu_svc(gram, y, C, self.nu)
        if self.machine == "SVR":
            return epsilon_svr(gram, y, C, self.epsilon)
        if self.machine == "NuSVR":
            return nu_svr(twice(gram), y, C, self.nu)
        if self.machine == "OneClassSVM":
            return one_class(gram, C, self.nu)
        if self.machine == "SVDD":
            return svdd(gram, C, self.nu)
        return c_svc(gram, y, C, squared=self.squared, fit_intercept=self.balanced)

    def matrix(self) -> np.ndarray:
        """K in float64, by its formula."""
        X = self.points().X
        if self.kernel == "precomputed":
            return X
        if sp.issparse(X):
            X = X.toarray()
        K = plain_kernel(self.kernel, X, X)
        return np.tile(K, (2, 2)) if self.machine == "NuSVR" else K


def twice(gram: Any) -> CopiedGram:
    """Every point, then every point again."""
    return CopiedGram(gram, np.tile(np.arange(gram.n), 2))


def plain_kernel(kernel: Any, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The formulas of the kernels, one line each, in float64."""
    A, B = np.asarray(A, np.float64), np.asarray(B, np.float64)
    if isinstance(kernel, Linear):
        return A @ B.T
    if isinstance(kernel, Polynomial):
        return (kernel.gamma * (A @ B.T) + kernel.coef0) ** kernel.degree
    if isinstance(kernel, RBF):
        distance = ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2)
        return np.exp(-kernel.gamma * distance)
    if isinstance(kernel, Sigmoid):
        return np.tanh(kernel.a * (A @ B.T) + kernel.r)
    return kernel(A, B)


def laplacian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel the library does not know: exp(−‖x − z‖₁/20)."""
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2) / 20.0)


@cache
def heart() -> Points:
    X, y = libsvm("heart_scale")
    return Points(X.toarray(), y, np.ones(y.size))


@cache
def heart_sparse() -> Points:
    X, y = libsvm("heart_scale")
    return Points(X, y, np.ones(y.size))


@cache
def heart_matrix() -> Points:
    X, y, C = heart()
    return Points(plain_kernel(RBF(gamma=0.05), X, X), y, C)


@cache
def heart_weighted() -> Points:
    X, y, C = heart()
    weight = np.random.default_rng(3).choice([0.25, 1.0, 2.0, 7.5], size=y.size)
    return Points(X, y, C * weight)


@cache
def moons() -> Points:
    """More than 1000 points, where float32 and a choice of working sets begin."""
    X, y = make_moons(1500, noise=0.25, random_state=5)
    return Points(X, 2.0 * y - 1.0, np.full(y.size, 5.0))


@cache
def fewer_moons() -> Points:
    """Just enough points for float32, of weight 1."""
    X, y = make_moons(1040, noise=0.25, random_state=6)
    return Points(X, 2.0 * y - 1.0, np.ones(y.size))


@cache
def housing() -> Points:
    """House prices in units of their spread, at C = 2."""
    X, z = libsvm("housing_scale")
    X, z = X.toarray()[::3], z[::3]
    return Points(X, (z - z.mean()) / z.std(), np.full(z.size, 2.0))


@cache
def housing_weighted() -> Points:
    X, z, C = housing()
    weight = np.random.default_rng(4).choice([0.0, 0.25, 1.0, 7.5], size=z.size)
    return Points(X, z, C * weight)


@cache
def wave() -> Points:
    """More than 1000 noisy values of a sine."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-3.0, 3.0, size=(1040, 1))
    return Points(X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=1040), np.ones(1040))


@cache
def two_points() -> Points:
    """S1's example: at C = ¼, w = (0, ½) and any b in [−½, ½] is optimal."""
    X = np.array([[0.0, -1.0], [0.0, 1.0]])
    return Points(X, np.array([-1.0, 1.0]), np.full(2, 0.25))


@cache
def contradictions() -> Points:
    """Every row twice, with either label, and a few that agree."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 3))
    y = np.concatenate([np.ones(20), -np.ones(20), np.sign(X[:8, 0])])
    return Points(np.concatenate([X, X, X[:8]]), y, np.ones(48))


MARGINS = [
    Case("heart-rbf", heart),
    Case("heart-linear", heart, Linear()),
    Case("heart-poly", heart, Polynomial(3, 1.0, 1.0 / 13.0)),
    Case("heart-sparse", heart_sparse),
    Case("heart-precomputed", heart_matrix, "precomputed"),
    Case("heart-callable", heart, laplacian),
    Case("heart-squared-hinge", heart, squared=True),
    Case("heart-squared-hinge-no-intercept", heart, squared=True, balanced=False),
    Case("heart-no-intercept", heart, balanced=False),
    Case("heart-weighted", heart_weighted),
    # 64 KB hold 128 members of a working set, out of about 600 support vectors.
    Case("moons", moons, RBF(gamma=2.0), cache_bytes=64 << 10),
    Case(
        "moons-no-intercept", moons, RBF(gamma=2.0), balanced=False, cache_bytes=64 << 10
    ),
    Case("two-points", two_points, Linear()),
    Case("contradictions", contradictions, RBF(gamma=0.5)),
]
# Each machine on few points, with weights (some 0), and on more than 1000, where float32
# begins and working sets are smaller than the problem.
FEW = 64 << 10
REGRESSIONS = [
    Case("svr", housing, machine="SVR", epsilon=0.3),
    Case("svr-no-tube", housing, Linear(), machine="SVR", epsilon=0.0),
    Case("svr-weighted", housing_weighted, machine="SVR", epsilon=0.1),
    Case("svr-wave", wave, RBF(gamma=1.0), machine="SVR", epsilon=0.15, cache_bytes=FEW),
    Case("nu-svr", housing, machine="NuSVR"),
    Case("nu-svr-weighted", housing_weighted, machine="NuSVR", nu=0.6),
    # ν = 1 leaves no tube, and α, α* of one point are positive together
    Case("nu-svr-no-tube", housing, machine="NuSVR", nu=1.0),
    Case("nu-svr-wave", wave, RBF(gamma=1.0), machine="NuSVR", nu=0.2, cache_bytes=FEW),
]
DESCRIPTIONS = [
    Case("nu-svc", heart, machine="NuSVC"),
    Case("nu-svc-weighted", heart_weighted, Polynomial(2, 1.0, 0.1), machine="NuSVC"),
    Case("nu-svc-moons", fewer_moons, RBF(gamma=2.0), machine="NuSVC", cache_bytes=FEW),
    Case("one-class", heart, machine="OneClassSVM"),
    Case("one-class-weighted", heart_weighted, RBF(gamma=0.2), machine="OneClassSVM",
         nu=0.1),
    Case("one-class-moons", fewer_moons, RBF(gamma=2.0), machine="OneClassSVM",
         cache_bytes=FEW),
    Case("svdd-linear", heart_weighted, Linear(), machine="SVDD", nu=0.05),
    Case("svdd-rbf", heart_sparse, machine="SVDD"),
    Case("svdd-moons", fewer_moons, Polynomial(2, 1.0, 0.5), machine="SVDD", nu=0.2,
         cache_bytes=FEW),
]  # fmt: skip
CASES = MARGINS + REGRESSIONS + DESCRIPTIONS


def repeated(points: Callable[[], Points]) -> Callable[[], Points]:
    """Some rows up to four times, at prices of their own."""

    @cache
    def again() -> Points:
        X, y, C = points()
        rng = np.random.default_rng(9)
        times = rng.choice([1, 1, 2, 4], size=y.size)
        some = rng.permutation(np.repeat(np.arange(y.size), times))
        return Points(X[some], y[some], C[some] * rng.choice([0.5, 1.0], some.size))

    return again


# For the solver that merges copies; its Gram knows them.
REPEATED = [
    case._replace(name=f"{case.name}-repeated", points=repeated(case.points), copies=True)
    for case in CASES
    if case.name in {"heart-rbf", "heart-sparse", "heart-weighted", "moons", "svr-wave",
                     "heart-squared-hinge", "heart-no-intercept", "svr", "nu-svc",
                     "one-class", "svdd-linear", "contradictions"}
]  # fmt: skip
# Pegasos has no intercept and knows the plain hinge only.
UNBALANCED = [
    case._replace(balanced=False)
    for case in MARGINS
    if not case.squared and not case.name.endswith("no-intercept")
]
# A thousand points and more are for the conformance suite.
SMALL = [case for case in CASES if "moons" not in case.name and "wave" not in case.name]
BY_NAME = {case.name: case for case in CASES}


# --- runs and answers ------------------------------------------------------------------


class Run(NamedTuple):
    """The end of a run, as bits."""

    status: Status
    n_iter: int
    model: Model
    units: int

    def same_as(self, other: "Run") -> bool:
        return (
            self.status is other.status
            and self.n_iter == other.n_iter
            and self.model.beta.tobytes() == other.model.beta.tobytes()
            and self.model.gradient.tobytes() == other.model.gradient.tobytes()
            and self.model[2:] == other.model[2:]  # numbers, not arrays
        )


def run(solver, problem, budget=10**9, state=None, between=lambda state: None) -> Run:
    """Advance to the end; ``between`` is called after every chunk."""
    if state is None:
        state = solver.start(problem)
    status, chunks = Status.RUNNING, 0
    while status is Status.RUNNING:
        status = solver.advance(problem, state, budget)
        chunks += 1
        between(state)
    model = solver.model(problem, state)
    return Run(status, solver.n_iter(state), model, chunks * budget)


def plain(case: Case, beta: np.ndarray) -> Model:
    """β with a gradient that no code of the library has touched."""
    problem = case.build()
    gradient = case.matrix() @ beta + problem.ridge * beta + problem.p

    return model_of(problem, beta, gradient)


def plain_dual(problem, K: np.ndarray, beta: np.ndarray) -> float:
    """The dual value by its formula, from the plain matrix."""
    quadratic = beta @ (K @ beta) + beta @ (problem.ridge * beta)
    return -0.5 * quadratic - problem.p @ beta - problem.epsilon * np.abs(beta).sum()


def check_optimum(solver, case: Case) -> None:
    """Run an exact solver whose tol is 1e-7, and hold its end against plain SMO's."""
    problem = case.build()
    end = run(solver, problem)
    exact = plain(case, end.model.beta)
    assert end.status is Status.CONVERGED
    assert violation(problem, end.model.beta, exact.gradient) <= 1e-7 * (1 + 1e-6)
    assert np.abs(exact.gradient - end.model.gradient).max() <= 1e-9
    assert in_box(problem, end.model.beta)
    assert missed(problem, end.model.beta) <= 1e-12
    best = run(Smo(tol=1e-9), case.build())
    expected = objective(problem, plain(case, best.model.beta)).dual
    assert abs(objective(problem, exact).dual - expected) <= 1e-6 * abs(expected)


def in_box(problem, beta: np.ndarray) -> bool:
    return bool(((problem.lower <= beta) & (beta <= problem.upper)).all())


def missed(problem, beta: np.ndarray) -> float:
    """How far the worst sum is off its value, relative to Σ|β|."""
    negative = problem.lower < 0.0
    sides = [~negative, negative] if len(problem.sums) == 2 else [slice(None)]
    off = [abs(beta[at].sum() - t) for at, t in zip(sides, problem.sums, strict=False)]
    return float(max(off, default=0.0) / max(np.abs(beta).sum(), 1e-300))
