"""Kernels: inner products in spaces that need not be visited.

The map of (x·z + 1)² written out; the Gaussian's map, cut off at growing degrees; a
machine in the mapped space that is the kernel machine; and a kernel that is none, with
the combination of rows that proves it.

    python examples/kernels.py [folder for the figures]
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from _figures import asked_folder, one_key
from maxmargin import SVC, kernels
from maxmargin.plots import BoundaryDisplay, KernelDisplay


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    X, y = make_circles(120, noise=0.08, factor=0.45, random_state=0)

    square = kernels.Polynomial(degree=2)
    phi = kernels.feature_map(square, n_features=2)
    error = np.abs(phi(X) @ phi(X).T - square(X, X)).max()
    print(f"(x·z + 1)²: φ(x) = [{', '.join(phi.names)}]")
    print(f"  φ(x)·φ(z) − k(x, z) is at most {error:.1e}")

    gauss = kernels.RBF(sigma=1.0)
    for order in (2, 4, 8, 16):
        cut = kernels.feature_map(gauss, n_features=2, order=order)
        error = np.abs(cut(X) @ cut(X).T - gauss(X, X)).max()
        print(
            f"Gaussian up to degree {order:2}: {cut.n_components:3} components, "
            f"error {error:.1e}"
        )

    implicit = SVC(kernel=square, C=1.0, tol=1e-8).fit(X, y)
    explicit = SVC(kernel="linear", C=1.0, tol=1e-8).fit(phi(X), y)
    apart = np.abs(
        implicit.decision_function(X) - explicit.decision_function(phi(X))
    ).max()
    print(f"Kernel machine and linear machine of φ(x): decisions differ by {apart:.1e}")

    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.4), layout="constrained")
    shown = {
        "linear": kernels.Linear(),
        "(x·z + 1)²": square,
        "Gaussian, σ = 0.5": kernels.RBF(sigma=0.5),
    }
    for ax, (name, kernel) in zip(axes, shown.items(), strict=True):
        machine = SVC(kernel=kernel, C=1.0).fit(X, y)
        BoundaryDisplay.from_estimator(machine, X, y, ax=ax)
        ax.set_title(f"{name}: {machine.score(X, y):.0%} correct")
    one_key(figure, axes)
    figure.savefig(folder / "kernels.png", dpi=110)
    plt.close(figure)

    print()
    for name, kernel in {
        "gaussian": gauss,
        "sigmoid": kernels.Sigmoid(1.0, -1.0),
    }.items():
        verdict = kernels.mercer(kernel, X)
        print(verdict)
        display = KernelDisplay.from_kernel(kernel, X, y)
        display.figure_.savefig(folder / f"kernel_{name}.png", dpi=110)
        plt.close(display.figure_)


if __name__ == "__main__":
    main(asked_folder(__doc__))
