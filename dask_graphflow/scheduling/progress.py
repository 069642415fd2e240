"""Progress: what a run does, told step by step while it goes on.

Of a graph's algorithms the steps are supersteps; of what many tasks do, the parts that are done.

Who wants to know gives a function, which stays in the process that asked. Where the run is a task of
that process, it is called as a step ends. A task that travels to a worker logs events there, a few a
second, to a topic that the client has subscribed to.

:class:`Progress` is an argument of the run's tasks that is left out of their keys: the result is the same
one, watched or not.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any
from weakref import WeakSet, WeakValueDictionary

from dask.base import tokenize

from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.showing.bar import Bar, Listener, Step, listener

__all__ = ["Bar", "Listener", "Progress", "Tally", "Tell", "Told", "listener"]

PAUSE = 0.1  # seconds between events: a thousand short supersteps are not to be a thousand messages
KEPT = 32  # runs whose listeners are kept, whatever becomes of the collections

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
    """Who is told of a run, as the last call said that asked for it.

    Dask has one expression for calls that ask the same, and may take that of an earlier one. So what a
    later one says is kept by the key, which both have.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.listener: Listener | None = None


class Told:
    """What a task is given to tell of its run by. It changes no key."""

    def _listener(self) -> Listener | None:
        raise NotImplementedError

    @contextmanager
    def listening(
        self, step_of: Callable[[int, Mapping[str, Any]], Step] = _superstep
    ) -> Iterator[Tell | None]:
        """Give what takes the steps of a run as they end, or None where nobody listens.

        Parameters
        ----------
        step_of : callable, optional
            Takes the number of a step and what is told of it, and returns what a listener gets. By default
            that is a superstep, and told is its row of a trace.
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
        """Tell that a part of a stage is done; or that all has ended, if it fails. For a :class:`Tally`."""
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
    """Counts parts that are done, in any order and by any threads, for a listener.

    Parameters
    ----------
    listener : callable
        Is given a dict of ``stage``, ``done`` and ``total`` as each part is done.
    totals : dict of str to int
        The parts of each stage, in the stages' order.
    """

    def __init__(self, listener: Listener, totals: Mapping[str, int]) -> None:
        self._listener, self._totals = listener, totals
        self._first, *_, self._last = totals
        self._done: Counter[str] = Counter()
        self._lock = Lock()

    def __call__(self, step: Step | None) -> None:
        """Count a part; or give up, as the run did."""
        with self._lock:
            stage = None if step is None else step["stage"]
            if stage is None or (stage == self._first and self._done[self._last]):  # the next run's
                self._end()
            if stage is None:
                return
            self._done[stage] += 1
            # What a lost worker had is done again.
            done = sum(min(self._done[one], total) for one, total in self._totals.items())
            total = sum(self._totals.values())
            self._listener({"stage": stage, "done": done, "total": total})
            if self._done[self._last] == self._totals[self._last]:
                self._end()

    def _end(self) -> None:
        self._done.clear()
        self._listener(None)


class Progress(Told):
    """Who is told of a run; an argument of its tasks.

    Parameters
    ----------
    listener : callable or None
        See :data:`Listener`.
    """

    def __init__(self, listener: Listener | None) -> None:
        self._given = listener
        self._asked = _Asked("")  # nobody, until it is a collection's

    def of(self, result: Any) -> Any:
        """Return the collection whose tasks have this; to be called with it."""
        key = tokenize(result)
        self._asked = _asked.setdefault(key, _Asked(key))
        self._asked.listener = self._given
        return result

    def _listener(self) -> Listener | None:
        return self._asked.listener

    def __reduce__(self) -> Any:
        return _Away, (self._asked.key, _topic(self._asked))


class _Away(Told):
    """A :class:`Progress` that has left the process that asked; a client may listen to its topic."""

    def __init__(self, key: str, topic: str | None) -> None:
        self._key, self._topic = key, topic

    def _listener(self) -> Listener | None:
        distributed = sys.modules.get("distributed")
        if self._topic is None or distributed is None:
            return None
        try:
            log = distributed.get_worker().log_event
        except ValueError:
            return None  # not a worker either
        return _Events(partial(log, self._topic), self._key)


class _Events:
    """Sends a client the supersteps of a run: a few a second, and the last."""

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
_left: dict[str, _Asked] = {}  # the last ones that left this process: they need no collection
_subscribed: WeakSet[Any] = WeakSet()  # clients


def _topic(asked: _Asked) -> str | None:
    """Return the topic by which this process hears of a run that leaves it; None where nobody asked.

    It is one for all that a client asks: neither it nor the scheduler ever forgets a topic.
    """
    distributed = sys.modules.get("distributed")  # who has a client has imported it
    if asked.listener is None or distributed is None:
        return None
    try:
        client = distributed.default_client()
    except ValueError:
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
        asked.listener(event[1]["step"])


def _again(error: BaseException) -> bool:
    """Say whether a member that ends with this error may be run again, and who listens goes on to."""
    distributed = sys.modules.get("distributed")
    return isinstance(error, PeerLost) or (
        distributed is not None and isinstance(error, distributed.Reschedule)
    )
