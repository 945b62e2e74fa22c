"""The pages that benchmarks write: tables of real runs, each between two markers."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

HOME = Path(__file__).parent.parent
README = HOME / "README.md"
DOCS = HOME / "docs"
IMAGES = DOCS / "images"
RESULTS = DOCS / "results"  # pages for people
STORED = HOME / "benchmarks" / "results"  # the figures behind them, as JSON

__all__ = [
    "DOCS",
    "HOME",
    "IMAGES",
    "README",
    "RESULTS",
    "STORED",
    "between",
    "examples",
    "write",
]


def _parts(name: str, page: Path) -> tuple[str, str, str]:
    """What is before, between and after ``<!-- name: begin -->`` and its end."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    whole = page.read_text(encoding="utf-8")
    if whole.count(begin) != 1 or whole.count(end) != 1:
        msg = f"{page}: needs one line {begin.strip()} and one line {end.strip()}"
        raise ValueError(msg)
    head, _, rest = whole.partition(begin)
    text, _, tail = rest.partition(end)
    return head + begin, text, end + tail


def between(name: str, page: Path) -> str:
    """The text between two markers of a page."""
    return _parts(name, page)[1].removesuffix("\n")


def write(name: str, text: str, page: Path) -> None:
    """Replace the text between two markers of a page."""
    head, _, tail = _parts(name, page)
    page.write_text(f"{head}{text}\n{tail}", encoding="utf-8")


def examples(page: Path) -> list[doctest.Example]:
    """The examples of a page's Python blocks, in one order, as doctest reads them."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return doctest.DocTestParser().get_examples("\n".join(blocks), str(page))
