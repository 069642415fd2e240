"""Find out which processes can copy arrays from this worker's GPU directly.

Dask sends arrays on a GPU through host memory, unless it uses UCX. Workers on the same machine can avoid
this. Whether a worker can open another worker's memory depends on the GPUs and the container, so it is
tried: every worker offers a small array, and all others try to read it.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import uuid
from collections.abc import Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dask_graphflow.kernels import lift

from .clients import client_in_use

logger = logging.getLogger(__name__)

_tried: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()  # set of workers per client
_readers: frozenset[str] = frozenset()  # hosts whose workers can all read this process' arrays
_offered: Any = None  # this worker's offered array, kept while others try to read it


def can_read(address: str) -> bool:
    """Say whether all workers on the host of an address can read arrays of this process."""
    return _host(address) in _readers


def find_readers(workers: Collection[str | None]) -> None:
    """Have the workers of the cluster in use test which of them can read each other's arrays.

    The test runs once per set of workers. With one worker or with UCX there is nothing to test.
    """
    client, addresses = client_in_use(), frozenset(map(str, workers))
    if client is None or len(addresses) < 2 or _tried.get(client) == addresses:
        return
    _tried[client] = addresses
    if not all(address.startswith(("tcp://", "tls://")) for address in addresses):
        return
    offers = client.run(_offer, on_error="ignore")
    read = client.run(_read, offers, on_error="ignore")
    # A worker without a GPU cannot answer.
    client.run(_note, {each: set(read.get(each, ())) for each in addresses}, on_error="ignore")


def _host(address: str) -> str:
    # Imported here, because it takes half a second and is not needed without a cluster.
    from distributed.comm import get_address_host

    host: str = get_address_host(address)
    return host


def _ipc() -> Any:
    return importlib.import_module("dask_graphflow.kernels.device_ipc")


def _offer() -> tuple[bytes, Any]:
    """Offer an array of random bytes to other workers."""
    global _offered
    secret = uuid.uuid4().bytes
    shared, _offered = _ipc().share([lift(np.frombuffer(secret, np.uint8))])
    return secret, shared


def _read(offers: Mapping[str, tuple[bytes, Any]], dask_worker: Any) -> list[str]:
    """Return the workers whose offers this one can read."""
    readable = []
    for address, (secret, shared) in offers.items():
        if address == dask_worker.address:
            continue
        with contextlib.suppress(_ipc().CannotShare):
            (array,) = _ipc().copied(shared)
            if array.get().tobytes() == secret:
                readable.append(address)
    return readable


def _note(read: Mapping[str, set[str]], dask_worker: Any) -> None:
    """Record the hosts whose workers can all read this worker's arrays."""
    global _readers, _offered
    _offered, own = None, dask_worker.address
    able = {_host(reader) for reader, of in read.items() if own in of}
    unable = {_host(reader) for reader, of in read.items() if own not in of and reader != own}
    _readers = frozenset(able - unable)
    if unable:
        logger.info(
            "Forests on the GPU are sent through host memory to %s, where a worker cannot read the GPU",
            ", ".join(sorted(unable)),
        )
