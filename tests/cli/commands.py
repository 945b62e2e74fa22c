"""Running commands: in this process, or in one of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from maxmargin.cli import main

SRC = Path(__file__).resolve().parents[2] / "src"


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one object on standard output."""
        return json.loads(self.out)

    @property
    def line(self):
        """The one line on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


def environment():
    """Of a process that finds the package as this one does."""
    return os.environ | {"PYTHONPATH": str(SRC), "PYTHONIOENCODING": "utf-8"}


def start(*argv, **options):
    """A process of ``maxmargin argv``."""
    command = [sys.executable, "-m", "maxmargin", *map(str, argv)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment(), **(pipes | options))


def run_process(*argv, stdin=b"", **options):
    """``maxmargin argv`` in a process of its own."""
    with start(*argv, stdin=subprocess.PIPE, **options) as process:
        out, err = process.communicate(stdin, timeout=600)
    return Done(process.returncode, out.decode(), err.decode())


def runner(capsys):
    """``run(*argv)`` in this process."""

    def run(*argv):
        code = main([str(one) for one in argv])
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        return Done(code, told.out, told.err)

    return run
