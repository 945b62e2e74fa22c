"""Steps that are told, films of a run, and what watching costs."""

import copy
import pickle
import sys

import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin import SVC, InputError, MissingExtraError, solvers
from maxmargin.errors import load_extra
from maxmargin.observers import History
from maxmargin.problem import dual_value
from maxmargin.solvers import Step, drive


def problem(n=80, **options):
    X, y = make_moons(n, noise=0.2, random_state=0)
    return SVC(C=5.0, gamma=1.0, **options).problem(X, y)


# --- a step -----------------------------------------------------------------------------


def test_a_step_is_a_sentence_with_numbers():
    step = Step("Point 3 moved.", {"i": 3}, (3,))
    assert str(step) == "Point 3 moved."
    assert step["i"] == 3
    with pytest.raises(KeyError, match="this step tells i"):
        step["eta"]
    with pytest.raises(TypeError):
        step.numbers["i"] = 4
    for copied in (copy.deepcopy(step), pickle.loads(pickle.dumps(step))):
        assert copied == step


# --- a film -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "solver", [solvers.Smo(), solvers.PlattSmo(), solvers.WorkingSetSmo()], ids=repr
)
def test_snapshots_keep_their_moment(solver):
    """A list of snapshots shows the run, not its end as many times."""
    seen, film = [], []
    for snapshot in solver.steps(problem()):
        seen.append((str(snapshot), snapshot.model.beta.copy(), snapshot.measures))
        film.append(snapshot)
    again = list(solver.steps(problem()))
    assert len(again) == len(film) > 1
    for one, other, (words, beta, measures) in zip(film, again, seen, strict=True):
        for shot in (one, other):
            assert str(shot) == words
            np.testing.assert_array_equal(shot.model.beta, beta)
            assert shot.measures == measures


def test_a_film_can_be_cut_and_gone_on_from():
    solver, one = solvers.PlattSmo(), problem()
    film = list(solver.steps(one))
    rest = drive(solver, one, state=copy.deepcopy(film[10].state))
    np.testing.assert_array_equal(rest.model.beta, film[-1].model.beta)


def test_a_film_can_begin_somewhere():
    one = problem()
    best = drive(solvers.Smo(tol=1e-6), one).model.beta
    assert len(list(solvers.PlattSmo().steps(one, warm=best))) == 1


# --- what is told is true ---------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_plain_smo_tells_the_truth(fit_intercept):
    one = problem(60, fit_intercept=fit_intercept)
    everyone = np.arange(one.n)
    K = np.empty((one.n, one.n))
    one.gram.block(everyone, everyone, K)
    before, told = np.zeros(one.n), 0
    for snapshot in solvers.Smo().steps(one):
        step, beta = snapshot.step, snapshot.model.beta
        change = beta - before
        told += 1
        assert set(np.flatnonzero(change)) <= set(step.points)
        F = K @ before + one.p
        i = step["i"]
        assert change[i] == pytest.approx(step["t"])
        assert step["F_i"] == pytest.approx(F[i])
        curvature, slope = K[i, i], -F[i]
        if fit_intercept:
            j = step["j"]
            curvature += K[j, j] - 2 * K[i, j]
            slope += F[j]
        assert step["eta"] == pytest.approx(curvature)
        assert step["t_unclipped"] == pytest.approx(slope / curvature)
        assert step["clipped"] == (abs(step["t"]) < abs(step["t_unclipped"]))
        assert step["b"] == snapshot.model.bias
        rise = -0.5 * (beta @ K @ beta - before @ K @ before) - one.p @ change
        assert step["gain"] == pytest.approx(rise, abs=1e-9)
        before = beta
    assert told > 20


def test_the_working_set_solver_tells_what_a_unit_gained():
    one = problem(80)
    duals, told = [0.0], []
    for snapshot in solvers.WorkingSetSmo().steps(one):
        duals.append(dual_value(one, snapshot.model.beta, snapshot.model.gradient))
        told.append(snapshot.step.numbers.get("unit_gain", 0.0))
    np.testing.assert_allclose(told, np.diff(duals), rtol=1e-6, atol=1e-9)
    assert max(told) > 1.0


def test_pegasos_tells_who_was_drawn():
    one = problem(50, fit_intercept=False)
    solver = solvers.Pegasos(max_iter=3)
    film = list(solver.steps(one))
    assert len(film) == 3 * one.n
    counts = np.zeros(one.n, int)
    for t, snapshot in enumerate(film, start=1):
        step = snapshot.step
        i = step["i"]
        counts[i] += step["counted"]
        assert step["t"] == t
        assert step["counted"] == (step["margin"] < 1.0)
        assert step["count"] == counts[i]
    for epoch in range(3):  # every point once
        visited = {shot.step["i"] for shot in film[epoch * one.n : (epoch + 1) * one.n]}
        assert visited == set(range(one.n))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "C"), [(60, 0.1), (100, 1.0), (300, 0.3)])
def test_an_epoch_visits_every_point(seed, n, C):
    X, y = make_moons(n, noise=0.2, random_state=0)
    one = SVC(C=C, gamma=1.0, fit_intercept=False).problem(X, y)
    film = list(solvers.Pegasos(tol=0.0, max_iter=2, seed=seed).steps(one))
    for epoch in range(2):
        visited = {shot.step["i"] for shot in film[epoch * n : (epoch + 1) * n]}
        assert visited == set(range(n))


def test_small_weights_are_drawn_as_often_as_they_should():
    rng = np.random.default_rng(0)
    X, y = make_moons(100, noise=0.2, random_state=0)
    weight = rng.choice([0.1, 1.0, 3.0], 100)
    one = SVC(gamma=1.0, fit_intercept=False).problem(X, y, weight)
    drawn = np.zeros(100)
    for snapshot in solvers.Pegasos(tol=0.0, max_iter=60).steps(one):
        drawn[snapshot.step["i"]] += 1
    np.testing.assert_allclose(drawn, 6000 * weight / weight.sum(), atol=3.0)


@pytest.mark.parametrize("C", [0.3, 1.7])
def test_pegasos_knows_its_bounds(C):
    X, y = make_moons(200, noise=0.3, random_state=0)
    machine = SVC(C=C, gamma=1.0, solver="pegasos", fit_intercept=False).fit(X, y)
    bound = np.abs(machine.dual_coef_).ravel() == C
    assert machine.certificate_.n_bound == bound.sum() > 10


# --- watching ---------------------------------------------------------------------------


def test_looking_is_not_counted_as_work():
    """Chunking's gap needs gradients that the solver itself does not."""
    keys = ("gap", "n_support", "n_kernel")
    watched, alone = History(keys), History(("n_kernel",))
    solver = solvers.Chunking(chunk=10)
    drive(solver, problem(), observers=[watched])
    drive(solver, problem(), observers=[alone])
    assert watched["n_kernel"][-1] == alone["n_kernel"][-1] > 0
    assert np.isfinite(watched["gap"][-1])


def test_growth_is_how_closely_a_run_is_watched():
    coarse, fine = History(("n_iter",)), History(("n_iter",))
    ends = [
        drive(solvers.PlattSmo(), problem(), observers=[history], growth=growth)
        for history, growth in ((coarse, 2.0), (fine, 1.1))
    ]
    assert len(fine["n_iter"]) > 2 * len(coarse["n_iter"])
    np.testing.assert_array_equal(ends[0].model.beta, ends[1].model.beta)


# --- what a solver may be ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"tol": -1.0}, "tol=-1.0: it must be a finite number of at least 0"),
        ({"tol": float("nan")}, "tol=nan"),
        ({"tol": "small"}, "tol='small'"),
        ({"max_iter": -2}, "max_iter=-2: it must be at least -1"),
        ({"max_iter": 1.5}, "max_iter=1.5: it must be an integer"),
        ({"cache_bytes": 0}, "cache_bytes=0: it must be at least 1"),
    ],
)
@pytest.mark.parametrize(
    "kind", ["PlattSmo", "WorkingSetSmo", "Decomposition", "Pegasos"]
)
def test_parameters_are_checked(kind, options, match):
    with pytest.raises(InputError, match=match):
        getattr(solvers, kind)(**options)


def test_a_solver_of_all_classes_is_told_from_others():
    X, y = make_moons(20, random_state=0)
    with pytest.raises(InputError, match=r"use SVC\(multi_class='crammer_singer'\)"):
        SVC(solver=solvers.CrammerSinger()).fit(X, y)


# --- extras -----------------------------------------------------------------------------


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)  # as if it were not installed
    with pytest.raises(MissingExtraError, match=r"pip install 'maxmargin\[qp\]'"):
        SVC(solver="qp").fit([[0.0], [1.0]], [0, 1])


def test_a_broken_extra_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import surely_not_installed\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed") as caught:
        load_extra("half_there", extra="x", purpose="this test")
    assert not isinstance(caught.value, MissingExtraError)
