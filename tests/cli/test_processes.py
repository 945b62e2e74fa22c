"""Commands as processes: start-up, pipes, terminals, Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.cli.commands import environment, run_process, start
from tests.cli.test_commands import fruit, rows

from maxmargin.persist import load

HEAVY = {"numpy", "scipy", "sklearn", "numba", "pandas", "pyarrow", "rich", "joblib"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "fruit.csv").write_text(fruit())
    (tmp_path / "rows").write_text(rows())
    return tmp_path


@pytest.mark.parametrize(
    "argv", [["--help"], ["--version"], ["train", "--help"], ["nope"]]
)
def test_help_imports_nothing_heavy(argv):
    code = (
        "import sys; from maxmargin.cli import main; "
        f"main({argv!r}); print(sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_standard_input_and_output(folder):
    text = (folder / "rows").read_bytes()
    done = run_process("train", "-", "-o", "m.maxmargin", stdin=text, cwd=folder)
    assert done.code == 0
    assert "<stdin>: 40 rows" in done.err
    done = run_process("predict", "m.maxmargin", "-", stdin=text, cwd=folder)
    assert len(done.out.split()) == 40
    table = (folder / "fruit.csv").read_bytes()
    done = run_process("check", "-", "--format", "csv", "--json", stdin=table)
    assert done.json["rows"] == 60
    done = run_process(
        "train", "-", "-o", "m.maxmargin", stdin=b"1 2:1 1:1\n", cwd=folder
    )
    assert done.code == 3
    assert done.line.startswith("<stdin>:1: ")


@pytest.mark.slow
def test_nobody_has_to_read_everything(folder):
    np.savez(folder / "many.npz", X=np.zeros((200_000, 3)))
    assert run_process("train", "rows", "-q", cwd=folder).code == 0
    with start("predict", "rows.maxmargin", "many.npz", cwd=folder) as process:
        assert process.stdout.readline().strip() in (b"-1", b"1")
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait() == 0
    assert error == b""


def test_no_colour_where_nobody_sees_it(folder):
    done = run_process("train", "fruit.csv", cwd=folder)
    assert "\x1b" not in done.out + done.err


pty_only = pytest.mark.skipif(os.name != "posix", reason="terminals are POSIX's here")


def on_terminal(*argv, cwd, **variables):
    """What a command writes to a terminal, both streams."""
    import pty

    main, other = pty.openpty()
    command = [sys.executable, "-m", "maxmargin", *argv]
    env = environment() | {"TERM": "xterm-256color", "COLUMNS": "100"} | variables
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=other, stdout=other, stderr=other
    )
    os.close(other)
    parts = []
    while True:
        try:
            part = os.read(main, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(main)
    assert process.wait() == 0
    return b"".join(parts).decode()


@pty_only
@pytest.mark.slow
def test_colour_on_a_terminal_unless_unwanted(folder):
    assert "\x1b[1m" in on_terminal("train", "rows", cwd=folder)
    assert "\x1b" not in on_terminal("train", "rows", cwd=folder, NO_COLOR="1")


# What takes a while ---------------------------------------------------------------------


@pytest.fixture
def hard(tmp_path):
    """Random labels, which take the solver many seconds to learn by heart."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12_000, 30)).astype(np.float32)
    np.savez(tmp_path / "hard.npz", X=X, y=random.integers(2, size=12_000))
    return tmp_path


SLOWLY = ("hard.npz", "-C", "1e6", "--tol", "1e-9", "--scale", "none", "--gamma", "0.01")


@pytest.mark.slow
def test_progress_is_told_in_lines_if_asked(hard):
    done = run_process(
        "train", *SLOWLY, "--time-limit", "5", "--progress", "plain", cwd=hard
    )
    lines = [line for line in done.err.splitlines() if line.startswith("train:")]
    assert 1 <= len(lines) <= 4
    assert " %, violation " in lines[0]
    done = run_process("train", *SLOWLY, "--time-limit", "3", cwd=hard)
    assert "train:" not in done.err


@pty_only
@pytest.mark.slow
def test_no_progress_even_on_a_terminal_if_asked(hard):
    options = ("--time-limit", "4", "--progress", "none")
    shown = on_terminal("train", *SLOWLY, *options, cwd=hard, NO_COLOR="1")
    assert "0:00:0" not in shown  # the bar's clock
    assert "\r\x1b" not in shown
    assert "model       hard.maxmargin" in shown


@pty_only
@pytest.mark.slow
def test_a_bar_on_a_terminal(hard):
    shown = on_terminal("train", *SLOWLY, "--time-limit", "5", cwd=hard)
    bars = re.findall(r"train.*?[━╸╺].*?(\d+)%.*?0:00:0\d", shown)
    assert bars, shown
    assert all(0 <= int(one) < 100 for one in bars)
    assert "violation " in shown


def _interrupted(process, sign):
    """Press Ctrl-C when a line of progress shows that the solver is at work."""
    told = ""
    while sign not in told:
        line = process.stderr.readline().decode()
        assert line, told
        told += line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), told + err.decode()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT for one process")
@pytest.mark.slow
def test_ctrl_c_saves_what_there_is(hard):
    with start("train", *SLOWLY, "--json", "--progress", "plain", cwd=hard) as process:
        code, out, err = _interrupted(process, "train: ")
    assert code == 130
    assert "interrupted; what there is was saved in hard.maxmargin" in err
    assert "Traceback" not in err
    told = json.loads(out)
    assert told["converged"] is False
    assert "Ctrl-C" in told["certificate"]["stop"]
    model = load(hard / "hard.maxmargin")
    assert model.predict(np.zeros((1, 30))).size == 1


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT for one process")
@pytest.mark.slow
def test_ctrl_c_in_cross_validation(hard):
    options = ("--time-limit", "3", "-k", "20", "--progress", "plain")
    with start("cv", *SLOWLY, *options, cwd=hard) as process:
        code, out, err = _interrupted(process, "fold 2 of 20: ")
    assert code == 130
    assert "interrupted after 1 of 20 folds" in err
    assert "fold 1 " in out
    assert "mean " in out


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT for one process")
def test_ctrl_c_while_data_are_read():
    with start("train", "-", "-o", "x.maxmargin", stdin=subprocess.PIPE) as process:
        # More than a pipe holds: when it is written, somebody is reading.
        process.stdin.write(b"1 1:1\n" * 100_000)
        process.stdin.flush()
        time.sleep(0.5)  # until the rest of it is read, and reading waits
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=60)
        error = process.stderr.read().decode()
    assert code == 130
    assert error == "maxmargin: interrupted\n"
