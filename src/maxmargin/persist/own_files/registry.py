"""What a file may name: classes, types, modules. Nothing else is ever imported.

Classes are of two kinds. *Objects* (estimators and their observers) are restored
attribute by attribute, as they were. *Values* (kernels, solvers, certificates,
calibrators) are made by their constructors, which check what they are given.

Kernels, machines and solvers come from their registries (:mod:`maxmargin._registry`),
which are asked anew every time: a file may also name a class that another package has
registered. All other classes are listed here.
"""

from __future__ import annotations

import importlib
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from maxmargin.persist.own_files.malformed import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._registry import Registry

DEEPEST = 100  # policy: how many values may enclose one
MOST_JOBS = 1024  # policy: joblib starts as many processes as n_jobs says

Names: TypeAlias = "dict[str, Callable[[], Any]]"
"""Names in files, each with the function that imports its class."""

_SKLEARN = {
    "compose": ("ColumnTransformer", "make_column_selector"),
    "decomposition": ("PCA", "TruncatedSVD"),
    "feature_extraction.text": ("CountVectorizer", "TfidfTransformer", "TfidfVectorizer"),
    "impute": ("MissingIndicator", "SimpleImputer"),
    "pipeline": ("Pipeline",),
    # "passthrough" of a ColumnTransformer is a FunctionTransformer without a function;
    # with one it is refused, as functions are.
    "preprocessing": (
        "FunctionTransformer", "LabelEncoder", "MaxAbsScaler", "MinMaxScaler",
        "Normalizer", "OneHotEncoder", "OrdinalEncoder", "RobustScaler", "StandardScaler",
    ),
}  # fmt: skip

# name in files → module that has the class today
_OBJECTS = {
    "maxmargin.data_files.TableEncoder": "maxmargin.data_files",
    "maxmargin.observers.History": "maxmargin.observers",
    **{f"sklearn.{at}.{one}": f"sklearn.{at}" for at in _SKLEARN for one in _SKLEARN[at]},
}
_VALUES = {
    "maxmargin.Certificate": "maxmargin.certificate",
    "maxmargin.probability.Isotonic": "maxmargin.probability",
    "maxmargin.probability.Sigmoid": "maxmargin.probability",
    "maxmargin.solvers.linear.Walk": "maxmargin.solvers.linear.stochastic.walk",
    "maxmargin.theory.DescentBound": "maxmargin.theory",
}


# Types that a parameter may be, such as dtype=np.float64 of scikit-learn's encoders.
TYPES = {
    **{kind.__name__: kind for kind in (bool, bytes, float, int, object, str)},
    **{
        f"numpy.{kind.__name__}": kind
        for kind in (
            np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
            np.uint32, np.uint64, np.float16, np.float32, np.float64, np.str_, np.bytes_,
            np.object_, np.datetime64, np.timedelta64, np.number, np.integer,
            np.signedinteger, np.unsignedinteger, np.floating, np.inexact, np.generic,
            np.character, np.flexible,
        )
    },
}  # fmt: skip

MODULES = {"numpy.random": np.random}

# Attributes that mean nothing in another process: where an object lay in memory, and its
# observers; a cache folder is read by pickle, so a file may not name one.
NOT_SAVED = {
    "_stop_words_id": "",
    "_watched": "",
    "_sklearn_version": "",
    "_skl_callbacks": "scikit-learn's callbacks",
    "callbacks": "callbacks",
    "memory": "the cache (memory)",
}


def objects() -> Names:
    """The classes that are restored attribute by attribute."""
    from maxmargin.estimators import MACHINES

    return _names(_OBJECTS, MACHINES)


def values() -> Names:
    """The classes that are made by their constructors."""
    from maxmargin.kernels import KERNELS
    from maxmargin.solvers import SOLVERS
    from maxmargin.solvers.linear import LINEAR_SOLVERS

    return _names(_VALUES, KERNELS, SOLVERS, LINEAR_SOLVERS)


def _names(homes: dict[str, str], *registries: Registry) -> Names:
    return {name: partial(_imported, name, home) for name, home in homes.items()} | {
        name: partial(registry.load, title)
        for registry in registries
        for name, title in registry.names_in_files().items()
    }


def _imported(name: str, home: str) -> Any:
    return getattr(importlib.import_module(home), name.rpartition(".")[2])


def name_of(kind: type, names: Names) -> str | None:
    """The name of a class in files, if it has one there; a subclass has none."""
    for name, load in names.items():
        if name.rpartition(".")[2] == kind.__name__ and load() is kind:
            return name
    return None


def check_known(name: object, names: Names) -> None:
    """Refuse a name that no class has; nothing is imported."""
    if not isinstance(name, str) or name not in names:
        refuse(
            f"it holds a {shown(name)}, which is no class that this version of maxmargin "
            "restores; if a module of your own registers it, import that module first"
        )


def resolved(name: Any, names: Names) -> Any:
    """The class of a name in a file."""
    check_known(name, names)
    return names[name]()


def parameters_of(kind: Any) -> dict[str, Any]:
    """Names and defaults of a constructor's parameters."""
    empty = inspect.Parameter.empty
    given = list(inspect.signature(kind).parameters.values())
    named = [
        one for one in given if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    return {one.name: None if one.default is empty else one.default for one in named}
