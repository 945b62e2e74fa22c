"""The solvers that the conformance suite holds to the contract, and on which problems."""

from dataclasses import replace
from typing import Any

from tests.conformance.problems import BY_NAME, CASES, REPEATED, SMALL, UNBALANCED, Case

from maxmargin.solvers import (
    Chunking,
    CoordinateAscent,
    Decomposition,
    Pegasos,
    PlattSmo,
    QuadraticProgram,
    SimpleSmo,
    Smo,
    WorkingSetSmo,
)
from maxmargin.solvers.distinct import Distinct

EPOCHS = 20  # enough for Pegasos to fetch, evict and clip; not to converge
FEW_POINTS = 600  # an interior point method is O(n³)


def smo(case: Case) -> Smo:
    return Smo(tol=case.tol)  # needs memory for the whole matrix


def working_set(case: Case) -> WorkingSetSmo:
    return WorkingSetSmo(tol=case.tol, cache_bytes=case.cache_bytes)


def distinct(case: Case) -> Distinct:
    return Distinct(working_set(case))


def changed(solver: Any, **parameters: Any) -> Any:
    """The same solver with other parameters, beneath one that merges copies too."""
    if isinstance(solver, Distinct):
        return Distinct(replace(solver.solver, **parameters))
    return replace(solver, **parameters)


def smo_platt(case: Case) -> PlattSmo:
    return PlattSmo(tol=case.tol, cache_bytes=case.cache_bytes, seed=1)


def smo_simple(case: Case) -> SimpleSmo:
    return SimpleSmo(tol=case.tol, seed=1)  # random partners defeat a small cache


def decomposition(case: Case) -> Decomposition:
    return Decomposition(q=20, tol=case.tol, cache_bytes=case.cache_bytes)


def chunking(case: Case) -> Chunking:
    return Chunking(chunk=50, tol=case.tol)  # needs memory for all support vectors


def qp(case: Case) -> QuadraticProgram:
    return QuadraticProgram(tol=case.tol)


def coordinate_ascent(case: Case) -> CoordinateAscent:
    return CoordinateAscent(tol=case.tol)  # a cyclic order defeats a small cache


def pegasos(case: Case) -> Pegasos:
    return Pegasos(tol=1e-2, max_iter=EPOCHS, cache_bytes=case.cache_bytes, seed=1)


_PAIRED = [case for case in CASES if case.machine == "SVC" and case.balanced]
_SINGLE = [BY_NAME["heart-no-intercept"], BY_NAME["heart-squared-hinge-no-intercept"],
           BY_NAME["contradictions"]._replace(name="no-sum", balanced=False)]  # fmt: skip

EXACT = [
    *((make, case) for make in (smo, working_set) for case in CASES),
    *((make, case) for make in (decomposition, chunking) for case in CASES),
    *((make, case) for make in (smo_platt, smo_simple) for case in _PAIRED),
    *((coordinate_ascent, case) for case in _SINGLE),
    *((qp, case) for case in SMALL),
    *((distinct, case) for case in REPEATED),
]
# Not those whose one unit is the whole programme: what is given to them helps nothing,
# and however few steps they may take, their last one can solve it.
RESTARTABLE = [(make, case) for make, case in EXACT if make is not qp]
ALL = EXACT + [(pegasos, case) for case in UNBALANCED]
# Those whose units are short: they can be stopped by a clock.
STOPPABLE = [smo, working_set, decomposition, chunking, smo_platt, smo_simple, pegasos]
