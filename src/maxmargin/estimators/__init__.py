"""The machines, with scikit-learn's interface.

- :mod:`~maxmargin.estimators.parameters`: the checks of constructor parameters.
- :mod:`~maxmargin.estimators.magnitude`: checks of kernel matrices and large features.
- :mod:`~maxmargin.estimators.machine`: the frame of every fit.
- :mod:`~maxmargin.estimators.kernel`: machines with a kernel.
- :mod:`~maxmargin.estimators.linear`: machines without a kernel.
- :mod:`~maxmargin.estimators.convergence_warnings`: warnings of early ends, and advice.
- :mod:`~maxmargin.estimators.path`: one machine for many C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports
from maxmargin._registry import Entry, Registry

if TYPE_CHECKING:
    from maxmargin.estimators.kernel.classifier import KernelClassifier
    from maxmargin.estimators.kernel.fit.parts import NuPart, Part
    from maxmargin.estimators.kernel.nu_svc import NuSVC
    from maxmargin.estimators.kernel.nu_svr import NuSVR
    from maxmargin.estimators.kernel.one_class import OneClassSVM
    from maxmargin.estimators.kernel.outliers import OutlierMachine
    from maxmargin.estimators.kernel.regressor import KernelRegressor
    from maxmargin.estimators.kernel.svc import SVC
    from maxmargin.estimators.kernel.svdd import SVDD
    from maxmargin.estimators.kernel.svr import SVR
    from maxmargin.estimators.linear.averaged_sgd import AveragedSGDClassifier
    from maxmargin.estimators.linear.machine import LinearMachine
    from maxmargin.estimators.linear.pegasos import PegasosClassifier
    from maxmargin.estimators.linear.svc import LinearSVC
    from maxmargin.estimators.linear.svr import LinearSVR

__all__ = [
    "MACHINES",
    "SVC",
    "SVDD",
    "SVR",
    "AveragedSGDClassifier",
    "KernelClassifier",
    "KernelRegressor",
    "LinearMachine",
    "LinearSVC",
    "LinearSVR",
    "NuPart",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OutlierMachine",
    "Part",
    "PegasosClassifier",
]

MACHINES = Registry(
    "maxmargin",
    "machine",
    [
        Entry("SVC", "estimators.kernel.svc", "svc", "classify"),
        Entry("NuSVC", "estimators.kernel.nu_svc", "nu-svc", "classify"),
        Entry("SVR", "estimators.kernel.svr", "svr", "regress"),
        Entry("NuSVR", "estimators.kernel.nu_svr", "nu-svr", "regress"),
        Entry("OneClassSVM", "estimators.kernel.one_class", "one-class", "outliers"),
        Entry("SVDD", "estimators.kernel.svdd", "svdd", "outliers"),
        Entry("LinearSVC", "estimators.linear.svc", "linear-svc", "classify"),
        Entry("LinearSVR", "estimators.linear.svr", "linear-svr", "regress"),
        Entry("PegasosClassifier", "estimators.linear.pegasos", "pegasos", "classify"),
        Entry(
            "AveragedSGDClassifier",
            "estimators.linear.averaged_sgd",
            "averaged-sgd",
            "classify",
        ),
    ],
)
"""Every machine. By default, the command line uses the first machine of a task."""

_HERE = "estimators."
_HOME = {
    **{title: home.removeprefix(_HERE) for title, home in MACHINES.homes().items()},
    # Base classes for machines from outside.
    "KernelClassifier": "kernel.classifier",
    "KernelRegressor": "kernel.regressor",
    "LinearMachine": "linear.machine",
    "NuPart": "kernel.fit.parts",
    "OutlierMachine": "kernel.outliers",
    "Part": "kernel.fit.parts",
}

__getattr__, __dir__ = exports(__name__, _HOME)
