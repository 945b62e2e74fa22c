"""Support vector classification with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError
from maxmargin.estimators.kernel.classifier import KernelClassifier
from maxmargin.estimators.kernel.fit.crammer_singer import Joint
from maxmargin.estimators.kernel.fit.parts import Part
from maxmargin.problem import c_svc, is_inside, row_prices

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


@dataclass(frozen=True, eq=False)
class Margin(Part):
    """C-SVC between two groups of rows, ``y`` = −1.0 or +1.0."""

    y: Vector
    C: float
    squared: bool = False
    fit_intercept: bool = True

    @property
    def batched(self) -> bool:
        """Whether it is the hinge, with a finite C and an intercept."""
        return self.fit_intercept and not self.squared and self.C < np.inf

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """Return C-SVC with these weights."""
        return c_svc(
            gram,
            self.y,
            row_prices(self.C, weight),
            squared=self.squared,
            fit_intercept=self.fit_intercept,
        )

    def outlives(self, problem: Problem, model: Model) -> bool:
        """Return whether no α is at C: then a larger C changes nothing."""
        return not self.squared and is_inside(problem, model.beta)


class SVC(KernelClassifier):
    r"""Support vector classification that certifies its answer.

    Solves, for the rows :math:`x_i` with labels :math:`y_i=\pm1`,

    .. math:: \min_{w,b}\ \tfrac12\|w\|^2 + \sum_i C_i\,\ell\bigl(y_i(\langle w,
              \varphi(x_i)\rangle + b)\bigr), \qquad \ell(m) = \max(0, 1-m),

    one against one (or against the rest) for more than two classes. Parameters, methods
    and attributes that scikit-learn's ``SVC`` has too mean the same here.

    Parameters
    ----------
    C : float, default=1.0
        Price of a margin error; ``inf`` is the hard margin.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'}, Kernel or callable, \
            default='rbf'
        Measure of similarity: a name, an object of :mod:`maxmargin.kernels` (which has
        its own parameters: ``gamma``, ``degree`` and ``coef0`` are not used), a function
        k(x, z) compiled by ``@maxmargin.kernel``, or a function that gets two blocks of
        rows and returns the matrix of their kernel values; its rows may be anything that
        can be put in an array.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Scale of 'rbf', 'poly' and 'sigmoid'. 'scale' is 1 / (n_features · X.var()), every
        row counted as often as its weight says; 'auto' is 1 / n_features.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Whether the solver may skip points at a bound for a while.
    probability : bool, default=False
        Whether to learn probabilities, from the scores of five folds (drawn with
        ``random_state``). ``predict`` then names the most probable class.
    tol : float, default=1e-3
        The solver stops when the optimality conditions hold within ``tol``, verified
        in float64; 'pegasos' when the relative duality gap is at most 0.01, or ``tol``
        if that is larger.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    class_weight : dict, 'balanced' or None, default=None
        Factors of C for each class. 'balanced' is inversely proportional to
        their size, every row counted as often as its weight says.
    verbose : bool or int, default=False
        Show a progress bar on stderr.
    max_iter : int, default=-1
        Limit on the solver's iterations in every binary problem; -1 leaves it to the
        solver, whose own limit only hopeless problems reach.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Whether ``decision_function`` of more than two classes returns a score for each
        class, or the decision of each pair.
    break_ties : bool, default=False
        Whether ``predict`` breaks ties of votes by the 'ovr' scores; otherwise the
        lowest class wins.
    random_state : int, RandomState or None, default=None
        Seed of the folds of ``probability=True``, and of 'pegasos', 'smo-simple' and
        'smo-platt'; the other solvers are deterministic.
    loss : {'hinge', 'squared_hinge'}, default='hinge'
        Cost of a margin error.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    multi_class : {'ovo', 'ovr', 'crammer_singer'}, default='ovo'
        More than two classes: every two of them against each other, and votes (a tie
        goes to the lowest class); or each against the rest, or all in one problem, and
        the largest decision. In one problem the intercepts are regularised, as
        LIBLINEAR's are, and there are no probabilities.
    calibration : {'sigmoid', 'isotonic'}, default='sigmoid'
        How decisions become probabilities: Platt's sigmoid, or any increasing function.
    solver : {'auto', 'smo', 'smo-platt', 'smo-simple', 'decomposition', 'chunking', \
            'qp', 'pegasos'} or Solver, default='auto'
        The solver. All but 'pegasos' reach the same optimum. 'auto' is 'smo', by far the
        fastest one that uses kernel values; for a linear kernel, more than 5,000 rows and
        up to 300 columns it solves for the weights instead
        (:mod:`maxmargin.solvers.linear.through_weights`). The others are the lectures'
        solvers. 'smo-platt' and 'smo-simple' need an intercept, 'pegasos' must have none
        (``fit_intercept=False``), 'qp' needs the extra ``qp`` (it can be stopped between
        binary problems, not within one). A solver of
        :mod:`maxmargin.solvers`, such as ``Decomposition(q=50)``, is used as it is, with
        its own ``tol``, ``max_iter`` and memory.
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
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors, grouped by class.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Those rows; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or CSR of shape (n_classes - 1, n_SV)
        Coefficients of the support vectors, in LIBSVM's layout; for ``'ovr'`` one line
        for every class.
    coef_ : ndarray or CSR of shape (n_pairs, n_features)
        Weights of the features, for the linear kernel.
    intercept_ : ndarray of shape (n_pairs,)
        Intercepts; here and below, one for every class with ``'ovr'``.
    probA_, probB_ : ndarray of shape (n_pairs,)
        With ``probability=True``: P(first class of the pair) = 1 / (1 + exp(A·d + B)) for
        the decision d in its favour; for ``'isotonic'``, ``calibrators_`` instead.
    gamma_ : float
        The number used for ``gamma``; 0 where the kernel has parameters of its own.
    classes_, class_weight_ : ndarray of shape (n_classes,)
        Labels, sorted, and their factors of C.
    n_iter_ : ndarray of shape (n_pairs,)
        Iterations of the solver; one number for ``'crammer_singer'``.
    fit_status_ : int
        0 when the solver converged, 1 when it stopped early.
    shape_fit_ : tuple of int
        Shape of the X of the fit.
    certificate_ : Certificate
        Proof of how good the answer is.
    margin_ : float or ndarray of shape (n_pairs,)
        Width 2/‖w‖ of the margin, in feature space; nan for ``'crammer_singer'``.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the columns of X.

    Notes
    -----
    A row of ``sample_weight`` 2 counts as two rows; one of weight ≤ 0 is left out, and a
    class none of whose rows has weight does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVC
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> clf = SVC(kernel="linear").fit(X, ["a", "a", "b", "b"])
    >>> clf.predict([[-0.8, -1.0], [3.0, 2.0]]).tolist()
    ['a', 'b']
    >>> clf.support_.tolist()
    [0, 2]
    >>> round(clf.margin_, 3)
    2.828
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
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
        loss: str = "hinge",
        fit_intercept: bool = True,
        multi_class: str = "ovo",
        calibration: str = "sigmoid",
        solver: str = "auto",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.C = C
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
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.calibration = calibration
        self.solver = solver
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _part(self, name: str, rows: Index, y: Vector, weight: Vector) -> Part:
        if self.multi_class == "crammer_singer":
            return self._joint(name, rows, y, weight)
        return Margin(
            name,
            rows,
            weight,
            y,
            C=float(self.C),
            squared=self.loss == "squared_hinge",
            fit_intercept=bool(self.fit_intercept),
        )

    def _joint(self, name: str, rows: Index, y: Vector, weight: Vector) -> Part:
        for parameter, allowed, *other in (
            ("probability", False),
            ("loss", "hinge"),
            ("solver", "auto", "smo"),
        ):
            if getattr(self, parameter) not in (allowed, *other):
                msg = (
                    f"multi_class='crammer_singer' with {parameter}="
                    f"{getattr(self, parameter)!r}: all classes in one problem know only "
                    f"{parameter}={allowed!r}; use multi_class='ovo' or 'ovr'"
                )
                raise InputError(msg)
        return Joint(
            name,
            rows,
            weight,
            y,
            C=float(self.C),
            n_classes=int(y.max()) + 1,
            fit_intercept=bool(self.fit_intercept),
        )
