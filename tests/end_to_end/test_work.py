"""How much work a fit is, counted: steps and kernel values, which no machine changes.

The bounds are a fifth above what was measured when they were written. A change that
makes fits do less may lower them; one that raises them needs a reason.
"""

import numpy as np
import pytest
from tests import data

from maxmargin import SVC, SVR, OneClassSVM

# set: (rows, machine, steps, kernel values for every row and support vector)
PANEL = {
    "svmguide1": (data.svmguide1, SVC(C=2.0, gamma=2.0), 900, 2.7),
    "usps": (data.usps, SVC(C=10.0, gamma=1 / 64), 26_000, 2.6),
    "letter": (data.letter, SVC(C=16.0, gamma=4.0), 450_000, 1.6),
    "ijcnn1": (data.ijcnn1, SVC(C=32.0, gamma=2.0), 49_000, 5.9),
    "a9a": (data.a9a, SVC(C=1.0, gamma=1 / 32), 17_000, 2.1),
    "mnist10k": (lambda: data.mnist(10_000), SVC(C=10.0, gamma=0.02), 47_000, 1.7),
    "covtype20k": (
        lambda: data.covtype_binary(20_000), SVC(C=10.0, gamma=8.0), 100_000, 8.6,
    ),
    "houses": (data.houses, SVR(C=1.0, gamma=0.125), 33_000, 3.0),
    "one class": (
        lambda: data.mnist(10_000), OneClassSVM(nu=0.1, gamma=0.02), 1_700, 3.8,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PANEL)
def test_work(name):
    load, machine, steps, values = PANEL[name]
    split = load()
    y = None if isinstance(machine, OneClassSVM) else split.y
    machine.set_params(cache_size=2000).fit(split.X, y)
    own = machine.certificate_
    rows = own.n_kernel / (split.X.shape[0] * machine.support_.size)
    print(f"{name}: {np.sum(machine.n_iter_):,} steps, {rows:.2f} values")
    assert own.ok
    assert np.sum(machine.n_iter_) <= steps
    assert rows <= values
