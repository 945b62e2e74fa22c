"""What the command line lets people choose from: what the library has, plugins too."""

import pytest
from tests.cli.commands import runner
from tests.cli.test_commands import rows

from maxmargin.cli.commands.train import command as train
from maxmargin.data_files.columns.encoder import IMPUTATIONS
from maxmargin.estimators import MACHINES
from maxmargin.workflow import choices
from maxmargin.workflow.preparing import made_scaler


def listed(name):
    return tuple(next(one for one in train.params if one.name == name).type.choices)


def test_lists_are_those_of_the_library():
    assert listed("machine") == ("auto", *MACHINES.names())
    assert listed("impute") == IMPUTATIONS
    assert {entry.task for entry in MACHINES} == set(choices.TASKS)
    assert [choices.default_machine(task) for task in choices.TASKS] == [
        "svc", "svr", "one-class",
    ]  # fmt: skip
    for name in choices.SCALINGS:
        assert (made_scaler(name) is None) == (name == "none")


def test_every_choice_is_an_option_of_its_name():
    names = {option.name for option in train.params}
    assert set(choices.Choices.__dataclass_fields__) <= names


PLUGIN = """
from maxmargin import SVC
from maxmargin.estimators import MACHINES

class Firm(SVC):
    pass

MACHINES.register(Firm, name="firm", task="classify")
"""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(MACHINES, "_entries", dict(MACHINES._entries))
    (tmp_path / "firm_machine.py").write_text(PLUGIN)
    (tmp_path / "broken_machine.py").write_text("1 / 0")
    (tmp_path / "rows").write_text(rows())
    return runner(capsys)


def test_a_plugin_adds_a_machine(run):
    refused = run("train", "rows", "--machine", "firm")
    assert refused.code == 2
    assert "'firm' is not one of 'auto', 'svc'" in refused.line
    assert "|firm]" in run("--plugin", "firm_machine", "train", "--help").out
    done = run("--plugin", "firm_machine", "cv", "rows", "--machine", "firm", "--json")
    assert (done.code, done.json["machine"]["class"]) == (0, "Firm")
    wrong = run("train", "rows", "--machine", "firm", "--task", "regress")
    assert wrong.line.endswith("firm is for classification")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_machine", "ModuleNotFoundError: No module named 'no_such_machine'"),
        ("broken_machine", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_plugin_that_cannot_be_imported(run, name, reason):
    done = run("--plugin", name, "train", "rows")
    expected = f"maxmargin: --plugin {name}: this module cannot be imported, {reason}"
    assert (done.code, done.line) == (2, expected)


def test_toys_from_outside(run):
    """The files that docs/add-a-machine.md and docs/add-a-solver.md show."""
    machine = ("--plugin", "tests.toys.toy_machine")
    solver = ("--plugin", "tests.toys.toy_solver")
    chosen = ("--machine", "least-deviations", "--kernel", "linear")
    told = run(*machine, "train", "rows", *chosen, "--cv", "3", "--json").json
    assert (told["task"], told["converged"]) == ("regress", True)
    assert told["cv"]["mean"] > 0.3
    done = run(*machine, "predict", "rows.maxmargin", "rows", "-o", "x")
    assert float(done.out.split()[1]) > 0.5  # R²
    assert (
        "LeastDeviations(kernel=linear, C=1, gamma_=1)"
        in run("inspect", "rows.maxmargin").out
    )
    done = run(*machine, *solver, "train", "rows", "--solver", "worst-pair", "--strict")
    assert done.code == 0
    assert "solver=worst-pair" in done.out
    assert "solver=worst-pair" in run("inspect", "rows.maxmargin").out
