"""Carriers: how arrays on devices come from member to member, beside the messages that announce them.

Where each member has a GPU of its own they go from GPU to GPU by NCCL: over NVLink, PCIe or the network, as
it finds them. Otherwise they pass through the host's memory and the channel: where members share a GPU,
which NCCL does not allow, between machines whose channel is encrypted, which NCCL is not, and between a
member with a GPU and one without.

A communicator of NCCL takes half a second to make, and so the process keeps it for later runs of the same
members. Gangs on GPUs take turns (``alone`` of :func:`.gang.run`): so one of them uses it at a time.

Making a communicator waits for all members, and so does aborting it: NCCL's call returns only after the
other members have made it too. Therefore each communicator has a thread that makes both calls, and nobody
else waits for an abort. Otherwise a member that fails could not report its error, because the others abort
only once they hear of it, and a worker's event loop that waited could not start the next run's members.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
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

__all__ = ["Carrier", "carrier"]

KEPT = 4  # communicators that a process keeps: each takes some hundred MB of the device
AT_EXIT = 5.0  # seconds that a process waits at its end until its communicators are aborted

Members = tuple[str, ...]


class Carrier(Protocol):
    """Carries arrays of a round; its calls come in the order of the ring, at all members.

    Attributes
    ----------
    devices : bool
        Whether any member has one.
    """

    devices: bool

    def post(self, to: int, raw: Any) -> Any:
        """Have an array of bytes sent; return what the message that announces it is to bring along."""

    def take(self, to: int, source: int, brought: Any, size: int | None, device: bool) -> Any:
        """Send on what was posted for `to`, and return what `source` sent.

        Parameters
        ----------
        to, source : int
            As far behind this member in the ring as that one is before it.
        brought : ndarray of uint8
            What the message brought along.
        size : int or None
            Bytes that were posted; None where nothing was.
        device : bool
            Whether it is wanted on this member's device.
        """


def carrier(channel: Channel, kept: Communicators | None = None, *, device: bool = True) -> Carrier:
    """Return what carries arrays between these members; all of them call it.

    Parameters
    ----------
    channel : Channel
    kept : Communicators, optional
        By default this process'.
    device : bool
        Whether this member has a device.
    """
    kept = kept or _kept
    own = kept.nccl().device() if device else None
    told = _swap(channel, _Member(kept.process, kept.host, own, kept.names()))
    ranks = [rank for rank, member in enumerate(told) if member.device is not None]
    if not ranks:
        return _OnHosts()
    # What NCCL sends between machines anybody on the way can read.
    exposed = channel.encrypted and len({told[rank].host for rank in ranks}) > 1
    distinct = len({told[rank].device for rank in ranks}) == len(ranks) > 1
    if not device or exposed or not distinct:
        return _Staged(kept.nccl() if device else None)
    return _Direct(kept.get(channel, told, ranks), ranks, kept.nccl())


class _Member(NamedTuple):
    """Where a member is, and the communicators that its process has, by their members."""

    process: str
    host: str
    device: bytes | None
    held: dict[Members, Any]


class _OnHosts:
    """Carries nothing: what members send is in their messages."""

    devices = False

    def post(self, to: int, raw: Any) -> Any:
        return raw

    def take(self, to: int, source: int, brought: Any, size: int | None, device: bool) -> Any:
        return brought


class _Staged:
    """Carries arrays through the host; this member, or another one, may have no device."""

    devices = True

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl

    def post(self, to: int, raw: Any) -> Any:
        return self._nccl.to_host(raw)

    def take(self, to: int, source: int, brought: Any, size: int | None, device: bool) -> Any:
        return self._nccl.to_device(brought) if device else brought


class _Direct:
    """Carries arrays from device to device, and through the host to and from members without one."""

    devices = True

    def __init__(self, communicator: Any, ranks: list[int], nccl: Any) -> None:
        self._communicator, self._nccl = communicator, nccl
        self._places = {rank: place for place, rank in enumerate(ranks)}
        self._posted: dict[int, Any] = {}

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
    """Return what all processes of this machine say, and those of other machines do not."""
    known = [socket.gethostname()]
    with contextlib.suppress(OSError):  # of Linux
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    address = uuid.getnode()
    if not address >> 40 & 1:  # else it is random, for there is no network device
        known.append(str(address))
    return " ".join(known)


class Communicators:
    """Those that a process keeps, by the processes of their members."""

    def __init__(self) -> None:
        self.process = uuid.uuid4().hex
        self.host = _machine()
        self._held: dict[Members, _Communicator] = {}  # the one that was used last is the last one
        self._lock = threading.Lock()

    def nccl(self) -> Any:
        """Return the module that has them."""
        # Not an import statement: it takes CuPy, which members on the host do without.
        return importlib.import_module("dask_graphflow.kernels.device_nccl")

    def names(self) -> dict[Members, Any]:
        """Return the name of each."""
        with self._lock:
            return {members: held.name for members, held in self._held.items()}

    def get(self, channel: Channel, told: list[_Member], ranks: list[int]) -> _Communicator:
        """Return the one that members of these ranks have, or make one; it ends where a run is aborted."""
        members = tuple(told[rank].process for rank in ranks)
        names = {told[rank].held.get(members) for rank in ranks}
        with self._lock:
            held = self._held.pop(members, None)
        if held is not None and len(names) > 1:  # another member has lost it
            held.abort()
            held = None
        held = held or _connected(channel, self.nccl(), ranks)
        with self._lock:
            self._held[members] = held
            over = [self._held.pop(old) for old in list(self._held)[:-KEPT]]
        for old in over:
            old.abort()
        channel.abort_too(partial(self.drop, members, held))
        return held

    def drop(self, members: Members, held: _Communicator) -> None:
        """Have one aborted, and keep it no longer. Returns at once."""
        with self._lock:
            if self._held.get(members) is held:
                del self._held[members]
        held.abort()

    def drop_all(self, patience: float = AT_EXIT) -> None:
        """Have all aborted; wait until they are, but not for longer than so many seconds."""
        dropped = list(self._held.items())
        for members, held in dropped:
            self.drop(members, held)
        deadline = time.monotonic() + patience
        for _, held in dropped:
            held.join(max(0.0, deadline - time.monotonic()))


_kept = Communicators()
# At the end of the process: to destroy them instead may wait for members that have gone.
atexit.register(_kept.drop_all)


class _Communicator:
    """A communicator of NCCL, and the thread that makes and aborts it.

    Parameters
    ----------
    name : tuple of int or bytes
        The same for all members.
    make : callable
        Returns the communicator.
    """

    def __init__(self, name: Any, make: Callable[[], Any]) -> None:
        self.name = name
        self._make = make
        self._made: Future[Any] = Future()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="graphflow-nccl", daemon=True)
        self._thread.start()

    def made(self) -> None:
        """Wait until it is made, or raise why it is not."""
        self._made.result()

    def swap(self, to: int | None, sent: Any, source: int | None, size: int | None) -> Any:
        """Send one member an array, and receive one from another."""
        return self._made.result().swap(to, sent, source, size)

    def abort(self, error: BaseException | None = None) -> None:
        """Have it aborted; who waits until it is made raises `error`. Returns at once."""
        self._over.set()
        _end(self._made.set_exception, error or ConnectionAbortedError())

    def join(self, patience: float) -> None:
        """Wait until it is aborted, but not for longer than so many seconds."""
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


def _connected(channel: Channel, nccl: Any, ranks: list[int]) -> _Communicator:
    """Connect some members."""
    own = ranks.index(channel.rank)
    name = _swap(channel, nccl.new_name() if own == 0 else None, ranks)[0]
    make = partial(nccl.Communicator, len(ranks), name, own, on=nccl.ordinal())
    communicator = _Communicator(name, make)
    # NCCL waits for ever for a member that is lost meanwhile.
    channel.abort_too(lambda: communicator.abort(PeerLost(channel.rank)))
    communicator.made()
    return communicator


def _end(end: Callable[[Any], None], value: Any) -> bool:
    try:
        end(value)
    except InvalidStateError:  # it has ended otherwise
        return False
    return True


def _swap(channel: Channel, own: Any, ranks: Sequence[int] | None = None) -> list[Any]:
    """Tell members of these ranks, or all, something; return what each of them told."""
    ranks = range(channel.size) if ranks is None else ranks
    message = pickle.dumps(own, pickle.HIGHEST_PROTOCOL)
    others = [rank for rank in ranks if rank != channel.rank]
    for rank in others:
        channel.send(rank, message)
    told = {rank: pickle.loads(channel.receive(rank)) for rank in others}
    return [told.get(rank, own) for rank in ranks]
