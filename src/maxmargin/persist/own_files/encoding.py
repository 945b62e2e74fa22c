"""Python values → JSON, and the arrays that go beside it.

JSON's null, true, false, numbers, strings and lists are themselves; everything else is an
object with one key, its tag: ``{"tuple": [1, 2]}``. docs/format.md lists the tags.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import struct
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError, InputTypeError, Stop, warn
from maxmargin.kernels import FunctionKernel, Kernel
from maxmargin.persist.own_files.npy import is_allowed, order_of
from maxmargin.persist.own_files.registry import (
    DEEPEST,
    MODULES,
    MOST_JOBS,
    NOT_SAVED,
    TYPES,
    name_of,
    objects,
    parameters_of,
    values,
)
from maxmargin.validation import is_function

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 1 << 53  # rounding: integers below are the same in every JSON reader
_SCALARS = "biufMm"


class Encoder:
    """Turns a tree of values into JSON, and collects the arrays in it."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[int, int] = {}  # id of an array → its number
        self._kinds = ((values(), Encoder._value), (objects(), Encoder._object))

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return the JSON of a value.

        Parameters
        ----------
        value : object
            Any value of a model.
        where : str
            Its name in errors, such as ``SVC.kernel``.
        depth : int
            How many values enclose it.
        """
        if value is None or type(value) in (bool, str):
            return value
        if depth > DEEPEST:
            msg = (
                f"{where[:60]}…: more than {DEEPEST} values are nested there, or one "
                "holds itself; such a thing cannot be saved"
            )
            raise InputError(msg)
        kind = type(value)
        if kind in _PLAIN:
            return _PLAIN[kind](value)
        method = _BY_TYPE.get(kind) or next(
            (method for test, method in _BY_TEST if test(value)), None
        )
        if method is not None:
            return method(self, value, where, depth + 1)
        for names, write in self._kinds:
            name = name_of(kind, names)
            if name is not None:
                return write(self, value, name, where, depth + 1)
        return self._unknown(value, where)

    # --- containers -------------------------------------------------------------------

    def _list(self, value: Any, where: str, depth: int) -> Any:
        return [
            self.encode(item, f"{where}[{at}]", depth) for at, item in enumerate(value)
        ]

    def _tuple(self, value: Any, where: str, depth: int) -> Any:
        return {"tuple": self._list(value, where, depth)}

    def _set(self, value: Any, where: str, depth: int) -> Any:
        items = self._list(value, where, depth)
        return {type(value).__name__: sorted(items, key=repr)}  # their order is chance

    def _dict(self, value: Any, where: str, depth: int) -> Any:
        pairs = []
        for key, item in value.items():
            inside = f"{where}[{str(key)[:40]!r}]"
            pairs.append(
                [self.encode(key, inside, depth), self.encode(item, inside, depth)]
            )
        return {"dict": pairs}

    def _slice(self, value: Any, where: str, depth: int) -> Any:
        return {"slice": self._list((value.start, value.stop, value.step), where, depth)}

    def _index(self, value: Any, where: str, depth: int) -> Any:
        return self._list(value.tolist(), where, depth)  # names of columns in pandas

    # --- arrays -----------------------------------------------------------------------

    def _array(self, value: Any, where: str, depth: int) -> Any:
        if value.dtype.kind == "O":
            order = order_of(value)
            items = list(value.reshape(-1, order=order))
            return {
                "objects": {
                    "shape": list(value.shape),
                    "order": order,
                    "items": self._list(items, where, depth),
                }
            }
        return {"array": self._number(value, where)}

    def _number(self, array: NDArray[Any], where: str) -> int:
        """The number of an array; one that is met twice is written once."""
        if not is_allowed(array.dtype):
            msg = (
                f"{where} is an array of dtype {array.dtype}, which cannot be saved; "
                "booleans, integers, floats up to float64, text, bytes and times can"
            )
            raise InputTypeError(msg)
        known = self._numbers.get(id(array))
        if known is None:
            known = self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)  # which keeps it alive, and its id its own
        return known

    def _sparse(self, value: Any, where: str, depth: int) -> Any:  # noqa: ARG002
        kind = type(value).__name__
        if kind not in ("csr_matrix", "csr_array", "csc_matrix", "csc_array"):
            msg = f"{where} is a {kind}; of sparse matrices CSR and CSC can be saved"
            raise InputTypeError(msg)
        parts = {
            name: self._number(np.asarray(getattr(value, name)), f"{where}.{name}")
            for name in ("data", "indices", "indptr")
        }
        return {"sparse": {"class": kind, "shape": list(map(int, value.shape)), **parts}}

    def _scalar(self, value: Any, where: str, depth: int) -> Any:  # noqa: ARG002
        if isinstance(value, np.str_):
            return {"numpy.str_": "".join(value)}  # str() would cut it at a NUL
        if isinstance(value, np.bytes_):
            return {"numpy.bytes_": base64.b64encode(value).decode("ascii")}
        if value.dtype.kind not in _SCALARS or not is_allowed(value.dtype):
            msg = f"{where} is a number of dtype {value.dtype}, which cannot be saved"
            raise InputTypeError(msg)
        return {"scalar": [value.dtype.str, value.tobytes().hex()]}

    # --- things with a name -----------------------------------------------------------

    def _object(self, value: Any, name: str, where: str, depth: int) -> Any:
        """An estimator: its class, parameters and attributes."""
        kind = type(value)
        parameters = parameters_of(kind)
        params: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        history = name == "maxmargin.observers.History"  # which leaves its lock behind
        content = value.__getstate__() if history else vars(value)
        for key, item in content.items():
            inside = f"{where}.{key}"
            if key in NOT_SAVED:
                if item is not None and NOT_SAVED[key]:
                    warn(
                        f"{NOT_SAVED[key]} of {kind.__name__} cannot be saved and will "
                        "be absent after loading; the model is saved without",
                        UserWarning,
                    )
                if key in parameters:
                    params[key] = None
                continue
            if (
                key == "n_jobs"
                and isinstance(item, int | np.integer)
                and item > MOST_JOBS
            ):
                msg = f"{inside}={item}: a file may ask for {MOST_JOBS} jobs; use None"
                raise InputError(msg)
            if key not in parameters and hasattr(kind, key):
                msg = (
                    f"{inside} hides what {kind.__name__} has under this name; delete "
                    "the attribute to save it"
                )
                raise InputError(msg)
            if key == "kernel" and key in parameters and is_function(item):
                encoded = _function(item, "callable")
            else:
                encoded = self.encode(item, inside, depth)
            (params if key in parameters else attributes)[key] = encoded
        return {"object": {"class": name, "params": params, "attributes": attributes}}

    def _value(self, value: Any, name: str, where: str, depth: int) -> Any:
        """A kernel, solver, certificate or calibrator: its constructor's arguments."""
        if isinstance(value, Kernel):
            arguments = value._arguments()
        elif dataclasses.is_dataclass(value):
            arguments = {
                field.name: getattr(value, field.name)
                for field in dataclasses.fields(value)
                if field.init
            }
        else:
            arguments = value._asdict()
        inside = {  # why a run ended is a sentence in certificates
            key: self.encode(
                item.value if isinstance(item, Stop) else item, f"{where}.{key}", depth
            )
            for key, item in arguments.items()
        }
        return {"value": {"class": name, "arguments": inside}}

    def _random(self, value: Any, where: str, depth: int) -> Any:
        """The state of a random generator, so that draws go on where they were."""
        state = (
            value.get_state(legacy=False)
            if isinstance(value, np.random.RandomState)
            else value.bit_generator.state
        )
        return {type(value).__name__: self.encode(state, where, depth)}

    def _unknown(self, value: Any, where: str) -> NoReturn:
        if callable(value) and not isinstance(value, type):
            msg = (
                f"{where} is a function, and functions are not saved (kernels are, by "
                "name); remove it, or use a class of scikit-learn that does the same"
            )
            raise InputTypeError(msg)
        kind = value if isinstance(value, type) else type(value)
        msg = (
            f"{where} is a {kind.__module__}.{kind.__qualname__}, which cannot be saved: "
            "a file holds machines of maxmargin, scalers, encoders, imputers, text and "
            "component transformers of scikit-learn, and plain values"
        )
        raise InputTypeError(msg)


def _integer(value: int) -> Any:
    return value if -_EXACT < value < _EXACT else {"int": hex(value)}


def _float(value: float) -> Any:
    if math.isfinite(value):
        return value  # JSON has the shortest digits that give it back
    bits = struct.pack(">d", value).hex()
    known = {"7ff0000000000000": "inf", "fff0000000000000": "-inf"}
    return {"float": known.get(bits, "nan" if bits == "7ff8000000000000" else bits)}


def _dtype(self: Encoder, value: Any, where: str, depth: int) -> Any:  # noqa: ARG001
    if value.str != "|O" and not is_allowed(value):
        msg = f"{where} is the dtype {value}, which cannot be saved"
        raise InputTypeError(msg)
    return {"dtype": value.str}


def _function(function: Any, kind: str) -> dict[str, Any]:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return {"function": {"name": name, "kind": kind}}


def _is_pandas_index(value: Any) -> bool:
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(value).__mro__}
    return "pandas.core.indexes.base.Index" in kinds or "pandas.Index" in kinds


_PLAIN: dict[type, Any] = {
    int: _integer,
    float: _float,
    bytes: lambda value: {"bytes": base64.b64encode(value).decode("ascii")},
}

_TYPE_NAMES = {kind: name for name, kind in TYPES.items()}

# The writer of each type. Subclasses of plain types are not plain.
_BY_TYPE: dict[type, Any] = {
    list: Encoder._list,
    tuple: Encoder._tuple,
    dict: Encoder._dict,
    set: Encoder._set,
    frozenset: Encoder._set,
    slice: Encoder._slice,
    np.ndarray: Encoder._array,
    np.memmap: Encoder._array,
    np.random.RandomState: Encoder._random,
    np.random.Generator: Encoder._random,
    Stop: lambda self, value, *_: {"stop": value.name},  # noqa: ARG005
    FunctionKernel: lambda self, value, *_: _function(value.function, "kernel"),  # noqa: ARG005
}
_BY_TEST: list[tuple[Any, Any]] = [
    (lambda value: isinstance(value, np.generic), Encoder._scalar),
    (sparse.issparse, Encoder._sparse),
    (lambda value: isinstance(value, np.dtype), _dtype),
    (
        lambda value: isinstance(value, type) and value in _TYPE_NAMES,
        lambda self, value, *_: {"type": _TYPE_NAMES[value]},  # noqa: ARG005
    ),
    (
        lambda value: any(value is one for one in MODULES.values()),
        lambda self, value, *_: {"module": value.__name__},  # noqa: ARG005
    ),
    (_is_pandas_index, Encoder._index),
]
