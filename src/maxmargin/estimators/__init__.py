"""The scikit-learn classes."""

from maxmargin.estimators.svc import SVC

__all__ = ["SVC"]
