"""No file, however altered, does more than be refused: nothing crashes, hangs or runs."""

import copy
import functools
import hashlib
import json
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.own_format_files import (
    HEADER,
    loaded,
    machines,
    packed,
    parts,
    points,
    same,
    saved,
    used,
)

from maxmargin.errors import InputError, ModelFileError

FEW = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "300")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@functools.cache
def models():
    return machines()


@functools.cache
def files():
    return [saved(model) for model in models()]


WHICH = st.integers(0, 3)

EDITS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "put", "cut", "end", "twice"]),
        st.integers(0, 2**32),
        st.binary(min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=4,
)


def edited(raw, edits):
    raw = bytearray(raw)
    for what, where, bits in edits:
        at = where % (len(raw) + 1)
        if what == "flip":
            for k, byte in enumerate(bits):
                if at + k < len(raw):
                    raw[at + k] ^= byte
        elif what == "put":
            raw[at:at] = bits
        elif what == "cut":
            del raw[at : at + len(bits)]
        elif what == "end":
            del raw[at:]
        else:
            raw[at:at] = raw[max(0, at - 50) : at]
    return bytes(raw)


@FEW
@given(WHICH, EDITS)
def test_altered_bytes(which, edits):
    raw = edited(files()[which], edits)
    try:
        model = loaded(raw)
    except ModelFileError as refusal:
        said = str(refusal)
    else:
        said = ""
        same(models()[which], model)  # a time or permission of the zip, nothing else
    assert said.isascii()
    assert "\n" not in said


@FEW
@given(st.binary(max_size=300))
def test_any_bytes(raw):
    with pytest.raises(ModelFileError):
        loaded(raw)


# --- headers ----------------------------------------------------------------------------


def places(content, path=()):
    """Every place of a JSON tree."""
    yield path
    inside = content if isinstance(content, dict) else dict(enumerate(content))
    for key, item in inside.items():
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))
        else:
            yield (*path, key)


def put(content, path, value):
    *way, last = path
    for key in way:
        content = content[key]
    content[last] = value


def taken(content, path):
    for key in path:
        content = content[key]
    return content


@functools.cache
def headers():
    """Contents, and every place in the model that a file describes."""
    found = []
    for raw in files():
        entries, content = parts(raw)
        where = [("model", *path) for path in places(content["model"]) if path]
        where += [("arrays", *path) for path in places(content["arrays"]) if path]
        found.append((entries, content, where))
    return found


TAGS = [
    "int", "float", "bytes", "stop", "type", "module", "dtype", "scalar", "tuple", "set",
    "frozenset", "dict", "slice", "array", "objects", "sparse", "object", "value",
    "RandomState", "Generator", "function", "numpy.str_", "numpy.bytes_",
]  # fmt: skip
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-3, 10)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["precomputed", "linear", "<f8", "<i4", "nan", "maxmargin.SVC"])
)
ANYTHING = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(TAGS), inner, min_size=1, max_size=1)
    ),
    max_leaves=6,
)


@FEW
@given(WHICH, st.data())
def test_altered_headers(which, data):
    entries, content, where = headers()[which]
    content = copy.deepcopy(content)
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(where))
        other = data.draw(
            ANYTHING
            | st.sampled_from(where).map(lambda one: taken(headers()[which][1], one))
        )
        try:
            put(content, path, copy.deepcopy(other))
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    altered(entries, content)


@FEW
@given(WHICH, st.data())
def test_things_left_out_of_headers(which, data):
    entries, content, where = headers()[which]
    content = copy.deepcopy(content)
    path = data.draw(st.sampled_from(where))
    del taken(content, path[:-1])[path[-1]]
    altered(entries, content)


@FEW
@given(WHICH, st.data())
def test_altered_arrays(which, data):
    """Other numbers of the same size, with the right checksums."""
    entries, content, _ = headers()[which]
    content, entries = copy.deepcopy(content), dict(entries)
    number = data.draw(st.integers(0, len(content["arrays"]) - 1))
    name = f"arrays/{number:04d}.npy"
    line = content["arrays"][number]
    begin = entries[name].index(b"\n") + 1
    values = np.frombuffer(entries[name][begin:], line["dtype"]).copy()
    raw = bytearray(values.tobytes())
    odd = data.draw(st.sampled_from(["noise", "extremes", "scale"]))
    if odd == "noise":
        for _ in range(data.draw(st.integers(1, 5))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    elif odd == "extremes":
        at = data.draw(st.integers(0, values.size - 1))
        size = values.itemsize
        pattern = data.draw(st.sampled_from([b"\xff", b"\x7f", b"\x80", b"\x00"]))
        raw[at * size : (at + 1) * size] = pattern * size
    else:
        raw[::2] = raw[1::2] if len(raw) % 2 == 0 else raw[::2]
    entries[name] = entries[name][:begin] + bytes(raw)
    line["sha256"] = hashlib.sha256(raw).hexdigest()
    altered(entries, content)


def altered(entries, content):
    """A file with this header is refused, or a model that can be asked without harm."""
    raw = packed({**entries, HEADER: json.dumps(content).encode()})
    try:
        model = loaded(raw)
    except InputError:
        return
    X, _ = points(5)
    used(model, X)
