"""Solvers: one algorithm a file, all on the contract of :mod:`maxmargin.solvers.base`.

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

if TYPE_CHECKING:
    from maxmargin.solvers.base import Measures, Snapshot, Solver, Status, drive
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

_HOME = {
    "Chunking": "lectures.chunking",
    "CoordinateAscent": "lectures.coordinate_ascent",
    "CrammerSinger": "classes.crammer_singer",
    "Decomposition": "lectures.decomposition",
    "Measures": "base",
    "Pegasos": "lectures.pegasos",
    "PlattSmo": "lectures.smo_platt",
    "QuadraticProgram": "oracle.qp",
    "SimpleSmo": "lectures.smo_simple",
    "Smo": "lectures.smo",
    "Snapshot": "base",
    "Solver": "base",
    "Status": "base",
    "Step": "step",
    "ThroughWeights": "linear.through_weights",
    "WorkingSetSmo": "smo.working_set",
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
    "ThroughWeights",
    "WorkingSetSmo",
    "drive",
]

__getattr__, __dir__ = exports(__name__, _HOME)
