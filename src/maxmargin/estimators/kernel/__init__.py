"""Machines with a kernel.

- :mod:`~maxmargin.estimators.kernel.svc`: SVC.
- :mod:`~maxmargin.estimators.kernel.nu_svc`: NuSVC.
- :mod:`~maxmargin.estimators.kernel.svr`: SVR.
- :mod:`~maxmargin.estimators.kernel.nu_svr`: NuSVR.
- :mod:`~maxmargin.estimators.kernel.one_class`: OneClassSVM.
- :mod:`~maxmargin.estimators.kernel.svdd`: SVDD.
- :mod:`~maxmargin.estimators.kernel.classifier`: what the two for classes do alike.
- :mod:`~maxmargin.estimators.kernel.regressor`: what the two for numbers do alike.
- :mod:`~maxmargin.estimators.kernel.outliers`: what the two without targets do alike.
- :mod:`~maxmargin.estimators.kernel.machine`: what all six do alike.
- :mod:`~maxmargin.estimators.kernel.fit`: the steps of a fit.
- :mod:`~maxmargin.estimators.kernel.prediction`: decision values of new rows.
"""
