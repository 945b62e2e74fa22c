"""The commands against what LIBSVM's own programs printed, on real data.

``tests/golden/libsvm/outputs.json`` holds what Debian's libsvm-tools said; where they are
installed, their files are compared too. Both stop within a tolerance, so that figures
agree to it and not to the last digit; everything else is to the letter.
"""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.golden.libsvm import record

from maxmargin.cli.libsvm import predict as libsvm_predict
from maxmargin.cli.libsvm import scale as libsvm_scale
from maxmargin.cli.libsvm import train as libsvm_train

OUTPUTS = json.loads(record.RECORD.read_text())
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?|-?\d+")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """The sets, unpacked, in a folder."""
    folder = tmp_path_factory.mktemp("sets")
    for name in ("heart_scale", "svmguide1", "a1a"):
        record.plain(name, folder)
    return folder


@pytest.fixture
def there(sets, tmp_path, monkeypatch):
    """A folder of its own that has the sets."""
    for one in sets.iterdir():
        (tmp_path / one.name).symlink_to(one)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(program, options, capsys):
    code = program.main(options)
    told = capsys.readouterr()
    assert code == 0, told.err
    return told.out


def scaled(capsys):
    text = run(libsvm_scale, ["svmguide1"], capsys)
    Path("svmguide1.scaled").write_text(text)


def words(text):
    """A text without its numbers, and the numbers of every line."""
    lines = [line for line in text.split("\n") if set(line) - set("*.")]
    return [NUMBER.sub("#", line) for line in lines], [
        [float(one) for one in NUMBER.findall(line)] for line in lines
    ]


@pytest.mark.parametrize("case", record.TRAININGS)
@pytest.mark.filterwarnings("ignore::maxmargin.IndefiniteKernelWarning")
def test_training_and_predicting(case, there, capsys):
    options = case.split()
    if "scaled" in case:
        scaled(capsys)
    text = run(libsvm_train, [*options, "m"], capsys)
    shape, figures = words(text)
    expected, theirs = words(OUTPUTS[case]["train"])
    assert shape == expected
    for line, ours, other in zip(shape, figures, theirs, strict=True):
        if "#iter" in line:
            assert ours[0] > 0
        elif "obj" in line:
            assert ours[0] == pytest.approx(other[0], rel=2e-4), line
            assert ours[1] == pytest.approx(other[1], rel=5e-3, abs=2e-3), line
        elif "nSV" in line:
            assert ours == pytest.approx(other, rel=0.02, abs=2), line
        else:  # nu, C, epsilon
            assert ours == pytest.approx(other, rel=2e-3), line
    told = run(libsvm_predict, [options[-1], "m", "out"], capsys)
    shape, figures = words(told)
    expected, theirs = words(OUTPUTS[case]["predict"])
    assert shape == expected
    for ours, other in zip(figures, theirs, strict=True):
        if "(classification)" in told:
            assert abs(ours[1] - other[1]) <= 2  # rows on a boundary
            assert ours[2] == other[2]
        else:
            assert ours == pytest.approx(other, rel=0.01)
    if shutil.which("svm-predict"):
        done = subprocess.run(
            ["svm-predict", options[-1], "m", "theirs"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == told
        ours, other = Path("out").read_text(), Path("theirs").read_text()
        if "regression" in told:
            pairs = zip(ours.split(), other.split(), strict=True)
            assert all(
                float(a) == pytest.approx(float(b), rel=1e-9, abs=1e-9) for a, b in pairs
            )
        else:
            assert ours == other


def test_heart_scale_to_the_digit(there, capsys):
    text = run(libsvm_train, ["heart_scale"], capsys)
    value, rho = re.search(r"obj = (\S+), rho = (\S+)\n", text).groups()
    assert round(float(value), 3) == -100.877
    assert round(float(rho), 4) == 0.4245
    assert "nSV = 132, nBSV = 107\nTotal nSV = 132\n" in text
    assert (
        Path("heart_scale.model")
        .read_text()
        .startswith(
            "svm_type c_svc\nkernel_type rbf\ngamma 0.07692307692307693\nnr_class 2\n"
            "total_sv 132\nrho 0.424"
        )
    )
    told = run(libsvm_predict, ["heart_scale", "heart_scale.model", "out"], capsys)
    assert told == "Accuracy = 86.6667% (234/270) (classification)\n"
    assert Path("out").read_text().startswith("1\n-1\n-1\n1\n")


@pytest.mark.parametrize("case", record.FOLDS)
def test_cross_validation_has_their_folds(case, there, capsys):
    if "scaled" in case:
        scaled(capsys)
    text = run(libsvm_train, case.split(), capsys)
    shape, figures = words(text)
    expected, theirs = words(OUTPUTS[case]["train"])
    assert shape == expected
    for ours, other in zip(figures, theirs, strict=True):
        assert ours == pytest.approx(other, rel=2e-3)  # a row or two on a boundary
    assert not [one for one in there.iterdir() if one.name.endswith(".model")]


@pytest.mark.parametrize("case", record.SCALINGS)
def test_scaling_is_the_same_to_the_byte(case, there, capsys):
    def digest(text):
        return hashlib.sha256(text.encode()).hexdigest()

    options = case.split()
    expected = OUTPUTS["scale " + case]
    text = run(libsvm_scale, ["-s", "ranges", *options], capsys)
    assert text.split("\n", 1)[0] == expected["beginning"]
    assert digest(text) == expected["output"]
    assert digest(Path("ranges").read_text()) == expected["ranges"]
    again = run(libsvm_scale, ["-r", "ranges", options[-1]], capsys)
    assert digest(again) == expected["restored"]


@pytest.mark.skipif(shutil.which("svm-train") is None, reason="needs libsvm-tools")
@pytest.mark.parametrize(
    "options", ["", "-s 1", "-s 2", "-s 3", "-s 4", "-t 0", "-b 1", "-b 1 -s 3"]
)
def test_their_models_on_our_command(options, there, capsys):
    given = [*options.split(), "heart_scale", "m"]
    subprocess.run(["svm-train", "-q", *given], check=True)
    likely = ["-b", "1"] if "-b" in options else []
    theirs = subprocess.run(
        ["svm-predict", *likely, "heart_scale", "m", "theirs"],
        capture_output=True,
        text=True,
        check=True,
    )
    told = run(libsvm_predict, [*likely, "heart_scale", "m", "ours"], capsys)
    assert told == theirs.stdout
    ours, other = Path("ours").read_text(), Path("theirs").read_text()
    if "-s 3" in options or "-s 4" in options:
        for a, b in zip(ours.split(), other.split(), strict=True):
            assert float(a) == pytest.approx(float(b), rel=1e-9)
    else:
        assert ours == other
