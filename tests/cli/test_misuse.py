"""What people do by mistake: nothing is lost, and one line says what to do."""

import os
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from tests.cli.commands import runner
from tests.cli.test_commands import fruit, rows

from maxmargin.cli.program import program
from maxmargin.data_files import read_table


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.csv").write_text(fruit())
    (tmp_path / "rows").write_text(rows())
    return runner(capsys)


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        ("train rows -o rows", "rows"),
        ("train rows -o link", "rows"),
        ("predict m.maxmargin rows -o rows", "rows"),
        ("predict m.maxmargin rows -o m.maxmargin", "m.maxmargin"),
        ("scale rows -o rows", "rows"),
        ("scale rows -o x --save rows", "rows"),
        ("scale rows -o s.maxmargin --restore s.maxmargin", "s.maxmargin"),
        ("convert fruit.csv fruit.csv", "fruit.csv"),
        ("convert m.maxmargin ./m.maxmargin", "m.maxmargin"),
    ],
)
def test_what_is_read_is_not_overwritten(run, tmp_path, argv, kept):
    run("train", "rows", "-o", "m.maxmargin")
    run("scale", "rows", "-o", "x", "--save", "s.maxmargin")
    (tmp_path / "link").symlink_to("rows")
    before = (tmp_path / kept).read_bytes()
    done = run(*argv.split())
    assert done.code == 2
    assert "the result would replace" in done.line
    assert (tmp_path / kept).read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are POSIX's")
def test_places_that_cannot_be_written_to_or_read_from(run, tmp_path):
    (tmp_path / "dangling").symlink_to("no/such/folder/file")
    os.mkfifo(tmp_path / "pipe")
    for output, reason in [
        ("dangling", "there is no folder"),
        ("pipe", "this is no file that can be written to"),
        ("", "the name of the file to write is empty"),
        ("-", "a model goes to a file"),
    ]:
        done = run("train", "rows", "-o", output)
        assert done.code == 2
        assert reason in done.line
    for argv in (["predict", "pipe", "rows"], ["inspect", "pipe"], ["inspect", ""]):
        done = run(*argv)
        assert done.code == 5
        assert "this is no file of a model" in done.line


def test_a_dash_is_standard_output(run, tmp_path):
    run("train", "rows")
    assert len(run("predict", "rows.maxmargin", "rows", "-o", "-").out.split()) == 40
    assert run("scale", "rows", "-o", "-").out.count("\n") == 40
    assert run("convert", "rows", "-").code == 2
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--sigma", "1e-200"], "its square is no float64"),
        (["--n-features", "99999999999999999999"], "--n-features"),
        (["--class-weight", "1=-2"], "a weight is a number from 0 on"),
        (["--class-weight", "1=nan"], "a weight is a number from 0 on"),
    ],
)
def test_numbers_that_no_option_can_have(run, options, reason):
    done = run("train", "rows", *options)
    assert (done.code, done.out) == (2, "")
    assert reason in done.line


def test_missing_values_at_prediction_are_blamed_on_the_data(run):
    np.savez("gap.npz", X=np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 0.0]]))
    run("train", "rows")
    done = run("predict", "rows.maxmargin", "gap.npz")
    assert (done.code, done.line) == (
        3,
        "gap.npz: row 2: no value in column 2; fill it in",
    )


def test_no_advice_that_predict_cannot_follow(run, tmp_path):
    run("train", "fruit.csv")
    (tmp_path / "new.csv").write_text("weight,colour\n150,red\n,blue\n")
    line = run("predict", "fruit.maxmargin", "new.csv").line
    expected = "new.csv:3: no value in column 'weight'; fill it in, as training had no"
    assert line.startswith(expected)


def test_a_class_of_several_lines_would_break_predictions(run, tmp_path):
    (tmp_path / "two.csv").write_text('a,y\n1,p\n2,"q\nr"\n')
    done = run("train", "two.csv")
    assert done.code == 3
    assert done.line.startswith("two.csv:3: the class 'q\\nr' has several lines")


def test_a_model_that_fails_is_a_bad_model(run, monkeypatch):
    from sklearn.preprocessing import StandardScaler

    run("train", "fruit.csv")

    def fails(*args, **options):
        raise TypeError("ufunc")

    monkeypatch.setattr(StandardScaler, "transform", fails)
    done = run("predict", "fruit.maxmargin", "fruit.csv")
    assert done.code == 5
    assert "fruit.maxmargin: the model fails on these rows, TypeError" in done.line


def test_probabilities_of_a_regression_have_no_advice_that_fails(run):
    run("train", "rows", "--task", "regress")
    done = run("predict", "rows.maxmargin", "rows", "--proba")
    assert done.line.endswith("--proba: this SVR has no probabilities")


def test_standard_input_that_is_closed(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    done = run("train", "-", "-o", "m.maxmargin")
    assert (done.code, done.line) == (
        2,
        "maxmargin: standard input is closed; name a file",
    )


def test_the_program_alone_shows_its_help():
    alone = CliRunner().invoke(program, [])
    assert alone.output == CliRunner().invoke(program, ["--help"]).output
    assert alone.exit_code == 0


def test_scaling_is_restored_for_rows_without_a_target(run, tmp_path):
    """The last column is a feature there, and is found by its name."""
    run("scale", "fruit.csv", "-o", "a.csv", "--save", "s.maxmargin")
    (tmp_path / "new.csv").write_text("weight,colour\n150,red\n110,blue\n")
    done = run("scale", "new.csv", "-o", "b.csv", "--restore", "s.maxmargin")
    assert done.code == 0
    table = read_table("b.csv", guess="none")
    assert list(table.columns) == ["weight", "colour=blue", "colour=green", "colour=red"]


@pytest.mark.parametrize(
    "call",
    [("scale", "-o", "out"), ("train", "--scale", "maxabs", "-o", "m.maxmargin")],
    ids=lambda call: call[0],
)
def test_one_huge_index_is_not_scaled(call, run, tmp_path):
    (tmp_path / "wide").write_text("1 1:1\n-1 1:2\n1 200000000:1\n-1 1:3\n")
    command, *options = call
    done = run(command, "wide", *options)
    assert done.code == 3
    assert "wide: 200,000,000 columns are more than" in done.err
    assert run("train", "wide", "-o", "m.maxmargin").code == 0  # unused ones cost nothing
    assert run("check", "wide").code == 0
