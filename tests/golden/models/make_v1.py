"""How the golden files of format version 1 were made; they are never made anew.

``deleted-solver`` and ``deleted-solver-name`` hold the hinge of :func:`rows`, classes
place > 0, by ``InteriorPoint(tol=1e-6)`` and by its name; ``deleted-argument`` the
squared hinge by ``DualDescent(tol=1e-6, max_iter=100_000)``. They were made at commit
bb1494f, which still had that solver, and that one's ``anderson``.

A later version of the format gets files and a script of its own, beside these.
"""

import json
import os
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVR, LinearSVC, PegasosClassifier
from maxmargin.kernels import RBF, Linear
from maxmargin.persist import data_hash, save

HERE = Path(__file__).parent


def rows():
    """Thirty points on a spiral, the same on every machine but for the last bits."""
    turn = np.linspace(0.0, 5.0, 30)
    return np.column_stack([turn * np.cos(turn), turn * np.sin(turn), turn % 1.0])


def models(X):
    """One of each kind of content."""
    place = np.arange(30) % 3
    names = np.array(["north", "east", "süd"])[place]
    kernel = RBF(sigma=2.0) + 0.25 * Linear()
    return {
        "kernel-objects": SVC(kernel=kernel).fit(X, names),
        "isotonic": SVC(
            probability=True,
            calibration="isotonic",
            random_state=np.random.RandomState(0),
            class_weight={0: 2.0, 1: np.float32(1.0)},
        ).fit(X, place > 0),
        "pipeline": make_pipeline(StandardScaler(), SVR(C=2.0)).fit(X, X[:, 0] ** 2),
        "linear": LinearSVC(random_state=0).fit(X, place),
        "walk": PegasosClassifier(max_iter=3, tol=1.0, random_state=0).fit(X, place > 0),
    }


def answers(model, X):
    """Decisions, or predictions of a regression."""
    return getattr(model, "decision_function", model.predict)(X)


if __name__ == "__main__":
    os.environ["SOURCE_DATE_EPOCH"] = "1794873600"
    X = rows()
    expected = {}
    for name, model in models(X).items():
        save(model, HERE / f"v1-{name}.maxmargin", data_hash=data_hash(X))
        expected[name] = np.asarray(answers(model, X)).ravel().tolist()
    (HERE / "v1-expected.json").write_text(json.dumps(expected))
