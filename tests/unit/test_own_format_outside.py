"""Classes of other packages in files: those that a registry knows, and no others."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from tests.fuzz.own_format_files import loaded, points, same, saved, with_header

from maxmargin import SVC, LinearSVC, solvers
from maxmargin.errors import InputTypeError, ModelFileError
from maxmargin.estimators import MACHINES
from maxmargin.persist import header


class Nearest(ClassifierMixin, BaseEstimator):
    """Of a package that knows nothing of ours: the class of the nearest mean."""

    def __init__(self, power=2.0):
        self.power = power

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        self.centres_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        far = (np.abs(X[:, None] - self.centres_) ** self.power).sum(axis=2)
        return self.classes_[far.argmin(axis=1)]


class OwnSVC(SVC):
    """One of ours, with another default."""


class OwnLinearSVC(LinearSVC):
    """One of ours without a kernel."""


@dataclass(frozen=True)
class OwnSolver(solvers.PlattSmo):
    """A solver of ours under another name."""


@pytest.fixture(autouse=True)
def registries(monkeypatch):
    """The registries of this test alone."""
    for registry in (MACHINES, solvers.SOLVERS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))


@pytest.mark.parametrize("kind", [Nearest, OwnSVC, OwnLinearSVC])
def test_a_registered_machine_comes_back(kind, tmp_path):
    X, y = points()
    machine = kind().fit(X, y)
    with pytest.raises(InputTypeError, match=f"{kind.__name__} is neither"):
        saved(machine)
    MACHINES.register(kind, task="classify")
    raw = saved(machine)
    again = loaded(raw)
    same(machine, again)
    assert again.predict(X).tobytes() == machine.predict(X).tobytes()
    path = tmp_path / "m"
    path.write_bytes(raw)
    assert header(path)["class"] == f"{kind.__module__}.{kind.__qualname__}"


def test_a_registered_solver_comes_back():
    solvers.SOLVERS.register(OwnSolver)
    again = loaded(saved(SVC(solver=OwnSolver(tol=0.5))))
    assert again.solver == OwnSolver(tol=0.5)


@pytest.mark.parametrize("place", ["model", "summary"])
def test_a_class_that_nobody_registered_is_not_imported(place):
    MACHINES.register(Nearest)
    raw = saved(Nearest())

    def elsewhere(content):
        inside = content["summary"] if place == "summary" else content["model"]["object"]
        inside["class"] = "antigravity.Machine"

    with pytest.raises(ModelFileError, match=r"'antigravity\.Machine'.* import that mod"):
        loaded(with_header(raw, elsewhere))
    assert "antigravity" not in sys.modules


def test_what_a_machine_of_another_package_has_is_checked():
    MACHINES.register(Nearest)
    X, y = points()
    raw = saved(Nearest().fit(X, y))
    for name, wrong in (("classes_", "abc"), ("n_features_in_", 0), ("coef_", [1])):

        def alters(content, name=name, wrong=wrong):
            content["model"]["object"]["attributes"][name] = wrong

        with pytest.raises(ModelFileError, match=f"{name} of Nearest cannot|belong now"):
            loaded(with_header(raw, alters))
