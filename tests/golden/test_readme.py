"""The README's examples, run as they are printed, one after the other."""

import doctest
import re
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
README = HOME / "README.md"


def test_the_examples_print_what_they_say(tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)  # one of them writes a film
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {}, "README", str(README), 0
    )
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.attempted >= 16
    plt.close("all")
    assert result.failed == 0


def test_what_it_links_is_there():
    text = README.read_text("utf-8")
    images = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert len(images) >= 2
    for image in images:
        assert (HOME / image).stat().st_size > 10_000, image


def test_every_block_of_real_figures_is_filled():
    text = README.read_text("utf-8")
    blocks = re.findall(r"<!-- (\w+): begin -->\n(.*?)<!-- \1: end -->", text, re.DOTALL)
    assert {name for name, _ in blocks} >= {
        "quality",
        "calibration",
        "latency",
        "solvers",
    }
    assert all(len(body.splitlines()) > 4 for _, body in blocks)
