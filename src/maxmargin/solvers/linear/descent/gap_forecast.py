r"""What the visits of an epoch tell of the gap: when a look at all rows will pay.

The gap is a sum over rows, :math:`P - D = \sum_i g_i` with :math:`g_i = \ell_i(f_i) +
\ell_i^*(-\beta_i) + \beta_i f_i \ge 0` (Fenchel and Young), and 0 for a row that has
been left out rightly. A visit knows its f. E, the sum of the g that an epoch meets, each
before its β is moved, is the gap of a time within the epoch; at its end the gap is about
:math:`E_k\cdot E_k/E_{k-1}`, for an epoch lowers both by the same factor. A look corrects
the forecast by what it finds.

Without it, looks were due after 1, 2, 4, 8 … epochs: a third of the time of a brief fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LEAST = 0.03  # of E is left at the end of an epoch, however fast it was
_FIRST = 0.3  # of E, as a rule, at the end of the first
_DOUBT = 5.0  # how wrong a forecast may turn out to be for the next ones to be trusted


@dataclass(slots=True)
class Outlook:
    """Sums of the last two epochs, and how wrong the last forecast was."""

    before: float = np.inf
    now: float = np.inf
    correction: float = 1.0

    def epoch(self, total: float) -> None:
        """Another one has met gaps of this sum."""
        self.before, self.now = self.now, total

    @property
    def gap(self) -> float:
        """P − D at the end of the last epoch, as far as can be told."""
        if np.isinf(self.before):
            return self.correction * self.now * _FIRST
        ratio = self.now / self.before if self.before > 0.0 else 1.0
        return self.correction * self.now * min(max(ratio, _LEAST), 1.0)

    def found(self, gap: float) -> None:
        """What a look found in its place."""
        if np.isfinite(self.now) and self.now > 0.0:
            wrong = gap * self.correction / max(self.gap, np.finfo(float).tiny)
            self.correction = float(np.clip(wrong, 1.0 / _DOUBT, _DOUBT))
