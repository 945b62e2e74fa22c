"""Machines without a kernel: the same contract, certificates and manners.

- :mod:`~maxmargin.estimators.linear.svc`: LinearSVC.
- :mod:`~maxmargin.estimators.linear.svr`: LinearSVR.
- :mod:`~maxmargin.estimators.linear.machine`: what these two do alike.
- :mod:`~maxmargin.estimators.linear.solving`: all problems of a fit, solved.
- :mod:`~maxmargin.estimators.linear.choice`: the solver of a problem, by name or shape.
- :mod:`~maxmargin.estimators.linear.warm_start`: the model that a fit begins with.
- :mod:`~maxmargin.estimators.linear.pegasos`: PegasosClassifier.
- :mod:`~maxmargin.estimators.linear.averaged_sgd`: AveragedSGDClassifier.
- :mod:`~maxmargin.estimators.linear.stochastic`: what these two do alike.
- :mod:`~maxmargin.estimators.linear.stochastic_task`: their rows, all or some.
- :mod:`~maxmargin.estimators.linear.scores`: outputs and labels of new rows.
- :mod:`~maxmargin.estimators.linear.l1_min_c`: the least C with weights under ‖w‖₁.
"""
