"""Linear machines against LIBLINEAR's own package, at ε = 1e-8.

Every loss × penalty × weights × intercept that LIBLINEAR has. Its dual solvers end after
300 passes, which no option changes: where it says so, ours must be no worse; everywhere
else both have the same optimum.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris, make_classification

from maxmargin import LinearSVC, LinearSVR

liblinearutil = pytest.importorskip("liblinear.liblinearutil")

# our options → LIBLINEAR's -s
CLASSIFIERS = {
    "l2, squared hinge, dual": ({"dual": True}, 1),
    "l2, squared hinge, primal": ({"dual": False}, 2),
    "l2, hinge": ({"loss": "hinge"}, 3),
    "l1, squared hinge": ({"penalty": "l1"}, 5),
    "crammer_singer": ({"multi_class": "crammer_singer"}, 4),
}
REGRESSORS = {
    "squared tube, primal": ({"loss": "squared_epsilon_insensitive", "dual": False}, 11),
    "squared tube, dual": ({"loss": "squared_epsilon_insensitive", "dual": True}, 12),
    "tube": ({"loss": "epsilon_insensitive"}, 13),
}
UNCOUNTED = (2, 5, 11)  # solvers that can leave the intercept out of the penalty


def liblinear(X, y, kind, options):
    """Weights with the intercept last, a line for every class; and whether it gave up."""
    said = []
    listen = liblinearutil.liblinear.set_print_string_function.argtypes[0](said.append)
    parameter = liblinearutil.parameter(f"-s {kind} -e 1e-8 {options}")
    parameter.print_func = listen
    bias = 1.0 if "-B 1" in options else -1.0
    rows = liblinearutil.problem(np.asarray(y, float), sp.csr_matrix(X), bias)
    model = liblinearutil.train(rows, parameter)
    k = model.get_nr_class()
    lines = k if k > 2 or kind == 4 else 1
    width = model.get_nr_feature() + (bias >= 0)
    W = np.ctypeslib.as_array(model.w, (width, lines)).T.copy()
    labels = model.get_labels()
    if kind < 11:
        if lines == 1:
            W *= 1.0 if labels[0] > labels[1] else -1.0
        else:
            W = W[np.argsort(labels)]
    if bias < 0:
        W = np.column_stack([W, np.zeros(lines)])
    words = b"".join(said)
    # For a squared loss the dual solver then leaves the rest to the primal one.
    return W, b"reaching max number of iterations" in words and b"Switching" not in words


def size(W, options):
    """The penalty, in which a free intercept has no part."""
    counted = W[:, :-1] if "-R" in options else W
    return np.abs(counted).sum(axis=1) if "l1" in options else 0.5 * (counted**2).sum(1)


def values(machine, W, X, y, factor, penalty):
    """The objective of every problem of a classifier, from its definition."""
    codes = np.searchsorted(np.unique(y), y)
    F = X @ W[:, :-1].T + W[:, -1]
    C = machine.C * np.asarray(factor)
    if machine.multi_class == "crammer_singer":
        G = F + (np.arange(len(W)) != codes[:, None])
        own = F[np.arange(len(y)), codes]
        return np.array([size(W, penalty).sum() + C[codes] @ (G.max(axis=1) - own)])
    power = 1 if machine.loss == "hinge" else 2
    found = []
    for k in range(len(W)):
        sign = np.where(codes == (1 if len(W) == 1 else k), 1.0, -1.0)
        price = C[codes] if len(W) == 1 else np.where(sign > 0, C[k], machine.C)
        found.append(price @ np.maximum(0.0, 1.0 - sign * F[:, k]) ** power)
    return size(W, penalty) + found


def compare(ours, theirs, gave_up):
    assert (ours <= theirs * (1 + 1e-7)).all()
    if not gave_up:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def whole(machine):
    return np.column_stack(
        [
            np.atleast_2d(machine.coef_),
            np.broadcast_to(machine.intercept_, np.atleast_2d(machine.coef_).shape[0]),
        ]
    )


@pytest.fixture(scope="module", params=["two", "three"])
def labelled(request):
    if request.param == "three":
        X, y = load_iris(return_X_y=True)
        return (X - X.mean(axis=0)) / X.std(axis=0), y
    return make_classification(300, 8, n_informative=5, flip_y=0.1, random_state=3)


@pytest.mark.parametrize("C", [0.03, 1.0])
@pytest.mark.parametrize("intercept", ["none", "regularised", "free"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("which", CLASSIFIERS)
def test_classification(labelled, which, weights, intercept, C):
    X, y = labelled
    options, kind = CLASSIFIERS[which]
    if intercept == "free" and kind not in UNCOUNTED[:1]:
        pytest.skip("LIBLINEAR has no free intercept there, or we do not (penalty l1)")
    if kind == 4 and len(np.unique(y)) == 2:
        pytest.skip("of two classes ours tells the difference; see test_linear_joint")
    k = len(np.unique(y))
    factor = [3.0, 0.5, 1.5][:k] if weights else [1.0] * k
    machine = LinearSVC(
        **options,
        C=C,
        class_weight=dict(enumerate(factor)) if weights else None,
        fit_intercept=intercept != "none",
        intercept="free" if intercept == "free" else "regularised",
        tol=1e-9,
        max_iter=-1,
    ).fit(X, y)
    assert machine.certificate_.ok
    told = f"-c {C}"
    told += {"none": "", "regularised": " -B 1", "free": " -B 1 -R"}[intercept]
    if weights:
        told += "".join(f" -w{label} {one}" for label, one in enumerate(factor))
    W, gave_up = liblinear(X, y, kind, told)
    penalty = options.get("penalty", "l2") + (" -R" if intercept == "free" else "")
    ours = values(machine, whole(machine), X, y, factor, penalty)
    compare(ours, values(machine, W, X, y, factor, penalty), gave_up)


@pytest.mark.parametrize("C", [0.03, 1.0])
@pytest.mark.parametrize("intercept", ["none", "regularised", "free"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("which", REGRESSORS)
def test_regression(which, epsilon, intercept, C):
    X, z = load_diabetes(return_X_y=True)
    X, z = 20 * X, (z - z.mean()) / z.std() + 0.3
    options, kind = REGRESSORS[which]
    if intercept == "free" and kind not in UNCOUNTED:
        pytest.skip("LIBLINEAR has no free intercept there")
    machine = LinearSVR(
        **options,
        C=C,
        epsilon=epsilon,
        fit_intercept=intercept != "none",
        intercept="free" if intercept == "free" else "regularised",
        tol=1e-9,
        max_iter=-1,
    ).fit(X, z)
    assert machine.certificate_.ok
    told = f"-c {C} -p {epsilon}"
    told += {"none": "", "regularised": " -B 1", "free": " -B 1 -R"}[intercept]
    W, gave_up = liblinear(X, z, kind, told)
    penalty = "l2 -R" if intercept == "free" else "l2"
    power = 2 if machine.loss.startswith("squared") else 1

    def value(W):
        miss = np.abs(z - X @ W[0, :-1] - W[0, -1])
        return size(W, penalty) + C * (np.maximum(0.0, miss - epsilon) ** power).sum()

    compare(value(whole(machine)), value(W), gave_up)
