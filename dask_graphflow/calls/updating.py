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
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.numbering import stacked
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
    return shards.updated(loop, {name: frame for name, (frame, _) in batch.items()})


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
        name: _read(partitions[name], own, shard.like, weight_dtype)
        for name, own in columns.items()
    }
    none = _Read(shard.like, shard.like, _no_weights(weight_dtype))
    inserted, deleted = (read.pop(name, none) for name in ("insert", "delete"))
    vertices = frames.stack([one.sources for one in (none, *read.values())])
    batch = Batch(inserted[:2], inserted.weights, deleted[:2], vertices)
    return update(shard, Exchange(channel, device=shard.on_device), batch, **how)


class _Read(NamedTuple):
    """The edges in some partitions, in the types of the graph."""

    sources: Any  # frame
    targets: Any  # frame
    weights: np.ndarray | None


def _no_weights(dtype: Any) -> np.ndarray | None:
    return None if dtype is None else np.empty(0, dtype)


def _read(partitions: Sequence[Any], columns: EdgeColumns, like: Any, weight_dtype: Any) -> _Read:
    """Return the edges in some partitions, with the id dtypes of `like` and the dtype of the weights."""
    sources, targets = [like], [like]
    weights: list[Any] = [_no_weights(weight_dtype)]
    for at, partition in enumerate(partitions):
        source, target, weight, _ = read_edges(brought(partition, like), at, columns)
        assert target is not None
        sources.append(_as_ids(source.frame, like, columns.role))
        targets.append(_as_ids(target.frame, like, columns.role))
        if weight is not None:
            weights.append(_as_weights(weight, weight_dtype, columns))
    every: Any = None if weight_dtype is None else np.concatenate(weights)
    return _Read(stacked(sources), stacked(targets), every)


def _as_ids(ids: Any, like: Any, role: str) -> Any:
    """Return ids with the dtypes of the graph's ids, or raise if these cannot hold them."""
    if ids.dtypes.equals(like.dtypes):
        return ids
    columns = {}
    for name, dtype in like.dtypes.items():
        try:
            columns[name] = dtypes.exactly(ids[name], dtype)
        except Inexact as error:
            shows = "" if error.value is None else f" such as {_plain(error.value)}"
            raise VertexTypeError(
                f"{role} has ids of dtype {ids[name].dtype}{shows}, and the graph's ids have dtype "
                f"{dtype}, which cannot hold that. Leave such rows out, or build the graph again from ids "
                "of a dtype that can hold all of them"
            ) from error
    return frames.build(type(ids), columns)


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
