r"""Forecast of the gap from the visits of an epoch: when to look at all rows.

The gap is a sum over rows, :math:`P - D = \sum_i g_i` with :math:`g_i = \ell_i(f_i) +
\ell_i^*(-\beta_i) + \beta_i f_i \ge 0` (Fenchel and Young), and 0 for a row that was
left out rightly. A visit knows its f. E, the sum of the g at the visits of an epoch, each
before its β moves, is the gap at some time within the epoch; at its end the gap is about
:math:`E_k\cdot E_k/E_{k-1}`, for an epoch lowers both by the same factor. A look corrects
the forecast by the true gap.

Without it, looks were due after 1, 2, 4, 8 … epochs: a third of the time of a brief fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LEAST = 0.03  # policy: least share of E that is forecast for the end of an epoch
_FIRST = 0.3  # policy: share of E that is forecast for the end of the first epoch
_DOUBT = 5.0  # policy: largest factor by which a look corrects forecasts


@dataclass(slots=True)
class Outlook:
    """Sums of the last two epochs, and how wrong the last forecast was."""

    before: float = np.inf
    now: float = np.inf
    correction: float = 1.0

    def epoch(self, total: float) -> None:
        """Take the sum E of another epoch."""
        self.before, self.now = self.now, total

    @property
    def gap(self) -> float:
        """Forecast of P − D at the end of the last epoch."""
        if np.isinf(self.before):
            return self.correction * self.now * _FIRST
        ratio = self.now / self.before if self.before > 0.0 else 1.0
        return self.correction * self.now * min(max(ratio, _LEAST), 1.0)

    def found(self, gap: float) -> None:
        """Correct the forecast by the gap of a look."""
        if np.isfinite(self.now) and self.now > 0.0:
            wrong = gap * self.correction / max(self.gap, np.finfo(float).tiny)
            self.correction = float(np.clip(wrong, 1.0 / _DOUBT, _DOUBT))
