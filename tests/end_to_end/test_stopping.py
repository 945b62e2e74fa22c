"""Stop and go on: time limit, Ctrl-C, iteration limit, callbacks, warm start."""

import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_moons
from tests import data

from maxmargin import SVC, ConvergenceWarning, InputError, certify
from maxmargin.observers import History

# What a run may take beyond its limit. The promise is a second on an idle machine; this
# one is shared, and a test that cries wolf is not looked at.
LATE = 2.5


@pytest.fixture(scope="module")
def middle():
    """8000 rows of ijcnn1, which take some ten thousand iterations."""
    split = data.ijcnn1()
    some = np.random.default_rng(0).permutation(len(split.y))[:8000]
    return split.X[some], split.y[some]


MIDDLE = {"C": 100.0, "gamma": 2.0}


@pytest.fixture(scope="module")
def from_scratch(middle):
    history = History()
    machine = SVC(**MIDDLE, callbacks=history).fit(*middle)
    return machine, history


# --- time limit -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def covtype():
    return data.covtype_binary(50_000, 5_000)


def warm_up(X, y):
    """Compile, so that clocks measure the solver."""
    SVC(C=1.0, gamma=8.0).fit(X[:300], y[:300])


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1.0, 3.0])
def test_time_limit_on_a_problem_of_hours(covtype, limit):
    warm_up(covtype.X, covtype.y)
    machine = SVC(C=1e5, gamma=8.0, time_limit=limit)
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time limit") as told:
        machine.fit(covtype.X, covtype.y)
    took = time.perf_counter() - began
    print(f"time_limit={limit:g}: {took - limit:+.2f} s")
    assert limit <= took <= limit + LATE
    assert len(told) == 1
    assert f"tol {machine.tol:g}" in str(told[0].message)
    assert "warm_start" in str(told[0].message)

    own = machine.certificate_
    assert own.stop == "stopped early: the time limit was reached"
    assert machine.fit_status_ == 1
    assert limit <= own.seconds <= took
    assert np.isfinite([own.primal, own.dual, own.gap, own.violation]).all()
    assert np.isfinite(own.bias_interval).all()
    assert own.violation > own.tol
    assert not own.ok
    seen = certify(machine, covtype.X, covtype.y)
    assert not seen.ok
    assert seen.feasible
    # The gradients of a run that was cut off are float32 sums of coefficients in the
    # thousands.
    assert own.violation == pytest.approx(seen.violation, rel=1e-2)
    assert own.primal == pytest.approx(seen.primal, rel=1e-2)
    assert own.dual == pytest.approx(seen.dual, rel=1e-2)

    chance = max(np.mean(covtype.y_test == 1), np.mean(covtype.y_test == -1))
    accuracy = machine.score(covtype.X_test, covtype.y_test)
    assert accuracy > chance + 0.05


def test_one_limit_for_all_pairs_together():
    split = data.letter()
    X, y = split.X[:4000], split.y[:4000]
    SVC(C=16.0, gamma=4.0).fit(X[:200], y[:200])
    machine = SVC(C=16.0, gamma=4.0, time_limit=1e-3)
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match=r"time limit was reached in \d+ of 325"):
        machine.fit(X, y)
    assert time.perf_counter() - began <= LATE
    assert len(machine.certificate_.problems) == 325
    assert machine.predict(X[:10]).shape == (10,)


def test_time_to_spare_changes_nothing(middle, from_scratch):
    machine = SVC(**MIDDLE, time_limit=600.0).fit(*middle)
    plain, _ = from_scratch
    np.testing.assert_array_equal(machine.dual_coef_, plain.dual_coef_)
    assert machine.certificate_.ok


# --- iteration limit and warm start ----------------------------------------------------


def stopped_by_max_iter(middle, total):
    machine = SVC(**MIDDLE, warm_start=True, max_iter=int(0.6 * total))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        machine.fit(*middle)
    assert machine.certificate_.stop == "stopped early: the iteration limit was reached"
    assert machine.n_iter_[0] == int(0.6 * total)
    return machine.set_params(max_iter=-1)


def stopped_by_a_callback(middle, total):
    def enough(snapshot):
        return snapshot.n_iter >= 0.4 * total

    machine = SVC(**MIDDLE, warm_start=True, callbacks=enough).fit(*middle)
    assert machine.certificate_.stop == "stopped early: a callback asked to stop"
    return machine.set_params(callbacks=None)


@pytest.fixture
def every_slice(monkeypatch):
    """Callbacks after every slice: a chunk's size depends on the machine's speed."""
    monkeypatch.setattr("maxmargin.solvers.base.CHUNK_SECONDS", 0.0)


@pytest.mark.usefixtures("every_slice")
@pytest.mark.parametrize("stop", [stopped_by_max_iter, stopped_by_a_callback])
def test_warm_start_goes_on_from_where_it_stopped(middle, from_scratch, stop):
    plain, _ = from_scratch
    total = plain.n_iter_[0]
    machine = stop(middle, total)
    assert machine.fit_status_ == 1
    before = machine.certificate_
    assert before.violation > before.tol
    assert before.dual < plain.certificate_.dual
    assert machine.score(*middle) > 0.9

    machine.fit(*middle)
    assert machine.fit_status_ == 0
    assert machine.certificate_.ok
    assert certify(machine, *middle).ok
    assert machine.n_iter_[0] < 0.8 * total
    assert machine.certificate_.dual == pytest.approx(plain.certificate_.dual, rel=1e-6)
    assert machine.intercept_[0] == pytest.approx(plain.intercept_[0], abs=machine.tol)


def test_warm_start_of_a_finished_machine_has_nothing_to_do(middle):
    machine = SVC(**MIDDLE, warm_start=True).fit(*middle)
    before, total = machine.certificate_, machine.n_iter_[0]
    machine.fit(*middle)
    assert machine.n_iter_[0] <= 0.01 * total
    assert machine.certificate_.dual == pytest.approx(before.dual, rel=1e-8)


def test_warm_start_of_a_finished_machine_at_a_large_price():
    X, y, *_ = data.svmguide1()
    machine = SVC(C=1e4, gamma=2.0, warm_start=True).fit(X, y)
    total = machine.n_iter_[0]
    machine.fit(X, y)
    assert machine.n_iter_[0] <= 0.1 * total


def test_referee_agrees_with_the_certificate_of_a_stopped_run():
    X, y, *_ = data.svmguide1()
    machine = SVC(C=1e5, gamma=8.0, max_iter=50_000)
    with pytest.warns(ConvergenceWarning):
        machine.fit(X, y)
    own, seen = machine.certificate_, certify(machine, X, y)
    assert own.dual == pytest.approx(seen.dual, rel=1e-5)
    assert own.primal == pytest.approx(seen.primal, rel=1e-5)


def test_warm_start_along_a_path_of_prices(middle):
    machine = SVC(gamma=2.0, warm_start=True)
    for C in (1.0, 10.0, 100.0):
        machine.set_params(C=C).fit(*middle)
        assert machine.certificate_.ok
        fresh = SVC(C=C, gamma=2.0).fit(*middle)
        assert machine.certificate_.dual == pytest.approx(
            fresh.certificate_.dual, rel=1e-6
        )


# --- watching ---------------------------------------------------------------------------


def test_dual_rises(from_scratch):
    machine, history = from_scratch
    dual = np.array(history["dual"])
    assert len(dual) >= 5
    # Kernel values are float32 on the way, and corrected when the end is verified.
    assert (np.diff(dual) >= -2e-6 * np.abs(dual[1:])).all()
    assert dual[0] == 0.0
    assert dual[-1] == pytest.approx(machine.certificate_.dual, rel=1e-9)
    iterations, seconds = history["n_iter"], history["seconds"]
    assert (np.diff(iterations) >= 0).all()
    assert (np.diff(seconds) >= 0.0).all()
    assert iterations[-1] == machine.n_iter_[0]
    assert history["violation"][-1] <= machine.tol


def test_watching_changes_nothing(middle, from_scratch):
    seen = []
    watched = SVC(**MIDDLE, callbacks=[lambda snapshot: seen.append(snapshot.measures)])
    watched.fit(*middle)
    plain = SVC(**MIDDLE).fit(*middle)
    assert seen
    np.testing.assert_array_equal(watched.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(watched.intercept_, plain.intercept_)


def test_progress_is_written_to_stderr_alone(middle, capfd):
    SVC(**MIDDLE, verbose=1).fit(*middle)
    out, err = capfd.readouterr()
    assert out == ""
    assert "100%" in err
    assert "violation" in err
    assert "relative gap" in err
    SVC(**MIDDLE).fit(*middle)
    assert capfd.readouterr() == ("", "")


# --- Ctrl-C -----------------------------------------------------------------------------

PRELUDE = """
import sys, threading, time, warnings
from sklearn.model_selection import GridSearchCV
from tests import data
from maxmargin import SVC

class Ready:
    def on_start(self, snapshot):
        say("fitting")

def say(*words):
    print(*words, flush=True)

split = data.covtype_binary(50_000, 2_000)
SVC(C=1.0, gamma=8.0).fit(split.X[:300], split.y[:300])
machine = SVC(C=1e5, gamma=8.0, callbacks=[Ready()])
"""


class Child:
    """A Python process that is fitting; what it says can be waited for."""

    def __init__(self, body: str) -> None:
        data.find("covtype.npz")  # where there is none, the test is skipped here
        paths = [str(data.ROOT), str(data.ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(body)],
            cwd=data.ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self):
        try:
            self.wait_for("fitting")
        except BaseException:
            self.__exit__()  # nobody else would end a fit of hours
            raise
        time.sleep(1.0)
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait(60)
        self._reader.join(60)
        assert not self._reader.is_alive(), "somebody still holds the child's output"
        self.process.stdout.close()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, text: str | None, seconds: float = 120.0) -> None:
        """Until a line with this text; None is the end of its output."""
        deadline = time.monotonic() + seconds
        while True:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            self.said += line or ""
            if line is None:
                assert text is None, f"{text!r} was not said, but: {self.said}"
                return
            if text is not None and text in line:
                return

    def press(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        self.wait_for(None)
        return self.process.wait(60)


real_signals = [
    pytest.mark.slow,
    pytest.mark.usefixtures("ctrl_c"),
    pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for another process"),
]


class TestCtrlC:
    pytestmark = real_signals

    def test_first_leaves_a_labelled_model(self):
        body = """
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                machine.fit(split.X, split.y)
            say("stop:", machine.certificate_.stop)
            say("warned", [type(one.message).__name__ for one in told])
            say("status", machine.fit_status_, "ok", machine.certificate_.ok)
            say("better", machine.score(split.X_test, split.y_test) > 0.56)
        """
        with Child(body) as child:
            time.sleep(2.0)
            child.press()
            began = time.monotonic()
            child.wait_for("press Ctrl-C again to abort")
            child.wait_for("stop: stopped early: interrupted by Ctrl-C")
            late = time.monotonic() - began
            print(f"Ctrl-C: {late:.2f} s")
            assert child.end() == 0, child.said
        assert late <= LATE
        assert "warned ['ConvergenceWarning']" in child.said
        assert "status 1 ok False" in child.said
        assert "better True" in child.said

    def test_second_raises(self):
        # Every step takes a second more, so that the second press finds the run alive.
        body = """
            machine.callbacks.append(lambda snapshot: time.sleep(1.0))
            machine.fit(split.X, split.y)
            say("stop:", machine.certificate_.stop)
        """
        with Child(body) as child:
            child.press()
            child.wait_for("press Ctrl-C again to abort")
            child.press()
            began = time.monotonic()
            assert child.end() == -signal.SIGINT, child.said
        assert time.monotonic() - began <= LATE
        assert "KeyboardInterrupt" in child.said
        assert "stop:" not in child.said

    def test_first_raises_inside_a_search(self):
        body = """
            search = GridSearchCV(machine, {"C": [1e5, 1e4]}, cv=2, n_jobs=1)
            try:
                search.fit(split.X, split.y)
            except KeyboardInterrupt:
                say("raised", hasattr(search, "best_score_"))
        """
        with Child(body) as child:
            child.press()
            began = time.monotonic()
            child.wait_for("raised False")
            late = time.monotonic() - began
            assert child.end() == 0, child.said
        assert late <= LATE
        assert child.said.count("fitting") == 1

    def test_no_handler_off_the_main_thread(self):
        body = """
            machine.set_params(time_limit=5.0)
            warnings.simplefilter("ignore")
            thread = threading.Thread(target=machine.fit, args=(split.X, split.y))
            thread.start()
            try:
                while thread.is_alive():
                    time.sleep(0.1)  # an interrupted join() would confuse the thread
            except KeyboardInterrupt:
                say("raised", thread.is_alive())
            thread.join()
            say("stop:", machine.certificate_.stop)
        """
        with Child(body) as child:
            child.press()
            child.wait_for("raised True")
            child.wait_for("stop: stopped early: the time limit was reached")
            assert child.end() == 0, child.said


# --- what early stops say ---------------------------------------------------------------


def test_pegasos_says_what_it_reached():
    X, y = make_moons(200, noise=0.2, random_state=0)
    machine = SVC(solver="pegasos", fit_intercept=False, gamma=2.0, tol=0.1).fit(X, y)
    own = machine.certificate_
    assert own.stop == "converged: the relative duality gap is at most tol"
    assert own.ok
    assert own.relative_gap <= 0.1
    assert certify(machine, X, y).ok


def test_pegasos_gives_advice_that_can_be_followed():
    X, y = make_moons(200, noise=0.2, random_state=0)
    machine = SVC(solver="pegasos", fit_intercept=False, tol=1e-9, max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3\).*use solver='smo'"):
        machine.fit(X, y)


def test_a_hard_margin_that_was_not_found_is_an_error():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)) * [10.0, 1e4] + [40.0, 5e4], np.arange(60) % 2
    with pytest.raises(InputError, match="overlap"):
        SVC(C=float("inf"), kernel="linear", max_iter=20_000).fit(X, y)
