"""A machine from outside: kernel regression by least absolute deviations.

min ½‖w‖² + Σ C_i·|z_i − f(x_i)|, which is ε-SVR with a tube of width 0.
"""

from dataclasses import dataclass
from typing import Any

from maxmargin.estimators import MACHINES, KernelRegressor, Part
from maxmargin.problem import epsilon_svr, row_prices


@dataclass(frozen=True, eq=False)
class Deviations(Part):
    """The one problem of the machine."""

    z: Any
    C: float

    def instance(self, gram, weight):
        return epsilon_svr(gram, self.z, row_prices(self.C, weight), 0.0)


class LeastDeviations(KernelRegressor):
    """Least absolute deviations with a kernel."""

    certified_as = "SVR"  # with this tube
    epsilon = 0.0

    def __init__(
        self, *, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3,
        shrinking=True, cache_size=200, verbose=False, max_iter=-1, n_jobs=None,
        time_limit=None, callbacks=None, warm_start=False,
    ):  # fmt: skip
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _part(self, rows, z, weight):
        return Deviations("", rows, weight, z, C=float(self.C))


MACHINES.register(LeastDeviations, name="least-deviations", task="regress")
