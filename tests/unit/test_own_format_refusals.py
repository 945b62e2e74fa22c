"""Files that are no models, are damaged, or were made to do harm: one sentence each."""

import hashlib
import io
import json
import os
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.fuzz.own_format_files import (
    HEADER,
    loaded,
    packed,
    parts,
    points,
    saved,
    with_header,
)

from maxmargin import SVC, PegasosClassifier
from maxmargin.errors import FileError, InputError, ModelFileError
from maxmargin.persist import header, load, save


@pytest.fixture(scope="module")
def raw():
    X, y = points()
    return saved(SVC(kernel="rbf", random_state=np.random.RandomState(0)).fit(X, y))


def refused(raw, said):
    with pytest.raises(ModelFileError, match=said) as caught:
        loaded(raw)
    assert caught.value.line == 0
    assert "\n" not in str(caught.value)


# --- the file ---------------------------------------------------------------------------


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "model.maxmargin"
    for look in (load, header):
        with pytest.raises(ModelFileError, match="cannot be read: No such file"):
            look(path)
        with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
            look(tmp_path)
    path.write_bytes(b"not a model")
    with pytest.raises(InputError) as caught:
        load(path)
    assert isinstance(caught.value, FileError)
    assert str(caught.value).startswith(f"{path}: it is too short")


def test_every_truncation_is_refused(raw):
    for length in [*range(0, len(raw), 97), len(raw) - 1]:
        refused(raw[:length], "too short|cut off|zip|damaged")


def test_every_byte_counts(raw, tmp_path):
    """Bits of contents, names, sizes and places; not those of times and permissions."""
    model = loaded(raw)
    X, _ = points(5)
    expected = model.decision_function(X).tobytes()
    silent = 0
    for at in range(0, len(raw), 61):
        changed = bytearray(raw)
        changed[at] ^= 0x10
        try:
            found = loaded(bytes(changed))
        except ModelFileError:
            continue
        silent += 1
        assert found.decision_function(X).tobytes() == expected
    assert silent < 30


def test_nothing_may_stand_around_it(raw):
    refused(b"#!/bin/sh\n" + raw, "contradicts|overlap")
    refused(raw + b"\0", "no zip ends where it ends")
    refused(raw[:-2] + b"\x05\x00hello", "no zip ends where it ends")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.npy", "/etc/passwd", "C:\\evil", "arrays\\0000.npy", "arrays/../x.npy",
        "arrays/0001.npy", "arrays/0000.NPY", "header.json", "arrays/", "",
        "arrays/0000.npy\0",
    ],
)  # fmt: skip
def test_names_that_lead_elsewhere(raw, name):
    entries, _ = parts(raw)
    pairs = list(entries.items())
    pairs[1] = (zipfile.ZipInfo("x"), pairs[1][1])
    pairs[1][0].filename = name
    refused(packed(pairs), r"has an entry .* where 'arrays/0000.npy' belongs|overlap")


def test_entries_too_many_too_few_twice(raw):
    entries, _ = parts(raw)
    pairs = list(entries.items())
    refused(packed(pairs[:-1]), "table of arrays")
    refused(packed(pairs[:1]), "table of arrays")
    refused(packed(pairs[1:]), "where 'header.json' belongs")
    refused(packed([*pairs, pairs[-1]]), "has an entry")
    refused(packed([pairs[0], *pairs[:0:-1]]), "has an entry")
    refused(packed([]), "claims 0 entries")
    more = (f"arrays/{len(pairs) - 1:04d}.npy", pairs[1][1])
    refused(packed([*pairs, more]), "table of arrays")


def test_links_and_encryption(raw):
    entries, _ = parts(raw)
    link = zipfile.ZipInfo(HEADER)
    link.external_attr = 0o120777 << 16
    refused(packed([(link, entries[HEADER]), *list(entries.items())[1:]]), "no ordinary")
    at = raw.index(b"PK\x01\x02") + 8
    refused(raw[:at] + b"\x01" + raw[at + 1 :], "encrypted")


def test_compression_is_refused_before_anything_is_unpacked():
    bomb = packed(
        {HEADER: b" " * (1 << 28), "arrays/0000.npy": bytes(1 << 28)},
        compression=zipfile.ZIP_DEFLATED,
    )
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    refused(bomb, "compressed")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 21


def test_a_huge_header_is_refused_before_it_is_read(monkeypatch, raw):
    from maxmargin.persist import own_format

    monkeypatch.setattr(own_format, "LONGEST_HEADER", 1000)
    refused(raw, r"header has [\d,]+ bytes; it may have 1,000")


def test_other_zips(tmp_path):
    refused(packed({"[Content_Types].xml": b"<x/>"}), "where 'header.json' belongs")
    refused(packed({HEADER: b'{"format": "another"}'}), "no model of maxmargin")
    target = io.BytesIO()
    np.savez(target, a=np.zeros(3))
    refused(target.getvalue(), "where 'header.json' belongs")


def test_pickles_are_no_arrays(raw):
    entries, content = parts(raw)
    target = io.BytesIO()
    np.save(target, np.array([os.system], dtype=object), allow_pickle=True)
    entries["arrays/0000.npy"] = target.getvalue()
    refused(packed(entries), "array")
    content["arrays"][0]["dtype"] = "|O"
    entries[HEADER] = json.dumps(content).encode()
    refused(packed(entries), r"dtype '\|O'; allowed are")


# --- the header -------------------------------------------------------------------------


def test_a_newer_version(raw):
    def newer(content):
        content["format_version"] = 2
        content["versions"]["maxmargin"] = "9.1"
        content["something"] = "else"

    refused(
        with_header(raw, newer), r"newer version of maxmargin \('9.1'\), in format 2.*up"
    )


@pytest.mark.parametrize("version", [0, -1, "1", 1.0, None, True, [1]])
def test_no_version(raw, version):
    refused(
        with_header(raw, lambda c: {**c, "format_version": version}), "format version"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[1, 2", "no JSON"),
        (b"[]", "no model"),
        (b'{"format": NaN}', "the word NaN"),
        (b'{"format": 1e999}', "beyond float64"),
        (b'{"a": 1, "a": 2}', "a name twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "no JSON"),
    ],
    ids=lambda value: str(value)[:14],
)
def test_no_header(text, said):
    refused(packed({HEADER: text}), said)


def change(*path, to):
    def changed(content):
        inside = content
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = to

    return changed


ATTRIBUTES = ("model", "object", "attributes")
PARAMS = ("model", "object", "params")


@pytest.mark.parametrize(
    ("where", "to", "said"),
    [
        (("created",), 3, "time of creation"),
        (("versions",), {"numpy": 1}, "versions"),
        (("data_hash",), "zz", "data hash"),
        (("summary",), {}, "summary"),
        (("summary", "steps"), [{"name": 1}], "summary"),
        (("summary", "classes"), [1], "summary"),
        (("summary", "certificate"), {"primal": "x"}, "certificate"),
        (("summary", "certificate", "criterion"), "name", "criterion 'name'"),
        (("summary", "certificate", "primal"), "much", "'primal': 'much'"),
        (("summary", "certificate", "stop"), 3, "'stop': 3"),
        (("summary", "class"), "os.system", "import that module first"),
        (("model",), None, "no model"),
        (("model",), [1], "no model"),
        (("model",), {"list": 1}, "no model"),
        (("model", "object", "class"), "os.system", "no class that this version"),
        (("model", "object", "class"), "builtins.eval", "no class that this version"),
        (("model", "object", "class"), "maxmargin.Certificate", "no class that this"),
        (("model", "object", "class"), 5, "no class that this version"),
        (("model", "object"), {"class": "maxmargin.SVC"}, "must have"),
        ((*PARAMS, "C"), {"complex": 1}, "tag 'complex'"),
        ((*PARAMS, "C"), {"int": "0x1", "float": "nan"}, "tags"),
        ((*PARAMS, "C"), {}, "tags"),
        ((*PARAMS, "C"), {"int": "12_3"}, "no integer"),
        ((*PARAMS, "C"), {"float": "1.5"}, "base 16"),
        ((*PARAMS, "C"), {"bytes": "?"}, "no base64"),
        ((*PARAMS, "C"), {"type": "os.system"}, "no type"),
        ((*PARAMS, "C"), {"module": "os"}, "no module"),
        ((*PARAMS, "C"), {"stop": "NEVER"}, "no reason to stop"),
        ((*PARAMS, "C"), {"dtype": "V8"}, "dtype"),
        ((*PARAMS, "C"), {"scalar": ["<f8", "00"]}, "16 digits"),
        ((*PARAMS, "C"), {"scalar": ["|b1", "02"]}, "other bytes than 0 and 1"),
        ((*PARAMS, "C"), {"scalar": ["<U1", "00000000"]}, "no number"),
        ((*PARAMS, "C"), {"set": [[1]]}, "cannot be in a set"),
        ((*PARAMS, "C"), {"dict": [[[1], 2]]}, "key that cannot be one"),
        ((*PARAMS, "C"), {"dict": [[1]]}, "of another length"),
        ((*PARAMS, "C"), {"slice": [1]}, "of another length"),
        ((*PARAMS, "C"), {"array": 10**9}, "refers to array 1000000000"),
        ((*PARAMS, "C"), {"array": -1}, "refers to array -1"),
        ((*PARAMS, "C"), {"array": "0"}, "no number of an array"),
        ((*PARAMS, "C"), {"function": {"name": "f", "kind": "kernel"}}, "tag 'function'"),
        ((*PARAMS, "kernel"), {"function": {"name": "f"}}, "must have"),
        ((*PARAMS, "kernel"), {"function": {"name": "f\n", "kind": "kernel"}}, r"'f\\n'"),
        ((*PARAMS, "n_jobs"), 10**9, "asks for 1000000000 jobs"),
        ((*PARAMS, "n_jobs"), {"int": "0xffffffffffffffff"}, "asks for 1844"),
        ((*PARAMS, "callbacks"), [1], "which no file may bring"),
        (
            (*PARAMS, "C"),
            {"objects": {"shape": [10**12], "order": "C", "items": []}},
            "another length",
        ),
        (
            (*PARAMS, "C"),
            {"objects": {"shape": [0] + [2**62] * 5, "order": "C", "items": []}},
            "too large",
        ),
        (
            (*PARAMS, "kernel"),
            {"value": {"class": "maxmargin.kernels.RBF", "arguments": {"gamma": -1.0}}},
            "cannot be made of what is there",
        ),
        (
            (*PARAMS, "kernel"),
            {"value": {"class": "maxmargin.kernels.RBF", "arguments": {"x": 1}}},
            "cannot be made of what is there",
        ),
        (
            (*PARAMS, "kernel"),
            {
                "value": {
                    "class": "maxmargin.kernels.Sum",
                    "arguments": {"left": "rbf", "right": "rbf"},
                }
            },
            "no kernel",
        ),
        (
            (*PARAMS, "solver"),
            {"value": {"class": "maxmargin.solvers.Smo", "arguments": {"tol": -1.0}}},
            "cannot be made of what is there",
        ),
        ((*ATTRIBUTES, "__class__"), 1, "cannot have the attribute"),
        ((*ATTRIBUTES, "predict"), 1, "cannot have the attribute"),
        ((*ATTRIBUTES, "not a name"), 1, "cannot have the attribute"),
        ((*ATTRIBUTES, "classes_"), "abc", "classes_ of SVC cannot be"),
        ((*ATTRIBUTES, "n_features_in_"), 0, "n_features_in_ of SVC cannot be"),
        ((*ATTRIBUTES, "certificate_"), 1, "certificate_ of SVC cannot be"),
        ((*ATTRIBUTES, "intercept_"), [1], "intercept_ of SVC cannot be"),
        (("arrays",), [], "table of arrays"),
        (("arrays", 0), {}, "entry of the table of arrays must have"),
        (("arrays", 0, "dtype"), "O", "allowed are"),
        (("arrays", 0, "dtype"), "<c16", "allowed are"),
        (("arrays", 0, "dtype"), "<f16", "allowed are"),
        (("arrays", 0, "dtype"), "<U0", "allowed are"),
        (("arrays", 0, "dtype"), "<M8[xx]", "NumPy does not know"),
        (("arrays", 0, "dtype"), "<U999999999", "dtype|bytes"),
        (("arrays", 0, "shape"), [-1], "no list of counts"),
        (("arrays", 0, "shape"), [1.0], "no list of counts"),
        (("arrays", 0, "shape"), [1] * 65, "no list of counts"),
        (("arrays", 0, "shape"), [10**12], "needs"),
        (("arrays", 0, "shape"), [2**32, 2**32], "needs"),
        (("arrays", 0, "order"), "K", "must be 'C' or 'F'"),
        (("arrays", 0, "sha256"), "00", "64 digits"),
        (("arrays", 0, "sha256"), "0" * 64, "SHA-256"),
    ],
    ids=lambda value: str(value)[-30:],
)
def test_altered_headers(raw, where, to, said):
    refused(with_header(raw, change(*where, to=to)), said)


def test_a_trillion_support_vectors_are_refused_before_allocation(raw):
    def claims(content):
        for line in content["arrays"]:
            line["shape"] = [10**12, *line["shape"][1:]]

    tracemalloc.start()
    began = time.perf_counter()
    refused(with_header(raw, claims), "needs")
    assert time.perf_counter() - began < 5.0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 22


def test_deep_values(raw):
    deep = 1
    for _ in range(150):
        deep = [deep]
    refused(with_header(raw, change(*PARAMS, "C", to=deep)), "more than 100 values")


def test_arrays_that_belong_nowhere(raw):
    def forgets(content):
        del content["model"]["object"]["attributes"]["n_iter_"]

    refused(with_header(raw, forgets), "1 belong nowhere")


def test_half_a_machine(raw):
    def half(content):
        content["arrays"] = content["model"]["object"]["attributes"] = {}

    def without(content):
        del content["model"]["object"]["attributes"]["gamma_"]

    def other_half(content):
        content["model"]["object"]["attributes"] = {"fit_status_": 0}

    refused(with_header(raw, without), r"SVC has \w+, but lacks gamma_")
    refused(with_header(raw, other_half), "SVC has fit_status_, but lacks support_, n_su")
    refused(with_header(raw, half), "table of arrays")


def test_the_state_of_a_generator(raw):
    def outside(content):
        state = content["model"]["object"]["params"]["random_state"]["RandomState"]
        inner = dict(state["dict"])["state"]["dict"]
        inner[[key for key, _ in inner].index("pos")][1] = 10**6

    refused(with_header(raw, outside), "stands outside its numbers")


def test_parameters_younger_than_the_file_have_their_default(raw):
    def older(content):
        del content["model"]["object"]["params"]["calibration"]

    assert loaded(with_header(raw, older)).calibration == "sigmoid"


def test_a_cache_folder_in_a_file_is_refused():
    raw = saved(make_pipeline(SVC()))
    evil = change("model", "object", "params", "memory", to="/tmp/pickles")
    refused(with_header(raw, evil), "'memory', which no file may bring")


@pytest.mark.parametrize("step", [3, "drop", {"bytes": "AAAA"}], ids=str)
def test_a_step_that_is_no_estimator_is_refused(step):
    raw = saved(make_pipeline(SVC()))

    def other(content):
        content["model"]["object"]["params"]["steps"][0]["tuple"][1] = step

    refused(with_header(raw, other), "step 'svc' of a pipeline is no estimator")


# --- what compiled code would believe ---------------------------------------------------


def test_columns_of_a_one_hot_encoder():
    coder = OneHotEncoder(sparse_output=False, min_frequency=2, drop="first")
    colours = [["red"], ["red"], ["blue"], ["blue"], ["green"]]
    raw = saved(coder.fit(colours))
    assert loaded(raw).transform(colours).tolist() == coder.transform(colours).tolist()
    path = ("model", "object", "attributes")
    for name, wrong in (
        ("_n_features_outs", [1]),
        ("_n_features_outs", [10**9]),
        ("_n_features_outs", []),
        ("_drop_idx_after_grouping", None),
        ("categories_", ["red"]),
        ("_default_to_infrequent_mappings", [None]),
    ):
        changed = with_header(raw, change(*path, name, to=wrong))
        refused(changed, "encoder|belong nowhere")


@pytest.mark.parametrize("columns", [[0, 5], [-1, 0], [0, 0], [0, "1"], [0, True]])
def test_columns_of_a_vectorizer(columns):
    raw = saved(CountVectorizer().fit(["one two"]))
    words = {"dict": [["one", columns[0]], ["two", columns[1]]]}
    changed = change("model", "object", "attributes", "vocabulary_", to=words)
    refused(with_header(raw, changed), "does not number its words")


def with_array(raw, number, values):
    """The file with other values in an array, and everything that says so."""
    entries, content = parts(raw)
    line = content["arrays"][number]
    line["shape"], line["dtype"] = list(values.shape), values.dtype.str
    line["sha256"] = hashlib.sha256(values.tobytes()).hexdigest()
    target = io.BytesIO()
    np.save(target, values)
    entries[f"arrays/{number:04d}.npy"] = target.getvalue()
    entries[HEADER] = json.dumps(content).encode()
    return packed(entries)


def test_a_walk_of_another_width():
    X, y = points()
    machine = PegasosClassifier(max_iter=2, tol=1.0).fit(X, y > 0)
    raw = saved(machine)
    walk = parts(raw)[1]["model"]["object"]["attributes"]["_walks"][0]["value"]
    numbers = {name: item["array"] for name, item in walk["arguments"].items()}
    assert loaded(with_array(raw, numbers["v"], np.zeros(4))).t_ == machine.t_
    for name, wrong in (
        ("u", np.zeros(3)),
        ("v", np.zeros(9)),
        ("sums", np.zeros((3, 1))),
        ("sums", np.zeros((1, 4))),
        ("reals", np.zeros(1)),
        ("counters", np.zeros(2, np.int64)),
        ("counters", np.zeros(6)),
        ("v", np.full(4, np.nan)),
    ):
        refused(with_array(raw, numbers[name], wrong), "walk")


def test_calibrators_that_do_not_rise():
    X, y = points()
    machine = SVC(probability=True, calibration="isotonic").fit(X, y > 0)
    raw = saved(machine)
    inside = parts(raw)[1]["model"]["object"]["attributes"]["calibrators_"][0]["value"]
    numbers = {name: item["array"] for name, item in inside["arguments"].items()}
    size = machine.calibrators_[0].scores.size
    for name, wrong in (
        ("scores", np.zeros(size)),
        ("scores", np.arange(size + 1.0)),
        ("scores", np.full(size, np.nan)),
        ("values", np.linspace(1.0, 0.0, size)),
        ("values", np.linspace(0.0, 2.0, size)),
        ("values", np.zeros((size, 1))),
    ):
        refused(with_array(raw, numbers[name], wrong), "no increasing function")


@pytest.mark.parametrize(
    ("dtype", "raw_values", "said"),
    [("|b1", b"\x00\x02", "booleans"), ("<U1", b"\xff\xff\xff\x7f" * 2, "no characters")],
)
def test_bits_that_are_no_values(dtype, raw_values, said):
    machine = SVC()
    machine.value = np.zeros(2, dtype)
    refused(with_array(saved(machine), 0, np.frombuffer(raw_values, dtype)), said)


def test_altered_machines_are_refused_when_they_are_asked(raw):
    """Their own checks: what the file says fits together, but not with the rest."""
    X, _ = points(5)
    content = parts(raw)[1]["model"]["object"]["attributes"]
    for name, wrong in (
        ("support_vectors_", np.zeros((2, 3))),
        ("dual_coef_", np.zeros((2, 5))),
        ("n_support_", np.array([10**6, 1, 1], np.int32)),
        ("intercept_", np.full(3, np.nan)),
        ("classes_", np.arange(5)),
    ):
        model = loaded(with_array(raw, content[name]["array"], wrong))
        with pytest.raises(InputError, match=f"was altered: {name}|was altered"):
            model.predict(X)


def test_padding_of_npy_headers_is_free(raw):
    """np.save pads more than we do."""
    content = parts(raw)[1]["model"]["object"]["attributes"]
    number = content["intercept_"]["array"]
    model = loaded(raw)
    again = loaded(with_array(raw, number, model.intercept_))
    assert again.intercept_.tobytes() == model.intercept_.tobytes()


def test_saving_does_not_write_what_cannot_be_loaded(tmp_path):
    """A machine whose attributes are no longer its own is refused when it is loaded."""
    X, y = points()
    machine = SVC().fit(X, y)
    machine.classes_ = "abc"
    save(machine, tmp_path / "m")
    with pytest.raises(ModelFileError, match="classes_ of SVC cannot be"):
        load(tmp_path / "m")
