"""The steps of a kernel machine's fit.

- :mod:`~maxmargin.estimators.kernel.fit.solving`: solves all problems of a fit.
- :mod:`~maxmargin.estimators.kernel.fit.parts`: one problem of a fit.
- :mod:`~maxmargin.estimators.kernel.fit.schemes`: several classes from binary problems.
- :mod:`~maxmargin.estimators.kernel.fit.crammer_singer`: all classes in one problem.
- :mod:`~maxmargin.estimators.kernel.fit.gram_sharing`: kernel values shared by parts.
- :mod:`~maxmargin.estimators.kernel.fit.solver_choice`: the solver, by name or kernel.
- :mod:`~maxmargin.estimators.kernel.fit.batch`: fast path for small classifiers.
- :mod:`~maxmargin.estimators.kernel.fit.definiteness`: a warning of indefinite kernels.
- :mod:`~maxmargin.estimators.kernel.fit.warm_start`: the model that a fit starts from.
- :mod:`~maxmargin.estimators.kernel.fit.folds`: out-of-fold scores.
- :mod:`~maxmargin.estimators.kernel.fit.probabilities`: calibration of these scores.
"""
