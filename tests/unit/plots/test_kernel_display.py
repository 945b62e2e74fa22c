"""KernelDisplay: what is drawn is the matrix and its eigenvalues."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

from maxmargin.errors import InputError
from maxmargin.kernels import RBF, Linear, Polynomial, Sigmoid, mercer
from maxmargin.plots import KernelDisplay


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def rows(n=24, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def drawn(display, kind):
    return np.asarray(display.spectrum_[kind].get_offsets())


def test_the_image_is_the_matrix():
    X = rows()
    display = KernelDisplay.from_kernel(RBF(gamma=0.5), X)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(display.image_.get_array(), K, rtol=1e-12)
    assert display.image_.get_cmap().name == "cividis"
    assert display.colorbar_.mappable is display.image_
    assert display.ax_.shape == (2,)
    assert display.ax_[0].figure is display.figure_
    assert "RBF(gamma=0.5)" in display.ax_[0].get_title()
    display.figure_.canvas.draw()


def test_rows_are_sorted_by_class():
    X = rows(9, 1)
    y = np.array(["b", "a", "c"] * 3)
    display = KernelDisplay.from_kernel(Linear(), X, y)
    order = [1, 4, 7, 0, 3, 6, 2, 5, 8]
    np.testing.assert_allclose(
        display.image_.get_array(), X[order] @ X[order].T, rtol=1e-14
    )
    ax = display.ax_[0]
    assert [one.get_text() for one in ax.get_xticklabels()] == ["a", "b", "c"]
    np.testing.assert_allclose(ax.get_xticks(), [1.0, 4.0, 7.0])
    edges = {float(line.get_xdata()[0]) for line in ax.lines} - {0.0}
    assert edges == {2.5, 5.5}


def test_the_spectrum_of_a_polynomial_ends_at_its_rank():
    X = rows(30, 2)
    display = KernelDisplay.from_kernel("poly", X, degree=2, gamma=1.0, coef0=1.0)
    values = mercer(Polynomial(2), X).eigenvalues[::-1]
    np.testing.assert_array_equal(drawn(display, "positive")[:, 0], np.arange(1, 7))
    np.testing.assert_allclose(drawn(display, "positive")[:, 1], values[:6])
    np.testing.assert_array_equal(drawn(display, "zero")[:, 0], np.arange(7, 31))
    assert "negative" not in display.spectrum_
    assert display.ax_[1].get_title().startswith("positive semi-definite")


def test_negative_eigenvalues_are_marked():
    X = rows()
    verdict = mercer(Sigmoid(1.0, -1.0), X)
    display = KernelDisplay.from_kernel(Sigmoid(1.0, -1.0), X)
    negative = drawn(display, "negative")
    falling = verdict.eigenvalues[::-1]
    np.testing.assert_allclose(negative[:, 1], falling[falling < -verdict.threshold])
    assert negative[:, 1].min() == pytest.approx(verdict.smallest)
    ax = display.ax_[1]
    assert ax.get_title().startswith("not semi-definite")
    assert f"{verdict.smallest:.3g}" in ax.get_title()
    marks = {
        kind: (one.get_paths()[0].vertices.shape, tuple(one.get_facecolor()[0]))
        for kind, one in display.spectrum_.items()
        if kind != "zero"
    }
    assert marks["positive"][0] != marks["negative"][0]
    assert marks["positive"][1] != marks["negative"][1]
    zero = [line for line in ax.lines if set(np.ravel(line.get_ydata())) == {0.0}]
    assert len(zero) == 1
    low, high = ax.get_ylim()
    assert low < verdict.smallest < 0.0 < falling[0] < high
    texts = [one.get_text() for one in ax.get_legend().get_texts()]
    assert f"negative: {len(negative)}" in texts


def test_ticks_are_few_whatever_the_spectrum():
    for kernel in (RBF(gamma=0.1), RBF(gamma=100.0), Linear(), Sigmoid(1, -1)):
        display = KernelDisplay.from_kernel(kernel, rows(40))
        display.figure_.canvas.draw()
        ticks = display.ax_[1].get_yticks()
        assert 2 <= len(ticks) <= 11
        assert 0.0 in ticks


def test_given_axes_are_used():
    figure, axes = plt.subplots(1, 2)
    display = KernelDisplay.from_kernel(Linear(), rows(), ax=axes)
    assert display.figure_ is figure
    assert list(display.ax_) == list(axes)
    assert plt.get_fignums() == [figure.number]
    again = display.plot()
    assert again is display
    assert display.figure_ is not figure


def test_a_single_row_and_a_zero_matrix():
    for X in ([[1.0]], [[0.0], [0.0]]):
        display = KernelDisplay.from_kernel(Linear(), X)
        display.figure_.canvas.draw()
    assert list(display.spectrum_) == ["zero"]


def test_refusals():
    with pytest.raises(InputError, match="holds 1 axes"):
        KernelDisplay.from_kernel(Linear(), rows(), ax=plt.subplots()[1])
    with pytest.raises(InputError, match="one class for each of the 24 rows"):
        KernelDisplay.from_kernel(Linear(), rows(), [0, 1])
