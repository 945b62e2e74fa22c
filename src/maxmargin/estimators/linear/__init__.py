"""Machines without a kernel, with the same contract and certificates.

- :mod:`~maxmargin.estimators.linear.svc`: LinearSVC.
- :mod:`~maxmargin.estimators.linear.svr`: LinearSVR.
- :mod:`~maxmargin.estimators.linear.machine`: the base of LinearSVC and LinearSVR.
- :mod:`~maxmargin.estimators.linear.solving`: solves all problems of a fit.
- :mod:`~maxmargin.estimators.linear.choice`: the solver of a problem, by name or shape.
- :mod:`~maxmargin.estimators.linear.warm_start`: the model that a fit starts from.
- :mod:`~maxmargin.estimators.linear.pegasos`: PegasosClassifier.
- :mod:`~maxmargin.estimators.linear.averaged_sgd`: AveragedSGDClassifier.
- :mod:`~maxmargin.estimators.linear.stochastic`: the base of these two.
- :mod:`~maxmargin.estimators.linear.stochastic_task`: their checked arguments.
- :mod:`~maxmargin.estimators.linear.scores`: outputs and labels of new rows.
- :mod:`~maxmargin.estimators.linear.l1_min_c`: the least C with weights under ‖w‖₁.
"""
