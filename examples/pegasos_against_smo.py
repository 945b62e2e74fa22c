"""Pegasos against SMO: a good answer soon, or the best one soon after.

Both solve the machine without an intercept; Pegasos' λ is that of C. Its gap falls as
1/t: it comes to one per cent, and hardly moves beyond. SMO ends exact.

    python examples/pegasos_against_smo.py [folder for the figure]
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import SVC, solvers, theory
from maxmargin.plots import ConvergenceDisplay
from maxmargin.problem import objective


def main(folder: Path) -> None:
    X, y = make_moons(1000, noise=0.25, random_state=1)
    C, n = 1.0, len(y)
    rate = theory.from_C(C, n, "pegasos")
    back = theory.to_C(rate, n, "pegasos")
    print(f"n = {n}, C = {C:g}: λ = 1/(nC) = {rate:g}, and back C = {back:g}")
    machine = SVC(C=C, gamma=1.0, fit_intercept=False)
    runs = {
        "pegasos, to a gap of 1 %": solvers.Pegasos(tol=1e-2),
        "pegasos, 300 epochs": solvers.Pegasos(tol=1e-6, max_iter=300),
        "smo": solvers.WorkingSetSmo(tol=1e-6),
        "coordinate ascent": solvers.CoordinateAscent(tol=1e-6),
    }
    entries = {name: (solver, machine.problem(X, y)) for name, solver in runs.items()}
    figure, axes = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
    for solver, problem in entries.values():  # once before, for Numba to compile
        solvers.drive(solver, problem)
    for ax, work in zip(axes, ("n_kernel", "seconds"), strict=True):
        display = ConvergenceDisplay.from_solvers(entries, x=work, growth=1.2, ax=ax)
    print(f"{'':28}{'stopped because':64}{'relative gap':>12}{'correct':>9}")
    for name, outcome in display.outcomes_.items():
        problem = entries[name][1]
        values = outcome.model.gradient - problem.p
        correct = ((values > 0.0) == (y == 1)).mean()
        gap = objective(problem, outcome.model).relative_gap
        print(f"{name:28}{outcome.stop.value:64}{gap:12.1e}{correct:9.1%}")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "pegasos_against_smo.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    from _figures import asked_folder

    main(asked_folder(__doc__))
