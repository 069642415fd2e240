"""Carriers: they move arrays on devices between members, alongside the messages that announce them.

If each member has a GPU of its own, NCCL moves the arrays from GPU to GPU, over NVLink, PCIe or the
network. Otherwise they pass through host memory and the channel. This is the case if members share a GPU,
which NCCL does not allow; if members are on different machines and the channel is encrypted, because NCCL
does not encrypt; and between a member with a GPU and a member without one.

Making an NCCL communicator takes half a second, so the process keeps it for later runs of the same members.
Gangs on GPUs take turns (``alone`` of :func:`.gang.run`), so only one gang uses a communicator at a time.

Making a communicator waits for all members, and so does aborting it: NCCL's call returns only after the
other members have made the same call. Therefore each communicator has a thread that makes both calls, and
no other thread waits for an abort. It also closes the memory of other members (:mod:`.peers`), once the
member has left its run. Otherwise a member that fails could not report its error, because the
others abort only when they learn of the error. A worker's event loop that waited could not start the
members of the next run.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import pickle
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from .channel import Channel, PeerLost
from .peers import Peers

logger = logging.getLogger(__name__)

KEPT = 4  # communicators that a process keeps; each takes some hundred MB of device memory
AT_EXIT = 5.0  # seconds that an exiting process waits until its communicators are aborted

Members = tuple[str, ...]


class Carrier(Protocol):
    """Carries the arrays of a round. All members call it in the order of the ring.

    Attributes
    ----------
    devices : bool
        Whether any member has a device.
    transfer : str
        How arrays travel: by "nccl", or through the "host".
    """

    devices: bool
    transfer: str

    def peers(self, channel: Channel) -> Peers | None:
        """Return the memory that the devices share. All members call it; None if they do not."""

    def post(self, to: int, raw: Any) -> Any:
        """Register an array of bytes to send; return the payload of the message that announces it."""

    def take(self, to: int, source: int, brought: Any, size: int | None, device: bool) -> Any:
        """Send the array that was posted for `to`, and return the array that `source` posted.

        The members `to` and `source` are at the same distance in the ring, after and before this one.
        `brought` is the payload of the message from `source`, and `size` its bytes; None if `source` posted
        nothing. The result is on this member's `device`, or in host memory.
        """


def carrier(channel: Channel, kept: Communicators | None = None, *, device: bool = True) -> Carrier:
    """Return a carrier for arrays between the members of a channel. All members must call this function."""
    kept = kept or _kept
    own = kept.nccl().device() if device else None
    members = swap(channel, _MemberProcess(kept.process, kept.host, own, kept.names()))
    ranks = [rank for rank, member in enumerate(members) if member.device is not None]
    if not ranks:
        return _OnHosts()
    # NCCL does not encrypt what it sends between machines.
    exposed = channel.encrypted and len({members[rank].host for rank in ranks}) > 1
    distinct = len({members[rank].device for rank in ranks}) == len(ranks) > 1
    if device and len(ranks) > 1 and (exposed or not distinct):
        why = "the cluster encrypts messages" if exposed else "members share a GPU"
        logger.info("Arrays on GPUs are sent through host memory: %s", why)
    if not device or exposed or not distinct:
        return _Staged(kept.nccl() if device else None)
    return _Direct(kept.get(channel, members, ranks), members, kept.nccl())


class _MemberProcess(NamedTuple):
    """A member's process, host and device, and the names of its process' communicators by their members."""

    process: str
    host: str
    device: bytes | None
    held: dict[Members, Any]


class _OnHosts:
    """Carries nothing: the messages themselves contain the arrays."""

    devices, transfer = False, "host"

    def peers(self, channel: Channel) -> Peers | None:
        return None

    def post(self, to: int, raw: Any) -> Any:
        return raw

    def take(self, to: int, source: int, brought: Any, size: int | None, device: bool) -> Any:
        return brought


class _Staged:
    """Carries arrays through host memory. Any member may be without a device."""

    devices, transfer = True, "host"

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl

    def peers(self, channel: Channel) -> Peers | None:
        return None

    def post(self, to: int, raw: Any) -> Any:
        return self._nccl.to_host(raw)

    def take(self, to: int, source: int, brought: Any, size: int | None, device: bool) -> Any:
        return self._nccl.to_device(brought) if device else brought


class _Direct:
    """Carries arrays from device to device, and through host memory if one side has no device."""

    devices, transfer = True, "nccl"

    def __init__(
        self, communicator: _Communicator, members: list[_MemberProcess], nccl: Any
    ) -> None:
        self._communicator, self._members, self._nccl = communicator, members, nccl
        ranks = [rank for rank, member in enumerate(members) if member.device is not None]
        self._places = {rank: place for place, rank in enumerate(ranks)}
        self._posted: dict[int, Any] = {}

    def peers(self, channel: Channel) -> Peers | None:
        if len(self._places) < channel.size:
            return None
        peers = self._communicator.peers
        if peers is None:
            why_not = self._why_not()
            peers = Peers(channel.rank, channel.size, partial(swap, channel), why_not)
            self._communicator.share(peers)
        return peers if peers.shared else None

    def _why_not(self) -> str:
        """Return why this member cannot use the memory of the others, as far as this is known at once."""
        if len({member.host for member in self._members}) > 1:
            return "they are on different machines, or in different containers"
        why_not: str = self._nccl.why_not([member.device for member in self._members])
        return why_not

    def post(self, to: int, raw: Any) -> Any:
        if to not in self._places:
            return self._nccl.to_host(raw)
        if raw.nbytes:
            self._posted[to] = raw
        return b""

    def take(self, to: int, source: int, brought: Any, size: int | None, device: bool) -> Any:
        sent, places = self._posted.pop(to, None), self._places
        comes = size if source in places else None
        try:
            arrived = self._communicator.swap(places.get(to), sent, places.get(source), comes)
        except ConnectionError as error:
            raise PeerLost(source) from error
        if arrived is not None:
            return arrived
        return self._nccl.to_device(brought) if device else brought


def _machine() -> str:
    """Return a name that is the same in all processes of this machine, and unique to the machine."""
    identity = [socket.gethostname()]
    with contextlib.suppress(OSError):  # exists on Linux only
        identity.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    address = uuid.getnode()
    if not address >> 40 & 1:  # otherwise the address is random, because there is no network device
        identity.append(str(address))
    return " ".join(identity)


class Communicators:
    """The NCCL communicators that a process keeps, by the processes of their members."""

    def __init__(self) -> None:
        self.process = uuid.uuid4().hex
        self.host = _machine()
        self._held: dict[Members, _Communicator] = {}  # the most recently used one is last
        self._lock = threading.Lock()

    def nccl(self) -> Any:
        """Return the module that wraps NCCL."""
        # Imported late because the module needs CuPy, and members on the host run without CuPy.
        return importlib.import_module("dask_graphflow.kernels.device_nccl")

    def names(self) -> dict[Members, Any]:
        """Return the name of each communicator, by its members."""
        with self._lock:
            return {members: held.name for members, held in self._held.items()}

    def get(
        self, channel: Channel, all_members: list[_MemberProcess], ranks: list[int]
    ) -> _Communicator:
        """Return the communicator of the members with these ranks. Make it if there is none.

        The communicator is dropped if the channel is aborted.
        """
        members = tuple(all_members[rank].process for rank in ranks)
        names = {all_members[rank].held.get(members) for rank in ranks}
        with self._lock:
            held = self._held.pop(members, None)
        if held is not None and len(names) > 1:  # another member no longer has it
            held.abort()
            held = None
        held = held or _connect(channel, self.nccl(), ranks)
        held.left = channel.left
        with self._lock:
            self._held[members] = held
            over = [self._held.pop(old) for old in list(self._held)[:-KEPT]]
        for old in over:
            old.abort()
        channel.abort_too(partial(self.drop, members, held))
        return held

    def drop(self, members: Members, held: _Communicator) -> None:
        """Abort a communicator and stop keeping it. Returns at once."""
        with self._lock:
            if self._held.get(members) is held:
                del self._held[members]
        held.abort()

    def drop_all(self, patience: float = AT_EXIT) -> None:
        """Abort all communicators, and wait at most `patience` seconds until they are aborted."""
        dropped = list(self._held.items())
        for members, held in dropped:
            self.drop(members, held)
        deadline = time.monotonic() + patience
        for _, held in dropped:
            held.join(max(0.0, deadline - time.monotonic()))


_kept = Communicators()
# Abort at exit: destroying a communicator could wait for members that no longer exist.
atexit.register(_kept.drop_all)


class _Communicator:
    """An NCCL communicator, whose name all members share, and the thread that makes and aborts it.

    Attributes
    ----------
    peers : Peers or None
        The memory that the members share, if they have looked whether they can.
    left : threading.Event
        Set when the member has left the last run that uses the communicator.
    """

    def __init__(self, name: Any, make: Callable[[], Any], left: threading.Event) -> None:
        self.name, self.left = name, left
        self.peers: Peers | None = None
        self._make = make
        self._made: Future[Any] = Future()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="graphflow-nccl", daemon=True)
        self._thread.start()

    def made(self) -> None:
        """Wait until the communicator is made, or raise the error that prevented it."""
        self._made.result()

    def swap(self, to: int | None, sent: Any, source: int | None, size: int | None) -> Any:
        """Send one member an array, and receive one from another."""
        return self._made.result().swap(to, sent, source, size)

    def share(self, peers: Peers) -> None:
        """Keep the memory that the members share, until the communicator is aborted."""
        self.peers = peers
        if self._over.is_set():
            peers.drop()

    def abort(self, error: BaseException | None = None) -> None:
        """Abort the communicator. Threads that wait for it raise `error`. Returns at once."""
        self._over.set()
        if self.peers is not None:
            self.peers.drop()
        _end(self._made.set_exception, error or ConnectionAbortedError())

    def join(self, patience: float) -> None:
        """Wait at most `patience` seconds until the communicator is aborted."""
        self._thread.join(patience)

    def _live(self) -> None:
        try:
            communicator = self._make()
        except BaseException as error:
            _end(self._made.set_exception, error)
            return
        _end(self._made.set_result, communicator)
        self._over.wait()
        communicator.abort()
        # Until the member has left its run, its thread may start kernels that use the memory of others.
        self.left.wait()
        if self.peers is not None:
            self.peers.close()


def _connect(channel: Channel, nccl: Any, ranks: list[int]) -> _Communicator:
    """Return a new communicator of the members with these ranks."""
    own = ranks.index(channel.rank)
    name = swap(channel, nccl.new_name() if own == 0 else None, ranks)[0]
    make = partial(nccl.Communicator, len(ranks), name, own, on=nccl.ordinal())
    communicator = _Communicator(name, make, channel.left)
    # Without this, NCCL would wait forever for a member that is lost meanwhile.
    channel.abort_too(lambda: communicator.abort(PeerLost(channel.rank)))
    communicator.made()
    return communicator


def _end(end: Callable[[Any], None], value: Any) -> bool:
    try:
        end(value)
    except InvalidStateError:  # the future already has a result or an error
        return False
    return True


def swap(channel: Channel, own: Any, ranks: Sequence[int] | None = None) -> list[Any]:
    """Send an object to the members with these ranks, by default all; return the object of each member."""
    ranks = range(channel.size) if ranks is None else ranks
    message = pickle.dumps(own, pickle.HIGHEST_PROTOCOL)
    others = [rank for rank in ranks if rank != channel.rank]
    for rank in others:
        channel.send(rank, message)
    received = {rank: pickle.loads(channel.receive(rank)) for rank in others}
    return [received.get(rank, own) for rank in ranks]
