"""Functions that the workers of test_two_gpus.py import and run."""

from __future__ import annotations

import copyreg
import functools
import time

import numpy as np
import pandas as pd

PARTS, ROWS, VERTICES = 16, 50_000, 1 << 18

SENT = {"device": 0, "host": 0}
BY_MEMBERS: list[int] = []


def host_part(i, kind):
    """Return a part of a power-law graph; `kind` is a dtype of integers, or "strings"."""
    ends = VERTICES * np.random.default_rng(i).random((2, ROWS)) ** 3
    pairs = pd.DataFrame(dict(zip(("a", "b"), ends.astype("int64"), strict=True)))
    return "v" + pairs.astype("str") if kind == "strings" else pairs.astype(kind)


def part(i, kind, pause=0.0):
    """Return the same as a frame of cuDF, after a pause."""
    import cudf

    time.sleep(pause)
    return cudf.from_pandas(host_part(i, kind))


def watch():
    """From now on, count the bytes of CuPy arrays, also those of forests, that Dask sends from this worker.

    Dask sends an array from the device, copied to the host, or pickled, which copies it to the host too.
    Each way is watched at the point where it takes a single array, so it does not matter what the array
    belongs to.
    """
    import cupy
    from distributed.protocol import dask_serialize
    from distributed.protocol.cuda import cuda_serialize

    SENT.update(device=0, host=0)
    if cupy.ndarray in copyreg.dispatch_table:
        return  # watched already
    for where, family in (("device", cuda_serialize), ("host", dask_serialize)):
        family.register(cupy.ndarray, _counted(where, family.dispatch(cupy.ndarray)))
    copyreg.pickle(cupy.ndarray, _counted("host", cupy.ndarray.__reduce__))


def _counted(where, send):
    @functools.wraps(send)
    def counting(array):
        SENT[where] += array.nbytes
        return send(array)

    return counting


def sent():
    """Return the bytes that were counted."""
    return dict(SENT)


def sent_by_all(client):
    """Return the bytes of arrays that Dask sent from all workers."""
    return sum(sum(count.values()) for count in client.run(sent).values())


def watch_members():
    """From now on, count the bytes that members of gangs on this worker send from GPU to GPU."""
    from dask_graphflow.kernels.device_nccl import Communicator

    plain = Communicator.swap

    def swap(self, to, sent, source, size):
        BY_MEMBERS.append(0 if sent is None else sent.nbytes)
        return plain(self, to, sent, source, size)

    if not hasattr(plain, "counts"):
        swap.counts = True
        Communicator.swap = swap
    BY_MEMBERS.clear()


def sent_by_members():
    """Return the bytes that were sent since :func:`watch_members`."""
    return sum(BY_MEMBERS)
