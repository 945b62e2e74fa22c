"""JSON and arrays → values: the inverse of :mod:`maxmargin.persist.own_files.encoding`.

No name in a file is imported, called or evaluated: classes come from the registries,
types and modules from tables, functions from the caller.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.certificate import Certificate
from maxmargin.errors import InputError, Stop
from maxmargin.kernels import Kernel
from maxmargin.kernels import kernel as as_kernel
from maxmargin.persist.own_files.checks import check, check_random
from maxmargin.persist.own_files.deleted import DELETED, DELETED_ARGUMENTS
from maxmargin.persist.own_files.malformed import refuse, shown
from maxmargin.persist.own_files.npy import check_values, checked_dtype, is_shape
from maxmargin.persist.own_files.registry import (
    DEEPEST,
    MODULES,
    MOST_JOBS,
    NOT_SAVED,
    TYPES,
    objects,
    parameters_of,
    resolved,
    values,
)
from maxmargin.validation.csr import check_structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "csc_array")
_HEXADECIMAL = re.compile("-?0x[0-9a-f]+")
_STOPS = {one.value: one for one in Stop}  # in certificates they are sentences
_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Decoder:
    """Turns the JSON of a file into values.

    Parameters
    ----------
    array : callable
        Returns the array of a number; of the same number, the same object.
    kernel : callable, mapping of names to callables, or None
        The kernels that are functions: the file has their names only.
    """

    def __init__(self, array: Callable[[int], NDArray[Any]], kernel: Any = None) -> None:
        self._array_of = array
        self._kernel = kernel
        self._names = {"object": objects(), "value": values()}
        self.classes: set[str] = set()  # of the restored objects
        self.functions: set[str] = set()  # names that the file asked for
        self.deleted: set[str] = set()  # names of classes that this version lacks

    def decode(self, value: Any, depth: int = 0, *, functions: bool = False) -> Any:
        """Return the value of a piece of JSON.

        Parameters
        ----------
        value : object
            The result of ``json.loads``.
        depth : int
            How many values enclose it.
        functions : bool
            Whether a function may be here: only kernels can be.
        """
        if depth > DEEPEST:
            refuse(f"more than {DEEPEST} values are nested in it")
        if isinstance(value, list):
            return [self.decode(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            refuse(f"a value has the tags {shown(list(value))}; it must have one")
        ((tag, content),) = value.items()
        if tag == "function" and functions:
            return self._function(content)
        if tag in _PLAIN:
            return _PLAIN[tag](content)
        if tag not in _NESTED:
            refuse(f"a value has the tag {shown(tag)}, which has no meaning there")
        return _NESTED[tag](self, content, depth + 1)

    # --- containers -------------------------------------------------------------------

    def _items(self, content: Any, depth: int, count: int | None = None) -> list[Any]:
        if not isinstance(content, list) or count not in (None, len(content)):
            refuse(f"{shown(content)} is no list of values, or of another length")
        return [self.decode(item, depth) for item in content]

    def _set(self, content: Any, depth: int) -> Any:
        items = self._items(content, depth)
        try:
            return set(items)
        except TypeError as error:
            refuse("a set holds what cannot be in a set", error)

    def _dict(self, content: Any, depth: int) -> Any:
        found: dict[Any, Any] = {}
        if not isinstance(content, list):
            refuse(f"{shown(content)} is no list of keys and values")
        for pair in content:
            key, item = self._items(pair, depth, 2)
            try:
                found[key] = item
            except TypeError as error:
                refuse(f"a table has a key that cannot be one: {shown(pair)}", error)
        return found

    # --- arrays -----------------------------------------------------------------------

    def _array(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        if type(content) is not int:
            refuse(f"{shown(content)} is no number of an array")
        return self._array_of(content)

    def _objects(self, content: Any, depth: int) -> Any:
        shape, order, items = _fields(content, "shape", "order", "items")
        shape = _shape(shape)
        values = self._items(items, depth, math.prod(shape))
        if order not in ("C", "F"):
            refuse(f"an array has the order {shown(order)}: it must be 'C' or 'F'")
        try:
            found = np.empty(shape, dtype=object, order=order)
        except ValueError as error:
            refuse(f"an array has the shape {shown(shape)}, which is too large", error)
        flat = found.reshape(-1, order=order)
        for at, value in enumerate(values):
            flat[at] = value
        return found

    def _sparse(self, content: Any, depth: int) -> Any:
        name, shape, *parts = _fields(
            content, "class", "shape", "data", "indices", "indptr"
        )
        if name not in _SPARSE:
            refuse(f"{shown(name)} is no sparse matrix that may be in a file")
        shape = _shape(shape)
        data, indices, indptr = (self._array(part, depth) for part in parts)
        numeric = len(shape) == 2 and data.dtype.kind in "biuf" and max(shape) < 1 << 62
        if not numeric or any(one.ndim != 1 for one in (data, indices, indptr)):
            refuse("a sparse matrix is none: it must have two axes, and numbers")
        if indptr.size != shape[0 if name.startswith("csr") else 1] + 1:
            refuse(f"a sparse matrix of shape {shown(shape)} has {indptr.size} bounds")
        # Given its parts, the constructor would make indices as narrow as they can be.
        found = getattr(sparse, name)(shape, dtype=data.dtype)
        found.data, found.indices, found.indptr = data, indices, indptr
        try:
            check_structure(found)
        except InputError as error:
            refuse(str(error), error)
        return found

    # --- things with a name -----------------------------------------------------------

    def _object(self, content: Any, depth: int) -> Any:
        name, params, attributes = _fields(content, "class", "params", "attributes")
        kind = resolved(name, self._names["object"])
        self.classes.add(name)
        defaults = parameters_of(kind)
        state: dict[str, Any] = dict(defaults)  # of parameters younger than the file
        for key, item in [*_named(params), *_named(attributes)]:
            method = key not in defaults and hasattr(kind, key)
            if key.startswith("__") or not key.isidentifier() or method:
                refuse(f"{name} cannot have the attribute {shown(key)}")
            if key in NOT_SAVED and item is not None:
                refuse(f"{name} comes with {shown(key)}, which no file may bring")
            state[key] = found = self.decode(item, depth, functions=key == "kernel")
            if (
                key == "n_jobs"
                and isinstance(found, int | np.integer)
                and found > MOST_JOBS
            ):
                refuse(
                    f"{name} asks for {shown(found)} jobs; a file may ask for {MOST_JOBS}"
                )
        made = kind.__new__(kind)
        if name == "maxmargin.observers.History":
            made.__setstate__({key: state[key] for key in state if key != "_lock"})
        else:
            vars(made).update(state)
        check(name, made)
        return made

    def _value(self, content: Any, depth: int) -> Any:
        name, arguments = _fields(content, "class", "arguments")
        if isinstance(name, str) and name in DELETED:
            self.deleted.add(name)
            return DELETED[name]
        kind = resolved(name, self._names["value"])
        is_kernel = issubclass(kind, Kernel)
        deleted = DELETED_ARGUMENTS.get(name, ())
        given = {
            key: self.decode(item, depth, functions=is_kernel)
            for key, item in _named(arguments)
            if key not in deleted
        }
        for part in ("left", "right", "part"):  # a combination does not look at them
            if is_kernel and part in given and not isinstance(given[part], Kernel):
                refuse(f"{name} holds what is no kernel")
        try:
            if kind is Certificate and "stop" in given:
                given["stop"] = _STOPS.get(given["stop"], given["stop"])
            made = kind(**given)
        except (TypeError, InputError) as error:
            refuse(f"{name} cannot be made of what is there: {shown(str(error))}", error)
        check(name, made)
        return made

    def _random_state(self, content: Any, depth: int) -> Any:
        state = self.decode(content, depth)
        check_random(state)
        made = np.random.RandomState(0)
        with _sound_state():
            made.set_state(state)
        return made

    def _generator(self, content: Any, depth: int) -> Any:
        state = self.decode(content, depth)
        check_random(state)
        name = state.get("bit_generator")
        if name not in _GENERATORS:
            refuse(f"{shown(name)} is no random generator of NumPy's")
        bits = getattr(np.random, name)(0)
        with _sound_state():
            bits.state = state
        return np.random.Generator(bits)

    def _function(self, content: Any) -> Any:
        name, kind = _fields(content, "name", "kind")
        if not isinstance(name, str) or kind not in ("kernel", "callable"):
            refuse(f"{shown(content)} is no name of a function")
        self.functions.add(name)
        given = self._kernel
        if isinstance(given, dict):
            given = given.get(name)
        if given is None:
            refuse(
                f"its kernel is the function {shown(name)}, of which a file has the name "
                f"only; give the function itself: load(path, kernel=...)"
            )
        if kind == "kernel" and not isinstance(given, Kernel):
            return as_kernel(given)
        return given


@contextmanager
def _sound_state() -> Iterator[None]:
    """Refuse a state of which NumPy says that it is none."""
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        refuse(f"a random generator has no such state: {shown(str(error))}", error)


def _fields(content: Any, *names: str) -> list[Any]:
    """The entries of a JSON object that must have exactly these."""
    if not isinstance(content, dict) or set(content) != set(names):
        refuse(f"{shown(content)} must have {', '.join(names)}")
    return [content[name] for name in names]


def _named(content: Any) -> Sequence[tuple[str, Any]]:
    if not isinstance(content, dict):
        refuse(f"{shown(content)} is no table of names and values")
    return list(content.items())


def _known(table: Mapping[str, Any], what: str, name: Any) -> Any:
    if not isinstance(name, str) or name not in table:
        refuse(f"{shown(name)} is no {what} that may be in a file")
    return table[name]


def _text(content: Any) -> str:
    if not isinstance(content, str):
        refuse(f"{shown(content)} is no text")
    return content


def _unhex(content: Any, count: int) -> bytes:
    try:
        raw = bytes.fromhex(_text(content))
    except ValueError as error:
        refuse(f"{shown(content)} is no number in base 16", error)
    if len(raw) != count:
        refuse(f"{shown(content)} must have {2 * count} digits of base 16")
    return raw


def _shape(content: Any) -> tuple[int, ...]:
    if not is_shape(content):
        refuse(f"{shown(content)} is no shape: a list of counts")
    return tuple(content)


# --- plain values ---------------------------------------------------------------------


def _int(content: Any) -> int:
    if not _HEXADECIMAL.fullmatch(_text(content)):
        refuse(f"{shown(content)} is no integer of base 16")
    return int(content, 16)


def _float(content: Any) -> Any:
    if content in ("inf", "-inf", "nan"):
        return float(content)
    return struct.unpack(">d", _unhex(content, 8))[0]


def _bytes(content: Any) -> bytes:
    try:
        return base64.b64decode(_text(content), validate=True)
    except (binascii.Error, ValueError) as error:
        refuse(f"{shown(content)} is no base64", error)


def _dtype(content: Any) -> np.dtype[Any]:
    return np.dtype(object) if content == "|O" else checked_dtype(content)


def _scalar(content: Any) -> Any:
    if not isinstance(content, list) or len(content) != 2:
        refuse(f"{shown(content)} is no dtype with a value")
    dtype = checked_dtype(content[0])
    if dtype.kind in "US":
        refuse(f"{shown(content)} is no number")
    found = np.frombuffer(_unhex(content[1], dtype.itemsize), dtype=dtype)
    check_values(found)
    return found[0]


# Readers of tags that hold no other values, …
_PLAIN: dict[str, Callable[[Any], Any]] = {
    "int": _int,
    "float": _float,
    "bytes": _bytes,
    "stop": partial(_known, Stop.__members__, "reason to stop"),
    "type": partial(_known, TYPES, "type"),
    "module": partial(_known, MODULES, "module"),
    "dtype": _dtype,
    "scalar": _scalar,
    "numpy.str_": lambda content: np.str_(_text(content)),
    "numpy.bytes_": lambda content: np.bytes_(_bytes(content)),
}
# … and of those that do.
_NESTED: dict[str, Callable[[Decoder, Any, int], Any]] = {
    "tuple": lambda self, *given: tuple(self._items(*given)),
    "set": Decoder._set,
    "frozenset": lambda self, *given: frozenset(self._set(*given)),
    "dict": Decoder._dict,
    "slice": lambda self, *given: slice(*self._items(*given, 3)),
    "array": Decoder._array,
    "objects": Decoder._objects,
    "sparse": Decoder._sparse,
    "object": Decoder._object,
    "value": Decoder._value,
    "RandomState": Decoder._random_state,
    "Generator": Decoder._generator,
}
