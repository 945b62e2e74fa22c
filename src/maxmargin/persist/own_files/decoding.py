"""JSON and arrays → Python values: the inverse of
:mod:`maxmargin.persist.own_files.encoding`.

Nothing that a file says is imported, called or evaluated: classes come from the registry,
types and modules from tables, functions from the caller.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError, Stop
from maxmargin.kernels import Kernel
from maxmargin.kernels import kernel as as_kernel
from maxmargin.persist.own_files.checks import CHECKS, check_random
from maxmargin.persist.own_files.deleted import DELETED, DELETED_ARGUMENTS
from maxmargin.persist.own_files.malformed import MalformedError, shown
from maxmargin.persist.own_files.npy import check_values, checked_dtype
from maxmargin.persist.own_files.registry import OBJECTS, VALUES, parameters_of, resolved
from maxmargin.persist.own_files.tags import DEEPEST, MODULES, MOST_JOBS, NOT_SAVED, TYPES
from maxmargin.validation.csr import check_structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "csc_array")
_HEXADECIMAL = re.compile("-?0x[0-9a-f]+")
_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Decoder:
    """Turns the JSON of a file into values.

    Parameters
    ----------
    array : callable
        The array of a number; the same object whenever it is asked for the same number.
    kernel : callable, mapping of names to callables, or None
        The functions that are kernels, of which the file has the names.
    """

    def __init__(self, array: Callable[[int], NDArray[Any]], kernel: Any = None) -> None:
        self._array_of = array
        self._kernel = kernel
        self.classes: set[str] = set()  # of objects that were restored
        self.functions: set[str] = set()  # names of those that were asked for
        self.deleted: set[str] = set()  # classes that something else was restored for

    def decode(self, value: Any, depth: int = 0, *, functions: bool = False) -> Any:
        """The value of its JSON.

        Parameters
        ----------
        value : object
            What ``json.loads`` made of it.
        depth : int
            How many values it is inside of.
        functions : bool
            Whether a function may be here: only kernels can be.
        """
        if depth > DEEPEST:
            msg = f"more than {DEEPEST} values are nested in it"
            raise MalformedError(msg)
        if isinstance(value, list):
            return [self.decode(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            msg = f"a value has the tags {shown(list(value))}; it must have one"
            raise MalformedError(msg)
        ((tag, content),) = value.items()
        if tag == "function" and functions:
            return self._function(content)
        method = _TAGS.get(tag)
        if method is None:
            msg = f"a value has the tag {shown(tag)}, which has no meaning there"
            raise MalformedError(msg)
        return method(self, content, depth + 1)

    # --- plain values -----------------------------------------------------------------

    def _int(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        if not _HEXADECIMAL.fullmatch(_text(content)):
            msg = f"{shown(content)} is no integer of base 16"
            raise MalformedError(msg)
        return int(content, 16)

    def _float(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        if content in ("inf", "-inf", "nan"):
            return float(content)
        raw = _unhex(content, 8)
        (number,) = struct.unpack(">d", raw)
        return number

    def _bytes(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        try:
            return base64.b64decode(_text(content), validate=True)
        except (binascii.Error, ValueError) as error:
            msg = f"{shown(content)} is no base64"
            raise MalformedError(msg) from error

    def _stop(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        return _known(Stop.__members__, content, "reason to stop")

    def _type(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        return _known(TYPES, content, "type")

    def _module(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        return _known(MODULES, content, "module")

    def _dtype(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        return np.dtype(object) if content == "|O" else checked_dtype(content)

    def _scalar(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        if not isinstance(content, list) or len(content) != 2:
            msg = f"{shown(content)} is no dtype with a value"
            raise MalformedError(msg)
        dtype = checked_dtype(content[0])
        if dtype.kind in "US":
            msg = f"{shown(content)} is no number"
            raise MalformedError(msg)
        found = np.frombuffer(_unhex(content[1], dtype.itemsize), dtype=dtype)
        check_values(found)
        return found[0]

    def _numpy_str(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        return np.str_(_text(content))

    def _numpy_bytes(self, content: Any, depth: int) -> Any:
        return np.bytes_(self._bytes(content, depth))

    # --- containers -------------------------------------------------------------------

    def _items(self, content: Any, depth: int, count: int | None = None) -> list[Any]:
        if not isinstance(content, list) or count not in (None, len(content)):
            msg = f"{shown(content)} is no list of values, or of another length"
            raise MalformedError(msg)
        return [self.decode(item, depth) for item in content]

    def _tuple(self, content: Any, depth: int) -> Any:
        return tuple(self._items(content, depth))

    def _set(self, content: Any, depth: int) -> Any:
        items = self._items(content, depth)
        try:
            return set(items)
        except TypeError as error:
            msg = "a set holds what cannot be in a set"
            raise MalformedError(msg) from error

    def _frozenset(self, content: Any, depth: int) -> Any:
        return frozenset(self._set(content, depth))

    def _dict(self, content: Any, depth: int) -> Any:
        found: dict[Any, Any] = {}
        if not isinstance(content, list):
            msg = f"{shown(content)} is no list of keys and values"
            raise MalformedError(msg)
        for pair in content:
            key, item = self._items(pair, depth, 2)
            try:
                found[key] = item
            except TypeError as error:
                msg = f"a table has a key that cannot be one: {shown(pair)}"
                raise MalformedError(msg) from error
        return found

    def _slice(self, content: Any, depth: int) -> Any:
        return slice(*self._items(content, depth, 3))

    # --- arrays -----------------------------------------------------------------------

    def _array(self, content: Any, depth: int) -> Any:  # noqa: ARG002
        if type(content) is not int:
            msg = f"{shown(content)} is no number of an array"
            raise MalformedError(msg)
        return self._array_of(content)

    def _objects(self, content: Any, depth: int) -> Any:
        shape, order, items = _fields(content, "shape", "order", "items")
        shape = _shape(shape)
        values = self._items(items, depth, math.prod(shape))
        if order not in ("C", "F"):
            msg = f"an array has the order {shown(order)}: it must be 'C' or 'F'"
            raise MalformedError(msg)
        try:
            found = np.empty(shape, dtype=object, order=order)
        except ValueError as error:
            msg = f"an array has the shape {shown(shape)}, which is too large"
            raise MalformedError(msg) from error
        flat = found.reshape(-1, order=order)
        for at, value in enumerate(values):
            flat[at] = value
        return found

    def _sparse(self, content: Any, depth: int) -> Any:
        name, shape, *parts = _fields(
            content, "class", "shape", "data", "indices", "indptr"
        )
        if name not in _SPARSE:
            msg = f"{shown(name)} is no sparse matrix that may be in a file"
            raise MalformedError(msg)
        shape = _shape(shape)
        data, indices, indptr = (self._array(part, depth) for part in parts)
        numeric = len(shape) == 2 and data.dtype.kind in "biuf" and max(shape) < 1 << 62
        if not numeric or any(one.ndim != 1 for one in (data, indices, indptr)):
            msg = "a sparse matrix is none: it must have two axes, and numbers"
            raise MalformedError(msg)
        if indptr.size != shape[0 if name.startswith("csr") else 1] + 1:
            msg = f"a sparse matrix of shape {shown(shape)} has {indptr.size} bounds"
            raise MalformedError(msg)
        # Given its parts, the constructor would make indices as narrow as they can be.
        found = getattr(sparse, name)(shape, dtype=data.dtype)
        found.data, found.indices, found.indptr = data, indices, indptr
        try:
            check_structure(found)
        except InputError as error:
            raise MalformedError(str(error)) from error
        return found

    # --- things with a name -----------------------------------------------------------

    def _object(self, content: Any, depth: int) -> Any:
        name, params, attributes = _fields(content, "class", "params", "attributes")
        kind = resolved(name, OBJECTS)
        self.classes.add(name)
        defaults = parameters_of(kind)
        state: dict[str, Any] = dict(defaults)  # of parameters younger than the file
        for key, item in [*_named(params), *_named(attributes)]:
            method = key not in defaults and hasattr(kind, key)
            if key.startswith("__") or not key.isidentifier() or method:
                msg = f"{name} cannot have the attribute {shown(key)}"
                raise MalformedError(msg)
            if key in NOT_SAVED and item is not None:
                msg = f"{name} comes with {shown(key)}, which no file may bring"
                raise MalformedError(msg)
            state[key] = found = self.decode(item, depth, functions=key == "kernel")
            if (
                key == "n_jobs"
                and isinstance(found, int | np.integer)
                and found > MOST_JOBS
            ):
                msg = (
                    f"{name} asks for {shown(found)} jobs; a file may ask for {MOST_JOBS}"
                )
                raise MalformedError(msg)
        made = kind.__new__(kind)
        if name == "maxmargin.observers.History":
            made.__setstate__({key: state[key] for key in state if key != "_lock"})
        else:
            vars(made).update(state)
        if name in CHECKS:
            CHECKS[name](made)
        return made

    def _value(self, content: Any, depth: int) -> Any:
        name, arguments = _fields(content, "class", "arguments")
        if isinstance(name, str) and name in DELETED:
            self.deleted.add(name)
            return DELETED[name]
        kind = resolved(name, VALUES)
        is_kernel = issubclass(kind, Kernel)
        deleted = DELETED_ARGUMENTS.get(name, ())
        given = {
            key: self.decode(item, depth, functions=is_kernel)
            for key, item in _named(arguments)
            if key not in deleted
        }
        for part in ("left", "right", "part"):  # a combination does not look at them
            if is_kernel and part in given and not isinstance(given[part], Kernel):
                msg = f"{name} holds what is no kernel"
                raise MalformedError(msg)
        try:
            made = kind(**given)
        except (TypeError, InputError) as error:
            msg = f"{name} cannot be made of what is there: {shown(str(error))}"
            raise MalformedError(msg) from error
        if name in CHECKS:
            CHECKS[name](made)
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
            msg = f"{shown(name)} is no random generator of NumPy's"
            raise MalformedError(msg)
        bits = getattr(np.random, name)(0)
        with _sound_state():
            bits.state = state
        return np.random.Generator(bits)

    def _function(self, content: Any) -> Any:
        name, kind = _fields(content, "name", "kind")
        if not isinstance(name, str) or kind not in ("kernel", "callable"):
            msg = f"{shown(content)} is no name of a function"
            raise MalformedError(msg)
        self.functions.add(name)
        given = self._kernel
        if isinstance(given, dict):
            given = given.get(name)
        if given is None:
            msg = (
                f"its kernel is the function {shown(name)}, of which a file has the name "
                f"only; give the function itself: load(path, kernel=...)"
            )
            raise MalformedError(msg)
        if kind == "kernel" and not isinstance(given, Kernel):
            return as_kernel(given)
        return given


@contextmanager
def _sound_state() -> Iterator[None]:
    """What NumPy says of a state that is none."""
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        msg = f"a random generator has no such state: {shown(str(error))}"
        raise MalformedError(msg) from error


def _fields(content: Any, *names: str) -> list[Any]:
    """The entries of a JSON object that must have exactly these."""
    if not isinstance(content, dict) or set(content) != set(names):
        msg = f"{shown(content)} must have {', '.join(names)}"
        raise MalformedError(msg)
    return [content[name] for name in names]


def _named(content: Any) -> Sequence[tuple[str, Any]]:
    if not isinstance(content, dict):
        msg = f"{shown(content)} is no table of names and values"
        raise MalformedError(msg)
    return list(content.items())


def _known(table: Mapping[str, Any], name: Any, what: str) -> Any:
    if not isinstance(name, str) or name not in table:
        msg = f"{shown(name)} is no {what} that may be in a file"
        raise MalformedError(msg)
    return table[name]


def _text(content: Any) -> str:
    if not isinstance(content, str):
        msg = f"{shown(content)} is no text"
        raise MalformedError(msg)
    return content


def _unhex(content: Any, count: int) -> bytes:
    try:
        raw = bytes.fromhex(_text(content))
    except ValueError as error:
        msg = f"{shown(content)} is no number in base 16"
        raise MalformedError(msg) from error
    if len(raw) != count:
        msg = f"{shown(content)} must have {2 * count} digits of base 16"
        raise MalformedError(msg)
    return raw


def _shape(content: Any) -> tuple[int, ...]:
    right = isinstance(content, list) and len(content) <= 32
    if not right or not all(type(n) is int and 0 <= n < 1 << 63 for n in content):
        msg = f"{shown(content)} is no shape: a list of counts"
        raise MalformedError(msg)
    return tuple(content)


_TAGS: dict[str, Any] = {
    "int": Decoder._int,
    "float": Decoder._float,
    "bytes": Decoder._bytes,
    "stop": Decoder._stop,
    "type": Decoder._type,
    "module": Decoder._module,
    "dtype": Decoder._dtype,
    "scalar": Decoder._scalar,
    "numpy.str_": Decoder._numpy_str,
    "numpy.bytes_": Decoder._numpy_bytes,
    "tuple": Decoder._tuple,
    "set": Decoder._set,
    "frozenset": Decoder._frozenset,
    "dict": Decoder._dict,
    "slice": Decoder._slice,
    "array": Decoder._array,
    "objects": Decoder._objects,
    "sparse": Decoder._sparse,
    "object": Decoder._object,
    "value": Decoder._value,
    "RandomState": Decoder._random_state,
    "Generator": Decoder._generator,
}
