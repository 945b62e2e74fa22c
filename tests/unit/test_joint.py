"""``SVC(multi_class="crammer_singer")``: the estimator around the joint problem."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC

import maxmargin
from maxmargin import SVC, InputError, certify
from maxmargin.kernels import RBF
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.plus_constant import ShiftedGram
from maxmargin.parallel import Workers

X, Y = load_iris(return_X_y=True)


def joint(**parameters):
    return SVC(multi_class="crammer_singer", **parameters)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_is_liblinears(fit_intercept):
    ours = joint(kernel="linear", tol=1e-6, fit_intercept=fit_intercept).fit(X, Y)
    theirs = LinearSVC(
        multi_class="crammer_singer",
        C=1.0,
        tol=1e-8,
        max_iter=1_000_000,
        fit_intercept=fit_intercept,
        random_state=0,
    ).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    intercept = np.broadcast_to(theirs.intercept_, 3)
    np.testing.assert_allclose(ours.intercept_, intercept, atol=1e-5)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("rows", [slice(None), slice(0, 100), slice(50, None)])
def test_the_referee_agrees(fit_intercept, rows):
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], 150)[rows]
    machine = joint(tol=1e-5, fit_intercept=fit_intercept)
    machine.fit(X[rows], Y[rows], sample_weight=weight)
    verdict = certify(machine, X[rows], Y[rows], sample_weight=weight)
    own = machine.certificate_
    assert verdict.ok
    assert own.ok
    for figure in ("primal", "dual"):
        assert getattr(verdict, figure) == pytest.approx(getattr(own, figure), rel=1e-12)
    assert verdict.violation == pytest.approx(own.violation, abs=1e-10)
    assert (verdict.n_support, verdict.n_bound) == (own.n_support, own.n_bound)
    machine.dual_coef_ = 1.01 * machine.dual_coef_
    assert not certify(machine, X[rows], Y[rows], sample_weight=weight).ok


def test_two_classes_are_a_binary_classifier_with_twice_the_price():
    rows = slice(50, None)
    ours = joint(C=0.7, tol=1e-8, fit_intercept=False).fit(X[rows], Y[rows])
    binary = SVC(C=1.4, tol=1e-8, fit_intercept=False).fit(X[rows], Y[rows])
    np.testing.assert_allclose(
        ours.decision_function(X), binary.decision_function(X), atol=1e-5
    )
    assert ours.dual_coef_.shape[0] == 1


def test_predictions_are_the_largest_decision_and_a_fit_goes_on():
    machine = joint(warm_start=True).fit(X, Y)
    decisions = machine.decision_function(X)
    assert decisions.shape == (150, 3)
    np.testing.assert_array_equal(decisions.argmax(axis=1), machine.predict(X))
    assert machine.score(X, Y) > 0.95
    assert machine.fit(X, Y).n_iter_.tolist() == [0]
    first, second = maxmargin.path(joint(), X, Y, [0.5, 5.0])
    np.testing.assert_allclose(
        second.decision_function(X),
        joint(C=5.0, tol=1e-3).fit(X, Y).decision_function(X),
        atol=0.1,
    )
    assert first.certificate_.ok
    assert second.certificate_.ok


def test_weights_are_repetition():
    counts = np.random.default_rng(1).integers(0, 4, 150)
    weighted = joint(tol=1e-9, gamma=0.3).fit(X, Y, sample_weight=counts)
    repeated = joint(tol=1e-9, gamma=0.3).fit(
        np.repeat(X, counts, axis=0), np.repeat(Y, counts)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"probability": True}, "probability"),
        ({"loss": "squared_hinge"}, "loss"),
        ({"solver": "pegasos"}, "solver"),
        ({"C": float("inf")}, "C"),
    ],
)
def test_what_it_does_not_do_is_said(parameters, word):
    with pytest.raises(InputError, match=word):
        joint(**parameters).fit(X, Y)


def test_nu_has_no_joint_machine():
    with pytest.raises(InputError, match="multi_class"):
        maxmargin.NuSVC(multi_class="crammer_singer").fit(X, Y)


def test_shifted_gram_is_the_matrix_plus_one():
    gram = training_gram(RBF(gamma=0.5), X[:40], workers=Workers(1))
    shifted = ShiftedGram(gram)
    everyone = np.arange(40, dtype=np.intp)
    K, shift = np.empty((40, 40)), np.empty((40, 40))
    gram.block(everyone, everyone, K)
    shifted.block(everyone, everyone, shift)
    np.testing.assert_array_equal(shift, K + 1.0)
    np.testing.assert_array_equal(shifted.diagonal(), np.diagonal(K) + 1.0)
    coef, out = np.arange(40.0), np.zeros(40)
    shifted.apply(everyone, everyone, coef, out, np.dtype(np.float64))
    np.testing.assert_allclose(out, (K + 1.0) @ coef, rtol=1e-12)
    assert shifted.n_kernel == gram.n_kernel
