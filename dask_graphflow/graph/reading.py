"""Building: what is read of each partition of an edge list, and one graph of all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import kernels_for, summable
from dask_graphflow.scheduling import placement
from dask_graphflow.showing.tables import counted

from .edgelist import EdgeColumns
from .shards import Shards
from .vertices import number

__all__ = ["Build", "read"]


def read(frame: Any, partition: int, columns: EdgeColumns) -> Any:
    """Return a partition's sources, targets and weights."""
    source, target, weight = columns.ends(frame, partition)
    if weight is None:
        return source, target, None
    if nulls := int(weight.isna().sum()):
        raise WeightError(
            f"weight column {columns.weight!r} has {counted(nulls, 'null')} in a partition of "
            f"{counted(len(weight), 'edge')}; fill them, or leave those edges out"
        )
    values = kernels_for(frame).asarray(columns.exact_weight(weight, partition))
    if values.dtype.kind in "bui" and values.dtype.itemsize < 8:
        values = values.astype("int32" if values.dtype.itemsize < 4 else "int64")
    elif values.dtype.kind == "u":
        largest = int(values.max()) if len(values) else 0
        if largest > np.iinfo("int64").max:
            raise WeightError(
                f"weight column {columns.weight!r} holds {largest}, which does not fit int64. Convert the "
                "column with astype('float64'), which rounds weights beyond 2**53"
            )
        values = values.astype("int64")
    elif values.dtype == np.float16:
        values = values.astype("float32")
    return source, target, values


@dataclass(frozen=True)
class Build:
    """Makes shards of what was read of each partition.

    Attributes
    ----------
    directed : bool
    multi : str
        As :class:`~dask_graphflow.graph.shards.Shards` takes them.
    """

    directed: bool
    multi: str

    def __call__(self, pieces: list[Any]) -> Shards:
        """Return the graph of all pieces; the list is emptied, so that they are free where that can be."""
        threads = placement.task_threads(1)
        ends = [piece[:2] for piece in pieces]
        weights = [piece[2] for piece in pieces]
        pieces.clear()
        vertices, numbers = number(ends)
        del ends
        source, target = (_whole([pair[side] for pair in numbers]) for side in (0, 1))
        del numbers
        weight = None if weights[0] is None else _whole(weights)
        if weight is not None and self.multi == "sum":
            weight = summable(weight)
        shards = Shards(
            vertices,
            source,
            target,
            weight,
            directed=self.directed,
            multi=self.multi,
            threads=threads,
        )
        shards.out(threads)
        return shards


def _whole(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
