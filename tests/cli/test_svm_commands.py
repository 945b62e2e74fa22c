"""LIBSVM's three commands: what they write, how they end, what Ctrl-C leaves."""

import io
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import start

from maxmargin._interrupt import Interrupt
from maxmargin.cli.libsvm import predict as libsvm_predict
from maxmargin.cli.libsvm import scale as libsvm_scale
from maxmargin.cli.libsvm import train as libsvm_train
from maxmargin.errors import NumericalError
from maxmargin.libsvm.options import parse_train
from maxmargin.libsvm.training import _estimator
from maxmargin.persist.libsvm_model import read_libsvm_model

ROWS = "2 1:1 2:1\n7 1:-1 2:0.5\n2 1:2\n7 1:-2 2:-1\n2 1:1.5 2:2\n7 1:-1.5\n"
NUMBERS = "0.5 1:1\n1.5 1:2\n2.25 1:3\n3.5 1:4\n4.75 1:5\n5.25 1:6\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows").write_text(ROWS)
    Path("numbers").write_text(NUMBERS)
    return tmp_path


def train(*words):
    return libsvm_train.main(list(words))


def predict(*words):
    return libsvm_predict.main(list(words))


def scale(*words):
    return libsvm_scale.main(list(words))


def ended(code, capsys):
    """The one line on stderr."""
    told = capsys.readouterr()
    assert told.err.count("\n") == 1, told.err
    assert "Traceback" not in told.err
    return code, told.err


# --- what they write ------------------------------------------------------------------


@pytest.mark.parametrize("command", [train, predict, scale])
def test_usage_without_arguments(command, capsys):
    assert command() == 2
    assert capsys.readouterr().out.startswith("Usage: svm-")


def test_usage_lists_every_option(capsys):
    train()
    text = capsys.readouterr().out
    for option in "stdgrcnpmehbvq":
        assert f"\n-{option} " in text
    assert "\n-wi weight" in text


def test_the_model_goes_to_the_current_folder(folder, capsys):
    (folder / "below").mkdir()
    Path("below/mine").write_text(ROWS)
    assert train("-q", "below/mine") == 0
    assert capsys.readouterr() == ("", "")
    assert read_libsvm_model("mine.model").label.tolist() == [2, 7]
    assert train("-q", "rows", "other.name") == 0
    assert Path("other.name").exists()


def test_labels_in_the_order_of_appearance():
    Path("rows").write_text("".join(reversed(ROWS.splitlines(keepends=True))))
    train("-q", "rows")
    assert read_libsvm_model("rows.model").label.tolist() == [7, 2]
    Path("rows").write_text("-1 1:1\n1 1:-1\n")
    train("-q", "rows")
    assert read_libsvm_model("rows.model").label.tolist() == [1, -1]  # as LIBSVM has it


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(ROWS.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert train("-q", "-", "m") == 0
    assert train("-q", "rows") == 0
    assert Path("m").read_bytes() == Path("rows.model").read_bytes()


def test_predictions_and_probabilities(capsys):
    Path("many").write_text(ROWS * 5)
    train("-q", "-b", "1", "many")
    assert predict("-b", "1", "many", "many.model", "out") == 0
    told = capsys.readouterr().out
    assert re.fullmatch(r"Accuracy = [\d.]+% \(\d+/30\) \(classification\)\n", told)
    lines = Path("out").read_text().splitlines()
    assert lines[0] == "labels 2 7"
    for line in lines[1:]:
        label, first, second = map(float, line.split())
        assert first + second == pytest.approx(1.0, abs=1e-5)
        assert label == (2 if first >= second else 7)
    assert predict("many", "many.model", "out") == 0
    told = capsys.readouterr().out
    assert told.startswith("Model supports probability estimates, but disabled")
    assert Path("out").read_text() == "2\n7\n2\n7\n2\n7\n" * 5
    assert predict("-q", "many", "many.model", "out") == 0
    assert capsys.readouterr() == ("", "")


def test_numbers_with_a_scale_of_errors(capsys):
    train("-q", "-s", "3", "-b", "1", "-t", "0", "-c", "100", "numbers")
    sigma = read_libsvm_model("numbers.model").probA[0]
    assert predict("-b", "1", "numbers", "numbers.model", "out") == 0
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert first == "Prob. model for test data: target value = predicted value + z,"
    assert second.endswith(f"sigma={sigma:g}")
    assert [line.split(" = ")[0] for line in rest] == [
        "Mean squared error",
        "Squared correlation coefficient",
    ]
    found = np.loadtxt("out")
    assert np.abs(found - [0.5, 1.5, 2.25, 3.5, 4.75, 5.25]).max() < 0.5


def test_one_class_probabilities(capsys):
    rng = np.random.default_rng(0)
    rows = "".join(f"1 1:{a} 2:{b}\n" for a, b in rng.normal(size=(60, 2)))
    Path("normal").write_text(rows)
    train("-q", "-s", "2", "-b", "1", "-n", "0.3", "normal")
    assert read_libsvm_model("normal.model").prob_density_marks.size == 10
    assert predict("-b", "1", "normal", "normal.model", "out") == 0
    lines = Path("out").read_text().splitlines()
    assert lines[0] == "labels normal outlier"
    table = np.array([line.split() for line in lines[1:]], float)
    assert set(table[:, 0]) == {1.0, -1.0}
    inside = table[:, 0] > 0
    assert table[inside, 1].min() >= 0.4
    assert table[~inside, 1].max() <= 0.6


def test_a_precomputed_kernel(capsys):
    X = np.array([[1, 1], [-1, 0.5], [2, 0], [-2, -1], [1.5, 2], [-1.5, 0]])
    y = [2, 7, 2, 7, 2, 7]

    def lines(K):
        return "".join(
            f"{label} 0:{i + 1} "
            + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row))
            + "\n"
            for i, (label, row) in enumerate(zip(y, K.tolist(), strict=True))
        )

    Path("kernel").write_text(lines(X @ X.T))
    assert train("-q", "-t", "4", "kernel") == 0
    assert train("-q", "-t", "0", "rows") == 0
    ours, plain = read_libsvm_model("kernel.model"), read_libsvm_model("rows.model")
    assert ours.rho == pytest.approx(plain.rho, abs=1e-6)
    assert ours.serial is not None
    assert predict("kernel", "kernel.model", "out") == 0
    assert capsys.readouterr().out == "Accuracy = 100% (6/6) (classification)\n"


def test_numbers_of_rows_point_into_the_matrix():
    """Rows in another order: their numbers say which column is whose."""
    X = np.array([[1.0, 1], [-1, 0.5], [2, 0], [-2, -1]])
    K, y = X @ X.T, [2, 7, 2, 7]
    text = [
        f"{y[i]} 0:{i + 1} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(K[i])) + "\n"
        for i in range(4)
    ]
    Path("a").write_text("".join(text))
    Path("b").write_text("".join(text[::-1]))
    assert train("-q", "-t", "4", "-e", "1e-9", "a") == 0
    assert train("-q", "-t", "4", "-e", "1e-9", "b") == 0
    first, second = read_libsvm_model("a.model"), read_libsvm_model("b.model")
    assert sorted(first.serial) == sorted(second.serial)
    coef = [dict(zip(m.serial, m.sv_coef[0], strict=True)) for m in (first, second)]
    for serial, value in coef[0].items():
        assert abs(value) == pytest.approx(abs(coef[1][serial]), abs=1e-6)


def test_memory_and_shrinking_reach_the_solver(capsys):
    options, _ = parse_train("-m 7 -h 0")
    machine = _estimator(options, 2, np.array([2.0, 7.0]))
    assert (machine.cache_size, machine.shrinking) == (7.0, False)
    for words in (["-m", "0"], ["-h", "2"]):
        assert train(*words, "rows") == 2
        assert f"{words[0]} {words[1]}: it takes a" in capsys.readouterr().err


def test_weights_and_a_label_that_is_not_there(capsys):
    assert train("-q", "-w2", "3", "-w5", "2", "rows") == 0
    assert capsys.readouterr().err == (
        "svm-train: WARNING: class label 5 specified in weight is not found\n"
    )
    limits = np.abs(read_libsvm_model("rows.model").sv_coef).max()
    assert limits <= 3.0


def test_more_folds_than_rows(capsys):
    assert train("-v", "100", "-t", "0", "rows") == 0
    assert capsys.readouterr().out == "Cross Validation Accuracy = 100%\n"
    assert not Path("rows.model").exists()


def test_a_fold_may_leave_one_class(capsys):
    Path("few").write_text("1 1:1\n1 1:2\n1 1:3\n-1 1:-4\n")
    assert train("-v", "4", "-t", "0", "few") == 0
    assert capsys.readouterr().out == "Cross Validation Accuracy = 75%\n"


# --- how they end ---------------------------------------------------------------------

USAGE = {
    "unknown": (train, "-z 1 rows", "Unknown option: -z"),
    "no value": (train, "-c", "-c has no value behind it"),
    "no file": (train, "-c 1", "0 files given"),
    "three files": (train, "a b c", "3 files given"),
    "type": (train, "-s 5 rows", "-s 5: it takes a whole number from 0 to 4"),
    "kernel": (train, "-t rbf rows", "-t rbf: it takes a whole number from 0 to 4"),
    "C": (train, "-c -1 rows", "-c -1: it takes a positive, finite number"),
    "C is no number": (train, "-c nan rows", "-c nan: it takes a positive"),
    "nu": (train, "-n 1.5 rows", "-n 1.5: it takes a number above 0, at most 1"),
    "gamma": (train, "-g -1 rows", "-g -1: it takes a finite number of at least 0"),
    "eps": (train, "-e 0 rows", "-e 0: it takes a positive"),
    "folds": (train, "-v 1 rows", "-v 1: it takes a whole number from 2 up"),
    "weight": (train, "-wx 1 rows", "-w x: it takes a whole number"),
    "stdin": (train, "-", "a model of standard input needs a name"),
    "predict": (predict, "rows m", "2 files given, where it takes test_file"),
    "predict option": (predict, "-c 1 a b c", "Unknown option: -c"),
    "scale": (scale, "-l 1 -u 0 rows", "inconsistent lower/upper specification"),
    "scale y": (scale, "-y 1 0 rows", "inconsistent lower/upper specification"),
    "scale both": (scale, "-s a -r b rows", "cannot use -r and -s simultaneously"),
    "scale option": (scale, "-x 1 rows", "Unknown option: -x"),
    "scale number": (scale, "-l x rows", "-l x: it takes a finite number"),
    "scale value": (scale, "-y 1", "-y has no value behind it"),
    "scale files": (scale, "-l 0", "0 files given"),
}


@pytest.mark.parametrize(("command", "words", "said"), USAGE.values(), ids=USAGE.keys())
def test_usage_ends_with_2(command, words, said, capsys):
    code, line = ended(command(*words.split()), capsys)
    assert code == 2
    assert said in line


def test_a_place_that_cannot_be_written_ends_with_2(capsys):
    code, line = ended(train("-q", "rows", "no/such/folder"), capsys)
    assert code == 2
    assert "no/such/folder: there is no folder no/such" in line
    assert ended(train("nowhere", "no/such/folder"), capsys)[0] == 2  # before any work
    assert ended(train("-q", "rows", "."), capsys)[0] == 2
    train("-q", "rows")
    assert ended(predict("rows", "rows.model", "no/such/out"), capsys)[0] == 2
    assert ended(scale("-s", "no/such/ranges", "rows"), capsys)[0] == 2


@pytest.mark.skipif(os.name != "posix", reason="hard links")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (lambda: train("-q", "rows"), "rows.model"),
        (lambda: predict("-q", "rows", "rows.model", "out"), "out"),
        (lambda: scale("-s", "ranges", "rows"), "ranges"),
    ],
    ids=["train", "predict", "scale"],
)
def test_files_are_replaced_as_a_whole(command, name):
    """Whoever has the old file open keeps it: another name of it tells."""
    train("-q", "rows")
    Path(name).write_text("old")
    Path(name).chmod(0o600)
    os.link(name, "kept")
    assert command() == 0
    assert Path("kept").read_text() == "old"
    assert Path(name).read_text() != "old"
    assert Path(name).stat().st_mode & 0o777 == 0o600


BAD = {
    "missing": (None, 0, "cannot be read"),
    "empty": ("", 0, "holds no rows"),
    "descending": ("1 1:1\n-1 2:1 1:1\n", 2, "index '1' follows index '2'"),
    "nan": ("1 1:1\n-1 1:nan\n", 2, "the value of '1:nan' is not finite"),
    "words": ("1 1:1\nspam\n", 2, "the label 'spam' is not a decimal number"),
    "fraction": ("1 1:1\n# note\n\n1.5 1:2\n", 4, "label 1.5 is not a whole number"),
    "one class": ("1 1:1\n1 1:2\n", 0, "number of classes"),
}


@pytest.mark.parametrize(("text", "number", "said"), BAD.values(), ids=BAD.keys())
def test_bad_data_end_with_3(text, number, said, capsys):
    if text is not None:
        Path("bad").write_text(text)
    code, line = ended(train("bad"), capsys)
    assert code == 3
    assert line.startswith(f"bad:{number}: " if number else "bad: ")
    assert said in line
    assert not Path("bad.model").exists()


def test_bad_data_of_the_other_commands_end_with_3(capsys):
    Path("bad").write_text("1 1:1\n1 1:x\n")
    train("-q", "rows")
    for command in (lambda: predict("bad", "rows.model", "out"), lambda: scale("bad")):
        code, line = ended(command(), capsys)
        assert code == 3
        assert line.startswith("bad:2: ")
    assert not Path("out").exists()


def test_an_infeasible_nu_ends_with_3(capsys):
    Path("rare").write_text("1 1:1\n" * 9 + "-1 1:2\n")
    code, line = ended(train("-s", "1", "-n", "0.9", "rare"), capsys)
    assert code == 3
    assert line.startswith("rare: ")
    assert "nu" in line


@pytest.mark.parametrize(
    "text",
    ["", "z\n", "x\n1\n", "x\n-1 1\n2 0 1\n1 0 1\n", "x\n-1 1\n1 0 inf\n", "y\n0 1\n"],
)
def test_bad_ranges_end_with_3(text, capsys):
    Path("ranges").write_text(text)
    code, line = ended(scale("-r", "ranges", "rows"), capsys)
    assert code == 3
    assert line.startswith("ranges:")
    assert ended(scale("-r", "nowhere", "rows"), capsys)[0] == 3


def test_bad_models_end_with_5(capsys):
    Path("m").write_text("svm_type c_svc\nkernel_type magic\n")
    code, line = ended(predict("rows", "m", "out"), capsys)
    assert code == 5
    assert line.startswith("svm-predict: m:2: unknown kernel 'magic'")
    assert ended(predict("rows", "nowhere", "out"), capsys)[0] == 5
    assert not Path("out").exists()


def test_models_that_do_not_fit_end_with_5(capsys):
    train("-q", "rows")
    code, line = ended(predict("-b", "1", "rows", "rows.model", "out"), capsys)
    assert code == 5
    assert "rows.model: Model does not support probability estimates" in line
    Path("kernel").write_text("1 0:1 1:2 2:-1\n-1 0:2 1:-1 2:2\n")
    train("-q", "-t", "4", "kernel")
    Path("short").write_text("1 0:1 1:2\n")
    code, line = ended(predict("short", "kernel.model", "out"), capsys)
    assert code == 5
    assert "training row 2" in line


def test_what_nobody_foresaw_ends_with_1(capsys, monkeypatch):
    def broken(*args, **more):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("maxmargin.libsvm.training.train", broken)
    code, line = ended(train("rows"), capsys)
    assert code == 1
    assert line.startswith("svm-train: internal error, RuntimeError: two lines (")
    monkeypatch.setenv("MAXMARGIN_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        train("rows")


def test_no_memory_ends_with_1(capsys, monkeypatch):
    def full(*args, **more):
        raise MemoryError

    monkeypatch.setattr("maxmargin.libsvm.training.train", full)
    assert ended(train("rows"), capsys)[0] == 1


def test_broken_arithmetic_ends_with_3(capsys, monkeypatch):
    def overflows(*args, **more):
        raise NumericalError("the gradient overflows")

    monkeypatch.setattr("maxmargin.libsvm.training.train", overflows)
    assert ended(train("rows"), capsys) == (3, "rows: the gradient overflows\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_named(capsys):
    train("-q", "rows")
    code, line = ended(predict("-q", "rows", "rows.model", "/dev/full"), capsys)
    assert code == 2
    assert line == "svm-predict: /dev/full: No space left on device\n"


SAME = {
    "train": (train, "-q rows rows"),
    "test": (predict, "rows rows.model rows"),
    "model": (predict, "rows rows.model ./rows.model"),
    "ranges": (scale, "-s rows rows"),
}


@pytest.mark.parametrize(("command", "words"), SAME.values(), ids=SAME.keys())
def test_what_is_read_is_not_replaced(command, words, capsys):
    train("-q", "rows")
    before = Path("rows").read_bytes(), Path("rows.model").read_bytes()
    code, line = ended(command(*words.split()), capsys)
    assert code == 2
    assert "would replace" in line
    assert (Path("rows").read_bytes(), Path("rows.model").read_bytes()) == before


def test_a_tiny_nu_and_a_tiny_cache(capsys):
    assert train("-s", "1", "-n", "1e-300", "rows") == 0
    assert re.search(r"\nC = \S+\nobj = -?[\d.]+, rho", capsys.readouterr().out)
    assert train("-q", "-m", "1e-9", "rows", "small") == 0
    assert train("-q", "rows", "usual") == 0
    assert Path("small").read_bytes() == Path("usual").read_bytes()


@pytest.mark.parametrize("words", ["-g 1e308", "-t 1 -r 1e308", "-t 1 -d 2000000000"])
def test_a_kernel_that_overflows_names_the_option(words, capsys):
    code, line = ended(train(*words.split(), "rows"), capsys)
    assert code == 3
    assert line.endswith(f"; or give a smaller {words.split()[-2]}\n")


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_what_can_be_read_only_once(capsys):
    """The line of a bad label is looked for without opening the pipe again."""
    os.mkfifo("pipe")
    text = "1 1:1\n# note\n1.5 1:2\n"
    writer = threading.Thread(target=lambda: Path("pipe").write_text(text), daemon=True)
    writer.start()
    code, line = ended(train("pipe", "m"), capsys)
    assert (code, line.startswith("pipe:3: label 1.5 is not")) == (3, True)


def test_enough_was_read():
    Path("many").write_text(ROWS * 20_000)
    with start("svm-scale", "many") as process:
        assert process.stdout.readline().startswith(b"2 1:")
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait() == 0
    assert error == b""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["inspect", "/dev/zero"], 5, "maxmargin: /dev/zero: "),
        (["svm-predict", "rows", "/dev/zero", "out"], 5, "svm-predict: /dev/zero: "),
        (["svm-scale", "-r", "/dev/zero", "rows"], 3, "/dev/zero: "),
        (["svm-train", "-", "m"], 3, "<stdin>: "),
    ],
    ids=["inspect", "predict", "ranges", "stdin"],
)
def test_what_never_ends(argv, code, said):
    """In a process that may not use what the system has."""
    import resource

    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (5 << 29, 5 << 29))

    with (
        open("/dev/zero", "rb") as zeros,
        start(*argv, stdin=zeros, preexec_fn=bounded) as process,
    ):
        _, error = process.communicate(timeout=120)
    assert process.returncode == code, error
    assert error.decode().startswith(said)
    assert error.count(b"\n") == 1


# --- Ctrl-C ---------------------------------------------------------------------------


def press_when_solving():
    """One Ctrl-C, a moment after a fit has taken the key over."""

    def wait():
        while not isinstance(
            getattr(signal.getsignal(signal.SIGINT), "__self__", None), Interrupt
        ):
            time.sleep(0.01)
        time.sleep(0.6)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def hard(ctrl_c):
    """Rows that no solver is done with in a while: only a Ctrl-C ends it."""
    rng = np.random.default_rng(0)
    rows = [
        f"{label} " + " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(row)) + "\n"
        for label, row in zip(
            np.arange(3000) % 2, rng.normal(size=(3000, 5)), strict=True
        )
    ]
    Path("hard").write_text("".join(rows))
    assert train("-q", "hard") == 0  # what has to be compiled is
    Path("hard.model").unlink()
    return ["-c", "1e7", "-g", "0.1", "-e", "1e-10", "hard"]


def test_ctrl_c_leaves_the_model_reached_so_far(hard, capsys):
    thread = press_when_solving()
    assert train(*hard) == 130
    thread.join()
    told = capsys.readouterr().err
    assert "interrupted; the model reached so far is in hard.model\n" in told
    assert "Traceback" not in told
    assert read_libsvm_model("hard.model").total_sv > 0
    assert predict("-q", "hard", "hard.model", "out") == 0


def test_ctrl_c_in_a_cross_validation_has_no_result(hard, capsys):
    thread = press_when_solving()
    assert train("-v", "5", *hard) == 130
    thread.join()
    told = capsys.readouterr()
    assert told.out == ""
    assert "interrupted; there is no result\n" in told.err
    assert not Path("hard.model").exists()


def test_ctrl_c_while_reading(monkeypatch, capsys):
    class Stdin:
        class buffer:  # noqa: N801
            @staticmethod
            def read(size):
                raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Stdin)
    code, line = ended(train("-", "m"), capsys)
    assert (code, line) == (130, "svm-train: interrupted\n")


@pytest.mark.parametrize("options", [["-b", "1"], ["-s", "3", "-b", "1", "-p", "0.01"]])
def test_ctrl_c_while_probabilities_are_learnt(options, hard, capsys):
    """In a regression's folds, or in those of a classifier: the machine is there."""
    thread = press_when_solving()
    assert train(*options, *hard) == 130
    thread.join()
    assert read_libsvm_model("hard.model").total_sv > 0
    assert "the model reached so far" in capsys.readouterr().err
