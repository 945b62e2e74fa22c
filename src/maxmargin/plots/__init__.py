"""Pictures of machines, of runs and of the theory: ``pip install maxmargin[plot]``.

Every display follows scikit-learn's convention: ``Display.from_…(…, ax=None)`` computes
and draws, its attributes hold the drawn objects (``ax_``, ``figure_``, …), and
``plot(ax=…)`` draws again. Colours are those of Okabe and Ito; markers and line styles
carry the same meaning, so that the pictures can be read in grey. matplotlib is imported
by the first drawing.

- :mod:`~maxmargin.plots.boundary`: the boundary of a machine in the plane.
- :mod:`~maxmargin.plots.kernel`: a kernel matrix and its eigenvalues.
- :mod:`~maxmargin.plots.convergence`: how runs of solvers converge.
- :mod:`~maxmargin.plots.animation`: a film of a solver at work.
- :mod:`~maxmargin.plots.stage`: the figure of that film.
- :mod:`~maxmargin.plots.film`: the film as a file.
- :mod:`~maxmargin.plots.loss`: losses against the margin.
- :mod:`~maxmargin.plots.lagrange`: Lagrange multipliers.
- :mod:`~maxmargin.plots.duality`: Lagrange duality, with and without a gap.
- :mod:`~maxmargin.plots.coordinate_ascent`: the path of coordinate ascent.
- :mod:`~maxmargin.plots.canvas`: colours, planes and marks of all pictures.

Examples
--------
>>> import numpy as np
>>> from maxmargin import SVC
>>> from maxmargin.plots import BoundaryDisplay
>>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
>>> machine = SVC(kernel="linear").fit(X, [0, 0, 1, 1])
>>> display = BoundaryDisplay.from_estimator(machine, X, [0, 0, 1, 1])  # doctest: +SKIP
>>> display.figure_.savefig("boundary.png")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports

if TYPE_CHECKING:
    from maxmargin.plots.animation import animate
    from maxmargin.plots.boundary import BoundaryDisplay
    from maxmargin.plots.convergence import ConvergenceDisplay
    from maxmargin.plots.coordinate_ascent import CoordinateAscentDisplay
    from maxmargin.plots.duality import DualityDisplay
    from maxmargin.plots.kernel import KernelDisplay
    from maxmargin.plots.lagrange import LagrangeDisplay
    from maxmargin.plots.loss import LossDisplay

_HOME = {
    "BoundaryDisplay": "boundary",
    "ConvergenceDisplay": "convergence",
    "CoordinateAscentDisplay": "coordinate_ascent",
    "DualityDisplay": "duality",
    "KernelDisplay": "kernel",
    "LagrangeDisplay": "lagrange",
    "LossDisplay": "loss",
    "animate": "animation",
}

__all__ = [
    "BoundaryDisplay",
    "ConvergenceDisplay",
    "CoordinateAscentDisplay",
    "DualityDisplay",
    "KernelDisplay",
    "LagrangeDisplay",
    "LossDisplay",
    "animate",
]

__getattr__, __dir__ = exports(__name__, _HOME)
