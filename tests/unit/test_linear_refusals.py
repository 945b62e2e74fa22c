"""Linear machines and their solvers: what is refused, and in which words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import l1_min_c as scikit_learn_l1_min_c

import maxmargin
from maxmargin import SVC, LinearSVC, LinearSVR, l1_min_c
from maxmargin.errors import OVERFLOW, InputError, InputTypeError, NumericalError
from maxmargin.estimators.linear.averaged_sgd import AveragedSGDClassifier
from maxmargin.estimators.linear.pegasos import PegasosClassifier
from maxmargin.solvers import WorkingSetSmo, linear
from maxmargin.solvers.base import Steppable, drive

STOCHASTIC = (PegasosClassifier, AveragedSGDClassifier)
OF_CLASSES = ("JointNewton", "JointRelay", "LinearCrammerSinger", "TwoClasses")


def rows(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal rows, and labels of three classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])


# --- problems of another kind ---


@pytest.mark.parametrize("name", [one for one in linear.__all__ if one not in OF_CLASSES])
@pytest.mark.parametrize("run", [lambda s, p: next(s.steps(p)), drive])
def test_solvers_of_one_problem_refuse_that_of_all_classes(name, run):
    problem = LinearSVC(multi_class="crammer_singer").problem(*rows())
    words = f"{name} was given a LinearJointProblem.*LinearSVC.*LinearCrammerSinger"
    with pytest.raises(InputError, match=words):
        run(getattr(linear, name)(), problem)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_solvers_of_all_classes_refuse_one_problem(name):
    X, y = rows()
    with pytest.raises(InputError, match=f"{name} was given a LinearProblem"):
        next(getattr(linear, name)().steps(LinearSVC().problem(X, y > 0)))


def test_solvers_of_kernels_and_linear_ones_refuse_each_other():
    X, y = rows()
    with pytest.raises(InputError, match="WorkingSetSmo was given a LinearProblem"):
        next(WorkingSetSmo().steps(LinearSVC().problem(X, y > 0)))
    with pytest.raises(InputError, match="Newton was given a Problem"):
        next(linear.Newton().steps(SVC().problem(X, y > 0)))


def test_a_solver_that_does_not_say_what_it_takes_is_asked():
    class Own(Steppable):
        tol, max_iter = 0.1, 1

        def start(self, problem, warm=None):
            raise KeyError(type(problem).__name__)

    with pytest.raises(KeyError, match="LinearJointProblem"):
        next(Own().steps(LinearSVC(multi_class="crammer_singer").problem(*rows())))


# --- l1_min_c ---


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "hinge"},
        {"loss": ["log"]},
        {"fit_intercept": 1},
        {"fit_intercept": "yes"},
        {"intercept_scaling": 0.0},
        {"intercept_scaling": -1.0},
        {"intercept_scaling": np.nan},
        {"intercept_scaling": "1"},
        {"intercept_scaling": 1j},
    ],
)
def test_l1_min_c_refuses_parameters_that_scikit_learn_refuses(options):
    X, y = rows()
    (name,) = options
    with pytest.raises(ValueError, match=name):
        scikit_learn_l1_min_c(X, y, **options)
    with pytest.raises(InputError, match=f"The '{name}' parameter of l1_min_c must be"):
        l1_min_c(X, y, **options)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # scikit-learn's
@pytest.mark.parametrize(
    "spoil",
    [
        lambda y: np.where(y > 1, np.nan, y),
        lambda y: np.column_stack([y, y]),
        lambda y: y[:-1],
        lambda y: y + np.linspace(0.0, 0.5, y.size),
        lambda y: 1,
    ],
)
def test_l1_min_c_refuses_labels_that_scikit_learn_refuses(spoil):
    X, y = rows()
    with pytest.raises((ValueError, TypeError)):
        scikit_learn_l1_min_c(X, spoil(y))
    with pytest.raises(InputError):
        l1_min_c(X, spoil(y))


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"], [0.0, 1.0, 1.0]])
@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
def test_l1_min_c_is_that_of_scikit_learn(labels, loss):
    X, y = rows()
    given = np.array(labels)[y]
    options = {"loss": loss, "intercept_scaling": 2.5}
    expected = scikit_learn_l1_min_c(X, given, **options)
    assert l1_min_c(X, given, **options) == pytest.approx(expected)


# --- parameters ---


@pytest.mark.parametrize("name", ["C", "tol", "intercept_scaling", "epsilon"])
@pytest.mark.parametrize("value", [np.complex128(1), 1 + 0j])
def test_numbers_are_real(name, value):
    X, y = rows()
    kind = LinearSVR if name == "epsilon" else LinearSVC
    with pytest.raises(InputTypeError, match=f"The '{name}' parameter"):
        kind(**{name: value}).fit(X, y)


def test_a_hard_tube_is_that_of_regression():
    X, y = rows()
    with pytest.raises(InputError, match=r"SVR\(kernel='linear', C=inf\)"):
        LinearSVR(C=np.inf).fit(X, X[:, 0])
    with pytest.raises(InputError, match=r"SVC\(kernel='linear', C=inf\)"):
        LinearSVC(C=np.inf).fit(X, y)


@pytest.mark.parametrize("kind", STOCHASTIC)
def test_tol_of_a_walk_is_a_relative_gap(kind):
    with pytest.raises(InputError, match=r"relative duality gap.* 1e-2 is customary"):
        kind(tol=0).fit(*rows())


@pytest.mark.parametrize("value", [1e200, -1e200])
def test_a_constant_column_whose_square_overflows_is_refused(value):
    X, y = rows()
    with pytest.raises(InputError, match=r"'intercept_scaling'.*must be a float64"):
        LinearSVC(intercept_scaling=value).fit(X, y)
    with pytest.raises(InputError, match="'intercept_scaling'"):
        LinearSVR(intercept_scaling=value).fit(X, X[:, 0])


@pytest.mark.parametrize("run", [lambda s, p: next(s.steps(p)), drive])
def test_an_overflow_without_a_kernel_blames_no_kernel(run):
    class Overflows(linear.Newton):
        def advance(self, problem, state, budget):
            raise NumericalError(OVERFLOW)

    X, y = rows()
    with pytest.raises(
        NumericalError, match=r"features, intercept_scaling or C"
    ) as found:
        run(Overflows(), LinearSVC().problem(X, y > 0))
    assert "gamma" not in str(found.value)


def test_weights_that_are_not_finite_blame_no_kernel():
    class Overflows(linear.Newton):
        def model(self, problem, state):
            return super().model(problem, state)._replace(bias=np.inf)

    X, y = rows()
    with pytest.raises(NumericalError, match="intercept_scaling"):
        drive(Overflows(), LinearSVC().problem(X, y > 0))


# --- walks ---


@pytest.mark.parametrize("kind", [linear.LinearPegasos, linear.AveragedSgd])
@pytest.mark.parametrize(
    ("lam", "steps"), [(1e-1, 1e6), (1e-5, 3e7), (1e-12, 1e9), (1e-30, 1e9)]
)
def test_the_steps_of_a_tiny_lambda_come_to_an_end(kind, lam, steps):
    X, y = rows()
    solver = kind()
    state = solver.start(PegasosClassifier(lam=lam).problem(X, y > 0))
    epochs = solver.limit(state)
    assert epochs * 60 == pytest.approx(steps, abs=60)


def test_batches_are_counted_as_the_rows_that_they_are():
    X, y = rows()
    solver = linear.LinearPegasos(batch_size=20)
    state = solver.start(PegasosClassifier(lam=1e-30).problem(X, y > 0))
    assert solver.limit(state) * 60 == pytest.approx(1e9, abs=60)
    assert linear.LinearPegasos(max_iter=7).limit(state) == 7


@pytest.mark.parametrize("kind", STOCHASTIC)
def test_certify_says_where_the_figures_of_a_walk_are(kind):
    X, y = rows()
    model = kind(lam=0.1, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=r"certificate_.*certify takes SVC.*LinearSVR"):
        maxmargin.certify(model, X, y)
