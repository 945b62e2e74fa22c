"""scikit-learn's own estimator checks, every exception with its reason.

An exception that passes is an error (``xfail_strict``).
"""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.conformance.expected_differences import failing_checks

from maxmargin import (
    SVC,
    SVDD,
    SVR,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
)

# Random rows may overlap by more than nu allows, which is told (and tested elsewhere).
pytestmark = pytest.mark.filterwarnings("ignore:nu=.* is too small for these data")

DEFAULTS = [SVC(), NuSVC(), SVR(), NuSVR(), OneClassSVM(), SVDD(), LinearSVC()]
EVEN = {"class_weight": "balanced", "tol": 1e-11}
VARIANTS = [
    SVC(tol=1e-11),
    SVC(kernel="linear", multi_class="ovr", tol=1e-11),
    SVC(kernel="precomputed"),
    SVC(probability=True, random_state=0),
    SVC(probability=True, calibration="isotonic", random_state=0),
    NuSVC(kernel="linear", nu=1.0, **EVEN),
    NuSVC(multi_class="ovr", **EVEN),
    NuSVC(probability=True, random_state=0),
    SVR(tol=1e-9),
    SVR(kernel="linear", tol=1e-9),
    SVR(kernel="precomputed"),
    NuSVR(tol=1e-9),
    NuSVR(kernel="linear", tol=1e-9),
    NuSVR(kernel="precomputed"),
    OneClassSVM(kernel="linear", tol=1e-9),
    OneClassSVM(kernel="precomputed"),
    # not precomputed: the matrices of the checks lack the k(x, x) of new rows
    SVDD(kernel="linear", tol=1e-9),
    LinearSVC(penalty="l1", tol=1e-11),
    LinearSVC(loss="hinge", tol=1e-11),
    LinearSVR(tol=1e-11),
    LinearSVC(intercept="free"),
    LinearSVC(multi_class="crammer_singer", tol=1e-7),
    LinearSVR(loss="squared_epsilon_insensitive"),
]


@parametrize_with_checks(
    DEFAULTS, expected_failed_checks=failing_checks, xfail_strict=True
)
def test_defaults(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    VARIANTS, expected_failed_checks=failing_checks, xfail_strict=True
)
def test_variants(estimator, check):
    check(estimator)


def test_exceptions_name_existing_checks():
    for machine in (*DEFAULTS, *VARIANTS):
        for name, reason in failing_checks(machine).items():
            assert callable(getattr(estimator_checks, name))
            assert len(reason.split()) > 5
