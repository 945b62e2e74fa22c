"""The search and the race of the benchmark of linear machines; nothing is timed."""

import pytest
from benchmarks.linear import race
from benchmarks.linear.child import LADDER, Contestant
from benchmarks.linear.race import Plan, Reference
from benchmarks.peers.linear import OURS, SGD
from benchmarks.speed.remote import Late, Unable


class Scripted:
    """A child whose gap depends on tol as told, and whose runs take 10/√tol ms."""

    def __init__(self, name, gap, late=0.0, limit=0.0):
        self.name, self.calls = name, []
        self._gap, self._late, self._limit, self._tol = gap, late, limit, 1.0

    def call(self, verb, *args, seconds):
        if verb == "run":
            self._tol = args[1]
            self.calls.append(self._tol)
            if self._tol < self._late:
                raise Late(f"not done after {seconds:g} s")
            return 0.01 / self._tol**0.5
        limited = self._tol < self._limit
        value = 1.0 / (1.0 - self._gap(max(self._tol, self._limit)))
        return {"primal": [value], "dual": None, "exhausted": limited}


KNOWN = Reference([1.0], 1e-9, True, "a test")
PLAN = Plan(repeat=1)


def raced(child, variant="dual", plan=PLAN):
    one = Contestant(child, variant)
    return race.race([one], KNOWN, plan)[one.name]["targets"]


def test_the_loosest_tolerance_is_found():
    child = Scripted("LIBLINEAR", lambda tol: 0.5 * tol)
    found = raced(child)
    # 1e-3 is reached at 2e-3: not at 10^-2.5, but at 1e-3. 1e-6 likewise.
    assert found["0.001"]["tol"] == pytest.approx(1e-3)
    assert found["1e-06"]["tol"] == pytest.approx(1e-6)
    half = raced(Scripted("LIBLINEAR", lambda tol: 0.25 * tol))
    assert half["0.001"]["tol"] == pytest.approx(10**-2.5)
    assert half["0.001"]["gap"] <= 1e-3
    assert len(found["0.001"]["fit"]) == 1
    assert len(child.calls) == len(set(child.calls)) + 2  # searched once, timed twice


def test_long_runs_are_not_repeated():
    child = Scripted("LIBLINEAR", lambda tol: 0.5 * tol)
    found = raced(child, plan=Plan(repeat=3, once=5.0))
    assert found["1e-06"]["fit"] == [found["1e-06"]["seconds"]]
    assert len(found["0.001"]["fit"]) == 3


def test_a_peer_that_another_has_long_beaten_is_not_repeated():
    slow = Contestant(Scripted("LIBLINEAR", lambda tol: 0.5 * tol), "dual")  # 10 s
    quick = Contestant(Scripted("multicore", lambda tol: 5e-7 * tol), "dual")  # 10 ms
    plan = Plan(repeat=3, targets=(1e-6,))
    found = race.race([slow, quick], KNOWN, plan)
    entry = found[slow.name]["targets"]["1e-06"]
    assert entry["fit"] == [entry["seconds"]]
    assert len(found[quick.name]["targets"]["1e-06"]["fit"]) == 15
    alone = race.race([slow], KNOWN, plan)[slow.name]["targets"]["1e-06"]
    assert len(alone["fit"]) == 3


def test_a_peer_that_stops_early_is_told():
    child = Scripted("LIBLINEAR", lambda tol: 0.9 * tol, limit=0.005)
    found = raced(child)
    assert found["0.001"]["stopped"] == pytest.approx(0.0045)
    assert found["1e-06"]["stopped"] == pytest.approx(0.0045)
    assert min(child.calls) == pytest.approx(1e-4)  # one more shows that it is stuck


def test_a_peer_that_is_late_is_late_for_the_smaller_gap_too():
    found = raced(Scripted("LIBLINEAR", lambda tol: 0.9 * tol, late=1e-4))
    assert found["0.001"]["fit"]
    assert found["1e-06"] == {"capped": 180.0}


def test_ours_is_given_the_gap_and_descent_the_rough_one():
    child = Scripted(OURS, lambda tol: 0.5 * tol)
    found = raced(child, "auto")
    assert {entry["tol"] for entry in found.values()} == {1e-3, 1e-6}
    assert set(child.calls) == {1e-3, 1e-6}
    assert set(raced(Scripted("scikit-learn", lambda tol: 0.9 * tol), SGD)) == {"0.001"}
    missed = raced(Scripted(OURS, lambda tol: 2.0 * tol), "auto")
    assert all("stopped" in entry for entry in missed.values())


def test_a_timed_run_that_missed_the_gap_is_not_counted():
    values = iter([0.5, 0.1, 5e-4, 2e-3, 5e-3, 6e-4, 7e-4])  # search, half way, timed
    child = Scripted("multicore", lambda tol: next(values))
    found = raced(child, plan=Plan(repeat=3, brief=0.0, targets=(1e-3,)))["0.001"]
    assert (len(found["fit"]), found["missed"]) == (2, 1)
    assert found["gap"] == pytest.approx(7e-4)
    values = iter([5e-4, 2e-3])
    never = raced(Scripted("multicore", lambda tol: next(values)),
                  plan=Plan(repeat=1, targets=(1e-3,)))["0.001"]  # fmt: skip
    assert (never["fit"], never["missed"]) == ([never["seconds"]], 1)


def test_nobody_waits_for_what_another_peer_has_long_done():
    plan, peer = Plan(), Contestant(Scripted("LIBLINEAR", None), "dual")
    assert plan.cap_for(peer, None) == plan.cap_for(peer, 100.0) == 180.0
    assert plan.cap_for(peer, 5.0) == 20.0
    assert plan.cap_for(peer, 0.1) == 5.0
    assert plan.cap_for(Contestant(Scripted(OURS, None), "auto"), 0.1) == 180.0


def test_who_is_likely_to_be_fast_is_searched_first():
    asked = []

    class Logged(Scripted):
        def call(self, verb, *args, seconds):
            if verb == "run" and (self.name, args[0]) not in asked:
                asked.append((self.name, args[0]))
            return super().call(verb, *args, seconds=seconds)

    children = [
        Logged(name, lambda tol: 0.5 * tol) for name in ("LIBLINEAR", "multicore")
    ]
    some = [Contestant(one, kind) for one in children for kind in ("dual", "primal")]
    found = race.race(some, KNOWN, PLAN)
    assert list(found) == [one.name for one in some]
    assert asked == [
        ("multicore", "primal"), ("LIBLINEAR", "primal"),
        ("multicore", "dual"), ("LIBLINEAR", "dual"),
    ]  # fmt: skip


class Answering(Scripted):
    """A child with a dual value."""

    def call(self, verb, *args, seconds):
        answer = super().call(verb, *args, seconds=seconds)
        return answer if verb == "run" else {**answer, "dual": [1.0]}


def test_the_reference_is_ours_or_says_that_it_proves_nothing():
    ours = Contestant(Answering(OURS, lambda tol: tol), "auto")
    peer = Contestant(Scripted("scikit-learn", lambda tol: tol), "dual")
    found = race.reference([ours, peer], False, PLAN)
    assert (found.bounds, found.proved) == ([1.0], True)
    assert found.source == "maxmargin at tol 5e-08"
    assert found.gap == pytest.approx(5e-8)
    alone = race.reference([peer], False, PLAN)
    assert (alone.gap, alone.proved) == (None, False)
    # Where ours is far off, a peer's slopes may be better.
    far = Contestant(Answering(OURS, lambda tol: 0.1), "auto")
    good = Contestant(Answering("scikit-learn", lambda tol: 1e-9), "primal")
    both = race.reference([far, good], True, PLAN)
    assert both.source.endswith("scikit-learn primal at tol 1e-12")
    assert both.gap == pytest.approx(1e-9)
    late = Contestant(Scripted("scikit-learn", None, late=1.0), "dual")
    with pytest.raises(Unable, match="no reference; scikit-learn dual: not done"):
        race.reference([late], False, PLAN)


def test_the_ladder_ends():
    assert LADDER[0] == 1.0
    assert LADDER[-1] == pytest.approx(1e-12)
