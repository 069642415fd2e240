"""Send arrays from GPU to GPU by NCCL, or through the host if that is not possible.

This module only sends and receives; :mod:`~dask_graphflow.comm.carriers` decides when.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from . import gpu
from .common.device import namespace as cupy

PATIENCE = 5.0  # seconds that a running call has to end before the communicator is aborted anyway


def ordinal() -> int:
    """Return the number of the current device in this process."""
    return int(cupy.cuda.runtime.getDevice())


def device() -> bytes:
    """Return an identifier of the current device that is unique across all machines."""
    return _name(ordinal())


@cache
def _name(ordinal: int) -> bytes:  # cached, because asking CUDA takes a millisecond
    return bytes(cupy.cuda.runtime.getDeviceProperties(ordinal)["uuid"])


def why_not(devices: Sequence[bytes]) -> str:
    """Return why kernels on the current device cannot use the memory of others; empty if they can.

    The devices are given by :func:`device`. The memory may still be impossible to open.
    """
    here = {_name(number): number for number in range(cupy.cuda.runtime.getDeviceCount())}
    own = ordinal()
    for one in devices:
        if one not in here:
            return "a process does not see the GPU of another one (CUDA_VISIBLE_DEVICES)"
        if here[one] != own and (problem := gpu.why_apart(own, here[one])):
            return problem
    return ""


def to_host(array: Any) -> Any:
    """Copy the bytes of an array to pinned host memory, and return them once the copy is done.

    CuPy reuses this memory once there are no more references to it.
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
    """Return a name for a communicator, with which its members find the member that made the name."""
    from cupy.cuda import nccl

    name: tuple[int, ...] = nccl.get_unique_id()
    return name


class Communicator:
    """One member's part of an NCCL communicator, on CuPy's current stream.

    Parameters
    ----------
    size : int
        Number of members.
    name : tuple of int
        A result of :func:`new_name`, the same for all members.
    rank : int
        The rank of this member. Creating the communicator waits for all other members.
    on : int
        The number of the device in this process.
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
        """Send an array to one member and receive an array from another, which calls this method too.

        Parameters
        ----------
        to : int or None
        sent : array of uint8, or None
            None if `to` expects nothing.
        source : int or None
        size : int or None
            Number of bytes to receive; None for no array.

        Returns
        -------
        array of uint8, or None

        Raises
        ------
        ConnectionError
            The communicator was aborted, or a member can no longer be reached.
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
        """End the operations that wait on the device, and make later calls of :meth:`swap` raise.

        Any thread may call this method, once or repeatedly. The first call may wait until all other members
        abort too: NCCL's thread that serves them ends only when they have closed their connections to it.
        """
        with self._aborting:
            if self._aborted:
                return
            self._aborted = True  # later calls of swap raise from now on
        if self._calling.acquire(timeout=PATIENCE):  # a call may wait for a lost member
            self._calling.release()
        self._communicator.abort()
