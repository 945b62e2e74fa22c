"""One table a kind: every kernel, solver and machine stands in one entry.

:mod:`maxmargin.kernels`, :mod:`maxmargin.solvers` and :mod:`maxmargin.estimators` hold
one :class:`Registry` each. Lazy exports, the names that parameters and the command line
accept, and the classes that a saved model may hold derive from it. A class of another
package joins with :meth:`Registry.register`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Entry(NamedTuple):
    """One class of a kind.

    Attributes
    ----------
    title : str
        Name of the class.
    home : str or type
        The module of the package that defines it, imported on first use; or the class
        itself, where it was registered from outside.
    name : str
        Its name in parameters and on the command line; empty if it has none.
    task : str
        Its purpose: of machines ``"classify"``, ``"regress"`` or ``"outliers"``; of
        linear solvers the kind of linear problem.
    """

    title: str
    home: str | type
    name: str = ""
    task: str = ""


class Registry:
    """The classes of one kind.

    Parameters
    ----------
    package : str
        The package whose modules the entries name; in a saved model the name of a class
        is ``package.title``.
    noun : str
        The kind in one word, for error messages: ``"kernel"``, ``"solver"``.
    entries : sequence of Entry
        The classes of maxmargin itself, in the order in which people see them.
    """

    def __init__(self, package: str, noun: str, entries: Sequence[Entry]) -> None:
        self.package, self.noun = package, noun
        self._entries = {entry.title: entry for entry in entries}

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def register(self, kind: type, *, name: str = "", task: str = "") -> type:
        """Add a class from outside of maxmargin; the same class twice is no error.

        Parameters
        ----------
        kind : type
            The class.
        name : str
            Its name in parameters and on the command line; by default none.
        task : str
            Of a machine ``"classify"``, ``"regress"`` or ``"outliers"``.

        Returns
        -------
        type
            The class itself, so that this can be a decorator.
        """
        from maxmargin.errors import InputError, InputTypeError

        if not isinstance(kind, type):
            msg = (
                f"register({kind!r}): give the class of the {self.noun}, not an instance"
            )
            raise InputTypeError(msg)
        taken = self._entries.get(kind.__name__)
        if taken is None or taken.home is not kind:
            if taken is not None:
                msg = f"{kind.__name__}: there is a {self.noun} of this name already"
                raise InputError(msg)
            if name and name in self.names():
                msg = f"name={name!r}: there is a {self.noun} of this name already"
                raise InputError(msg)
        self._entries[kind.__name__] = Entry(kind.__name__, kind, name, task)
        return kind

    def names(self, task: str = "") -> tuple[str, ...]:
        """All names for parameters; of machines, those of one task."""
        named = (entry for entry in self if entry.name)
        return tuple(entry.name for entry in named if task in ("", entry.task))

    def entry(self, name: str) -> Entry:
        """The entry that a parameter calls ``name``."""
        for entry in self:
            if entry.name == name and name:
                return entry
        from maxmargin.errors import InputError  # which imports scikit-learn

        known = ", ".join(map(repr, self.names()))
        msg = f"{self.noun}={name!r}: the names of {self.noun}s are {known}"
        raise InputError(msg)

    def named(self, name: str) -> Any:
        """The class that a parameter calls ``name``."""
        return self.load(self.entry(name).title)

    def load(self, title: str) -> Any:
        """The class of this name, its module imported if need be."""
        home = self._entries[title].home
        if isinstance(home, str):
            return getattr(importlib.import_module(f"{self.package}.{home}"), title)
        return home

    def homes(self) -> dict[str, str]:
        """The module of every class of maxmargin, for :func:`maxmargin._lazy.exports`."""
        return {one.title: one.home for one in self if isinstance(one.home, str)}

    def names_in_files(self) -> dict[str, str]:
        """The name of each class in saved models, and in this registry."""
        return {
            f"{self.package}.{one.title}"
            if isinstance(one.home, str)
            else f"{one.home.__module__}.{one.home.__qualname__}": one.title
            for one in self
        }
