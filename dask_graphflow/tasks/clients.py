"""The client and the worker of the caller, and results that are waited for outside an event loop."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable
from typing import Any

import dask
from dask.base import get_scheduler
from dask.delayed import Delayed

from dask_graphflow.exceptions import GraphflowError, UsageError


def find_imported(module: str) -> Any:
    """Return a module if this process has imported it, else None. Waits while another thread imports it."""
    return importlib.import_module(module) if module in sys.modules else None


def client_in_use() -> Any:
    """Return the client that ``compute`` would use, or None without a cluster or in an event loop."""
    client = any_client()
    return None if client is None or client.asynchronous else client


def any_client() -> Any:
    """Return the client that ``compute`` would use, also in its event loop, or None."""
    distributed = find_imported("distributed")  # always imported if there is a client
    if distributed is None or dask.config.get("scheduler", None) not in (
        None,
        "dask.distributed",
        "distributed",
    ):
        return None
    try:
        return distributed.get_client()  # in a task, this is the client of its worker
    except ValueError:
        return None


def default_client() -> Any:
    """Return the current client of this process, or None. Unlike :func:`any_client`, it creates none."""
    distributed = find_imported("distributed")
    try:
        return None if distributed is None else distributed.default_client()
    except ValueError:
        return None


def persist(collection: Any) -> Any:
    """Start to compute a delayed object, or a list of them; return the same with futures of the results.

    ``dask.persist`` rejects a client whose event loop is the caller's, although that client's own method
    works there.
    """
    client, several = any_client(), isinstance(collection, list)
    parts = collection if several else [collection]
    if client is not None and client.asynchronous:
        started = client.persist(parts)
    else:
        compute = get_scheduler(collections=parts)
        of_client = hasattr(compute, "__self__")
        started = list(dask.persist(*parts)) if of_client else _computed(parts, compute)
    return started if several else started[0]


def _computed(parts: list[Delayed], compute: Callable[..., Any]) -> list[Delayed]:
    """Compute delayed objects with a local scheduler, as ``dask.persist`` does, but do not optimize them.

    That would change nothing, and take longer than the tasks of a small update.
    """
    graphs = {id(graph): graph for graph in (part.dask for part in parts)}
    tasks = {key: task for graph in graphs.values() for key, task in graph.items()}
    results = compute(tasks, [part.key for part in parts])
    return [Delayed(part.key, {part.key: one}) for part, one in zip(parts, results, strict=True)]


def wait_for(value: Any, asked: str) -> Any:
    """Return the result of a delayed object, or raise if this would block the client's event loop.

    The error names `asked`, the attribute that waits for the result.
    """
    check_waiting(asked, f"graph.{asked}")
    return compute(value)[0]


def compute(*values: Any) -> tuple[Any, ...]:
    """Return the results of delayed objects.

    Dask keeps an error in its future, and the error's traceback holds the frames of the call, and so the
    future. In this circle, the failed tasks of a persisted graph would stay, and fail each new call, until
    Python looks for garbage. So an error of this library is raised without Dask's traceback.
    """
    try:
        return tuple(dask.compute(*values))
    except GraphflowError as error:
        raise copy.copy(error.with_traceback(None)) from None


def check_waiting(caller: str, call: str) -> None:
    """Raise :class:`.UsageError` if a call that waits would block the event loop in which the client runs.

    The error names the caller, and `call`, the expression to evaluate in a thread instead.
    """
    client = any_client()
    if client is not None and client.asynchronous:
        raise UsageError(
            f"{caller} waits for a result, which would block the event loop of an asynchronous client. "
            f"Ask for it in a thread: await asyncio.to_thread(lambda: {call})"
        )


def result_of(future: Any) -> Any:
    """Return the result of a future. Like ``compute``, a task frees its thread while it waits."""
    if own_worker() is None:
        return future.result()
    from distributed import worker_client

    with worker_client():
        return future.result()


def result_if_done(value: Any) -> Any:
    """Return the result of a persisted delayed object if it is available, else None. Does not wait."""
    client = any_client()
    (future,) = value.dask.values()
    if client is None or client.asynchronous or not hasattr(future, "status"):
        return None
    return future.result() if future.status == "finished" else None


def register_plugins(client: Any, of_scheduler: Any, of_workers: Any) -> None:
    """Register plugins with a cluster's scheduler, and with its present and future workers.

    The worker's plugin can rely on the scheduler's. If a worker dies meanwhile, all others get it.
    """
    client.register_plugin(of_scheduler)
    try:
        client.register_plugin(of_workers)
    except OSError:
        client.register_plugin(of_workers)


def own_worker() -> Any:
    """Return the worker of the calling task, or None."""
    distributed = find_imported("distributed")  # always imported in a worker
    if distributed is None:
        return None
    try:
        return distributed.get_worker()
    except ValueError:
        return None
