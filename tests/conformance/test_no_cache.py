"""An installation that nobody may write to, for a user who has no home.

Numba looks for a cache directory in NUMBA_CACHE_DIR, then in the ``__pycache__`` beside
each source file, then in the user's cache directory. Here all three are closed for real,
and in a way that closes them for root too: where a directory is wanted there is a file.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import maxmargin

pytestmark = pytest.mark.skipif(
    sys.platform == "win32",
    reason="Windows keeps the user's cache where no variable says",
)

PROGRAM = """
import sys
import warnings

import numpy as np

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import maxmargin
    from maxmargin import SVC

    X = np.array([[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    clf = SVC(kernel="linear").fit(X, [0, 0, 1, 1])
    clf.fit(X, [1, 1, 0, 0])

assert maxmargin.__file__.startswith(sys.argv[1]), maxmargin.__file__
assert clf.predict(X).tolist() == [1, 1, 0, 0]
assert clf.certificate_.ok
for one in caught:
    print(one.category.__name__, "|", one.message)
"""


@pytest.fixture
def installation(tmp_path):
    """A copy of the package without a place for a cache."""
    copy = tmp_path / "site" / "maxmargin"
    source = Path(maxmargin.__file__).parent
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("in the way")
    (tmp_path / "home").write_text("in the way")
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def run(installation, **more):
    nowhere = str(installation / "home" / "below a file")
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("NUMBA_", "COVERAGE", "COV_"))
    }
    environment |= {
        "HOME": nowhere,
        "XDG_CACHE_HOME": nowhere,
        "IPYTHONDIR": nowhere,
        "PYTHONPATH": str(installation / "site"),
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }
    ended = subprocess.run(
        [sys.executable, str(installation / "program.py"), str(installation / "site")],
        env=environment,
        cwd=installation,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(False, id="unset"),
        pytest.param(True, id="NUMBA_CACHE_DIR", marks=pytest.mark.slow),
    ],
)
def test_compiles_without_a_cache_and_says_so_once(installation, given):
    nowhere = {"NUMBA_CACHE_DIR": str(installation / "home" / "cache")} if given else {}
    before = sorted(installation.rglob("*"))
    told = run(installation, **nowhere)
    assert len(told) == 1, told
    assert told[0].startswith("RuntimeWarning | no writable directory")
    assert "set NUMBA_CACHE_DIR to a writable directory" in told[0]
    assert sorted(installation.rglob("*")) == before  # nothing was written


@pytest.mark.slow
def test_advice_of_the_warning_helps(installation):
    cache = installation / "cache"
    assert run(installation, NUMBA_CACHE_DIR=str(cache)) == []
    assert any(cache.rglob("*.nbi"))
