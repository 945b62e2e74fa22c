"""Solvers: one algorithm a file, each of them stepped and watched alike.

- :mod:`~maxmargin.solvers.base`: the contract, and the one loop.
- :mod:`~maxmargin.solvers.step`: one step in words and numbers.
- :mod:`~maxmargin.solvers.smo`: the production solver of kernel machines.
- :mod:`~maxmargin.solvers.lectures`: the solvers of the lectures.
- :mod:`~maxmargin.solvers.oracle`: the quadratic programme as a whole, for few points.
- :mod:`~maxmargin.solvers.classes`: all classes in one problem, with a kernel.
- :mod:`~maxmargin.solvers.linear`: machines without a kernel.
- :mod:`~maxmargin.solvers.feasible`: a feasible β to start from.
- :mod:`~maxmargin.solvers.gram_memory`: kernel values that a solver keeps.
- :mod:`~maxmargin.solvers.wrapped`: a solver around a solver.
- :mod:`~maxmargin.solvers.distinct`: copies of a point as one variable.
- :mod:`~maxmargin.solvers.follower`: a tolerance that depends on the answer.
- :mod:`~maxmargin.solvers.relay`: one solver after another.

Any of them can be run by ``SVC(solver=...)``, or stepped and watched alone.

Examples
--------
>>> from maxmargin import SVC, solvers
>>> X, y = [[0.0, -1.0], [0.0, 1.0]], [-1, 1]
>>> problem = SVC(kernel="linear", C=1.0).problem(X, y)
>>> for snapshot in solvers.PlattSmo().steps(problem):
...     print(snapshot.n_iter, snapshot.step.points, snapshot.measures.dual)
1 (1, 0) 0.5
1 () 0.5
>>> snapshot.status.value, str(snapshot.step)[:21]
('converged', 'Nothing is left to do')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports
from maxmargin._registry import Entry, Registry

if TYPE_CHECKING:
    from maxmargin.solvers.base import (
        Measures,
        Snapshot,
        Solver,
        Status,
        Steppable,
        drive,
    )
    from maxmargin.solvers.classes.crammer_singer import CrammerSinger
    from maxmargin.solvers.lectures.chunking import Chunking
    from maxmargin.solvers.lectures.coordinate_ascent import CoordinateAscent
    from maxmargin.solvers.lectures.decomposition import Decomposition
    from maxmargin.solvers.lectures.pegasos import Pegasos
    from maxmargin.solvers.lectures.smo import Smo
    from maxmargin.solvers.lectures.smo_platt import PlattSmo
    from maxmargin.solvers.lectures.smo_simple import SimpleSmo
    from maxmargin.solvers.linear.through_weights import ThroughWeights
    from maxmargin.solvers.oracle.qp import QuadraticProgram
    from maxmargin.solvers.smo.working_set import WorkingSetSmo
    from maxmargin.solvers.step import Step

SOLVERS = Registry(
    "maxmargin.solvers",
    "solver",
    [
        Entry("WorkingSetSmo", "smo.working_set", "smo"),
        Entry("PlattSmo", "lectures.smo_platt", "smo-platt"),
        Entry("SimpleSmo", "lectures.smo_simple", "smo-simple"),
        Entry("Decomposition", "lectures.decomposition", "decomposition"),
        Entry("Chunking", "lectures.chunking", "chunking"),
        Entry("QuadraticProgram", "oracle.qp", "qp"),
        Entry("Pegasos", "lectures.pegasos", "pegasos"),
        Entry("Smo", "lectures.smo"),
        Entry("CoordinateAscent", "lectures.coordinate_ascent"),
        Entry("CrammerSinger", "classes.crammer_singer"),
        Entry("ThroughWeights", "linear.through_weights"),
    ],
)
"""Every solver of a kernel machine; those with a name can be ``SVC(solver=name)``."""

_HOME = {
    **SOLVERS.homes(),
    "Measures": "base",
    "Snapshot": "base",
    "Solver": "base",
    "Status": "base",
    "Steppable": "base",
    "Step": "step",
    "drive": "base",
}

__all__ = [
    "Chunking",
    "CoordinateAscent",
    "CrammerSinger",
    "Decomposition",
    "Measures",
    "Pegasos",
    "PlattSmo",
    "QuadraticProgram",
    "SimpleSmo",
    "Smo",
    "Snapshot",
    "Solver",
    "Status",
    "Step",
    "Steppable",
    "ThroughWeights",
    "WorkingSetSmo",
    "drive",
]

__getattr__, __dir__ = exports(__name__, _HOME)
