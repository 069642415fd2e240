"""Register this library's Dask plugins with the cluster in use, if there is one."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from .clients import client_in_use, own_worker, register_plugins

_with_gangs: WeakSet[Any] = WeakSet()  # clients
_watched: WeakSet[Any] = WeakSet()  # clients

# The plugins are imported inside the functions: their base classes are in distributed, which takes half a
# second to import and is not needed without a cluster.


def keep_pins() -> None:
    """Have the scheduler run each pinned task on the worker that its key names."""
    client = client_in_use()
    if client is not None:
        from .pins import Pins

        client.register_plugin(Pins())


def keep_gangs() -> None:
    """Have the scheduler bring the members of gangs together, and the workers connect them."""
    client = client_in_use()
    if client is not None and client not in _with_gangs:
        from .membership import register

        register(client)
        _with_gangs.add(client)


def watch_calls() -> None:
    """Have calls end with an error if they wait in vain for a worker, or end each worker that runs them."""
    client = client_in_use()
    if client is not None and client not in _watched:
        _watch(client)
        _watched.add(client)


def _watch(client: Any) -> None:
    from . import losses, pauses

    client.register_plugin(losses.Losses())
    register_plugins(client, pauses.StuckCalls(), pauses.PauseWatch())


def watch_worker() -> None:
    """Do the same on the worker of the calling task, if the call was made without a client."""
    worker = own_worker()
    if worker is None:
        return
    from .pauses import PauseWatch

    if PauseWatch.name not in worker.plugins:
        from distributed import get_client

        _watch(get_client())
