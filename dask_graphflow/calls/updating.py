"""The update of a graph: all members read the batch, and each makes the next version of its shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import VertexTypeError, WeightError
from dask_graphflow.graph import dtypes, frames
from dask_graphflow.graph.dtypes import Inexact
from dask_graphflow.graph.edgelist import EdgeColumns
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
        name: _Read(shard.like, partitions[name], own, weight_dtype)
        for name, own in columns.items()
    }
    none = _Read(shard.like, [], None, weight_dtype)
    inserted, deleted = (read.pop(name, none) for name in ("insert", "delete"))
    vertices = frames.stack([one.ends[0] for one in (none, *read.values())])
    batch = Batch(inserted.ends, inserted.weights, deleted.ends, vertices)
    return update(shard, Exchange(channel, device=shard.on_device), batch, **how)


class _Read:
    """The ends and the weights of the edges in some partitions, in the types of the graph."""

    def __init__(
        self, like: Any, partitions: Sequence[Any], columns: EdgeColumns | None, weight_dtype: Any
    ) -> None:
        self._like, self._columns = like, columns
        sides: tuple[list[Any], list[Any]] = [], []
        weights = []
        for at, partition in enumerate(partitions):
            assert columns is not None
            piece = read_edges(brought(partition, like), at, columns)
            for side, ends in zip(sides, (piece.source, piece.target), strict=True):
                side.append(self._as_ids(ends.frame))
            if weight_dtype is not None and piece.weight is not None:
                weights.append(self._as_weights(piece.weight, weight_dtype))
        self.ends = tuple(frames.stack(side) if side else like for side in sides)
        none = None if weight_dtype is None else np.empty(0, weight_dtype)
        self.weights = np.concatenate(weights) if weights else none

    def _as_ids(self, ids: Any) -> Any:
        assert self._columns is not None
        columns = {}
        for name, dtype in self._like.dtypes.items():
            try:
                columns[name] = dtypes.exactly(ids[name], dtype)
            except Inexact as error:
                role, value = self._columns.role, error.value
                raise VertexTypeError(
                    f"{role} has ids of dtype {ids[name].dtype}"
                    f"{'' if value is None else f' such as {shown(value)}'}, and the graph's ids have "
                    f"dtype {dtype}, which cannot hold that. Leave such edges out, or build the graph "
                    "again from ids of a dtype that can hold all of them"
                ) from error
        return frames.build(type(ids), columns)

    def _as_weights(self, weights: Any, dtype: Any) -> np.ndarray:
        assert self._columns is not None
        values = pd.Series(kernels_for(weights).to_host(weights))
        try:
            return dtypes.exactly(values, dtype).to_numpy()
        except Inexact as error:
            name = self._columns.weight
            raise WeightError(
                f"weight column {name!r} of {self._columns.role} has dtype {values.dtype} and holds "
                f"{shown(error.value)}, and the graph's weights have dtype {dtype}, which cannot hold "
                "that. Convert the column, for example with "
                f"{self._columns.role}.astype({{{name!r}: '{dtype}'}})"
            ) from error
