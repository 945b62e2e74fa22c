"""Where Numba keeps compiled code: ``.cache/numba/<digest of the sources>``.

Numba recompiles a function when its own file changes, not when the file of a function
that it calls does. A directory named after all sources cannot be stale. Run as a
script, it prints the directory (for the Makefile).
"""

import hashlib
import os
import shutil
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEEP_SECONDS = 2 * 3600  # a longer run than CI's is not under way


def digest(sources: Path) -> str:
    """Digest of the names and contents of all Python files under ``sources``."""
    total = hashlib.sha256()
    for path in sorted(sources.rglob("*.py")):
        content = path.read_bytes()
        total.update(f"{path.relative_to(sources).as_posix()} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()[:16]


def cache_dir(root: Path = ROOT) -> Path:
    """Directory for the sources as they are, created; unused older ones are removed.

    A directory's time is that of its last use, because a process that still runs on
    slightly older sources must not lose its cache underneath it.
    """
    home = root / ".cache" / "numba"
    current = home / digest(root / "src")
    current.mkdir(parents=True, exist_ok=True)
    os.utime(current)
    for other in home.iterdir():
        if other != current and time.time() - other.stat().st_mtime > KEEP_SECONDS:
            shutil.rmtree(other, ignore_errors=True)
    return current


if __name__ == "__main__":
    print(cache_dir())
