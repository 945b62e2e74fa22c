"""The seed tutorial's exercises on support vector machines, 3.1 to 3.3, as functions.

The tutorial asks for ``svm_train`` and ``svm_predict``, and uses them for random
initialisations, the boundary at each iteration, three data sets and pictures (``pip
install maxmargin[plot]``). Training is the simplified SMO of
:mod:`maxmargin.solvers.lectures.smo_simple`; :class:`maxmargin.SVC` has the same optimum,
and is the next step after the tutorial.

- :mod:`~maxmargin.tutorial.data`: the three examples.
- :mod:`~maxmargin.tutorial.training`: ``svm_train``, its iterations, random models.
- :mod:`~maxmargin.tutorial.model`: the trained model, and ``svm_predict``.
- :mod:`~maxmargin.tutorial.selection`: C and σ chosen on a validation part.
- :mod:`~maxmargin.tutorial.pictures`: data, boundaries, and errors of a grid.
- :mod:`~maxmargin.tutorial._checks`: checks of arguments.

Examples
--------
>>> from maxmargin import kernels, tutorial
>>> X, y, *_ = tutorial.made_example(1)
>>> model = tutorial.svm_train(X, y, C=1.0)
>>> int((tutorial.svm_predict(model, X) != y).sum())  # the outlier
1
>>> curved = tutorial.svm_train(X, y, C=1.0, kernel=kernels.RBF(sigma=0.3))
>>> int((tutorial.svm_predict(curved, X) != y).sum())
0
"""

from maxmargin.tutorial.data import Example, load_example, made_example
from maxmargin.tutorial.model import TutorialModel, svm_predict
from maxmargin.tutorial.pictures import (
    plot_data,
    visualize_boundary,
    visualize_boundary_linear,
    visualize_choice,
)
from maxmargin.tutorial.selection import Choice, choose
from maxmargin.tutorial.training import iterations, random_model, svm_train

__all__ = [
    "Choice",
    "Example",
    "TutorialModel",
    "choose",
    "iterations",
    "load_example",
    "made_example",
    "plot_data",
    "random_model",
    "svm_predict",
    "svm_train",
    "visualize_boundary",
    "visualize_boundary_linear",
    "visualize_choice",
]
