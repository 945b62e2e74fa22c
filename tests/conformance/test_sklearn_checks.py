"""scikit-learn's own estimator checks, every exception with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import SVC

SCALE = (
    "gamma='scale' is computed from X as it was given, as in scikit-learn, so repeating "
    "rows changes it and weighting them does not; with gamma a number the check passes "
    "(the third machine below)"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": SCALE,
    "check_sample_weight_equivalence_on_sparse_data": SCALE,
}


INDEFINITE = {
    "check_positive_only_tag_during_fit": (
        "the check takes an indefinite matrix (smallest eigenvalue -1470) for a kernel "
        "matrix and allows no warning, and SVC warns of exactly that"
    ),
}


def expected(estimator):
    if estimator.kernel == "precomputed":
        return INDEFINITE
    if estimator.kernel == "rbf" and estimator.gamma == "scale":
        return EXPECTED
    return {}


@parametrize_with_checks(
    [SVC(), SVC(kernel="precomputed"), SVC(gamma=0.1, tol=1e-11)],
    expected_failed_checks=expected,
)
def test_estimator_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(EXPECTED | INDEFINITE))
def test_exceptions_name_existing_checks(name):
    from sklearn.utils import estimator_checks

    assert callable(getattr(estimator_checks, name))
