"""Connect the members of a run that are in the same process to each other, in memory.

Whoever of two members comes first makes both ends of their connection, and leaves one for the other member.
Only members that know the run's secret find each other's ends.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterable
from types import TracebackType

from .channel import PeerLost
from .connections import Connection
from .memory import MemoryConnection, pair

_IMPORTED = uuid.uuid4().hex

_offered: dict[tuple[bytes, int, int], MemoryConnection] = {}
"""The ends that a member has made for another one: by the run's secret, and the ranks of both."""

_changed = threading.Condition()


def process_name() -> str:
    """Return a name that no other process has, on any machine."""
    return f"{_IMPORTED}-{os.getpid()}"  # a forked process has what was imported before


def wake() -> None:
    """Let all members that wait for others in this process look whether their run is over."""
    with _changed:
        _changed.notify_all()


class ProcessMeeting:
    """The connections of a member to the members of its run in the same process, while they are being made.

    As a context manager, it takes back the ends that the others have not taken, and aborts its own after an
    error.

    Attributes
    ----------
    ends : dict of int to Connection
        The connections, by rank.
    """

    def __init__(self, secret: bytes | bytearray, rank: int, others: Iterable[int]) -> None:
        self.ends: dict[int, Connection] = {}
        run = bytes(secret)
        self._offers = {other: (run, rank, other) for other in others}
        with _changed:
            for other, offer in self._offers.items():
                own = _offered.pop((run, other, rank), None)
                if own is None:
                    own, _offered[offer] = pair()
                self.ends[other] = own
            _changed.notify_all()

    def wait(self, patience: float, error: Callable[[], BaseException | None]) -> None:
        """Wait until all others have come; raise PeerLost if one has not within so many seconds.

        If `error` returns an exception, raise that. Call :func:`wake` when it does.
        """
        with _changed:
            _changed.wait_for(lambda: error() or not self._missing(), patience)
            if (stop := error()) is not None:
                raise stop
            if missing := self._missing():
                raise PeerLost(min(missing))

    def _missing(self) -> list[int]:
        return [other for other, offer in self._offers.items() if offer in _offered]

    def __enter__(self) -> ProcessMeeting:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _changed:
            for offer in self._offers.values():
                _offered.pop(offer, None)
        if error is not None:
            for end in self.ends.values():
                end.abort()
