"""The tutorial's exercises, run as a reader runs them."""

import importlib.util
from pathlib import Path

import pytest
from tests import data

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tutorial.py"
PICTURES = {
    "tutorial-random.png",
    "tutorial-linear.png",
    "tutorial-linear-iterations.png",
    "tutorial-gaussian.png",
    "tutorial-gaussian-iterations.png",
    "tutorial-kernels.png",
    "tutorial-choice.png",
}


@pytest.fixture(scope="module")
def tutorial():
    spec = importlib.util.spec_from_file_location("example_tutorial", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(text, name):
    """Numbers of a line of the printed table."""
    (line,) = [line for line in text.splitlines() if line.strip().startswith(name)]
    return [float(cell) for cell in line.strip().removeprefix(name).split()]


def check(tutorial, folder, capsys):
    tutorial.main(folder)
    text = capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == PICTURES
    for path in folder.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 10_000
    n = 51
    soft, steep = row(text, "linear, C = 1 "), row(text, "linear, C = 100 ")
    assert soft[0] == pytest.approx((n - 1) / n, abs=1e-3)  # without the outlier
    assert steep[0] == 1.0
    assert steep[2] < 0.5 * soft[2]  # the margin it costs
    assert text.count("warned: ") == 1
    return text


def test_the_exercises_run_on_made_data(tutorial, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    text = check(tutorial, tmp_path / "new" / "folder", capsys)
    assert text.count("made in place") == 3


def test_the_exercises_run_on_the_course_data(tutorial, tmp_path, capsys, monkeypatch):
    for number in (1, 2, 3):
        data.teaching(number)  # skips where they are absent
    monkeypatch.setenv("MAXMARGIN_DATA", str(data.folder()))
    text = check(tutorial, tmp_path, capsys)
    assert text.count("ex6data") == 3
    assert "C = 1, σ = 0.1, error 0.035" in text
