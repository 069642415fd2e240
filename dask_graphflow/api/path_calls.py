"""The calls behind :func:`.shortest_paths` and :meth:`.Graph.shortest_paths`."""

from __future__ import annotations

from functools import partial
from typing import Any

import dask.dataframe as dd

from dask_graphflow.algorithms.shortest_paths.of_result import (
    id_columns,
    no_paths,
    read,
    sort_targets,
    walk,
)
from dask_graphflow.calls.call import ask
from dask_graphflow.calls.shards import Shards
from dask_graphflow.graph.frames import empty_like
from dask_graphflow.inputs.hold_frame import as_dask
from dask_graphflow.tasks import gang, gang_build, placement


def follow_result(result: Any, targets: Any) -> dd.DataFrame:
    """Return the vertices on the path to each target, along the predecessors in the result of a search."""
    frame = as_dask(result, "result")
    columns = id_columns(frame)
    like = empty_like(frame._meta).reset_index(drop=True)
    width = len(columns) // 2
    ordered = sort_targets(targets, like[columns[:width]])
    members = min(len(placement.slots().workers), int(frame.npartitions))
    reads = gang_build.deal_reads([(frame, columns, partial(read, width=width))], members)
    return gang.run(reads, walk, no_paths(ordered, like), ordered, like, name="shortest-paths")


def between_pairs(shards: Shards, pairs: Any) -> dd.DataFrame:
    """Return the vertices on the shortest path of each pair of a frame, in a graph."""
    from dask_graphflow.algorithms.shortest_paths.of_pairs import shortest_paths

    return ask(shards, shortest_paths, pairs=pairs)
