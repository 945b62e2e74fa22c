"""The tutorial: its two functions, the models on the way, the data and the choice."""

import pickle

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from tests import data

import maxmargin
from maxmargin import SVC, tutorial
from maxmargin.errors import (
    ConvergenceWarning,
    IndefiniteKernelWarning,
    InputError,
    InputTypeError,
)
from maxmargin.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid


def linear_function(A, B):
    return np.asarray(A) @ np.asarray(B).T


@maxmargin.kernel
def quadratic(x, z):
    total = 1.0
    for k in range(x.size):
        total += x[k] * z[k]
    return total * total


KERNELS = {
    "linear": "linear",
    "object": Linear(),
    "gaussian": RBF(sigma=0.3),
    "polynomial": Polynomial(degree=2),
    "compiled": quadratic,
    "function": linear_function,
}


def ours(model, X, y, C, kernel):
    """The certified machine, and where its decision is too close to 0 to compare."""
    machine = SVC(C=C, kernel=kernel, solver="smo", tol=1e-6).fit(X, y)
    return machine, np.abs(machine.decision_function(X)) > 1e-3


# --- training and predicting ---------------------------------------------------------


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("C", [0.5, 10.0])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_training_finds_the_optimum_of_svc(kernel, C, number):
    X, y, *_ = tutorial.made_example(number)
    X, y = X[-60:], y[-60:]
    model = tutorial.svm_train(X, y, C, kernel, tol=1e-4)
    machine, clear = ours(model, X, y, C, kernel)
    assert model.converged
    assert model.dual == pytest.approx(machine.certificate_.dual, rel=1e-3)
    assert model.margin == pytest.approx(machine.margin_, rel=1e-2)
    predicted = tutorial.svm_predict(model, X)
    np.testing.assert_array_equal(predicted[clear], machine.predict(X)[clear])
    assert model.alphas.min() >= 0.0
    assert model.alphas.max() <= C
    assert model.beta.sum() == pytest.approx(0.0, abs=1e-9 * C)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_decisions_are_the_formula(kernel):
    X, y, *_ = tutorial.made_example(1)
    model = tutorial.svm_train(X, y, 1.0, kernel)
    new = X[:7] + 0.25
    K = new @ X.T if kernel == "linear" else np.asarray(kernel(new, X))
    f = K @ (np.where(y == 1, 1.0, -1.0) * model.alphas) + model.b
    np.testing.assert_allclose(model.decision(new), f, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(tutorial.svm_predict(model, new), (f >= 0).astype(int))


def test_predictions_are_zeros_and_ones_of_both_label_conventions():
    X, y, *_ = tutorial.made_example(1)
    by_zero = tutorial.svm_train(X, y, 1.0)
    by_sign = tutorial.svm_train(X.tolist(), (2 * y - 1).reshape(-1, 1), 1.0)
    for model in (by_zero, by_sign):
        predicted = tutorial.svm_predict(model, X)
        assert predicted.dtype == np.int64
        assert set(predicted.tolist()) == {0, 1}
    np.testing.assert_array_equal(by_zero.alphas, by_sign.alphas)


def test_a_point_on_the_boundary_is_of_class_one():
    X = np.array([[-1.0], [1.0]])
    model = tutorial.svm_train(X, [0, 1], 10.0)
    assert model.decision([[0.0]])[0] == 0.0
    assert tutorial.svm_predict(model, [[0.0], [-1e-9]]).tolist() == [1, 0]


def test_linear_models_have_w_and_others_do_not():
    X, y, *_ = tutorial.made_example(1)
    for kernel in ("linear", Linear()):
        model = tutorial.svm_train(X, y, 1.0, kernel)
        np.testing.assert_allclose(model.w, model.beta @ X)
        assert model.margin == pytest.approx(2.0 / np.linalg.norm(model.w))
    assert tutorial.svm_train(X, y, 1.0, RBF(sigma=1.0)).w is None


def test_the_outlier_is_given_up_at_1_and_kept_at_100():
    example = tutorial.made_example(1)
    check_pull(example.X, example.y)


def test_the_outlier_of_ex6data1_is_given_up_at_1_and_kept_at_100():
    X, y = data.teaching(1)[:2]
    check_pull(X, y)


def check_pull(X, y):
    soft, steep = (tutorial.svm_train(X, y, C) for C in (1.0, 100.0))
    assert np.flatnonzero(tutorial.svm_predict(soft, X) != y).tolist() == [y.size - 1]
    np.testing.assert_array_equal(tutorial.svm_predict(steep, X), y)
    assert steep.margin < 0.5 * soft.margin


def test_max_iter_counts_sweeps_and_warns():
    X, y, *_ = tutorial.made_example(1)
    words = (
        r"C=100, kernel='linear'\) .*after 3 sweeps: violation .*more sweeps \(max_iter\)"
    )
    with pytest.warns(ConvergenceWarning, match=words):
        model = tutorial.svm_train(X, y, 100.0, max_iter=3)
    assert model.n_iter == 3
    assert not model.converged
    assert "not converged" in repr(model)


def test_an_indefinite_kernel_warns_and_has_no_margin():
    X, y, *_ = tutorial.made_example(3)
    with pytest.warns(IndefiniteKernelWarning, match="Sigmoid"):
        model = tutorial.svm_train(X, y, 10.0, Sigmoid(a=2.0, r=-0.5))
    assert model.squared_norm < 0.0
    assert np.isnan(model.margin)


def test_the_seed_decides_the_partners():
    X, y, *_ = tutorial.made_example(1)
    first, again = (tutorial.svm_train(X, y, 1.0, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.alphas, again.alphas)
    other = tutorial.svm_train(X, y, 1.0, seed=4)
    assert not np.array_equal(first.alphas, other.alphas)
    assert other.dual == pytest.approx(first.dual, rel=1e-3)


def test_models_survive_pickling():
    X, y, *_ = tutorial.made_example(1)
    model = tutorial.svm_train(X, y, 1.0, RBF(sigma=0.5))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision(X), model.decision(X))
    assert copy.step.words == model.step.words


# --- on the way -----------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("kernel", ["linear", RBF(sigma=0.3)], ids=["linear", "rbf"])
def test_iterations_end_in_the_trained_model(kernel, every):
    X, y, *_ = tutorial.made_example(1)
    models = list(tutorial.iterations(X, y, 1.0, kernel, every=every))
    final = tutorial.svm_train(X, y, 1.0, kernel)
    np.testing.assert_array_equal(models[-1].alphas, final.alphas)
    assert models[-1].b == final.b
    assert models[-1].n_iter == final.n_iter
    assert [model.converged for model in models] == [False] * (len(models) - 1) + [True]


def test_every_iteration_changes_its_pair_only_and_raises_the_dual():
    X, y, *_ = tutorial.made_example(1)
    before, dual, steps = np.zeros(y.size), 0.0, 0
    for model in tutorial.iterations(X, y, 1.0, max_iter=5):
        changed = set(np.flatnonzero(model.alphas != before).tolist())
        assert model.beta.sum() == pytest.approx(0.0, abs=1e-12)
        if changed:  # the last unit may be a sweep that moved nothing
            assert changed <= set(model.step.points)
            assert model.dual > dual - 1e-12
            steps += 1
        before, dual = model.alphas, model.dual
    assert steps > 10


def test_iterations_stop_at_max_iter_without_a_warning():
    X, y, *_ = tutorial.made_example(1)
    *_, last = tutorial.iterations(X, y, 100.0, max_iter=3)
    assert last.n_iter == 3
    assert not last.converged


def test_iterations_refuse_bad_input_at_the_call():
    with pytest.raises(InputError, match="C=-1"):
        tutorial.iterations([[0.0], [1.0]], [0, 1], -1)


# --- random models --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kernel", ["linear", RBF(sigma=0.5)], ids=["linear", "rbf"])
def test_random_models_are_feasible_and_have_a_boundary(kernel, seed):
    X, y, *_ = tutorial.made_example(1)
    model = tutorial.random_model(X, y, kernel, C=2.5, seed=seed)
    assert model.alphas.min() >= 0.0
    assert model.alphas.max() <= 2.5
    assert model.support.size >= 2
    assert model.beta.sum() == pytest.approx(0.0, abs=1e-12)
    assert not model.converged
    assert set(tutorial.svm_predict(model, X).tolist()) == {0, 1}


def test_random_models_differ_by_their_seed_alone():
    X, y, *_ = tutorial.made_example(1)
    one, same, other = (tutorial.random_model(X, y, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.alphas, same.alphas)
    assert one.b == same.b
    assert not np.array_equal(one.alphas, other.alphas)


# --- data -----------------------------------------------------------------------------


@pytest.fixture
def nowhere(monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(("number", "n"), [(1, 51), (2, 400), (3, 211)])
def test_without_files_the_data_are_made(number, n):
    example = tutorial.load_example(number)
    assert example.X.shape == (n, 2)
    assert set(example.y.tolist()) == {0, 1}
    assert example.source == "made in place, seed 0"
    again = tutorial.made_example(number)
    np.testing.assert_array_equal(example.X, again.X)
    assert not np.array_equal(example.X, tutorial.made_example(number, seed=1).X)
    assert (example.X_val is None) == (number != 3)


@pytest.mark.parametrize("seed", range(5))
def test_made_data_are_of_their_kind(seed):
    linear = {
        number: SVC(C=1e3, kernel="linear", max_iter=10**6)
        .fit(*tutorial.made_example(number, seed)[:2])
        .score(*tutorial.made_example(number, seed)[:2])
        for number in (1, 2, 3)
    }
    curved = {
        number: SVC(C=10.0, kernel=RBF(sigma=0.1))
        .fit(*tutorial.made_example(number, seed)[:2])
        .score(*tutorial.made_example(number, seed)[:2])
        for number in (2, 3)
    }
    assert linear[1] == 1.0
    assert linear[2] < 0.95
    assert curved[2] == 1.0
    assert 0.8 < linear[3] < curved[3] < 1.0


@pytest.mark.parametrize("below", ["", "teaching"])
def test_files_are_read_from_the_folder_and_the_environment(tmp_path, monkeypatch, below):
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = np.array([[0], [1], [1]], dtype=np.uint8)
    parts = {"X": X, "y": y, "Xval": X[:2], "yval": y[:2]}
    scipy.io.savemat(folder / "ex6data3.mat", parts)
    given = tutorial.load_example(3, folder)
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    found = tutorial.load_example(3)
    for example in (given, found):
        np.testing.assert_array_equal(example.X, X)
        assert example.y.tolist() == [0, 1, 1]
        np.testing.assert_array_equal(example.X_val, X[:2])
        assert example.y_val.tolist() == [0, 1]
        assert example.source == str(folder / "ex6data3.mat")
    assert tutorial.load_example(1).source.startswith("made")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_real_files_are_read(number):
    expected = data.teaching(number)
    example = tutorial.load_example(number, data.folder() / "teaching")
    np.testing.assert_array_equal(example.X, expected.X)
    np.testing.assert_array_equal(example.y, expected.y)
    if number == 3:
        np.testing.assert_array_equal(example.X_val, expected.X_test)
        np.testing.assert_array_equal(example.y_val, expected.y_test)


def test_files_that_are_absent_or_broken_say_so(tmp_path):
    with pytest.raises(InputError, match=r"no ex6data1\.mat in .*folder=None"):
        tutorial.load_example(1, tmp_path)
    (tmp_path / "ex6data1.mat").write_bytes(b"this is no MATLAB file at all" * 20)
    with pytest.raises(InputError, match="cannot be read as a MATLAB file"):
        tutorial.load_example(1, tmp_path)
    scipy.io.savemat(tmp_path / "ex6data2.mat", {"X": np.eye(2)})
    with pytest.raises(InputError, match="has no y, but X"):
        tutorial.load_example(2, tmp_path)


# --- the choice -----------------------------------------------------------------------


def test_the_choice_is_the_lowest_of_the_table():
    example = tutorial.made_example(3)
    best = tutorial.choose(*example[:4], Cs=[1.0, 0.1], sigmas=[0.03, 0.1, 0.3])
    assert best.errors.shape == (2, 3)
    assert best.error == best.errors.min()
    assert best.errors[best.Cs.index(best.C), best.sigmas.index(best.sigma)] == best.error
    predicted = tutorial.svm_predict(best.model, example.X_val)
    assert (predicted != example.y_val).mean() == best.error
    machine = SVC(C=0.1, kernel=RBF(sigma=0.3)).fit(example.X, example.y)
    expected = 1.0 - machine.score(example.X_val, example.y_val)
    assert best.errors[1, 2] == pytest.approx(expected, abs=0.006)  # one point


@pytest.mark.parametrize("turned", [False, True])
def test_ties_go_to_the_smallest_C_then_sigma_in_any_order(turned):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = [0, 0, 1, 1]
    values = [0.5, 1.0, 2.0]
    Cs = values[::-1] if turned else values
    best = tutorial.choose(X, y, X, y, Cs=Cs, sigmas=Cs)
    assert best.error == 0.0
    assert (best.C, best.sigma) == (0.5, 0.5)
    assert best.ties[0] == (0.5, 0.5)
    assert len(best.ties) == 9
    assert (best.model.C, best.model.kernel) == (0.5, RBF(sigma=0.5))


def test_the_best_of_ex6data3_is_the_known_one():
    split = data.teaching(3)
    around = [0.03, 0.1, 0.3, 1.0, 3.0]
    best = tutorial.choose(*split, Cs=around, sigmas=around)
    assert (best.C, best.sigma) == (1.0, 0.1)
    assert best.error == pytest.approx(0.035)
    assert best.ties == [(1.0, 0.1), (1.0, 0.3), (3.0, 0.1)]


# --- bad input ------------------------------------------------------------------------

X2 = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]])
Y2 = [0, 1, 1]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"y": [0, 1, 2]}, InputError, r"y holds 0, 1, 2: .*0 and 1 .*maxmargin\.SVC"),
        ({"y": [1, 2, 2]}, InputError, r"y holds 1, 2: "),
        ({"y": [1, 1, 1]}, InputError, r"y holds 1: .*points of both"),
        ({"y": [-1, 0, 1]}, InputError, r"y holds -1, 0, 1: "),
        ({"y": [0.0, 1.0, np.nan]}, InputError, r"y holds 0.0, 1.0, nan"),
        ({"y": ["a", "b", "b"]}, InputTypeError, r"y has dtype <U1: .*0 and 1"),
        ({"y": [0, 1]}, InputError, r"y has shape \(2,\): give 3 labels"),
        ({"X": [0.0, 1.0, 2.0]}, InputError, r"X has shape \(3,\)"),
        ({"X": X2 * np.nan}, InputError, "X contains NaN"),
        ({"X": sp.csr_array(X2)}, InputTypeError, r"sparse: .*X\.toarray\(\)"),
        ({"C": 0.0}, InputError, "C=0.0: give a positive, finite number"),
        ({"C": np.inf}, InputError, "C=inf: give a positive, finite number"),
        ({"C": "1"}, InputTypeError, "C='1': give a positive, finite number"),
        ({"C": True}, InputTypeError, "C=True: give a positive, finite number"),
        ({"tol": 0.0}, InputError, "tol=0.0: give a positive"),
        ({"max_iter": 0}, InputError, "max_iter=0 .*sweeps"),
        ({"max_iter": -2}, InputError, "max_iter=-2: .*sweeps"),
        ({"max_iter": 1.5}, InputTypeError, "max_iter=1.5: give an integer"),
        ({"seed": -1}, InputError, "seed=-1: give an integer of at least 0"),
        ({"kernel": "rbf"}, InputError, r"kernel='rbf': give 'linear'.*RBF\(sigma="),
        ({"kernel": 3}, InputTypeError, "kernel=3: give 'linear'"),
        ({"kernel": RBF}, InputTypeError, "give 'linear', a kernel object"),
        ({"kernel": Precomputed()}, InputError, r"Precomputed\(\) has values but no"),
    ],
)
def test_bad_input_is_refused_in_words(change, error, words):
    given = {"X": X2, "y": Y2, "C": 1.0} | change
    with pytest.raises(error, match=words):
        tutorial.svm_train(**given)


def test_other_functions_refuse_in_words():
    model = tutorial.svm_train(X2, Y2, 1.0)
    with pytest.raises(InputError, match=r"X has 1 features and the model .* on 2"):
        tutorial.svm_predict(model, [[1.0]])
    with pytest.raises(InputTypeError, match="model is a SVC: give what svm_train"):
        tutorial.svm_predict(SVC(), X2)
    with pytest.raises(InputError, match=r"number=4: .* 1, 2 and 3"):
        tutorial.load_example(4)
    with pytest.raises(InputError, match="number=0"):
        tutorial.made_example(0)
    with pytest.raises(InputError, match="Cs is empty"):
        tutorial.choose(X2, Y2, X2, Y2, Cs=[])
    with pytest.raises(InputError, match=r"sigmas\[1\]=-1.0: give a positive"):
        tutorial.choose(X2, Y2, X2, Y2, sigmas=[1.0, -1.0])
    with pytest.raises(InputError, match="y_val holds 3"):
        tutorial.choose(X2, Y2, X2, [3, 3, 3])
    with pytest.raises(InputError, match="every=0: give an integer of at least 1"):
        tutorial.iterations(X2, Y2, 1.0, every=0)


def test_all_is_what_can_be_loaded():
    for name in tutorial.__all__:
        assert getattr(tutorial, name).__name__ == name
