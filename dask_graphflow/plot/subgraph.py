"""The surroundings of a vertex: the nearest vertices of a graph, and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import dask
import numpy as np
import pandas as pd

from dask_graphflow.api.graph import Graph
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.inputs.edges import check_edges
from dask_graphflow.tasks.clients import compute
from dask_graphflow.tasks.names import unique
from dask_graphflow.tasks.partitions import partitions_of

from .adjacency import adjacency

FOLLOW = ("out", "in", "both")


@dataclass(frozen=True)
class Subgraph:
    """A vertex and some of the vertices around it, nearest first."""

    ids: pd.DataFrame  # one row per vertex, and one column per part of an id
    distance: np.ndarray  # array of int, shape (n,). Edges from the first vertex.
    # Array of int, shape (n,). The row of a vertex that is one edge nearer; -1 for the first.
    parent: np.ndarray
    # Array of int, shape (m, 2). Row numbers of the two ends of each edge between these vertices, each pair
    # once.
    edges: np.ndarray
    directed: bool
    # Number of all vertices within the maximum distance, including those that were left out.
    reached: int

    def __len__(self) -> int:
        return len(self.ids)


def around(
    edges: Any,
    vertex: Any,
    *,
    source: Any,
    target: Any,
    directed: bool | None,
    follow: str,
    hops: int,
    limit: int,
    dropna: bool,
) -> Subgraph:
    """Return the subgraph around a vertex; see :func:`.neighborhood.neighborhood`."""
    Choice(FOLLOW).check("follow", follow, None)
    check_count("hops", hops)
    check_count("limit", limit)
    if isinstance(edges, Graph):
        if source is not None or target is not None or directed is not None:
            raise OptionError("a Graph knows its source, target and directed; leave them out")
        if edges.directed and follow != "out":
            raise OptionError(
                f"follow={follow!r} goes against edges, and a Graph is searched along them; give the "
                "edges, with source= and target="
            )
        graph, directed = edges.persist(), edges.directed
        between = partial(adjacency, graph)
    else:
        Flag().check("dropna", dropna, None)
        checked = check_edges(edges, source, target, directed=directed, dropna=dropna)
        (frame, columns), rows = checked.frames[0], checked.rows
        directed = rows.directed
        ends = ([*columns.source], [*columns.target])[:: -1 if follow == "in" else 1]
        graph = Graph(
            rows.frame,
            source=ends[0],
            target=ends[1],
            directed=directed and follow != "both",
            vertices=rows.vertices,
            dropna=dropna,
        ).persist()
        between = partial(_among, frame, columns)
    ids, distance, parent, reached = _nearest(graph, vertex, hops, limit)
    # If edges have no direction, reversed pairs count as equal.
    pairs = between(ids) if directed else np.sort(between(ids), axis=1)
    return Subgraph(ids, distance, parent, np.unique(pairs, axis=0), directed, reached)


def _nearest(
    graph: Graph, vertex: Any, hops: int, limit: int
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, int]:
    """Return the ids, distances and parents of the nearest vertices, and how many are within `hops`.

    If not all vertices at the largest distance fit in `limit`, the ones with the most edges are taken.
    """
    reached = graph.bfs([vertex], depth_limit=hops)
    columns = list(reached.columns)
    names = columns[: columns.index("distance")]
    (there,) = compute(reached.groupby("distance").size())
    counts = to_pandas(there).sort_index().reindex(range(hops + 1), fill_value=0).to_numpy()
    whole = int(np.searchsorted(counts.cumsum(), limit, side="right")) - 1
    (inside,) = compute(reached[reached["distance"] <= whole])
    rings = [to_pandas(inside)]
    if left := limit - len(rings[0]) if whole < hops else 0:
        ring = reached[reached["distance"] == whole + 1].merge(graph.degrees(), on=names)
        parts = ring.to_delayed()
        most = dask.delayed(_most_edges)
        best = compute(*(most(part, names, left, dask_key_name=unique("plot")) for part in parts))
        rings.append(_most_edges(pd.concat(best), names, left)[columns])
    near = pd.concat(rings).sort_values(["distance", *names], ignore_index=True)
    parents = near[columns[len(names) + 1 :]].set_axis(names, axis=1)
    ids = near[names]
    parent = np.full(len(near), -1)
    parent[1:] = rows_of(ids, parents.iloc[1:].astype(ids.dtypes))
    return ids, near["distance"].to_numpy(), parent, int(counts.sum())


def _most_edges(part: Any, names: list[str], count: int) -> pd.DataFrame:
    """Return the rows of the `count` vertices with the most edges; ties go to the smaller ids."""
    part = to_pandas(part)
    degrees = [column for column in part.columns if column.endswith("degree")]
    part = part.assign(__degree__=-part[degrees].sum(axis=1))
    most: pd.DataFrame = part.sort_values(["__degree__", *names]).head(count)
    return most.drop(columns="__degree__")


def _among(frame: Any, columns: EdgeColumns, ids: pd.DataFrame) -> np.ndarray:
    """Return the edges of a frame between some vertices, as row numbers of `ids`, in one pass."""
    frame = frame if not hasattr(frame, "expr") else frame[columns.columns]
    parts = partitions_of(frame)
    between = dask.delayed(_between)
    pairs = compute(
        *(
            between(part, i, columns, ids, dask_key_name=unique("plot"))
            for i, part in enumerate(parts)
        )
    )
    return np.concatenate(pairs)


def _between(part: Any, number: int, columns: EdgeColumns, ids: pd.DataFrame) -> np.ndarray:
    source, target, _ = columns.ends(part, number)
    first, values = columns.names[0], ids.iloc[:, 0].tolist()
    # The first part of the ids rules out most edges, before anything is copied to the host.
    near = source.series[first].isin(values) & target.series[first].isin(values)
    ends = [rows_of(ids, to_pandas(side.frame[near])) for side in (source, target)]
    pairs = np.column_stack(ends)
    inside: np.ndarray = pairs[(pairs >= 0).all(axis=1)]
    return inside


def rows_of(ids: pd.DataFrame, wanted: pd.DataFrame) -> np.ndarray:
    """Return the row number of each wanted id in `ids`, or -1 if it is not there."""
    if len(ids.columns) == 1:
        row_numbers: np.ndarray = pd.Index(ids.iloc[:, 0]).get_indexer(pd.Index(wanted.iloc[:, 0]))
    else:
        row_numbers = pd.MultiIndex.from_frame(ids).get_indexer(pd.MultiIndex.from_frame(wanted))
    return row_numbers
