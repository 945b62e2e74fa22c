"""The certificate: its figures, its text, and the worst of many."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from maxmargin.certificate import Certificate, Run, certificate_of, worst_of
from maxmargin.errors import Stop
from maxmargin.problem import Model, c_svc

Y = np.array([-1.0, 1.0])


def lecture(**changes):
    """The certificate of S1's two points with C = ¼."""
    problem = c_svc(None, Y, np.full(2, 0.25))
    model = Model(0.25 * Y, np.array([0.5, -0.5]), 0.0, (-0.5, 0.5))
    run = Run(Stop.CONVERGED, 1e-3, "violation", 7, 1234, 0.5)
    return replace(certificate_of(problem, model, run), **changes)


def test_figures():
    found = lecture()
    assert found.primal == found.dual == 0.375
    assert found.gap == found.relative_gap == found.violation == found.balance == 0.0
    assert found.bias_interval == (-0.5, 0.5)
    assert (found.n_support, found.n_free, found.n_bound) == (2, 0, 2)
    assert (found.n_iter, found.n_kernel, found.seconds) == (7, 1234, 0.5)
    assert found.problems == ()


def test_counts_and_balance():
    problem = c_svc(None, np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4))
    beta = np.array([1.0, -0.25, 0.0, -1.0])
    run = Run(Stop.UNKNOWN, 1e-3, "violation")
    found = certificate_of(problem, Model(beta, np.zeros(4), 0.0, (0.0, 0.0)), run)
    assert (found.n_support, found.n_free, found.n_bound) == (3, 1, 2)
    assert found.balance == pytest.approx(0.25 / 2.25)
    free = c_svc(None, np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4), fit_intercept=False)
    assert (
        certificate_of(free, Model(beta, np.zeros(4), 0.0, (0.0, 0.0)), run).balance == 0
    )


@pytest.mark.parametrize(
    ("value", "tol", "ok"),
    [(1e-3, 1e-3, True), (2e-3, 1e-3, False), (0.0, np.nan, False)],
)
def test_ok(value, tol, ok):
    assert lecture(violation=value, tol=tol).ok is ok


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        lecture().primal = 1.0


def test_printing():
    assert str(lecture()).splitlines() == [
        "primal      0.375",
        "dual        0.375",
        "gap         0 (relative 0)",
        "violation   0 ≤ tol 0.001",
        "intercept   in [-0.5, 0.5]",
        "support     2 vectors: 0 free, 2 at bound",
        "work        7 iterations, 1,234 kernel values, 0.5 s",
        "stop        converged: the optimality conditions hold within tol",
    ]


def test_printing_what_is_not_good_and_not_known():
    assert "violation   0.01 > tol 0.001" in str(lecture(violation=0.01))
    unknown = str(lecture(violation=0.01, tol=np.nan, n_iter=0, n_kernel=0, stop=""))
    assert "violation   0.01\n" in unknown
    assert "tol         none that bounds one of these: never ok" in unknown
    assert "work" not in unknown
    assert "stop" not in unknown
    assert "7 iterations, 0.5 s" in str(lecture(n_kernel=0))


def test_worst_of_many():
    parts = [
        lecture(violation=1e-4, name="a against b"),
        lecture(violation=5e-3, name="a against c", primal=9.0, n_support=4),
        lecture(violation=0.0, name="b against c"),
    ]
    whole = worst_of(parts, n_support=5, n_kernel=999, seconds=2.0)
    assert (whole.name, whole.primal, whole.violation) == ("a against c", 9.0, 5e-3)
    assert (whole.n_support, whole.n_iter, whole.n_kernel) == (5, 21, 999)
    assert whole.seconds == 2.0
    assert whole.problems == tuple(parts)
    assert "problems    3 binary, 1 not; the worst: a against c" in str(whole)
    fine = worst_of([parts[0], parts[2]], n_support=5, n_kernel=9, seconds=2.0)
    assert "2 binary, all within tol; the worst: a against b" in str(fine)


def test_ties_go_to_the_larger_relative_gap():
    parts = [lecture(name="one"), lecture(name="two", relative_gap=0.1)]
    assert worst_of(parts, n_support=2, n_kernel=0, seconds=0.0).name == "two"


def test_one_problem_is_its_own_whole():
    whole = worst_of([lecture()], n_support=2, n_kernel=8, seconds=3.0)
    assert whole == lecture(n_kernel=8, seconds=3.0)
    assert whole.problems == ()


def test_defaults():
    bare = Certificate(1.0, 1.0, 0.0, 0.0, 0.0, (0.0, 0.0), 2, 2, 0)
    assert np.isnan(bare.tol)
    assert not bare.ok
    assert bare.name == bare.stop == ""


def test_every_problem_must_be_ok():
    good = replace(lecture(), violation=1e-4, tol=1e-3)
    skewed = replace(good, violation=1e-5, balance=1e-3)
    whole = worst_of([good, skewed], n_support=3, n_kernel=0, seconds=0.0)
    assert good.ok
    assert not skewed.ok
    assert not whole.ok
    assert whole.balance == 1e-3


def test_tol_stands_behind_what_it_bounds():
    figures = {"violation": 2.0, "relative_gap": 1e-3, "tol": 1e-2}
    found = replace(lecture(), **figures, criterion="relative_gap")
    assert found.ok
    assert "(relative 0.001 ≤ tol 0.01)" in str(found)
    assert "violation   2\n" in str(found)
