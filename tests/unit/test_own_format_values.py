"""Every value of a parameter or attribute comes back as it was, type and bits."""

import math
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from tests.fuzz.own_format_files import same

from maxmargin import SVC, Certificate
from maxmargin.errors import InputError, InputTypeError, Stop
from maxmargin.persist import data_hash, load, save
from maxmargin.persist.own_files.registry import name_of, objects, resolved, values
from maxmargin.probability import Isotonic, Sigmoid

ODD_NAN = struct.unpack(">d", bytes.fromhex("fff800000000beef"))[0]

VALUES_TO_KEEP = {
    "nothing": None,
    "booleans": [True, False],
    "integers": [0, -1, 2**53 - 1, 2**53, -(2**53), 2**200, -(3**5000)],
    "floats": [0.0, -0.0, 0.1, 1e300, 5e-324, math.inf, -math.inf, math.nan, ODD_NAN],
    "texts": ["", "a\n\0b", "β", "\ud800", "\U0001f600", "x" * 100],
    "bytes": [b"", bytes(range(256))],
    "lists": [[], [[]], [1, [2, (3, [])]]],
    "tuples": ((), (1,), ((2,), [3])),
    "tables": {1: "a", "1": "b", (1, 2): {}, None: 3, 2.5: [], b"k": {"x": (1,)}},
    "sets": [set(), {1, 2, 3}, frozenset({"a", "b"})],
    "slices": [slice(None), slice(1, None, -1)],
    "dtypes": [np.dtype("f4"), np.dtype(">i8"), np.dtype("U7"), np.dtype(object),
               np.dtype("M8[ns]")],
    "types": [np.float64, np.number, object, int, str, np.object_],
    "scalars": [np.float32(0.1), np.float64(-0.0), np.int8(-3), np.uint64(2**64 - 1),
                np.bool_(True), np.str_("a\0"), np.bytes_(b"a\0"), np.float16(1.5),
                np.datetime64("2020-01-01T12"), np.timedelta64(3, "D")],
    "stop": Stop.CLOSED,
    "module": np.random,
    "calibrators": [Sigmoid(-1.5, 0.25), Isotonic(np.arange(2.0), np.array([0.2, 1]))],
}  # fmt: skip

ARRAYS = {
    "float16": np.arange(3, dtype=np.float16),
    "big endian": np.arange(3, dtype=">f8"),
    "bool": np.array([True, False]),
    "text": np.array(["a", "βγδ"]),
    "text, big endian": np.array(["a", "βγδ"], dtype=">U5"),
    "bytes": np.array([b"a", b"bcd"]),
    "times": np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    "spans": np.array([1, 2], dtype="m8[25us]"),
    "C": np.arange(6.0).reshape(2, 3),
    "F": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "scattered": np.arange(24.0).reshape(4, 6)[::2, ::3],
    "backwards": np.arange(5)[::-1],
    "one number": np.array(3.5),
    "empty": np.empty((0, 4), dtype=np.float32),
    "many axes": np.arange(2**5).reshape((2,) * 5),
    "nan": np.array([np.nan, ODD_NAN, -0.0]),
    "objects": np.array([["a", None], [1.5, (1, 2)]], dtype=object),
    "objects, F": np.asfortranarray(np.array([["a", 2], [None, "d"]], dtype=object)),
    "no objects": np.empty((0, 2), dtype=object),
    "arrays in objects": np.array([np.arange(2.0), "x", None], dtype=object),
}


def kept(value, tmp_path):
    """What comes back of a value, which an attribute of a machine has."""
    machine = SVC()
    machine.value = value
    save(machine, tmp_path / "m")
    return load(tmp_path / "m").value


@pytest.mark.parametrize("name", VALUES_TO_KEEP)
def test_values(name, tmp_path):
    same(VALUES_TO_KEEP[name], kept(VALUES_TO_KEEP[name], tmp_path))


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name, tmp_path):
    same(ARRAYS[name], kept(ARRAYS[name], tmp_path))


def test_a_float_keeps_the_bits_of_its_nan(tmp_path):
    assert struct.pack(">d", kept(ODD_NAN, tmp_path)).hex() == "fff800000000beef"


def test_read_only_and_mapped_arrays_become_ordinary(tmp_path):
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    np.save(tmp_path / "a.npy", fixed)
    for array in (fixed, np.load(tmp_path / "a.npy", mmap_mode="r")):
        same(np.arange(3.0), kept(array, tmp_path))


def test_one_array_stays_one(tmp_path):
    array = np.arange(3.0)
    first, second = kept([array, array], tmp_path)
    assert first is second


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "csc_matrix", "csc_array"])
def test_sparse(kind, index, tmp_path):
    matrix = getattr(sp, kind)(np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -0.0]]))
    matrix.indices, matrix.indptr = (
        matrix.indices.astype(index),
        matrix.indptr.astype(index),
    )
    again = kept(matrix, tmp_path)
    same(matrix, again)
    assert (again @ np.ones(3)).tolist() == [1.5, 2.0]
    same(type(matrix)((0, 5)), kept(type(matrix)((0, 5)), tmp_path))


def test_sparse_with_duplicates_and_disorder(tmp_path):
    matrix = sp.csr_matrix(
        (np.arange(4.0), np.array([2, 0, 2, 2]), np.array([0, 2, 4])), shape=(2, 3)
    )
    again = kept(matrix, tmp_path)
    same(matrix, again)
    assert again.toarray().tolist() == matrix.toarray().tolist()
    assert not again.has_sorted_indices


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_go_on(name, tmp_path):
    generator = np.random.Generator(getattr(np.random, name)(7))
    generator.normal(size=5)
    generator.integers(0, 100, 3, dtype=np.int32)  # leaves half a draw behind
    again = kept(generator, tmp_path)
    assert again.normal(size=9).tolist() == generator.normal(size=9).tolist()
    assert again.integers(0, 99, 9).tolist() == generator.integers(0, 99, 9).tolist()


def test_random_states_go_on(tmp_path):
    random = np.random.RandomState(3)
    random.normal(size=3)  # keeps one of a pair
    again = kept(random, tmp_path)
    assert again.normal(size=9).tolist() == random.normal(size=9).tolist()
    assert again.randint(99, size=9).tolist() == random.randint(99, size=9).tolist()


def test_certificates(tmp_path):
    inner = Certificate(1.0, 0.5, 0.5, 0.1, math.nan, (math.nan, math.inf), 3, 2, 1)
    whole = Certificate(1.0, 0.5, 0.5, 0.1, 0.2, (0.0, 1.0), 3, 2, 1, problems=(inner,))
    same(whole, kept(whole, tmp_path))


def test_names_of_pandas_become_a_list(tmp_path):
    assert kept(pd.Index(["a", "b"]), tmp_path) == ["a", "b"]


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2, dtype=[("a", int)]),
        np.array([1j]),
        np.array([1], dtype=np.longdouble),
        np.dtype([("a", int)]),
        np.ma.masked_array([1.0]),
        range(3),
        pd.Series([1.0]),
        len,
        np.linalg,
        Certificate,
        np.complex64(1),
        np.void(b"abc"),
    ],
    ids=repr,
)
def test_values_that_cannot_be_kept(value, tmp_path):
    with pytest.raises(InputTypeError, match=r"SVC\.value is"):
        kept(value, tmp_path)


# --- the registry -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [*objects(), *values()])
def test_names_and_classes_are_one_to_one(name):
    table = objects() if name in objects() else values()
    if name == "maxmargin.data_files.TableEncoder":
        pytest.importorskip("maxmargin.data_files.columns.encoder")
    assert name_of(resolved(name, table), table) == name


def test_every_machine_solver_and_kernel_can_be_saved():
    import maxmargin
    from maxmargin import kernels, solvers

    known = {name.rpartition(".")[2] for name in (*objects(), *values())}
    machines = {
        name for name in maxmargin.__all__ if hasattr(getattr(maxmargin, name), "fit")
    }
    everything = {
        name
        for home in (kernels, solvers, solvers.linear)
        for name in home.__all__
        if isinstance(getattr(home, name), type)
    }
    abstract = {"FunctionKernel", "Kernel", "Measures", "Snapshot", "Solver", "Status",
                "Steppable", "PairKernel", "DotKernel"}  # fmt: skip
    assert machines <= known
    assert everything - abstract - {"Step"} <= known


# --- hashes of data ---------------------------------------------------------------------

ROWS = np.array([[0.0, 1.5, -2.0], [0.0, 0.0, 0.25], [3.0, 0.0, 0.0]])
LABELS = [0, 1, 1]


@pytest.mark.parametrize(
    "same_rows",
    [
        ROWS.astype(np.float32),
        np.asfortranarray(ROWS),
        ROWS.tolist(),
        sp.csr_matrix(ROWS),
        sp.csc_array(ROWS),
        sp.csr_array((ROWS[ROWS != 0][::-1][[3, 2, 1, 0]], np.nonzero(ROWS)[1],
                      [0, 2, 3, 4]), shape=(3, 3)),
        sp.csr_matrix(([1, 0.5, -2, 0, 0.25, 3], [1, 1, 2, 1, 2, 0], [0, 3, 5, 6])),
        np.where(ROWS == 0.0, -0.0, ROWS),
        ROWS.astype(">f8"),
    ],
    ids=["float32", "F", "list", "csr", "csc", "csr_array", "duplicates", "-0.0", ">f8"],
)  # fmt: skip
def test_the_hash_is_of_the_numbers(same_rows):
    assert data_hash(same_rows, LABELS) == data_hash(ROWS, LABELS)


def test_the_hash_does_not_depend_on_blocks(monkeypatch):
    from maxmargin.persist.own_files import hashing as _hashing

    before = data_hash(ROWS, LABELS)
    monkeypatch.setattr(_hashing, "_BLOCK", 1)
    assert data_hash(ROWS, LABELS) == before


def test_another_thing_has_another_hash():
    changed = ROWS.copy()
    changed[0, 1] = np.nextafter(1.5, 2)
    frame = pd.DataFrame(ROWS, columns=list("abc"))
    holes = pd.DataFrame({"a": ["x", None, "None"]})
    hashes = [
        data_hash(ROWS, LABELS), data_hash(ROWS), data_hash(ROWS, LABELS[::-1]),
        data_hash(ROWS, ["0", "1", "1"]), data_hash(changed, LABELS),
        data_hash(ROWS[::-1], LABELS), data_hash(ROWS[:, ::-1], LABELS),
        data_hash(np.hstack([ROWS, np.zeros((3, 1))]), LABELS), data_hash(frame, LABELS),
        data_hash(frame.rename(columns={"a": "z"}), LABELS), data_hash(ROWS, [0, 1, 2]),
        data_hash(holes), data_hash(holes.fillna("None")),
        data_hash(np.array(["ab", "c"])), data_hash(np.array(["a", "bc"])),
        data_hash(np.array([[np.nan, 1.0]])), data_hash(np.array([[0.0, 1.0]])),
    ]  # fmt: skip
    assert len(set(hashes)) == len(hashes)


def test_tables_of_every_library_have_one_hash():
    columns = {"x": [0.5, 1.0, 2.0], "colour": ["red", "blue", "red"]}
    tables = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    assert len({data_hash(table, LABELS) for table in tables}) == 1


def test_every_nan_is_one():
    assert data_hash([[math.nan]]) == data_hash([[ODD_NAN]])


@pytest.mark.parametrize(
    "wrong", [np.zeros(3), np.zeros((1, 1, 1)), np.zeros((2, 2), "O")]
)
def test_what_has_no_hash(wrong):
    with pytest.raises(InputTypeError, match="X has"):
        data_hash(wrong)


def test_labels_are_one_a_row():
    assert data_hash(ROWS, np.array([LABELS]).T) == data_hash(ROWS, LABELS)
    with pytest.raises(InputError, match="one value a row"):
        data_hash(ROWS, np.zeros((3, 2)))
