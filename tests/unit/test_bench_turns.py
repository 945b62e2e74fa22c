"""Who runs when in the speed benchmark, by libraries that only say how long they took."""

import pytest
from benchmarks import clock
from benchmarks.peers import OURS
from benchmarks.speed import measure, table
from benchmarks.speed.__main__ import QUICK
from benchmarks.speed.measure import Plan
from benchmarks.speed.remote import Late, Unable

PREPARED = 0.5  # seconds of the warm-up on few rows


class Scripted:
    """A library that takes so long in its runs, the last of them over and over."""

    def __init__(self, name, *script, log=None):
        self.name = name
        self.script = list(script)
        self.patience = []  # that its runs met with
        self.log = [] if log is None else log

    def call(self, verb, *args, seconds=None):
        if verb == "prepare":
            return PREPARED
        assert verb in ("run", "decide")
        self.log.append(self.name)
        self.patience.append(seconds)
        taken = self.script[0] if len(self.script) == 1 else self.script.pop(0)
        if isinstance(taken, Exception):
            raise taken
        return taken


def record_of(*script, plan=None):
    remote = Scripted("LIBSVM", *script)
    return measure.fits([remote], None, plan or Plan())[remote], len(remote.log)


def test_a_short_first_run_only_warms_up():
    record, runs = record_of(5.0, 1.0)
    assert record == {"warm_up": PREPARED, "fit_warm": 5.0, "fit": [1.0] * 3}
    assert runs == 4
    # What is brief when warm is repeated as often as that, whatever it took when cold.
    assert len(record_of(5.0, 0.1)[0]["fit"]) == 15


def test_a_long_first_run_is_the_first_timed_one():
    record, runs = record_of(12.0, 11.0)
    assert record == {"warm_up": PREPARED, "fit": [12.0, 11.0, 11.0]}
    assert runs == 3
    record, runs = record_of(70.0, 65.0)  # one is enough of those
    assert record["fit"] == [70.0]
    assert runs == 1


def test_all_are_warm_before_the_turns_begin():
    log = []
    remotes = [Scripted(name, 1.0, log=log) for name in "ab"]
    measure.fits(remotes, None, Plan(repeat=2))
    assert "".join(log) == "ab" + "ab" + "ba"
    log.clear()
    remotes[0].script = [20.0]  # it has had its first turn, but not its second
    measure.fits(remotes, None, Plan(repeat=2))
    assert "".join(log) == "ab" + "b" + "ba"


def test_patience_holds_for_the_warm_up_too():
    ours, fast = Scripted(OURS, 0.01), Scripted("LIBSVM", 1.0)
    late = Scripted("sklearnex", Late("not done"))
    records = measure.fits([ours, fast, late], None, Plan(hopeless=10.0))
    assert fast.patience[0] == 180.0  # ours is no standard
    assert late.patience == [30.0]  # it is not asked again
    assert records[late] == {"warm_up": PREPARED, "fit": [], "fit_capped": 30}


def test_who_was_in_time_when_cold_is_not_ended_when_warm():
    slow, fast = Scripted("LIBSVM", 9.0), Scripted("sklearnex", 0.5)
    measure.fits([slow, fast], None, Plan(hopeless=10.0, least=1.0))
    assert slow.patience == [180.0, 18.0, 18.0, 18.0]


def test_by_default_every_peer_has_the_same_time():
    fast, late = Scripted("LIBSVM", 0.1), Scripted("sklearnex", Late("not done"))
    records = measure.fits([fast, late], None, Plan())
    assert late.patience == [180.0]
    assert records[late]["fit_capped"] == 180


def test_a_failure_in_the_warm_up_is_told():
    record, runs = record_of(Unable("it crashed"))
    assert record == {"warm_up": PREPARED, "fit": [], "reason": "it crashed"}
    assert runs == 1


def test_predictions_are_warmed_up_by_the_same_rule():
    short, long = Scripted("LIBSVM", 5.0, 1.0), Scripted("sklearnex", 70.0)
    records = {short: {}, long: {}}
    measure._in_turn("decide", dict(records), "decide", Plan())
    assert records[short] == {"decide_warm": 5.0, "decide": [1.0] * 3}
    assert records[long] == {"decide": [70.0]}


def test_a_quick_look_makes_no_run_more():
    record, runs = record_of(0.01, plan=QUICK)
    assert record == {"warm_up": PREPARED, "fit": [0.01]}
    assert runs == 1


@pytest.mark.parametrize("script", [(1.0, 1.0, Late("not done")), (11.0, Late("late"))])
def test_an_answer_that_was_lost_is_not_judged(script):
    """The library is late in its second timed run; asking it would fail the test."""
    tired = Scripted("LIBSVM", *script)
    records = measure.fits([tired], None, Plan())
    assert measure._judge(records) == {}
    assert len(records[tired]["fit"]) == 1
    assert records[tired]["verdict_reason"] == "ended in a run of 180 s"


def test_everybody_begins_once():
    assert [measure._rotated([1, 2, 3], k) for k in range(4)] == [
        [1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3],
    ]  # fmt: skip


def test_pages_tell_the_rule_of_the_rows_that_they_show():
    old, new = {"set": "usps"}, {"set": "letter", "warm": 10.0}
    assert table.warming([old, {"set": "letter", "warm": 0.0}]) == ""
    assert "over 10 s" in table.warming([new])
    assert "Not so" not in table.warming([new])
    assert table.warming([old, new]).endswith(" Not so: usps.")


@pytest.mark.parametrize(("seconds", "calls"), [(0.001, 11), (0.05, 1)])
def test_brief_calls_are_timed_in_a_row(monkeypatch, seconds, calls):
    now, made = [0.0], []

    def call():
        made.append(1)
        # The first one of a turn is cold.
        now[0] += seconds if len(made) > 1 or calls == 1 else 5.0 * seconds

    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])
    assert clock.seconds_of(call) == pytest.approx(seconds)
    assert len(made) == calls
