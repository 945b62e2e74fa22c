"""How every command ends, whoever it is: one place decides."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests.cli.commands import environment

from maxmargin.cli.failures import Failure, shielded
from maxmargin.cli.output import checked_output
from maxmargin.errors import (
    DataFileError,
    InputError,
    MisfitError,
    ModelFileError,
    NumericalError,
)

ENDS = {
    "data": (DataFileError("d", 3, "bad"), 3, "d:3: bad"),
    "model": (ModelFileError("m", 0, "bad"), 5, "NAME: m: bad"),
    "misfit": (MisfitError("4 for 3"), 5, "NAME: 4 for 3"),
    "input": (InputError("no\nway"), 2, "NAME: no way"),
    "number": (NumericalError("overflow"), 3, "overflow"),
    "file": (FileNotFoundError(2, "Not there", "f"), 2, "NAME: f: Not there"),
    "disk": (OSError(28, "Full"), 1, "NAME: cannot write to standard output: Full"),
    "memory": (MemoryError(), 1, "NAME: there is not enough memory for this"),
    "ours": (Failure(4, "no"), 4, "NAME: no"),
    "key": (KeyboardInterrupt(), 130, "NAME: interrupted"),
    "unknown": (
        RuntimeError("x"),
        1,
        "NAME: internal error, RuntimeError: x (MAXMARGIN_TRACEBACK=1 shows where)",
    ),
}


@pytest.mark.parametrize("name", ["maxmargin", "svm-train"])
@pytest.mark.parametrize(("error", "code", "line"), ENDS.values(), ids=ENDS.keys())
def test_ends(error, code, line, name, capsys):
    with shielded(name) as ended:
        raise error
    assert ended.code == code
    assert capsys.readouterr().err == line.replace("NAME", name) + "\n"


def test_warnings_are_lines_told_once(capsys):
    with shielded("svm-predict") as ended:
        for _ in range(2):
            warnings.warn("slow\ndown", UserWarning, stacklevel=1)
            warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
    assert ended.code == 0
    assert capsys.readouterr().err == "svm-predict: warning: slow down\n"


def test_a_broken_installation_has_one_line():
    code = (
        "import sys; sys.modules['sklearn'] = None; "
        "from maxmargin.cli import main; sys.exit(main(['svm-train', 'rows']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("svm-train: internal error, ")
    assert done.stderr.count("\n") == 1


FULL = "No space left on device"
CLOSED = "Bad file descriptor"
STREAMS = {
    # how the process is called: exit code, and what stderr says
    "svm-train rows m > /dev/full": (
        1,
        f"svm-train: cannot write to standard output: {FULL}",
    ),
    "svm-train rows m >&-": (1, f"svm-train: cannot write to standard output: {CLOSED}"),
    "svm-train -q rows m >&-": (0, ""),
    "svm-scale rows > /dev/full": (
        1,
        f"svm-scale: cannot write to standard output: {FULL}",
    ),
    "check rows > /dev/full": (1, f"maxmargin: cannot write to standard output: {FULL}"),
    "check rows >&-": (1, f"maxmargin: cannot write to standard output: {CLOSED}"),
    "--help > /dev/full": (1, f"maxmargin: cannot write to standard output: {FULL}"),
    "check nowhere 2>&-": (3, ""),
    "check nowhere 2> /dev/full": (3, ""),
    "svm-train nowhere >&- 2>&-": (3, ""),
}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a shell and Linux's devices")
@pytest.mark.parametrize(("call", "code", "said"), [(k, *v) for k, v in STREAMS.items()])
def test_streams_that_take_nothing(call, code, said, tmp_path):
    (tmp_path / "rows").write_text("1 1:1\n-1 1:2\n1 1:3\n-1 1:4\n")
    done = subprocess.run(
        f"{sys.executable} -m maxmargin {call}",
        shell=True,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (code, said)


def test_results_do_not_replace_what_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(name).touch()
    checked_output(None, "a")
    checked_output("new", "a", None, "-", "nowhere")
    checked_output("b", "a")
    checked_output(os.devnull, os.devnull)
    for path, inputs, said in (
        ("a", ["b", "./a"], "a: the result would replace ./a, which is read"),
        (".", [], "this is a folder"),
        ("no/such", [], "there is no folder no"),
    ):
        with pytest.raises(Failure, match=said) as caught:
            checked_output(path, *inputs)
        assert caught.value.code == 2
