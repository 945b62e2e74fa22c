"""The steps of a kernel machine's fit.

- :mod:`~maxmargin.estimators.kernel.fit.solving`: all problems of a fit, solved.
- :mod:`~maxmargin.estimators.kernel.fit.parts`: one problem of a fit.
- :mod:`~maxmargin.estimators.kernel.fit.schemes`: several classes from binary problems.
- :mod:`~maxmargin.estimators.kernel.fit.crammer_singer`: all classes in one problem.
- :mod:`~maxmargin.estimators.kernel.fit.gram_sharing`: kernel values that parts share.
- :mod:`~maxmargin.estimators.kernel.fit.solver_choice`: the solver, by name or kernel.
- :mod:`~maxmargin.estimators.kernel.fit.batch`: small classifiers in compiled calls.
- :mod:`~maxmargin.estimators.kernel.fit.definiteness`: a warning of indefinite kernels.
- :mod:`~maxmargin.estimators.kernel.fit.warm_start`: the model that a fit goes on from.
- :mod:`~maxmargin.estimators.kernel.fit.folds`: scores of rows that were held out.
- :mod:`~maxmargin.estimators.kernel.fit.probabilities`: their calibration.
"""
