"""Coverage-guided fuzzing of the own format's reader, by atheris.

``python tests/fuzz/fuzz_own_format.py -runs=1000000 [corpus folder]``; any argument of
libFuzzer works. The first byte of an input says what the rest is:

- a whole file (mutations break a checksum somewhere, and must all be noticed);
- a header alone, with arrays that are there (so that checksums do not stand in the way);
- an npy entry, behind a line of the table of arrays that fits, or nearly.

Nothing may come out but a refusal, or a model that answers or refuses to. Fails loudly
otherwise: an exception ends the run with the input that caused it.
"""

import copy
import json
import sys
import tempfile
from pathlib import Path

import atheris

import maxmargin

# What is imported before is not instrumented: Numba could not compile it then.
for name in maxmargin.__all__:
    getattr(maxmargin, name)

with atheris.instrument_imports(include=["maxmargin.persist"]):
    from maxmargin.persist import own_format
    from maxmargin.persist.own_files import checks as _checks
    from maxmargin.persist.own_files import container as _container
    from maxmargin.persist.own_files import decoding as _decoding
    from maxmargin.persist.own_files import npy as _npy
    from maxmargin.persist.own_files.malformed import refuse

import numpy as np  # noqa: E402
from tests.fuzz import own_format_files as files  # noqa: E402

from maxmargin.errors import InputError  # noqa: E402

POINTS, _ = files.points(3)
WHOLE, HEADER, ARRAY = range(3)
LINES = [
    ("<f8", (2, 3), "C"),
    ("<f8", (3, 2), "F"),
    ("|b1", (4,), "C"),
    ("<U2", (2,), "C"),
    ("<i4", (), "C"),
    ("<f4", (0, 5), "C"),
]


class Reader:
    """What ``Container.reader`` gives, without a zip."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def __call__(self, buffer):
        part = self.raw[self.at : self.at + buffer.nbytes]
        if len(part) < buffer.nbytes:
            refuse("cut off")
        buffer[:] = part
        self.at += buffer.nbytes


def whole_file(raw):
    files.used(files.loaded(raw), POINTS)


def header_alone(raw):
    which, text = raw[0] % len(ARRAYS), raw[1:]
    with own_format._reported("<bytes>"):
        content = own_format.parsed_header(text, len(ARRAYS[which]))
        arrays = ARRAYS[which]

        def array(number):
            if not 0 <= number < len(arrays):
                refuse("no such array")
            return arrays[number]

        model = _decoding.Decoder(array, None).decode(content["model"])
    if hasattr(model, "predict"):
        files.used(model, POINTS)


def npy_entry(raw):
    dtype, shape, order = LINES[raw[0] % len(LINES)]
    body = raw[1:]
    values = body[len(body) - _npy.ArrayLine(dtype, shape, order, "").n_bytes :]
    line = _npy.ArrayLine(dtype, shape, order, _npy.hashlib.sha256(values).hexdigest())
    with own_format._reported("<bytes>"):
        array = _npy.restored(line, len(body), Reader(body))
    assert array.shape == shape
    repr(array)


TARGETS = [whole_file, header_alone, npy_entry]


def one_input(raw):
    if len(raw) < 2:
        return
    try:
        TARGETS[raw[0] % len(TARGETS)](raw[1:])
    except InputError:
        return


# --- mutations that leave a header JSON -------------------------------------------------

ODD = [
    None, True, 0, -1, 3, 2**31, 2**64, 1.5, "", "rbf", "precomputed", "<f8", "<i4", [],
    {}, [1, 2], {"array": 0}, {"array": 99}, {"int": "0x10"}, {"float": "nan"},
    {"tuple": [2, 3]},
    {"dict": [[0, 1]]}, {"function": {"name": "f", "kind": "kernel"}}, {"stop": "CLOSED"},
    {"scalar": ["<f8", "00" * 8]}, {"type": "numpy.float64"}, {"dtype": "|O"},
    {"objects": {"shape": [1], "order": "C", "items": ["a"]}}, {"slice": [0, 1, None]},
    {"sparse": {"class": "csr_matrix", "shape": [2, 3], "data": 0, "indices": 1,
                "indptr": 2}},
    {"value": {"class": "maxmargin.kernels.Linear", "arguments": {}}},
]  # fmt: skip


def places(content):
    """Containers and keys of everything in a JSON tree."""
    todo, found = [content], []
    while todo:
        inside = todo.pop()
        keys = inside if isinstance(inside, dict) else range(len(inside))
        for key in keys:
            found.append((inside, key))
            if isinstance(inside[key], dict | list):
                todo.append(inside[key])
    return found


def mutated(raw, limit, seed):
    """Another value somewhere in a header, or what libFuzzer does."""
    random = np.random.RandomState(seed)
    if len(raw) < 3 or raw[0] % len(TARGETS) != HEADER or random.rand() < 0.3:
        return atheris.Mutate(raw, limit)
    try:
        content = json.loads(raw[2:])
        where = places(content)
    except (ValueError, RecursionError, TypeError):
        return atheris.Mutate(raw, limit)
    if not isinstance(content, dict | list):
        return atheris.Mutate(raw, limit)
    for _ in range(random.randint(1, 4)):
        if not where:
            break
        inside, key = where[random.randint(len(where))]
        other, name = where[random.randint(len(where))]
        choice = random.randint(4)
        if choice == 0:
            new = ODD[random.randint(len(ODD))]
        elif isinstance(other, dict):
            new = other.get(name)
        else:
            new = other[name] if name < len(other) else None
        new = copy.deepcopy(new)
        if isinstance(inside, list) and (choice == 3 or key >= len(inside)):
            inside.append(new)
        elif choice == 2 and isinstance(inside, dict):
            inside.pop(key, None)
        else:
            inside[key] = new
    return (raw[:2] + json.dumps(content).encode())[:limit]


def seeds(folder):
    """Inputs to begin with: real files, their headers and entries."""
    for which, model in enumerate(MODELS):
        raw = files.saved(model)
        entries, _ = files.parts(raw)
        (folder / f"whole{which}").write_bytes(bytes([WHOLE]) + raw)
        header = bytes([HEADER, which]) + entries[files.HEADER]
        (folder / f"header{which}").write_bytes(header)
    for which, (dtype, shape, order) in enumerate(LINES):
        line, flat = _npy.described(np.zeros(shape, dtype, order=order))
        entry = b"".join(_npy.pieces(line, flat))
        (folder / f"array{which}").write_bytes(bytes([ARRAY, which]) + entry)


def arrays_of(model):
    raw = files.saved(model)
    container = _container.Container(files.io.BytesIO(raw))
    lines = own_format._content(container)["arrays"]
    return [
        _npy.restored(line, container.length(at + 1), container.reader(at + 1))
        for at, line in enumerate(lines)
    ]


MODELS = files.machines()
ARRAYS = [arrays_of(model) for model in MODELS]
assert _checks.check  # instrumented with the rest

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        seeds(Path(name))
        arguments = [*sys.argv, name]
        atheris.Setup(arguments, one_input, custom_mutator=mutated)
        atheris.Fuzz()
