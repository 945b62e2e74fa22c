"""ν-classification with scikit-learn's interface."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from maxmargin.errors import InputError
from maxmargin.estimators.kernel.classifier import KernelClassifier
from maxmargin.estimators.kernel.fit.parts import Expansion, NuPart, Part
from maxmargin.estimators.parameters import PAIRS_OR_RESTS
from maxmargin.problem import nu_svc

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Part
    from maxmargin.estimators.kernel.fit.solving import Task
    from maxmargin.estimators.parameters import Rule
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


_VANISHED = 1e-3  # policy: a smaller margin, in units of the gradient, counts as none


@dataclass(frozen=True, eq=False)
class NuMargin(NuPart):
    """ν-SVC between two groups of rows; its model is divided by ρ, as LIBSVM's is."""

    y: Vector
    follows = True

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """Return ν-SVC; in a fold with the largest feasible ν, if that is smaller."""
        nu = self.nu
        if weight is not self.weight:
            nu = min(nu, largest_nu(self.y, weight))
        return nu_svc(gram, self.y, weight, nu)

    def wanted(self, problem: Problem, model: Model, *, tol: float, unit: float) -> float:  # noqa: ARG002
        """Return a smaller tolerance where ρ is small: β is later divided by ρ."""
        return tol * min(1.0, max(_VANISHED, -model.split / unit))

    def complaint(self, problem: Problem, model: Model) -> str:
        """Return a warning if the margin vanishes."""
        if self._resolved(problem, model):
            return ""
        return (
            f"nu={self.nu:g} is too small for these data: the margin of "
            f"{self.name or 'the classes'} vanishes, for they overlap by more than that "
            "fraction, and decisions are noise; raise nu, or use a kernel that tells "
            "them apart (a larger gamma)"
        )

    def _resolved(self, problem: Problem, model: Model) -> bool:
        return -model.split > _VANISHED * self.unit(problem)

    def level(self, problem: Problem, model: Model) -> float:
        """Return ρ; where the margin vanishes, the smallest ρ that counts."""
        rho = -model.split
        return rho if rho > 0.0 else _VANISHED * self.unit(problem)

    def expansion(self, problem: Problem, model: Model) -> Expansion:
        """Return the model in units of its margin, where y·f = 1."""
        rho = self.level(problem, model)
        return Expansion(model.beta / rho, model.bias / rho)

    def restart(self, coef: Vector) -> Vector:
        """Return β: Σ|β| = νN determines the ρ that divided the coefficients."""
        size = float(np.abs(coef).sum())
        if size == 0.0:
            return coef
        beta = coef * (self.nu * float(self.weight.sum()) / size)
        # A β that rounding moved off its bound would count as free.
        bound = np.abs(np.abs(beta) - self.weight) <= 1e-12 * self.weight
        return np.where(bound, np.copysign(self.weight, beta), beta)

    def scores(self, problem: Problem, model: Model) -> Vector:
        """Return decision values in units of the margin, or of the smallest that counts.

        So the folds of a calibration stay comparable where the margin of one vanishes.
        """
        least = _VANISHED * self.unit(problem)
        return super().scores(problem, model) / max(-model.split, least)


def largest_nu(y: Vector, weight: Vector) -> float:
    """Return the largest ν for which each class can have Σ|β| = νN/2."""
    positive = float(weight[y > 0.0].sum())
    total = float(weight.sum())
    return 2.0 * min(positive, total - positive) / total


def _rounded_down(share: float) -> float:
    """Round to six digits, so that a nu copied from the message is feasible."""
    unit = 10.0 ** (5 - math.floor(math.log10(share)))
    return math.floor(share * unit) / unit


class NuSVC(KernelClassifier):
    r"""Support vector classification that bounds errors by a fraction ν instead of C.

    Solves, for the rows :math:`x_i` with labels :math:`y_i=\pm1` and weights
    :math:`w_i`,

    .. math:: \min_{w,b,\rho}\ \tfrac12\|w\|^2 - \nu N\rho + \sum_i w_i
              \max\bigl(0, \rho - y_i(\langle w, \varphi(x_i)\rangle + b)\bigr),
              \qquad N = \sum_i w_i,

    one against one (or against the rest) for more than two classes. At most a fraction
    ν of the rows violates the margin, at least a fraction ν are support vectors. The
    model is divided by ρ, as LIBSVM's is, so that ±1 is the margin.

    Parameters
    ----------
    nu : float, default=0.5
        The fraction, in (0, 1]. Feasible up to twice the share of the smaller class;
        ``class_weight='balanced'`` makes every ν feasible.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'}, Kernel or callable, \
            default='rbf'
        Measure of similarity: a name, an object of :mod:`maxmargin.kernels`, or a
        function of two blocks of rows.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Scale of 'rbf', 'poly' and 'sigmoid'; see :class:`~maxmargin.SVC`.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Whether the solver may skip points at a bound for a while.
    probability : bool, default=False
        Whether to learn probabilities, from the scores of five folds (drawn with
        ``random_state``). ``predict`` then names the most probable class.
    tol : float, default=1e-3
        The solver stops when the optimality conditions hold within ``tol``, verified
        in float64, before the division by ρ and after it; in units of the mean weight
        and kernel value where these are small (``certificate_.tol`` is the number).
    cache_size : float, default=200
        Memory for kernel values, in MB.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of each class's rows (scikit-learn ignores it here).
    verbose : bool or int, default=False
        Show a progress bar on stderr.
    max_iter : int, default=-1
        Limit on the solver's iterations; -1 leaves it to the solver.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Whether ``decision_function`` of more than two classes returns a score for each
        class, or the decision of each pair.
    break_ties : bool, default=False
        Whether ``predict`` breaks ties of votes by the 'ovr' scores; otherwise the
        lowest class wins.
    random_state : int, RandomState or None, default=None
        Seed of the folds of ``probability=True``.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        More than two classes: every two of them against each other, and votes (a tie
        goes to the lowest class); or each against the rest, and the largest decision.
    calibration : {'sigmoid', 'isotonic'}, default='sigmoid'
        How decisions become probabilities: Platt's sigmoid, or any increasing function.
    n_jobs : int or None, default=None
        Threads; None uses every core available. Results are the same for all.
    time_limit : float or None, default=None
        Seconds after which the solver stops with what it has.
    callbacks : observer, callable, list of them, or None, default=None
        Called about every 50 ms of the run; see :mod:`maxmargin.observers`.
    warm_start : bool, default=False
        Whether ``fit`` continues from the model of the fit before, on the same rows.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_ : ndarray or CSR
        The model, laid out as :class:`~maxmargin.SVC` does.
    probA_, probB_ : ndarray of shape (n_pairs,)
        The calibration of ``probability=True``, as in :class:`~maxmargin.SVC`.
    gamma_, classes_, class_weight_, n_iter_, fit_status_, shape_fit_ : various
        As in :class:`~maxmargin.SVC`.
    certificate_ : Certificate
        Proof of how good the answer is, of the problem above, before the division by ρ.
    margin_ : float or ndarray of shape (n_pairs,)
        Width 2ρ/‖w‖ of the margin, in feature space.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the columns of X.

    Notes
    -----
    A row of ``sample_weight`` 2 counts as two rows; one of weight ≤ 0 is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import NuSVC
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> clf = NuSVC(nu=0.5, kernel="linear").fit(X, [1, 1, 2, 2])
    >>> clf.predict([[-0.8, -1.0]]).tolist()
    [1]
    """

    _lonely_class = "specified nu is infeasible, as every nu is for one class. "

    _own_rules: ClassVar[dict[str, Rule]] = {"multi_class": PAIRS_OR_RESTS}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        calibration: str = "sigmoid",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _part(self, name: str, rows: Index, y: Vector, weight: Vector) -> Part:
        return NuMargin(name, rows, weight, nu=float(self.nu), y=y)

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:
        task = super()._task(X, y, sample_weight)
        self._check_feasible(task)
        return task

    def _check_feasible(self, task: Task) -> None:
        """Refuse a ν that is too large for a pair of classes of unequal weight."""
        parts: list[Any] = task.parts
        part = min(parts, key=lambda part: largest_nu(part.y, part.weight))
        least = largest_nu(part.y, part.weight)
        if self.nu <= least * (1.0 + 1e-12):
            return
        msg = (
            f"specified nu is infeasible: nu={self.nu:g}, and the largest feasible nu is "
            f"{_rounded_down(least):.6g} ({part.name}: twice the smaller class's share "
            "of the weight); use a smaller nu, or class_weight='balanced'"
        )
        raise InputError(msg)
