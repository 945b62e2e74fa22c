"""Which fits have their memory measured, and what they are allowed; none is made."""

from benchmarks.peers import OURS
from benchmarks.speed import footprint, table
from benchmarks.speed.footprint import CASES, Case
from benchmarks.speed.measure import Plan
from benchmarks.speed.remote import Unable


def test_ours_is_measured_with_its_default_and_with_the_panel_s_cache():
    ours = {(one.name, one.cache) for one in CASES if one.library == OURS}
    sets = ("a9a", "covtype50k", "mnist60k")
    assert ours == {(name, cache) for name in sets for cache in (200.0, 2000.0)}
    assert Case("a9a", "sklearnex", 200.0) in CASES


class Fake:
    """A library that takes its cache and 50 MB; sklearnex is not here."""

    def __init__(self, name):
        self.name = name

    def call(self, verb, *args, seconds):
        if verb == "prepare":
            if self.name == "sklearnex":
                raise Unable("it does not load")
            *_, self.cache = args
            return 0.0
        return {"peak": {"above": self.cache + 50.0}, "judge": {"violation": 5e-4}}[verb]

    def stop(self):
        pass


def test_a_case_has_its_own_cache_and_allowance(monkeypatch):
    monkeypatch.setattr(footprint, "Remote", Fake)
    monkeypatch.setattr(footprint, "problem_of", lambda task: task)
    cases = [Case("a9a"), Case("a9a", cache=2000.0), Case("a9a", "sklearnex")]
    text = table.memory(footprint.measure(cases, Plan()))
    assert "| a9a | maxmargin | 200 | 250 | 500 | 0.000500 |" in text
    assert "| a9a | maxmargin | 2000 | 2050 | 2300 | 0.000500 |" in text
    assert "| a9a | sklearnex | 200 | it does not load | – | – |" in text
