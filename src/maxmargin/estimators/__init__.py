"""The scikit-learn classes."""

from maxmargin.estimators.nu_svc import NuSVC
from maxmargin.estimators.nu_svr import NuSVR
from maxmargin.estimators.one_class import OneClassSVM
from maxmargin.estimators.svc import SVC
from maxmargin.estimators.svdd import SVDD
from maxmargin.estimators.svr import SVR

__all__ = ["SVC", "SVDD", "SVR", "NuSVC", "NuSVR", "OneClassSVM"]
