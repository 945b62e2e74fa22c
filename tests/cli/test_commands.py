"""What the commands do with small files, in this process."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.cli.commands import runner

import maxmargin
from maxmargin.cli.program import COMMANDS, LIBSVM, program
from maxmargin.data_files import read_table
from maxmargin.persist import data_hash

COLOURS = ["red", "green", "blue"]


def fruit(n=60, seed=0, header="weight,colour,label", missing=()):
    """Two kinds of fruit that weight and colour tell apart."""
    random = np.random.default_rng(seed)
    lines = [header]
    for row in range(n):
        apple = row % 2 == 0
        weight = random.normal(150 if apple else 110, 8)
        colour = COLOURS[random.integers(2) if apple else random.integers(1, 3)]
        shown = "" if row in missing else f"{weight:.2f}"
        lines.append(f"{shown},{colour},{'apple' if apple else 'lemon'}")
    return "\n".join(lines) + "\n"


def rows(n=40, seed=0):
    """LIBSVM text of two classes."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) + np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
    return "".join(
        f"{1 if i % 2 else -1} "
        + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(x))
        + "\n"
        for i, x in enumerate(X)
    )


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.csv").write_text(fruit())
    (tmp_path / "rows").write_text(rows())
    return runner(capsys)


# train and predict ----------------------------------------------------------------------


def test_train_then_predict_raw_files(run, tmp_path):
    done = run("train", "fruit.csv", "--cv", "3")
    assert done.code == 0
    assert "fruit.maxmargin" in done.out
    assert "converged" in done.out
    assert "mean        accuracy" in done.out
    assert "target: column 'label', by its name" in done.err
    assert "classification, as the target is text" in done.err
    (tmp_path / "new.csv").write_text("more,colour,weight\n1,red,151\n2,blue,108\n")
    done = run("predict", "fruit.maxmargin", "new.csv")
    assert done.out == "apple\nlemon\n"
    assert done.line == "columns that the model does not know are ignored: 'more'"


def test_the_model_is_the_one_that_python_would_have_made(run):
    assert run("train", "rows", "-C", "2", "--gamma", "0.5").code == 0
    table = read_table("rows")
    direct = maxmargin.SVC(C=2, gamma=0.5).fit(
        table.matrix.toarray(), table.y.astype(np.int64)
    )
    from maxmargin.persist import load

    loaded = load("rows.maxmargin")
    assert (loaded.dual_coef_ == direct.dual_coef_).all()
    assert loaded.certificate_.primal == direct.certificate_.primal
    done = run("predict", "rows.maxmargin", "rows", "--decision")
    values = np.array([float(one) for one in done.out.split()])
    assert (values == direct.decision_function(table.matrix.toarray())).all()


def test_json_is_one_object_with_a_version(run):
    done = run("train", "fruit.csv", "--json", "--cv", "3", "-q")
    assert done.err == ""
    told = done.json
    assert (told["schema_version"], told["command"]) == (1, "train")
    assert told["certificate"]["ok"] is True
    assert told["converged"] is True
    assert told["classes"] == ["apple", "lemon"]
    assert told["preprocessing"] == ["TableEncoder", "StandardScaler"]
    assert len(told["cv"]["scores"]) == 3
    told = run("predict", "fruit.maxmargin", "fruit.csv", "--json").json
    assert told["measure"] == "accuracy"
    assert told["score"] > 0.8
    assert len(told["predictions"]) == 60


def test_quiet_says_nothing_about_files(run):
    for argv in (
        ["train", "fruit.csv"], ["convert", "fruit.csv", "x.tsv"],
        ["scale", "fruit.csv", "-o", "x.csv"],
    ):  # fmt: skip
        done = run(*argv, "-q")
        assert (done.code, done.out, done.err) == (0, "", "")


def test_quiet_tells_results_all_the_same(run, tmp_path):
    done = run("cv", "fruit.csv", "-q")
    assert done.err == ""
    assert "mean        accuracy" in done.out
    done = run("train", "fruit.csv", "--cv", "3", "-q")
    assert [line.split()[0] for line in done.out.splitlines()] == [*["fold"] * 3, "mean"]
    (tmp_path / "bad").write_text("1 1:1\nx 1:2\n-1 1:2\n")
    assert run("check", "bad", "-q").out.startswith("bad:2: ")
    assert "TableEncoder" in run("inspect", "fruit.maxmargin", "-q").out
    done = run("predict", "fruit.maxmargin", "fruit.csv", "-q", "-o", "out")
    assert (done.out[:9], done.err) == ("accuracy ", "")


def test_predictions_go_to_a_file_and_the_score_to_stdout(run, tmp_path):
    run("train", "rows")
    done = run("predict", "rows.maxmargin", "rows", "-o", "out.txt")
    assert done.out.startswith("accuracy ")
    assert " of 40)" in done.out
    labels = (tmp_path / "out.txt").read_text().split()
    assert set(labels) == {"-1", "1"}
    done = run("predict", "rows.maxmargin", "rows")
    assert done.out.split() == labels
    assert done.line.startswith("accuracy ")


def test_probabilities_have_a_column_for_each_class(run):
    run("train", "fruit.csv", "--probability", "--seed", "3")
    head, *lines = run(
        "predict", "fruit.maxmargin", "fruit.csv", "--proba"
    ).out.splitlines()
    assert head.split("\t") == ["apple", "lemon"]
    values = np.array([[float(one) for one in line.split("\t")] for line in lines])
    assert values.shape == (60, 2)
    assert np.allclose(values.sum(axis=1), 1.0)


def test_regression_is_in_units_of_its_target(run, tmp_path):
    x = np.linspace(-3, 3, 80)
    text = "".join(f"{a},{1e4 * np.sin(a)}\n" for a in x)
    (tmp_path / "wave.csv").write_text("x,price\n" + text)
    done = run("train", "wave.csv", "--json")
    told = done.json
    assert told["task"] == "regress"
    spread = 1e4 * np.sin(x).std()
    assert told["machine"]["parameters"]["C"] == pytest.approx(spread, rel=1e-5)
    assert told["machine"]["parameters"]["epsilon"] == pytest.approx(
        spread / 10, rel=1e-5
    )
    done = run("predict", "wave.maxmargin", "wave.csv", "-o", "out")
    assert float(done.out.split()[1]) > 0.95  # R²


def test_outliers_need_no_target(run, tmp_path):
    values = np.random.default_rng(0).normal(size=(50, 2))
    (tmp_path / "z.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in values))
    done = run("train", "z.csv", "--task", "outliers", "--nu", "0.1", "--json", "-q")
    assert done.json["machine"]["class"] == "OneClassSVM"
    assert done.json["data"]["columns"] == 2
    labels = run("predict", "z.maxmargin", "z.csv").out.split()
    assert 0 < labels.count("-1") < 15


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (["--machine", "nu-svc", "--nu", "0.3"], "NuSVC"),
        (["--machine", "linear-svc", "--kernel", "linear"], "LinearSVC"),
        (["--machine", "svdd"], "SVDD"),
        (["--kernel", "poly", "--degree", "2", "--coef0", "1"], "SVC"),
        (["--solver", "smo", "--jobs", "1", "--class-weight", "balanced"], "SVC"),
        (["--class-weight", "1=2,-1=0.5"], "SVC"),
    ],
)
def test_machines_and_their_options(run, options, kind):
    done = run("train", "rows", "--json", *options)
    assert done.code == 0
    assert done.json["machine"]["class"] == kind
    assert run("predict", "rows.maxmargin", "rows", "-q").code == 0


def test_sigma_is_another_word_for_gamma(run):
    told = run("train", "rows", "--sigma", "2", "--json").json
    assert told["machine"]["parameters"]["gamma"] == 0.125


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "maxabs"])
def test_scalers_are_part_of_the_model(run, scale):
    done = run("train", "fruit.csv", "--scale", scale, "--json")
    steps = {"standard": ["StandardScaler"], "minmax": ["MinMaxScaler"],
             "maxabs": ["MaxAbsScaler"], "none": []}[scale]  # fmt: skip
    assert done.json["preprocessing"] == ["TableEncoder", *steps]
    assert run("predict", "fruit.maxmargin", "fruit.csv", "-o", "x").code == 0


def test_sparse_rows_are_not_centred(run, tmp_path):
    text = "".join(f"{i % 2} {1 + i % 40}:1 {50 + i % 50}:2\n" for i in range(200))
    (tmp_path / "wide").write_text(text)
    done = run("train", "wide", "--scale", "standard")
    assert "not centred" in done.err
    assert run("predict", "wide.maxmargin", "wide", "-q").code == 0
    done = run("train", "wide", "--scale", "minmax")
    assert done.code == 2
    assert "maxabs" in done.err


def test_dense_libsvm_text_is_scaled_alike_in_training_and_prediction(run):
    run("train", "rows", "--scale", "standard")
    done = run("predict", "rows.maxmargin", "rows", "-o", "x")
    assert float(done.out.split()[1]) > 0.8


def test_missing_values_are_refused_or_imputed(run, tmp_path):
    (tmp_path / "gaps.csv").write_text(fruit(missing={4, 9}))
    done = run("train", "gaps.csv")
    assert done.code == 3
    assert "gaps.csv:6: no value in column 'weight'" in done.err
    assert run("train", "gaps.csv", "--impute", "median").code == 0
    assert run("predict", "gaps.maxmargin", "gaps.csv", "-q").code == 0


def test_models_as_libsvm_text(run):
    assert run("train", "rows", "--libsvm").code == 0
    done = run("predict", "rows.model", "rows", "-o", "x")
    assert done.code == 0
    done = run("train", "fruit.csv", "-o", "fruit.model")
    assert done.code == 2
    assert "no room for categories ('colour')" in done.line
    done = run("train", "rows", "-o", "rows.model", "--scale", "standard")
    assert "no room for --scale" in done.line


def test_named_columns_and_a_libsvm_model(run, tmp_path):
    lines = fruit().splitlines()
    plain = "\n".join(",".join(line.split(",")[::2]) for line in lines)
    plain = plain.replace("apple", "1").replace("lemon", "2")
    (tmp_path / "plain.csv").write_text(plain + "\n")
    done = run("train", "plain.csv", "-o", "plain.model")
    assert "names are lost" in done.err
    done = run("predict", "plain.model", "plain.csv", "-o", "x")
    assert done.code == 0
    assert float(done.out.split()[1]) > 0.8


def test_probabilities_are_not_paid_for_twice(run, tmp_path, monkeypatch):
    """Without a truth to hold against, nothing but the probabilities is computed."""
    run("train", "fruit.csv", "--probability")
    (tmp_path / "new.csv").write_text("weight,colour\n150,red\n")

    def refused(*args):
        raise AssertionError

    monkeypatch.setattr(maxmargin.SVC, "predict", refused)
    assert run("predict", "fruit.maxmargin", "new.csv", "--proba").code == 0
    assert run("predict", "fruit.maxmargin", "fruit.csv", "--proba").code == 1


def test_what_train_writes_python_loads_by_the_top_level_names(run, tmp_path):
    run("train", "fruit.csv")
    model = maxmargin.load("fruit.maxmargin")
    maxmargin.save(model, "again.maxmargin")
    frame = pd.DataFrame({"weight": [151.0, 108.0], "colour": ["red", "blue"]})
    assert maxmargin.load(tmp_path / "again.maxmargin").predict(frame).tolist() == [
        "apple",
        "lemon",
    ]


# cv -------------------------------------------------------------------------------------


def test_cv_tells_every_fold(run):
    done = run("cv", "fruit.csv", "-k", "4")
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "machine", "fold", "fold", "fold", "fold", "mean",
    ]  # fmt: skip
    told = run("cv", "fruit.csv", "-k", "4", "--json").json
    scores = [fold["score"] for fold in told["folds"]]
    assert told["mean"] == pytest.approx(np.mean(scores))
    assert told["std"] == pytest.approx(np.std(scores))
    assert sum(fold["n_test"] for fold in told["folds"]) == 60
    again = run("cv", "fruit.csv", "-k", "4", "--json").json
    assert again["scores"] == told["scores"]
    other = run("cv", "fruit.csv", "-k", "4", "--json", "--seed", "5").json
    assert other["scores"] != told["scores"]


# scale ----------------------------------------------------------------------------------


def test_scale_saves_and_restores(run, tmp_path):
    (tmp_path / "new.csv").write_text(fruit(n=10, seed=7))
    assert run("scale", "fruit.csv", "-o", "a.csv", "--save", "s.maxmargin").code == 0
    first = read_table("a.csv")
    assert abs(first.columns["weight"].mean()) < 1e-12
    assert first.columns["weight"].std() == pytest.approx(1.0)
    assert first.y.tolist()[:2] == ["apple", "lemon"]
    assert run("scale", "new.csv", "-o", "b.csv", "--restore", "s.maxmargin").code == 0
    raw, before = read_table("new.csv"), read_table("fruit.csv")
    expected = raw.columns["weight"] - before.columns["weight"].mean()
    expected /= before.columns["weight"].std()
    assert np.allclose(read_table("b.csv").columns["weight"], expected)


def test_scale_of_libsvm_text_goes_to_stdout(run):
    done = run("scale", "rows", "--method", "minmax", "--range", "0", "1")
    values = [float(one.split(":")[1]) for one in done.out.split() if ":" in one]
    assert done.code == 0
    assert max(values) == 1.0
    assert min(values) > 0.0  # zeros are left out


def test_scale_and_train_refuse_the_same_rows(run, tmp_path):
    """Sparse rows whose zeros would be filled, and values that are missing."""
    text = "".join(f"{i % 2} {1 + i % 40}:1 {50 + i % 50}:2\n" for i in range(200))
    (tmp_path / "wide").write_text(text)
    for argv in (["train", "wide", "--scale"], ["scale", "wide", "--method"]):
        done = run(*argv, "minmax")
        assert (done.code, done.out) == (2, "")
        assert "minmax with sparse rows: it would fill their zeros" in done.err
    done = run("scale", "wide", "-o", "out")
    assert "not centred" in done.err
    assert read_table("out").matrix.nnz == 400
    np.savez("whole.npz", X=np.eye(2), y=[0, 1])
    np.savez("gap.npz", X=np.array([[1.0, np.nan], [2.0, 0.0]]), y=[0, 1])
    assert run("scale", "whole.npz", "--save", "s.maxmargin", "-o", "x.npz").code == 0
    for more in ([], ["--restore", "s.maxmargin"]):
        done = run("scale", "gap.npz", "-o", "y.npz", *more)
        assert done.code == 3
        assert done.line.startswith("gap.npz: row 1: no value in column 2")
    assert run("scale", "gap.npz", "-o", "y.npz", "--impute", "mean").code == 0


def test_what_scale_does_is_what_a_model_does(run):
    """Rows of LIBSVM text that are mostly full are centred by both."""
    run("scale", "rows", "-o", "out.npz")
    assert np.allclose(read_table("out.npz").matrix.mean(axis=0), 0.0)
    run("train", "out.npz", "--scale", "none", "--gamma", "1", "-o", "a.maxmargin")
    run("train", "rows", "--scale", "standard", "--gamma", "1", "-o", "b.maxmargin")
    one = run("predict", "a.maxmargin", "out.npz", "--decision").out
    assert one == run("predict", "b.maxmargin", "rows", "--decision").out


def test_one_large_index_costs_nothing(run, tmp_path):
    """A table would have a Python object for each of four million columns."""
    (tmp_path / "far").write_text("1 1:1\n-1 4000000:1\n1 2:1\n-1 3:1\n")
    for argv in (["train", "far"], ["scale", "far"], ["convert", "far", "x.svm"]):
        done = run(*argv, "--impute", "mean")
        assert done.code == 2
        assert "--impute mean: far holds sparse rows" in done.line
    done = run("convert", "far", "x.csv")
    assert done.code == 2
    assert "far: 4,000,000 features are more than the 100,000 columns" in done.line
    assert not (tmp_path / "x.csv").exists()
    (tmp_path / "far").write_text("1 1:1 2:5\n-1 2:5 2000000000:1\n")
    told = run("check", "far", "--json").json
    assert (told["columns"], told["constant_columns"]) == (2_000_000_000, ["2"])


def test_a_model_that_imputes_takes_libsvm_text(run):
    np.savez("gap.npz", X=np.array([[1.0, np.nan, 0], [2, 0, 1], [0, 1, 1]]), y=[0, 1, 1])
    assert run("train", "gap.npz", "--impute", "mean").code == 0
    assert len(run("predict", "gap.maxmargin", "rows").out.split()) == 40


def test_what_scale_refuses(run):
    run("train", "rows")
    assert run("scale", "rows", "--range", "0", "1").code == 2
    assert run("scale", "rows", "--method", "minmax", "--range", "1", "0").code == 2
    assert run("scale", "rows", "--json").code == 2
    done = run("scale", "rows", "--restore", "rows.maxmargin")
    assert done.code == 5
    assert "this is a machine" in done.line
    run("scale", "fruit.csv", "--save", "s.maxmargin", "-o", "x.csv")
    assert run("scale", "rows", "--restore", "s.maxmargin").code == 5


# check ----------------------------------------------------------------------------------


def test_check_of_good_data(run):
    done = run("check", "fruit.csv")
    assert done.code == 0
    assert "60 rows × 2 (CSV)" in done.out
    assert "2 classes" in done.out
    assert "problems    none" in done.out
    told = run("check", "fruit.csv", "--json").json
    assert told["ok"] is True
    assert told["classes"] == {"apple": 30, "lemon": 30}


def test_check_lists_problems_by_line(run, tmp_path):
    text = "a,b,target\n1,2,x\n,3,y\n1,2\n1,?,y\n"
    (tmp_path / "bad.csv").write_text(text)
    done = run("check", "bad.csv")
    assert done.code == 3
    assert done.out.splitlines()[:3] == [
        "bad.csv:3: no value in column 'a'",
        "bad.csv:4: 2 fields, but the header names 3 columns",
        "bad.csv:5: no value in column 'b'",
    ]
    done = run("check", "bad.csv", "--limit", "1")
    assert "… and 2 more problems" in done.out
    told = run("check", "bad.csv", "--json").json
    assert [one["line"] for one in told["problems"]] == [3, 4, 5]
    assert run("check", "bad.csv", "--impute", "mean", "--json").json["n_problems"] == 1


def test_check_sees_oddities(run, tmp_path):
    lines = [f"{i % 7},{10_000 * i},1,id{i},{int(i > 97)}" for i in range(100)]
    lines += [lines[3], lines[4][:-1] + "1"]
    (tmp_path / "odd.csv").write_text("a,b,c,id,y\n" + "\n".join(lines) + "\n")
    told = run("check", "odd.csv", "--json").json
    assert told["ok"] is True
    assert (told["duplicates"], told["contradicting_duplicates"]) == (2, 1)
    assert told["constant_columns"] == ["'c'"]
    words = " ".join(told["oddities"])
    for expected in ("one value only", "an identifier?", "--scale", "balanced", "repeat"):
        assert expected in words


def test_check_of_libsvm_text_and_npz(run, tmp_path):
    (tmp_path / "bad").write_text("1 1:1\n1 2:1 1:1\n-1 1:2\n1 1:1\n")
    done = run("check", "bad")
    assert done.code == 3
    assert done.out.startswith("bad:2: ")
    assert "1 rows repeat an earlier one" in done.out
    np.savez("gap.npz", X=np.array([[1.0, np.nan], [2.0, 0.0]]), y=[0, 1])
    done = run("check", "gap.npz")
    assert (done.code, done.out.splitlines()[0]) == (
        3,
        "gap.npz: row 1: no value in column 2",
    )
    assert run("check", "gap.npz", "--impute", "mean").code == 0
    assert run("train", "gap.npz").code == 3
    assert run("train", "gap.npz", "--impute", "mean").code == 0


def test_check_says_what_training_would_refuse(run, tmp_path):
    (tmp_path / "one").write_text("1 1:1\n1 1:2\n")
    assert "nothing to tell apart" in run("check", "one").out
    assert run("train", "one").code == 3
    assert run("check", "one", "--task", "outliers").code == 0


# inspect and convert --------------------------------------------------------------------


def test_inspect_shows_certificate_support_and_origin(run):
    run("train", "fruit.csv", "-C", "3")
    done = run("inspect", "fruit.maxmargin")
    told = ("SVC(kernel=rbf, C=3", "TableEncoder", "StandardScaler", "vectors", "apple",
            "violation", "SHA-256", "numpy", "2: weight, colour")  # fmt: skip
    for expected in told:
        assert expected in done.out
    told = run("inspect", "fruit.maxmargin", "--json").json
    assert told["certificate"]["ok"] is True
    assert len(told["data_hash"]) == 64
    run("train", "rows", "--libsvm")
    assert "LIBSVM model text" in run("inspect", "rows.model").out


@pytest.mark.parametrize("name", ["fruit.csv", "fruit.parquet", "rows", "fruit.npz"])
def test_the_hash_can_be_recomputed_from_the_file(run, name):
    """Of the raw data: not encoded, not scaled."""
    if name in ("fruit.parquet", "fruit.npz"):
        run("convert", "fruit.csv", name)
    run("train", name, "-o", "m.maxmargin")
    told = run("inspect", "m.maxmargin", "--json").json["data_hash"]
    assert told == data_hash(read_table(name))
    if name in ("fruit.csv", "fruit.parquet"):
        frame = pd.read_csv("fruit.csv")
        assert told == data_hash(frame[["weight", "colour"]], frame["label"])
    elif name == "rows":
        table = read_table(name)
        assert told == data_hash(table.matrix.toarray(), table.y)


def test_inspect_invents_nothing_that_libsvm_text_does_not_hold(run):
    run("svm-train", "-c", "100", "-g", "0.25", "-q", "rows", "m.model")
    told = run("inspect", "m.model", "--json").json
    assert told["parameters"] == {"kernel": "rbf", "gamma": 0.25}
    assert told["classes"] == [1, -1]  # as LIBSVM orders them
    assert len(told["n_support_vectors"]) == 2
    run("svm-train", "-s", "3", "-t", "1", "-d", "2", "-g", "1", "-q", "rows", "m.model")
    told = run("inspect", "m.model", "--json").json
    assert told["parameters"] == {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 0}
    assert told["classes"] is None
    assert told["n_support_vectors"][0] > 0


def test_dot_libsvm_is_data(run, tmp_path):
    (tmp_path / "rows.libsvm").write_text(rows())
    assert run("convert", "rows.libsvm", "x.csv").code == 0
    assert run("convert", "x.csv", "y.libsvm").code == 0
    assert (read_table("y.libsvm").matrix != read_table("rows").matrix).nnz == 0
    assert run("train", "rows.libsvm", "--libsvm", "-o", "M.MODEL").code == 0
    assert (tmp_path / "M.MODEL").read_text().startswith("svm_type c_svc\n")
    assert run("train", "rows", "--libsvm", "-o", "m.libsvm").code == 2


def test_data_survive_every_format(run):
    chain = ["fruit.csv", "a.parquet", "b.arrow", "c.tsv.gz", "d.csv"]
    for source, output in itertools.pairwise(chain):
        assert run("convert", source, output).code == 0
    first, last = read_table("fruit.csv"), read_table("d.csv")
    assert last.y.tolist() == first.y.tolist()
    assert last.columns["colour"].tolist() == first.columns["colour"].tolist()
    assert last.columns["weight"].tobytes() == first.columns["weight"].tobytes()


def test_words_become_numbers_where_only_numbers_fit(run):
    done = run("convert", "fruit.csv", "fruit.svm")
    assert "labels became numbers: 0=apple, 1=lemon" in done.err
    table = read_table("fruit.svm")
    assert table.matrix.shape == (60, 4)
    assert table.y.tolist()[:2] == [0.0, 1.0]
    assert run("convert", "fruit.csv", "fruit.npz").code == 0
    named = read_table("fruit.npz")
    assert list(named.columns) == ["weight", "colour=blue", "colour=green", "colour=red"]
    assert named.y.tolist()[:2] == ["apple", "lemon"]


def test_models_convert_both_ways(run):
    run("train", "rows")
    assert run("convert", "rows.maxmargin", "b.model").code == 0
    assert run("convert", "b.model", "c.maxmargin").code == 0
    one = run("predict", "rows.maxmargin", "rows", "--decision").out
    two = run("predict", "c.maxmargin", "rows", "--decision").out
    assert one == two  # every digit that tells one float64 from another
    done = run("convert", "rows.maxmargin", "rows.csv")
    assert done.code == 2
    assert "cannot become data" in done.line
    run("train", "fruit.csv")
    assert "no room" in run("convert", "fruit.maxmargin", "d.model").line


# The group itself -----------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    done = CliRunner().invoke(program, [command, "--help"])
    assert done.exit_code == 0
    assert f"Usage: {program.name} {command}" in done.output
    assert "--json" in done.output


def test_the_list_of_commands_and_the_version():
    done = CliRunner().invoke(program, ["--help"])
    for name in (*COMMANDS, *LIBSVM):
        assert name in done.output
    done = CliRunner().invoke(program, ["--version"])
    assert done.output == f"maxmargin {maxmargin.__version__}\n"


def test_exit_codes_reach_whoever_invokes_the_group(tmp_path):
    done = CliRunner().invoke(program, ["check", str(tmp_path / "nothing")])
    assert done.exit_code == 3
    assert json.loads(
        CliRunner().invoke(program, ["check", str(tmp_path / "no"), "--json"]).output
    )["problems"]
