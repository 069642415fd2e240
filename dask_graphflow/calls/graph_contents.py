"""The vertices and edges of a graph as frames, sparse arrays and NetworkX graphs."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.declarations.answer import Answer
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.exceptions import BackendError, EdgeListError, UnknownVertexError
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.graph.numbering import numbers_of
from dask_graphflow.graph.shard import Shard
from dask_graphflow.operators.access import sources_of
from dask_graphflow.operators.view import GraphView
from dask_graphflow.tasks import clients

from .call import Call
from .shards import Shards


def vertices(shards: Shards) -> Any:
    """Return the ids of all vertices, as a lazy frame."""
    return Call("vertices", _no_columns, shards.spec.row_columns("vertices")).send(shards)


def edges(shards: Shards) -> Any:
    """Return all edges, each once, as a lazy frame."""
    columns = shards.spec.row_columns("edges", weighted=True)
    return Call("edges", _all_edges, columns, rows="edges").send(shards)


def _no_columns(g: GraphView) -> Answer:
    return Answer({})


def _all_edges(g: GraphView) -> Answer:
    return Answer({}, edges=g)


def contains(shards: Shards, vertex: Any) -> bool:
    """Return whether an id is a vertex. Waits for the result."""
    clients.check_waiting("in", f"{vertex!r} in graph")
    try:
        ids = VertexIds().check("vertex", [vertex], shards.spec)
    except (EdgeListError, UnknownVertexError):  # no id of this graph's type equals it
        return False
    found = shards.run(partial(_contains, ids=ids), None, name="contains")[0]
    return bool(clients.wait_for(found, "contains"))


def _contains(channel: Channel, shard: Shard, rank: int, ids: Any) -> bool:
    """Return whether all of some ids are vertices: the loop of a gang (see :func:`.gang.run`)."""
    try:
        numbers_of(shard, Exchange(channel, device=shard.on_device), ids)
    except UnknownVertexError:
        return False
    return True


def to_scipy(shards: Shards) -> tuple[Any, pd.Index]:
    """Return the adjacency matrix, and the ids of its rows; see :meth:`.Graph.to_scipy`."""
    sparse = _import("scipy.sparse", "to_scipy")
    clients.check_waiting("to_scipy", "graph.to_scipy()")
    weights = {"weight": shards.spec.weight_dtype} if shards.spec.weighted else {}
    ids = Call(
        "vertices", _number_vertices, {**shards.spec.row_columns("vertices"), "number": "int64"}
    )
    ends = Call(
        "edges", _list_entries, {"row": "int64", "column": "int64", **weights}, rows="listed"
    )
    rows, entries = map(_on_host, clients.compute(ids.send(shards), ends.send(shards)))
    numbers = rows.pop("number").to_numpy()
    # Some numbers may belong to no vertex; they have no row.
    at = [np.searchsorted(numbers, entries[side]) for side in ("row", "column")]
    values = entries["weight"] if weights else np.ones(len(entries), "int64")
    matrix = sparse.coo_array((values, tuple(at)), shape=(len(rows), len(rows))).tocsr()
    one = len(rows.columns) == 1
    return matrix, pd.Index(rows["vertex"]) if one else pd.MultiIndex.from_frame(rows)


def _number_vertices(g: GraphView) -> Answer:
    return Answer({"number": g.numbers})


def _list_entries(g: GraphView) -> Answer:
    """Return the vertex numbers of both ends of each edge that is stored with this member's vertices."""
    out = g.member.rows("out")
    sources = sources_of(g, out, g.index)
    ends = {
        name: g.member.shard.numbers_at(side, g.member.threads)
        for name, side in (("row", sources), ("column", out.ends))
    }
    return Answer(ends | ({} if out.weights is None else {"weight": out.weights}))


def to_networkx(shards: Shards) -> Any:
    """Return the graph as one of NetworkX; see :meth:`.Graph.to_networkx`."""
    nx = _import("networkx", "to_networkx")
    clients.check_waiting("to_networkx", "graph.to_networkx()")
    ids, links = map(_on_host, clients.compute(vertices(shards), edges(shards)))
    weights = [links.pop("weight").tolist()] if shards.spec.weighted else []
    width = len(ids.columns)
    pairs = _nodes(links.iloc[:, :width]), _nodes(links.iloc[:, width:])
    simple = nx.DiGraph if shards.spec.directed else nx.Graph
    several = nx.MultiDiGraph if shards.spec.directed else nx.MultiGraph
    graph = several() if links.duplicated().any() else simple()
    graph.add_nodes_from(_nodes(ids))
    if weights:
        graph.add_weighted_edges_from(zip(*pairs, *weights, strict=True))
    else:
        graph.add_edges_from(zip(*pairs, strict=True))
    return graph


def _import(module: str, method: str) -> Any:
    """Return a module of a library that is not installed with this one."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise BackendError(
            f"{method}() needs {library}, which cannot be imported ({error}); install it with pip install "
            f"{library}, or use vertices() and edges()"
        ) from error


def _nodes(ids: pd.DataFrame) -> list[Any]:
    """Return the ids of a frame as Python objects; ids of several columns as tuples."""
    columns = [ids[name].tolist() for name in ids.columns]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _on_host(frame: Any) -> pd.DataFrame:
    on_host: pd.DataFrame = to_pandas(frame)
    return on_host.reset_index(drop=True)
