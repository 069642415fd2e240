"""Dask expressions that all task graphs use, and the frames that are their inputs.

Only this file, :mod:`.forest_expr`, :mod:`.gang_expr` and :mod:`.parquet` use Dask's private names.
"""

from __future__ import annotations

import asyncio
import functools
import pickle
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

import pandas as pd
from dask._task_spec import Task, TaskRef
from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import (
    Blockwise,
    Expr,
    Projection,
    optimize_blockwise_fusion,
)
from dask.dataframe.dask_expr.io import FromGraph
from dask.utils import key_split

from dask_graphflow.exceptions import UsageError, missing_column

from .clients import any_client, default_client
from .names import named
from .tokens import token_of

LOOKS = 10  # how often to look for results that another client may have just submitted
BETWEEN_LOOKS = 0.05  # seconds


class GraphflowExpr(Expr):  # type: ignore[misc]
    """An expression of this library, which makes its token itself; see :mod:`.tokens`."""

    _determ_token: str | None

    def __dask_tokenize__(self) -> str:
        if not self._determ_token:
            self._determ_token = token_of(type(self), *self.operands)
        return self._determ_token


class Replaced(GraphflowExpr):
    """An expression that is replaced by its operand `frame` before it is computed."""

    @property  # a cached one would be pickled
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _lower(self) -> Expr:
        return self.frame


class LazyResult(Replaced):
    """The partitions of a lazy result, which only an optimized expression can compute.

    ``dask.optimize`` requests the tasks of an expression without lowering it. It then takes the first of
    all task keys, in sorted order, as the keys of the result. Some of these belong to other tasks of the
    same call, so rows would be missing. There is no way to pass it the right keys, so this node raises an
    error. Every other way to compute lowers the expression first, which replaces this node by its frame.
    """

    _parameters: ClassVar = ["frame"]

    def __str__(self) -> str:
        return str(self.frame)

    @functools.cached_property
    def _name(self) -> str:
        return f"{key_split(self.frame._name)}-{self.deterministic_token}"

    def optimize(self, fuse: bool = False) -> Expr:
        """Return an optimized result, from which ``dask.optimize`` still cannot get the tasks."""
        return LazyResult(self.frame.optimize(fuse=fuse))

    def finalize_compute(self) -> Expr:
        """Return what ``compute`` computes. Dask would add three expressions to a single partition."""
        whole: Expr = self.frame if self.npartitions == 1 else super().finalize_compute()
        return whole

    def _layer(self) -> dict[Any, Any]:
        raise UsageError(
            "dask.optimize() and dask.visualize() do not support this result: dask.optimize() would "
            "return only some of its rows. To compute several collections together, pass them to "
            "dask.compute() or dask.persist(), which optimize them. To optimize one result, call "
            "result.optimize(); to see its steps, call result.pprint()"
        )


def collection(expr: Expr) -> Any:
    """Return the lazy frame of an expression."""
    return new_collection(LazyResult(expr))


class Source:
    """A frame that is read inside the task that uses it.

    It hides the expression from Dask. Otherwise Dask would make one task per partition, which could run on
    any worker and whose result would stay in memory until it is used.
    """

    def __init__(self, frame: Blockwise) -> None:
        self._frame = frame  # Dask would unpack an attribute with the name `expr`
        self.npartitions = frame.npartitions

    def __dask_tokenize__(self) -> Any:
        return ("graphflow-source", self._frame._name)

    def task(self, partition: int) -> Task:
        """Return the task that reads a partition."""
        return self._frame._task((self._frame._name, partition), partition)

    @classmethod
    def of(cls, frame: Expr | Held | Resident) -> Source | None:
        """Wrap a frame if every step, from the reader on, maps one partition to one; otherwise None."""
        if not isinstance(frame, Expr) or not all(
            isinstance(one, Blockwise) for one in frame.walk()
        ):
            return None
        fused = optimize_blockwise_fusion(frame.lower_completely())
        if not isinstance(fused, Blockwise) or fused.dependencies():
            return None
        return cls(fused)


class Resident:
    """A persisted frame, whose partitions are used directly from the workers' memory.

    As an expression, each partition would need another task, which only returns the result of the first.
    """

    def __init__(self, frame: FromGraph) -> None:
        self.meta = frame._meta
        self.layer = frame.operand("layer")
        self.keys = frame.operand("keys")
        self.npartitions = frame.npartitions
        self.kept = all_futures(self.layer, self.keys)
        # Computed here, because on the scheduler, which also needs the token, futures have no client.
        self._token = ("graphflow-resident", self.keys, futures_in(self.layer))

    @property
    def futures(self) -> list[Any]:
        """The futures of the partitions."""
        return [self.layer[key] for key in self.keys]

    def __dask_tokenize__(self) -> Any:
        return self._token

    @classmethod
    def of(cls, frame: Expr | Held) -> Resident | None:
        """Wrap a frame if it is an unmodified persisted frame on a cluster; otherwise None."""
        if not isinstance(frame, FromGraph):
            return None
        layer = frame.operand("layer")
        return cls(frame) if all(hasattr(layer[k], "key") for k in frame.operand("keys")) else None


def futures_in(layer: dict[Any, Any]) -> list[Any]:
    """Return the clients and keys of the futures in a layer.

    Dask keeps one expression per token. Futures of another client, or no futures, need another
    expression. A future's own token cannot be used, because it changes when the future is finished.
    """
    futures = [value for value in layer.values() if hasattr(value, "add_done_callback")]
    bind(futures)
    return [(future.client.id, future.key) for future in futures]


def all_futures(layer: dict[Any, Any], keys: list[Any]) -> bool:
    """Return whether all keys of a layer are those of futures, whose tasks the scheduler knows."""
    values: list[Any] = [layer.get(key) for key in keys]
    futures = [value for value in values if hasattr(value, "add_done_callback")]
    return [future.key for future in futures] == list(keys)


def bind(futures: Sequence[Any]) -> None:
    """Bind futures that were unpickled to the client in use, and check that their results still exist.

    An unbound future does not keep its result in memory, and does not know its state.
    """
    unbound = [future for future in futures if future.client is None]
    cancelled = [future for future in futures if future.status == "cancelled"]
    if not unbound and not cancelled:
        return
    client = any_client()
    if client is None:
        raise UsageError(
            "a persisted graph or frame is in the memory of a cluster, and this process has no open client "
            "of that cluster; connect to it with distributed.Client(address), or make the graph or frame "
            "again from lazy edges and persist the new one"
        )
    new = [future.key for future in unbound if future.key not in client.futures]
    asked = new + [future.key for future in cancelled]  # another client may keep their results
    if asked and not client.asynchronous and client.run_on_scheduler(_unknown, asked):
        raise UsageError(
            "parts of a persisted graph or frame are not in the memory of the current client's cluster. "
            "They stay there until the client that persisted them is closed, restarted or releases them; "
            "make the graph or frame again from lazy edges and persist the new one"
        )
    for future in unbound:
        future.bind_client(client)
    if new:
        client._inform_scheduler_of_futures()


def bind_known(futures: Sequence[Any]) -> None:
    """Bind unpickled futures whose results a client of this process already keeps. Does not wait."""
    client = default_client()
    for future in futures if client is not None else ():
        if future.client is None and future.key in client.futures:
            future.bind_client(client)


def fetch_result(key: Any) -> Any:
    """Return the result of another task to the calling task, once the scheduler has it."""
    from distributed import Future, get_client

    client = get_client()
    future = Future(key, client)
    client._inform_scheduler_of_futures()  # otherwise the client does not learn the future's state
    return future.result()


async def _unknown(keys: Sequence[Any], dask_scheduler: Any) -> bool:
    """Return whether a scheduler lacks the result of one of the keys, and is not computing it.

    Another client may have submitted them just now: its messages are batched and can arrive later. A task
    that is not wanted is released, and forgotten only after those that depend on it.
    """
    for _ in range(LOOKS):
        tasks = [dask_scheduler.tasks.get(key) for key in keys]
        if all(task is not None and task.state != "released" for task in tasks):
            return False
        await asyncio.sleep(BETWEEN_LOOKS)
    return True


class Held:
    """A frame in memory, used as a single partition.

    As an expression it would take longer to process than its components take to compute.
    """

    npartitions = 1

    def __init__(self, frame: Any) -> None:
        # The caller may edit the frame before compute(). pandas 3 copies a column when it is edited; older
        # versions need a deep copy. cuDF does not, unless its option copy_on_write is set: only columns
        # that the caller replaces are preserved. A deep copy would need as much GPU memory as the edges.
        self._meta = frame.copy(deep=isinstance(frame, pd.DataFrame) and not shares_columns())
        self.columns = self._meta.columns
        self._token = uuid.uuid4().hex

    def __call__(self) -> Any:
        """Return the frame."""
        return self._meta

    def __dask_tokenize__(self) -> Any:
        return ("graphflow-held", self._token)

    def task(self) -> Task:
        """Return the task whose result is the frame, to be an argument of another task.

        Dask would hash the frame itself wherever it names the other task.
        """
        return Task(named("held", self._token), self)


def shares_columns() -> bool:
    """Say whether pandas shares columns until they are edited; for pandas 2, this is an option."""
    return not pd.__version__.startswith("2.") or pd.options.mode.copy_on_write is True


def as_computed(frame: Any, columns: list[str]) -> Any:
    """Return the expression of some columns, with the partitions in which it will be computed.

    A frame in memory is returned unchanged.

    When Dask optimizes, it combines small files and chooses how to join. A plan that assigns partitions
    must know the partitions that result.
    """
    if isinstance(frame, Held):
        return frame
    expr = frame[columns].optimize(fuse=False).expr
    for node in list(expr.find_operations(Projection)):
        if isinstance(node.operand("columns"), list):
            expr = expr.substitute(node, _Columns(*node.operands))
    return expr


class _Columns(Blockwise):  # type: ignore[misc]
    """Some columns of a frame. If a partition lacks a column, the error names the column."""

    _parameters: ClassVar = ["frame", "columns"]

    @functools.cached_property
    def _name(self) -> str:
        return named("columns", self.deterministic_token)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta[self.operand("columns")]

    def _task(self, name: Any, index: int) -> Task:
        frame = TaskRef((self.frame._name, index))
        return Task(name, _columns_of, frame, self.operand("columns"), index)


def _columns_of(frame: Any, columns: list[Any], partition: int) -> Any:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise missing_column(frame, missing[0], f"partition {partition}")
    return frame[columns]


class Mapped(GraphflowExpr, Blockwise):  # type: ignore[misc]
    """The partitions of a frame after a function, which takes a partition and its number.

    The frame is an expression or :class:`Held`. `result` is the :class:`Empty` frame of a partition. If
    `beside` is an expression with one partition, the function gets this partition too.
    """

    _parameters: ClassVar = ["frame", "function", "result", "beside"]
    _defaults: ClassVar = {"beside": None}

    @property  # a cached one would be pickled
    def _meta(self) -> Any:
        return self.operand("result").frame

    @functools.cached_property
    def _name(self) -> str:
        return named("mapped", self.deterministic_token)

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (int(self.operand("frame").npartitions) + 1)

    def _task(self, name: Any, index: int) -> Task:
        frame = self.operand("frame")
        part = frame.task() if isinstance(frame, Held) else TaskRef((frame._name, index))
        beside = self.operand("beside")
        more = [] if beside is None else [TaskRef((beside._name, 0))]
        return Task(name, self.operand("function"), part, index, *more)


class Empty:
    """A frame without rows, identified only by its columns and their dtypes.

    It is pickled once. A process that unpickles it makes the frame only when it is needed, because cuDF
    takes a millisecond for that, and a scheduler never needs it.
    """

    def __init__(self, frame: Any) -> None:
        self._frame, self._pickled = frame, b""
        columns = [(name, str(frame[name].dtype)) for name in frame.columns]
        self._token = (type(frame).__module__, columns)

    @classmethod
    def of(cls, frame: Any) -> Empty:
        """Wrap a frame, unless it is wrapped already."""
        return frame if isinstance(frame, Empty) else cls(frame)

    @property
    def frame(self) -> Any:
        """The frame."""
        if self._frame is None:
            self._frame = pickle.loads(self._pickled)
        return self._frame

    def __getstate__(self) -> Any:
        self._pickled = self._pickled or pickle.dumps(self._frame, pickle.HIGHEST_PROTOCOL)
        return self._pickled, self._token

    def __setstate__(self, state: Any) -> None:
        self._frame = None
        self._pickled, self._token = state

    def __dask_tokenize__(self) -> Any:
        return self._token


def find_held(frame: Expr | Held | Resident) -> tuple[list[Any], list[Any]]:
    """Return the keys and futures of a persisted frame from which `frame` is made, partition by partition.

    Both are empty if there is no such frame.
    """
    if isinstance(frame, Resident):
        return frame.keys, frame.futures
    for node in frame.find_operations(FromGraph) if isinstance(frame, Expr) else ():
        if node.npartitions == frame.npartitions:
            layer = node.operand("layer")
            futures = [value for value in layer.values() if hasattr(value, "add_done_callback")]
            bind(futures)
            return list(node.operand("keys")), futures
    return [], []
