"""Linear machines stop and go on: time limit, callbacks, Ctrl-C, then warm start."""

import signal

import numpy as np
import pytest

from maxmargin import ConvergenceWarning, LinearSVC, LinearSVR, certify
from maxmargin.errors import Stop

MACHINES = {
    "hinge": (LinearSVC, {"loss": "hinge", "solver": "dual-descent"}),
    "squared hinge": (LinearSVC, {"loss": "squared_hinge", "solver": "dual-descent"}),
    "tube": (LinearSVR, {"loss": "epsilon_insensitive", "solver": "dual-descent"}),
    "Newton's hinge": (LinearSVC, {"loss": "hinge", "solver": "proximal-newton"}),
    "Newton's tube": (
        LinearSVR, {"loss": "squared_epsilon_insensitive", "solver": "newton-cg"}
    ),
}  # fmt: skip
TOL = 1e-8


@pytest.fixture(params=MACHINES)
def machine(request):
    kind, options = MACHINES[request.param]
    return kind(C=10.0, tol=TOL, max_iter=-1, random_state=0, **options)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 12)) * np.geomspace(0.1, 3.0, 12)
    y = (X.sum(axis=1) + rng.standard_normal(600) > 0.0).astype(int)
    return X, y


@pytest.fixture(autouse=True)
def every_slice(monkeypatch):
    """Observers after every unit of work: a chunk's size depends on the clock."""
    monkeypatch.setattr("maxmargin.solvers.base.CHUNK_SECONDS", 0.0)


def goes_on(machine, X, y):
    """A stopped machine is usable and honest, and a second fit ends what it began."""
    own = machine.certificate_
    assert not own.ok
    assert own.relative_gap > TOL
    assert machine.predict(X).shape == y.shape
    seen = certify(machine, X, y)
    assert own.primal == pytest.approx(seen.primal, rel=1e-9)
    machine.set_params(warm_start=True, time_limit=None, callbacks=None).fit(X, y)
    assert machine.certificate_.ok
    assert certify(machine, X, y).relative_gap <= TOL


def test_a_time_limit(machine, rows):
    machine.set_params(time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        machine.fit(*rows)
    assert machine.certificate_.stop == Stop.TIME_LIMIT.value
    goes_on(machine, *rows)


def test_a_callback(machine, rows):
    machine.set_params(callbacks=lambda snapshot: True).fit(*rows)
    assert machine.certificate_.stop == Stop.CALLBACK.value
    goes_on(machine, *rows)


def test_ctrl_c(machine, rows, capsys):
    pressed = []

    def press(snapshot):
        if not pressed:  # a second time would raise
            pressed.append(snapshot)
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        machine.set_params(callbacks=press)
        with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
            machine.fit(*rows)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "again" in capsys.readouterr().err
    assert machine.certificate_.stop == Stop.INTERRUPTED.value
    goes_on(machine, *rows)


def test_watching_changes_nothing(machine, rows):
    seen = []
    machine.set_params(callbacks=lambda snapshot: seen.append(snapshot.measures.gap))
    watched = machine.fit(*rows).coef_
    assert len(seen) > 1
    assert seen[-1] < seen[0]
    alone = machine.set_params(callbacks=None).fit(*rows).coef_
    np.testing.assert_array_equal(watched, alone)
