"""README, CONTRIBUTING and docs: short, linked to what exists, true to the tree."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from benchmarks import moved, page
from tests.unit.test_architecture import HEIGHT

SRC = page.HOME / "src" / "maxmargin"
PAGES = [
    page.README,
    page.HOME / "CONTRIBUTING.md",
    *sorted(page.DOCS.glob("*.md")),
    *sorted(page.RESULTS.glob("*.md")),
    *sorted((page.DOCS / "decisions").glob("*.md")),
]
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text):
    """The names of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+)$", FENCED.sub("", text), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {one.strip().replace(" ", "-") for one in plain}


def leads(where, link):
    """Whether a link of a page leads to a file, and to a heading if it names one."""
    path, _, anchor = link.partition("#")
    target = where.parent / path if path else where
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target.read_text(encoding="utf-8"))


def broken(where):
    """Every relative link of a page that leads nowhere."""
    links = LINK.findall(FENCED.sub("", where.read_text(encoding="utf-8")))
    relative = [link for link in links if not re.match(r"[a-z]+:", link)]
    return [link for link in relative if not leads(where, link)]


@pytest.mark.parametrize("where", PAGES, ids=lambda where: where.name)
def test_links_lead_somewhere(where):
    assert broken(where) == []


def test_a_broken_link_is_seen(tmp_path):
    where = tmp_path / "one.md"
    where.write_text("# One two\n[a](two.md) [b](#one-two) [c](#three) [d](http://x.y)\n")
    assert broken(where) == ["two.md", "#three"]


@pytest.mark.parametrize(("name", "most"), [("README.md", 160), ("CONTRIBUTING.md", 100)])
def test_front_pages_are_short(name, most):
    lines = (page.HOME / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= most
    if name == "CONTRIBUTING.md":
        assert max(map(len, lines)) <= 200


def test_readme_names_the_two_commands():
    text = page.README.read_text(encoding="utf-8")
    for command in ("make demo", "make test"):
        assert re.search(rf"^{command}\b", text, re.MULTILINE)


def test_the_architecture_page_has_every_package_in_order():
    text = (page.DOCS / "architecture.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 220
    section = text.partition("## Packages")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    named = [re.findall(r"`(\w+)`", row) for row in rows]
    there = {path.stem for path in SRC.iterdir() if not path.name.startswith("__init__")}
    assert {name for row in named for name in row} == there - {"__pycache__", "py"}
    heights = [[HEIGHT[name] for name in row] for row in named]
    for lower, upper in pairwise(heights):
        assert max(lower) <= min(upper)


def test_the_picture_of_the_house_is_readable_anywhere():
    root = ET.parse(page.IMAGES / "architecture.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{name}title") is not None
    assert root.find(f"{name}desc") is not None
    ground = root.find(f"{name}rect")  # on dark pages too
    width, height = (float(root.get(side)) for side in ("width", "height"))
    assert float(ground.get("width")) >= width - 2
    assert float(ground.get("height")) >= height - 2


def test_moved_modules_are_where_the_table_says():
    rows = page.between("moved", moved.PAGE).splitlines()[2:]
    assert len(rows) > 150
    for row in rows:
        old, new = re.fullmatch(r"\| `(.+)` \| (?:`(.+)`|–) \|", row).groups()
        assert old != new
        assert new is None or (SRC / new).exists(), new


def test_moves_are_followed_commit_by_commit():
    base = moved.PACKAGE
    changes = [
        ["R100", f"{base}a.py", f"{base}b.py"],
        ["R090", f"{base}b.py", f"{base}c.py"],
        ["R090", f"{base}new.py", f"{base}newer.py"],
        ["D", f"{base}d.py"],
    ]
    found = moved.moves(changes, {f"{base}a.py", f"{base}d.py"})
    assert found == {"a.py": "c.py", "d.py": moved.GONE}
    assert "| `a.py` | `c.py` |" in moved.table(found)
    assert "| `d.py` | – |" in moved.table(found)
