"""LIBSVM's model text → :class:`LibsvmModel`; everything is checked.

The format: lines of a keyword and its values, then ``SV`` and a line for every support
vector: its nr_class − 1 coefficients, then ``index:value`` of its features (for a
precomputed kernel ``0:serial``). LIBSVM's own reader trusts the file; this one refuses
counts in the header that the bytes of the file could not hold.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse

from maxmargin.data_files.opened import name_of, open_bytes
from maxmargin.errors import ModelFileError
from maxmargin.persist.libsvm_files.layout import (
    KERNEL_TYPES,
    LARGEST_INT,
    MARKS,
    SVM_TYPES,
    LibsvmModel,
)
from maxmargin.persist.own_files.malformed import shown

if TYPE_CHECKING:
    from os import PathLike
    from typing import BinaryIO

    from numpy.typing import NDArray

_LONGEST = 1 << 32  # bytes of a model, so that a device or a bomb has an end
# Possessive, so that no line takes more than one pass.
_NUMBER = rb"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_IS_NUMBER = re.compile(_NUMBER)
_IS_COUNT = re.compile(rb"[+-]?[0-9]{1,18}")
_IS_ENTRY = re.compile(rb"([+-]?[0-9]{1,18}):(" + _NUMBER + rb")")
_SPACE = b" \t\r\x0b\x0c"

_SINGLE = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv")
_LISTS = ("rho", "label", "probA", "probB", "prob_density_marks", "nr_sv")
_NEEDS = {  # parameters that a kernel's formula has
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}


def read_libsvm_model(
    source: str | PathLike[str] | bytes | BinaryIO, *, name: str | None = None
) -> LibsvmModel:
    """Read a model file of LIBSVM.

    Parameters
    ----------
    source : path, bytes or binary file object
        The text, of at most 4 GiB; packed text (.gz, .bz2, .xz) is unpacked.
    name : str, optional
        Its name in errors; by default its path, ``<bytes>`` or ``<stream>``.

    Returns
    -------
    LibsvmModel
        Its content, to the last bit.

    Raises
    ------
    ModelFileError
        With the line, if the text is no whole and consistent model.
    InputTypeError
        If ``source`` is none of these, or a file that was opened as text.
    """
    called = name_of(source, name)
    data = open_bytes(source, limit=_LONGEST, name=called, error=ModelFileError)
    return _Reader(data, called).model()


class _Reader:
    """Reads one file line by line."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self.at = 0  # the next byte
        self.line = 0  # of the last line read, from 1
        self.found: dict[str, Any] = {}
        self.lines: dict[str, int] = {}

    def refuse(self, reason: str, line: int | None = None) -> NoReturn:
        raise ModelFileError(self.name, self.line if line is None else line, reason)

    def next(self) -> bytes | None:
        """The next line, without its end; None behind the last."""
        if self.at >= len(self.data):
            return None
        end = self.data.find(b"\n", self.at)
        end = len(self.data) if end < 0 else end
        text = self.data[self.at : end]
        self.at = end + 1
        self.line += 1
        return text

    def model(self) -> LibsvmModel:
        self.header()
        kind, k = self.checked_type()
        n = self.checked_total(k)
        self.check_lists(kind, k, n)
        coef, SV, serial = self.vectors(k, n)
        counts = ("nr_class", "total_sv")  # which the shape of the coefficients tells
        fields = {name: self.found[name] for name in self.found if name not in counts}
        return LibsvmModel(sv_coef=coef, SV=SV, serial=serial, **fields)

    # --- the header -----------------------------------------------------------------

    def header(self) -> None:
        """Keywords and their values, up to ``SV``."""
        while (text := self.next()) is not None:
            words = text.split()
            if self.line == 1 and words[:1] != [b"svm_type"]:
                self.refuse(
                    "this is no model of LIBSVM, whose first line is 'svm_type ...'"
                )
            if not words:
                self.refuse("an empty line in the header; every line has a keyword")
            if words == [b"SV"]:
                return
            self.entry(_text(words[0]), words[1:])
        self.refuse("the file ends without its SV section: it is cut off")

    def entry(self, keyword: str, values: list[bytes]) -> None:
        if keyword not in _SINGLE and keyword not in _LISTS:
            known = ", ".join([*_SINGLE, *_LISTS, "SV"])
            self.refuse(f"unknown keyword {shown(keyword)}; a model has {known}")
        if keyword in self.found:
            self.refuse(f"{keyword} for a second time; every keyword comes once")
        if keyword in _SINGLE and len(values) != 1:
            self.refuse(f"{keyword} has {len(values)} values and needs one")
        self.lines[keyword] = self.line
        if keyword == "svm_type":
            self.found[keyword] = self.choice("SVM type", values[0], SVM_TYPES)
        elif keyword == "kernel_type":
            self.found[keyword] = self.choice("kernel", values[0], KERNEL_TYPES)
        elif keyword in ("degree", "nr_class", "total_sv"):
            self.found[keyword] = self.count(keyword, values[0])
        elif keyword in ("label", "nr_sv"):
            low = 0 if keyword == "nr_sv" else -LARGEST_INT - 1
            counts = [self.count(keyword, one, low) for one in values]
            self.found[keyword] = np.array(counts, np.int64)
        elif keyword in _SINGLE:
            self.found[keyword] = self.number(keyword, values[0])
        else:
            numbers = [self.number(keyword, one) for one in values]
            self.found[keyword] = np.array(numbers, np.float64)

    def choice(self, what: str, word: bytes, known: tuple[str, ...]) -> str:
        text = _text(word)
        if text not in known:
            self.refuse(f"unknown {what} {shown(text)}; known are {', '.join(known)}")
        return text

    def count(self, keyword: str, word: bytes, low: int = 0) -> int:
        value = int(word) if _IS_COUNT.fullmatch(word) else None
        if value is None or not low <= value <= LARGEST_INT:
            self.refuse(
                f"{keyword} {shown(_text(word))} must be a whole number from {low} to "
                f"{LARGEST_INT}"
            )
        return value

    def number(self, keyword: str, word: bytes) -> float:
        value = float(word) if _IS_NUMBER.fullmatch(word) else math.nan
        if not math.isfinite(value):
            self.refuse(f"{keyword} {shown(_text(word))} must be a finite number")
        return value

    # --- whether the header is consistent -------------------------------------------

    def checked_type(self) -> tuple[str, int]:
        """The machine, and its number of classes."""
        for keyword in ("svm_type", "kernel_type", "nr_class", "total_sv", "rho"):
            if keyword not in self.found:
                self.refuse(f"the header has no {keyword}")
        kernel = self.found["kernel_type"]
        for keyword in _NEEDS.get(kernel, ()):
            if keyword not in self.found:
                self.refuse(
                    f"the header has no {keyword}, which the {kernel} kernel needs"
                )
        if self.found.get("gamma", 0.0) < 0.0:
            self.refuse("gamma must be at least 0", self.lines["gamma"])
        kind, k = self.found["svm_type"], self.found["nr_class"]
        line = self.lines["nr_class"]
        if kind not in ("c_svc", "nu_svc"):
            if k != 2:
                self.refuse(f"nr_class {k}, where {kind} always has 2", line)
        elif k < 2:
            self.refuse(
                f"nr_class {k}: a model of less than two classes tells nothing apart; "
                "train it with rows of at least two",
                line,
            )
        elif k * (k - 1) > len(self.data):  # so many ρ take two bytes each
            self.refuse(f"nr_class {k} is more than this file can hold", line)
        return kind, k

    def checked_total(self, k: int) -> int:
        """Number of support vectors; each takes at least two bytes a coefficient."""
        n: int = self.found["total_sv"]
        left = len(self.data) - self.at + 1
        if n * 2 * (k - 1) > left:
            self.refuse(
                f"total_sv {n} is more than the {left - 1} bytes behind it can hold",
                self.lines["total_sv"],
            )
        return n

    def check_lists(self, kind: str, k: int, n: int) -> None:
        """Every list as long as the machine says, and there if it needs it."""
        n_pairs = k * (k - 1) // 2
        classifies, regresses = kind in ("c_svc", "nu_svc"), kind.endswith("svr")
        # How many values a keyword has; None: it does not belong there
        wanted = {
            "rho": n_pairs,
            "label": k if classifies else None,
            "nr_sv": k if classifies else None,
            "probA": n_pairs if classifies or regresses else None,
            "probB": n_pairs if classifies else None,
            "prob_density_marks": MARKS if kind == "one_class" else None,
        }
        for keyword, count in wanted.items():
            values = self.found.get(keyword)
            if values is None:
                if classifies and keyword in ("label", "nr_sv"):
                    self.refuse(f"the header has no {keyword}, which {kind} needs")
                continue
            if count is None:
                self.refuse(f"{keyword} does not belong to {kind}", self.lines[keyword])
            if len(values) != count:
                self.refuse(
                    f"{keyword} has {len(values)} values, not the {count} of {k} classes",
                    self.lines[keyword],
                )
        if classifies and ("probA" in self.found) != ("probB" in self.found):
            self.refuse("probA and probB belong together, and one is missing")
        if classifies:
            if len(set(self.found["label"])) != k:
                self.refuse("a label stands there twice", self.lines["label"])
            if sum(self.found["nr_sv"]) != n:
                self.refuse(
                    f"nr_sv adds up to {sum(self.found['nr_sv'])}, where total_sv is {n}",
                    self.lines["nr_sv"],
                )

    # --- support vectors ------------------------------------------------------------

    def vectors(self, k: int, n: int) -> tuple[Any, Any, Any]:
        """Coefficients, and the support vectors or their numbers."""
        precomputed = self.found["kernel_type"] == "precomputed"
        many = b"(?:[ \t]++%b){%d}" % (_NUMBER, k - 2) if k > 2 else b""
        entries = b"(?:[ \t]++[0-9]{1,18}+:%b)*+" % _NUMBER
        shape = re.compile(b"[ \t]*+%b%b%b[ \t]*+" % (_NUMBER, many, entries))
        coef, indices, values, sizes = [], [], [], [0]
        for one in range(n):
            text = self.next()
            if text is None:
                self.refuse(f"the file ends after {one} of {n} support vectors")
            text = text.rstrip(_SPACE)
            if not shape.fullmatch(text):
                self.explain(text, k)
            numbers = np.array(text.replace(b":", b" ").split(), np.float64)
            if not np.isfinite(numbers).all():
                self.refuse("a number is too large for float64")
            coef.append(numbers[: k - 1])
            at, value = numbers[k - 1 :: 2], numbers[k::2]
            self.check_indices(at, value, precomputed=precomputed)
            indices.append(at)
            values.append(value)
            sizes.append(at.size)
        while (text := self.next()) is not None:
            if text.strip(_SPACE):
                self.refuse(f"something follows the last of {n} support vectors")
        table = np.array(coef).reshape(n, k - 1).T.copy()
        if precomputed:
            serial = np.array([one[0] for one in values], np.int64)
            return table, sparse.csr_matrix((n, 0)), serial
        columns = np.concatenate([np.empty(0), *indices]).astype(np.int64) - 1
        width = int(columns.max(initial=-1)) + 1
        parts = (
            np.concatenate([np.empty(0), *values]),
            columns.astype(np.int32),
            np.cumsum(sizes).astype(
                np.int32 if columns.size <= LARGEST_INT else np.int64
            ),
        )
        return table, sparse.csr_matrix(parts, shape=(n, width)), None

    def check_indices(
        self, at: NDArray[Any], value: NDArray[Any], *, precomputed: bool
    ) -> None:
        if precomputed:
            serial = float(value[0]) if at.size == 1 and at[0] == 0 else 0.0
            if not (1 <= serial <= LARGEST_INT and serial.is_integer()):
                self.refuse(
                    "a support vector of a precomputed kernel is '0:serial', its number "
                    "in the kernel matrix, from 1"
                )
            return
        if not at.size:
            return
        if at[0] < 1 or at.max() > LARGEST_INT:
            self.refuse(f"indices lie between 1 and {LARGEST_INT}")
        ascending = at[1:] > at[:-1]
        if not ascending.all():
            worst = int(np.flatnonzero(~ascending)[0])
            self.refuse(
                f"index {at[worst + 1]:.0f} after {at[worst]:.0f}; indices ascend, each "
                "only once"
            )

    def explain(self, text: bytes, k: int) -> NoReturn:
        """Say what is wrong with the line of a support vector."""
        words = text.split()
        for place, word in enumerate(words):
            if place < k - 1:
                if not _IS_NUMBER.fullmatch(word):
                    self.refuse(
                        f"coefficient {shown(_text(word))} is not a finite number"
                    )
            elif not _IS_ENTRY.fullmatch(word):
                self.refuse(
                    f"{shown(_text(word))} is not index:value with a finite value"
                )
            elif word.startswith((b"-", b"+")):
                self.refuse(f"index {shown(_text(word))} must be a plain number from 1")
        if len(words) < k - 1:
            self.refuse(f"{len(words)} coefficients, where {k} classes need {k - 1}")
        self.refuse("values are separated by blanks or tabs alone")


def _text(word: bytes) -> str:
    """A word, one letter a byte; no more of it than is compared or shown."""
    return word[:80].decode("latin-1")
