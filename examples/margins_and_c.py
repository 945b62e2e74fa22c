"""Margins and C: the price of a margin error decides who is obeyed.

Two groups and one outlier. A small C gives the outlier up and keeps a wide margin; a
large one bends to it; C = inf is the hard margin. S1's two points show the other end: for
C ≤ ½ both are at their bound, and every intercept in an interval is optimal.

    python examples/margins_and_c.py [folder for the figure]
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from _figures import asked_folder, one_key
from maxmargin import SVC
from maxmargin.plots import BoundaryDisplay


def groups():
    rng = np.random.default_rng(1)
    low = rng.normal([-1.0, -1.0], 0.45, size=(20, 2))
    high = rng.normal([1.2, 1.2], 0.45, size=(20, 2))
    X = np.vstack([low, high, [[-0.35, 0.45]]])  # the outlier belongs to the high ones
    return X, np.array([-1] * 20 + [1] * 21)


def main(folder: Path) -> None:
    X, y = groups()
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    print(f"{'C':>8}{'margin 2/‖w‖':>15}{'support':>9}{'at bound':>10}{'outlier at':>12}")
    for ax, C in zip(axes, (0.05, 1.0, np.inf), strict=True):
        machine = SVC(C=C, kernel="linear").fit(X, y)
        proof = machine.certificate_
        outlier = float(machine.decision_function(X[-1:])[0])
        print(
            f"{C:8g}{machine.margin_:15.3f}{proof.n_support:9}{proof.n_bound:10}"
            f"{outlier:12.3f}"
        )
        BoundaryDisplay.from_estimator(machine, X, y, ax=ax)
        ax.set_title(f"C = {C:g}: margin {machine.margin_:.2f}")

    one_key(figure, axes)

    two = SVC(C=0.25, kernel="linear").fit([[0.0, -1.0], [0.0, 1.0]], [-1, 1])
    low, high = two.certificate_.bias_interval
    print(
        f"\nS1's two points at C = ¼: w = {two.coef_[0].round(6).tolist()}, and every b "
        f"in [{low:g}, {high:g}] is optimal; intercept_ is {two.intercept_[0]:g}."
    )
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "margins_and_c.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(asked_folder(__doc__))
