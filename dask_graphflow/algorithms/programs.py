"""Edge programs on a graph: a user's own, and connected components as one of them.

A program's columns begin with values that the caller gives; vertices that change send messages to their
neighbours until none changes any more (:mod:`~dask_graphflow.operators.fixpoint`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphflow.dataflow.exchange import Exchange
from dask_graphflow.exceptions import EdgeListError, OptionError, nearest
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shards import Shards
from dask_graphflow.kernels import index_dtype, policies
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.advance import check_way
from dask_graphflow.operators.fixpoint import fixpoint
from dask_graphflow.operators.frontier import Frontier
from dask_graphflow.showing.tables import counted

from . import naming
from .answers import Answer
from .graph import Graph
from .inputs import check_count
from .many import fixpoint_many
from .named import numbers_of

__all__ = ["COMPONENTS", "by_label", "run"]

ITSELF = "vertex"  # a column that begins with each vertex itself

COMPONENTS = EdgeOp("components", target="component", signal="component[src]", slot="min")


def run(
    graph: Graph,
    op: EdgeOp,
    *,
    columns: Mapping[str, Any],
    start: Any = None,
    max_iter: int | None = None,
    direction: str = "gemini",
    balance: str = "auto",
    trace: bool = False,
    progress: Any = False,
) -> Any:
    """Run an edge program until no vertex changes: see :meth:`.graph.Graph.run`."""
    check_way(direction)
    policies.check(balance, policies.POLICIES if graph.on_device else policies.HOST_POLICIES)
    check_count("max_iter", max_iter, optional=True)
    missing, spare = set(op.columns) - set(columns), set(columns) - set(op.columns)
    if missing or spare:
        raise OptionError(
            f"columns gives {sorted(columns)}, and {op.name!r} has {list(op.columns)}; give each of those"
        )
    dtypes: dict[str, Any] = {}
    for name in op.columns:
        value = columns[name]
        if isinstance(value, str):
            if value != ITSELF:
                raise OptionError(f"columns[{name!r}]={value!r}; give a number, or {ITSELF!r}")
            dtypes[name] = "id"
        else:
            dtypes[name] = np.asarray(value).dtype
    bound = {name: "int64" if d == "id" else d for name, d in dtypes.items()}
    op.bind(bound, index_dtype="int32", weight_dtype="float64" if graph.weighted else None)
    given = None
    if start is not None:
        if not hasattr(start, "columns"):
            raise EdgeListError(
                f"start is a {type(start).__name__}; give a frame of ids, and of the columns that begin "
                "otherwise there"
            )
        named = [name for name in op.columns if name in start.columns]
        others = [name for name in start.columns if name not in named]
        ids = graph.sources(start[others[: len(graph._ids.columns)]])
        if unknown := others[len(ids.columns) :]:
            raise OptionError(
                f"start has a column {unknown[0]!r}; after {counted(len(ids.columns), 'column')} of ids "
                f"give only columns of {op.name!r}, which has {', '.join(map(repr, op.columns))}"
                f"{nearest(unknown[0], op.columns)}"
            )
        given = ids, {name: start[name].to_numpy() for name in named}
    settings = {"rule": direction, "balance": balance, "max_iter": max_iter}
    asked = op, dict(columns), given, settings
    shown: dict[str, Any] = {"trace": trace, "progress": progress}
    return graph.ask(op.name, _run, dtypes, *asked, many=_run_many, **shown)


def _run(
    shards: Shards, threads: int, op: EdgeOp, begin: Mapping[str, Any], given: Any, settings: Any
) -> Answer:
    columns: dict[str, Any] = {}
    like = shards.out(threads)[0].ends
    for name in op.columns:
        value = begin[name]
        if isinstance(value, str):
            columns[name] = np.arange(shards.size, dtype=index_dtype(shards.size), like=like)
        else:
            columns[name] = np.full_like(like, value, np.asarray(value).dtype, shape=shards.size)
    frontier = None
    if given is not None:
        ids, values = given
        where = numbers_of(shards, ids, unique=False).astype(index_dtype(shards.size))
        for name, own in values.items():
            columns[name][where] = np.asarray(own, like=where)
        frontier = Frontier(shards.size, vertices=np.unique(where))
    steps = fixpoint(op, columns, shards, frontier, threads=threads, **settings)
    return Answer(columns, steps=steps)


def _run_many(
    shard: Shard,
    exchange: Exchange,
    threads: int,
    op: EdgeOp,
    begin: Mapping[str, Any],
    given: Any,
    settings: Any,
) -> Answer:
    columns: dict[str, Any] = {}
    like = shard.degrees
    for name in op.columns:
        value = begin[name]
        if isinstance(value, str):
            columns[name] = shard.numbers.copy()
        else:
            columns[name] = np.full_like(like, value, np.asarray(value).dtype, shape=shard.owned)
    frontier = None
    if given is not None:
        ids, values = given
        where = naming.numbers_of(shard, exchange, ids, unique=False)
        mine = where >= 0
        for name, own in values.items():
            columns[name][where[mine]] = np.asarray(own, like=where)[mine]
        frontier = np.unique(where[mine]).astype(index_dtype(shard.owned))
    how = {name: settings[name] for name in ("rule", "max_iter")}
    steps = fixpoint_many(op, columns, shard, exchange, frontier, threads=threads, **how)
    return Answer(columns, steps=steps)


def by_label(
    edges: Any, source: Any, target: Any, others: Mapping[str, Any], *, dropna: bool, progress: Any
) -> Any:
    """Find connected components by the smallest label; none of the other options may be given."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise OptionError(
            f"method='label' takes no {', '.join(given)}; leave {'it' if len(given) == 1 else 'them'} out, "
            "or the method"
        )
    graph = Graph(edges, source=source, target=target, directed=False, dropna=dropna)
    return graph.connected_components(progress=progress)
