"""What LIBSVM's own programs print and write, for tests/cli/test_svm_golden.py.

    python tests/golden/libsvm/record.py        # needs svm-train, svm-predict, svm-scale

It runs Debian's libsvm-tools on heart_scale, svmguide1 and a1a, and keeps only what the
programs printed, and digests of the files they wrote: no data.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RECORD = Path(__file__).with_name("outputs.json")

# Options of svm-train, and the set (.scaled: by svm-scale, to [-1, 1]).
TRAININGS = [
    "heart_scale",
    "-s 1 -n 0.4 heart_scale",
    "-s 2 -n 0.1 heart_scale",
    "-s 3 -p 0.2 heart_scale",
    "-s 4 -n 0.3 heart_scale",
    "-t 0 heart_scale",
    "-t 1 -r 1 -d 2 heart_scale",
    "-t 3 -g 0.01 heart_scale",
    "-c 10 -w1 2 -w-1 0.5 heart_scale",
    "svmguide1.scaled",
    "-c 4 -g 2 svmguide1.scaled",
    "a1a",
    "-t 0 -c 0.5 a1a",
]
FOLDS = [
    "-v 5 heart_scale",
    "-v 3 -s 3 heart_scale",
    "-v 5 -c 4 -g 2 svmguide1.scaled",
    "-v 4 -t 0 -c 0.1 a1a",
]
SCALINGS = ["heart_scale", "-l 0 -u 2 svmguide1", "-y -3 3 svmguide1", "a1a"]


def run(program: str, options: list[str], folder: Path) -> str:
    done = subprocess.run(
        [program, *options], cwd=folder, capture_output=True, check=True, text=True
    )
    return done.stdout


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plain(name: str, folder: Path) -> None:
    """A set, unpacked, where programs that unpack nothing find it."""
    from tests import data

    from maxmargin.data_files.opened import open_bytes

    (folder / name).write_bytes(bytes(open_bytes(data.find(f"libsvm/{name}"))))


def prepare(folder: Path) -> None:
    for name in ("heart_scale", "svmguide1", "a1a"):
        plain(name, folder)
    scaled = run("svm-scale", ["svmguide1"], folder)
    (folder / "svmguide1.scaled").write_text(scaled)


def record(folder: Path) -> dict[str, dict[str, str]]:
    prepare(folder)
    found: dict[str, dict[str, str]] = {}
    for case in TRAININGS:
        options = case.split()
        trained = run("svm-train", [*options, "m"], folder)
        told = run("svm-predict", [options[-1], "m", "out"], folder)
        found[case] = {"train": trained, "predict": told}
    for case in FOLDS:
        found[case] = {"train": run("svm-train", ["-q", *case.split()], folder)}
    for case in SCALINGS:
        options = case.split()
        scaled = run("svm-scale", ["-s", "ranges", *options], folder)
        ranges = (folder / "ranges").read_text()
        again = run("svm-scale", ["-r", "ranges", options[-1]], folder)
        found["scale " + case] = {
            "output": digest(scaled),
            "ranges": digest(ranges),
            "restored": digest(again),
            "beginning": scaled.split("\n", 1)[0],
        }
    return found


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    with tempfile.TemporaryDirectory() as somewhere:
        outputs = record(Path(somewhere))
    RECORD.write_text(json.dumps(outputs, indent=1) + "\n")
