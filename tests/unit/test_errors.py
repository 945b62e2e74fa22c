"""Exceptions fit where people catch them; stops read as sentences."""

import pickle

import pytest
from sklearn import exceptions as sklearn_exceptions

from maxmargin.errors import (
    ConvergenceWarning,
    IndefiniteKernelWarning,
    InputError,
    NumericalError,
    Stop,
)
from maxmargin.solvers.base import Status


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (InputError, ValueError),
        (NumericalError, ArithmeticError),
        (ConvergenceWarning, sklearn_exceptions.ConvergenceWarning),
        (IndefiniteKernelWarning, UserWarning),
    ],
)
def test_code_that_catches_the_usual_class_catches_ours(ours, theirs):
    with pytest.raises(theirs, match="C=-1"):
        raise ours("C=-1: must be positive")


def test_numerical_trouble_is_not_the_callers_mistake():
    assert not issubclass(NumericalError, InputError)
    assert not issubclass(InputError, NumericalError)


def test_only_converged_counts_as_converged():
    assert [stop for stop in Stop if stop.converged] == [Stop.CONVERGED, Stop.CLOSED]


def test_a_stop_is_what_it_says():
    assert Stop.CLOSED == str(Stop.CLOSED) == Stop.CLOSED.value
    assert Stop("") is Stop.UNKNOWN
    assert not Stop.UNKNOWN


RUNS = [stop for stop in Stop if stop not in (Stop.RECOMPUTED, Stop.UNKNOWN)]


@pytest.mark.parametrize("stop", RUNS)
def test_a_stop_is_a_sentence_that_says_whether_it_is_optimal(stop):
    assert stop.value.startswith("converged" if stop.converged else "stopped")
    assert ": " in stop.value


@pytest.mark.parametrize("stop", Stop)
def test_a_stop_survives_pickling_as_itself(stop):
    assert pickle.loads(pickle.dumps(stop)) is stop


def test_every_final_status_has_its_sentence():
    final = [status for status in Status if status is not Status.RUNNING]
    assert [status.stop.name for status in final] == [status.name for status in final]
    with pytest.raises(KeyError):
        _ = Status.RUNNING.stop
