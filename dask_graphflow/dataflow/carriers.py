"""Carriers: how arrays on devices come from member to member, beside the messages that announce them.

Where each member has a GPU of its own they go from GPU to GPU by NCCL: over NVLink, PCIe or the network, as
it finds them. Otherwise they pass through the host's memory and the channel: where members share a GPU,
which NCCL does not allow, and between machines whose channel is encrypted, which NCCL is not.

A communicator of NCCL takes half a second to make, and so the process keeps it for later runs of the same
members. Gangs on GPUs take turns (``alone`` of :func:`.gang.run`): so one of them uses it at a time.
"""

from __future__ import annotations

import atexit
import importlib
import pickle
import socket
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from functools import partial
from typing import Any, NamedTuple, Protocol

from .channel import Channel, PeerLost

__all__ = ["Carrier", "carrier"]

SMALL = 1 << 15  # bytes that do without NCCL
KEPT = 4  # communicators that a process keeps: each takes some hundred MB of the device
PROCESS = uuid.uuid4().hex
HOST = f"{socket.gethostname()} {uuid.getnode()}"

Members = tuple[str, ...]

_communicators: dict[Members, Any] = {}  # the one that was used last is the last one
_lock = threading.Lock()


class Carrier(Protocol):
    """Carries arrays of a round; its calls come in the order of the ring, at all members."""

    def post(self, to: int, raw: Any) -> Any:
        """Have an array of bytes sent; return what the message that announces it is to bring along."""

    def take(self, to: int, source: int, brought: Any, size: int | None) -> Any:
        """Send on what was posted for `to`, and return what `source` posted.

        Parameters
        ----------
        to, source : int
            As far behind this member in the ring as that one is before it.
        brought : ndarray of uint8
            What the message brought along.
        size : int or None
            Bytes that were posted; None where nothing was.
        """


def carrier(channel: Channel) -> Carrier:
    """Return what carries arrays between these members; all of them call it."""
    nccl = _nccl()
    told = _swap(channel, _Member(PROCESS, HOST, nccl.device(), _held()))
    # What NCCL sends between machines anybody on the way can read.
    open_ = channel.encrypted and len({member.host for member in told}) > 1
    if open_ or len({(member.host, member.device) for member in told}) < len(told):
        return _Staged(nccl)
    return _Direct(nccl, _communicator(channel, told))


def _nccl() -> Any:
    # Not an import statement: it takes CuPy, which members on the host do without.
    return importlib.import_module("dask_graphflow.kernels.device_nccl")


class _Member(NamedTuple):
    """Where a member is, and the communicators that its process has, by their members."""

    process: str
    host: str
    device: bytes
    held: dict[Members, Any]


class _Staged:
    """Carries arrays through the host."""

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl

    def post(self, to: int, raw: Any) -> Any:
        return self._nccl.to_host(raw)

    def take(self, to: int, source: int, brought: Any, size: int | None) -> Any:
        if size is None:
            return None
        return self._nccl.to_device(brought)


class _Direct:
    """Carries arrays from device to device, and small ones with the message that announces them.

    To begin with NCCL takes longer than to bring few bytes to the host, which waits for the number of them
    anyway.
    """

    def __init__(self, nccl: Any, communicator: Any) -> None:
        self._nccl, self._communicator = nccl, communicator
        self._posted: dict[int, Any] = {}

    def post(self, to: int, raw: Any) -> Any:
        if raw.nbytes <= SMALL:
            return self._nccl.to_host(raw)
        self._posted[to] = raw
        return b""

    def take(self, to: int, source: int, brought: Any, size: int | None) -> Any:
        inline = size is not None and size <= SMALL
        try:
            found = self._communicator.swap(
                to, self._posted.pop(to, None), source, None if inline else size
            )
        except ConnectionError as error:
            raise PeerLost(source) from error
        return self._nccl.to_device(brought) if inline else found


def _held() -> dict[Members, Any]:
    with _lock:
        return {members: held.name for members, held in _communicators.items()}


def _communicator(channel: Channel, told: list[_Member]) -> Any:
    """Return the communicator that all members have, or make one."""
    members = tuple(member.process for member in told)
    names = {member.held.get(members) for member in told}
    with _lock:
        held = _communicators.pop(members, None)
    if held is not None and len(names) > 1:  # another member has lost it
        held.abort()
        held = None
    held = held or _connected(channel)
    with _lock:
        _communicators[members] = held
        over = [_communicators.pop(old) for old in list(_communicators)[:-KEPT]]
    for old in over:
        old.abort()
    channel.abort_too(partial(_drop, members, held))
    return held


def _drop(members: Members, held: Any) -> None:
    with _lock:
        if _communicators.get(members) is held:
            del _communicators[members]
    held.abort()


@atexit.register
def _drop_all() -> None:  # to destroy them instead may wait for members that have gone
    for members, held in list(_communicators.items()):
        _drop(members, held)


def _connected(channel: Channel) -> Any:
    """Connect all members; in a thread, for NCCL waits for ever for one that is lost meanwhile."""
    nccl = _nccl()
    name = _swap(channel, nccl.new_name() if channel.rank == 0 else None)[0]
    made: Future[Any] = Future()

    def connect(on: int) -> None:
        try:
            communicator = nccl.Communicator(channel.size, name, channel.rank, on=on)
        except BaseException as error:
            _end(made.set_exception, error)
        else:
            if not _end(made.set_result, communicator):
                communicator.abort()

    channel.abort_too(lambda: _end(made.set_exception, PeerLost(channel.rank)))
    threading.Thread(
        target=connect, args=(nccl.ordinal(),), name="graphflow-nccl", daemon=True
    ).start()
    return made.result()


def _end(end: Callable[[Any], None], value: Any) -> bool:
    try:
        end(value)
    except InvalidStateError:  # it has ended otherwise
        return False
    return True


def _swap(channel: Channel, own: Any) -> list[Any]:
    """Tell all other members something, and return what each one told."""
    message = pickle.dumps(own, pickle.HIGHEST_PROTOCOL)
    others = [rank for rank in range(channel.size) if rank != channel.rank]
    for rank in others:
        channel.send(rank, message)
    told = {rank: pickle.loads(channel.receive(rank)) for rank in others}
    return [told.get(rank, own) for rank in range(channel.size)]
