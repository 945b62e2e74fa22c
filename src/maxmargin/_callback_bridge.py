"""The bridge to scikit-learn's callbacks (``sklearn.callback``, since 1.9).

There, a fit is a tree of tasks, and callbacks are called when a task begins and ends.
Here a task is a chunk of about 50 ms of a run; the number of chunks is not known before::

    fit                          fit
    ├── chunk 0                  ├── "2 against 7"        with several binary problems
    ├── chunk 1                  │   ├── chunk 0
    └── …                        │   └── …
                                 └── "2 against 9" …

An estimator uses it so::

    class SVC(CallbackSupport, ClassifierMixin, BaseEstimator):  # before BaseEstimator
        @with_callbacks
        def fit(self, X, y, sample_weight=None):
            ...
            bridges = []
            if self._watched:
                bridges = [BridgeObserver(self, X, y, attributes, total=len(pairs))]
            for pair in pairs:  # or in threads
                drive(solver, problem, observers=[*observers, *bridges], name=str(pair))
            self.support_ = ...  # everything that makes it a fitted estimator
            for bridge in bridges:
                bridge.finish()
            return self

``attributes(snapshot)`` returns the fitted attributes that the estimator would have now,
or None for a binary problem among several. It is called only for callbacks that ask for a
``fitted_estimator``.

Threads: several binary problems may run at once; one lock guards the bridge, so that
callbacks are called one at a time.

Without callbacks, and with a scikit-learn before 1.9, ``_watched`` is False.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from maxmargin.errors import Stop
from maxmargin.observers import Watcher
from maxmargin.solvers.base import Status

FIT_IS_WRAPPED = True  # whether with_callbacks puts a frame between caller and fit

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is: this scikit-learn has no callbacks."""
        return method

    FIT_IS_WRAPPED = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from maxmargin.solvers.base import Snapshot

    Attributes = Callable[[Snapshot], "dict[str, Any] | None"]

__all__ = [
    "FIT_IS_WRAPPED",
    "BridgeObserver",
    "CallbackSupport",
    "with_callbacks",
]

if hasattr(CallbackSupportMixin, "set_callbacks"):

    class CallbackSupport(CallbackSupportMixin):
        """scikit-learn's callback mixin; ``_watched`` says whether there are callbacks.

        scikit-learn keeps them in a private attribute, so both of its methods that set
        it are extended here: ``set_callbacks`` and ``__sklearn_clone__``.
        """

        _watched = False

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set scikit-learn callbacks; without arguments, remove them.

            Parameters
            ----------
            *callbacks : objects following ``sklearn.callback.FitCallback``
                Called for every chunk of work during ``fit``; they may end it.

            Returns
            -------
            self : object
                The estimator itself.
            """
            super().set_callbacks(*callbacks)
            if callbacks:
                self._watched = True
            else:
                self.__dict__.pop("_watched", None)
            return self

        def __sklearn_clone__(self) -> Any:
            copy = super().__sklearn_clone__()
            if self._watched:
                copy._watched = True
            return copy

else:

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

        _watched = False


class BridgeObserver(Watcher):
    """Call scikit-learn's callbacks during a run; the run ends if one returns True.

    The constructor sets up the callbacks and begins the root task; the decorator
    ``with_callbacks`` on ``fit`` always tears them down.

    Parameters
    ----------
    estimator : CallbackSupport
        The estimator being fitted.
    X, y : array-like
        The data of ``fit``, passed on to the callbacks.
    attributes : callable or None
        ``attributes(snapshot) -> dict or None``; see the module's docstring.
    metadata : mapping or None
        Further arguments of ``fit``, such as ``sample_weight``.
    total : int
        Number of binary problems.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        attributes: Attributes | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        total: int = 1,
    ) -> None:
        self._lock = threading.RLock()
        self._attributes = attributes
        self._several = total > 1
        self._given = {
            "estimator": estimator,
            "X": X,
            "y": y,
            "metadata": dict(metadata or {}),
        }
        self._problems: dict[str, Any] = {}
        self._chunks: dict[str, Any] = {}
        self._halted = False
        # Threads begin problems in any order, so each task gets its id explicitly.
        self._root = estimator._init_callback_context(
            max_subtasks=total if self._several else None,
            sequential_subtasks=not self._several,
        )
        self._root.call_on_fit_task_begin(**self._given)

    def on_start(self, snapshot: Snapshot) -> None:
        """Begin the task of a binary problem, and its first chunk."""
        with self._lock:
            if self._several:
                problem = self._root.subcontext(
                    task_name=snapshot.name,
                    task_id=len(self._problems),
                    max_subtasks=None,
                )
                problem.call_on_fit_task_begin(**self._given)
            else:
                problem = self._root
            self._problems[snapshot.name] = problem
            self._begin(snapshot)

    def on_step(self, snapshot: Snapshot) -> Stop | None:
        """End one chunk and begin the next, unless a callback asks to stop."""
        with self._lock:
            if self._end(snapshot) or self._halted:
                return Stop.CALLBACK
            self._begin(snapshot)
            return None

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        """End the open tasks; after a failure only the teardown is called."""
        with self._lock:
            if stop is None:
                return
            chunk = self._chunks.get(snapshot.name)
            if chunk is not None and snapshot.status is Status.RUNNING:
                # It began after the last step and never ran: there is no model to show.
                del self._chunks[snapshot.name]
                chunk.call_on_fit_task_end(estimator=self._given["estimator"])
            elif chunk is not None:
                self._end(snapshot)
            if self._several:
                # True stops all further problems, the level of the task that ended.
                self._halted |= self._problems[snapshot.name].call_on_fit_task_end(
                    **self._given, reconstruction_attributes=self._lazily(snapshot)
                )

    def finish(self) -> None:
        """End the root task, after the estimator got its fitted attributes."""
        self._root.call_on_fit_task_end(**self._given, reconstruction_attributes={})

    def _begin(self, snapshot: Snapshot) -> None:
        chunk = self._problems[snapshot.name].subcontext(task_name="chunk")
        self._chunks[snapshot.name] = chunk
        chunk.call_on_fit_task_begin(
            **self._given, reconstruction_attributes=self._lazily(snapshot)
        )

    def _end(self, snapshot: Snapshot) -> bool:
        chunk = self._chunks.pop(snapshot.name)
        return bool(
            chunk.call_on_fit_task_end(
                **self._given, reconstruction_attributes=self._lazily(snapshot)
            )
        )

    def _lazily(self, snapshot: Snapshot) -> Callable[[], dict[str, Any] | None] | None:
        attributes = self._attributes
        return None if attributes is None else lambda: attributes(snapshot)
