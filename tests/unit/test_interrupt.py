"""Ctrl-C: the first stops honestly, the second aborts, a search is always aborted."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.unit.toy_solver import CoordinateDescent, toy_problem

from maxmargin import SVC
from maxmargin._interrupt import MESSAGE, Interrupt, inside_search
from maxmargin.errors import Stop
from maxmargin.observers import Watcher
from maxmargin.solvers.base import drive

ENDLESS = CoordinateDescent(tol=1e-300)


class Press(Watcher):
    """Presses Ctrl-C at the given steps; gives up in the end."""

    def __init__(self, *at, last=50):
        self.at, self.last, self.step = at, last, 0

    def on_step(self, snapshot):
        self.step += 1
        if self.step in self.at:
            signal.raise_signal(signal.SIGINT)
        return Stop.CALLBACK if self.step >= self.last else None


def handler():
    return signal.getsignal(signal.SIGINT)


@pytest.fixture(autouse=True)
def default_handler():
    before = handler()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = handler()
    signal.signal(signal.SIGINT, before)
    assert left is signal.default_int_handler


def test_first_press_stops_at_the_same_step_with_a_sound_model(capsys):
    with Interrupt() as interrupt:
        assert interrupt.installed
        press = Press(4)
        outcome = drive(ENDLESS, toy_problem(), observers=[press, interrupt])
        assert interrupt.pressed
    assert outcome.stop is Stop.INTERRUPTED
    assert press.step == 4
    assert outcome.n_iter == 15  # 1 + 2 + 4 + 8: whole chunks
    problem = toy_problem()
    expected = problem.gram.table @ outcome.model.beta + problem.p
    np.testing.assert_allclose(outcome.model.gradient, expected, atol=1e-12)
    out, err = capsys.readouterr()
    assert (out, err) == ("", MESSAGE)
    assert not interrupt.installed


def test_without_a_press_nothing_happens(capsys):
    with Interrupt() as interrupt:
        outcome = drive(CoordinateDescent(), toy_problem(), observers=[interrupt])
    assert outcome.stop is Stop.CONVERGED
    assert not interrupt.pressed
    assert capsys.readouterr().err == ""


def test_second_press_raises_and_the_handler_is_restored(capsys):
    with Interrupt() as interrupt:
        with pytest.raises(KeyboardInterrupt):
            drive(ENDLESS, toy_problem(), observers=[Press(2, 3)])  # nobody looks
        # At once, for it may have been __exit__ that was interrupted.
        assert handler() is signal.default_int_handler
    assert interrupt.pressed
    assert handler() is signal.default_int_handler
    assert capsys.readouterr().err == MESSAGE


def test_handler_is_restored_after_any_error():
    with pytest.raises(ZeroDivisionError), Interrupt():
        raise ZeroDivisionError
    assert handler() is signal.default_int_handler


def test_other_runs_of_the_same_fit_stop_in_their_threads_too(capsys):
    stops = []
    with Interrupt() as interrupt:

        def one():
            stops.append(drive(ENDLESS, toy_problem(), observers=[interrupt]).stop)

        threads = [threading.Thread(target=one) for _ in range(2)]
        for thread in threads:
            thread.start()
        signal.raise_signal(signal.SIGINT)
        for thread in threads:
            thread.join()
        later = drive(ENDLESS, toy_problem(), observers=[interrupt])
    assert stops == [Stop.INTERRUPTED] * 2
    assert (later.stop, later.n_iter) == (Stop.INTERRUPTED, 1)
    assert capsys.readouterr().err == MESSAGE


def test_a_fit_inside_a_fit_stops_with_it_and_leaves_the_outer_handler(capsys):
    inner = []

    class Nested(Watcher):
        def on_step(self, snapshot):
            if inner:
                return
            with Interrupt() as mine:
                assert not mine.installed
                outcome = drive(ENDLESS, toy_problem(), observers=[Press(3), mine])
            inner.append(outcome)
            assert handler() == outer._handle

    with Interrupt() as outer:
        outcome = drive(ENDLESS, toy_problem(), observers=[Nested(), outer])
    assert inner[0].stop is Stop.INTERRUPTED
    assert inner[0].n_iter == 7
    assert (outcome.stop, outcome.n_iter) == (Stop.INTERRUPTED, 1)
    assert capsys.readouterr().err == MESSAGE


def test_one_object_can_be_used_again(capsys):
    interrupt = Interrupt()
    for at, stop in ((2, Stop.INTERRUPTED), (99, Stop.CONVERGED)):
        with interrupt:
            watching = [Press(at, last=1000), interrupt]
            outcome = drive(CoordinateDescent(), toy_problem(), observers=watching)
        assert outcome.stop is stop


def test_off_the_main_thread_nothing_is_installed():
    seen = []

    def one():
        with Interrupt() as interrupt:
            seen.append((interrupt.installed, handler() is signal.default_int_handler))

    thread = threading.Thread(target=one)
    thread.start()
    thread.join()
    assert seen == [(False, True)]


def test_a_program_with_its_own_handler_keeps_it():
    heard = []

    def own(signum, frame):
        heard.append(signum)

    signal.signal(signal.SIGINT, own)
    try:
        with Interrupt() as interrupt:
            watching = [Press(2, last=5), interrupt]
            outcome = drive(ENDLESS, toy_problem(), observers=watching)
            assert handler() is own
        assert handler() is own
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert outcome.stop is Stop.CALLBACK
    assert heard == [signal.SIGINT]


class Machine(ClassifierMixin, BaseEstimator):
    """An estimator whose first fit is interrupted."""

    installed = ()

    def __init__(self, C=1.0, at=2):
        self.C = C
        self.at = at

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        with Interrupt() as interrupt:
            Machine.installed = (*Machine.installed, interrupt.installed)
            press = Press(self.at, last=5)
            drive(ENDLESS, toy_problem(C=self.C), observers=[press, interrupt])
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    "search",
    [
        lambda X, y: GridSearchCV(Machine(), {"C": [1.0, 2.0]}, cv=2).fit(X, y),
        lambda X, y: cross_val_score(Machine(), X, y, cv=2, error_score=0.0),
    ],
)
def test_inside_a_search_it_raises(search, capsys):
    X, y = np.zeros((8, 1)), np.arange(8) % 2
    Machine.installed = ()
    with pytest.raises(KeyboardInterrupt):
        search(X, y)
    assert Machine.installed == (False,)  # the first fit ended the whole search
    assert capsys.readouterr().err == ""
    Machine(at=99).fit(X, y)
    assert Machine.installed == (False, True)


@pytest.mark.parametrize(
    ("module", "inside"),
    [
        ("joblib", True),
        ("joblib.parallel", True),
        ("sklearn.model_selection._search", True),
        ("optuna.study", True),
        ("rayleigh", False),
        ("sklearn.pipeline", False),
        (None, False),
    ],
)
def test_who_counts_as_a_search(module, inside):
    scope = {"__name__": module, "inside_search": inside_search}
    exec("def ask():\n    return inside_search()", scope)
    assert scope["ask"]() is inside
    assert not inside_search()


class Torn(io.StringIO):
    """A stream that was in the middle of a write, once."""

    failures = 1

    def write(self, text):
        if self.failures:
            self.failures -= 1
            raise RuntimeError("reentrant call")
        return super().write(text)


def test_a_torn_stream_costs_neither_the_model_nor_the_message(monkeypatch):
    stream = Torn()
    monkeypatch.setattr(sys, "stderr", stream)
    with Interrupt() as interrupt:
        outcome = drive(ENDLESS, toy_problem(), observers=[Press(2), interrupt])
    assert outcome.stop is Stop.INTERRUPTED
    assert stream.getvalue() == MESSAGE


@pytest.mark.parametrize("stream", ["closed", None])
def test_without_a_usable_stderr_it_still_stops(stream, monkeypatch):
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    with Interrupt() as interrupt:
        outcome = drive(ENDLESS, toy_problem(), observers=[Press(2), interrupt])
    assert outcome.stop is Stop.INTERRUPTED


def test_two_presses_end_a_whole_program():
    root = Path(__file__).parents[2]
    program = textwrap.dedent(
        f"""
        import signal, sys
        sys.path[:0] = [{str(root)!r}, {str(root / "src")!r}]
        from tests.unit.toy_solver import CoordinateDescent, toy_problem
        from maxmargin._interrupt import Interrupt
        from maxmargin.solvers.base import drive

        signal.signal(signal.SIGINT, signal.default_int_handler)

        class Stubborn(CoordinateDescent):
            def advance(self, problem, state, budget):
                for press in range(3):
                    print("press", press, flush=True)
                    signal.raise_signal(signal.SIGINT)

        with Interrupt() as interrupt:
            drive(Stubborn(), toy_problem(), observers=[interrupt])
        print("not reached")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["press", "0", "press", "1"]
    assert done.stderr.startswith(MESSAGE)
    assert done.stderr.strip().endswith("KeyboardInterrupt")
    assert done.returncode != 0


def test_runs_of_a_fit_that_failed_elsewhere_stop():
    with Interrupt() as interrupt:
        interrupt.abandon()
        outcome = drive(ENDLESS, toy_problem(), observers=[interrupt])
    assert outcome.stop is Stop.INTERRUPTED
    with interrupt:  # of another fit
        again = drive(ENDLESS, toy_problem(), observers=[interrupt, Press(last=3)])
    assert again.stop is Stop.CALLBACK


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_an_exception_in_one_problem_ends_the_others_soon(multi_class):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), rng.integers(0, 3, 1500)
    calls = []

    def complain(snapshot):
        calls.append(snapshot.name)
        raise ZeroDivisionError

    machine = SVC(C=1e6, tol=1e-12, n_jobs=2, callbacks=complain, multi_class=multi_class)
    began = time.perf_counter()
    with pytest.raises(ZeroDivisionError):
        machine.fit(X, y)
    assert calls
    assert time.perf_counter() - began < 30.0  # a whole problem takes minutes
