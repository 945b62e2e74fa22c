"""Where we differ from what scikit-learn's own tests ask, and why: one sentence each.

A difference that is no longer one is an error in the tests that read this file.
"""

# --- sklearn/svm/tests, by "file::function" or "file::function[parameters]" -------------

PRIVATE = "about a private attribute of scikit-learn's binding to LIBSVM, "
COUNTING = (
    "about LIBSVM's iterations: on these six points our solver has converged by the time "
    "LIBSVM gives up, and there is nothing to warn of"
)
SUITE = {
    "test_svm::test_svr_errors": (
        "a kernel function that returns the wrong shape is to pass fit and fail in "
        "predict; here fit refuses it already"
    ),
    "test_svm::test_tweak_params": (
        PRIVATE + "_dual_coef_; here predictions follow the public dual_coef_ "
        "(test_bad_input.py::test_public_attributes_are_what_predicts)"
    ),
    "test_svm::test_bad_input": (
        "a machine fitted on dense rows is to refuse sparse ones; here rows may be dense "
        "or sparse at any time"
    ),
    "test_svm::test_libsvm_convergence_warnings": COUNTING,
    "test_svm::test_custom_kernel_not_array_input[SVC]": (
        "its kernel function is right only as k(X, X) of one and the same X (it mirrors "
        "the upper triangle), and ours is asked for any rows against support vectors"
    ),
    "test_svm::test_svc_raises_error_internal_representation": (
        PRIVATE + "_n_support; here the public n_support_ is what is checked "
        "(test_bad_input.py::test_altered_models_are_refused)"
    ),
    "test_svm::test_probability_raises_futurewarning": (
        "about scikit-learn's deprecation: probability= is here to stay"
    ),
    "test_svm::test_svc_nusvc_probA_probB_deprecated": (
        "about scikit-learn's deprecation: probA_ and probB_ are here to stay"
    ),
    "test_sparse::test_timeout": COUNTING,
    "test_svm::test_linear_svm_convergence_warnings": (
        "about LIBLINEAR's iterations: Newton's method needs two steps on these points, "
        "and there is nothing to warn of"
    ),
}


# --- sklearn.utils.estimator_checks, by what the machine is -----------------------------

REPEATED = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
LOOSE = (
    "weighted and repeated rows are two problems with one solution, which tol=1e-3 "
    "determines to three digits and the check compares to seven; with a small tol it "
    "passes, as other machines in the list show"
)
DRAWN = (
    "folds are drawn of rows: a row that is there twice may be learnt from and held out "
    "at once, one of weight 2 not"
)
BOUNDARY = (
    "free support vectors lie on the boundary, where rounding decides between +1 and -1; "
    "decision_function, which the check compares first, agrees"
)
INFEASIBLE = "the weights of the check leave one class too light for this nu"
UNLIKE = (
    "the check wants predict to follow decision_function as well as predict_proba, and "
    "with probability=True it is the argmax of predict_proba"
)
INDEFINITE = (
    "the check takes an indefinite matrix (smallest eigenvalue -1470) for a kernel "
    "matrix and allows no warning, and we warn of exactly that"
)
NO_MATRIX = "the check gives a precomputed kernel rows of two features"
AT_ONCE = "with nu=1 all coefficients are at their bound, and there is nothing to iterate"


def failing_checks(machine):
    """The checks that this machine is expected to fail, each with its reason."""
    name, found = type(machine).__name__, {}
    if vars(machine).get("kernel") == "precomputed":
        found["check_positive_only_tag_during_fit"] = INDEFINITE
        if name == "OneClassSVM":
            found["check_outliers_fit_predict"] = NO_MATRIX
            found["check_outliers_train"] = NO_MATRIX
    elif getattr(machine, "probability", False):
        found |= dict.fromkeys(REPEATED, DRAWN)
    elif machine.tol == 1e-3:
        found |= dict.fromkeys(REPEATED, LOOSE)
    elif name in ("OneClassSVM", "SVDD"):
        found |= dict.fromkeys(REPEATED, BOUNDARY)
    if name == "NuSVC":
        found["check_class_weight_classifiers"] = INFEASIBLE
        if machine.nu == 1.0:
            found["check_non_transformer_estimators_n_iter"] = AT_ONCE
        elif machine.class_weight is None:
            found |= dict.fromkeys(REPEATED, INFEASIBLE)
    if getattr(machine, "calibration", "") == "isotonic" or (
        name == "NuSVC" and machine.probability
    ):
        found["check_classifiers_train"] = UNLIKE
    return found
