"""Machines with a kernel.

- :mod:`~maxmargin.estimators.kernel.svc`: SVC.
- :mod:`~maxmargin.estimators.kernel.nu_svc`: NuSVC.
- :mod:`~maxmargin.estimators.kernel.svr`: SVR.
- :mod:`~maxmargin.estimators.kernel.nu_svr`: NuSVR.
- :mod:`~maxmargin.estimators.kernel.one_class`: OneClassSVM.
- :mod:`~maxmargin.estimators.kernel.svdd`: SVDD.
- :mod:`~maxmargin.estimators.kernel.classifier`: the base of SVC and NuSVC.
- :mod:`~maxmargin.estimators.kernel.regressor`: the base of SVR and NuSVR.
- :mod:`~maxmargin.estimators.kernel.outliers`: the base of OneClassSVM and SVDD.
- :mod:`~maxmargin.estimators.kernel.machine`: the base of all six.
- :mod:`~maxmargin.estimators.kernel.fit`: the steps of a fit.
- :mod:`~maxmargin.estimators.kernel.prediction`: decision values of new rows.
"""
