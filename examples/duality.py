"""Duality: two worked examples of the lecture notes, and then a machine.

Convex: the dual's best bound touches the primal optimum, gap 0. Not convex: it stops
short, gap ¼. A support vector machine is of the first kind: its gap goes to 0 as the
solver runs, and bounds at every moment how far from the optimum it is.

    python examples/duality.py [folder for the figures]
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, solvers, theory
from maxmargin.observers import History
from maxmargin.plots import CoordinateAscentDisplay, DualityDisplay, LagrangeDisplay


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, example in theory.DUALITY.items():
        print(
            f"Example {number}: p* = {example.primal.value:.6g}, d* = "
            f"{example.dual.value:.6g} at α* = {example.dual.alpha:.6g}, "
            f"gap {example.gap:.6g}"
        )
        display = DualityDisplay.from_example(number)
        display.figure_.savefig(folder / f"duality_{number}.png", dpi=110)
        plt.close(display.figure_)

    for name, example in theory.LAGRANGE.items():
        x, multiplier, _ = example.solve()
        print(f"Lagrange, {name}: {x} with multiplier {multiplier:g}")
        display = LagrangeDisplay.from_example(name)
        display.figure_.savefig(folder / f"lagrange_{name}.png", dpi=110)
        plt.close(display.figure_)

    display = CoordinateAscentDisplay.from_problem(theory.coordinate_example())
    display.figure_.savefig(folder / "coordinate_ascent.png", dpi=110)
    plt.close(display.figure_)

    X, y = load_breast_cancer(return_X_y=True)
    problem = SVC(C=1.0, gamma=0.02).problem(StandardScaler().fit_transform(X), y)
    history = History(("n_iter", "primal", "dual", "gap"))
    solvers.drive(solvers.PlattSmo(), problem, observers=[history])
    print(f"\n{'pairs':>8}{'primal':>14}{'dual':>14}{'gap':>12}")
    rows = list(zip(*(history[key] for key in history.keys), strict=True))
    for pairs, primal, dual, gap in rows[:: max(1, len(rows) // 8)]:
        print(f"{pairs:8,}{primal:14.6f}{dual:14.6f}{gap:12.2e}")


if __name__ == "__main__":
    from _figures import asked_folder

    main(asked_folder(__doc__))
