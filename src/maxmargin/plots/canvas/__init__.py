"""What the pictures share.

- :mod:`~maxmargin.plots.canvas.style`: colours, markers, fonts.
- :mod:`~maxmargin.plots.canvas.stage`: figures and axes.
- :mod:`~maxmargin.plots.canvas.plane`: a plane through the data.
- :mod:`~maxmargin.plots.canvas.response`: decision values on a grid.
- :mod:`~maxmargin.plots.canvas.marks`: points and lines.
- :mod:`~maxmargin.plots.canvas.support`: support vectors.
- :mod:`~maxmargin.plots.canvas.film`: frames of an animation.
"""
