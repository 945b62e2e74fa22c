"""The preconditioner of many columns: the inverse of what it says it is, and worth it."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC
from maxmargin.design.operator import Design
from maxmargin.parallel import Workers
from maxmargin.solvers.linear import NewtonCg
from maxmargin.solvers.linear.newton import preconditioner


def counts(n, d, seed=0):
    """Rows as texts have them: few columns each, no negative number, length 1."""
    rng = np.random.default_rng(seed)
    columns = (rng.random((n, 20)) ** 2 * d).astype(np.int32)
    parts = rng.random(n * 20), columns.ravel(), 20 * np.arange(n + 1)
    X = sp.csr_matrix(parts, (n, d))
    X.sum_duplicates()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags(1.0 / lengths) @ X)
    y = X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n) > 0.0
    return X, y.astype(int)


@pytest.mark.parametrize("scaling", [0.0, 1.5])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_the_mean_row_and_half_the_diagonal_are_inverted(kind, scaling):
    X, _ = counts(60, 12)
    X = X if kind == "sparse" else X.toarray()
    design = Design(X, scaling, Workers(1))
    rng = np.random.default_rng(1)
    some, weight = np.arange(0, 60, 2), rng.random(30) + 0.1
    active = preconditioner.active_rows(design, some, weight, free=False)
    made = preconditioner._diagonal(design, active, 0.0)
    rows = X.toarray() if kind == "sparse" else X
    if scaling:
        rows = np.column_stack([rows, np.full(60, scaling)])
    rows = rows[some]
    mean = weight @ rows / weight.sum()
    centred = (weight[:, None] * (rows - mean) ** 2).sum(axis=0)
    M = np.diag(1.0 + 0.5 * centred) + weight.sum() * np.outer(mean, mean)
    r = rng.standard_normal(design.width)
    np.testing.assert_allclose(M @ made.solve(design, r), r, atol=1e-12)


def test_no_active_rows_leave_the_identity():
    design = Design(counts(10, 5)[0], 1.0, Workers(1))
    nobody = np.zeros(0, np.intp)
    active = preconditioner.active_rows(design, nobody, np.zeros(0), free=False)
    made = preconditioner._diagonal(design, active, 0.0)
    r = np.arange(6.0)
    np.testing.assert_array_equal(made.solve(design, r), r)


def test_it_saves_iterations_where_no_number_is_negative(monkeypatch):
    X, y = counts(30_000, 5_000)
    problem = LinearSVC(loss="squared_hinge").problem(X, y)

    def iterations():
        last = list(NewtonCg(tol=1e-6).steps(problem, 10_000))[-1]
        assert last.measures.relative_gap <= 1e-6
        return last.state.n_iter

    ours = iterations()

    def liblinears(design, active, spent):
        found = design.squares(active.weight, active.some)
        return preconditioner.Preconditioner(diagonal=1.0 + 0.01 * found, spent=spent)

    monkeypatch.setattr(preconditioner, "_diagonal", liblinears)
    assert ours <= 0.7 * iterations()
