"""The table of moved modules in docs/decisions/README.md, from git's history.

    python -m benchmarks.moved

Decisions cite the paths of their day and are never rewritten. Renames are followed commit
by commit since the last one with the old tree, so that edits after a move hide none.
"""

from __future__ import annotations

import subprocess

from benchmarks import page
from benchmarks.speed.table import grid

SINCE = "bb1494f"  # the last commit with the old tree
PACKAGE = "src/maxmargin/"
PAGE = page.DOCS / "decisions" / "README.md"
GONE = "–"


def _git(*words: str) -> list[str]:
    done = subprocess.run(
        ["git", *words, "--", PACKAGE],
        cwd=page.HOME,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if line]


def history() -> list[list[str]]:
    """Renames and deletions since then, oldest first: status, path, new path if any."""
    told = ("--format=", "--name-status", "-M30%", "--diff-filter=RD")
    lines = _git("log", "--reverse", "--topo-order", *told, f"{SINCE}..HEAD")
    return [line.split("\t") for line in lines]


def before() -> set[str]:
    """The modules of the old tree."""
    return set(_git("ls-tree", "-r", "--name-only", SINCE))


def moves(changes: list[list[str]], known: set[str]) -> dict[str, str]:
    """Where every known module is now; :data:`GONE` where its file is no more."""
    origin: dict[str, str] = {}  # of a path of today, its old one
    gone: set[str] = set()
    for _, path, *target in changes:
        old = origin.pop(path, path)
        if target:
            origin[target[0]] = old
        else:
            gone.add(old)
    found = {old: path for path, old in origin.items() if old != path}
    found |= dict.fromkeys(gone - found.keys(), GONE)
    return {
        old.removeprefix(PACKAGE): path.removeprefix(PACKAGE)
        for old, path in found.items()
        if old in known
    }


def table(found: dict[str, str]) -> str:
    """Old and new paths below ``src/maxmargin``, as Markdown."""
    body = [
        [f"`{old}`", new if new == GONE else f"`{new}`"]
        for old, new in sorted(found.items())
    ]
    return grid(["old path", "new path"], body)


if __name__ == "__main__":
    page.write("moved", table(moves(history(), before())), PAGE)
