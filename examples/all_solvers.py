"""Every solver on one problem: how much work for which gap?

The exact ones meet in one optimum, to 1e-6 and better; Pegasos, which has no intercept
and therefore a problem of its own, comes within 1 %. One table, one figure.

    python examples/all_solvers.py [folder for the figure]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import SVC, solvers
from maxmargin.plots import ConvergenceDisplay
from maxmargin.problem import objective, violation
from maxmargin.solvers import drive

TOL = 1e-6


def main(folder: Path) -> None:
    X, y = make_moons(300, noise=0.2, random_state=0)
    machine = SVC(C=10.0, kernel="rbf", gamma=2.0)

    def problem(**changes):
        return machine.set_params(fit_intercept=True, **changes).problem(X, y)

    exact = {
        "qp": solvers.QuadraticProgram(tol=TOL),
        "chunking": solvers.Chunking(chunk=50, tol=TOL),
        "decomposition": solvers.Decomposition(q=20, tol=TOL),
        "smo-simple": solvers.SimpleSmo(tol=TOL),
        "smo-platt": solvers.PlattSmo(tol=TOL),
        "smo": solvers.WorkingSetSmo(tol=TOL),
    }
    pegasos = solvers.Pegasos(tol=1e-2)
    entries = {name: (solver, problem()) for name, solver in exact.items()}
    alone = machine.set_params(fit_intercept=False).problem(X, y)
    entries["pegasos (no intercept)"] = (pegasos, alone)
    for solver, one in entries.values():  # once before, for Numba to compile
        drive(solver, one)

    figure, axes = plt.subplots(1, 2, figsize=(13.0, 4.8), layout="constrained")
    for ax, work in zip(axes, ("seconds", "n_kernel"), strict=True):
        display = ConvergenceDisplay.from_solvers(entries, x=work, growth=1.2, ax=ax)
    print(f"{len(y)} points of two moons, C = 10, RBF with γ = 2; tol = {TOL:g}\n")
    print(
        f"{'solver':24}{'iterations':>12}{'of':>13}{'kernel values':>15}{'seconds':>9}"
        f"{'dual':>17}{'relative gap':>14}{'violation':>11}"
    )
    duals = {}
    for name, outcome in display.outcomes_.items():
        solver, one = entries[name]
        both = objective(one, outcome.model)
        worst = violation(one, outcome.model.beta, outcome.model.gradient)
        work = display.runs[name].x[-1] / len(y) ** 2
        print(
            f"{name:24}{outcome.n_iter:12,}{UNITS.get(name, 'pairs'):>13}"
            f"{work:12.2f} n²{outcome.seconds:9.3f}{both.dual:17.9f}"
            f"{both.relative_gap:14.1e}{worst:11.1e}"
        )
        if name in exact:
            duals[name] = both.dual
    spread = (max(duals.values()) - min(duals.values())) / max(duals.values())
    print(f"\nThe exact solvers' duals differ by {spread:.1e} of their value.")
    assert spread <= 1e-6

    axes[0].get_legend().remove()
    figure.suptitle(f"Every solver on {len(y)} points of two moons, RBF, C = 10")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "all_solvers.png", dpi=100)
    plt.close(figure)
    print(f"Figure: {folder / 'all_solvers.png'}")


UNITS = {
    "qp": "Newton steps",
    "smo-simple": "sweeps",
    "pegasos (no intercept)": "epochs",
}

if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures"))
