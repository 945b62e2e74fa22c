"""Every exit code, each with one line on standard error and never a traceback."""

import numpy as np
import pytest
from tests.cli.commands import runner
from tests.cli.test_commands import fruit, rows

from maxmargin.cli import failures, main
from maxmargin.cli.program import program


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.csv").write_text(fruit())
    (tmp_path / "rows").write_text(rows())
    return runner(capsys)


USAGE = [
    (["nonsense"], "No such command 'nonsense'"),
    (["train"], "Missing argument 'DATA'"),
    (["train", "rows", "--nonsense"], "No such option '--nonsense'"),
    (["train", "rows", "--kernel", "cubic"], "'cubic' is not one of 'linear'"),
    (["train", "rows", "-C", "-1"], "C=-1.0: C is the price of an error"),
    (["train", "rows", "--tol", "0"], "'tol' parameter of SVC must be"),
    (["train", "rows", "--gamma", "wide"], "neither a number nor scale"),
    (["train", "rows", "--sigma", "0"], "must be positive"),
    (["train", "rows", "--sigma", "1", "--gamma", "1"], "one of the two"),
    (["train", "rows", "--sigma", "1", "--kernel", "poly"], "the width of rbf"),
    (["train", "rows", "--nu", "0.5"], "--nu with --machine svc"),
    (["train", "rows", "--solver", "magic"], "'solver' parameter"),
    (
        ["train", "rows", "--machine", "svr", "--task", "classify"],
        "svr is for regression",
    ),
    (
        ["train", "rows", "--machine", "linear-svc", "--kernel", "rbf"],
        "no such parameter",
    ),
    (["train", "rows", "--class-weight", "5=1"], "the classes are -1, 1"),
    (["train", "rows", "--class-weight", "five"], "is not LABEL=WEIGHT"),
    (["train", "rows", "-o", "no/such/folder.maxmargin"], "there is no folder"),
    (["train", "rows", "-o", "."], "this is a folder"),
    (["train", "rows", "-o", "x.maxmargin", "--libsvm"], "name it .model"),
    (["train", "-"], "say with -o"),
    (["train", "rows", "--target", "x"], "columns of LIBSVM text have no names"),
    (["train", "rows", "--format", "xls"], "'xls' is not one of"),
    (["cv", "rows", "--folds", "1"], "x>=2"),
    (["cv", "rows", "--task", "outliers"], "needs a target"),
    (["predict", "rows"], "Missing argument 'DATA'"),
    (["predict", "m.maxmargin", "rows", "--proba", "--decision"], "one of the two"),
    (["convert", "rows", "m.maxmargin"], "nor data a model"),
    (["check", "rows", "--limit", "0"], "x>=1"),
]


@pytest.mark.parametrize(("argv", "reason"), USAGE, ids=[" ".join(a) for a, _ in USAGE])
def test_2_wrong_usage(run, argv, reason):
    done = run(*argv)
    assert (done.code, done.out) == (2, "")
    assert reason in done.line


BAD = [
    ("empty", "", "empty: "),
    ("blank", "\n\n", "blank: "),
    ("label", "1 1:1\nx 1:1\n", "label:2: "),
    ("order", "1 2:1 1:1\n", "order:1: "),
    ("twice", "1 1:1\n1 1:1 1:1\n", "twice:2: "),
    ("nan", "1 1:1\n-1 1:nan\n", "nan:2: "),
    ("inf", "1 1:1\n-1 1:1\n1 1:inf\n", "inf:3: "),
    ("pair", "1 1:1\n-1 1\n", "pair:2: "),
    ("single", "1 1:1\n1 1:2\n", "single: all rows have the class 1"),
    ("far", "1 1:1\n-1 9223372036854775807:1\n", "far:2: index '9223372036854775807'"),
    ("ragged.csv", "a,y\n1,2\n1\n", "ragged.csv:3: 1 field"),
    ("gap.csv", "a,y\n1,0\n,1\n", "gap.csv:3: no value in column 'a'"),
    ("target.csv", "a,y\n1,0\n2,\n", "target.csv:3: the target 'y' is missing"),
    ("header.csv", "a,y\n", "header.csv:1: "),
    ("inf.csv", "a,y\n1,0\n-inf,1\n", "inf.csv:3: column 'a' is infinite"),
    ("bad.npz", "PK", "bad.npz: this is no npz file"),
    ("bad.parquet", "PAR1", "bad.parquet: this is no Parquet file"),
    ("cut.csv.gz", "\x1f\x8b", "cut.csv.gz: "),
]


@pytest.mark.parametrize("command", ["train", "cv"])
@pytest.mark.parametrize(("name", "text", "line"), BAD, ids=[one[0] for one in BAD])
def test_3_bad_data(run, tmp_path, command, name, text, line):
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    done = run(command, name)
    assert (done.code, done.out) == (3, "")
    assert done.line.startswith(line)
    assert not list(tmp_path.glob("*.maxmargin"))
    assert run("check", name).code == 3


def test_3_data_that_are_not_there(run):
    assert "nothing: " in run("train", "nothing").line
    assert run("train", "fruit.csv", "--target", "x").code == 3


def test_3_folds_that_cannot_be_made(run, tmp_path):
    (tmp_path / "few").write_text("1 1:1\n2 1:2\n1 1:3\n2 1:1\n")
    done = run("cv", "few", "--folds", "10", "-q")
    assert done.code == 3
    expected = "few: 10 folds are too many: class 1 has 2 rows, and no class has as many"
    assert done.line.startswith(expected)
    (tmp_path / "lone").write_text("1 1:1\n2 1:2\n1 1:3\n1 1:1\n1 1:4\n")
    done = run("cv", "lone", "-k", "3", "-q")
    assert done.code == 3
    assert done.line.startswith("lone: class 2 has 1 row only")
    (tmp_path / "short.csv").write_text("a,y\n1,0.5\n2,1.5\n")
    done = run("cv", "short.csv", "-q")
    assert (done.code, done.line) == (3, "short.csv: 5 folds are too many for 2 rows")


def test_a_class_that_some_folds_lack_is_named(run, tmp_path):
    text = "".join(f"{i % 2} 1:{i}\n" for i in range(12)) + "7 1:20\n7 1:21\n"
    (tmp_path / "rare").write_text(text)
    done = run("cv", "rare", "-k", "5", "-q", "--task", "classify")
    assert done.code == 0
    expected = "rare: class 7 has 2 rows: 3 of the 5 folds are tested without it"
    assert done.line == f"maxmargin: warning: {expected}"


def test_3_what_a_machine_refuses_names_the_file(run, tmp_path):
    (tmp_path / "huge").write_text("1 1:1e300\n-1 1:-1e300\n1 1:2e300\n-1 1:1\n")
    done = run("train", "huge", "--kernel", "linear", "-q")
    assert done.code == 3
    assert done.line.startswith("huge: ")
    (tmp_path / "none.csv").write_text("a,b,y\n1,,0\n2,,1\n")
    done = run("train", "none.csv", "--impute", "mean", "-q")
    assert done.code == 3
    assert done.line.startswith("none.csv: column 'b' has no value at all")


def test_3_regression_of_text(run):
    done = run("train", "fruit.csv", "--task", "regress")
    assert done.code == 3
    assert "is text ('apple')" in done.line


def test_4_not_converged_only_with_strict(run, tmp_path):
    done = run("train", "rows", "--max-iter", "2", "--kernel", "rbf", "-C", "1000")
    assert done.code == 0
    assert "warning: not converged" in done.err
    assert "--max-iter" in done.err
    done = run("train", "rows", "--max-iter", "2", "-C", "1000", "--strict", "-q")
    assert done.code == 4
    assert "the model is in rows.maxmargin all the same" in done.line
    done = run(
        "train", "rows", "--max-iter", "2", "-C", "1000", "--strict", "--json", "-q"
    )
    assert (done.code, done.json["converged"]) == (4, False)
    assert run("predict", "rows.maxmargin", "rows", "-q").code == 0
    done = run("cv", "rows", "--max-iter", "2", "-C", "1000", "--strict", "-q")
    assert done.code == 4
    assert "not converged in 5 of 5 folds" in done.line


def test_4_is_not_for_what_converges(run):
    assert run("train", "rows", "--strict").code == 0


def test_5_model_and_data_do_not_fit(run, tmp_path):
    run("train", "fruit.csv")
    run("train", "rows")
    np.savez("four.npz", X=np.zeros((2, 4)), y=[0, 1])
    (tmp_path / "less.csv").write_text("weight\n150\n")
    (tmp_path / "wide").write_text("1 1:1 9:1\n")
    for model, data, reason in [
        ("fruit.maxmargin", "less.csv", "has no column 'colour'"),
        ("fruit.maxmargin", "rows", "no names of columns"),
        ("rows.maxmargin", "four.npz", "has 4 features, the model 3"),
        ("rows.maxmargin", "wide", "has 9 features, the model 3; --ignore-extra"),
        ("rows.maxmargin", "fruit.csv", "column 'colour' is text"),
    ]:
        done = run("predict", model, data)
        assert (done.code, done.out) == (5, "")
        assert reason in done.line
    assert run("predict", "rows.maxmargin", "wide", "--ignore-extra").code == 0
    (tmp_path / "narrow").write_text("1 1:1\n")
    done = run("predict", "rows.maxmargin", "narrow")
    assert done.code == 0
    assert "the others count as 0" in done.err


def test_5_unknown_categories_with_strict(run, tmp_path):
    run("train", "fruit.csv")
    (tmp_path / "new.csv").write_text("weight,colour\n150,red\n150,pink\n")
    done = run("predict", "fruit.maxmargin", "new.csv")
    assert done.code == 0
    assert "a category that training did not have (the first: 'pink')" in done.line
    done = run("predict", "fruit.maxmargin", "new.csv", "--strict")
    assert done.code == 5
    assert "new.csv:3: column 'colour' holds 'pink'" in done.line


@pytest.mark.parametrize("command", ["predict", "inspect"])
def test_5_bad_model_files(run, tmp_path, command):
    (tmp_path / "zip.maxmargin").write_bytes(b"PK\x03\x04 and nothing more")
    (tmp_path / "text.model").write_text("svm_type c_svc\nkernel_type magic\n")
    (tmp_path / "empty.model").write_text("")
    for name in ("zip.maxmargin", "text.model", "empty.model", "none.maxmargin", "."):
        done = run(command, name, *(["rows"] if command == "predict" else []))
        assert (done.code, done.out) == (5, "")
        assert name in done.line


def test_5_a_truncated_model(run, tmp_path):
    run("train", "rows")
    whole = (tmp_path / "rows.maxmargin").read_bytes()
    (tmp_path / "cut.maxmargin").write_bytes(whole[: len(whole) // 2])
    assert run("predict", "cut.maxmargin", "rows").code == 5
    assert run("convert", "cut.maxmargin", "x.model").code == 5


def test_2_probabilities_of_a_model_without(run):
    run("train", "rows")
    done = run("predict", "rows.maxmargin", "rows", "--proba")
    assert done.code == 2
    assert "train with --probability" in done.line


def test_2_an_extra_that_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    done = run("train", "x.parquet")
    assert done.code == 2
    assert "maxmargin[arrow]" in done.line


class BrokenError(Exception):
    """Something nobody has thought of."""


def _broken(*args, **options):
    raise BrokenError("on\npurpose")


def test_1_internal_errors_are_one_line_too(run, monkeypatch):
    monkeypatch.setattr("maxmargin.data_files.reading.content_of", _broken)
    done = run("train", "rows")
    assert done.code == 1
    assert "internal error, BrokenError: on purpose" in done.line
    monkeypatch.setenv("MAXMARGIN_TRACEBACK", "1")
    with pytest.raises(BrokenError):
        main(["train", "rows"])


def test_1_no_memory(run, monkeypatch):
    def no_memory(*args, **options):
        raise MemoryError

    monkeypatch.setattr("maxmargin.data_files.reading.content_of", no_memory)
    done = run("train", "rows")
    assert (done.code, "not enough memory" in done.line) == (1, True)


def test_130_interrupted_outside_of_a_fit(run, monkeypatch):
    def pressed(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("maxmargin.data_files.reading.content_of", pressed)
    done = run("train", "rows")
    assert (done.code, done.line) == (130, "maxmargin: interrupted")


def test_130_interrupted_before_there_is_a_command(capsys, monkeypatch):
    def pressed(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "main", pressed)
    assert main(["train", "rows"]) == 130
    assert capsys.readouterr().err == "maxmargin: interrupted\n"


def test_codes_are_those_of_the_help():
    text = program.epilog
    for code in (
        failures.INTERNAL, failures.USAGE, failures.BAD_DATA, failures.NOT_CONVERGED,
        failures.MISFIT, failures.INTERRUPTED,
    ):  # fmt: skip
        assert f" {code} " in text
