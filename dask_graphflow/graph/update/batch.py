"""What an update changes: the ids and the edges of a batch, which all members have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import EdgeListError
from dask_graphflow.graph import renumber
from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.graph.vertex_ids import shown
from dask_graphflow.kernels import count_true, index_dtype, kernels_for, move_to
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.showing.tables import counted


class Batch(NamedTuple):
    """The contents of the frames of an update. Ids have the graph's columns and dtypes."""

    inserted: tuple[Ends, Ends]  # the sources and the targets of new edges
    weights: np.ndarray | None  # the weights of new edges
    deleted: tuple[Ends, Ends]  # the sources and the targets of edges that are deleted
    vertices: Ends  # further vertices


class BatchIds(NamedTuple):
    """The distinct ids of a batch, in their order, and where they are used."""

    ids: Any  # frame, or array of a few integers
    # Array of bool. Whether each id is a vertex after the update.
    added: Any
    # The row in `ids` of the sources and the targets of the new edges, and then of those deleted.
    inserted: tuple[Any, Any]
    deleted: tuple[Any, Any]


def ids_of_batch(batch: Batch, ends: Any, threads: int) -> BatchIds:
    """Return the distinct ids of a batch. The rows in `ids` are in the memory of the graph's `ends`."""
    parts = [*batch.inserted, *batch.deleted, batch.vertices]
    columns = [column for part in parts for column in part.series.values()]
    if len(columns) == len(parts) and renumber.are_few_integers(columns):
        ids, codes = renumber.number_few(columns)
    else:
        ids, codes = renumber.number([part.frame for part in parts], threads=threads)
    rows = [move_to(ends, own).astype("int64") for own in codes]
    added = np.zeros_like(rows[0], bool, shape=len(ids))
    for own in (rows[0], rows[1], rows[4]):
        added[own] = True
    return BatchIds(ids, added, (rows[0], rows[1]), (rows[2], rows[3]))


class Pairs(NamedTuple):
    """The pairs of vertices that a batch names: each once, in the order of the rows of a graph.

    The arrays are in the memory of the graph's ends.
    """

    sources: Any  # array of int64, shape (k,). Numbers of vertices, ascending.
    targets: Any  # array of int64, shape (k,). They ascend for each source.
    gone: Any  # array of bool, shape (k,). Whether the edges of the pair are deleted.
    # Array of int64, shape (k + 1,). The index of the first new edge of each pair, followed by the number
    # of all new edges.
    bounds: Any
    weights: Any  # the weights of the new edges, in this order; or None
    deleted: Any  # array of int64. The index of the pair of each deleted edge of the batch.

    def part(self, low: int, high: int) -> Pairs:
        """Return the pairs whose sources are `low` to ``high - 1``, without `deleted`."""
        cuts = np.asarray([low, high], like=self.sources)
        begin, end = np.searchsorted(self.sources, cuts).tolist()
        first, last = int(self.bounds[begin]), int(self.bounds[end])
        weights = None if self.weights is None else self.weights[first:last]
        return Pairs(
            self.sources[begin:end],
            self.targets[begin:end],
            self.gone[begin:end],
            self.bounds[begin : end + 1] - first,
            weights,
            self.deleted[:0],
        )

    def without_loops(self) -> Pairs:
        """Return the pairs of different vertices, without weights and `deleted`."""
        apart = self.sources != self.targets
        bounds = offsets_of(np.diff(self.bounds)[apart])
        sources, targets, gone = self.sources[apart], self.targets[apart], self.gone[apart]
        return Pairs(sources, targets, gone, bounds, None, self.deleted[:0])


def pairs_of(
    inserted: tuple[Any, Any],
    deleted: tuple[Any, Any],
    weights: Any,
    numbers: Any,
    *,
    undirected: bool,
    threads: int,
) -> Pairs:
    """Return the pairs of some new and deleted edges, whose ends are rows in `numbers`, which ascend.

    In an undirected graph, each edge counts in both directions, and a self-loop once.
    """
    new, old, dtype = len(inserted[0]), len(deleted[0]), index_dtype(len(numbers))
    u, v = (np.concatenate(both).astype(dtype) for both in zip(inserted, deleted, strict=True))
    kernels, size = rows_kernels.of(u), len(numbers)
    # Parallel edges stay in the order of the batch, in whichever direction they were given.
    edges = np.arange(new + old, like=u)
    rows = kernels.rows(u, v, edges, count=size, undirected=undirected, threads=threads)
    u, v, edge = kernels.owners(rows, dtype, threads=threads), rows.ends, rows.weights
    first = np.ones_like(u, bool)
    first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
    pair, is_new = np.cumsum(first) - 1, edge < new
    gone = np.zeros_like(first, shape=count_true(first))
    gone[pair[~is_new]] = True
    new_edges = kernels.degrees(pair[is_new], count=len(gone), threads=threads)
    bounds = offsets_of(new_edges)
    of_edge = np.zeros_like(edges)
    of_edge[edge] = pair
    values = None if weights is None else weights[edge[is_new]]
    sources, targets = numbers[u[first]], numbers[v[first]]
    return Pairs(sources, targets, gone, bounds, values, of_edge[new:])


def check_found(found: Any, sources: Ends, targets: Ends) -> None:
    """Raise if an edge that should be deleted was not found. All members raise the same error."""
    lost = kernels_for(found).to_host(np.flatnonzero(~found))
    if not len(lost):
        return
    one, other = (shown(ids.frame.iloc[lost[:1]]) for ids in (sources, targets))
    raise EdgeListError(
        f"delete has {counted(len(lost), 'edge')} that the graph does not have, such as the one from "
        f"{one} to {other}; an edge can be deleted only if it is there before the update. "
        "Leave such edges out, or give missing='ignore' to skip them"
    )
