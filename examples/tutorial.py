"""The seed tutorial on support vector machines, exercises 3.1 to 3.3, run and drawn.

    python examples/tutorial.py [folder for the figures]

The data are ex6data1 to ex6data3 where ``$MAXMARGIN_DATA`` has them (in ``teaching``);
elsewhere they are of the same kind, made in place.
"""

import time
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # figures go to files; no window is needed
import matplotlib.pyplot as plt

from maxmargin import IndefiniteKernelWarning, tutorial
from maxmargin.kernels import RBF, Polynomial, Sigmoid

GREEN = "#009E73"
HEAD = f"{'':42}{'accuracy':>9}{'SVs':>5}{'margin':>8}{'sweeps':>8}"


def main(folder: Path) -> None:
    """Every exercise in turn; pictures into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    one, two, three = (tutorial.load_example(number) for number in (1, 2, 3))
    for number, example in enumerate((one, two, three), start=1):
        print(f"example {number}: {len(example.y)} points, {example.source}")

    print("\n3.1 Linear classification")
    random_models(one, folder / "tutorial-random.png")
    outlier(one, folder / "tutorial-linear.png")
    film(
        "linear, C = 100",
        tutorial.iterations(one.X, one.y, 100.0, max_iter=100),
        one,
        tutorial.visualize_boundary_linear,
        folder / "tutorial-linear-iterations.png",
    )

    print("\n3.2 Gaussian kernel")
    gaussian(two, folder / "tutorial-gaussian.png")
    film(
        "Gaussian, σ = 0.1, C = 1",
        tutorial.iterations(two.X, two.y, 1.0, RBF(sigma=0.1), max_iter=100),
        two,
        tutorial.visualize_boundary,
        folder / "tutorial-gaussian-iterations.png",
    )

    print("\n3.3 Supplementary kernels")
    supplementary(three, folder / "tutorial-kernels.png")
    choice(three, folder / "tutorial-choice.png")
    print(
        f"\n{time.perf_counter() - began:.1f} s; the pictures are in {folder.resolve()}"
    )


def random_models(example, path):
    """Exercise 3.1.2: predictions of models that nothing was learnt for."""
    figure, axes = plt.subplots(1, 4, figsize=(14, 4), layout="constrained")
    print(f"{'random feasible α and b':42}{'accuracy':>9}")
    for seed, ax in enumerate(axes):
        model = tutorial.random_model(example.X, example.y, seed=seed)
        right = accuracy(model, example.X, example.y)
        print(f"  {f'seed {seed}':40}{right:9.3f}")
        tutorial.visualize_boundary_linear(example.X, example.y, model, ax, key=False)
        ax.set_title(f"seed {seed}: accuracy {right:.2f}")
    finish(figure, path, "Random initialisations", key=axes[0])


def outlier(example, path):
    """The outlier's pull: at C = 1 it is given up, at C = 100 it decides."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    print(HEAD)
    for C, ax in zip((1.0, 100.0), axes, strict=True):
        model = trained(example, f"linear, C = {C:g}", C=C)
        tutorial.visualize_boundary_linear(example.X, example.y, model, ax, key=False)
        lost = tutorial.svm_predict(model, example.X[-1:])[0] != example.y[-1]
        ax.set_title(
            f"C = {C:g}: margin {model.margin:.2f}, the outlier is "
            f"{'given up' if lost else 'on its side'}"
        )
    finish(figure, path, "The outlier's pull", key=axes[0])


def gaussian(example, path):
    """A boundary that no line could be."""
    print(HEAD)
    model = trained(example, "Gaussian, σ = 0.1, C = 1", C=1.0, kernel=RBF(sigma=0.1))
    ax = tutorial.visualize_boundary(example.X, example.y, model)
    ax.set_title("Gaussian kernel, σ = 0.1, C = 1")
    finish(ax.figure, path)


def film(name, models, example, draw, path):
    """The boundary at each iteration: eight of the models on the way."""
    models = list(models)
    few = len(example.y) <= 100  # the rings of hundreds would hide the points
    last = len(models) - 1
    # Most happens in the beginning: iterations 1, 2, … and the last, each about
    # twice as far as the one before.
    shown = sorted({round(last ** (k / 7)) - 1 for k in range(7)} | {last})
    figure, axes = plt.subplots(2, 4, figsize=(14, 7), layout="constrained")
    for ax in axes.flat[len(shown) :]:
        ax.remove()
    for ax, k in zip(axes.flat, shown, strict=False):
        draw(example.X, example.y, models[k], ax, rings=few, key=False)
        i, j = models[k].step.points
        pair = example.X[[i, j]]
        ax.plot(*pair.T, "D:", c=GREEN, ms=13, mew=2, lw=2, fillstyle="none", zorder=6)
        ax.set_title(f"iteration {k + 1}: pair ({i}, {j})")
    sweeps = models[-1].n_iter
    print(
        f"  {len(models)} iterations in {sweeps} sweeps; the first and the last of them:"
    )
    for k in (0, last):
        print(f"    {models[k].step}")
    finish(figure, path, f"{name}: the boundary at each iteration, and its pair")


def supplementary(example, path):
    """Polynomial and tanh; the latter warns that it is no dot product of features."""
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.4), layout="constrained")
    kernels = {
        "polynomial (x·z + 1)³": Polynomial(degree=3),
        "polynomial (x·z + 1)⁸": Polynomial(degree=8),
        "tanh(2·x·z − 0.5)": Sigmoid(a=2.0, r=-0.5),
    }
    print(HEAD)
    for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", IndefiniteKernelWarning)
            model = trained(example, f"{name}, C = 10", C=10.0, kernel=kernel)
        for warning in told:
            print(f"    warned: {str(warning.message).partition('. ')[0]}")
        tutorial.visualize_boundary(example.X, example.y, model, ax, key=ax is axes[-1])
        right = accuracy(model, example.X, example.y)
        ax.set_title(f"{name}: accuracy {right:.3f}")
    legend_beside(axes[-1], counts=False)
    finish(figure, path, "Supplementary kernels, C = 10")


def choice(example, path):
    """The best (C, σ) on the validation part, drawn with the table it was chosen from."""
    began = time.perf_counter()
    best = tutorial.choose(example.X, example.y, example.X_val, example.y_val)
    seconds = time.perf_counter() - began
    print(
        f"  best of {best.errors.size} (C, σ) on the validation part: C = {best.C:g}, "
        f"σ = {best.sigma:g}, error {best.error:.3f} ({seconds:.1f} s)"
    )
    others = [f"({C:g}, {sigma:g})" for C, sigma in best.ties[1:]]
    if others:
        print(f"  as good, but with a larger C or σ: {', '.join(others)}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 5), layout="constrained")
    tutorial.visualize_choice(best, left)
    tutorial.visualize_boundary(example.X, example.y, best.model, right)
    legend_beside(right)
    right.set_title(f"C = {best.C:g}, σ = {best.sigma:g}, with the points of training")
    finish(figure, path)


def trained(example, name, **parameters):
    """Train, and print a line of the table."""
    model = tutorial.svm_train(example.X, example.y, **parameters)
    print(
        f"  {name:40}{accuracy(model, example.X, example.y):9.3f}{model.support.size:5d}"
        f"{model.margin:8.3f}{model.n_iter:8d}"
    )
    return model


def accuracy(model, X, y):
    """Share of right predictions."""
    return float((tutorial.svm_predict(model, X) == y).mean())


def legend_beside(ax, *, counts=True):
    """Move the legend out of the way of the points, to the right of the axes."""
    legend = ax.get_legend()
    legend.set_loc("upper left")
    legend.set_bbox_to_anchor((1.01, 1.0))
    for text in legend.get_texts() if not counts else []:
        text.set_text(without_count(text.get_text()))


def without_count(label):
    """``support vectors (12)`` holds for one axes, the rest of it for all."""
    return label.partition(" (")[0]


def finish(figure, path, title="", key=None):
    """Write the figure, and close it; ``key`` are axes whose legend is that of all."""
    if title:
        figure.suptitle(title)
    if key is not None:
        handles, labels = key.get_legend_handles_labels()
        names = [without_count(label) for label in labels]
        figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    from _figures import asked_folder

    main(asked_folder(__doc__))
