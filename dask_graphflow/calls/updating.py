"""The update of a graph: all members read the batch, and each makes the next version of its shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import VertexTypeError, WeightError
from dask_graphflow.graph import dtypes, frames
from dask_graphflow.graph.dtypes import Inexact
from dask_graphflow.graph.edgelist import EdgeColumns, Ends
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.update import Batch, update
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.kernels import kernels_for
from dask_graphflow.showing.values import shown
from dask_graphflow.tasks.reading import read_edges

from .shards import Shards


def next_version(
    shards: Shards, batch: Mapping[str, tuple[Any, EdgeColumns]], *, skip_missing: bool
) -> Shards:
    """Return the lazy shards of a graph after an update; see :meth:`.Graph.update`.

    `batch` has the frames "insert" and "delete", if there are any, and those of vertices under any other
    names, and how to read each.
    """
    spec = shards.spec
    loop = partial(
        _update,
        columns={name: columns for name, (_, columns) in batch.items()},
        weight_dtype=spec.weight_dtype,
        multi=spec.multi,
        skip_missing=skip_missing,
        base=shards.version,
    )
    made = shards.updated(loop, {name: frame for name, (frame, _) in batch.items()})
    if shards.saved is not None:
        made.saved = shards.saved.followed_by(made.version, batch)
    return made


def _update(
    channel: Channel,
    shard: Shard,
    rank: int,
    partitions: Mapping[str, Sequence[Any]],
    *,
    columns: Mapping[str, EdgeColumns],
    weight_dtype: Any,
    **how: Any,
) -> Shard:
    """Make the next version of a shard: the loop of a gang (see :func:`.gang.run`)."""
    if rank >= shard.members:
        return shard  # it has no vertices, and gets none
    channel.narrow(shard.members)
    read = {
        name: read_batch(partitions[name], own, shard.like, weight_dtype)
        for name, own in columns.items()
    }
    ids = Ends.of(shard.like)
    none = BatchPart(ids, ids, _no_weights(weight_dtype))
    inserted, deleted = (read.pop(name, none) for name in ("insert", "delete"))
    vertices = _joined([one.sources for one in read.values()], shard.like)
    batch = Batch(inserted[:2], inserted.weights, deleted[:2], vertices)
    return update(shard, Exchange(channel, device=shard.on_device), batch, **how)


class BatchPart(NamedTuple):
    """The edges in some partitions, in the types of the graph."""

    sources: Ends
    targets: Ends
    weights: np.ndarray | None


def _no_weights(dtype: Any) -> np.ndarray | None:
    return None if dtype is None else np.empty(0, dtype)


def read_batch(
    partitions: Sequence[Any], columns: EdgeColumns, like: Any, weight_dtype: Any
) -> BatchPart:
    """Return the edges in some partitions, with the id dtypes of `like` and the dtype of the weights."""
    sources, targets, types = list[Ends](), list[Ends](), dict(like.dtypes)
    weights: list[Any] = [_no_weights(weight_dtype)]
    for at, partition in enumerate(partitions):
        source, target, weight, _ = read_edges(brought(partition, like), at, columns)
        assert target is not None
        sources.append(_as_ids(source, types, columns.role))
        targets.append(_as_ids(target, types, columns.role))
        if weight is not None:
            weights.append(_as_weights(weight, weight_dtype, columns))
    every: Any = None if weight_dtype is None else np.concatenate(weights)
    return BatchPart(_joined(sources, like), _joined(targets, like), every)


def _joined(parts: Sequence[Ends], like: Any) -> Ends:
    """Return the ids of several parts, one after another."""
    filled = [part for part in parts if len(part)]
    if len(filled) == 1:
        return filled[0]
    return Ends.of(frames.stack([one.frame for one in filled]) if filled else like)


def _as_ids(ids: Ends, types: Mapping[str, Any], role: str) -> Ends:
    """Return ids with the dtypes of the graph's ids, or raise if these cannot hold them."""
    columns = {}
    for name, column in ids.series.items():
        dtype = types[name]
        try:
            columns[name] = dtypes.exactly(column, dtype)
        except Inexact as error:
            shows = "" if error.value is None else f" such as {_plain(error.value)}"
            raise VertexTypeError(
                f"{role} has ids of dtype {column.dtype}{shows}, and the graph's ids have dtype "
                f"{dtype}, which cannot hold that. Leave such rows out, or build the graph again from ids "
                "of a dtype that can hold all of them"
            ) from error
    return ids.holding(columns)


def _plain(value: Any) -> str:
    """Return a value as text, without the name of NumPy's type."""
    return shown(value.item() if isinstance(value, np.generic) else value)


def _as_weights(weights: Any, dtype: Any, columns: EdgeColumns) -> np.ndarray:
    """Return weights with the dtype of the graph's weights, or raise if it cannot hold them."""
    values = pd.Series(kernels_for(weights).to_host(weights))
    try:
        exact: np.ndarray = dtypes.exactly(values, dtype).to_numpy()
    except Inexact as error:
        name, role = columns.weight, columns.role
        advice = f"Convert the column, for example with {role}.astype({{{name!r}: '{dtype}'}})"
        if dtype.kind == "i":
            advice = (
                "Round the weights, or build the graph again from edges whose weights are floats"
            )
        raise WeightError(
            f"weight column {name!r} of {role} has dtype {values.dtype} and holds {_plain(error.value)}, "
            f"and the graph's weights have dtype {dtype}, which cannot hold that. {advice}"
        ) from error
    return exact
