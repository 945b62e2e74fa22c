"""Films of solvers at work: what their frames show, and how many there are."""

import base64
import io
import re
import sys

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import make_blobs

from maxmargin import SVC, InputError, MissingExtraError, NuSVC
from maxmargin.plots import animate
from maxmargin.plots import animation as module
from maxmargin.plots.stage import Stage
from maxmargin.solvers import Smo, drive
from maxmargin.solvers.base import Status


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(24, 2, centers=2, cluster_std=3.0, random_state=1)


@pytest.fixture
def watched(monkeypatch):
    """Every frame with what was on the axes when its picture was taken."""
    seen = []
    original = Stage.picture

    def picture(self, frame, response):
        png = original(self, frame, response)
        rings = np.asarray(self.ax.collections[-1].get_offsets())
        title = self.ax.get_title(loc="left")
        seen.append((frame, response, rings, self.caption.get_text(), title))
        return png

    monkeypatch.setattr(Stage, "picture", picture)
    return seen


def frames_of(path):
    with Image.open(path) as film:
        sizes, times = [], []
        for k in range(film.n_frames):
            film.seek(k)
            sizes.append(film.size)
            times.append(film.info["duration"])
    return sizes, times


def run_of(blobs, solver, **parameters):
    return list(solver.steps(SVC(**parameters).problem(*blobs)))


def test_a_gif_has_a_frame_for_the_start_and_for_every_step(blobs, watched, tmp_path):
    path = animate(Smo(), *blobs, tmp_path / "film.gif", C=1.0, kernel="linear", fps=5)
    assert path == tmp_path / "film.gif"
    snaps = run_of(blobs, Smo(), C=1.0, kernel="linear")
    pairs = snaps[-1].n_iter
    assert 3 < pairs < 60
    sizes, times = frames_of(path)
    assert len(sizes) == pairs + 1
    assert len(set(sizes)) == 1
    assert times == [200] * pairs + [3000]
    assert [frame.n_iter for frame, *_ in watched] == list(range(pairs + 1))


def test_frames_show_the_model_and_the_points_of_their_step(blobs, watched, tmp_path):
    X, y = blobs
    animate(Smo(), X, y, tmp_path / "film.gif", C=1.0, gamma=0.1, grid_resolution=20)
    snaps = {snap.n_iter: snap for snap in run_of(blobs, Smo(), C=1.0, gamma=0.1)}
    low, high = X.min(axis=0), X.max(axis=0)
    grid = np.meshgrid(*(np.linspace(a - 0.08 * (b - a), b + 0.08 * (b - a), 20)
                         for a, b in zip(low, high, strict=True)))  # fmt: skip
    at = np.column_stack([part.ravel() for part in grid])
    K = np.exp(-0.1 * ((at[:, None] - X) ** 2).sum(axis=2))
    for frame, response, rings, caption, title in watched[1:]:
        model = snaps[frame.n_iter].model
        step = snaps[frame.n_iter].step
        values = (K @ model.beta + model.bias).reshape(20, 20)
        assert np.allclose(response, values, atol=1e-10)
        assert np.array_equal(rings, X[list(step.points)])
        assert len(rings) == 2
        assert " ".join(caption.split()) == " ".join(step.words.split())
        assert title.startswith(f"Smo, iteration {frame.n_iter}: dual ")
        assert title.endswith("; converged") == (frame is watched[-1][0])
    start, response, rings, caption, _ = watched[0]
    assert start.n_iter == len(rings) == 0
    assert not response.any()


def test_the_last_frame_is_the_fitted_machine(blobs, watched, tmp_path):
    X, y = blobs
    machine = SVC(C=1.0, gamma=0.1, tol=1e-8, class_weight="balanced")
    animate(Smo(tol=1e-8), X, y, tmp_path / "film.gif", machine=machine, max_frames=3)
    assert not hasattr(machine, "support_")  # it was only asked
    machine.fit(X, y)
    frame = watched[-1][0]
    assert frame.status is Status.CONVERGED
    assert np.allclose(frame.scores, machine.decision_function(X), atol=1e-6)
    assert np.allclose(frame.beta[machine.support_], machine.dual_coef_, atol=1e-6)


def test_long_runs_are_spread_towards_their_beginning(blobs, watched, tmp_path):
    X, y = blobs
    mixed = X, np.where(np.arange(24) < 4, 1 - y, y)  # four labels are wrong
    options = {"C": 10.0, "kernel": "linear"}
    total = drive(Smo(), SVC(**options).problem(*mixed)).n_iter
    assert total > 100
    path = animate(Smo(), *mixed, tmp_path / "film.gif", max_frames=10, **options)
    shown = [frame.n_iter for frame, *_ in watched]
    assert len(frames_of(path)[0]) == len(shown)
    assert 7 <= len(shown) <= 10
    assert shown[:2] == [0, 1]
    assert shown[-1] == total
    strides = np.diff(shown)
    assert strides[-1] > 5 * strides[0]


def test_every_so_many_units(blobs, watched, tmp_path):
    animate(Smo(), *blobs, tmp_path / "film.gif", every=4, C=1.0, kernel="linear")
    shown = [frame.n_iter for frame, *_ in watched]
    total = run_of(blobs, Smo(), C=1.0, kernel="linear")[-1].n_iter
    assert shown == [*range(0, total, 4), total]


def test_a_page_holds_all_its_frames(blobs, watched, tmp_path):
    path = animate("smo", *blobs, str(tmp_path / "film.html"), C=1.0, fps=2)
    page = path.read_text(encoding="utf-8")
    found = re.findall(r'^"([A-Za-z0-9+/=]+)",?$', page, re.MULTILINE)
    assert len(found) == len(watched) > 1
    for one in found:
        with Image.open(io.BytesIO(base64.b64decode(one))) as picture:
            picture.load()
            assert (picture.format, picture.size) == ("PNG", (720, 504))
    assert "http" not in page  # it fetches nothing
    assert f'max="{len(found) - 1}"' in page
    assert "}, 500);" in page


@pytest.mark.parametrize("name", ["smo", "pegasos"])
def test_solvers_are_known_by_their_names(blobs, watched, tmp_path, name):
    animate(name, *blobs, tmp_path / "a.gif", fit_intercept=False, max_frames=3)
    assert watched[-1][-1].startswith(
        {"smo": "WorkingSetSmo", "pegasos": "Pegasos"}[name]
    )


def test_labels_may_be_words_and_no_figure_stays_open(blobs, watched, tmp_path):
    X, y = blobs
    before = plt.get_fignums()
    words = np.where(y == 1, "right", "left")
    animate(Smo(), X, words, tmp_path / "film.gif", C=1.0, max_frames=3)
    assert plt.get_fignums() == before
    assert np.array_equal(np.sign(watched[-1][0].beta) >= 0, (y == 1) | (
        watched[-1][0].beta == 0))  # fmt: skip


def test_progress_is_told(blobs, tmp_path, capsys):
    animate(Smo(), *blobs, tmp_path / "a.gif", max_frames=3, verbose=True)
    told = capsys.readouterr()
    assert told.err.endswith("\rframe 3 of 3\n")
    assert told.out == ""


def test_steps_that_change_nothing_are_not_shown():
    frames = [fake(units=k, n_iter=min(k, 3)) for k in range(6)]
    assert [frame.repeats(frames[3]) for frame in frames] == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("count", [2, 3, 10, 60])
@pytest.mark.parametrize("total", [1, 5, 59, 60, 61, 75, 1000])
def test_spreading_keeps_both_ends_and_the_limit(count, total):
    frames = [fake(units=k, n_iter=k) for k in range(total + 1)]
    shown = [frame.units for frame in module._spread(frames, count)]
    assert shown[0] == 0
    assert shown[-1] == total
    assert len(shown) == min(count, total + 1)
    assert (np.diff(shown) > 0).all()


def fake(units, n_iter):
    from maxmargin.plots.stage import Frame
    from maxmargin.solvers import Measures, Step

    zeros = np.zeros(2)
    return Frame(units, n_iter, zeros, 0.0, zeros, Step("…"), Measures(1.0, 0.0, 1.0),
                 Status.RUNNING)  # fmt: skip


def test_without_matplotlib_the_extra_is_named_before_the_run(blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'maxmargin\[plot\]'"):
        animate("no solver is looked at yet", *blobs, "film.gif")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "film.mp4"}, r"ends in .gif or .html"),
        ({"every": 0}, "every=0: give an integer of at least 1"),
        ({"max_frames": 1}, "max_frames=1: give an integer of at least 2"),
        ({"fps": 0}, "fps=0: give frames a second"),
        ({"X": np.ones((24, 3))}, "X has shape .24, 3.: a film is drawn of two features"),
        ({"y": np.arange(24) % 3}, "y has 3 classes"),
        ({"machine": NuSVC()}, "machine is NuSVC: a film is drawn of an SVC"),
        ({"flavour": 3}, "flavour: neither an option of animate nor one of SVC"),
        ({"kernel": "precomputed"}, "kernel='precomputed'"),
        ({"solver": "magic"}, "magic"),
        ({"solver": "pegasos"}, "fit_intercept=False"),
    ],
)
def test_mistakes_are_named(blobs, tmp_path, options, message):
    given = {"solver": Smo(), "X": blobs[0], "y": blobs[1], "path": "film.gif"} | options
    given["path"] = tmp_path / given["path"]
    with pytest.raises(InputError, match=message):
        animate(**given)
    assert not list(tmp_path.iterdir())
