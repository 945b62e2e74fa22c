"""What ConvergenceDisplay has drawn, against what was recorded."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin import SVC, InputError
from maxmargin.errors import Stop
from maxmargin.observers import History
from maxmargin.plots import ConvergenceDisplay
from maxmargin.solvers import Pegasos, Smo, WorkingSetSmo, drive

RUN = {
    "n_iter": [0, 1, 2, 4],
    "n_kernel": [100, 200, 400, 400],
    "primal": [np.inf, 3.0, 2.5, 2.0],
    "dual": [0.0, 1.0, 1.5, 2.0],
}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.3, random_state=0)


@pytest.fixture
def problem(moons):
    return SVC(gamma=1.0).problem(*moons)


def data(line):
    return [np.asarray(part).tolist() for part in line.get_data()]


@pytest.mark.parametrize("x", ["n_kernel", "n_iter", "seconds"])
@pytest.mark.parametrize("y", ["relative_gap", "gap", "violation"])
def test_a_line_is_the_history(problem, x, y):
    history = History(
        ("n_kernel", "n_iter", "seconds", "relative_gap", "gap", "violation")
    )
    drive(Smo(), problem, observers=[history])
    display = ConvergenceDisplay.from_histories({"pairs": history}, x=x, y=y)
    work, figure = np.array(history[x], float), np.array(history[y])
    if x == "n_kernel":
        work -= work[0]
    some = (work > 0) & np.isfinite(figure)  # a logarithm has no place for 0
    assert 3 < some.sum() < some.size
    drawn = display.lines_["pairs"].get_data()
    assert np.array_equal(drawn, [work[some], figure[some]])
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert display.ends_ == {}  # a History does not know how its run ended


def test_gaps_follow_from_primal_and_dual():
    display = ConvergenceDisplay.from_histories({"a": RUN}, x="n_iter", y="gap")
    # the first work is 0 and its gap infinite; the last gap is 0 and drawn at the floor
    assert data(display.lines_["a"]) == [[1, 2, 4], [2.0, 1.0, 0.1]]
    assert display.floor_ == pytest.approx(0.1)
    display = ConvergenceDisplay.from_histories({"a": RUN}, x="n_iter")
    assert data(display.lines_["a"])[1][:2] == pytest.approx([2.0 / 3.0, 0.4])


def test_objectives_are_drawn_as_they_are():
    display = ConvergenceDisplay.from_histories({"a": RUN}, x="n_iter", y="dual")
    assert data(display.lines_["a"]) == [[1, 2, 4], [1.0, 1.5, 2.0]]
    assert display.ax_.get_yscale() == "linear"
    assert display.floor_ is None


def test_negative_duals_keep_a_plain_axis():
    run = RUN | {"dual": [-100.0, -10.0, -1.0, 5.0]}
    display = ConvergenceDisplay.from_histories({"a": run}, x="n_iter", y="dual")
    assert data(display.lines_["a"])[1] == [-10.0, -1.0, 5.0]
    assert display.ax_.get_yscale() == "linear"


def test_kernel_values_are_counted_from_the_start_of_each_run(problem):
    solvers = {"first": Smo(), "second": Smo()}
    display = ConvergenceDisplay.from_solvers(solvers, problem)
    first, second = (data(display.lines_[name]) for name in solvers)
    assert problem.gram.n_kernel >= 2 * 80 * 80
    assert first == second
    assert max(first[0]) == 80 * 80


def test_solvers_run_and_their_ends_are_marked(moons, problem):
    without = SVC(gamma=1.0, fit_intercept=False).problem(*moons)
    display = ConvergenceDisplay.from_solvers(
        {
            "pairs": Smo(),
            "short": Smo(max_iter=5),
            "working set": WorkingSetSmo(),
            "samples": (Pegasos(max_iter=2, tol=1e-9), without),
        },
        problem,
        x="n_iter",
    )
    stops = {name: outcome.stop for name, outcome in display.outcomes_.items()}
    assert stops == {
        "pairs": Stop.CONVERGED,
        "short": Stop.MAX_ITER,
        "working set": Stop.CONVERGED,
        "samples": Stop.MAX_ITER,
    }
    marks = {name: end.get_marker() for name, end in display.ends_.items()}
    assert marks == {"pairs": "*", "short": "X", "working set": "*", "samples": "X"}
    for name, end in display.ends_.items():
        x, y = data(display.lines_[name])
        assert data(end) == [x[-1:], y[-1:]]
        assert x[-1] == display.outcomes_[name].n_iter
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == [*stops, "converged", "stopped early"]


def test_lines_differ_in_more_than_colour():
    display = ConvergenceDisplay.from_histories(
        {str(k): RUN for k in range(7)}, x="n_iter", y="gap"
    )
    lines = list(display.lines_.values())
    for look in ("get_marker", "get_color"):
        assert len({getattr(line, look)() for line in lines}) == 7
    assert len({str(line._dash_pattern) for line in lines}) == 7


def test_a_time_limit_is_each_solvers_own(problem):
    display = ConvergenceDisplay.from_solvers(
        {"a": Smo(tol=1e-12), "b": Smo(tol=1e-12)}, problem, time_limit=1e-9
    )
    stops = {outcome.stop for outcome in display.outcomes_.values()}
    assert stops == {Stop.TIME_LIMIT}


def test_a_machine_of_several_problems_has_several_lines(moons):
    X, y = moons
    history = History()
    SVC(callbacks=history).fit(X, y + (X[:, 0] > 0.5))
    display = ConvergenceDisplay.from_histories({"svc": history}, x="n_iter")
    assert len(display.lines_) == 3
    assert set(display.lines_) == {f"svc, {part}" for part in history.to_dict()}


def test_runs_can_be_given_as_arrays():
    display = ConvergenceDisplay({"a": ([1, 10], [0.5, 0.1], True)}, x="seconds").plot()
    assert data(display.lines_["a"]) == [[1, 10], [0.5, 0.1]]
    assert data(display.ends_["a"]) == [[10], [0.1]]


def test_given_axes_are_used(problem):
    figure, ax = plt.subplots()
    display = ConvergenceDisplay.from_histories({"a": RUN}, x="n_iter", ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize(
    ("histories", "options", "message"),
    [
        ({"a": RUN}, {"x": "days"}, "it can be n_kernel, n_iter, seconds"),
        ({"a": RUN}, {"y": "beauty"}, "it can be relative_gap, gap"),
        ({"a": RUN}, {"x": "seconds"}, "'seconds' was not recorded, only n_iter"),
        ({"a": RUN | {"gap": [1.0]}}, {"y": "gap"}, "n_kernel has 4 entries and gap 1"),
        ({"a": History()}, {}, "the History is empty"),
        ({"a": [1.0, 2.0]}, {}, "list is no record of a run"),
        ([RUN], {}, "histories is list: give a dict"),
        ({}, {}, "no runs to draw"),
    ],
)
def test_mistakes_are_named(histories, options, message):
    with pytest.raises(InputError, match=message):
        ConvergenceDisplay.from_histories(histories, **options)


def test_a_solver_needs_a_problem():
    with pytest.raises(InputError, match="a: there is no problem to solve"):
        ConvergenceDisplay.from_solvers({"a": Smo()})
