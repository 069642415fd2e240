"""Members of gangs on a worker: how they join the others, and how they are stopped.

A member joins with a message to the scheduler's :class:`~.rendezvous.Rendezvous`. The message uses the
stream that also reports the state of the member's task, so the scheduler receives both in order. The
answer contains the addresses of the other members, or says that the run is over.
"""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import math
import operator
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from queue import SimpleQueue
from typing import Any

from distributed import Reschedule, WorkerPlugin, get_client
from distributed.comm import get_address_host
from distributed.threadpoolexecutor import secede
from distributed.worker_state_machine import SecedeEvent

from dask_graphflow.comm.channel import Channel, PeerLost
from dask_graphflow.comm.member_links import KeptLinks, MemberLinks
from dask_graphflow.comm.process_meeting import process_name
from dask_graphflow.comm.sockets import Listener
from dask_graphflow.exceptions import WorkerLostError

from .clients import register_plugins
from .gang_expr import Roster
from .rendezvous import Rendezvous

RUNNING = ("executing", "long-running")
READY = ("ready", "constrained")  # states of tasks that wait for a thread
LOOPBACK = "127.0.0.1"
LOOK = 0.05  # seconds between checks whether a run that waits for its turn is over


class Membership(WorkerPlugin):  # type: ignore[misc]
    """Keeps track of the members on a worker, and stops them when they are told to end or cancelled."""

    name = "graphflow-members"
    idempotent = True

    def __init__(self) -> None:
        self._members: dict[str, _Member] = {}
        self.ready = False

    def setup(self, worker: Any) -> None:
        """Register the handlers of the scheduler's messages to members."""
        self._worker = worker
        self.links = KeptLinks()
        self.turns = Turns()
        worker.stream_handlers["graphflow-gang-start"] = self._start
        worker.stream_handlers["graphflow-gang-over"] = self._over
        worker.stream_handlers["graphflow-gang-lost"] = self._lost
        self.ready = True

    @functools.cached_property
    def contexts(self) -> tuple[Any, Any] | None:
        """TLS contexts for listening and connecting, or None if Dask's connections are not encrypted."""
        if not self._worker.address.startswith(("tls://", "wss://")):
            return None
        security = self._worker.security
        arguments = security.get_listen_args("worker"), security.get_connection_args("worker")
        return arguments[0]["ssl_context"], arguments[1]["ssl_context"]

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Stop a member whose task was cancelled; close links when their shard goes."""
        if finish in ("released", "forgotten"):
            self.links.drop(key)
        if self._members and finish in READY:
            self._worker.loop.add_callback(self.make_way)  # not now, during a transition
        if self._members and finish not in RUNNING:
            for member in list(self._members.values()):
                if member.key == key:
                    member.end(Reschedule())  # a task that is no longer wanted is not rescheduled

    def teardown(self, worker: Any) -> None:
        """Stop all members when the worker closes."""
        for member in list(self._members.values()):
            member.end(Reschedule())
        self.links.close()

    def tell(self, op: str, **message: Any) -> None:
        """Send the scheduler a message, from any thread."""
        message["op"] = f"graphflow-gang-{op}"
        self._worker.loop.add_callback(self._worker.batched_send, message)

    @property
    def going(self) -> bool:
        """Whether a member here has started to work with the others of its gang."""
        return any(member.started for member in list(self._members.values()))

    @contextlib.contextmanager
    def listed(self, member: _Member) -> Iterator[None]:
        """Deliver the scheduler's messages to a member while the context is open."""
        self._members[member.id] = member
        try:
            state = self._worker.state
            task = state.tasks.get(member.key)
            if task is None or task.state not in RUNNING:  # it was cancelled before it was listed
                raise Reschedule
            if state.ready or state.constrained:
                self._worker.loop.add_callback(self.make_way)
            yield
        finally:
            del self._members[member.id]

    def make_way(self, *members: _Member) -> None:
        """Let the worker run other tasks beside members, whose threads have left its thread pool.

        Only the worker's event loop calls it. By default, it does so for all members if a task waits.
        """
        state = self._worker.state
        if not members and (state.ready or state.constrained):
            members = tuple(self._members.values())
        for member in members:
            task = state.tasks.get(member.key)
            if task is not None and task.state == "executing":
                stimulus = f"graphflow-secede-{time.time()}"
                took = time.monotonic() - member.began
                event = SecedeEvent(key=task.key, compute_duration=took, stimulus_id=stimulus)
                self._worker.handle_stimulus(event)

    def _start(self, member: str, **start: Any) -> None:
        if (there := self._members.get(member)) is not None:
            there.start(start)

    def _over(self, member: str, lost: str | None) -> None:
        if (there := self._members.get(member)) is not None:
            there.end(Reschedule() if lost is None else WorkerLostError(lost))

    def _lost(self, gang: str) -> None:
        """End a gang's members, so that Dask runs them again, because one member was lost."""
        for member in list(self._members.values()):
            if member.key[0] == gang:
                member.end(Reschedule())


class _Member:
    """One run of a member's task. The scheduler may end it at any time.

    Attributes
    ----------
    id : str
        Unique among members, and among all runs of the same task.
    error : BaseException or None
        The error with which the task must end, once the run is over.
    began : float
        When it began.
    connecting : float
        When the member began to connect to the others; infinite if it does not connect.
    """

    def __init__(self, key: Any) -> None:
        self.id = uuid.uuid4().hex
        self.began = time.monotonic()
        self.key = key
        self.error: BaseException | None = None
        self.connecting = math.inf
        self._lock = threading.Lock()
        self._waits_for: Listener | Channel | None = None
        self._news: SimpleQueue[dict[str, Any] | None] = SimpleQueue()

    def start(self, start: dict[str, Any]) -> None:
        """Accept the scheduler's message that all members have joined."""
        self._news.put(start)

    def end(self, error: BaseException) -> None:
        """End the member with an error, whatever it is waiting for. Can be called from any thread."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error
            waits_for = self._waits_for
        self._news.put(None)
        if waits_for is not None:
            waits_for.abort(error)

    @property
    def started(self) -> bool:
        """Whether all members of the gang have joined."""
        return self._waits_for is not None

    def waits_for(self, other: Listener | Channel) -> None:
        """Set the object to abort if the run ends."""
        with self._lock:
            self._waits_for = other
            error = self.error
        if error is not None:
            other.abort(error)

    def wait(self) -> dict[str, Any]:
        """Wait for the scheduler's start message; raise the error if the run ends instead."""
        start = self._news.get()
        if self.error is not None:
            raise self.error
        assert start is not None
        return start


class Turns:
    """The turns on a worker of the runs that must have their workers to themselves.

    The scheduler starts these runs one after another, except for those that begin on kept links. Such a run
    begins only if it can take its turn on all its workers, and the others wait until it has ended there.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._gang: str | None = None
        self._members = 0  # number of the gang's members in this process

    def take(self, gang: str, patience: float = 0.0) -> bool:
        """Take the turn for a member; return whether no other gang had it, after waiting if necessary."""
        with self._changed:
            free = self._changed.wait_for(lambda: self._gang in (None, gang), patience)
            if free:
                self._gang = gang
                self._members += 1
            return free

    def end(self) -> None:
        """End the turn of a member."""
        with self._changed:
            self._members -= 1
            if not self._members:
                self._gang = None
                self._changed.notify_all()


class _Turn:
    """A member's part in the turn of its gang."""

    def __init__(self, turns: Turns, member: _Member) -> None:
        self._turns, self._member, self._taken = turns, member, False

    def take(self, patience: float = 0.0) -> bool:
        """Take the turn; see :meth:`Turns.take`."""
        self._taken = self._turns.take(self._member.key[0], patience)
        return self._taken

    def wait(self) -> None:
        """Take the turn, however long it takes. Raise if the run of the member ends meanwhile."""
        while not (self._taken or self.take(LOOK)):
            if self._member.error is not None:
                raise self._member.error

    def end(self) -> None:
        """End the turn, if it was taken."""
        if self._taken:
            self._taken = False
            self._turns.end()


@contextlib.contextmanager
def join_gang(
    worker: Any, roster: Roster, rank: int, size: int, timeout: float, alone: bool
) -> Iterator[tuple[Channel, int]]:
    """Join a gang as a member, in the thread of its task.

    Yields the channel and the number of members in this process. If an error is raised inside the context
    or by it, the task must end with that error. `Reschedule` means that the task runs again, or is no
    longer wanted.
    """
    membership = _membership(worker, timeout)
    # Other tasks, such as other members, may need a thread. The worker starts one for them once one of them
    # is ready, or once this member waits for others. Always telling Dask takes longer than many runs.
    secede(adjust=False)
    shards = roster.shards[:size]
    run = {"gang": roster.name, "rank": rank, "size": size, "timeout": timeout, "alone": alone}
    member = _Member((roster.name, rank))
    turn = _Turn(membership.turns if alone else Turns(), member)  # no other run uses the latter
    with membership.listed(member):
        try:
            found = membership.links.take(shards, rank, roster.name, turn.take)
            if found is None:
                turn.end()  # the members of another run may wait for it, which the scheduler knows
                worker.loop.add_callback(membership.make_way, member)
                found = _connect(worker, membership, member, shards, run)
            links, channel = found
            member.waits_for(channel)
            leave: Callable[[], None] = channel.close
            if roster.kept:
                wanted = partial(operator.contains, worker.data, shards[rank])
                leave = partial(membership.links.keep, links, channel, wanted)
            with _open(channel, leave):
                turn.wait()
                yield channel, links.members
                turn.end()  # before the links are kept, because the next run on them takes its turn
        except PeerLost as lost:
            # If the run is not over already, the scheduler ends it when it gets this message.
            late = time.monotonic() - member.connecting >= timeout
            membership.tell("broken", member=member.id, lost=lost.rank, late=late, **run)
            member.wait()
        finally:
            turn.end()
            if member.error is not None:  # also if the run was over before this member had ended
                raise member.error


def _connect(
    worker: Any, membership: Membership, member: _Member, shards: list[Any], run: dict[str, Any]
) -> tuple[MemberLinks, Channel]:
    """Connect to the other members, which the scheduler brings together."""
    secret = bytearray(32)  # the run's secret once it starts; until then the port is closed
    listen, advertised = _hosts(worker)
    with contextlib.closing(Listener(listen, secret, membership.contexts)) as listener:
        address = advertised, listener.port, process_name()
        membership.tell("join", member=member.id, address=address, **run)
        start = member.wait()
        secret[:] = start["secret"]
        member.waits_for(listener)
        member.connecting = time.monotonic()
        addresses = [(host, port) for host, port, _ in start["addresses"]]
        here = [other for other, at in enumerate(start["addresses"]) if at[2] == address[2]]
        channel = listener.connect(run["rank"], addresses, run["timeout"], here)
        member.connecting = math.inf
    return MemberLinks(shards, start["members"], channel), channel


def _hosts(worker: Any) -> tuple[str, str]:
    """Return the host on which a member on this worker listens, and the host that others connect to.

    If the worker has a loopback address, all callers are on this machine, and the member listens only
    there.
    """
    if worker.address.startswith("inproc://"):  # the whole cluster is in this process
        return LOOPBACK, LOOPBACK
    listen, advertised = (get_address_host(at) for at in (worker.listen_address, worker.address))
    with contextlib.suppress(ValueError):  # the host may be a name
        if ipaddress.ip_address(advertised).is_loopback:
            return advertised, advertised
    return listen, advertised


@contextlib.contextmanager
def _open(channel: Channel, leave: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        channel.abort(error)  # otherwise close() would wait until the others have read everything
        channel.close()
        raise
    leave()


def register(client: Any) -> None:
    """Register the plugins for gangs with a cluster."""
    register_plugins(client, Rendezvous(), Membership())


def _membership(worker: Any, timeout: float) -> Membership:
    if Membership.name not in worker.plugins:
        register(get_client())  # the graph was made without a client, or with an asynchronous one
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        membership: Membership | None = worker.plugins.get(Membership.name)
        if membership is not None and membership.ready:
            return membership
        time.sleep(0.005)  # registered by another thread, but not here yet
    raise WorkerLostError(
        f"{worker.address} did not receive the plugin for gangs within {timeout:g} s; look at the "
        "scheduler's log, and call again"
    )
