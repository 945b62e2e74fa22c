"""The loop, on a small real solver, and everybody who may watch it."""

from __future__ import annotations

import copy
import io
import math
import pickle
import sys
import threading
import time

import numpy as np
import pytest
from tests.unit.toy_solver import CoordinateDescent, Scripted, toy_problem

from maxmargin.errors import InputError, NumericalError, Stop
from maxmargin.observers import (
    History,
    Locked,
    Patience,
    Progress,
    TimeLimit,
    Watcher,
    as_observer,
)
from maxmargin.observers import limits as module
from maxmargin.problem import Model
from maxmargin.solvers import base
from maxmargin.solvers.base import Status, drive, steps

SLOW = CoordinateDescent(tol=1e-300, pause=1e-3)  # never converges


class Diary(Watcher):
    """Writes down what it is told."""

    def __init__(self, stop_at=math.inf, fail_at=math.inf):
        self.calls, self.stop_at, self.fail_at = [], stop_at, fail_at

    def on_start(self, snapshot):
        self.calls.append("start")

    def on_step(self, snapshot):
        self.calls.append("step")
        if len(self.calls) > self.fail_at:
            raise ZeroDivisionError("on purpose")
        return Stop.CALLBACK if len(self.calls) > self.stop_at else None

    def on_stop(self, snapshot, stop):
        self.calls.append(stop)


# The loop -----------------------------------------------------------------------------


def test_drive_reaches_the_optimum_and_says_so():
    problem, diary = toy_problem(), Diary()
    outcome = drive(CoordinateDescent(), problem, observers=[diary])
    assert outcome.stop is Stop.CONVERGED
    assert outcome.n_iter % problem.n == 0
    K, beta = problem.gram.table, outcome.model.beta
    np.testing.assert_allclose(outcome.model.gradient, K @ beta + problem.p, atol=1e-12)
    free = (beta > problem.lower) & (beta < problem.upper)
    assert free.any()
    np.testing.assert_allclose(outcome.model.gradient[free], 0.0, atol=1e-6)
    assert diary.calls[0] == "start"
    assert diary.calls[-1] is Stop.CONVERGED
    assert set(diary.calls[1:-1]) == {"step"}


def test_budgets_give_the_same_bits_and_steps_is_the_same_run():
    whole = drive(CoordinateDescent(), toy_problem())
    for every in (1, 7, 10**9):
        *_, last = steps(CoordinateDescent(), toy_problem(), every)
        assert last.status is Status.CONVERGED
        assert last.n_iter == whole.n_iter
        assert last.model.beta.tobytes() == whole.model.beta.tobytes()
    first = next(steps(CoordinateDescent(), toy_problem(), 3))
    assert (first.n_iter, first.status) == (3, Status.RUNNING)
    with pytest.raises(InputError, match="every=0"):
        next(steps(CoordinateDescent(), toy_problem(), 0))


def test_budget_doubles_while_chunks_are_short_and_halves_when_they_are_long(monkeypatch):
    clock = [0.0]
    budgets = []

    class Timed(CoordinateDescent):
        def advance(self, problem, state, budget):
            budgets.append(budget)
            clock[0] += 0.001 * budget
            return super().advance(problem, state, budget)

    monkeypatch.setattr(base.time, "perf_counter", lambda: clock[0])
    drive(Timed(tol=1e-300, max_iter=400), toy_problem())
    assert budgets[:6] == [1, 2, 4, 8, 16, 32]
    assert set(budgets[6:]) == {32}  # 32 ms: between half and twice the aim

    budgets.clear()
    clock[0] = 0.0
    seen = Diary()
    seen.on_step = lambda snapshot: monkeypatch.setattr(base, "CHUNK_SECONDS", 0.005)
    drive(Timed(tol=1e-300, max_iter=60), toy_problem(), observers=[seen])
    assert max(budgets) == 4


def test_every_end_has_its_reason():
    assert drive(CoordinateDescent(tol=1e-300, max_iter=50), toy_problem()).stop is (
        Stop.MAX_ITER
    )
    for reason in (Stop.TIME_LIMIT, Stop.INTERRUPTED, Stop.CALLBACK):
        quitter = Watcher()
        quitter.on_step = lambda snapshot, reason=reason: reason
        diary = Diary()
        outcome = drive(CoordinateDescent(), toy_problem(), observers=[quitter, diary])
        assert outcome.stop is reason
        assert outcome.n_iter == 1  # the first chunk is one unit
        assert diary.calls == ["start", "step", reason]


def test_resume_after_pickle_gives_the_same_bits():
    whole = drive(CoordinateDescent(), toy_problem())
    part = drive(CoordinateDescent(), toy_problem(), observers=[Diary(stop_at=4)])
    assert 0 < part.n_iter < whole.n_iter
    state = pickle.loads(pickle.dumps(part.state))
    rest = drive(CoordinateDescent(), toy_problem(), state=state)
    assert rest.n_iter == whole.n_iter
    assert rest.model.beta.tobytes() == whole.model.beta.tobytes()


def test_warm_start_from_the_optimum_is_done_at_once_and_excludes_state():
    whole = drive(CoordinateDescent(), toy_problem())
    again = drive(CoordinateDescent(tol=1e-5), toy_problem(), warm=whole.model.beta)
    assert (again.stop, again.n_iter) == (Stop.CONVERGED, 0)
    with pytest.raises(InputError, match=r"warm .* or state"):
        drive(
            CoordinateDescent(), toy_problem(), warm=whole.model.beta, state=whole.state
        )


def test_failing_observer_is_heard_and_everybody_is_closed():
    before, failing, after = Diary(), Diary(fail_at=3), Diary()
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        drive(CoordinateDescent(), toy_problem(), observers=[before, failing, after])
    for diary in (before, failing, after):
        assert diary.calls[0] == "start"
        assert diary.calls[-1] is None
    assert before.calls.count("step") == after.calls.count("step") + 1

    class NoStart(Diary):
        def on_start(self, snapshot):
            raise ZeroDivisionError("not even started")

    before, after = Diary(), Diary()
    with pytest.raises(ZeroDivisionError, match="not even started"):
        drive(CoordinateDescent(), toy_problem(), observers=[before, NoStart(), after])
    assert before.calls == ["start", None]
    assert after.calls == []


def test_non_finite_model_is_an_error_and_observers_are_closed():
    class Broken(CoordinateDescent):
        def model(self, problem, state):
            good = super().model(problem, state)
            return Model(good.beta * np.nan, *good[1:])

    diary = Diary()
    with pytest.raises(NumericalError, match="scale the features"):
        drive(Broken(), toy_problem(), observers=[diary])
    assert diary.calls[-1] is None


# Callbacks as users give them ---------------------------------------------------------


def test_a_function_stops_a_run_with_anything_true():
    for answer in (True, 1, np.True_, Stop.CALLBACK, Stop.CONVERGED):
        seen = []

        def callback(snapshot, seen=seen, answer=answer):
            seen.append(snapshot.n_iter)
            return answer if len(seen) == 3 else None

        outcome = drive(
            CoordinateDescent(), toy_problem(), observers=[as_observer(callback)]
        )
        assert outcome.stop is Stop.CALLBACK
        assert seen == [1, 3, 7]


def test_an_object_may_have_any_of_the_methods():
    class Ending:
        def on_stop(self, snapshot, stop):
            self.stop = stop

    class Limit:
        def __init__(self, answer):
            self.answer = answer

        def on_step(self, snapshot):
            return self.answer

    ending = Ending()
    watching = [as_observer(ending), as_observer(Limit(Stop.TIME_LIMIT))]
    assert drive(CoordinateDescent(), toy_problem(), observers=watching).stop is (
        Stop.TIME_LIMIT
    )
    assert ending.stop is Stop.TIME_LIMIT
    watching = [as_observer(Limit(answer=True))]
    assert drive(CoordinateDescent(), toy_problem(), observers=watching).stop is (
        Stop.CALLBACK
    )
    assert as_observer(watching[0]) is watching[0]


@pytest.mark.parametrize("thing", [None, 3, "gap", [print], object(), History])
def test_anything_else_is_refused(thing):
    with pytest.raises(InputError, match=r"f\(snapshot\).*on_start, on_step, on_stop"):
        as_observer(thing)


def test_refusals_say_what_to_do():
    class Bad:
        on_step = 3

    class ScikitLearns:
        def on_fit_task_end(self, estimator, context):
            pass

    with pytest.raises(InputError, match=r"History is a class.*give History\("):
        as_observer(History)
    with pytest.raises(InputError, match="Bad"):
        as_observer(Bad())
    with pytest.raises(InputError, match="set_callbacks"):
        as_observer(ScikitLearns())


@pytest.mark.parametrize("guarded", [True, False])
def test_locked_lets_one_thread_in_at_a_time(guarded):
    class Meeting(Watcher):
        inside = worst = 0

        def on_step(self, snapshot):
            self.inside += 1
            self.worst = max(self.worst, self.inside)
            time.sleep(0.02)
            self.inside -= 1

    meeting = Meeting()
    observer = Locked(meeting) if guarded else meeting
    shot = Scripted((1.0, 0.0, 1.0)).shot(0)
    threads = [threading.Thread(target=observer.on_step, args=[shot]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Unguarded the four do meet: the test can tell the difference.
    assert (meeting.worst == 1) is guarded


def test_locked_passes_everything_on_and_may_share_a_lock():
    lock = threading.RLock()
    diary = Diary(stop_at=2)
    outcome = drive(CoordinateDescent(), toy_problem(), observers=[Locked(diary, lock)])
    assert outcome.stop is Stop.CALLBACK
    assert diary.calls == ["start", "step", "step", Stop.CALLBACK]
    assert Locked(diary, lock)._lock is lock


# History ------------------------------------------------------------------------------


def test_history_records_start_steps_and_end():
    problem, history = toy_problem(), History()
    outcome = drive(CoordinateDescent(), problem, observers=[history], name="a")
    assert history["n_iter"][:4] == [0, 1, 3, 7]
    assert history["n_iter"][-1] == outcome.n_iter
    assert len(set(history["n_iter"])) == len(history["n_iter"])
    assert history["primal"][0] == 30.0  # ΣC: every slack is 1
    assert history["dual"][0] == 0.0
    assert history["violation"][-1] <= 1e-6
    np.testing.assert_allclose(
        history["gap"], np.subtract(history["primal"], history["dual"])
    )
    assert (np.diff(history["dual"]) >= 0.0).all()
    assert history["n_kernel"][-1] == problem.gram.n_kernel
    assert history["seconds"] == sorted(history["seconds"])
    assert list(history.to_dict()) == ["a"]


def test_history_of_a_stopped_run_counts_no_step_twice():
    history = History("n_iter")
    drive(CoordinateDescent(), toy_problem(), observers=[history, Diary(stop_at=3)])
    assert history["n_iter"] == [0, 1, 3, 7]


def test_history_looks_at_the_model_only_when_asked():
    class NoModel(CoordinateDescent):
        models = 0

        def model(self, problem, state):
            type(self).models += 1
            return super().model(problem, state)

        def _check(self, problem, state):
            state.figures[:] = 1.0, 0.0, 1.0

    solver = NoModel(max_iter=31)
    drive(solver, toy_problem(), observers=[History()])
    assert NoModel.models == 1  # drive's own, at the end
    history = History(["n_support"])
    drive(solver, toy_problem(), observers=[history])
    assert NoModel.models > 3
    assert history["n_support"][:3] == [0, 1, 3]


def test_history_of_several_problems_and_threads():
    history = History(["n_iter", "relative_gap"])
    names = [f"{k} against rest" for k in range(4)]

    def one(k):
        drive(
            CoordinateDescent(), toy_problem(seed=k), observers=[history], name=names[k]
        )

    threads = [threading.Thread(target=one, args=[k]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(history.to_dict()) == names
    assert set(history["n_iter"]) == set(names)
    for k, name in enumerate(names):
        alone = History(["n_iter"])
        drive(CoordinateDescent(), toy_problem(seed=k), observers=[alone])
        assert history["n_iter"][name][-1] == alone["n_iter"][-1]
        assert history.to_dict()[name]["relative_gap"][0] == 1.0
    with pytest.raises(KeyError, match="'dual' was not recorded"):
        history["dual"]
    assert History()["n_iter"] == []
    with pytest.raises(InputError, match="keys=\\['loss'\\]"):
        History(["gap", "loss"])


# Limits -------------------------------------------------------------------------------


def test_time_limit_ends_a_run_that_would_not():
    before = time.monotonic()
    outcome = drive(SLOW, toy_problem(), observers=[TimeLimit(0.15)])
    assert outcome.stop is Stop.TIME_LIMIT
    assert 0.15 <= time.monotonic() - before < 5.0
    assert outcome.n_iter > 0


def test_time_limit_starts_anew_and_travels(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    limit, shot = TimeLimit(10), Scripted((1.0, 0.0, 1.0)).shot(0)
    now[0] = 107.0
    assert limit.on_step(shot) is None
    packed = pickle.dumps(limit)
    now[0] = 5.0  # another machine, whose clock began later
    twin = pickle.loads(packed)
    now[0] = 7.9
    assert twin.on_step(shot) is None
    now[0] = 8.0
    assert twin.on_step(shot) is Stop.TIME_LIMIT
    now[0] = 110.0
    assert limit.on_step(shot) is Stop.TIME_LIMIT
    assert limit.start().on_step(shot) is None


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, "1", None])
def test_time_limit_must_be_positive(seconds):
    with pytest.raises(InputError, match="positive number of seconds"):
        TimeLimit(seconds)


def play(observer, solver, steps, name=""):
    """Answers of an observer to a scripted run."""
    observer.on_start(solver.shot(0, name))
    return [observer.on_step(solver.shot(k, name)) for k in range(1, steps + 1)]


def test_patience_waits_for_checks_steps():
    duals = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.05, 1.2, 1.2, 1.25, 1.3]
    solver = Scripted(*((9.0, dual, 1.0) for dual in duals))
    answers = play(Patience(checks=3, rel=0.1), solver, 11)
    # Improvements of more than 10 %: steps 5 and 8; 1.25 and 1.3 are not.
    assert answers.index(Stop.CALLBACK) == 10
    assert answers[:10] == [None] * 10


def test_patience_keeps_problems_apart_and_survives_nan():
    patience = Patience(2, 0.0)
    still = Scripted((9.0, -math.inf, 1.0), (9.0, 1.0, 1.0), (9.0, math.nan, 1.0))
    rising = Scripted(*((9.0, float(k), 1.0) for k in range(9)))
    patience.on_start(rising.shot(0, "rising"))
    assert play(patience, still, 3, "still") == [None, None, Stop.CALLBACK]
    assert [patience.on_step(rising.shot(k, "rising")) for k in range(1, 8)] == [None] * 7


def test_patience_stops_a_real_run():
    outcome = drive(
        CoordinateDescent(tol=1e-300), toy_problem(), observers=[Patience(5, 1e-9)]
    )
    exact = drive(CoordinateDescent(tol=1e-10), toy_problem())
    assert outcome.stop is Stop.CALLBACK
    np.testing.assert_allclose(outcome.model.beta, exact.model.beta, atol=1e-4)


@pytest.mark.parametrize(
    "wrong", [(0, 0.1), (1.5, 0.1), (3, -0.1), (3, math.nan), (3, math.inf)]
)
def test_patience_checks_its_parameters(wrong):
    with pytest.raises(InputError, match=r"checks=|rel="):
        Patience(*wrong)


@pytest.mark.parametrize(
    "observer",
    [History(), TimeLimit(1e6), Patience(2, 0.1), Progress(), Locked(History())],
)
def test_observers_can_be_copied_and_pickled(observer):
    for twin in (copy.deepcopy(observer), pickle.loads(pickle.dumps(observer))):
        solver = CoordinateDescent(max_iter=5)
        assert drive(solver, toy_problem(), observers=[twin]).stop is Stop.MAX_ITER


# Progress -----------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("COLUMNS", "200")
    return now


def gaps(*values):
    """A run whose relative gap follows values (the primal is 1)."""
    return Scripted(*((1.0, 1.0 - value, value) for value in values))


def test_progress_follows_the_logarithm_of_the_gap_and_never_goes_back(clock):
    progress = Progress(io.StringIO(), tol=1e-4)
    solver = gaps(1.0, 1e-1, 1e-2, 1e-1, 1e-3, 1e-6)
    progress.on_start(solver.shot(0))
    seen = []
    for step in range(1, 6):
        clock[0] += 1.0
        progress.on_step(solver.shot(step))
        seen.append(progress.fraction)
    np.testing.assert_allclose(seen, [0.25, 0.5, 0.5, 0.75, 0.99])
    progress.on_stop(solver.shot(5, status=Status.CONVERGED), Stop.CONVERGED)
    assert progress.fraction == 1.0


def test_progress_moves_while_the_primal_falls_by_decades(clock):
    # A large C: the relative gap stays near 1 until the primal is near the optimum.
    solver = Scripted(
        (1e9, 0.0, 1.0), (1e6, 1.0, 1.0), (1e3, 1.0, 1.0), (1.0, 0.999, 0.1)
    )
    progress = Progress(io.StringIO(), tol=1e-3)
    progress.on_start(solver.shot(0))
    seen = []
    for step in range(1, 4):
        clock[0] += 1.0
        progress.on_step(solver.shot(step))
        seen.append(progress.fraction)
    np.testing.assert_allclose(seen, [3 / 6, 6 / 9, 0.99], atol=1e-3)


def test_progress_uses_the_violation_where_there_is_no_finite_gap(clock):
    progress = Progress(io.StringIO(), tol=1e-2)
    solver = Scripted(
        (math.inf, 0.0, math.inf), (math.inf, 0.0, 1.0), (math.inf, 0.5, 0.1)
    )
    progress.on_start(solver.shot(0))
    for step, fraction in ((1, 0.0), (2, 0.5)):
        clock[0] += 1.0
        progress.on_step(solver.shot(step))
        assert progress.fraction == pytest.approx(fraction)
    assert "relative gap inf" in progress.stream.getvalue()


def test_progress_on_a_terminal_redraws_one_line_ten_times_a_second(clock):
    stream = Terminal()
    solver = gaps(*np.geomspace(1.0, 1e-3, 201))
    progress = Progress(stream)
    progress.on_start(solver.shot(0))
    for step in range(1, 200):  # 10 ms a step: 2 s
        clock[0] += 0.01
        progress.on_step(solver.shot(step))
    assert 18 <= stream.getvalue().count("\r") <= 21
    assert "\n" not in stream.getvalue()
    progress.on_stop(solver.shot(200, status=Status.CONVERGED), Stop.CONVERGED)
    last = stream.getvalue().rsplit("\r", 1)[1]
    assert last.rstrip() == (
        "[████████████████████████] 100%  200 iterations  relative gap 1.0e-03  "
        "violation 1.0e-03  2.0 s"
    )
    assert last.endswith("\n")
    before = stream.getvalue()
    progress.close()
    assert stream.getvalue() == before


def test_progress_fits_a_narrow_terminal_and_close_ends_a_torn_line(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    progress = Progress(Terminal(), total=3)
    progress.on_start(gaps(1.0).shot(0))
    assert len(progress.stream.getvalue()) == 1 + 39
    progress.close()
    assert progress.stream.getvalue().endswith("\n")


def test_progress_of_a_failed_run_ends_its_line_and_the_next_begins_anew(clock):
    progress, solver = Progress(Terminal(), total=2), gaps(1.0, 1e-2)
    progress.on_start(solver.shot(0, "a"))
    clock[0] += 1.0
    progress.on_step(solver.shot(1, "a"))
    assert progress.fraction == pytest.approx(1 / 3)
    assert not progress.stream.getvalue().endswith("\n")
    progress.on_stop(solver.shot(1, "a"), None)
    assert progress.stream.getvalue().endswith("\n")
    progress.on_start(solver.shot(0, "b"))
    assert progress.fraction == 0.0


def test_history_of_a_failed_run_ends_with_its_last_step():
    class Broken(CoordinateDescent):
        def model(self, problem, state):
            raise ZeroDivisionError("on purpose")

        def _check(self, problem, state):
            state.figures[:] = 1.0, 0.0, 1.0

    history = History("n_iter")
    with pytest.raises(ZeroDivisionError):
        drive(Broken(max_iter=5), toy_problem(), observers=[history])
    assert history["n_iter"] == [0, 1, 3]


def test_progress_elsewhere_writes_a_line_a_second_and_a_last_one(clock):
    stream = io.StringIO()
    progress, solver = Progress(stream), gaps(*np.geomspace(1.0, 1e-2, 301))
    progress.on_start(solver.shot(0))
    for step in range(1, 300):  # 3 s
        clock[0] += 0.01
        progress.on_step(solver.shot(step))
    progress.on_stop(solver.shot(299), Stop.TIME_LIMIT)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert "\r" not in stream.getvalue()
    assert "66%" in lines[-1]  # not full: it did not converge
    assert lines[-1].endswith(Stop.TIME_LIMIT.value)


def test_progress_counts_problems(clock):
    stream = io.StringIO()
    progress, solver = Progress(stream, total=4, tol=1e-2), gaps(1.0, 1e-1, 1e-2)
    for name in "ab":
        progress.on_start(solver.shot(0, name))
    progress.on_stop(solver.shot(2, "a", Status.CONVERGED), Stop.CONVERGED)
    clock[0] = 2.0
    progress.on_step(solver.shot(1, "b"))
    assert progress.fraction == pytest.approx((1.0 + 0.5) / 4)
    assert "37%  1/4 problems  3 iterations  relative gap 1.0e-01" in stream.getvalue()
    for name in "bcd":
        if name != "b":
            progress.on_start(solver.shot(0, name))
        progress.on_stop(solver.shot(2, name, Status.CONVERGED), Stop.CONVERGED)
    assert "100%  4/4 problems  8 iterations" in stream.getvalue().splitlines()[-1]
    progress.on_start(solver.shot(0, "a"))  # a second fit begins anew
    assert progress.fraction == 0.0


def test_progress_of_many_problems_is_drawn_no_more_often(clock):
    progress, solver = Progress(Terminal(), total=9), gaps(*np.geomspace(1.0, 0.1, 101))
    for name in "abcdefghi":
        progress.on_start(solver.shot(0, name))
    for step in range(1, 101):  # 1 s
        clock[0] += 0.01
        for name in "abcdefghi":
            progress.on_step(solver.shot(step, name))
    assert 9 <= progress.stream.getvalue().count("\r") <= 11


def test_progress_has_plain_characters_for_plain_encodings(clock):
    for encoding, mark in (
        ("ascii", "#"),
        ("utf-8", "█"),
        ("cp437", "█"),
        ("cp1252", "#"),
    ):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        progress, solver = Progress(stream), gaps(1.0, 1e-3)
        progress.on_start(solver.shot(0))
        progress.on_stop(solver.shot(1, status=Status.CONVERGED), Stop.CONVERGED)
        text = stream.buffer.getvalue().decode(encoding)
        assert text.startswith("[" + 24 * mark + "] 100%")


def test_progress_goes_to_the_stderr_of_the_moment(capsys, monkeypatch):
    progress = Progress()
    drive(CoordinateDescent(), toy_problem(), observers=[progress])
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "100%" in err
    monkeypatch.setattr(sys, "stderr", None)  # a program without a console
    assert drive(CoordinateDescent(), toy_problem(), observers=[progress]).stop.converged
    with pytest.raises(InputError, match="tol=0"):
        Progress(tol=0)


def test_progress_tells_the_time_readably(clock):
    shown = []
    for seconds in (0.04, 59.94, 61.5, 3662.5):
        progress, solver = Progress(io.StringIO()), gaps(1.0)
        progress.on_start(solver.shot(0))
        clock[0] += seconds
        progress.on_stop(solver.shot(0, status=Status.CONVERGED), Stop.CONVERGED)
        shown.append(progress.stream.getvalue().rstrip().split("  ")[-1])
    assert shown == ["0.0 s", "59.9 s", "0:01:01", "1:01:02"]
