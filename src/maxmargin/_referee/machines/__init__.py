"""The optimum of every machine, written down once more.

- :mod:`~maxmargin._referee.machines.classifiers`: C-SVC and ν-SVC.
- :mod:`~maxmargin._referee.machines.regressors`: ε-SVR and ν-SVR.
- :mod:`~maxmargin._referee.machines.one_class`: one-class SVM and SVDD.
- :mod:`~maxmargin._referee.machines.crammer_singer`: all classes at once.
- :mod:`~maxmargin._referee.machines.linear`: machines without a kernel.
- :mod:`~maxmargin._referee.machines.linear_crammer_singer`: both.
"""
