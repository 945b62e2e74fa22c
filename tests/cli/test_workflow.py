"""The workflow by itself, as a report or a studio calls it: no click, no prints."""

import dataclasses
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from tests.cli.commands import environment
from tests.cli.test_commands import fruit, rows

from maxmargin.data_files import TableEncoder
from maxmargin.errors import DataFileError, InputError, MisfitError
from maxmargin.observers import History
from maxmargin.workflow.choices import Choices
from maxmargin.workflow.folds import cross_validate
from maxmargin.workflow.learning import fit, planned, read_for_learning
from maxmargin.workflow.models import load_model, rows_for, save_model


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.csv").write_text(fruit())
    (tmp_path / "rows").write_text(rows())
    return tmp_path


def plan_of(data, notes=None, **choices):
    chosen = Choices(**choices)
    tell = (lambda note: None) if notes is None else notes.append
    return planned(read_for_learning(data, chosen, tell), chosen, tell)


def test_from_a_file_to_a_model(folder, capsys):
    notes = []
    plan = plan_of("fruit.csv", notes, C=4.0)
    assert [note.split(":")[0] for note in notes] == [
        "fruit.csv", "target", "task", "scale",
    ]  # fmt: skip
    fitted = fit(plan)
    assert fitted.converged
    assert not fitted.interrupted
    assert fitted.facts()["machine"]["parameters"]["C"] == 4.0
    save_model(fitted.model, "fruit.maxmargin")
    again = load_model("fruit.maxmargin")
    truth = again.predict(rows_for(again, plan.table)) == plan.y
    assert truth.mean() > 0.8
    assert capsys.readouterr() == ("", "")


def test_the_encoder_is_fitted_once_and_one_plan_serves_every_fold(folder, monkeypatch):
    sizes, whole = [], TableEncoder.fit
    monkeypatch.setattr(
        TableEncoder, "fit", lambda self, X: sizes.append(X.n_rows) or whole(self, X)
    )
    plan = plan_of("fruit.csv")
    first = fit(plan)
    found = cross_validate(plan, 3, seed=0)
    assert sizes == [60, 40, 40, 40]
    assert [fold.n_test for fold in found.folds] == [20, 20, 20]
    second = fit(plan)
    assert (second.machine.dual_coef_ == first.machine.dual_coef_).all()
    assert second.model.steps[0][1] is not first.model.steps[0][1]
    assert not hasattr(plan.machine, "dual_coef_")


def test_an_observer_is_made_for_each_fit_and_no_part_of_the_model(folder):
    made = []

    @contextmanager
    def watch(title, tol, problems):
        history = History()
        yield history
        made.append((title, tol, problems, len(history["gap"])))

    plan = plan_of("rows", tol=0.01)
    assert fit(plan, watch=watch).machine.callbacks is None
    cross_validate(plan, 2, seed=0, watch=watch)
    titles, *_, counts = zip(*made, strict=True)
    assert titles == ("train", "fold 1 of 2", "fold 2 of 2")
    assert made[0][1:3] == (0.01, 1)
    assert min(counts) > 0


def test_mistakes_are_exceptions_of_the_library(folder):
    with pytest.raises(InputError, match="--gamma and --sigma"):
        plan_of("rows", gamma=1.0, sigma=1.0)
    with pytest.raises(InputError, match="the names of machines are 'svc'"):
        plan_of("rows", machine="magic")
    with pytest.raises(DataFileError, match="there is no column 'x'"):
        plan_of("fruit.csv", target="x")
    fitted = fit(plan_of("rows"))
    wide = dataclasses.replace(fitted.plan.table, format="npz", matrix=np.zeros((2, 9)))
    with pytest.raises(MisfitError, match="has 9 features, the model 3"):
        rows_for(fitted.model, wide)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Choices().C = 1.0


def test_the_command_line_is_not_needed(folder):
    code = (
        "import sys; from maxmargin.workflow import folds, models, survey; "
        "print([one for one in sys.modules if one.split('.')[:2] == ['maxmargin', 'cli'] "
        "or one == 'click'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert done.stdout.strip() == "[]"
