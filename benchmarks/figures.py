"""The README's pictures and the table beside them: ``make figures``.

Runs every example into ``figures/``; what the README shows goes to ``docs/images``.
"""

from __future__ import annotations

import io
import runpy
import shutil
import sys
from contextlib import redirect_stdout

import matplotlib as mpl

from benchmarks.page import README, replace_between

HOME = README.parent
SHOWN = ("all_solvers.png", "smo_by_hand.gif")


def main() -> None:
    mpl.use("Agg")
    sys.path.insert(0, str(HOME / "examples"))  # as for a script that is run
    folder, images = HOME / "figures", HOME / "docs" / "images"
    images.mkdir(parents=True, exist_ok=True)
    for path in sorted((HOME / "examples").glob("*.py")):
        if path.stem in ("demo", "_figures"):
            continue
        print(f"--- {path.stem}")
        told = io.StringIO()
        with redirect_stdout(told):
            runpy.run_path(str(path))["main"](folder)
        print(told.getvalue())
        if path.stem == "all_solvers":
            table = f"```\n{told.getvalue().strip()}\n```"
            replace_between(("<!-- solvers: begin -->", "<!-- solvers: end -->"), table)
    for name in SHOWN:
        shutil.copy(folder / name, images / name)


if __name__ == "__main__":
    main()
