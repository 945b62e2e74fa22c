"""The scikit-learn classes."""

from maxmargin.estimators.kernel.nu_svc import NuSVC
from maxmargin.estimators.kernel.nu_svr import NuSVR
from maxmargin.estimators.kernel.one_class import OneClassSVM
from maxmargin.estimators.kernel.svc import SVC
from maxmargin.estimators.kernel.svdd import SVDD
from maxmargin.estimators.kernel.svr import SVR

__all__ = ["SVC", "SVDD", "SVR", "NuSVC", "NuSVR", "OneClassSVM"]
