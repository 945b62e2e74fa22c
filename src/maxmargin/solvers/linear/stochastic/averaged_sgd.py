r"""S2's SGD for Soft-SVM, with the averaged iterate.

Problem (hinge loss; no intercept, or the constant column):
:math:`\min_w f(w) = \tfrac\lambda2\|w\|^2 + L_S^{hinge}(w)`, with λ and weights as in
:mod:`~maxmargin.solvers.linear.stochastic.pegasos`.

Update, as S2 lists it: :math:`\theta_0 = 0`; for t = 0 … T − 1 let :math:`w_t =
\theta_t/(\lambda t)`, pick a row I uniformly, and set :math:`\theta_{t+1} = \theta_t +
y_Ix_I` if :math:`y_I\langle w_t, x_I\rangle < 1`, else :math:`\theta_{t+1} = \theta_t`.
The answer is :math:`\bar w_T = \frac1T\sum_{t=0}^{T-1} w_t`. **Correction:** for t = 0
the listing divides θ₀ by λ·0; the walk starts at :math:`w_0 = 0`, as S2's own formula
:math:`w_{t+1} = -\frac1{\lambda t}\sum_{s\le t} v_s` has it.

The steps are those of Pegasos with one row each and without projection; only the answer
differs. β is that of :mod:`~maxmargin.solvers.linear.stochastic.pegasos`.

Stop: relative duality gap at most tol, or ``max_iter`` epochs, as in Pegasos.

Cost: O(non-zeros) for a row. The first iterates are as long as 1/λ and leave the average
slowly: it takes more epochs than Pegasos.

Reference: S2, "Numerically solving Soft-SVM"; S. Shalev-Shwartz and S. Ben-David,
"Understanding Machine Learning", 2014, section 15.5 and theorem 14.11.
"""

from __future__ import annotations

from dataclasses import dataclass

from maxmargin.solvers.linear.stochastic.walk import StochasticSolver


@dataclass(frozen=True)
class AveragedSgd(StochasticSolver):
    """S2's SGD for Soft-SVM.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Epochs (n steps) at most; −1 for 1000, or as many as make a million or 300/λ
        steps, where a tiny λ counts for 10⁹ at most.
    seed : int
        Of the sequence of rows.
    replacement : bool
        Whether every step draws from all rows, as S2 prints it; otherwise every epoch
        visits all.
    """

    tol: float = 1e-4
    max_iter: int = -1
    seed: int = 0
    replacement: bool = True
    batch_size = 1
    projection = False
    average = "all"
