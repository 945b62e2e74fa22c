"""scikit-learn's own tests of its support vector machines, run with ours in their place.

Each file runs in a process of its own, under ``sklearn_suite_plugin``. Everything about
our classes passes but for the table in ``expected_differences``.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
import sklearn
from sklearn.utils.fixes import parse_version
from tests.conformance.expected_differences import SUITE
from tests.conformance.sklearn_suite_plugin import OURS, THEIRS

ROOT = Path(__file__).parents[2]
SITE = Path(sklearn.__file__).parents[1]
FILES = {"test_svm": 100, "test_sparse": 150}  # and how many of their tests are about us


class Result(NamedTuple):
    about: set[str]  # names of classes
    outcome: str  # "passed", "skipped", or the failure

    @property
    def ours(self):
        return bool(self.about & set(OURS))


def environment():
    """Ours, without what makes pytest or scikit-learn's tests behave otherwise."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "SKLEARN_", "PYTHONWARNINGS"))
    }
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    # nothing is written next to scikit-learn's files
    return kept | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def run(name, directory):
    """The results of one of scikit-learn's files, by "file::function[parameters]"."""
    config, report = directory / "pytest.ini", directory / "report.xml"
    config.write_text("")  # neither our options nor our filters of warnings
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short"]
    command += ["-p", "no:cacheprovider", "-p", "tests.conformance.sklearn_suite_plugin"]
    command += ["-c", config, "--rootdir", SITE, "--junitxml", report]
    command += [SITE / "sklearn" / "svm" / "tests" / f"{name}.py"]
    ended = subprocess.run(
        command,
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    found = {}
    for case in ET.parse(report).iter("testcase"):
        about = case.find("./properties/property[@name='about']").get("value")
        bad = [part.text for tag in ("failure", "error") for part in case.iter(tag)]
        skipped = case.find("skipped") is not None
        outcome = "\n".join(bad) if bad else "skipped" if skipped else "passed"
        found[f"{name}::{case.get('name')}"] = Result(set(about.split()), outcome)
    return found


def key_of(test):
    """The entry of the table that speaks of a test, if any."""
    return next((key for key in (test, test.split("[")[0]) if key in SUITE), None)


def complaint(test, result):
    """What is wrong with the result of one test; None if nothing is."""
    if not result.about:
        return "is about no class we know of: say in the plugin whose it is"
    if not result.ours:
        assert result.about <= set(THEIRS)
        return None if result.outcome == "passed" else "was harmed by the swap"
    if key_of(test) is None:
        return None if result.outcome == "passed" else result.outcome
    if result.outcome in ("passed", "skipped"):
        return f"is in the table of differences, but {result.outcome}: take it out"
    return None


@pytest.mark.slow
@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason=f"the table is for scikit-learn 1.9, and this is {sklearn.__version__}",
)
@pytest.mark.parametrize("name", sorted(FILES))
def test_suite(name, tmp_path):
    found = run(name, tmp_path)
    complaints = [
        f"{test}: {text}"
        for test, result in found.items()
        if (text := complaint(test, result)) is not None
    ]
    used = {key_of(test) for test, result in found.items() if result.ours}
    complaints += [
        f"{key}: is in the table of differences, but there is no such test about us"
        for key in SUITE
        if key.startswith(f"{name}::") and key not in used
    ]
    assert not complaints, "\n\n".join(complaints)
    assert sum(result.ours for result in found.values()) >= FILES[name]


def test_every_difference_has_a_reason():
    for key, reason in SUITE.items():
        assert re.fullmatch(r"(test_\w+)::test_\w+(\[[\w.-]+\])?", key)
        assert key.split("::")[0] in FILES
        assert len(reason.split()) > 5
