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
    from maxmargin.solvers.chunking import Chunking
    from maxmargin.solvers.coordinate_ascent import CoordinateAscent
    from maxmargin.solvers.crammer_singer import CrammerSinger
    from maxmargin.solvers.decomposition import Decomposition
    from maxmargin.solvers.pegasos import Pegasos
    from maxmargin.solvers.qp import QuadraticProgram
    from maxmargin.solvers.smo import Smo
    from maxmargin.solvers.smo_platt import PlattSmo
    from maxmargin.solvers.smo_simple import SimpleSmo
    from maxmargin.solvers.step import Step
    from maxmargin.solvers.through_weights import ThroughWeights
    from maxmargin.solvers.working_set import WorkingSetSmo

_HOME = {
    "Chunking": "chunking",
    "CoordinateAscent": "coordinate_ascent",
    "CrammerSinger": "crammer_singer",
    "Decomposition": "decomposition",
    "Measures": "base",
    "Pegasos": "pegasos",
    "PlattSmo": "smo_platt",
    "QuadraticProgram": "qp",
    "SimpleSmo": "smo_simple",
    "Smo": "smo",
    "Snapshot": "base",
    "Solver": "base",
    "Status": "base",
    "Step": "step",
    "ThroughWeights": "through_weights",
    "WorkingSetSmo": "working_set",
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
