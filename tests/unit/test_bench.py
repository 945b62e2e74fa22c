"""The harness of the speed benchmark, on problems of a few rows; nothing is timed."""

import json
import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import page, ratios
from benchmarks.peers import ALL, OURS, Machine, Missing
from benchmarks.speed import growth, limit, memory, pages, score, table
from benchmarks.speed.__main__ import arguments, merged
from benchmarks.speed.datasets import SETS, Problem
from benchmarks.speed.machine import describe
from benchmarks.speed.measure import Plan, fits
from benchmarks.speed.remote import Late, Remote, Unable
from sklearn.datasets import load_iris

from maxmargin import SVC, certify

TOL = 1e-3


def problem_of(kind, classes=3, dtype="float64", sparse=False):
    X, y = load_iris(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))  # the first class met is not 0
    some = some[y[some] < classes]
    X, y = X[some].astype(dtype), y[some]
    if sparse:
        X = sp.csr_matrix(X)
    parameters = {
        "SVC": {"C": 1.0, "gamma": 0.25},
        "SVR": {"C": 1.0, "gamma": 0.25},
        "OneClassSVM": {"nu": 0.2, "gamma": 0.25},
    }[kind]
    return Problem(kind, parameters, X, None if kind == "OneClassSVM" else y, X[:20])


@pytest.mark.filterwarnings("ignore")  # a peer's own warnings
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("kind", "classes", "sparse"),
    [("SVC", 3, False), ("SVC", 2, True), ("SVR", 3, False), ("OneClassSVM", 3, False)],
)
def test_every_library_gives_an_answer_that_the_referee_accepts(
    name, kind, classes, sparse
):
    problem = problem_of(kind, classes, ALL[name].precisions[-1], sparse)
    machine = ALL[name]()
    try:
        assert machine.prepare(problem, TOL) > 0.0
    except Missing as absent:
        pytest.skip(str(absent))
    machine.run()
    verdict = certify(machine.result(), problem.X, problem.y)
    assert verdict.violation <= 1.1 * TOL
    assert verdict.stray <= TOL  # the intercept has the right sign too
    reference = ALL["scikit-learn"]()
    reference.prepare(problem, TOL)
    values = np.reshape(machine.decide(), (20, -1))
    told = np.reshape(reference.decide(), (20, -1))
    # Libraries number the classes differently; the sizes are the same.
    np.testing.assert_allclose(
        np.sort(abs(values), axis=1), np.sort(abs(told), axis=1), atol=0.02
    )


def test_a_peer_that_cannot_is_named_with_its_reason():
    pytest.importorskip("sklearnex")
    with pytest.raises(Missing, match="sklearnex has no OneClassSVM"):
        ALL["sklearnex"]().prepare(problem_of("OneClassSVM"), TOL)


def test_thinning_keeps_every_class_of_a_sorted_file():
    X, y = load_iris(return_X_y=True)
    thin = Problem("SVC", {}, X, y, X).thinned(30)
    assert thin.n == 30
    assert set(thin.y.tolist()) == {0, 1, 2}


@pytest.fixture
def remote():
    made = Remote("scikit-learn")  # which starts fastest
    yield made
    made.stop()


def test_a_library_in_its_own_process(remote):
    plan = Plan(repeat=1)
    record = fits([remote], problem_of("SVC"), plan)[remote]
    assert record["warm_up"] > 0.0
    assert record["fit_warm"] > 0.0
    assert len(record["fit"]) == 1
    assert remote.call("judge")["violation"] <= 1.1 * TOL
    assert remote.call("decide") > 0.0
    if memory.available():
        assert remote.call("peak")["above"] >= 0.0
    with pytest.raises(Unable, match="no attribute 'dance'"):
        remote.call("dance")
    os.kill(remote._process.pid, signal.SIGSTOP)  # it cannot be quicker than the cap
    with pytest.raises(Late, match=r"not done after 0.1 s"):
        remote.call("run", seconds=0.1)
    # Ended by the cap, it starts anew; what it had prepared is gone.
    with pytest.raises(Unable, match="AttributeError"):
        remote.call("run")


def test_a_crash_is_a_result(remote):
    remote.call("prepare", problem_of("SVC"), TOL, None)
    remote._process.kill()
    remote._process.join()
    with pytest.raises(Unable, match="ended with status -9"):
        remote.call("run")


@pytest.mark.parametrize("sparse", [False, True])
def test_the_limit_is_the_work_it_says(sparse):
    rng = np.random.default_rng(0)
    X = rng.random((300, 5))
    support = np.flatnonzero(rng.random(300) < 0.4)
    distance2 = ((X[:, None] - X[None, support]) ** 2).sum(axis=2)
    expected = np.exp(-0.5 * distance2).sum(axis=1)
    data = sp.csr_matrix(X) if sparse else X
    ways = [limit.tiles] if sparse else [limit.tiles, limit.blas]
    for way in ways:
        np.testing.assert_allclose(way(data, support, 0.5)(), expected, rtol=1e-5)
    found = limit.measure(data, support, 0.5, repeat=1)
    assert set(found["ways"]) == ({"tiles"} if sparse else {"tiles", "BLAS"})
    assert found["seconds"] == min(found["ways"].values())


def record(seconds, violation=5e-4, objective=100.0, feasible=True, **more):
    verdict = {"violation": violation, "objective": objective, "feasible": feasible}
    return {"fit": [seconds], "decide": [seconds / 10], "verdict": verdict, **more}


def row(dtype="float64", name="usps", **machines):
    names = {"ours": OURS, "sklearn": "scikit-learn", "thunder": "ThunderSVM"}
    return {
        "set": name,
        "dtype": dtype,
        "kind": "SVC",
        "shape": "7 × 2",
        "parameters": {"C": 1.0},
        "small": SETS[name].small,
        "tol": TOL,
        "limit": {"seconds": 0.25},
        "machines": {names.get(key, key): value for key, value in machines.items()},
    }


def test_ratios():
    (line,) = score.lines(
        [row(ours=record(1.0), sklearn=record(8.0), sklearnex=record(4.0))], "float64"
    )
    assert (line.fastest, line.reference, line.limit) == (4.0, 8.0, 4.0)
    assert (line.decide_fastest, line.decide_reference) == (4.0, 8.0)
    assert "| **1.00** | 8.00 | 4.00 | 4.00× | 4.00× | 4.00× |" in table.fits([line])


def test_a_peer_above_tol_is_judged_by_its_second_run():
    tight = {**record(9.0, violation=6e-4), "decide": None}
    peer = record(2.0, violation=2e-3, tight=tight)
    (line,) = score.lines([row(ours=record(1.0), sklearnex=peer)], "float64")
    assert line.machines["sklearnex"].mark == score.RETIMED
    assert line.fastest == 9.0
    # What it took at first is shown too: it was twice as slow as we, not nine times.
    assert line.unmarked == 2.0
    assert "9.00† (at tol 2.00) | 9.00× (2.00×)" in table.fits([line])
    assert "| float64 | 1 | 9.00× | 2.00× |" in table.means({"float64": [line]})
    assert "† stopped above tol = 0.001" in table.legend([line], TOL)


@pytest.mark.parametrize(
    "peer",
    [
        record(0.5, violation=2e-3),
        record(0.5, violation=2e-3, tight=record(0.6, violation=1.5e-3)),
        record(0.5, objective=100.0 * (1 - 2e-6)),
        record(0.5, objective=101.0, feasible=False),
    ],
)
def test_a_wrong_answer_is_no_rival(peer):
    rows = [row(ours=record(1.0), sklearnex=peer, sklearn=record(3.0))]
    (line,) = score.lines(rows, "float64")
    assert line.machines["sklearnex"].mark == score.WRONG
    assert (line.fastest, line.unmarked) == (3.0, 0.5)
    assert line.machines[OURS].mark == ""
    text = table.fits([line])
    assert "**1.00**" in text
    assert "0.500‡" in text


def test_our_own_wrong_answer_is_marked():
    rows = [row(ours=record(1.0, violation=2e-3), sklearn=record(3.0))]
    (line,) = score.lines(rows, "float64")
    assert line.machines[OURS].mark == score.WRONG
    assert line.fastest is None
    assert "1.00‡ | **3.00** | –" in table.fits([line])
    assert "| float64 | 1 | – |" in table.means({"float64": [line]})


def test_a_loss_is_shown_as_one():
    (line,) = score.lines([row(ours=record(1.0), sklearn=record(0.5))], "float64")
    assert line.fastest == 0.5
    assert "| 1.00 | **0.500** | 0.50× |" in table.fits([line])


def test_runs_that_were_ended_bound_the_ratio():
    late = {"fit": [], "fit_capped": 180.0, "warm_up": 1.0}
    rows = [row(ours=record(2.0), sklearn=late)]
    (line,) = score.lines(rows, "float64")
    assert (line.reference, line.reference_is_bound) == (90.0, True)
    assert ">180 | ≥ 90.0×" in table.fits([line])
    assert "≥ 90.0×" in table.means({"float64": [line]})
    # At tol/2 it was ended: not wrong, but slower than that.
    slow = record(150.0, violation=1.1e-3, tight=late)
    (line,) = score.lines([row(ours=record(2.0), sklearn=slow)], "float64")
    assert (line.reference, line.reference_is_bound) == (90.0, True)
    assert ">180† (at tol 150) | ≥ 90.0× (75.0×)" in table.fits([line])
    # Where one peer came to an end, the others' caps say nothing.
    rows = [row(ours=record(2.0), sklearn=late, sklearnex=record(100.0))]
    (line,) = score.lines(rows, "float64")
    assert (line.fastest, line.fastest_is_bound) == (50.0, False)


def test_float32_rows_keep_what_only_knows_float64():
    rows = [
        row(ours=record(1.0), sklearn=record(8.0)),
        row("float32", ours=record(0.5), thunder=record(9.0)),
    ]
    (single,) = score.lines(rows, "float32")
    assert list(single.machines) == [OURS, "scikit-learn", "ThunderSVM"]
    assert (single.fastest, single.reference) == (16.0, 16.0)
    (double,) = score.lines(rows, "float64")
    assert "ThunderSVM" not in double.machines


def test_reasons_are_told():
    missing = {"reason": "sklearnex does not load"}
    (line,) = score.lines([row(ours=record(1.0), sklearnex=missing)], "float64")
    assert line.fastest is None
    told = table.legend([line], TOL)
    assert told == "sklearnex on usps: sklearnex does not load."
    assert "sklearnex does not load" in table.quality([line])
    mute = {**record(2.0), "decide": [], "decide_reason": "it crashed"}
    (line,) = score.lines([row(ours=record(1.0), sklearnex=mute)], "float64")
    assert (line.fastest, line.decide_fastest) == (2.0, None)
    assert table.legend([line], TOL) == "sklearnex on usps: it crashed."


def test_means_with_and_without_the_small_rows():
    rows = [
        row(ours=record(1.0), sklearn=record(4.0)),
        row(name="letter", ours=record(1.0), sklearn=record(9.0)),
        row(name="iris", ours=record(1.0), sklearn=record(1.0 / 36.0)),
    ]
    text = table.means({"float64": score.lines(rows, "float64")})
    assert "| float64 | 3 | 1.00× | 1.00× | 1.00× |" in text
    assert "| float64, without the small rows | 2 | 6.00× | 6.00× | 6.00× |" in text


def test_a_mean_of_some_rows_says_so():
    wrong = record(2.0, violation=2e-3, tight=record(3.0, violation=2e-3))
    rows = [
        row(ours=record(1.0), sklearn=record(4.0), sklearnex=record(3.0)),
        row(name="letter", ours=record(1.0), sklearn=wrong, sklearnex=record(3.0)),
    ]
    text = table.means({"float64": score.lines(rows, "float64")})
    # scikit-learn's answer on letter counts nowhere; if it did, the mean were √8.
    assert "| float64 | 2 | 3.00× | 2.45× | 4.00× of 1 rows | 2.83× |" in text


def test_goals_name_the_rows_that_miss_them():
    rows = [
        row(ours=record(1.0), sklearn=record(0.8)),
        row(name="iris", ours=record(1.0), sklearn=record(0.4)),
        row(name="heart_scale", ours=record(1.0), sklearn=record(0.6)),
    ]
    text = table.goals({"float64": score.lines(rows, "float64")})
    assert "| all rows | all but usps 0.80×, iris 0.40× |" in text
    assert "| ≤ 4× | 3 of 3 rows (usps, iris, heart_scale) |" in text
    (line,) = score.lines([row(ours=record(1.0), sklearn=record(8.0))], "float64")
    assert "| all rows | all rows |" in table.goals({"float64": [line]})


def test_goals_do_not_hide_a_wrong_answer_of_ours():
    rows = [
        row(ours=record(1.0), sklearn=record(8.0)),
        row(name="letter", ours=record(1.0, violation=2e-3), sklearn=record(8.0)),
    ]
    text = table.goals({"float64": score.lines(rows, "float64")})
    for goal in ("no peer is faster", "our answers"):
        (line,) = [line for line in text.splitlines() if goal in line]
        assert line.endswith("| all rows | all but letter |")


def test_exponents():
    curve = [(n, 1e-9 * n**1.5) for n in (1000, 5000, 10_000, 50_000)]
    assert growth.exponent(curve) == pytest.approx(1.5)
    assert growth.exponent(curve[:2]) is None  # small fits are fixed costs


def test_pages_and_pictures(tmp_path, monkeypatch):
    long, readme = tmp_path / "kernel-machines.md", tmp_path / "README.md"
    for where, name in ((long, "speed"), (readme, "ratios")):
        where.write_text(f"before\n<!-- {name}: begin -->\n<!-- {name}: end -->\nafter\n")
    monkeypatch.setattr(pages, "PAGE", long)
    monkeypatch.setattr(page, "README", readme)
    monkeypatch.setattr(page, "IMAGES", tmp_path / "images")
    run = {
        "machine": describe(),
        "rows": [
            row(ours=record(1.0), sklearn=record(8.0)),
            row("float32", ours=record(0.5), thunder=record(0.4)),
        ],
        "growth": {OURS: [(1000, 0.1), (5000, 0.5), (10_000, 1.2)], "LIBSVM": []},
        "memory": [
            {"set": "a9a", "machine": OURS, "cache": 200, "above": 321.4, "allowed": 500}
        ],
    }
    pages.publish(json.loads(json.dumps(run)))
    told = long.read_text()
    assert told.startswith("before\n")
    assert told.endswith("after\n")
    assert "**1.00** | 8.00 | 8.00×" in told
    assert "| float32 | 1 | 0.80×" in told
    assert "## Fit seconds, float32" in told
    assert "| a9a | maxmargin | 200 | 321 | 500 |" in told
    assert page.between("ratios", readme) == ratios.text()
    for name in (pages.BARS, pages.GROWTH):
        assert f"](../images/{name})" in told
        assert (tmp_path / "images" / name).stat().st_size > 1000


def test_a_part_replaces_its_rows_only():
    stored = {
        "machine": describe(),
        "notes": [],
        "rows": [row(ours=record(1.0)), row(name="letter", ours=record(2.0))],
        "growth": {},
    }
    rows = [{**row(name="usps", ours=record(5.0)), "commit": "abc1234"}]
    part = {"machine": describe(), "notes": [], "rows": rows}
    both = merged(stored, part)
    assert [one["set"] for one in both["rows"]] == ["usps", "letter"]
    assert both["rows"][0]["machines"][OURS]["fit"] == [5.0]
    # The page says that not all of it is of one run.
    assert "by turns: usps with abc1234; letter with" in pages.text(both)
    assert "by turns" not in pages.text(stored)
    rows[0]["processor"] = "another"
    told = pages.text(merged(stored, part))
    assert "usps with abc1234 on another; letter with  on an earlier machine" in told
    assert "Measured with" not in told
    packages = {**part["machine"]["packages"], "numpy": "99.0"}
    part["machine"] = {**part["machine"], "packages": packages}
    assert "Measured with numpy 99.0: usps." in pages.text(merged(stored, part))


def test_only_a_whole_run_rewrites_the_pages(capsys):
    assert arguments([]).whole
    parts = (["usps"], ["--quick"], ["--machines", OURS], ["--dtypes", "float32"])
    for part in (*parts, ["--repeat", "1"]):
        assert not arguments(part).whole
    with pytest.raises(SystemExit):
        arguments(["no-such-set"])
    assert "no such set: no-such-set; there are svmguide1" in capsys.readouterr().err


def test_every_adapter_has_the_four_verbs():
    for kind in ALL.values():
        assert issubclass(kind, Machine)
        assert not kind.__abstractmethods__
        assert set(kind.precisions) <= {"float64", "float32"}


def test_an_answer_that_float32_spoils_counts_in_float64():
    """Its user would convert the rows; the time of the wrong answer is told as well."""
    rows = [
        row(ours=record(1.0), sklearnex=record(4.0)),
        row("float32", ours=record(0.5), sklearnex=record(1.0, violation=0.1)),
    ]
    (line,) = score.lines(rows, "float32")
    assert line.machines["sklearnex"].mark == score.CONVERTED
    assert (line.fastest, line.unmarked) == (8.0, 2.0)
    assert "4.00§" in table.fits([line])
    assert "§ no solution in float32" in table.legend([line], TOL)


def test_pairs_need_a_share_of_the_values():
    """Three classes in a row along a line: the outer two do not meet in the middle."""
    X = np.arange(30.0).reshape(-1, 1)
    y = np.repeat([0, 1, 2], 10)
    model = SVC(C=10.0, gamma=0.05).fit(X, y)
    needed = 0
    own = np.repeat(np.arange(3), model.n_support_)
    for column, c in zip(model.dual_coef_.T, own, strict=True):
        others = [other for other in range(3) if other != c]
        met = {other for other, beta in zip(others, column, strict=True) if beta != 0.0}
        needed += 10 * (1 + len(met))
    share = limit.needed_share(model, y)
    assert share == pytest.approx(needed / (30 * own.size))
    assert 0.5 < share < 1.0
    assert limit.needed_share(SVC().fit(X, y > 0), y > 0) == 1.0
