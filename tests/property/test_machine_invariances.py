"""What must not change when a problem of NuSVC, SVR, NuSVR, OneClassSVM or SVDD is put in
other words. (For SVC, see ``test_invariances.py``.)
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from tests.property import test_invariances
from tests.property.test_invariances import weights

import maxmargin
from maxmargin import InputError, VanishingMarginWarning

steady = settings(test_invariances.steady, max_examples=30)  # for each machine

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "rbf", "gamma": "scale"},
    {"kernel": "poly", "degree": 2, "gamma": 0.25, "coef0": 1.0},
]
RBF = KERNELS[1:2]
MACHINES = ("NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD")
every_machine = pytest.mark.parametrize("machine", MACHINES)


class Example(NamedTuple):
    X: np.ndarray
    signs: np.ndarray  # labels of a classifier
    z: np.ndarray  # targets of a regression
    options: dict[str, Any]
    C: float
    epsilon: float
    nu: float

    def parameters(self, machine: str) -> dict[str, Any]:
        wanted = {"SVR": ("C", "epsilon"), "NuSVR": ("C", "nu")}.get(machine, ("nu",))
        return self.options | {name: getattr(self, name) for name in wanted}

    def target(self, machine: str) -> np.ndarray:
        return self.signs if machine == "NuSVC" else self.z


@st.composite
def examples(draw, kernels=KERNELS):
    n = draw(st.integers(6, 12))
    d = draw(st.integers(1, 3))
    eighths = st.integers(-24, 24).map(lambda k: k / 8.0)
    X = draw(arrays(np.float64, (n, d), elements=eighths))
    signs = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    signs[:2], signs[-2:] = 0, 1
    return Example(
        X,
        signs,
        draw(arrays(np.float64, n, elements=eighths)),
        draw(st.sampled_from(kernels)),
        draw(st.sampled_from([0.1, 1.0, 10.0])),
        draw(st.sampled_from([0.0, 0.3, 1.0])),
        draw(st.sampled_from([0.15, 0.3, 0.5])),
    )


def fit(machine: str, X, y, weight=None, n_jobs=1, **options) -> Any:
    one = getattr(maxmargin, machine)(tol=1e-8, n_jobs=n_jobs, **options)
    try:
        one.fit(X, y, sample_weight=weight)
    except (InputError, VanishingMarginWarning) as error:
        # of these few points, many a ν is impossible; warnings are errors here
        assume("nu is infeasible" not in str(error) and "vanishes" not in str(error))
        raise
    assert one.certificate_.ok
    return one


def shape(one: Any, X, total: float) -> np.ndarray:
    """What is unique: ⟨w, φ(x)⟩ before ρ divides it, or the distance to the centre."""
    name = type(one).__name__
    if name == "SVDD":
        return one.score_samples(X)
    values = one.predict(X) if "SVR" in name else one.decision_function(X)
    values = values - one.intercept_[0]
    if name == "NuSVC":
        values *= one.nu * total / np.abs(one.dual_coef_).sum()
    return values


def same(one, other, X, X_other=None, total=1.0, sign=1.0) -> None:
    """Both objectives, and with the primal b, ρ, ε and R, which need not be unique."""
    if type(one).__name__ == "NuSVC":
        rho = one.nu * total / np.abs(one.dual_coef_).sum()
        assume(rho > 1e-6)  # the margin vanishes but for rounding
    left = shape(one, X, total)
    right = sign * shape(other, X if X_other is None else X_other, total)
    scale = 1.0 + np.abs(left).max()
    assert_allclose(left, right, atol=2e-4 * scale)
    for name in ("primal", "dual"):
        a, b = getattr(one.certificate_, name), getattr(other.certificate_, name)
        assert abs(a - b) <= 1e-6 * (abs(a) + abs(b)) + 1e-7 * scale, (name, a, b)


@every_machine
@steady
@given(example=examples(), data=st.data())
def test_a_weight_of_two_is_the_row_twice(machine, example, data):
    X, y, options = example.X, example.target(machine), example.parameters(machine)
    weight = data.draw(weights(len(y)))
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted = fit(machine, X, y, weight, **options)
    repeated = fit(machine, X[twice], y[twice], **options)
    assert weighted.gamma_ == pytest.approx(repeated.gamma_, rel=1e-12)
    same(weighted, repeated, X, total=weight.sum())


@every_machine
@steady
@given(example=examples(), data=st.data())
def test_a_weight_of_zero_is_no_row(machine, example, data):
    X, y, options = example.X, example.target(machine), example.parameters(machine)
    weight = data.draw(weights(len(y), low=-1))
    weight[[0, -1]] = 1.0
    there = weight > 0.0
    weighted = fit(machine, X, y, weight, **options)
    without = fit(machine, X[there], y[there], weight[there], **options)
    same(weighted, without, X, total=weight[there].sum())
    assert there[weighted.support_].all()


@steady
@given(examples(), st.data(), st.sampled_from([(0.5, 3.0), (4.0, 1.0), (0.1, 0.1)]))
def test_class_weights_of_nu_svc_multiply_sample_weights(example, data, factors):
    X, y, options = example.X, example.signs, example.parameters("NuSVC")
    weight = data.draw(weights(len(y)))
    balanced = options | {"class_weight": dict(enumerate(factors))}
    one = fit("NuSVC", X, y, weight, **balanced)
    other = fit("NuSVC", X, y, weight * np.array(factors)[y], **(options | gamma(one)))
    same(one, other, X, total=(weight * np.array(factors)[y]).sum())


def gamma(one) -> dict[str, Any]:
    """γ 'scale' counts sample weights, and not those of classes."""
    return {} if one.kernel == "linear" else {"gamma": one.gamma_}


@every_machine
@steady
@given(example=examples(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_and_features_does_not_matter(machine, example, random):
    X, y, options = example.X, example.target(machine), example.parameters(machine)
    rows, columns = list(range(len(y))), list(range(X.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one = fit(machine, X, y, **options)
    other = fit(machine, X[np.ix_(rows, columns)], y[rows], **options)
    same(one, other, X, X[:, columns], total=len(y))


@every_machine
@steady
@given(example=examples(kernels=RBF), t=st.sampled_from([1.0, -64.0, 1024.0]))
def test_translation_does_not_matter_to_the_gaussian_kernel(machine, example, t):
    X, y, options = example.X, example.target(machine), example.parameters(machine)
    one, other = fit(machine, X, y, **options), fit(machine, X + t, y, **options)
    same(one, other, X, X + t, total=len(y))


@steady
@given(example=examples(kernels=KERNELS[:1]), t=st.sampled_from([1.0, -8.0, 16.0]))
def test_translation_does_not_matter_to_a_ball(example, t):
    X = example.X
    one, other = (
        fit("SVDD", Z, None, nu=example.nu, kernel="linear") for Z in (X, X + t)
    )
    assert one.radius_ == pytest.approx(other.radius_, rel=1e-4, abs=1e-4)
    assert_allclose(one.coef_ + t, other.coef_, atol=1e-3)  # the centre
    assert_allclose(one.score_samples(X), other.score_samples(X + t), atol=1e-2)


@pytest.mark.parametrize("machine", ["SVR", "NuSVR"])
@steady
@given(example=examples())
def test_targets_turned_round_turn_the_prediction_round(machine, example):
    X, z, options = example.X, example.z, example.parameters(machine)
    same(fit(machine, X, z, **options), fit(machine, X, -z, **options), X, sign=-1.0)


@pytest.mark.parametrize("machine", ["SVR", "NuSVR"])
@steady
@given(example=examples(), shift=st.sampled_from([1.0, -16.0]))
def test_targets_moved_move_the_intercept(machine, example, shift):
    X, z, options = example.X, example.z, example.parameters(machine)
    one, other = fit(machine, X, z, **options), fit(machine, X, z + shift, **options)
    same(one, other, X)
    lo, hi = other.certificate_.bias_interval
    assert lo - 1e-4 <= one.intercept_[0] + shift <= hi + 1e-4


@pytest.mark.parametrize("machine", ["SVR", "NuSVR"])
@steady
@given(example=examples(kernels=KERNELS[:3]), c=st.sampled_from([2.0**-6, 3.0, 128.0]))
def test_targets_times_c_with_price_and_tube_times_c(machine, example, c):
    X, z, options = example.X, example.z, example.parameters(machine)
    larger = options | {name: options[name] * c for name in ("C", "epsilon")
                        if name in options}  # fmt: skip
    one, other = fit(machine, X, z, **options), fit(machine, X, z * c, **larger)
    a, b = shape(one, X, 1.0) * c, shape(other, X, 1.0)
    assert_allclose(a, b, atol=2e-4 * (c + 1.0 + np.abs(a).max()))


@steady
@given(examples())
def test_other_labels_turn_the_decision_of_nu_svc_round(example):
    X, y, options = example.X, example.signs, example.parameters("NuSVC")
    one, other = fit("NuSVC", X, y, **options), fit("NuSVC", X, 1 - y, **options)
    same(one, other, X, total=len(y), sign=-1.0)


# γ 'scale' is a sum, which has another last digit where zeros are left out
@every_machine
@steady
@given(example=examples(kernels=[KERNELS[0], KERNELS[1], KERNELS[3]]))
def test_threads_and_storage_do_not_matter(machine, example):
    X, y, options = example.X, example.target(machine), example.parameters(machine)
    one = fit(machine, X, y, **options)
    others = [
        fit(machine, X, y, n_jobs=2, **options),
        fit(machine, sp.csr_matrix(X), y, **options),
    ]
    for other in others:
        coef = other.dual_coef_
        coef = coef.toarray() if sp.issparse(coef) else coef
        assert coef.tobytes() == one.dual_coef_.tobytes()
        assert other.intercept_.tobytes() == one.intercept_.tobytes()
        assert other.support_.tobytes() == one.support_.tobytes()
    values = (one.predict if "SVR" in machine else one.decision_function)(X)
    given = (others[1].predict if "SVR" in machine else others[1].decision_function)(X)
    assert given.tobytes() == values.tobytes()
