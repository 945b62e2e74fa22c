"""scikit-learn's own estimator checks, every exception with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import SVC

LOOSE = (
    "weighted and repeated rows are two problems with one solution, which tol=1e-3 "
    "determines to three digits and the check compares to seven; with tol=1e-11 it "
    "passes (the third machine below)"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": LOOSE,
    "check_sample_weight_equivalence_on_sparse_data": LOOSE,
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
    return EXPECTED if estimator.tol == 1e-3 else {}


@parametrize_with_checks(
    [SVC(), SVC(kernel="precomputed"), SVC(tol=1e-11)],
    expected_failed_checks=expected,
)
def test_estimator_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(EXPECTED | INDEFINITE))
def test_exceptions_name_existing_checks(name):
    from sklearn.utils import estimator_checks

    assert callable(getattr(estimator_checks, name))
