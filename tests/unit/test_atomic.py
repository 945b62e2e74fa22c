"""A file is there as a whole or not at all, whatever happens while it is written."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import maxmargin
from maxmargin._atomic import atomic_file
from maxmargin.errors import InputError
from maxmargin.persist import load, save


def write(path, content=b"new", **more):
    with atomic_file(path, **more) as file:
        file.write(content)


def test_a_file_is_written(tmp_path):
    write(tmp_path / "m", b"one")
    assert (tmp_path / "m").read_bytes() == b"one"
    write(str(tmp_path / "m"), b"two")
    assert (tmp_path / "m").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there_and_nothing_else(error, tmp_path):
    write(tmp_path / "m", b"old")

    def fails():
        with atomic_file(tmp_path / "m") as file:
            file.write(b"half")
            assert len(list(tmp_path.iterdir())) == 2
            raise error

    with pytest.raises(error):
        fails()
    assert (tmp_path / "m").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_nobody_sees_it_before_it_is_whole(tmp_path):
    with atomic_file(tmp_path / "m") as file:
        file.write(b"x")
        assert not (tmp_path / "m").exists()
    assert (tmp_path / "m").exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions(tmp_path):
    usual = tmp_path / "usual"
    usual.write_bytes(b"")
    write(tmp_path / "m")
    assert (tmp_path / "m").stat().st_mode == usual.stat().st_mode
    (tmp_path / "m").chmod(0o640)
    write(tmp_path / "m")
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="links need no privilege there")
def test_links_stay_links(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "m")
    write(tmp_path / "link", b"one")
    write(tmp_path / "link", b"two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "m").read_bytes() == b"two"


def test_what_is_no_file_is_not_replaced(tmp_path):
    with pytest.raises(InputError, match="no ordinary file"):
        write(tmp_path)
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="no ordinary file"):
            write(tmp_path / "pipe")


def test_overwrite(tmp_path):
    write(tmp_path / "m", b"one", overwrite=False)
    with pytest.raises(InputError, match="the file exists"):
        write(tmp_path / "m", b"two", overwrite=False)
    with pytest.raises(InputError, match="the file exists"):
        save(maxmargin.SVC(), tmp_path / "m", overwrite=False)

    def overtaken():
        with atomic_file(tmp_path / "n", overwrite=False) as file:
            file.write(b"mine")
            (tmp_path / "n").write_bytes(b"theirs")

    with pytest.raises(InputError, match="the file exists"):
        overtaken()
    assert (tmp_path / "n").read_bytes() == b"theirs"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_name_as_long_as_names_can_be(tmp_path):
    name = "m" * 250
    write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_full_disk_is_named(tmp_path):
    def fails():
        with atomic_file(tmp_path / "m"):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space") as caught:
        fails()
    assert caught.value.filename == str(tmp_path / "m")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "absent" / "m")


# Importing takes seconds, so a process that has done so forks those that are killed.
WRITERS = """
import itertools, os, sys
import numpy as np
from maxmargin.persist import load, save

path = sys.argv[1]
load(path)
print("ready", flush=True)
for _ in sys.stdin:
    pid = os.fork()
    if not pid:
        machine = load(path)
        for count in itertools.count(int(machine.intercept_[0]) + 1):
            machine.intercept_ = np.full(1, float(count))
            machine.support_vectors_ = np.full((20_000, 4), float(count))
            save(machine, path)
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("ended", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork, no SIGKILL")
def test_killed_at_any_moment_there_is_the_old_file_or_the_new_one(tmp_path):
    """A hundred times, at moments spread over several saves of 640 kB."""
    path = tmp_path / "model.maxmargin"
    machine = maxmargin.SVC(kernel="linear").fit([[-1.0] * 4, [1.0] * 4], [0, 1])
    machine.intercept_, machine.support_vectors_ = np.zeros(1), np.zeros((20_000, 4))
    save(machine, path)
    source = Path(maxmargin.__file__).resolve().parents[1]
    rng = np.random.default_rng(0)
    drafts, seen = 0, set()
    with subprocess.Popen(
        [sys.executable, "-c", WRITERS, str(path)],
        env=os.environ | {"PYTHONPATH": str(source)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as nursery:
        assert nursery.stdout.readline() == "ready\n"
        for _ in range(100):
            nursery.stdin.write("another\n")
            pid = int(nursery.stdout.readline())
            time.sleep(rng.uniform(0.01, 0.1))
            os.kill(pid, signal.SIGKILL)
            assert nursery.stdout.readline() == "ended\n"
            found = load(path)
            assert (found.support_vectors_ == found.intercept_[0]).all()
            seen.add(found.intercept_[0])
            unfinished = list(tmp_path.glob(".model.maxmargin.*.tmp"))
            drafts += len(unfinished)
            for draft in unfinished:
                draft.unlink()
            assert [one.name for one in tmp_path.iterdir()] == ["model.maxmargin"]
        nursery.stdin.close()
    assert drafts > 10  # it was killed while writing, too
    assert len(seen) > 3
