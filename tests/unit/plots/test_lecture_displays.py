"""The lectures' pictures: what is drawn is what was computed."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from maxmargin import SVC, InputError, plots, theory
from maxmargin.losses import LOSSES
from maxmargin.plots.coordinate_ascent import CoordinateAscentDisplay
from maxmargin.plots.duality import DualityDisplay
from maxmargin.plots.lagrange import LagrangeDisplay
from maxmargin.plots.loss import LossDisplay


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def luminance(colour):
    return float(np.dot(to_rgb(colour), [0.2126, 0.7152, 0.0722]))


def test_exported():
    for one in (LossDisplay, DualityDisplay, CoordinateAscentDisplay, LagrangeDisplay):
        assert getattr(plots, one.__name__) is one


# --- losses -----------------------------------------------------------------------------


def test_every_loss_is_drawn():
    ours = [name for name in LOSSES if name != "soft_hinge"]  # which a test adds
    display = LossDisplay.from_losses(ours)
    assert list(display.lines_) == ours
    for name, line in display.lines_.items():
        assert line.get_xdata().tolist() == np.linspace(-3, 3, 601).tolist()
        assert line.get_ydata().tolist() == LOSSES[name](line.get_xdata()).tolist()
    ax = display.ax_
    assert display.figure_ is ax.figure
    assert "margin" in ax.get_xlabel()
    assert ax.get_ylabel() == "loss"
    assert any("hinge: max(0, 1 − z)" in text for text in legend_of(ax))
    # readable in grey: no two lines have the same marker
    assert len({line.get_marker() for line in display.lines_.values()}) == len(ours)
    assert len({line.get_color() for line in display.lines_.values()}) == len(ours)


def test_chosen_losses_on_given_axes():
    figure, ax = plt.subplots()
    z = [2.0, -1.0, 0.0]
    display = LossDisplay.from_losses(["logistic", "hinge"], z=z, ax=ax)
    assert (display.figure_, display.ax_) == (figure, ax)
    assert list(display.lines_) == ["logistic", "hinge"]
    assert display.lines_["hinge"].get_xdata().tolist() == [-1.0, 0.0, 2.0]
    assert display.lines_["hinge"].get_ydata().tolist() == [2.0, 1.0, 0.0]
    assert len(plt.get_fignums()) == 1
    # a loss looks the same in whatever company
    alone = LossDisplay.from_losses("hinge").lines_["hinge"]
    assert alone.get_color() == display.lines_["hinge"].get_color()
    again = display.plot()
    assert again is display
    assert display.ax_ is not ax


def test_losses_refuse():
    with pytest.raises(InputError, match=r"'huber' given; the losses are zero_one"):
        LossDisplay.from_losses(["hinge", "huber"])
    with pytest.raises(InputError, match="an empty list"):
        LossDisplay.from_losses([])
    for z in ([1.0], [0.0, np.nan]):
        with pytest.raises(InputError, match="at least two finite"):
            LossDisplay.from_losses(z=z)


# --- duality ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "d", "alpha", "words"),
    [(1, 1.0, 2.0, "no gap: p* = d*"), (2, 0.75, 1.0, "gap p* − d* = 0.25")],
)
def test_duality(number, d, alpha, words):
    display = DualityDisplay.from_example(number)
    region, dual = display.ax_
    assert display.figure_ is region.figure is dual.figure
    # p* and d* are where they belong
    assert display.primal_.get_xydata()[0] == pytest.approx([0.0, 1.0], abs=1e-6)
    assert display.dual_.get_xydata()[0] == pytest.approx([0.0, d], abs=1e-6)
    assert display.gap_.get_text() == words
    # the line has slope −α* and passes through d*
    x, y = display.line_.get_data()
    assert np.diff(y) / np.diff(x) == pytest.approx(-alpha, abs=1e-5)
    assert np.interp(0.0, x, y) == pytest.approx(d, abs=1e-5)
    # it supports the region: nothing drawn is below it, and it touches where marked
    corners = display.region_.get_coordinates().reshape(-1, 2)
    above = corners[:, 1] - (d - alpha * corners[:, 0])
    assert above.min() == pytest.approx(0.0, abs=1e-6)
    touching = display.touching_.get_xydata()
    assert touching[:, 1] == pytest.approx(d - alpha * touching[:, 0], abs=1e-5)
    # the region is the image of the square
    w = np.random.default_rng(0).uniform(-2, 2, size=(50, 2))
    example = theory.DUALITY[number]
    image = np.column_stack([example.g(*w.T), example.f(*w.T)])
    gaps = np.linalg.norm(corners[:, None] - image[None], axis=2).min(axis=0)
    assert gaps.max() < 0.2  # half a step of the grid, 0.0125, times |∇g| ≤ 13
    # the dual function, its maximum and p* above it
    a, theta = display.theta_.get_data()
    assert theta.max() <= 1.0 + 1e-9
    assert np.interp(alpha, a, theta) == pytest.approx(d, abs=1e-3)
    assert display.best_.get_xydata()[0] == pytest.approx([alpha, d], abs=1e-5)
    assert any("p* = 1" in text for text in legend_of(dual))
    assert any(f"slope −α* = −{alpha:g}" in text for text in legend_of(region))
    written = [text.get_text() for text in dual.texts]
    assert ("gap 0.25" in written) is (number == 2)


def test_duality_touches_at_two_places_where_there_is_a_gap():
    display = DualityDisplay.from_example(2)
    found = sorted({tuple(np.round(one, 3)) for one in display.touching_.get_xydata()})
    assert found == [(-3.5, 4.25), (0.5, 0.25)]


def test_duality_on_given_axes():
    figure, axes = plt.subplots(1, 2)
    display = DualityDisplay.from_example(1, ax=axes)
    assert display.figure_ is figure
    assert display.ax_.tolist() == axes.tolist()
    with pytest.raises(InputError, match="needs two"):
        display.plot(axes[0])
    with pytest.raises(InputError, match="examples 1 \\(gap 0\\) and 2"):
        DualityDisplay.from_example(3)


# --- coordinate ascent ------------------------------------------------------------------


def test_staircase_of_the_example():
    display = CoordinateAscentDisplay.from_problem(start=(2.0, -2.0))
    path = display.path_
    assert path[:4].tolist() == [[2, -2], [0.5, -2], [0.5, -0.25], [0.0625, -0.25]]
    assert display.staircase_.get_xydata().tolist() == path.tolist()
    assert display.start_.get_xydata()[0].tolist() == [2.0, -2.0]
    assert display.end_.get_xydata()[0] == pytest.approx([0.0, 0.0], abs=1e-6)
    # one coordinate a step, W never falls
    assert (np.count_nonzero(np.diff(path, axis=0), axis=1) <= 1).all()
    W = -2 * path[:, 0] ** 2 - path[:, 1] ** 2 - path[:, 0] * path[:, 1]
    assert display.values_ == pytest.approx(W, abs=1e-14)
    assert (np.diff(display.values_) >= 0).all()
    # a level line is where W has its level
    drawn = 0
    for level, line in zip(
        display.contours_.levels, display.contours_.get_paths(), strict=True
    ):
        if len(line.vertices):
            a, b = line.vertices.T
            assert -2 * a**2 - b**2 - a * b == pytest.approx(level, abs=0.02)
            drawn += 1
    assert drawn >= 8
    ax = display.ax_
    for at in path:
        assert ax.get_xlim()[0] < at[0] < ax.get_xlim()[1]
        assert ax.get_ylim()[0] < at[1] < ax.get_ylim()[1]
    assert ax.get_aspect() == 1.0
    steps = len(path) - 1
    assert f"after {steps} steps (0, 0)" in legend_of(ax)


def test_default_start_of_the_example():
    for display in (
        CoordinateAscentDisplay.from_problem(),
        CoordinateAscentDisplay.from_problem(theory.coordinate_example()),
    ):
        assert display.path_[0].tolist() == [2.0, -2.0]


def test_a_box_is_shaded():
    machine = SVC(kernel="linear", C=0.5, fit_intercept=False)
    problem = machine.problem([[1.0, 0.5], [-0.5, 1.0]], [1, -1])
    figure, ax = plt.subplots()
    display = CoordinateAscentDisplay.from_problem(problem, ax=ax)
    assert (display.figure_, display.ax_) == (figure, ax)
    assert display.path_[0].tolist() == [0.0, 0.0]
    assert display.path_[-1].tolist() == [0.5, -0.5]
    shaded = [patch.get_bbox() for patch in ax.patches]
    assert len(shaded) == 4
    assert {round(box.x1, 9) for box in shaded} >= {0.0}  # left of the box
    assert {round(box.x0, 9) for box in shaded} >= {0.5}  # right of it


def test_only_two_variables():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    problem = SVC(kernel="linear", fit_intercept=False).problem(X, [0, 1, 1])
    with pytest.raises(InputError, match="3 variables"):
        CoordinateAscentDisplay.from_problem(problem)
    with pytest.raises(InputError, match="fit_intercept=False"):
        CoordinateAscentDisplay.from_problem(SVC().problem(X[:2], [0, 1]))


def test_a_start_at_the_answer():
    display = CoordinateAscentDisplay.from_problem(start=(0.0, 0.0))
    assert not display.path_.any()


# --- Lagrange multipliers ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "solution", "multiplier"), [("S1", [-0.5, 0.5], -1), ("S4", [0.5, 0.5], 1)]
)
def test_lagrange(name, solution, multiplier):
    display = LagrangeDisplay.from_example(name)
    example, ax = theory.LAGRANGE[name], display.ax_
    assert display.point_.get_xydata()[0] == pytest.approx(solution)
    assert example.h(display.line_.get_xydata()) == pytest.approx([0, 0], abs=1e-12)
    # the level line through the solution is drawn, thicker than the others
    levels = np.asarray(display.contours_.levels)
    at = int(np.abs(levels - 0.5).argmin())
    assert levels[at] == pytest.approx(0.5)
    widths = np.asarray(display.contours_.get_linewidths())
    assert widths.argmax() == at
    on = display.contours_.get_paths()[at].vertices
    assert example.f(on) == pytest.approx(0.5, abs=1e-3)
    # one side of the constraint only: the line touches the level line
    side = example.h(on)
    assert max(side.min(), -side.max()) > -1e-3
    # parallel at the solution, and not elsewhere
    arrows = {key: np.array([one.U[0], one.V[0]]) for key, one in display.arrows_.items()}
    f, h = arrows["f"], arrows["h"]
    assert f[0] * h[1] - f[1] * h[0] == pytest.approx(0.0, abs=1e-12)
    assert np.sign(f @ h) == -multiplier
    assert f / np.linalg.norm(f) == pytest.approx(
        example.gradient(solution) / np.linalg.norm(example.gradient(solution))
    )
    f, h = arrows["elsewhere f"], arrows["elsewhere h"]
    assert abs(f[0] * h[1] - f[1] * h[0]) > 0.05
    assert example.words in ax.get_title()
    assert f"λ = {multiplier}" in ax.get_title()
    x, y = solution
    assert f"solution ({x:g}, {y:g}), f = 0.5" in legend_of(ax)


def test_arrows_differ_in_grey_too():
    display = LagrangeDisplay.from_example("S1")
    fills = [luminance(display.arrows_[key].get_facecolor()[0][:3]) for key in "fh"]
    assert abs(fills[0] - fills[1]) > 0.3


def test_lagrange_on_given_axes():
    figure, ax = plt.subplots()
    display = LagrangeDisplay.from_example("S4", ax=ax)
    assert (display.figure_, display.ax_) == (figure, ax)
    with pytest.raises(InputError, match="'S1' and 'S4'"):
        LagrangeDisplay.from_example("S2")
