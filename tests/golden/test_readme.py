"""The examples of README.md and docs, run as they are printed, one after the other."""

import doctest

import pytest
from benchmarks import page

# How many examples a page has at least: a page that lost its Python blocks must fail.
LEAST = {
    page.README: 10,
    page.DOCS / "guide.md": 25,
    page.DOCS / "solvers.md": 15,
}


@pytest.mark.parametrize("where", LEAST, ids=lambda where: where.name)
def test_the_examples_print_what_they_say(where, tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)  # some of them write pictures, films and models
    test = doctest.DocTest(page.examples(where), {}, where.name, str(where), 0, None)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.attempted >= LEAST[where]
    plt.close("all")
    assert result.failed == 0
    if where == page.README:  # which shows the picture that its example draws
        assert (tmp_path / "boundary.png").stat().st_size > 10_000


def test_solvers_are_compared_on_their_page():
    table = page.between("solvers", page.DOCS / "solvers.md")
    assert len(table.splitlines()) > 10
    assert "The exact solvers' duals differ by" in table
