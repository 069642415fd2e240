"""Arrays sent from GPU to GPU by NCCL, and through the host where that cannot be.

Only who sends and receives is here; who does when is :mod:`~dask_graphflow.comm.carriers`'.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np

from .device import namespace as cupy

__all__ = ["Communicator", "device", "new_name", "ordinal", "to_device", "to_host"]

PATIENCE = 5.0  # seconds that a call that is being made may take before it is aborted all the same


def ordinal() -> int:
    """Return this process' number of the device in use."""
    return int(cupy.cuda.runtime.getDevice())


def device() -> bytes:
    """Return what no other device is called, on this machine or another."""
    return _name(ordinal())


@cache
def _name(ordinal: int) -> bytes:  # asking CUDA takes a millisecond
    return bytes(cupy.cuda.runtime.getDeviceProperties(ordinal)["uuid"])


def to_host(array: Any) -> Any:
    """Return an array's bytes, once they are there, in memory that the device writes to by itself.

    CuPy keeps that memory for the next time once nobody holds it.
    """
    if not array.nbytes:
        return np.empty(0, np.uint8)
    memory = cupy.cuda.alloc_pinned_memory(array.nbytes)
    there = np.frombuffer(memory, np.uint8, array.nbytes)
    array.get(out=there)
    return there


def to_device(array: Any) -> Any:
    """Return a copy of an array on the device."""
    return cupy.asarray(array)


def new_name() -> tuple[int, ...]:
    """Return a name for a communicator, by which its members find the one that made the name."""
    from cupy.cuda import nccl

    name: tuple[int, ...] = nccl.get_unique_id()
    return name


class Communicator:
    """A member's side of NCCL, on CuPy's current stream.

    Parameters
    ----------
    size : int
        Members.
    name : tuple of int
        Of :func:`new_name`, the same for all.
    rank : int
        Which member this is. It waits for all the others.
    on : int
        The device, by this process' number.
    """

    def __init__(self, size: int, name: tuple[int, ...], rank: int, *, on: int) -> None:
        from cupy.cuda import nccl

        self.name = name
        self._on, self._nccl = on, nccl
        self._calling, self._aborting = threading.Lock(), threading.Lock()
        self._aborted = False
        with cupy.cuda.Device(on):
            self._communicator = nccl.NcclCommunicator(size, name, rank)

    def swap(self, to: int | None, sent: Any, source: int | None, size: int | None) -> Any:
        """Send one member an array and receive from another, which does the same in its turn.

        Parameters
        ----------
        to : int or None
        sent : array of uint8, or None
            None where `to` expects nothing.
        source : int or None
        size : int or None
            Bytes to receive; None for no array.

        Returns
        -------
        array of uint8, or None

        Raises
        ------
        ConnectionError
            The communicator was aborted, or a member cannot be reached any more.
        """
        received: Any = None if size is None else cupy.empty(size, "uint8")
        if sent is None and not size:
            return received
        stream = cupy.cuda.get_current_stream().ptr
        kind = self._nccl.NCCL_UINT8
        with self._calling:
            if self._aborted:
                raise ConnectionError("the communicator was aborted")
            try:
                self._nccl.groupStart()
                if sent is not None:
                    self._communicator.send(sent.data.ptr, sent.nbytes, kind, to, stream)
                if size:
                    self._communicator.recv(received.data.ptr, size, kind, source, stream)
                self._nccl.groupEnd()
            except self._nccl.NcclError as error:
                raise ConnectionError(f"NCCL: {error}") from error
        return received

    def abort(self) -> None:
        """Have what waits on the device end, and later calls raise. From any thread, once or often.

        The first call may wait until all other members abort too: NCCL's thread that serves them ends only
        when they have closed their connections to it.
        """
        with self._aborting:
            if self._aborted:
                return
            self._aborted = True  # later calls of swap raise already
        if self._calling.acquire(timeout=PATIENCE):  # one that connects may wait for who is lost
            self._calling.release()
        self._communicator.abort()
