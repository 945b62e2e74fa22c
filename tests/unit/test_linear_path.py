"""The C-path of linear machines: the same answers, for less than separate fits cost."""

import numpy as np
import pytest
from sklearn.base import clone

import maxmargin
from maxmargin import LinearSVC, LinearSVR
from maxmargin.estimators.linear import path as linear_path

PRICES = np.geomspace(0.01, 10.0, 8)
MACHINES = {
    "hinge": LinearSVC(loss="hinge"),
    "squared hinge": LinearSVC(loss="squared_hinge"),
    "hinge, free": LinearSVC(loss="hinge", intercept="free"),
    "coordinates": LinearSVC(loss="hinge", solver="dual-descent"),
    "gram": LinearSVC(loss="hinge", solver="gram"),
    "Crammer and Singer": LinearSVC(
        multi_class="crammer_singer", solver="crammer-singer"
    ),
    "tube": LinearSVR(loss="epsilon_insensitive", epsilon=0.1),
    "squared tube": LinearSVR(loss="squared_epsilon_insensitive"),
}


def rows(n=500, d=12):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.standard_normal(n)
    return X, np.digitize(score, [-0.5, 0.5])


@pytest.mark.parametrize("name", MACHINES)
def test_a_path_takes_fewer_iterations_than_separate_fits(name):
    X, y = rows()
    model = clone(MACHINES[name]).set_params(tol=1e-6, max_iter=-1, random_state=0)
    if name != "Crammer and Singer":
        y = y > 0
    along = maxmargin.path(model, X, y, PRICES)
    alone = [clone(model).set_params(C=C).fit(X, y) for C in PRICES]
    for ours, other in zip(along, alone, strict=True):
        assert ours.certificate_.ok
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=3e-3)
    assert sum(one.n_iter_ for one in along) < sum(one.n_iter_ for one in alone)


@pytest.mark.parametrize("weight", ["rows", "classes"])
def test_bounds_grow_with_the_price_whatever_a_row_weighs(weight):
    """A row at its bound begins at the new one: near the answer if most stay there."""
    X, y = rows()
    y = y > 0
    model = LinearSVC(loss="hinge", solver="dual-descent", tol=1e-6, random_state=0)
    given = None
    if weight == "rows":
        given = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    else:
        model.set_params(class_weight={False: 1.0, True: 10.0})
    first, second = maxmargin.path(model, X, y, [1.0, 2.0], sample_weight=given)
    price = np.ones(len(y)) if given is None else given
    if given is None:
        price = np.where(y, 10.0, 1.0)
    size = np.abs(first.dual_coef_[0])
    full = size == price
    assert 0.2 < full.mean() < 1.0
    assert np.unique(price[full]).size > 1  # of several bounds
    alone = clone(second).fit(X, y, sample_weight=given)
    assert second.n_iter_ < alone.n_iter_
    np.testing.assert_allclose(second.coef_, alone.coef_, atol=1e-3)


def test_rows_are_prepared_once(monkeypatch):
    made = []

    def counted(*given):
        made.append(given)
        return design_of(*given)

    design_of = linear_path.design_of
    monkeypatch.setattr(linear_path, "design_of", counted)
    monkeypatch.setattr("maxmargin.estimators.linear.solving.design_of", counted)
    X, y = rows()
    maxmargin.path(LinearSVC(), X, y, PRICES)
    assert len(made) == 1


def test_names_of_features_reach_every_machine():
    pd = pytest.importorskip("pandas")
    X, y = rows(100, 2)
    frame = pd.DataFrame(X, columns=["left", "right"])
    for machine in maxmargin.path(LinearSVC(), frame, y, [0.1, 1.0]):
        assert machine.feature_names_in_.tolist() == ["left", "right"]
