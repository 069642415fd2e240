"""Progress: report each step of a run to a listener while the run continues.

In a graph algorithm, a step is a superstep. In a task graph with many tasks, it is one finished part.

The listener is a function, which stays in the process of the caller. If the run is a task of that process,
the listener is called at the end of each step. A task on a worker logs a few events per second there, to a
topic to which the client has subscribed.

:class:`Progress` is an argument of the run's tasks, but is not part of their keys. The result is therefore
the same object, with or without a listener.
"""

from __future__ import annotations

import contextvars
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any
from weakref import WeakSet, WeakValueDictionary

from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.showing.bar import Bar, Listener, Step, listener

from .clients import default_client, find_imported, own_worker
from .tokens import token_of

__all__ = ["Bar", "Listener", "Progress", "Tally", "Tell", "Told", "listener"]

PAUSE = 0.1  # seconds between events, so that many short supersteps do not cause many messages
KEPT = 32  # number of runs whose listeners are kept even if their collections are gone

Tell = Callable[[Mapping[str, Any]], None]


def _superstep(number: int, row: Mapping[str, Any]) -> Step:
    return {
        "superstep": number,
        "direction": row["direction"],
        "frontier": int(row["frontier"]),
        "edges": int(row["edges"]),
        "bytes": int(row.get("bytes", 0)),
        "seconds": float(row["seconds"]),
    }


class _Asked:
    """The listener of a run, as set by the last call that requested it.

    Dask has one expression for equal calls, and may use the expression of an earlier call. The listener
    of a later call is therefore stored by key, which is the same for both.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.listener: Listener | None = None


class Told:
    """The object through which a task reports on its run. It does not change any key."""

    def _listener(self) -> Listener | None:
        raise NotImplementedError

    @contextmanager
    def listening(
        self, step_of: Callable[[int, Mapping[str, Any]], Step] = _superstep
    ) -> Iterator[Tell | None]:
        """Yield the function that takes each step of a run as it ends, or None without a listener.

        `step_of` converts the number of a step and its report to the value that a listener gets. By default
        the step is a superstep, and the report is its row of a trace.
        """
        listener = self._listener()
        if listener is None:
            yield None
            return
        numbers = itertools.count()

        def tell(row: Mapping[str, Any]) -> None:
            listener(step_of(next(numbers), row))

        try:
            yield tell
        except BaseException as error:
            if not _again(error):
                listener(None)
            raise
        listener(None)

    @contextmanager
    def part(self, stage: str) -> Iterator[None]:
        """Report that a part of a stage is done; if it fails, report the end. For a :class:`Tally`."""
        listener = self._listener()
        try:
            yield
        except BaseException:
            if listener is not None:
                listener(None)
            raise
        if listener is not None:
            listener({"stage": stage})

    def __dask_tokenize__(self) -> str:
        return "graphflow-progress"


class Tally:
    """Counts finished parts, in any order and from any threads, for a listener.

    As each part is done, the listener gets a dict of ``stage``, ``done`` and ``total``. `totals` has the
    number of parts of each stage, in the order of the stages.
    """

    def __init__(self, listener: Listener, totals: Mapping[str, int]) -> None:
        self._listener, self._totals = listener, totals
        self._first, *_, self._last = totals
        self._done: Counter[str] = Counter()
        self._lock = Lock()

    def __call__(self, step: Step | None) -> None:
        """Count a part, or end the count if the run failed."""
        with self._lock:
            stage = None if step is None else step["stage"]
            if stage is None or (stage == self._first and self._done[self._last]):  # a new run
                self._end()
            if stage is None:
                return
            self._done[stage] += 1
            # Parts that a lost worker had done are done again, so a count may exceed its total.
            done = sum(min(self._done[one], total) for one, total in self._totals.items())
            total = sum(self._totals.values())
            self._listener({"stage": stage, "done": done, "total": total})
            if self._done[self._last] == self._totals[self._last]:
                self._end()

    def _end(self) -> None:
        self._done.clear()
        self._listener(None)


class Progress(Told):
    """The listener of a run, as an argument of its tasks."""

    def __init__(self, listener: Listener | None) -> None:
        self._given = listener
        self._asked = _Asked("")  # without a listener, until it belongs to a collection

    def of(self, result: Any) -> Any:
        """Attach the listener to a collection whose tasks have this object; return the collection."""
        key = token_of(result)
        self._asked = _asked.setdefault(key, _Asked(key))
        self._asked.listener = self._given
        return result

    def _listener(self) -> Listener | None:
        return self._asked.listener

    def __reduce__(self) -> Any:
        return _Away, (self._asked.key, _topic(self._asked))


class _Away(Told):
    """A :class:`Progress` that was sent to another process; a client may listen to its topic."""

    def __init__(self, key: str, topic: str | None) -> None:
        self._key, self._topic = key, topic

    def _listener(self) -> Listener | None:
        worker = None if self._topic is None else own_worker()
        return (
            None if worker is None else _Events(partial(worker.log_event, self._topic), self._key)
        )


class _Events:
    """Sends a client a few supersteps per second of a run, and always the last one."""

    def __init__(self, log: Callable[[Any], None], key: str) -> None:
        self._log, self._key = log, key
        self._next = 0.0
        self._held: Step | None = None

    def __call__(self, step: Step | None) -> None:
        now = time.monotonic()
        if step is not None and now < self._next:
            self._held = step
            return
        if step is None and self._held is not None:
            self._log({"run": self._key, "step": self._held})
        self._log({"run": self._key, "step": step})
        self._held, self._next = None, now + PAUSE


_asked: WeakValueDictionary[str, _Asked] = WeakValueDictionary()  # by key
_left: dict[str, _Asked] = {}  # the last runs sent to other processes, kept without a collection
_subscribed: WeakSet[Any] = WeakSet()  # clients


def _topic(asked: _Asked) -> str | None:
    """Return the topic for a run that leaves this process; None if there is no listener.

    All runs of a client use one topic, because neither the client nor the scheduler ever forgets a topic.
    """
    client = None if asked.listener is None else default_client()
    if client is None:
        return None
    topic = f"graphflow-progress-{client.id}"
    if client not in _subscribed:
        client.subscribe_topic(topic, _hear)
        _subscribed.add(client)
    _left.pop(asked.key, None)
    _left[asked.key] = asked
    if len(_left) > KEPT:
        del _left[next(iter(_left))]
    return topic


def _hear(event: tuple[float, Any]) -> None:
    asked = _asked.get(event[1]["run"])
    if asked is not None and asked.listener is not None:
        # A notebook shows output in the cell that the context names. The context of the client's event loop
        # names the cell that made the client; an empty context means the cell that runs.
        contextvars.Context().run(asked.listener, event[1]["step"])


def _again(error: BaseException) -> bool:
    """Say whether a member that ends with this error may run again, so that its listener stays."""
    distributed = find_imported("distributed")
    return isinstance(error, PeerLost) or (
        distributed is not None and isinstance(error, distributed.Reschedule)
    )
