"""The commands on real data, as a new user would try them."""

import gzip

import numpy as np
import pytest
from tests.cli.commands import runner
from tests.data import find

from maxmargin.data_files import read_table


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def test_heart_scale_is_libsvm_s_answer(run):
    done = run(
        "train", find("libsvm/heart_scale"), "--gamma", str(1 / 13), "--json", "-q"
    )
    certificate = done.json["certificate"]
    assert certificate["dual"] == pytest.approx(100.877, abs=1e-2)
    assert certificate["n_support"] == 132
    assert certificate["n_bound"] == 107
    done = run(
        "predict", "heart_scale.maxmargin", find("libsvm/heart_scale"), "-o", "out"
    )
    assert done.out == "accuracy 0.8667 (234 of 270)\n"


def test_three_lines_of_libsvm(run, tmp_path):
    data = find("libsvm/heart_scale")
    assert run("svm-train", "-c", "4", data).code == 0
    done = run("svm-predict", data, "heart_scale.model", "out")
    assert done.code == 0
    assert done.out.startswith("Accuracy = ")
    ours = run("predict", "heart_scale.model", data)
    assert ours.out.split() == (tmp_path / "out").read_text().split()


def test_svmguide1_needs_scaling_and_check_says_so(run):
    train, test = find("libsvm/svmguide1"), find("libsvm/svmguide1.t")
    told = run("check", train, "--json").json
    assert told["ok"] is True
    assert any("--scale" in one for one in told["oddities"])
    run(
        "train",
        train,
        "--scale",
        "minmax",
        "-C",
        "2",
        "--gamma",
        "2",
        "-o",
        "g.maxmargin",
    )
    done = run("predict", "g.maxmargin", test, "-o", "out")
    assert float(done.out.split()[1]) > 0.96


def test_abalone_with_its_words(run, tmp_path):
    data = tmp_path / "abalone.csv"
    data.write_bytes(find("regression/abalone.data").read_bytes())
    refused = run("train", find("regression/abalone.data")).line
    assert "if this is a table, its format is csv or tsv" in refused
    done = run("train", data, "--task", "regress", "--cv", "3", "--json", "-q")
    assert done.json["data"]["features"] == 10
    assert done.json["cv"]["mean"] == pytest.approx(0.56, abs=0.03)
    lines = data.read_text().splitlines()
    columns = [line.split(",")[:-1][::-1] for line in lines[:50]]
    (tmp_path / "new.csv").write_text("\n".join(",".join(one) for one in columns) + "\n")
    mixed = run("predict", "abalone.maxmargin", "new.csv")
    whole = run("predict", "abalone.maxmargin", data)
    assert mixed.out.split() == whole.out.split()[:49]


def test_a_table_of_pmlb_in_every_format(run, tmp_path):
    source = find("pmlb/wdbc.tsv.gz")
    first = run("cv", source, "--json", "-q").json
    assert first["mean"] > 0.96
    with gzip.open(source, "rt") as stream:
        (tmp_path / "w.csv").write_text(stream.read().replace("\t", ","))
    for name in ("w.parquet", "w.arrow", "w.npz", "w.csv.xz"):
        assert run("convert", "w.csv", name).code == 0
        again = run("cv", name, "--json", "-q").json
        assert again["scores"] == first["scores"], name


def test_a1a_whose_test_part_has_more_features(run):
    data = find("libsvm/a1a")
    assert run("train", data, "-q").code == 0
    n = read_table(str(data)).n_columns
    assert n < 123
    wide = find("libsvm/a9a.t")
    done = run("predict", "a1a.maxmargin", wide)
    assert done.code == 5
    assert "--n-features 123" in done.line or "--n-features 122" in done.line
    assert run("train", data, "-q", "--n-features", "123").code == 0
    done = run("predict", "a1a.maxmargin", wide, "-o", "out")
    assert float(done.out.split()[1]) == pytest.approx(0.84, abs=0.02)


def test_npz_of_pictures(run):
    done = run("check", find("usps.npz"), "--json").json
    assert done["rows"] == 7291
    assert len(done["classes"]) == 10
    assert np.isclose(done["highest"], 1.0)
