"""Members of gangs on a worker: how they come together with the others, and how they are made to end.

A member joins with a message to the scheduler's :class:`~.rendezvous.Rendezvous`, by the stream that also
says what became of its task: so the scheduler hears of both in order. The answer says where the others are,
or that it is over.
"""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import math
import threading
import time
import uuid
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from distributed import Reschedule, WorkerPlugin, get_client, secede
from distributed.comm import get_address_host

from dask_graphflow.comm.channel import Channel, PeerLost
from dask_graphflow.comm.sockets import Listener
from dask_graphflow.exceptions import WorkerLostError

from .placement import again
from .rendezvous import Rendezvous

__all__ = ["Membership", "joined", "register"]

RUNNING = ("executing", "long-running")
LOOPBACK = "127.0.0.1"


class Membership(WorkerPlugin):  # type: ignore[misc]
    """Knows the members that run on a worker, and ends them when they are told to, or cancelled."""

    name = "graphflow-members"
    idempotent = True

    def __init__(self) -> None:
        self._members: dict[str, _Member] = {}
        self.ready = False

    def setup(self, worker: Any) -> None:
        """Listen to what the scheduler has to say to members."""
        self._worker = worker
        worker.stream_handlers["graphflow-gang-start"] = self._start
        worker.stream_handlers["graphflow-gang-over"] = self._over
        self.ready = True

    @functools.cached_property
    def contexts(self) -> tuple[Any, Any] | None:
        """TLS contexts to listen and to connect with, where Dask's own connections are encrypted."""
        if not self._worker.address.startswith(("tls://", "wss://")):
            return None
        security = self._worker.security
        arguments = security.get_listen_args("worker"), security.get_connection_args("worker")
        return arguments[0]["ssl_context"], arguments[1]["ssl_context"]

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """End a member whose task was cancelled."""
        if self._members and finish not in RUNNING:
            for member in list(self._members.values()):
                if member.key == key:
                    member.end(Reschedule())  # which a task that is wanted no more does not

    def teardown(self, worker: Any) -> None:
        """End all, with the worker."""
        for member in list(self._members.values()):
            member.end(Reschedule())

    def tell(self, op: str, **message: Any) -> None:
        """Send the scheduler a message, from any thread."""
        message["op"] = f"graphflow-gang-{op}"
        self._worker.loop.add_callback(self._worker.batched_send, message)

    @contextlib.contextmanager
    def listed(self, member: _Member) -> Iterator[None]:
        """Have a member hear what is said to it."""
        self._members[member.id] = member
        try:
            yield
        finally:
            del self._members[member.id]

    def _start(self, member: str, **start: Any) -> None:
        if (there := self._members.get(member)) is not None:
            there.start(start)

    def _over(self, member: str, lost: str | None) -> None:
        if (there := self._members.get(member)) is not None:
            there.end(Reschedule() if lost is None else WorkerLostError(lost))


class _Member:
    """One run of a member's task, which may be told at any time that it is over.

    Attributes
    ----------
    id : str
        Nobody else's, and no other run's of the same task.
    error : BaseException or None
        What the task is to end with, once it is over.
    """

    def __init__(self, key: Any) -> None:
        self.id = uuid.uuid4().hex
        self.key = key
        self.error: BaseException | None = None
        self._lock = threading.Lock()
        self._waits_for: Listener | Channel | None = None
        self._news: SimpleQueue[dict[str, Any] | None] = SimpleQueue()

    def start(self, start: dict[str, Any]) -> None:
        """Take the scheduler's word that all members are there."""
        self._news.put(start)

    def end(self, error: BaseException) -> None:
        """Have it end with that error, whatever it waits for. From any thread."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error
            waits_for = self._waits_for
        self._news.put(None)
        if waits_for is not None:
            waits_for.abort(error)

    def waits_for(self, other: Listener | Channel) -> None:
        """Say what is to be aborted where it is over."""
        with self._lock:
            self._waits_for = other
            error = self.error
        if error is not None:
            other.abort(error)

    def wait(self) -> dict[str, Any]:
        """Wait for the scheduler's word, or raise what it ends with where it is over instead."""
        start = self._news.get()
        if self.error is not None:
            raise self.error
        assert start is not None
        return start


@contextlib.contextmanager
def joined(
    worker: Any, gang: str, rank: int, size: int, timeout: float, alone: bool
) -> Iterator[tuple[Channel, int]]:
    """Be a member of a gang, in the thread of its task.

    Gives the channel, and how many members are in this process. What is raised inside, or by this, is
    what the task is to end with: `Reschedule` where it is to run again, or is wanted no more.
    """
    membership = _membership(worker, timeout)
    secede()  # the others may need its thread so that all can come
    member = _Member((gang, rank))
    begun = math.inf
    with membership.listed(member):
        try:
            secret = bytearray(32)  # the run's, once it starts; the port is closed until then
            listen, known = _hosts(worker)
            with contextlib.closing(Listener(listen, secret, membership.contexts)) as listener:
                membership.tell(
                    "join",
                    member=member.id,
                    gang=gang,
                    rank=rank,
                    size=size,
                    address=(known, listener.port),
                    timeout=timeout,
                    alone=alone,
                )
                start = member.wait()
                secret[:] = start["secret"]
                member.waits_for(listener)
                begun = time.monotonic()
                channel = listener.connect(rank, start["addresses"], timeout)
                begun = math.inf
            member.waits_for(channel)
            with _open(channel):
                yield channel, start["members"]
        except PeerLost as lost:
            # If it is not over already, it is once the scheduler knows this.
            late = time.monotonic() - begun >= timeout
            membership.tell("broken", member=member.id, gang=gang, lost=lost.rank, late=late)
            member.wait()
        finally:
            if member.error is not None:  # also where it was over before this one had ended
                raise member.error


def _hosts(worker: Any) -> tuple[str, str]:
    """Return the host that a member on this worker listens on, and the one that others call.

    Only callers on this machine can use a loopback address, so nobody else is listened to then.
    """
    if worker.address.startswith("inproc://"):  # the whole cluster is in this process
        return LOOPBACK, LOOPBACK
    listen, known = (get_address_host(at) for at in (worker.listen_address, worker.address))
    with contextlib.suppress(ValueError):  # a name
        if ipaddress.ip_address(known).is_loopback:
            return known, known
    return listen, known


@contextlib.contextmanager
def _open(channel: Channel) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        channel.abort(error)  # or else to close it would wait until the others have read all
        raise
    finally:
        channel.close()


def register(client: Any) -> None:
    """See to it that a cluster's scheduler and its workers, now and later, know of gangs."""
    # In this order: who finds this plugin on its worker can count on the scheduler's.
    client.register_plugin(Rendezvous())
    again(lambda: client.register_plugin(Membership()))


def _membership(worker: Any, timeout: float) -> Membership:
    if Membership.name not in worker.plugins:
        register(get_client())  # the graph was made without a client, or with an asynchronous one
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        membership: Membership | None = worker.plugins.get(Membership.name)
        if membership is not None and membership.ready:
            return membership
        time.sleep(0.005)  # another one has registered it, and it is on its way
    raise WorkerLostError(
        f"{worker.address} was not told of gangs within {timeout:g} s; look at the scheduler's log, and "
        "call again"
    )
