"""Pictures of README.md and docs/solvers.md, and the table beside one: ``make figures``.

Runs every example into ``figures/``; what a page shows goes to ``docs/images``.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import shutil
import sys

import matplotlib as mpl

from benchmarks import page

SHOWN = ("all_solvers.png", "boundary.png", "smo_by_hand.gif")


def main() -> None:
    mpl.use("Agg")
    sys.path.insert(0, str(page.HOME / "examples"))  # as for a script that is run
    folder = page.HOME / "figures"
    for path in sorted((page.HOME / "examples").glob("*.py")):
        if path.stem in ("demo", "_figures"):
            continue
        print(f"--- {path.stem}")
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            runpy.run_path(str(path))["main"](folder)
        print(told.getvalue())
        if path.stem == "all_solvers":
            table = f"```\n{told.getvalue().strip()}\n```"
            page.write("solvers", table, page.DOCS / "solvers.md")
    with contextlib.chdir(folder):  # the README's example saves its picture here
        lines = [one.source for one in page.examples(page.README)]
        exec("".join(lines), {})
    for name in SHOWN:
        shutil.copy(folder / name, page.IMAGES / name)


if __name__ == "__main__":
    main()
