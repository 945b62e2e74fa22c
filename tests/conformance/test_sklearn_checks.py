"""scikit-learn's own estimator checks, every exception with its reason."""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.conformance.expected_differences import CHECKS, expected_failures

from maxmargin import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM

TIGHT = 1e-11
MACHINES = [
    SVC(),
    SVC(kernel="precomputed"),
    SVC(kernel="linear", tol=TIGHT),
    SVC(tol=TIGHT, multi_class="ovr"),
    SVC(probability=True, random_state=0),
    SVC(probability=True, calibration="isotonic", random_state=0, tol=TIGHT),
    NuSVC(),
    NuSVC(kernel="linear", tol=TIGHT, class_weight="balanced"),
    NuSVC(tol=TIGHT, multi_class="ovr", class_weight="balanced"),
    NuSVC(probability=True, random_state=0),
    SVR(),
    SVR(tol=TIGHT),
    SVR(kernel="linear", tol=TIGHT),
    NuSVR(),
    NuSVR(tol=TIGHT),
    NuSVR(kernel="linear", tol=TIGHT),
    OneClassSVM(),
    OneClassSVM(tol=TIGHT),
    OneClassSVM(kernel="linear", tol=TIGHT),
    SVDD(),
    SVDD(tol=TIGHT),
    SVDD(kernel="linear", tol=TIGHT),
]
MACHINES += [
    machine(kernel="precomputed") for machine in (NuSVC, SVR, NuSVR, OneClassSVM, SVDD)
]


@parametrize_with_checks(
    MACHINES, expected_failed_checks=expected_failures
)
def test_estimator_check(estimator, check):
    check(estimator)
