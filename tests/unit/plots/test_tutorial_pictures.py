"""The tutorial's pictures, by what was drawn."""

import matplotlib as mpl
import numpy as np
import pytest

from maxmargin import SVC, tutorial
from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels import RBF

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def closed():
    """No figure outlives its test."""
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def example():
    return tutorial.made_example(1)


@pytest.fixture(scope="module")
def linear(example):
    return tutorial.svm_train(example.X, example.y, 1.0)


@pytest.fixture(scope="module")
def curved(example):
    return tutorial.svm_train(example.X, example.y, 1.0, RBF(sigma=0.5))


def offsets(ax):
    """Places of all points, collection by collection."""
    return [np.asarray(one.get_offsets()) for one in ax.collections]


def names(ax):
    """What the legend says, in the axes or beside them."""
    legend = ax.get_legend() or ax.figure.legends[0]
    return [text.get_text() for text in legend.get_texts()]


def test_the_points_are_drawn_by_class(example):
    ax = tutorial.plot_data(example.X, example.y)
    drawn = offsets(ax)
    for k in (0, 1):
        np.testing.assert_array_equal(drawn[k], example.X[example.y == k])
    assert names(ax) == ["class 0", "class 1"]
    colours = {tuple(one.get_facecolor()[0]) for one in ax.collections}
    shapes = {one.get_paths()[0].vertices.shape for one in ax.collections}
    assert len(colours) == len(shapes) == 2


def test_labels_are_named_as_given_and_axes_are_used(example):
    figure, axes = plt.subplots(1, 2)
    assert tutorial.plot_data(example.X, 2 * example.y - 1, axes[1]) is axes[1]
    assert names(axes[1]) == ["class -1", "class 1"]
    assert not axes[0].collections
    assert len(plt.get_fignums()) == 1
    assert (
        tutorial.plot_data(example.X, example.y, axes[0], key=False).get_legend() is None
    )
    assert figure.axes == list(axes)


def test_the_lines_are_those_of_w_and_b(example, linear):
    ax = tutorial.visualize_boundary_linear(example.X, example.y, linear)
    levels = []
    for line in ax.get_lines():
        values = linear.decision(np.column_stack(line.get_data()))
        assert np.ptp(values) < 1e-9
        levels.append(values[0])
    np.testing.assert_allclose(levels, [0.0, -1.0, 1.0], atol=1e-9)
    assert [line.get_linestyle() for line in ax.get_lines()] == ["-", "--", "--"]
    # They cross the whole picture, whose limits are those of the points.
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert left < example.X[:, 0].min()
    assert right > example.X[:, 0].max()
    x, y = ax.get_lines()[0].get_data()
    outside = (x < left) | (x > right) | (y < low) | (y > high)
    assert outside.all()


def test_rings_are_around_the_support_vectors(example, linear):
    ax = tutorial.visualize_boundary_linear(example.X, example.y, linear)
    np.testing.assert_array_equal(offsets(ax)[2], example.X[linear.support])
    assert f"support vectors ({linear.support.size})" in names(ax)
    bare = tutorial.visualize_boundary_linear(example.X, example.y, linear, rings=False)
    other = tutorial.visualize_boundary_linear(example.X[::2], example.y[::2], linear)
    assert len(bare.collections) == len(other.collections) == 2


@pytest.mark.parametrize("way", [0, 1])
def test_lines_along_the_axes_are_drawn_too(way):
    X = np.zeros((4, 2))
    X[:, way] = [-2.0, -1.0, 1.0, 2.0]
    X[:, 1 - way] = [0.0, 1.0, 0.0, 1.0]
    model = tutorial.random_model(X, [0, 0, 1, 1])
    model = type(model)(
        model.X, model.y, 1.0, "linear", np.array([0.0, 0.5, 0.5, 0.0]), 0.0
    )
    lines = tutorial.visualize_boundary_linear(X, [0, 0, 1, 1], model).get_lines()
    assert len(lines) == 3
    for line in lines:
        assert np.ptp(model.decision(np.column_stack(line.get_data()))) < 1e-9


def test_a_model_without_a_boundary_shows_its_points(example):
    start = tutorial.random_model(example.X, example.y)
    zero = type(start)(start.X, start.y, 1.0, "linear", np.zeros(51), 0.5)
    ax = tutorial.visualize_boundary_linear(example.X, example.y, zero)
    assert not ax.get_lines()
    assert len(ax.collections) == 2
    flat = type(start)(start.X, start.y, 1.0, RBF(sigma=1.0), np.zeros(51), 0.5)
    ax = tutorial.visualize_boundary(example.X, example.y, flat)
    assert "boundary f = 0" not in names(ax)


def test_the_level_lines_are_where_f_is_0_and_1(example, curved):
    ax = tutorial.visualize_boundary(example.X, example.y, curved, grid_resolution=150)
    found = {}
    for contour in ax.collections:
        if getattr(contour, "levels", None) is None or getattr(contour, "filled", True):
            continue
        for level, path in zip(contour.levels, contour.get_paths(), strict=True):
            found[float(level)] = curved.decision(path.vertices)
    assert sorted(found) == [-1.0, 0.0, 1.0]
    for level, values in found.items():
        assert np.abs(values - level).max() < 0.02


def test_every_support_vector_has_a_ring_of_its_kind(example, curved):
    ax = tutorial.visualize_boundary(example.X, example.y, curved)
    free = curved.support[curved.alphas[curved.support] < 1.0]
    ringed = [one for one in offsets(ax) if one.shape == (free.size, 2)]
    assert any(np.array_equal(one, example.X[free]) for one in ringed)
    bare = tutorial.visualize_boundary(example.X, example.y, curved, rings=False)
    assert not any("support" in name for name in names(bare))


def test_the_table_of_errors_is_drawn_with_its_choice():
    example = tutorial.made_example(3)
    best = tutorial.choose(*example[:4], Cs=[0.1, 1.0], sigmas=[0.03, 0.1, 0.3])
    ax = tutorial.visualize_choice(best)
    np.testing.assert_array_equal(ax.get_images()[0].get_array(), 100.0 * best.errors)
    texts = [text.get_text() for text in ax.texts]
    assert texts == [f"{100.0 * one:.3g}" for one in best.errors.ravel()]
    (frame,) = ax.get_lines()
    assert np.mean(np.unique(frame.get_xdata())) == best.sigmas.index(best.sigma)
    assert np.mean(np.unique(frame.get_ydata())) == best.Cs.index(best.C)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.03", "0.1", "0.3"]
    assert f"C = {best.C:g}, σ = {best.sigma:g}" in ax.get_title()


def test_what_cannot_be_drawn_is_refused_in_words(example, linear, curved):
    X, y = example.X, example.y
    with pytest.raises(InputError, match=r"RBF\(sigma=0.5\).*use visualize_boundary"):
        tutorial.visualize_boundary_linear(X, y, curved)
    with pytest.raises(InputError, match="X has 3 features: these pictures"):
        tutorial.plot_data(np.column_stack([X, X[:, 0]]), y)
    wide = tutorial.svm_train(np.column_stack([X, X[:, 0]]), y, 1.0)
    with pytest.raises(InputError, match="the model has 3 features"):
        tutorial.visualize_boundary(X, y, wide)
    for draw in (tutorial.visualize_boundary, tutorial.visualize_boundary_linear):
        with pytest.raises(InputTypeError, match=r"model is a SVC: .*BoundaryDisplay"):
            draw(X, y, SVC())
    with pytest.raises(InputError, match="grid_resolution=1: give an integer"):
        tutorial.visualize_boundary(X, y, linear, grid_resolution=1)
    with pytest.raises(InputTypeError, match="choice is a tuple"):
        tutorial.visualize_choice((1.0, 0.1))
    assert plt.get_fignums() == []  # nothing was begun
