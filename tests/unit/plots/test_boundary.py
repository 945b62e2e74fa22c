"""What BoundaryDisplay has drawn, against what the machine says."""

import subprocess
import sys

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVDD, SVR, InputError, NuSVC, OneClassSVM
from maxmargin.plots import BoundaryDisplay
from maxmargin.plots.canvas.marks import POINT, SPAN


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def wide():
    X, y = make_blobs(80, 5, centers=2, cluster_std=4.0, random_state=3)
    return X * [1.0, 3.0, 0.5, 1.0, 2.0], y


def vertices(contours, level):
    at = list(contours.levels).index(level)
    return contours.get_paths()[at].vertices


def offsets(collection):
    return np.asarray(collection.get_offsets())


def shares(display):
    """α/C as the rings show it, in the order of the machine's support vectors."""
    supports = display.supports
    sizes = np.empty(len(supports.at))
    sizes[~supports.bound] = display.support_["free"].get_sizes()
    sizes[supports.bound] = display.support_["bound"].get_sizes()
    return (sizes / display.scale_ - POINT) / SPAN


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_lines_are_where_the_decision_function_has_their_levels(moons, kernel):
    X, y = moons
    machine = SVC(kernel=kernel, gamma=1.0, C=10.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y)
    for drawn, level in (
        (display.boundary_, 0.0),
        (display.margins_, -1.0),
        (display.margins_, 1.0),
    ):
        values = machine.decision_function(vertices(drawn, level))
        # the grid is fine enough for linear interpolation, and exact for a line
        assert np.abs(values - level).max() < (1e-9 if kernel == "linear" else 0.02)


def test_the_surface_is_the_decision_function(moons):
    X, y = moons
    machine = SVC(gamma=1.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y, grid_resolution=50)
    at = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    assert display.response.shape == (50, 50)
    assert np.array_equal(display.response.ravel(), machine.decision_function(at))
    levels = display.surface_.levels
    assert 0.0 in levels
    assert np.allclose(levels, -levels[::-1])
    assert display.xx0.min() < X[:, 0].min()
    assert display.xx1.max() > X[:, 1].max()
    assert display.ax_.get_xlim() == (display.xx0.min(), display.xx0.max())


def test_points_are_drawn_by_class_with_markers_of_their_own(moons):
    X, y = moons
    names = np.where(y == 1, "north", "south")
    display = BoundaryDisplay.from_estimator(SVC().fit(X, names), X, names)
    for drawn, name in zip(display.points_, ["north", "south"], strict=True):
        assert np.array_equal(offsets(drawn), X[names == name])
        assert drawn.get_label() == name
    one, other = (drawn.get_paths()[0].vertices for drawn in display.points_)
    assert one.shape != other.shape
    grey = [np.dot(drawn.get_facecolor()[0][:3], [0.3, 0.59, 0.11])
            for drawn in display.points_]  # fmt: skip
    assert abs(grey[0] - grey[1]) > 0.2


def test_points_without_labels_are_all_alike(moons):
    X, y = moons
    (drawn,) = BoundaryDisplay.from_estimator(SVC().fit(X, y), X).points_
    assert np.array_equal(offsets(drawn), X)


@pytest.mark.parametrize(
    "machine",
    [
        SVC(C=1.0, gamma=1.0),
        SVC(C=100.0, gamma=1.0),
        SVC(C=1.0, kernel="linear", class_weight={0: 1.0, 1: 3.0}),
        SVC(C=0.5, gamma=1.0, class_weight="balanced"),
        SVC(C=1.0, gamma=1.0, loss="squared_hinge"),
        NuSVC(nu=0.4, gamma=1.0),
        NuSVC(nu=0.4, gamma=1.0, class_weight={0: 1.0, 1: 2.0}),
        OneClassSVM(nu=0.2, gamma=1.0),
        SVDD(nu=0.2, gamma=1.0),
    ],
    ids=repr,
)
def test_support_vectors_are_counted_as_the_certificate_counts_them(moons, machine):
    X, y = moons
    machine.fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y, grid_resolution=20)
    count = {kind: len(offsets(drawn)) for kind, drawn in display.support_.items()}
    assert count["free"] == machine.certificate_.n_free
    assert count["bound"] == machine.certificate_.n_bound
    rings = np.vstack([offsets(display.support_[kind]) for kind in ("free", "bound")])
    wanted = X[machine.support_]
    assert np.array_equal(rings[np.lexsort(rings.T)], wanted[np.lexsort(wanted.T)])


def test_the_area_of_a_ring_grows_with_alpha(moons):
    X, y = moons
    machine = SVC(C=2.0, gamma=1.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y)
    alpha = np.abs(machine.dual_coef_.ravel())
    assert alpha.min() < 1.9  # some are free
    assert np.allclose(shares(display), alpha / 2.0, rtol=1e-12)


def test_the_area_knows_class_and_sample_weights(moons):
    X, y = moons
    weight = np.random.default_rng(0).uniform(0.5, 3.0, y.size)
    machine = SVC(C=0.5, gamma=1.0, class_weight={0: 2.0, 1: 1.0})
    machine.fit(X, y, sample_weight=weight)
    display = BoundaryDisplay.from_estimator(machine, X, y, sample_weight=weight)
    price = 0.5 * np.array([2.0, 1.0])[y] * weight
    wanted = np.abs(machine.dual_coef_.ravel()) / price[machine.support_]
    assert np.allclose(shares(display), wanted, rtol=1e-12)
    assert len(offsets(display.support_["bound"])) == machine.certificate_.n_bound
    with pytest.raises(InputError, match="give sample_weight"):
        BoundaryDisplay.from_estimator(machine, X, y)
    with pytest.raises(InputError, match="one for each of its 120 rows"):
        BoundaryDisplay.from_estimator(machine, X, y, sample_weight=weight[:9])


def test_wrong_ones_are_those_beyond_the_boundary(moons):
    X, y = moons
    machine = SVC(C=1.0, kernel="linear").fit(X, y)
    crosses = offsets(BoundaryDisplay.from_estimator(machine, X, y).support_["wrong"])
    wrong = X[machine.predict(X) != y]
    assert 0 < len(wrong) < len(X)
    assert np.array_equal(crosses[np.lexsort(crosses.T)], wrong[np.lexsort(wrong.T)])


def test_outliers_are_marked(moons):
    X, _ = moons
    machine = OneClassSVM(nu=0.2, gamma=1.0).fit(X)
    display = BoundaryDisplay.from_estimator(machine, X)
    outside, inside = display.points_
    assert np.array_equal(offsets(outside), X[machine.predict(X) < 0])
    assert np.array_equal(offsets(inside), X[machine.predict(X) > 0])
    assert (outside.get_label(), inside.get_label()) == ("outlier", "inlier")
    assert display.margins_ is None
    # free ones lie on the boundary, whatever the last digit of their decision says
    crosses = {tuple(one) for one in offsets(display.support_["wrong"])}
    assert crosses <= {tuple(one) for one in offsets(display.support_["bound"])}


@pytest.mark.parametrize("multi_class", ["ovo", "ovr", "crammer_singer"])
def test_several_classes_are_regions_of_predict(multi_class):
    X, y = load_iris(return_X_y=True)
    X = X[:, 2:]
    machine = SVC(multi_class=multi_class).fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y, grid_resolution=40)
    at = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    drawn = np.asarray(display.surface_.get_array()).ravel()
    assert np.array_equal(drawn, machine.predict(at))
    assert display.margins_ is None
    assert [len(offsets(one)) for one in display.points_] == [50, 50, 50]
    count = {kind: len(offsets(one)) for kind, one in display.support_.items()}
    assert count["free"] + count["bound"] == machine.support_.size
    wrong = (machine.predict(X) != y)[machine.support_]
    assert count["wrong"] == wrong.sum()


# --- planes -------------------------------------------------------------------------


def test_a_plane_of_two_features_holds_the_others(wide):
    X, y = wide
    machine = SVC(C=0.1).fit(X, y)
    for rest in ("mean", "median"):
        display = BoundaryDisplay.from_estimator(
            machine, X, y, plane=(3, 1), rest=rest, grid_resolution=15
        )
        title = f"plane of features 3 and 1, others at their {rest}"
        assert display.ax_.get_title() == title
        assert display.ax_.get_xlabel() == "feature 3"
        assert display.ax_.get_ylabel() == "feature 1"
        rows = np.tile(getattr(np, rest)(X, axis=0), (15 * 15, 1))
        rows[:, 3], rows[:, 1] = display.xx0.ravel(), display.xx1.ravel()
        values = machine.decision_function(rows)
        assert np.allclose(display.response.ravel(), values, atol=1e-12)
        assert np.allclose(offsets(display.points_[0]), X[y == 0][:, [3, 1]])


def test_two_features_need_no_title(moons):
    X, y = moons
    display = BoundaryDisplay.from_estimator(SVC().fit(X, y), X, y, grid_resolution=10)
    assert display.ax_.get_title() == ""


def test_many_features_are_drawn_in_their_principal_axes(wide):
    X, y = wide
    machine = SVC(C=0.1).fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y, grid_resolution=15)
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    share = 100.0 * values[-2:].sum() / values.sum()
    title = f"first two principal axes, {share:.0f} % of the variance"
    assert display.ax_.get_title() == title
    at = np.vstack([offsets(drawn) for drawn in display.points_])
    wanted = centred[np.argsort(y, kind="stable")] @ vectors[:, [-1, -2]]
    assert np.allclose(np.abs(at), np.abs(wanted))
    plane = display.xx0.ravel()[:, None] * vectors[:, -1] * np.sign(
        at[0, 0] * wanted[0, 0]
    ) + display.xx1.ravel()[:, None] * vectors[:, -2] * np.sign(at[0, 1] * wanted[0, 1])
    decided = machine.decision_function(X.mean(axis=0) + plane)
    assert np.allclose(display.response.ravel(), decided)


@pytest.mark.parametrize("plane", [None, (0, 2)])
def test_sparse_rows_are_drawn_as_dense_ones_are(wide, plane):
    X, y = wide
    X = np.where(np.abs(X) < 2.0, 0.0, X)
    given = {}
    for kind in (np.asarray, sp.csr_matrix):
        machine = SVC(C=0.1, tol=1e-8).fit(kind(X), y)
        given[kind] = BoundaryDisplay.from_estimator(
            machine, kind(X), y, plane=plane, grid_resolution=15
        )
    dense, sparse = given.values()
    assert np.allclose(dense.response, sparse.response, atol=1e-6)
    assert np.allclose(offsets(dense.points_[1]), offsets(sparse.points_[1]))
    assert dense.ax_.get_title() == sparse.ax_.get_title()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_give_their_names(wide, frame):
    X, y = wide
    names = ["length", "width", "height", "age", "weight"]
    X = (
        pd.DataFrame(X, columns=names)
        if frame is pd.DataFrame
        else pl.DataFrame(X, names)
    )
    machine = SVC(C=0.1).fit(X, y)
    display = BoundaryDisplay.from_estimator(
        machine, X, y, plane=("age", 1), grid_resolution=10
    )
    assert display.ax_.get_title() == "plane of age and width, others at their mean"
    assert display.ax_.get_xlabel() == "age"
    assert display.ax_.get_ylabel() == "width"


def test_one_row_of_many_features_still_has_a_plane(wide):
    X, y = wide
    display = BoundaryDisplay.from_estimator(
        SVC().fit(X, y), X[:1], y[:1], grid_resolution=10
    )
    assert np.isfinite(display.response).all()


# --- others -------------------------------------------------------------------------


def test_scikit_learns_machines_are_drawn_too(moons):
    X, y = moons
    ours = SVC(C=1.0, gamma=1.0, tol=1e-8).fit(X, y)
    other = svm.SVC(C=1.0, gamma=1.0, tol=1e-8).fit(X, y)
    mine, theirs = (
        BoundaryDisplay.from_estimator(one, X, y, grid_resolution=20)
        for one in (ours, other)
    )
    assert np.allclose(mine.response, theirs.response, atol=1e-5)
    for kind in ("free", "bound", "wrong"):
        assert len(offsets(mine.support_[kind])) == len(offsets(theirs.support_[kind]))
    outliers = svm.OneClassSVM(nu=0.2, gamma=1.0).fit(X)
    drawn = BoundaryDisplay.from_estimator(outliers, X, grid_resolution=10).support_
    assert len(offsets(drawn["bound"])) == (outliers.dual_coef_ == 1.0).sum()


def test_what_has_no_support_vectors_has_no_margins(moons):
    X, y = moons
    display = BoundaryDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    assert display.support_ == {}
    assert display.margins_ is None
    assert display.boundary_ is not None


def test_what_only_predicts_is_drawn_as_regions(moons):
    X, y = moons
    machine = KNeighborsClassifier().fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y, grid_resolution=20)
    at = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    assert np.array_equal(display.response.ravel(), machine.predict(at))


def test_a_pipeline_is_drawn_in_its_own_units(moons):
    X, y = moons
    X = X * [100.0, 0.01]
    machine = make_pipeline(StandardScaler(), SVC(C=1.0)).fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y)
    support = machine[-1].support_
    rings = np.vstack([offsets(display.support_[kind]) for kind in ("free", "bound")])
    wanted = X[support]
    assert np.allclose(rings[np.lexsort(rings.T)], wanted[np.lexsort(wanted.T)])
    # of other rows it is not known which of them the machine has seen
    assert BoundaryDisplay.from_estimator(machine, X[:50], y[:50]).support_ == {}


def test_what_was_computed_elsewhere_can_be_drawn():
    xx0, xx1 = np.meshgrid(np.linspace(-1, 1, 30), np.linspace(-2, 2, 30))
    display = BoundaryDisplay(xx0=xx0, xx1=xx1, response=2.0 * xx0 - 1.0).plot()
    assert np.allclose(vertices(display.boundary_, 0.0)[:, 0], 0.5)
    assert display.points_ == []
    assert display.support_ == {}


def test_without_a_change_of_sign_there_is_no_line():
    xx0, xx1 = np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9))
    display = BoundaryDisplay(xx0=xx0, xx1=xx1, response=np.zeros_like(xx0)).plot()
    assert display.boundary_ is None
    assert display.margins_ is None


def test_given_axes_are_used_and_no_figure_is_opened(moons):
    X, y = moons
    figure, axes = plt.subplots(1, 2)
    display = BoundaryDisplay.from_estimator(SVC().fit(X, y), X, y, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert len(figure.axes) == 2  # no colour bar takes room that was not offered
    assert not axes[0].collections


def test_the_legend_explains_every_mark(moons):
    X, y = moons
    machine = SVC(C=1.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(machine, X, y)
    (legend,) = display.figure_.legends
    texts = [text.get_text() for text in legend.get_texts()]
    certificate = machine.certificate_
    assert texts[:2] == ["0", "1"]
    assert f"support, free ({certificate.n_free})" in texts
    assert f"support, at bound ({certificate.n_bound})" in texts
    assert texts[-2:] == ["boundary f = 0", "margins f = ±1"]
    hidden = BoundaryDisplay.from_estimator(machine, X, y, key=False)
    assert not hidden.figure_.legends


def test_matplotlib_is_imported_by_the_first_drawing_only():
    code = (
        "import sys; from maxmargin.plots import BoundaryDisplay, animate; "
        "from maxmargin.plots import ConvergenceDisplay; "
        "sys.exit(any(name.startswith('matplotlib') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- mistakes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"plane": (0, 9)}, "a feature is a number from 0 to 4"),
        ({"plane": (1, 1)}, "must differ"),
        ({"plane": (1, 2, 3)}, "give two features"),
        ({"plane": "ab"}, "give two features"),
        ({"plane": ("a", "b")}, "a feature is a number"),
        ({"rest": "mode", "plane": (0, 1)}, "'mean' or 'median'"),
        ({"grid_resolution": 1}, "an integer of at least 2"),
        ({"grid_resolution": 2.5}, "an integer of at least 2"),
    ],
)
def test_mistakes_are_named(wide, options, message):
    X, y = wide
    machine = SVC().fit(X, y)
    with pytest.raises(InputError, match=message):
        BoundaryDisplay.from_estimator(machine, X, y, **options)


def test_what_cannot_be_drawn_is_refused(moons):
    X, y = moons
    with pytest.raises(InputError, match="SVR has no boundary"):
        BoundaryDisplay.from_estimator(SVR().fit(X, y), X, y)
    with pytest.raises(InputError, match="precomputed kernel has no values between"):
        BoundaryDisplay.from_estimator(SVC(kernel="precomputed").fit(X @ X.T, y), X, y)
    with pytest.raises(InputError, match="1 feature"):
        BoundaryDisplay.from_estimator(SVC().fit(X[:, :1], y), X[:, :1], y)
    with pytest.raises(InputError, match="one label for each of 120 rows"):
        BoundaryDisplay.from_estimator(SVC().fit(X, y), X, y[:5])
    with pytest.raises(InputError, match="not a table of numbers"):
        BoundaryDisplay.from_estimator(SVC().fit(X, y), [["a", "b"]])
