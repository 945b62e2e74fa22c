"""``import maxmargin`` costs next to nothing, and names what there is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import maxmargin

SRC = Path(__file__).resolve().parents[2] / "src"


def run(code):
    """Standard output of ``code`` in a new interpreter."""
    env = os.environ | {"PYTHONPATH": str(SRC)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_is_light():
    heavy = "{'numba', 'llvmlite', 'sklearn', 'scipy', 'numpy', 'joblib'}"
    out = run(f"import sys, maxmargin; print(sorted({heavy} & sys.modules.keys()))")
    assert out.strip() == "[]"


def test_public_names_are_listed_before_they_are_loaded():
    out = run("import maxmargin; print(set(maxmargin.__all__) <= set(dir(maxmargin)))")
    assert out.strip() == "True"


def test_all_is_what_can_be_loaded():
    assert set(maxmargin.__all__) == set(maxmargin._HOME)


@pytest.mark.parametrize("name", maxmargin.__all__)
def test_public_names_load(name):
    value = getattr(maxmargin, name)
    assert value.__name__ == name
    assert value.__doc__


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'maxmargin' has no attribute 'SVD'"):
        maxmargin.SVD  # noqa: B018


def test_submodules_are_there_without_an_import_of_their_own():
    code = (
        "import maxmargin; maxmargin.kernels.RBF(sigma=1.0); maxmargin.observers.History"
    )
    run(code)
