"""Tables of real runs in README.md and other pages, between markers."""

from __future__ import annotations

from pathlib import Path

README = Path(__file__).parent.parent / "README.md"

__all__ = ["README", "replace_between"]


def replace_between(marks: tuple[str, str], text: str, page: Path = README) -> None:
    """Put the text between two markers of a page, by default the README."""
    whole = page.read_text(encoding="utf-8")
    head, rest = whole.split(marks[0])
    tail = rest.split(marks[1])[1]
    page.write_text(f"{head}{marks[0]}\n{text}\n{marks[1]}{tail}", encoding="utf-8")
