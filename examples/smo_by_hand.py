"""SMO by hand: every pair of a small problem, told and drawn.

Platt's algorithm on eight points, step by step: which pair, why, the errors, the segment
[L, H], whether the optimum on it had to be clipped, and what the step gained. Then the
same as an animation.

    python examples/smo_by_hand.py [folder for the animation]
"""

from pathlib import Path

import numpy as np

from maxmargin import SVC, solvers
from maxmargin.plots import animate

X = np.array(
    [
        [0.0, 0.2],
        [1.0, 0.0],
        [0.3, 1.1],
        [1.7, 1.2],
        [2.6, 1.4],
        [2.2, 2.6],
        [3.2, 2.2],
        [1.2, 2.1],
    ]
)
Y = np.array([-1, -1, -1, -1, 1, 1, 1, 1])


def main(folder: Path) -> None:
    problem = SVC(C=2.0, kernel="linear").problem(X, Y)
    solver = solvers.PlattSmo()
    for snapshot in solver.steps(problem):
        now = snapshot.measures
        print(f"{snapshot}\n   dual {now.dual:.6f}, gap {now.gap:.2e}\n")
    print(f"End: {snapshot!r}")
    best = SVC(C=2.0, kernel="linear", tol=1e-6).fit(X, Y)
    print(
        f"w from the pairs: {snapshot.model.beta @ X}, b = {snapshot.model.bias:.5f}\n"
        f"w of SVC.fit:     {best.coef_[0]}, b = {best.intercept_[0]:.5f}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = animate(
        solver,
        X,
        Y,
        folder / "smo_by_hand.gif",
        C=2.0,
        kernel="linear",
        fps=1,
        max_frames=16,
    )
    print(f"Animation: {path}")


if __name__ == "__main__":
    from _figures import asked_folder

    main(asked_folder(__doc__))
