"""The kernel matrix as an image, and its eigenvalues: is this a kernel on these rows?

The scale of the spectrum is logarithmic on both sides of 0 and linear within the bound of
rounding errors (8·n·ε·λ_max), so that even the smallest negative eigenvalue is seen. The
meaning of eigenvalues is explained in :mod:`maxmargin.kernels.maths.mercer`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from maxmargin.errors import InputError
from maxmargin.kernels.maths.matrix import kernel_matrix
from maxmargin.kernels.maths.mercer import judge
from maxmargin.plots.canvas.style import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    figure_and_pair,
    legend,
)

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix
    from maxmargin.kernels.maths.mercer import MercerVerdict

_NAME = 44  # letters of a kernel's name above the image, at most


@dataclass(eq=False, repr=False)
class KernelDisplay:
    """Kernel matrix and spectrum side by side; made by :meth:`from_kernel`.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        The kernel matrix, its rows in the order in which they are drawn.
    verdict : MercerVerdict
        The result of :func:`maxmargin.kernels.mercer`; its direction counts the rows in
        the order in which they were given.
    y : ndarray of shape (n,), optional
        Classes of these rows, equal ones side by side.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : ndarray of two Axes
        Of the image, and of the spectrum.
    image_ : AxesImage
    colorbar_ : Colorbar
    spectrum_ : dict of str to PathCollection
        The eigenvalues: ``"positive"``, ``"zero"`` (within rounding errors) and
        ``"negative"``, as far as they occur.
    """

    values: Matrix
    verdict: MercerVerdict
    y: Any = None

    @classmethod
    def from_kernel(
        cls,
        kernel: Any,
        X: Any,
        y: Any = None,
        *,
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        ax: Any = None,
    ) -> Self:
        """Evaluate a kernel on rows, judge its matrix, and draw both.

        Cost: that of :func:`maxmargin.kernels.mercer`.

        Parameters
        ----------
        kernel, X, degree, gamma, coef0
            As for :func:`maxmargin.kernels.mercer`: a kernel object, a name or a
            function; at most 5000 rows.
        y : array-like of shape (n,), optional
            Classes: rows of one class are drawn side by side, in their given order, so
            that a kernel that suits the classes shows blocks.
        ax : sequence of two matplotlib Axes, optional
            For the image and for the spectrum; without it, a new figure.
        """
        matrix = kernel_matrix(kernel, X, degree=degree, gamma=gamma, coef0=coef0)
        values = matrix.values
        if y is not None:
            y = np.asarray(y)
            if y.shape != values.shape[:1]:
                msg = f"y has shape {y.shape}; expected one class for each of the "
                msg += f"{len(values)} rows"
                raise InputError(msg)
            order = np.argsort(y, kind="stable")
            y, values = y[order], values[np.ix_(order, order)]
        return cls(values, judge(matrix), y).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, into two axes or a new figure.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            For the image and for the spectrum.
        """
        self.figure_, self.ax_ = figure_and_pair(ax, figsize=(11.0, 4.6))
        self._draw_matrix(self.ax_[0])
        self._draw_spectrum(self.ax_[1])
        return self

    def _draw_matrix(self, ax: Any) -> None:
        self.image_ = ax.imshow(self.values, cmap="cividis", interpolation="nearest")
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=ax, label="k(x, z)")
        name = self.verdict.kernel
        shown = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
        ax.set_title(f"{shown}\n{len(self.values)} rows", fontsize="medium")
        if self.y is None:
            ax.set(xlabel="row", ylabel="row")
            return
        classes, first, count = np.unique(self.y, return_index=True, return_counts=True)
        for edge in first[1:]:
            # A white line on a black one is seen on dark and on bright values.
            for colour, width in ((BLACK, 1.8), ("white", 0.8)):
                ax.axhline(edge - 0.5, color=colour, lw=width)
                ax.axvline(edge - 0.5, color=colour, lw=width)
        middle = first + 0.5 * (count - 1)
        labels = [str(one) for one in classes]
        ax.set_xticks(middle, labels)
        ax.set_yticks(middle, labels)
        ax.set(xlabel="rows, by class", ylabel="rows, by class")

    def _draw_spectrum(self, ax: Any) -> None:
        falling = self.verdict.eigenvalues[::-1]
        rank = np.arange(1, falling.size + 1)
        noise = self.verdict.threshold
        kinds = {
            "positive": (falling > noise, BLUE, "o", "positive"),
            "zero": (np.abs(falling) <= noise, GREY, "|", f"0 within ±{noise:.1g}"),
            "negative": (falling < -noise, VERMILION, "X", "negative"),
        }
        self.spectrum_ = {
            kind: ax.scatter(
                rank[some], falling[some], s=22, c=colour, marker=marker,
                linewidths=1.0 if marker == "|" else 0.0, zorder=3,
                label=f"{label}: {int(some.sum())}",
            )
            for kind, (some, colour, marker, label) in kinds.items()
            if some.any()
        }  # fmt: skip
        ax.axhline(0.0, color=BLACK, lw=0.8, zorder=1)
        if noise > 0.0:  # 0 for the zero matrix alone
            _two_sided(ax, falling, noise)
        ax.set(xlabel="eigenvalue, from the largest", ylabel="λ")
        ax.grid(visible=True, axis="y", lw=0.4, alpha=0.5)
        ends = f"smallest eigenvalue {falling[-1]:.3g}, largest {falling[0]:.3g}"
        ax.set_title(f"{self.verdict.headline}\n{ends}", fontsize="medium")
        legend(ax, loc="best")


def _two_sided(ax: Any, eigenvalues: Matrix, noise: float) -> None:
    """Set a scale that is logarithmic beyond ±noise, with about five ticks a side."""
    ax.set_yscale("symlog", linthresh=noise)
    low, high = float(eigenvalues.min()), float(eigenvalues.max())
    room = 5.0
    ax.set_ylim(
        room * low if low < -noise else -2.0 * noise,
        room * high if high > noise else 2.0 * noise,
    )
    lowest = math.ceil(math.log10(noise)) + 1  # nearer to 0, the label of 0 is in the way
    highest = math.floor(math.log10(max(high, -low)))
    step = max(1, math.ceil((highest - lowest + 1) / 5))
    decades = [10.0**power for power in range(highest, lowest - 1, -step)]
    above = [one for one in decades if one <= high]
    below = [-one for one in decades if one <= -low]
    ax.set_yticks([*below, 0.0, *above[::-1]])
    ax.set_yticks([], minor=True)
