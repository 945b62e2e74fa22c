"""Chunking and decomposition: large problems in little memory.

Chunking keeps the kernel values of the support vectors so far and one chunk, O(n_sv²);
decomposition those of q points, O(q²), and pays with more steps. Either way the dual
rises at every step.

    python examples/chunking_and_decomposition.py [folder for the figure]
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVC, solvers
from maxmargin.problem import objective


def main(folder: Path) -> None:
    X, y = make_moons(2000, noise=0.15, random_state=3)
    problem = SVC(C=10.0, gamma=2.0).problem(X, y)
    n = problem.n

    print(f"Chunking, {n} points in chunks of 250; the whole matrix has {8 * n * n:,} B")
    film = list(solvers.Chunking(chunk=250, tol=1e-6).steps(problem))
    for snapshot in film[:4] + film[-1:]:
        print(f"  {snapshot.step}")
    best = objective(problem, film[-1].model).dual

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    peak = [snapshot.step["peak_members"] for snapshot in film]
    support = [np.count_nonzero(snapshot.model.beta) for snapshot in film]
    chunks = np.arange(1, len(film) + 1)
    left.plot(chunks, peak, "-o", label="points whose kernel values are kept, at most")
    left.plot(chunks, support, "--s", label="support vectors")
    left.axhline(n, color="black", linewidth=1, linestyle=":")
    left.annotate("all points", (1, n), (0, -12), textcoords="offset points")
    left.set(xlabel="chunk", ylabel="points", title="Chunking", ylim=(0, 1.05 * n))
    left.legend(fontsize="small", loc="center right")

    print("\nDecomposition: the dual rises at every working set")
    for q, style in ((2, "-"), (10, "--"), (100, "-."), (1000, ":")):
        solver = solvers.Decomposition(q=q, tol=1e-6)
        gains, work, last = [], [], None
        for last in solver.steps(problem):
            gains.append(last.step["gain"])
            work.append(last.n_kernel)
        values = np.cumsum(gains)
        spent = np.array(work) - (2 * work[0] - work[min(1, len(work) - 1)])
        dual = objective(problem, last.model).dual
        print(
            f"  q = {q:4}: {len(gains):6,} working sets, {last.n_iter:7,} pairs, "
            f"least gain {min(gains[:-1], default=0.0):.1e}, "
            f"dual {dual:.9f} ({abs(dual - best) / best:.0e} from chunking's)"
        )
        right.loglog(
            spent, np.maximum(best - values, 1e-12) / best, style, label=f"q = {q}"
        )
    right.set(
        xlabel="kernel values", ylabel="distance of the dual to its optimum",
        title="Decomposition", ylim=(1e-8, 2.0),
    )  # fmt: skip
    right.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "chunking_and_decomposition.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    from _figures import asked_folder

    main(asked_folder(__doc__))
