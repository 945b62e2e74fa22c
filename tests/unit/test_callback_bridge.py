"""scikit-learn's callbacks see our chunks, may end them, and cost nothing when absent."""

from __future__ import annotations

import importlib.util
import sys
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from tests.unit.toy_solver import CoordinateDescent, toy_problem

from maxmargin import _callback_bridge
from maxmargin._callback_bridge import (
    BridgeObserver,
    CallbackSupport,
    with_callbacks,
)
from maxmargin.errors import Stop
from maxmargin.observers import TimeLimit
from maxmargin.solvers.base import drive

callback = pytest.importorskip("sklearn.callback")


class Machine(CallbackSupport, ClassifierMixin, BaseEstimator):
    """The sketch in the bridge's docstring, as a whole estimator."""

    def __init__(self, tol=1e-6, problems=1, threads=False, limit=None, C=1.0):
        self.tol, self.problems, self.threads = tol, problems, threads
        self.limit, self.C = limit, C

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        names = [f"problem {k}" for k in range(self.problems)]
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.bridges_ = []
        if self._watched:
            bridge = BridgeObserver(
                self, X, y, self._attributes, metadata=given, total=self.problems
            )
            self.bridges_.append(bridge)
        limits = [] if self.limit is None else [TimeLimit(self.limit)]
        self.stops_ = {}

        def one(name):
            outcome = drive(
                CoordinateDescent(tol=self.tol),
                toy_problem(C=self.C),
                observers=[*limits, *self.bridges_],
                name=name,
            )
            self.stops_[name] = outcome.stop
            self.beta_, self.n_iter_ = outcome.model.beta, outcome.n_iter

        if self.threads:
            pool = [threading.Thread(target=one, args=[name]) for name in names]
            for thread in pool:
                thread.start()
            for thread in pool:
                thread.join()
        else:
            for name in names:
                one(name)
        self.classes_ = np.unique(y)
        for bridge in self.bridges_:
            bridge.finish()
        return self

    def _attributes(self, snapshot):
        self.built_ = getattr(self, "built_", 0) + 1
        if self.problems > 1:
            return None
        return {"beta_": snapshot.model.beta, "n_iter_": snapshot.n_iter, "classes_": [0]}

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Recorder:
    """A callback that writes every hook down; it may stop a task by its name."""

    def __init__(self, stop_at=None, stop_task="chunk"):
        self.calls, self.stop_at, self.stop_task = [], stop_at, stop_task
        self.inside = self.worst = 0

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name, 0))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name, 0))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.inside += 1
        self.worst = max(self.worst, self.inside)
        self.calls.append(("end", context.task_name, context.task_id))
        self.inside -= 1
        return (context.task_name, context.task_id) == (self.stop_task, self.stop_at)

    def tasks(self, what, name):
        return [k for kind, task, k in self.calls if (kind, task) == (what, name)]


class Propagated(Recorder):
    max_propagation_depth = None


class Looker(Recorder):
    """Asks for the estimator as it would be if the fit stopped now."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self.seen.append((context.task_name, X, y, metadata, fitted_estimator))


X, Y = np.zeros((6, 1)), np.arange(6) % 2


def test_without_callbacks_there_is_no_bridge():
    machine = Machine().fit(X, Y)
    assert machine.bridges_ == []
    assert not hasattr(machine, "built_")
    machine.set_callbacks(Recorder()).set_callbacks()
    assert machine.fit(X, Y).bridges_ == []


def test_chunks_are_tasks_and_every_begin_has_its_end(monkeypatch):
    # Chunks double while they are quick: let a busy machine's be quick too.
    monkeypatch.setattr("maxmargin.solvers.base.CHUNK_SECONDS", 60.0)
    recorder = Recorder()
    machine = Machine().set_callbacks(recorder).fit(X, Y)
    assert isinstance(machine.bridges_[0], BridgeObserver)
    assert recorder.calls[:2] == [("setup", "fit", 0), ("begin", "fit", 0)]
    assert recorder.calls[2] == ("begin", "chunk", 0)
    assert recorder.calls[-2:] == [("end", "fit", 0), ("teardown", "fit", 0)]
    begun, ended = recorder.tasks("begin", "chunk"), recorder.tasks("end", "chunk")
    assert begun == ended == list(range(len(begun)))
    # Budgets 1, 2, 4, …: the last chunk is the one that converged.
    assert 2 ** (len(ended) - 1) <= machine.n_iter_ + 1 <= 2 ** len(ended)
    assert not hasattr(machine, "built_")  # nobody asked for a fitted estimator


def test_true_ends_the_run():
    machine = Machine().set_callbacks(Recorder(stop_at=2)).fit(X, Y)
    assert machine.stops_ == {"problem 0": Stop.CALLBACK}
    assert machine.n_iter_ == 1 + 2 + 4


def test_a_chunk_that_never_ran_is_closed_when_somebody_else_stops():
    recorder = Recorder()
    machine = Machine(tol=1e-300, limit=0.1).set_callbacks(recorder).fit(X, Y)
    assert machine.stops_ == {"problem 0": Stop.TIME_LIMIT}
    assert recorder.tasks("begin", "chunk") == recorder.tasks("end", "chunk")


def test_fitted_estimators_are_those_of_the_moment():
    looker = Looker()
    weight = np.ones(6)
    machine = Machine().set_callbacks(looker).fit(X, Y, sample_weight=weight)
    chunks = [row for row in looker.seen if row[0] == "chunk"]
    assert [row[4].n_iter_ for row in chunks[:3]] == [1, 3, 7]
    assert np.count_nonzero(chunks[1][4].beta_) == 3
    assert chunks[0][4] is not machine
    for _, given_X, given_y, metadata, _ in chunks:
        assert given_X is X
        assert given_y is Y
        assert metadata["sample_weight"] is weight
    name, *_, whole = looker.seen[-1]
    assert name == "fit"
    assert whole.beta_ is machine.beta_
    assert machine.built_ == len(chunks)


@pytest.mark.parametrize("threads", [False, True])
def test_several_problems_are_a_tree_and_callbacks_are_called_one_at_a_time(threads):
    recorder, looker = Recorder(), Looker()
    machine = Machine(problems=3, threads=threads).set_callbacks(recorder, looker)
    machine.fit(X, Y)
    ids = []
    for k in range(3):
        begun = recorder.tasks("begin", f"problem {k}")
        assert begun == recorder.tasks("end", f"problem {k}")
        ids += begun
    assert sorted(ids) == [0, 1, 2]
    begun, ended = recorder.tasks("begin", "chunk"), recorder.tasks("end", "chunk")
    assert sorted(begun) == sorted(ended)
    assert begun.count(0) == 3
    assert recorder.worst == 1
    assert {row[4] for row in looker.seen if row[0] == "chunk"} == {None}
    assert set(machine.stops_.values()) == {Stop.CONVERGED}


def test_true_at_the_end_of_a_problem_ends_those_that_follow():
    recorder = Recorder(stop_at=0, stop_task="problem 0")
    machine = Machine(problems=3).set_callbacks(recorder).fit(X, Y)
    assert list(machine.stops_.values()) == [Stop.CONVERGED] + 2 * [Stop.CALLBACK]
    assert machine.n_iter_ == 1


def test_clones_keep_their_callbacks():
    recorder = Recorder()
    assert clone(Machine().set_callbacks(recorder)).fit(X, Y).bridges_
    assert recorder.tasks("end", "fit") == [0]
    assert clone(Machine()).fit(X, Y).bridges_ == []


def test_callbacks_of_a_search_reach_us():
    recorder = Propagated()
    search = GridSearchCV(Machine(), {"C": [1.0, 2.0]}, cv=2, refit=False)
    search.set_callbacks(recorder).fit(X, Y)
    assert recorder.tasks("begin", "chunk").count(0) == 4  # 2 values of C, 2 folds
    assert recorder.tasks("begin", "chunk") == recorder.tasks("end", "chunk")
    # scikit-learn leaves the end of each of its own leaves to the root of our fit.
    assert len(recorder.tasks("end", "fit")) == 4 + 1


def test_callbacks_are_torn_down_when_a_run_fails():
    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            super().on_fit_task_end(estimator, context)
            raise ZeroDivisionError("on purpose")

    failing = Failing()
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        Machine().set_callbacks(failing).fit(X, Y)
    assert failing.calls[-2:] == [("end", "chunk", 0), ("teardown", "fit", 0)]


def test_scikit_learns_own_monitor_scores_every_chunk():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    Machine().set_callbacks(monitor).fit(X, Y)
    rows = monitor.get_logs().data
    assert len([row for row in rows if row["task_name"] == "chunk"]) > 3
    assert all(row["accuracy"] == 0.5 for row in rows)


def test_an_older_scikit_learn_has_no_bridge(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    spec = importlib.util.spec_from_file_location("older", _callback_bridge.__file__)
    older = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(older)

    class Old(older.CallbackSupport, BaseEstimator):
        @older.with_callbacks
        def fit(self, X, y):
            return self._watched

    assert Old().fit(X, Y) is False
    assert clone(Old()).fit(X, Y) is False
    assert not hasattr(Old, "set_callbacks")
