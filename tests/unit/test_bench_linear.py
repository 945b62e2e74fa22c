"""The harness of the benchmark of linear machines; nothing is timed."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import page, ratios
from benchmarks.linear import pages, referee, score, table
from benchmarks.linear.__main__ import arguments, merged
from benchmarks.linear.child import Child, contestants
from benchmarks.linear.datasets import LOSSES, SETS, Problem, load, problem_of
from benchmarks.peers.base import Missing
from benchmarks.peers.linear import ALL, OURS, SGD, create, versions
from benchmarks.speed.machine import describe
from benchmarks.speed.remote import Unable
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC, LinearSVR

EVERY = [(kind, loss) for kind, losses in LOSSES.items() for loss in losses]
HERE = [name for name in ALL if name != "multicore"]  # the same module as LIBLINEAR's


def problem_of_iris(kind, loss, classes=3, sparse=False, C=0.7):
    X, y = load_iris(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))  # the first class met is not 0
    some = some[y[some] < classes] if kind == "SVC" else some
    X, y = X[some], y[some] if kind == "SVC" else X[some, 3]
    X = X if kind == "SVC" else X[:, :3]
    return Problem(kind, loss, C, 0.05, sp.csr_matrix(X) if sparse else X, y)


def best_of(problem):
    """A very exact answer by scikit-learn, as P."""
    kind = LinearSVC if problem.kind == "SVC" else LinearSVR
    more = {} if problem.kind == "SVC" else {"epsilon": problem.epsilon}
    found = kind(
        loss=problem.loss, C=problem.C, dual=not problem.squared, tol=1e-9,
        max_iter=10**7, random_state=0, **more,
    ).fit(problem.X, problem.y)  # fmt: skip
    return referee.primal(problem, np.atleast_2d(found.coef_), found.intercept_)


@pytest.mark.filterwarnings("ignore")  # a peer's own warnings
@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize(
    ("kind", "loss", "classes", "sparse"),
    [
        ("SVC", "hinge", 3, False),
        ("SVC", "squared_hinge", 3, True),
        ("SVC", "hinge", 2, True),
        ("SVC", "squared_hinge", 2, False),
        ("SVR", "epsilon_insensitive", 0, False),
        ("SVR", "squared_epsilon_insensitive", 0, True),
    ],
)
def test_every_solver_of_every_library_finds_the_optimum(
    name, kind, loss, classes, sparse
):
    problem = problem_of_iris(kind, loss, classes, sparse)
    machine = create(name)
    try:
        machine.take(problem)
    except Missing as absent:
        pytest.skip(str(absent))
    optimum = best_of(problem)
    for variant in type(machine).variants(loss):
        if variant == SGD and problem.squared:
            continue  # it goes astray, on which the benchmark reports
        machine.ready(variant)
        machine.run(variant, 1e-4)
        found = referee.primal(problem, *machine.answer())
        if not machine.exhausted():
            assert abs(referee.gap(found, optimum)) < (0.1 if variant == SGD else 2e-3)
        beta = machine.beta()
        if beta is not None:
            assert referee.gap(found, referee.dual(problem, beta)) <= 1e-4


def test_the_limit_of_passes_is_noticed():
    problem = problem_of_iris("SVC", "hinge", C=1e3)
    machine = create("LIBLINEAR")
    try:
        machine.take(problem)
    except Missing as absent:
        pytest.skip(str(absent))
    machine.run("dual", 1e-9)
    assert machine.exhausted()
    machine.run("dual", 10.0)
    assert not machine.exhausted()


def test_a_library_in_its_own_process():
    child = Child("multicore")  # which must not meet the other liblinear
    problem = problem_of_iris("SVC", "squared_hinge")
    child.give(problem)
    try:
        assert child.call("run", "primal", 1e-6, seconds=60.0) > 0.0
        verdict = child.call("judge", seconds=60.0)
        assert referee.gap(verdict["primal"], verdict["dual"]) < 1e-4
        assert not verdict["exhausted"]
        child.stop()  # as after a run that was late: it gets the problem again
        assert child.call("run", "dual", 1e-2, seconds=60.0) > 0.0
    except Unable as why:
        assert "is not in" in str(why)  # noqa: PT017 - installed or not
        pytest.skip(str(why))
    finally:
        child.stop()


def test_values_in_plain_words():
    X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([-1, 1])
    coef, intercept = np.array([[0.5, 0.25]]), np.array([0.1])
    # f = 0.6 and 0.6; margins missed by 1.6 and 0.4
    for loss, expected in (("hinge", 2.0), ("squared_hinge", 1.6**2 + 0.4**2)):
        problem = Problem("SVC", loss, 3.0, 0.1, X, y)
        value = referee.primal(problem, coef, intercept)
        np.testing.assert_allclose(value, 0.5 * (0.3125 + 0.01) + 3.0 * expected)
    problem = Problem("SVR", "epsilon_insensitive", 3.0, 0.1, X, y.astype(float))
    value = referee.primal(problem, coef, intercept)
    np.testing.assert_allclose(value, 0.5 * (0.3125 + 0.01) + 3.0 * (1.5 + 0.3))


@pytest.mark.parametrize(("kind", "loss"), EVERY)
@pytest.mark.parametrize("sparse", [False, True])
def test_no_dual_exceeds_a_primal(kind, loss, sparse):
    problem = problem_of_iris(kind, loss, sparse=sparse)
    rng = np.random.default_rng(0)
    k, d = (3 if kind == "SVC" else 1), problem.X.shape[1]
    optimum = best_of(problem)
    for scale in (1e-3, 1e-1, 10.0):
        beta = scale * rng.standard_normal((k, problem.n))
        assert (referee.dual(problem, beta) <= optimum * (1 + 1e-6)).all()
        coef, intercept = rng.standard_normal((k, d)), rng.standard_normal(k)
        assert (referee.primal(problem, coef, intercept) >= optimum * (1 - 1e-6)).all()


@pytest.mark.parametrize(("kind", "loss"), [pair for pair in EVERY if "sq" in pair[1]])
def test_slopes_prove_a_squared_optimum(kind, loss):
    problem = problem_of_iris(kind, loss)
    machine = create("scikit-learn")
    machine.take(problem)
    machine.run("primal", 1e-12)
    beta = referee.slope(problem, *machine.answer())
    value = referee.primal(problem, *machine.answer())
    assert -1e-12 <= referee.gap(value, referee.dual(problem, beta)) <= 1e-9


def test_who_can_do_what():
    children = [Child(name) for name in ALL]
    hinge = [one.name for one in contestants(children, "hinge")]
    assert hinge == [
        OURS, "scikit-learn dual", "scikit-learn SGD", "LIBLINEAR dual", "multicore dual",
    ]  # fmt: skip
    tube = [one.name for one in contestants(children, "epsilon_insensitive")]
    assert tube == [OURS, "scikit-learn dual", "LIBLINEAR dual"]
    mine = contestants(children[:1], "hinge", ("auto", "newton"))
    assert [one.name for one in mine] == [OURS, "maxmargin newton"]
    assert set(versions()) >= {OURS, "liblinear-official", "liblinear-multicore"}


def entry(seconds, gap=5e-4):
    return {"tol": 0.1, "gap": gap, "seconds": seconds, "fit": [seconds]}


def row(name="a9a", loss="hinge", **machines):
    names = {"ours": OURS, "sklearn": "scikit-learn dual", "lib": "LIBLINEAR dual"}
    return {
        "set": name,
        "loss": loss,
        "group": SETS[name].group,
        "shape": SETS[name].shape,
        "C": 1.0,
        "reference": {"bounds": [1.0], "gap": 1e-9, "proved": True, "source": "us"},
        "predict": {OURS: 0.2, "scikit-learn": 0.4, "product": 0.1},
        "machines": {
            names[key]: {"tried": [], "targets": {"0.001": value, "1e-06": value}}
            for key, value in machines.items()
        },
    }


STOPPED = {"stopped": 0.02, "seconds": 0.5, "tol": 1e-3}


@pytest.mark.parametrize(
    ("peers", "ratio", "bound"),
    [
        ({"sklearn": entry(8.0), "lib": entry(6.0)}, 3.0, False),
        ({"sklearn": entry(1.0)}, 0.5, False),
        ({"sklearn": entry(8.0), "lib": STOPPED}, 4.0, False),
        ({"lib": STOPPED}, 10.0, True),  # however quickly it got nowhere
        ({"sklearn": {"capped": 180.0}, "lib": STOPPED}, 10.0, True),
        ({"sklearn": {"capped": 6.0}, "lib": STOPPED}, 3.0, True),
        ({"sklearn": {"reason": "it crashed"}}, None, False),
    ],
)
def test_ratios(peers, ratio, bound):
    (line,) = score.lines([row(ours=entry(2.0), **peers)], 1e-3)
    assert (line.fastest, line.is_bound) == (ratio, bound)
    assert line.lost == (ratio == 0.5)


def test_our_own_missed_gap_wins_nothing():
    (line,) = score.lines([row(ours=STOPPED, sklearn=entry(3.0))], 1e-3)
    assert line.fastest is None
    assert "0.500‡ (2e-02) | **3.00** | –" in table.fits([line])


def test_losses_and_marks_are_shown():
    rows = [
        row(ours=entry(1.0), sklearn=entry(8.0)),
        row("w8a", ours=entry(1.0), sklearn=entry(0.5), lib=STOPPED),
        row("houses", "epsilon_insensitive", ours=entry(1.0), lib={"capped": 180.0}),
    ]
    found = score.lines(rows, 1e-3)
    text = table.fits(found)
    assert "| 1.00 | **0.500** | 0.500‡ (2e-02) | 0.50× |" in text
    assert "| **1.00** | – | >180 | ≥ 10.0× |" in text
    means = table.means({1e-3: found})
    assert "| sparse | 0.001 | 2 | 2.00× | 2.00× | 0.50× | w8a, hinge |" in means
    assert "| regression | 0.001 | 1 | ≥ 10.0× | 3.00× | ≥ 10.0× | none |" in means
    told = table.legend(found)
    assert "‡ stopped at the gap" in told
    assert "≥ no peer reached the gap" in told
    rows[0]["reference"] |= {"gap": 1e-3}
    rows[1]["reference"] |= {"gap": None, "proved": False}
    told = table.legend(score.lines(rows, 1e-3))
    assert "The reference itself has a gap: a9a, hinge (1e-03)." in told
    assert "which proves nothing: w8a, hinge." in told


def run_of(*rows):
    return {
        "machine": describe() | {"packages": versions()},
        "targets": [1e-3, 1e-6],
        "rows": list(rows),
        "notes": [],
        "growth": {"covtype, hinge": {OURS: [(5000, 0.1), (50_000, 1.0)]}},
        "memory": [
            {"set": "covtype", "loss": "hinge", "machine": OURS, "input": 206.0,
             "unit": 4.0, "above": 12.0},
        ],
    }  # fmt: skip


def test_pages_and_pictures(tmp_path, monkeypatch):
    where, readme = tmp_path / "linear-machines.md", tmp_path / "README.md"
    for one, name in ((where, "linear"), (readme, "ratios")):
        one.write_text(f"before\n<!-- {name}: begin -->\n<!-- {name}: end -->\nafter\n")
    monkeypatch.setattr(pages, "PAGE", where)
    monkeypatch.setattr(page, "README", readme)
    monkeypatch.setattr(page, "IMAGES", tmp_path / "images")
    run = run_of(row(ours=entry(2.0), sklearn=entry(6.0)))
    pages.publish(json.loads(json.dumps(run)))
    assert page.between("ratios", readme) == ratios.text()
    long = where.read_text()
    assert long.startswith("before\n")
    assert long.endswith("after\n")
    assert "| sparse | 1e-06 | 1 | 3.00×" in long
    assert "| covtype, hinge | maxmargin | 206 | 12 | 3.0 |" in long
    assert "| **a9a** (32,561 × 123) | 0.200 | 0.400 | 0.100 | 2.00× |" in long
    assert "| maxmargin | 0.100 | 1.00 | 1.00 |" in long
    for name in (pages.BARS, "linear_growth_covtype_hinge.png"):
        assert f"](../images/{name})" in long
        assert (tmp_path / "images" / name).stat().st_size > 1000


def test_a_part_replaces_its_rows_only():
    stored = run_of(row(ours=entry(1.0)), row("w8a", ours=entry(2.0)))
    both = merged(stored, run_of({**row(ours=entry(5.0)), "commit": "abc1234"}))
    assert [one["set"] for one in both["rows"]] == ["a9a", "w8a"]
    assert both["rows"][0]["machines"][OURS]["targets"]["0.001"]["fit"] == [5.0]
    assert "by turns: a9a with abc1234; w8a with" in pages.text(both)


def test_only_a_whole_run_rewrites_the_pages(capsys):
    assert arguments([]).whole
    narrow = (["a9a"], ["--quick"], ["--machines", OURS], ["--rows", "9"],
              ["--solvers", "newton"])  # fmt: skip
    for part in narrow:
        assert not arguments(part).whole
    with pytest.raises(SystemExit):
        arguments(["no-such-set"])
    assert "no such set: no-such-set; there are covtype" in capsys.readouterr().err


def test_the_sparse_set_is_as_described():
    X, y = load("sparse1m", 2000)
    assert X.shape == (2000, 100_000)
    assert (np.diff(X.indptr) == 50).all()
    assert (np.diff(X.indices.reshape(-1, 50), axis=1) > 0).all()
    np.testing.assert_allclose(sp.linalg.norm(X, axis=1), 1.0)
    assert 0.4 < (y > 0).mean() < 0.6
    fewer, _ = load("sparse1m", 500)
    assert (fewer != X[:500]).nnz == 0
    problem = problem_of("sparse1m", "hinge", (X, y), 500)
    assert (problem.n, problem.kind) == (500, "SVC")


def test_every_group_has_a_goal():
    assert {one.group for one in SETS.values()} == set(score.GOALS)
