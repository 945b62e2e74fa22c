"""Machines with a kernel.

- :mod:`~maxmargin.estimators.kernel.svc`, :mod:`~maxmargin.estimators.kernel.nu_svc`,
  :mod:`~maxmargin.estimators.kernel.svr`, :mod:`~maxmargin.estimators.kernel.nu_svr`,
  :mod:`~maxmargin.estimators.kernel.one_class`, :mod:`~maxmargin.estimators.kernel.svdd`:
  the classes people import.
- :mod:`~maxmargin.estimators.kernel.classifier`,
  :mod:`~maxmargin.estimators.kernel.regressor`,
  :mod:`~maxmargin.estimators.kernel.outliers`: their base classes.
- :mod:`~maxmargin.estimators.kernel.machine`: the frame of a fit.
- :mod:`~maxmargin.estimators.kernel.prediction`: decision values of new rows.
"""
