"""Every solver on one problem: how much work for which gap?

The exact ones meet in one optimum, to 1e-6 and better; Pegasos, which has no intercept
and therefore a problem of its own, comes within 1 %. One table, one figure.

    python examples/all_solvers.py [folder for the figure]
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import SVC, solvers
from maxmargin.plots import ConvergenceDisplay
from maxmargin.problem import objective, violation

TOL = 1e-6
EXACT = {
    "qp": solvers.QuadraticProgram(tol=TOL),
    "chunking": solvers.Chunking(chunk=50, tol=TOL),
    "decomposition": solvers.Decomposition(q=20, tol=TOL),
    "smo-simple": solvers.SimpleSmo(tol=TOL),
    "smo-platt": solvers.PlattSmo(tol=TOL),
    "smo": solvers.WorkingSetSmo(tol=TOL),
}
PEGASOS = "pegasos (no intercept)"
COUNTED = {"qp": "Newton steps", "smo-simple": "sweeps", PEGASOS: "epochs"}


def runs(X, y):
    """Every solver with a problem, and a counter of kernel values, of its own."""
    machine = SVC(C=10.0, kernel="rbf", gamma=2.0)
    pairs = {name: (solver, machine.problem(X, y)) for name, solver in EXACT.items()}
    machine.set_params(fit_intercept=False)
    pairs[PEGASOS] = (solvers.Pegasos(tol=1e-2), machine.problem(X, y))
    return pairs


def print_table(pairs, display, n):
    """What every run cost and reached; returns the duals of the exact ones."""
    print(f"{'solver':24}{'iterations':>23}{'kernel values':>15}{'seconds':>9}"
          f"{'dual':>15}{'relative gap':>14}{'violation':>11}")  # fmt: skip
    duals = []
    for name, outcome in display.outcomes_.items():
        problem, model = pairs[name][1], outcome.model
        both = objective(problem, model)
        worst = violation(problem, model.beta, model.gradient)
        count = f"{outcome.n_iter:,} {COUNTED.get(name, 'pairs')}"
        work = display.runs[name].x[-1] / n**2
        print(f"{name:24}{count:>23}{work:12.2f} n²{outcome.seconds:9.3f}"
              f"{both.dual:15.7f}{both.relative_gap:14.1e}{worst:11.1e}")  # fmt: skip
        if name in EXACT:
            duals.append(both.dual)
    return duals


def main(folder: Path) -> None:
    X, y = make_moons(300, noise=0.2, random_state=0)
    pairs = runs(X, y)
    for solver, problem in pairs.values():  # once before, for Numba to compile
        solvers.drive(solver, problem)
    figure, axes = plt.subplots(1, 2, figsize=(13.0, 4.8), layout="constrained")
    for ax, work in zip(axes, ("seconds", "n_kernel"), strict=True):
        display = ConvergenceDisplay.from_solvers(pairs, x=work, growth=1.2, ax=ax)
    axes[0].get_legend().remove()
    figure.suptitle(f"Every solver on {len(y)} points of two moons, RBF, C = 10")

    print(f"{len(y)} points of two moons, C = 10, RBF with γ = 2; tol = {TOL:g}\n")
    duals = print_table(pairs, display, len(y))
    spread = (max(duals) - min(duals)) / max(duals)
    print(f"\nThe exact solvers' duals differ by {spread:.1e} of their value.")
    assert spread <= 1e-6

    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "all_solvers.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    from _figures import asked_folder

    main(asked_folder(__doc__))
