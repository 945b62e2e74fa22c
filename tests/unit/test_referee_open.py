"""The referee on machines, kernels and losses from outside of maxmargin."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVR, LinearSVC, NuSVR
from tests.unit.test_referee_machines import answers, rows, stand_in

import maxmargin
from maxmargin import PegasosClassifier, certify, estimators
from maxmargin._referee.machines import MACHINES
from maxmargin.errors import InputError
from maxmargin.kernels import RBF, Kernel, Laplacian
from maxmargin.losses import LOSSES, Box, MarginLoss

# --- machines -----------------------------------------------------------------------


def test_every_machine_of_the_library_is_in_the_table():
    assert estimators.MACHINES.homes().keys() == MACHINES.keys()


class Other:
    """A machine that is no relative of any in the table."""

    certified_as = "NuSVR"

    def __init__(self, model, **changes):
        self.__dict__ |= stand_in(model, **changes).__dict__


def test_a_class_says_as_which_machine_it_is_judged():
    X, y = rows(60)
    z = answers(NuSVR, X, y)
    model = NuSVR(nu=0.4, tol=1e-6).fit(X, z)
    expected = certify(model, X, z)
    # With an offset it would be taken for a OneClassSVM by what it has.
    seen = certify(Other(model, offset_=[0.0]), X, z)
    assert seen.machine == "NuSVR"
    assert seen.primal == expected.primal
    assert str(seen) == str(expected)


def test_a_name_goes_before_a_parent():
    class Mine(SVR):
        """An SVR that is judged as something else."""

        certified_as = "OneClassSVM"

    X, y = rows(60)
    model = Mine().fit(X, answers(SVR, X, y))
    model.nu = 0.5
    assert certify(model, X).machine == "OneClassSVM"


@pytest.mark.parametrize("name", ["SVM", "PegasosClassifier", 3])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(InputError, match=f"certified_as={name!r}: .* one of SVC, NuSVC"):
        certify(SimpleNamespace(certified_as=name), [[0.0]])


def test_a_stochastic_machine_with_dual_variables_may_be_judged():
    class Proved(PegasosClassifier):
        """Pegasos whose author keeps β."""

        certified_as = "LinearSVC"
        loss, C, intercept_scaling = "hinge", 1.0, 1.0

    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    model = Proved(fit_intercept=False, lam=0.5).fit(X, y)
    with pytest.raises(InputError, match="does not tell its dual variables"):
        certify(model, X, y)
    model.coef_, model.dual_coef_ = np.array([[1.0]]), np.array([[-0.5, 0.5]])
    verdict = certify(model, X, y)
    assert verdict.machine == "LinearSVC"
    assert verdict.primal == verdict.dual == 0.5


# --- kernels ------------------------------------------------------------------------


def cauchy(A, B):
    """1/(1 + ‖a − b‖²/4), of dense rows."""
    assert isinstance(A, np.ndarray)
    assert A.dtype == B.dtype == np.float64
    return 1.0 / (1.0 + 0.25 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


class Cauchy(Kernel):
    """A kernel object with a second formula; its first is not asked."""

    def __call__(self, A, B=None):
        raise AssertionError("the library's own values were asked")

    def plain(self, A, B):
        return cauchy(A, B)


class OnlyCalled(Kernel):
    """A kernel object without a second formula."""

    def __call__(self, A, B=None):
        A, B = (Z.toarray() if sp.issparse(Z) else Z for Z in (A, B))
        return cauchy(A, B)


class Formula:
    """An object that has nothing but a formula."""

    plain = staticmethod(cauchy)


def other(A, B):
    return np.exp(-0.1 * np.abs(A[:, None] - B[None]).sum(axis=2))


CASES = {
    "plain": (Cauchy(), cauchy),
    "called": (OnlyCalled(), cauchy),
    "no kernel object": (Formula(), cauchy),
    "sum": (
        Cauchy() + 2.0 * Laplacian(0.1),
        lambda A, B: cauchy(A, B) + 2.0 * other(A, B),
    ),
    "product": (RBF(gamma=0.1) * OnlyCalled() ** 2, lambda A, B: (
        np.exp(-0.1 * ((A[:, None] - B[None]) ** 2).sum(axis=2)) * cauchy(A, B) ** 2
    )),
}  # fmt: skip


def judged(kernel, values, data=np.asarray, **more):
    """What is said of a model with a kernel, and of the same with its matrix."""
    X, y = rows(60)
    z, K = answers(SVR, X, y), values(X, X)
    model = SVR(kernel="precomputed", C=0.7, epsilon=0.2, tol=1e-7).fit(K, z)
    form = data(X)
    fitted = stand_in(
        model, kernel=kernel, support_vectors_=form[model.support_], shape_fit_=X.shape,
        **more,
    )  # fmt: skip
    return certify(fitted, form, z), certify(model, K, z)


def agree(seen, expected):
    assert seen.dual == pytest.approx(expected.dual, rel=1e-12)
    assert seen.violation == pytest.approx(expected.violation, abs=1e-10)
    assert seen.ok == expected.ok


@pytest.mark.parametrize("data", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("name", CASES)
def test_kernel_objects_from_outside(name, data):
    agree(*judged(*CASES[name], data))


@pytest.mark.parametrize("made", [Cauchy(), Formula(), 1.0 * Cauchy()])
def test_a_name_that_the_referee_does_not_know(made):
    agree(*judged("cauchy", cauchy, kernel_=made))


def test_a_name_without_a_second_formula_is_refused():
    with pytest.raises(InputError, match="kernel='cauchy': it must be"):
        judged("cauchy", cauchy)
    with pytest.raises(InputError, match=r"kernel='cauchy': .* has no plain\(A, B\)"):
        judged("cauchy", cauchy, kernel_=OnlyCalled())


def test_a_formula_of_the_wrong_shape_is_named():
    with pytest.raises(InputError, match="the kernel gave"):
        judged(SimpleNamespace(plain=lambda A, B: cauchy(A, B)[:, :1]), cauchy)


# --- losses -------------------------------------------------------------------------

HUBER = MarginLoss(
    "huber",
    value=lambda m: np.where(m < 0.0, 0.5 - m, 0.5 * np.maximum(0.0, 1.0 - m) ** 2),
    slope=lambda m: -np.clip(1.0 - m, 0.0, 1.0),
    curvature=lambda m: np.where((m > 0.0) & (m < 1.0), 1.0, 0.0),
    conjugate=lambda a: 0.5 * a * a - a,
    top=1.0,
    box=Box(offset=1.0, bound=1.0, ridge=1.0),
)
PLATEAU = MarginLoss(  # √(1 + (1 − m)²) + 1 − m: smooth, but its author says no more
    "plateau",
    value=lambda m: np.hypot(1.0, 1.0 - m) + 1.0 - m,
    conjugate=lambda a: -a - np.sqrt(1.0 - (1.0 - a) ** 2),
    top=2.0,
)


def linear(w, C, **more):
    """A fitted linear classifier of two classes, made by hand."""
    told = {
        "certified_as": "LinearSVC", "loss": "logistic", "C": C, "tol": 1e-6,
        "fit_intercept": False, "coef_": np.atleast_2d(w), "intercept_": np.zeros(1),
        "classes_": np.array([0, 1]), "class_weight_": np.ones(2),
    }  # fmt: skip
    return SimpleNamespace(**told | more)


def logistic_regression(C=20.0, weight=None, **more):
    """scikit-learn's, with β_i = C y_i/(1 + e^m); its intercept costs nothing."""
    X, y = rows(60)
    peer = LogisticRegression(C=C, tol=1e-12, max_iter=10_000, **more)
    peer.fit(X, y, sample_weight=weight)
    m = np.where(y == 1, 1.0, -1.0) * peer.decision_function(X)
    beta = C * (1.0 if weight is None else weight) * np.where(y == 1, 1.0, -1.0)
    free = {"fit_intercept": True, "intercept": "free"} if peer.fit_intercept else {}
    model = linear(
        peer.coef_, C, dual_coef_=(beta * expit(-m))[None], intercept_=peer.intercept_,
        **free,
    )  # fmt: skip
    return model, X, y, m


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_logistic_regression_is_proved(form):
    model, X, y, m = logistic_regression(fit_intercept=False)
    verdict = certify(model, form(X), y)
    assert verdict.ok
    assert 0.0 <= verdict.gap <= 1e-10 * verdict.primal
    half = 0.5 * float(model.coef_[0] @ model.coef_[0])
    expected = half + 20.0 * np.log1p(np.exp(-m)).sum()
    assert verdict.primal == pytest.approx(expected, rel=1e-12)
    assert verdict.violation <= 1e-12
    np.testing.assert_allclose(verdict.slack, np.log1p(np.exp(-m)), rtol=1e-9)
    assert (verdict.n_support, verdict.n_free, verdict.n_bound) == (60, 60, 0)
    assert set(verdict.label) == {"on the margin"}
    assert verdict.feasible


def test_logistic_regression_with_weights_and_a_free_intercept():
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    model, X, y, _ = logistic_regression(1.0, weight)
    verdict = certify(model, X, y, weight)
    # Σβ = 0 only within the tolerance of the peer, by which the dual is off as well.
    assert verdict.balance <= 1e-6
    assert abs(verdict.relative_gap) <= 1e-7
    assert (verdict.label[weight == 0.0] == "left out").all()


def test_dual_variables_follow_from_a_smooth_loss():
    model, X, y, _ = logistic_regression(fit_intercept=False)
    del model.dual_coef_
    verdict = certify(model, X, y)
    assert verdict.relative_gap <= 1e-10
    assert np.isnan(verdict.tol)
    model.loss = "perceptron"
    with pytest.raises(InputError, match="does not tell its dual variables"):
        certify(model, X, y)


def test_a_spoiled_logistic_regression_is_seen():
    model, X, y, _ = logistic_regression(fit_intercept=False)
    beta = model.dual_coef_
    model.dual_coef_ = 0.5 * beta
    verdict = certify(model, X, y)
    assert not verdict.ok
    assert verdict.feasible
    assert verdict.violation == pytest.approx(0.5 * np.abs(beta).max() / 20.0, rel=1e-9)
    model.dual_coef_ = -beta
    verdict = certify(model, X, y)
    assert not verdict.feasible
    assert verdict.excess == pytest.approx(np.abs(beta).max() / 20.0)
    assert verdict.gap == verdict.relative_gap == np.inf
    model.dual_coef_, model.coef_ = beta, 1.1 * model.coef_
    assert not certify(model, X, y).ok


TWO, SIGNS = np.array([[-1.0], [1.0]]), np.array([0, 1])


def test_a_lasso_of_the_logistic_loss():
    # |w| + 2C ln(1 + e^−w), C = 1: 1 = 2/(1 + e^w) at w = 0, β = ±½.
    model = linear([0.0], 1.0, penalty="l1", dual_coef_=np.array([[-0.5, 0.5]]))
    verdict = certify(model, TWO, SIGNS)
    assert verdict.primal == pytest.approx(2.0 * np.log(2.0), rel=1e-14)
    assert verdict.gap == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("intercept", ["regularised", "free"])
@pytest.mark.parametrize("kind", [LOSSES["logistic"], HUBER])
def test_our_own_machine_with_a_loss_from_outside(monkeypatch, kind, intercept):
    monkeypatch.setitem(LOSSES, "mine", replace(kind, name="mine", trains=True))
    X, y = rows(60)
    model = maxmargin.LinearSVC(loss="mine", intercept=intercept, tol=1e-8).fit(X, y)
    seen, own = certify(model, X, y), model.certificate_
    assert seen.ok
    assert seen.primal == pytest.approx(own.primal, rel=1e-12)
    assert seen.dual == pytest.approx(own.dual, rel=1e-12)
    assert seen.violation == pytest.approx(own.violation, abs=1e-12)
    assert (seen.n_free, seen.n_bound) == (own.n_free, own.n_bound)


def test_a_loss_with_a_kink():
    # ½w² + Σ max(0, −yf) is least at w = 0; every β that makes w = 0 proves it.
    model = linear([0.0], 2.0, loss="perceptron", dual_coef_=np.zeros((1, 2)))
    verdict = certify(model, TWO, SIGNS)
    assert verdict.primal == verdict.dual == verdict.violation == 0.0
    assert verdict.label.tolist() == ["outside", "outside"]
    # w = −3 puts both margins at −3: α = 0 misses by 3 there, α = C by nothing.
    model.coef_, model.dual_coef_ = np.array([[-3.0]]), np.array([[0.0, 2.0]])
    verdict = certify(model, TWO, SIGNS)
    np.testing.assert_array_equal(verdict.residual, [3.0, 0.0])
    assert (verdict.n_free, verdict.n_bound) == (0, 1)
    assert verdict.label.tolist() == ["outside", "violating"]
    assert verdict.primal == 4.5 + 6.0 + 6.0
    assert verdict.dual == -2.0


def test_a_loss_that_is_the_conjugate_of_a_box(monkeypatch):
    monkeypatch.setitem(LOSSES, "huber", HUBER)
    # ½w² + 2·½(1 − w)², C = 1: w = ⅔, β = ±⅓.
    model = linear([2 / 3], 1.0, loss="huber", dual_coef_=np.array([[-1.0, 1.0]]) / 3)
    verdict = certify(model, TWO, SIGNS)
    assert verdict.gap == pytest.approx(0.0, abs=1e-15)
    assert verdict.violation <= 1e-15
    assert verdict.n_free == 2
    model.dual_coef_ = np.array([[0.0, 1.0]])  # the margin of α = 0 is ⅓ short
    np.testing.assert_allclose(certify(model, TWO, SIGNS).residual, [1 / 3, 2 / 3])


def test_rounding_at_the_bound_is_no_violation():
    model = linear([0.0], 2.0, loss="perceptron")
    model.dual_coef_ = np.array([[-2.0, 2.0]]) * (1.0 + 1e-12)
    verdict = certify(model, TWO, SIGNS)
    assert verdict.feasible
    assert verdict.n_bound == 2
    assert np.isfinite(verdict.dual)


def test_a_loss_that_overflows_says_so_in_the_gap():
    model = linear([-1e3], 1.0, loss="exponential", dual_coef_=np.ones((1, 2)))
    verdict = certify(model, TWO, SIGNS)
    assert verdict.primal == verdict.gap == verdict.relative_gap == np.inf
    assert not verdict.ok


def test_a_loss_without_slope_and_curvature(monkeypatch):
    monkeypatch.setitem(LOSSES, "plateau", PLATEAU)
    # ½w² + 2(√(1 + (1 − w)²) + 1 − w) by bisection of its slope.
    low, high = 0.0, 4.0
    for _ in range(60):
        w = 0.5 * (low + high)
        a = 1.0 + (1.0 - w) / np.hypot(1.0, 1.0 - w)
        low, high = (w, high) if w < 2.0 * a else (low, w)
    model = linear([w], 1.0, loss="plateau", dual_coef_=np.array([[-a, a]]))
    verdict = certify(model, TWO, SIGNS)
    assert verdict.gap == pytest.approx(0.0, abs=1e-14)
    assert verdict.violation <= 1e-14
    model.dual_coef_ = 0.9 * model.dual_coef_
    verdict = certify(model, TWO, SIGNS)
    made = 2.0 * 0.9 * a
    # The gap is the sum of the shares and half the squared distance of w and X'β.
    shares = 2.0 * verdict.violation + 0.5 * (w - made) ** 2
    assert verdict.gap == pytest.approx(shares, rel=1e-12)


@pytest.mark.parametrize("loss", ["zero_one", "nonsense", None])
def test_a_loss_without_a_record_is_refused(loss):
    with pytest.raises(InputError, match=f"loss={str(loss)!r}: certify knows 'hinge'"):
        certify(linear([0.0], 1.0, loss=loss), TWO, SIGNS)


def test_a_machine_with_a_kernel_has_one_of_two_losses():
    X, y = rows(60)
    model = stand_in(SVR().fit(X, answers(SVR, X, y)), loss="logistic", tol=1e-3)
    assert certify(model, X, answers(SVR, X, y)).machine == "SVR"
    model.certified_as, model.classes_ = "SVC", np.array([0, 1])
    model.class_weight_, model.n_support_ = np.ones(2), np.array([model.support_.size, 0])
    with pytest.raises(InputError, match="loss='logistic': certify judges machines with"):
        certify(model, X, y)


def test_a_linear_machine_that_lacks_something():
    with pytest.raises(InputError, match="LinearSVC has no coef_"):
        certify(LinearSVC(), TWO, SIGNS)
    model = linear([0.0], 1.0)
    del model.C
    with pytest.raises(InputError, match="LinearSVC has no C"):
        certify(model, TWO, SIGNS)
    with pytest.raises(InputError, match="sample_weight has shape"):
        certify(linear([0.0], 1.0), TWO, SIGNS, [1.0])
