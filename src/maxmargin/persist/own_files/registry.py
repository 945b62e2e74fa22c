"""The classes that may be in a file: a name never seen here is never imported.

Two kinds. *Objects* (estimators, and what watches them) are restored attribute by
attribute, as they were. *Values* (kernels, solvers, certificates, calibrators) are made
by their constructors, which check what they are given.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from maxmargin.persist.own_files.malformed import MalformedError, shown

# name in files → module that has the class today
OBJECTS = {
    "maxmargin.AveragedSGDClassifier": "maxmargin.estimators.linear.averaged_sgd",
    "maxmargin.LinearSVC": "maxmargin.estimators.linear.svc",
    "maxmargin.LinearSVR": "maxmargin.estimators.linear.svr",
    "maxmargin.NuSVC": "maxmargin.estimators.kernel.nu_svc",
    "maxmargin.NuSVR": "maxmargin.estimators.kernel.nu_svr",
    "maxmargin.OneClassSVM": "maxmargin.estimators.kernel.one_class",
    "maxmargin.PegasosClassifier": "maxmargin.estimators.linear.pegasos",
    "maxmargin.SVC": "maxmargin.estimators.kernel.svc",
    "maxmargin.SVDD": "maxmargin.estimators.kernel.svdd",
    "maxmargin.SVR": "maxmargin.estimators.kernel.svr",
    "maxmargin.data_files.TableEncoder": "maxmargin.data_files.columns.encoder",
    "maxmargin.observers.History": "maxmargin.observers.history",
    "sklearn.compose.ColumnTransformer": "sklearn.compose",
    "sklearn.compose.make_column_selector": "sklearn.compose",
    "sklearn.decomposition.PCA": "sklearn.decomposition",
    "sklearn.decomposition.TruncatedSVD": "sklearn.decomposition",
    "sklearn.feature_extraction.text.CountVectorizer": "sklearn.feature_extraction.text",
    "sklearn.feature_extraction.text.TfidfTransformer": "sklearn.feature_extraction.text",
    "sklearn.feature_extraction.text.TfidfVectorizer": "sklearn.feature_extraction.text",
    "sklearn.impute.MissingIndicator": "sklearn.impute",
    "sklearn.impute.SimpleImputer": "sklearn.impute",
    "sklearn.pipeline.Pipeline": "sklearn.pipeline",
    # "passthrough" of a ColumnTransformer is one without a function; with one it is
    # refused, as functions are.
    "sklearn.preprocessing.FunctionTransformer": "sklearn.preprocessing",
    "sklearn.preprocessing.LabelEncoder": "sklearn.preprocessing",
    "sklearn.preprocessing.MaxAbsScaler": "sklearn.preprocessing",
    "sklearn.preprocessing.MinMaxScaler": "sklearn.preprocessing",
    "sklearn.preprocessing.Normalizer": "sklearn.preprocessing",
    "sklearn.preprocessing.OneHotEncoder": "sklearn.preprocessing",
    "sklearn.preprocessing.OrdinalEncoder": "sklearn.preprocessing",
    "sklearn.preprocessing.RobustScaler": "sklearn.preprocessing",
    "sklearn.preprocessing.StandardScaler": "sklearn.preprocessing",
}

VALUES = {
    "maxmargin.Certificate": "maxmargin.certificate",
    "maxmargin.kernels.ChiSquared": "maxmargin.kernels.objects",
    "maxmargin.kernels.Laplacian": "maxmargin.kernels.objects",
    "maxmargin.kernels.Linear": "maxmargin.kernels.objects",
    "maxmargin.kernels.Polynomial": "maxmargin.kernels.objects",
    "maxmargin.kernels.Power": "maxmargin.kernels.algebra",
    "maxmargin.kernels.Precomputed": "maxmargin.kernels.objects",
    "maxmargin.kernels.Product": "maxmargin.kernels.algebra",
    "maxmargin.kernels.RBF": "maxmargin.kernels.objects",
    "maxmargin.kernels.Scaled": "maxmargin.kernels.algebra",
    "maxmargin.kernels.Sigmoid": "maxmargin.kernels.objects",
    "maxmargin.kernels.Sum": "maxmargin.kernels.algebra",
    "maxmargin.probability.Isotonic": "maxmargin.probability.isotonic",
    "maxmargin.probability.Sigmoid": "maxmargin.probability.platt",
    "maxmargin.solvers.Chunking": "maxmargin.solvers.lectures.chunking",
    "maxmargin.solvers.CoordinateAscent": "maxmargin.solvers.lectures.coordinate_ascent",
    "maxmargin.solvers.CrammerSinger": "maxmargin.solvers.classes.crammer_singer",
    "maxmargin.solvers.Decomposition": "maxmargin.solvers.lectures.decomposition",
    "maxmargin.solvers.Pegasos": "maxmargin.solvers.lectures.pegasos",
    "maxmargin.solvers.PlattSmo": "maxmargin.solvers.lectures.smo_platt",
    "maxmargin.solvers.QuadraticProgram": "maxmargin.solvers.oracle.qp",
    "maxmargin.solvers.SimpleSmo": "maxmargin.solvers.lectures.smo_simple",
    "maxmargin.solvers.Smo": "maxmargin.solvers.lectures.smo",
    "maxmargin.solvers.ThroughWeights": "maxmargin.solvers.linear.through_weights",
    "maxmargin.solvers.WorkingSetSmo": "maxmargin.solvers.smo.working_set",
    "maxmargin.solvers.linear.AveragedSgd": "maxmargin.solvers.linear.stochastic.averaged_sgd",  # noqa: E501
    "maxmargin.solvers.linear.DualDescent": "maxmargin.solvers.linear.descent.dual_descent",  # noqa: E501
    "maxmargin.solvers.linear.GramSmo": "maxmargin.solvers.linear.gram",
    "maxmargin.solvers.linear.JointNewton": "maxmargin.solvers.linear.classes.newton",
    "maxmargin.solvers.linear.JointRelay": "maxmargin.solvers.linear.classes.class_relay",
    "maxmargin.solvers.linear.LassoDescent": "maxmargin.solvers.linear.l1.descent",
    "maxmargin.solvers.linear.LassoInterior": "maxmargin.solvers.linear.l1.interior",
    "maxmargin.solvers.linear.LassoNewton": "maxmargin.solvers.linear.l1.newton",
    "maxmargin.solvers.linear.LassoRelay": "maxmargin.solvers.linear.l1.l1_relay",
    "maxmargin.solvers.linear.LinearCrammerSinger": (
        "maxmargin.solvers.linear.classes.crammer_singer"
    ),
    "maxmargin.solvers.linear.LinearPegasos": "maxmargin.solvers.linear.stochastic.pegasos",  # noqa: E501
    "maxmargin.solvers.linear.Newton": "maxmargin.solvers.linear.newton.newton",
    "maxmargin.solvers.linear.NewtonCg": "maxmargin.solvers.linear.newton.newton_cg",
    "maxmargin.solvers.linear.ProximalNewton": "maxmargin.solvers.linear.newton.proximal_newton",  # noqa: E501
    "maxmargin.solvers.linear.TwoClasses": "maxmargin.solvers.linear.two_classes",
    "maxmargin.solvers.linear.Walk": "maxmargin.solvers.linear.stochastic.walk",
    "maxmargin.theory.DescentBound": "maxmargin.theory.descent",
}


def name_of(kind: type, table: dict[str, str]) -> str | None:
    """The name of a class in files, if it has one there; a subclass has none."""
    for name, module in table.items():
        if name.rpartition(".")[2] != kind.__name__:
            continue
        if getattr(importlib.import_module(module), kind.__name__) is kind:
            return name
    return None


def resolved(name: object, table: dict[str, str]) -> Any:
    """The class of a name in a file."""
    if not isinstance(name, str) or name not in table:
        msg = (
            f"it holds a {shown(name)}, which is no class that this version of maxmargin "
            "restores"
        )
        raise MalformedError(msg)
    return getattr(importlib.import_module(table[name]), name.rpartition(".")[2])


def parameters_of(kind: Any) -> dict[str, Any]:
    """Names and defaults of a constructor's parameters."""
    empty = inspect.Parameter.empty
    given = list(inspect.signature(kind).parameters.values())
    named = [
        one for one in given if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    return {one.name: None if one.default is empty else one.default for one in named}
