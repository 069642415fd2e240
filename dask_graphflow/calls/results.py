"""Conversion of the answers of a gang's members to frames with the ids of the vertices."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.declarations.answer import Answer, LabelColumn, LabelTypes, OrNull
from dask_graphflow.graph import frames
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.graph.numbering import names_of, occurs
from dask_graphflow.graph.restore_ids import restore_ids
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import all_true, disk, index_dtype, kernels_for
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.operators.access import send_rows
from dask_graphflow.operators.edge_set import EdgeSet


def result_frames(
    shard: Shard,
    exchange: Exchange,
    answer: Answer,
    columns: Mapping[str, Any],
    *,
    rows: str,
    parts: int,
    threads: int,
) -> list[Any]:
    """Return a member's rows of a result, split evenly into `parts` frames. All members call it at once.

    `columns` maps the columns of the result to their dtypes; "id" and "id or null" are columns of vertex
    numbers. See :class:`.Algorithm` for the meaning of `rows`.
    """
    if shard.host is not shard:  # ids are in host memory, and the answer is on a device
        columns_on_host = {name: _each(_on_host, values) for name, values in answer.columns.items()}
        among = answer.among
        if isinstance(among, EdgeSet):
            among = EdgeSet(*map(_on_host, among))
        elif among is not None:
            among = _on_host(among)
        shard, answer = shard.host, replace(answer, columns=columns_on_host, among=among)

    def values_of(column: Any, dtype: Any) -> Any:
        if dtype == "id":
            return names_of(shard, exchange, column)
        if isinstance(column, LabelColumn):
            labels = column.names.iloc[column.rows].reset_index(drop=True)
            return [labels[name] for name in labels.columns]
        if dtype != "id or null":
            return column
        numbers = np.where(column.none, column.numbers.dtype.type(0), column.numbers)  # 0 has an id
        return [frames.with_nulls(part, column.none) for part in names_of(shard, exchange, numbers)]

    split = CUTS[rows](shard, exchange, answer, parts, threads)
    return [
        _make_frame(
            type(shard.like), {name: values_of(part[name], columns[name]) for name in columns}
        )
        for part in split
    ]


def _cut_vertices(
    shard: Shard, exchange: Exchange, answer: Answer, parts: int, threads: int
) -> Iterator[dict[str, Any]]:
    """Split an answer evenly, and yield for each part the numbers of its vertices and their columns.

    The vertices are those whose ids are on this member.
    """
    among = occurs(shard, exchange) if answer.among is None else answer.among
    if shard.placed is None:
        chosen, columns = np.flatnonzero(among), {}
    else:
        way = restore_ids(shard, exchange)
        chosen = np.flatnonzero(way.bring(exchange, among, way.order, threads))
        order = way.order[chosen]
        bring = partial(way.bring, exchange, order=order, threads=threads)
        columns = {name: _each(bring, values) for name, values in answer.columns.items()}
    first = shard.homes[shard.rank]
    for part in _even(len(chosen), parts):
        own = chosen[part]
        if shard.placed is None:
            take = partial(_rename, own, threads)
            taken = {name: _each(take, values) for name, values in answer.columns.items()}
        else:
            taken = _take_rows(columns, part)
        yield {"vertex": own + first if first else own, **taken}


def _even(count: int, parts: int) -> Iterator[slice]:
    """Split a number of rows into parts of equal size."""
    cuts = [count * part // parts for part in range(parts + 1)]
    return itertools.starmap(slice, itertools.pairwise(cuts))


def _cut_edges(
    shard: Shard, exchange: Exchange, answer: Answer, parts: int, threads: int
) -> Iterator[dict[str, Any]]:
    """Split an answer evenly, and yield for each part the ends of its edges and their columns."""
    columns = _collect_edges(shard, exchange, answer, threads)
    for part in _even(len(columns["source"]), parts):
        yield _take_rows(columns, part)


def _cut_pairs(
    shard: Shard, exchange: Exchange, answer: Answer, parts: int, threads: int
) -> Iterator[dict[str, Any]]:
    """Do the same as :func:`_cut_edges`, with only the first of parallel edges."""
    columns = _collect_edges(shard, exchange, answer, threads)
    first = np.ones_like(columns["source"], "bool")
    first[1:] = _differ(columns["source"]) | _differ(columns["target"])
    columns = _take_rows(columns, np.flatnonzero(first))
    for part in _even(len(columns["source"]), parts):
        yield _take_rows(columns, part)


def _collect_edges(
    shard: Shard, exchange: Exchange, answer: Answer, threads: int
) -> dict[str, Any]:
    """Return the ends of an answer's edges and their columns.

    The edges are those whose source ids are on this member, sorted by source, target and weight. Both ends
    of an undirected edge store it; its source in the result is the end with the smaller number.
    """
    assert answer.edges is not None
    rows = answer.edges.member.shard.out
    columns = {"target": rows.ends, **answer.columns}
    if rows.weights is not None:
        columns["weight"] = rows.weights
    if answer.among is None:
        owners = rows_kernels.of(rows.ends).owners
        columns["source"] = owners(rows, index_dtype(shard.size), threads=threads)
    else:
        vertices, entries = answer.among
        columns = {
            name: _each(partial(disk.take, at=entries), values) for name, values in columns.items()
        }
        columns["source"] = vertices + vertices.dtype.type(rows.first)
    if shard.placed is not None:
        for name in ("source", "target"):
            columns[name] = shard.host.numbers_at(columns[name], threads)
    if not answer.edges.directed:
        once = columns["source"] <= columns["target"]
        if not all_true(once):
            columns = _take_rows(columns, np.flatnonzero(once))
    if shard.placed is not None:
        columns = _at_home(shard, exchange, columns)
    return _by_weight(columns) if "weight" in columns else columns


def _cut_listed(
    shard: Shard, exchange: Exchange, answer: Answer, parts: int, threads: int
) -> Iterator[dict[str, Any]]:
    """Split the rows that an algorithm listed evenly, and yield the columns of each part."""
    columns = answer.columns
    first = next(iter(columns.values()))
    count = len(first[-1] if isinstance(first, OrNull) else getattr(first, "rows", first))
    for part in _even(count, parts):
        yield _take_rows(columns, part)


CUTS = {
    "vertices": _cut_vertices,
    "edges": _cut_edges,
    "pairs": _cut_pairs,
    "listed": _cut_listed,
}


def _differ(values: Any) -> Any:
    """Return for each value but the first whether it differs from the value before it."""
    return values[1:] != values[:-1]


def _by_weight(columns: dict[str, Any]) -> dict[str, Any]:
    """Sort parallel edges by weight; they come in the order in which they were read."""
    source, target, weight = (columns[name] for name in ("source", "target", "weight"))
    other = _differ(source) | _differ(target)
    if all_true(other):
        return columns
    pair = np.zeros_like(source, "int64")
    np.cumsum(other, out=pair[1:])
    order = np.argsort(weight, kind="stable")
    return _take_rows(columns, order[np.argsort(pair[order], kind="stable")])


def _at_home(shard: Shard, exchange: Exchange, columns: dict[str, Any]) -> dict[str, Any]:
    """Send edges to the members that store the ids of their sources; return this member's, sorted."""
    bring = send_rows(exchange, shard.homes_of(columns["source"]))
    columns = {name: _each(bring, values) for name, values in columns.items()}
    # All edges of a source come from one member, sorted by target.
    return _take_rows(columns, np.argsort(columns["source"], kind="stable"))


def _take_rows(columns: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Return some rows of all columns."""
    return {name: _each(itemgetter(rows), values) for name, values in columns.items()}


def _on_host(values: Any) -> np.ndarray:
    host: np.ndarray = kernels_for(values).to_host(values)
    return host


def _rename(chosen: Any, threads: int, values: Any) -> Any:
    return rows_kernels.of(values).renamed(chosen, values, threads=threads)


def _each(take: Callable[[Any], Any], values: Any) -> Any:
    """Apply `take` to the values of a column, or to both arrays of an :class:`OrNull`."""
    if isinstance(values, LabelColumn):
        return values._replace(rows=take(values.rows))
    return OrNull(*map(take, values)) if isinstance(values, OrNull) else take(values)


def empty_frame(ids: Any, columns: Mapping[str, Any]) -> Any:
    """Return the empty frame of a result, whose `columns` are as in :func:`result_frames`."""
    return _make_frame(type(ids), {name: _empty(ids, dtype) for name, dtype in columns.items()})


def _empty(ids: Any, dtype: Any) -> Any:
    """Return an empty column, or for ids a list with one per part of an id."""
    if dtype == "id":
        return [ids[column] for column in ids.columns]
    if dtype == "id or null":
        return [frames.with_nulls(ids[column], np.zeros(0, bool)) for column in ids.columns]
    if isinstance(dtype, LabelTypes):
        kind = type(ids[ids.columns[0]])
        return [_none(kind, part) for part in dtype.dtypes]
    return np.zeros(0, dtype)


def _none(kind: type, dtype: Any) -> Any:
    """Return an empty series of a dtype."""
    if isinstance(dtype, pd.DatetimeTZDtype):
        # cuDF takes these only from a series of pandas, and pandas 2.0 keeps the unit only in this way.
        times: Any = pd.Series(np.zeros(0, f"datetime64[{dtype.unit}]"))
        return kind(times.dt.tz_localize("UTC").dt.tz_convert(dtype.tz))
    return kind([], dtype=dtype)


def _make_frame(kind: type, columns: dict[str, Any]) -> Any:
    """Return a frame of columns. A list of columns contains the parts of an id."""
    flat: dict[str, Any] = {}
    for name, values in columns.items():
        if isinstance(values, list):
            flat |= dict(zip(vertex_names(name, len(values)), values, strict=True))
        else:
            flat[name] = values
    return frames.build(kind, flat)


def steps_frame(
    steps: Sequence[dict[str, Any]],
    member: int | None = None,
    *,
    linked: bool = False,
    transfer: str = "none",
) -> pd.DataFrame:
    """Return supersteps as a frame.

    For a member of a gang, the frame also says how the member spent the time, how much it sent, whether its
    device read edges of the graph over the link, and how arrays got to other members; see
    :class:`.Exchange`.
    """
    dtypes = {"direction": "str", "frontier": "int64", "edges": "int64", "seconds": "float64"}
    if member is not None:
        dtypes |= {"compute": "float64", "communicate": "float64", "wait": "float64"}
        dtypes |= {"bytes": "int64"}
    frame = pd.DataFrame(list(steps), columns=list(dtypes)).astype(dtypes)
    frame.insert(0, "superstep", np.arange(len(frame)))
    if member is not None:
        frame.insert(1, "member", member)
        frame["linked"] = linked
        frame["transfer"] = pd.Series(transfer, frame.index, "str")
    return frame
