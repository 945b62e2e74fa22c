"""docs/cli.md, a tour of the command line, every output of it real.

``python -m benchmarks.cli_page`` runs the commands in a folder of its own, and writes it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.data import find

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cli.md"

# Text as it is; a line that begins with "$ " is run, and its output follows it.
TOUR = """\
# The command line

`maxmargin` learns from a file of data with one command. Every output on this page is
real; `python -m benchmarks.cli_page` writes it anew.

| command | what it does |
|---|---|
| `train DATA [-o MODEL]` | learn a model, with its encoder and scaler inside |
| `predict MODEL DATA [-o OUT]` | one prediction a line, from raw rows |
| `cv DATA` | cross-validate: every fold, mean ± standard deviation |
| `scale DATA -o OUT` | bring features to a common scale |
| `check DATA` | problems by file and line, and what the data are like |
| `inspect MODEL` | machine, certificate, support vectors, origin |
| `convert IN OUT` | data or models in another format |
| `svm-train`, `svm-predict`, `svm-scale` | LIBSVM's programs, flags, files and lines |

## From LIBSVM, by changing a name

$ svm-train -c 4 heart_scale
$ svm-predict heart_scale heart_scale.model predictions
$ svm-scale -l 0 -u 1 heart_scale | head -1

## A table, from raw file to predictions

`abalone.csv` has a header, one column of words, and the age of the shells as `rings`.

$ check abalone.csv
$ train abalone.csv --task regress --cv 3
$ predict abalone.maxmargin new.csv
$ inspect abalone.maxmargin

`new.csv` has its columns in another order, and no target; columns are found by name.
Words became columns of zeros and ones, and all features were scaled: both are part of
the model. For scripts, every command prints one object with `--json`:

$ cv abalone.csv --task regress --folds 3 --json --quiet | cut -c 1-150

## LIBSVM text

$ train heart_scale -C 4 --gamma 0.05 --probability
$ predict heart_scale.maxmargin heart_scale --proba | head -3

A model can be written as LIBSVM's text, and LIBSVM's models are read:

$ convert heart_scale.maxmargin heart.model
$ predict heart.model heart_scale -o labels.txt
$ inspect heart.model

## When something is wrong

Standard error gets one line, and the exit code says what kind of trouble it is.

$ train broken.csv ; echo "exit code $?"
$ check broken.csv ; echo "exit code $?"
$ predict abalone.maxmargin heart_scale ; echo "exit code $?"
$ train heart_scale -C 1000 --max-iter 10 --strict --quiet ; echo "exit code $?"

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | internal error (a bug: `MAXMARGIN_TRACEBACK=1` shows where) |
| 2 | wrong usage |
| 3 | bad data: `file:line: reason` |
| 4 | not converged, with `--strict`; the model is written all the same |
| 5 | model and data do not fit, or the model file is bad |
| 130 | interrupted: Ctrl-C during `train` writes the model reached so far |

## Data

| extension | format |
|---|---|
| `.csv`, `.tsv`, `.tab` | a header, then one record a row; UTF-8; fields may be quoted |
| `.npz` | `X` and `y`; or a CSR matrix as `scipy.sparse.save_npz` writes it, and `y` |
| `.parquet`, `.arrow`, `.feather` | with the extra `arrow` |
| any other | LIBSVM text, `label index:value …`, indices from 1, ascending |

Text may be compressed (`.gz`, `.bz2`, `.xz`); `-` is standard input; `--format` decides
where the name does not. The target is the column `--target`, else one that is called
target, label, class or y, else the last. Empty cells, `NA`, `NaN`, `null` and `?` are
missing values: they are refused by line and column, or filled in with `--impute`. Words
become a column of zeros and ones for each category; a category that training did not have
belongs to none of them (`predict --strict` refuses it).

`--task` decides between classes and quantities; without it, text and up to 50 whole
numbers are classes. C, epsilon and tol of a regression are by default in standard
deviations of the target. `--scale auto` standardises dense tables, and leaves LIBSVM text
and sparse rows alone. Notes on stderr say what was decided; `--quiet` silences them. A
progress bar appears on terminals after two seconds; `--progress plain` writes lines
instead. `NO_COLOR` is respected.

## Plugins

`maxmargin --plugin MODULE train …` imports MODULE before the command reads its options;
`--plugin` may be repeated. Whatever the module registers, such as a machine with
`maxmargin.estimators.MACHINES.register`, can then be chosen by its name, and `--help`
lists it. The module must be installed, or its folder must be in `PYTHONPATH`.

## All options of `train`

$ train --help
"""

BROKEN = "height,colour,class\n1.5,red,a\n,blue,b\n1.7,red\n1.6,?,a\n"


def prepared(folder: Path) -> None:
    """The files that the tour uses."""
    shutil.copy(find("libsvm/heart_scale"), folder / "heart_scale")
    abalone = find("regression/abalone.data").read_text()
    (folder / "abalone.csv").write_text(abalone)
    rows = [line.split(",")[:-1] for line in abalone.splitlines()[:4]]
    new = "\n".join(",".join(reversed(row)) for row in rows) + "\n"
    (folder / "new.csv").write_text(new)
    (folder / "broken.csv").write_text(BROKEN)


def output_of(line: str, folder: Path) -> str:
    """What a command writes, to both streams."""
    shell = f'maxmargin() {{ "{sys.executable}" -m maxmargin "$@"; }}\n'
    shell += f"maxmargin {line}"
    env = os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "90"}
    done = subprocess.run(
        ["bash", "-c", shell],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if "Traceback" in done.stdout:
        raise RuntimeError(done.stdout)
    return done.stdout.rstrip()


def page() -> str:
    """The tour, with its outputs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepared(folder)
        output_of("train heart_scale -o warm.maxmargin --quiet", folder)  # compiles once
        output_of("train abalone.csv -o warm.maxmargin -q --task regress", folder)
        lines, block = [], []
        for line in [*TOUR.splitlines(), ""]:
            if line.startswith("$ "):
                block.append(f"$ maxmargin {line[2:]}")
                if told := output_of(line[2:], folder):
                    block.append(told)
                continue
            if block:
                lines += ["```console", *block, "```"]
                block = []
            lines.append(line)
    text = "\n".join(line.rstrip() for line in "\n".join(lines).splitlines())
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
