"""A kernel, a loss, a solver and a machine from outside: one file each, used everywhere.

Each of ``tests/toys`` registers itself; here they are fitted, certified, saved, loaded,
and used from the command line, as the four pages docs/add-a-….md show them.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from tests.toys import toy_kernel, toy_loss, toy_machine, toy_solver

from maxmargin import SVC, SVR, InputError, LinearSVC, ModelFileError, certify, load, save
from maxmargin.cli.program import program
from maxmargin.problem import linear_problem
from maxmargin.solvers import drive
from maxmargin.solvers.linear import DualDescent, Newton, NewtonCg

TOYS = Path(toy_loss.__file__).parent
ROOT = TOYS.parents[1]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, (X[:, 0] + 0.5 * rng.normal(size=300) > 0.0).astype(int)


def fitted(name, X, y):
    return {
        "kernel": SVC(kernel="cauchy", gamma=0.5, tol=1e-4),
        "kernel object": SVC(kernel=toy_kernel.Cauchy(0.5) * 2.0, tol=1e-4),
        "loss": LinearSVC(loss="soft_hinge", tol=1e-8),
        "solver": SVC(solver="worst-pair", tol=1e-4),
        "machine": toy_machine.LeastDeviations(C=2.0, tol=1e-4),
    }[name].fit(X, X[:, 1] if name == "machine" else y)


@pytest.mark.parametrize(
    "path", sorted(TOYS.glob("toy_*.py")), ids=lambda path: path.stem
)
def test_one_file_of_at_most_sixty_lines(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert "maxmargin._" not in text  # public things alone


@pytest.mark.parametrize("name", ["kernel", "kernel object", "loss", "solver", "machine"])
def test_fit_certify_save_and_load(name, rows, tmp_path):
    X, y = rows
    model = fitted(name, X, y)
    target = X[:, 1] if name == "machine" else y
    assert model.certificate_.ok
    verdict = certify(model, X, target)
    assert verdict.ok
    assert verdict.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert verdict.dual == pytest.approx(model.certificate_.dual, rel=1e-9)
    save(model, tmp_path / "model.maxmargin")
    again = load(tmp_path / "model.maxmargin")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params() == clone(model).get_params()


def test_the_solver_finds_what_ours_finds(rows):
    X, y = rows
    theirs, ours = fitted("solver", X, y), SVC(tol=1e-4).fit(X, y)
    assert theirs.certificate_.primal == pytest.approx(ours.certificate_.primal, rel=1e-4)


def test_the_machine_is_a_tube_of_width_0(rows):
    X, y = rows
    ours = SVR(C=2.0, epsilon=0.0, tol=1e-4).fit(X, X[:, 1])
    np.testing.assert_array_equal(fitted("machine", X, y).predict(X), ours.predict(X))


def test_the_loss_at_other_temperatures_is_logistic(rows):
    """At t = 1 and margin 0 the soft hinge is the logistic loss of m − 1."""
    m = np.linspace(-4.0, 4.0, 9)
    loss, t = toy_loss.soft_hinge, toy_loss.T
    numeric = (loss.value(m + 1e-6) - loss.value(m - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.slope(m), numeric, atol=1e-8)
    np.testing.assert_allclose(loss.value(m), t * np.log1p(np.exp((1.0 - m) / t)))


@pytest.mark.parametrize("solver", ["newton", "newton-cg"])
def test_newtons_methods_take_any_smooth_loss(solver, rows):
    X, y = rows
    model = LinearSVC(loss="soft_hinge", solver=solver, tol=1e-9).fit(X, y)
    assert model.certificate_.ok
    other = LinearSVC(loss="soft_hinge", solver="newton", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)


@pytest.mark.parametrize("kind", [Newton, NewtonCg])
def test_logistic_regression_needs_no_new_solver(kind, rows):
    """The loss of the pictures, given to Newton's method as it is."""
    from maxmargin.losses import logistic

    X, y = rows
    problem = LinearSVC(fit_intercept=False).problem(X, y)
    sign = np.where(y == 1, 1.0, -1.0)
    problem = linear_problem(problem.design, sign, np.full(len(y), 2.0), logistic)
    found = drive(kind(tol=1e-10), problem)
    peer = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(found.model.w, peer.fit(X, y).coef_[0], atol=1e-4)
    assert problem.measures(found.model).relative_gap <= 1e-10


def test_a_solver_of_boxes_refuses_a_smooth_loss(rows):
    X, y = rows
    with pytest.raises(InputError, match="conjugate of a box"):
        LinearSVC(loss="soft_hinge", solver=DualDescent()).fit(X, y)


def test_unknown_names_are_told_the_known_ones(rows):
    X, y = rows
    with pytest.raises(InputError, match="soft_hinge"):
        LinearSVC(loss="sofd_hinge").fit(X, y)
    with pytest.raises(InputError, match="cauchy"):
        SVC(kernel="cauchi").fit(X, y)
    with pytest.raises(InputError, match="worst-pair"):
        SVC(solver="wurst-pair").fit(X, y)


@pytest.mark.parametrize(
    ("toy", "options"),
    [
        ("toy_machine", ["--machine", "least-deviations", "--task", "regress"]),
        ("toy_solver", ["--solver", "worst-pair"]),
        ("toy_kernel", ["--kernel", "cauchy"]),
    ],
)
def test_the_command_line(toy, options, rows, tmp_path):
    X, y = rows
    target = X[:, 1] if toy == "toy_machine" else y
    table, model = tmp_path / "rows.csv", tmp_path / "m.maxmargin"
    head = ",".join([*(f"x{k}" for k in range(5)), "target"])
    np.savetxt(table, np.c_[X, target], delimiter=",", header=head, comments="")
    plugin = ["--plugin", f"tests.toys.{toy}"]
    run = CliRunner().invoke
    done = run(program, [*plugin, "train", str(table), *options, "-o", str(model)])
    assert done.exit_code == 0, done.output
    assert "converged" in done.output
    done = run(program, [*plugin, "predict", str(model), str(table), "--json"])
    assert done.exit_code == 0, done.output


def test_a_file_names_what_must_be_imported_first(rows, tmp_path):
    X, y = rows
    path = tmp_path / "model.maxmargin"
    save(fitted("machine", X, y), path)
    code = f"import maxmargin; maxmargin.load({str(path)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert "tests.toys.toy_machine" in done.stderr
    assert ModelFileError.__name__ in done.stderr


def test_json_of_what_is_shown():
    assert json.dumps({"stop": LinearSVC().fit([[0.0], [1.0]], [0, 1]).certificate_.stop})
    assert toy_solver.WorstPair().tol == 1e-3


def test_the_picture_of_losses_draws_it_too():
    pytest.importorskip("matplotlib")
    from maxmargin.plots import LossDisplay

    display = LossDisplay.from_losses(["hinge", "soft_hinge"])
    line = display.lines_["soft_hinge"]
    assert line.get_label() == "soft_hinge"
    z = line.get_xdata()
    np.testing.assert_array_equal(line.get_ydata(), toy_loss.soft_hinge(z))
