"""Every example runs, prints what it claims, and leaves its figures."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# Figures that must be there, and pieces of text that must have been printed.
CLAIMS = {
    "all_solvers": (
        ["all_solvers.png"],
        ["qp ", "chunking", "decomposition", "smo-simple", "smo-platt", "duals differ"],
    ),
    "margins_and_c": (["margins_and_c.png"], ["every b in [-0.5, 0.5] is optimal"]),
    "duality": (
        ["duality_1.png", "duality_2.png", "lagrange_S1.png", "lagrange_S4.png",
         "coordinate_ascent.png"],
        ["p* = 1, d* = 1 at α* = 2, gap 0\n", "p* = 1, d* = 0.75 at α* = 1, gap 0.25\n",
         "[-0.5  0.5]", "[0.5 0.5]"],
    ),
    "kernels": (
        ["kernels.png", "kernel_gaussian.png", "kernel_sigmoid.png"],
        ["[1, √2·x1, √2·x2, x1², √2·x1·x2, x2²]", "positive semi-definite",
         "not semi-definite"],
    ),
    "smo_by_hand": (["smo_by_hand.gif"], ["Pair (i, j) = ", "[L, H] = ", "converged>"]),
    "chunking_and_decomposition": (
        ["chunking_and_decomposition.png"],
        ["points looked at", "q = 1000:"],
    ),
    "pegasos_against_smo": (
        ["pegasos_against_smo.png"],
        ["λ = 1/(nC) = 0.001", "converged: the relative duality gap is at most tol"],
    ),
}  # fmt: skip


def test_every_example_is_listed():
    found = {path.stem for path in EXAMPLES.glob("[a-z]*.py")}
    assert found == {"demo", "tutorial", *CLAIMS}  # its own test: end_to_end


@pytest.mark.parametrize("name", CLAIMS)
def test_example(name, tmp_path, capsys, monkeypatch):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.syspath_prepend(EXAMPLES)  # as for a script that is run
    runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](tmp_path)
    printed = capsys.readouterr().out
    figures, texts = CLAIMS[name]
    for text in texts:
        assert text in printed
    for figure in figures:
        assert (tmp_path / figure).stat().st_size > 5_000
    assert list(tmp_path.iterdir())
    assert plt.get_fignums() == []  # an example closes what it has drawn
