"""Rows on the device: make rows by the vertex that edges leave or enter, from an edge list.

The results have the bits of the host's. `threads` only affects the host. The device uses all threads.

Rows are made in blocks of consecutive rows, each with an eighth of the edges, or a sixteenth if there are
weights. The edge list is read once for each block, as ``rows.cu`` describes. CuPy sorts the keys with
a radix sort that reads and writes 8 bytes per edge eight times. Predicted times for 2^30 edges of int32
between 2^26 vertices on one H200:

===================================  ======
read the rows, to choose blocks      1.2 ms
select, 8 times                      20 ms
sort (78 ms measured for 2^30 keys)  78 ms
write                                4 ms
total, directed                      105 ms
total, undirected (twice the keys)   210 ms
===================================  ======

Peak memory in bytes per edge: 8 for the list, 4 for the ends of the rows, 2 for keys and the copy that the
sort makes, and 0.5 for offsets. This is 14.5 in total, and 18.5 for an undirected graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import index_dtype, joined
from dask_graphflow.kernels.common.device import _indices
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.device_bitmap import running
from dask_graphflow.kernels.launching import launch
from dask_graphflow.kernels.sources import instance

from .host import POLICIES, no_such_sum

# As in rows.cu and cuda/search.cuh:
EACH, BINS = 16, 4096
RUN = 32 * EACH
TILE_LANES = 8  # edges of a tile per thread of the block

BLOCKS, WEIGHTED_BLOCKS = 8, 16  # number of blocks in which rows are made
SMALLEST = 1 << 22  # a block has room for at least this number of entries
COUNTED = 1 << 31  # ids that are counted at a time, so that the counts fit into 32 bits
MANY = 2  # all rows are read if the chosen ones have at least 1/2 of the edges
WEIGHTS = ("int32", "int64", "float32", "float64")

_EDGES = np.dtype(
    [
        ("source", "u8"),
        ("target", "u8"),
        ("count", "u8"),
        ("labels", "u8"),
        ("first", "i8"),
        ("rows", "u8"),
        ("both", "u8"),
    ]
)


def degrees(ids, *, first=0, count, threads=1):
    with ids.device:
        ids, _ = _indices(ids, ids)
        total = cupy.zeros(count, "int64")
        for start in range(0, len(ids), COUNTED):
            part = ids[start : start + COUNTED]
            # Half as wide as the result, so that atomics on twice as many counters hit L2.
            counts = cupy.zeros(count, "uint32")
            kernel, given = instance("count_ids", ids.dtype), (part, len(part), np.int64(first))
            launch(kernel, len(part), *given, counts, count)
            total += counts
    return total


def degree_labels(degrees):
    with degrees.device:
        labels = cupy.empty(len(degrees), index_dtype(len(degrees)))
        if len(degrees):
            labels[cupy.argsort(-degrees)] = cupy.arange(len(degrees), dtype=labels.dtype)
    return labels


# Labels are looked up each time that the edges are read. For rows of all vertices, it is faster to make
# them without labels and to call `relabelled` afterwards.
def rows(
    source,
    target,
    weight=None,
    *,
    first=0,
    count,
    columns=None,
    labels=None,
    undirected=False,
    multi="keep",
    threads=1,
):
    policy = POLICIES.index(multi)
    source, target, weight = map(joined, (source, target, weight))
    if weight is not None and str(weight.dtype) not in WEIGHTS:
        raise WeightError(
            f"weights are {weight.dtype}; on a GPU they are {', '.join(WEIGHTS)}: convert with astype"
        )
    columns = first + count if columns is None else columns
    with source.device:
        made = _Making(source, target, weight, labels, first, count, columns, undirected)
        return made.rows(policy)


class _Making:
    """The state that all steps of making rows use."""

    def __init__(
        self,
        source: Any,
        target: Any,
        weight: Any,
        labels: Any,
        first: int,
        count: int,
        columns: int,
        undirected: bool,
    ) -> None:
        self.source, self.target = _indices(source, target)
        self.weight = weight
        self.first, self.count, self.undirected = first, count, undirected
        self.width = max(1, (columns - 1).bit_length())
        self.dtype = np.dtype(index_dtype(1 << self.width))
        # The labels in the dtype of ids, to look them up, and in the dtype of ends, to write them.
        self.asked = _cast(labels, self.source.dtype)
        self.written = _cast(labels, self.dtype)
        self.wrong = cupy.zeros(1, "uint32")  # set if a sum of integers does not fit

    def rows(self, policy: int) -> Rows:
        """Make the rows, block by block."""
        blocks = self._blocks()
        total, largest = sum(size for *_, size in blocks), max(size for *_, size in blocks)
        offsets = cupy.zeros(self.count + 1, "int64")
        ends = cupy.empty(total, self.dtype)
        weights = None if self.weight is None else cupy.empty(total, self.weight.dtype)
        keys = cupy.empty(largest, "uint64")
        # The copy that the sort makes has another size for each block. Allocating the largest size once
        # leaves one piece of memory in CuPy's pool for all of them.
        copy = cupy.empty(largest + largest // 16 + (1 << 16), "uint64")
        del copy
        done = 0
        for low, high, size in blocks:
            if not size:
                continue
            held, picked = keys[:size], self._select(low, high, size, keys)
            if picked is None:
                held.sort()
                carried = None
            else:
                order = cupy.argsort(held)  # stable: equal keys stay in the order of the edges
                held, carried = held[order], self.weight[picked[order]]
                del order, picked
            done += self._write(
                held, carried, policy, offsets[1 + low : 1 + high], ends, weights, done
            )
        if weights is not None and POLICIES[policy] == "sum" and int(self.wrong[0]):
            raise no_such_sum(weights.dtype)
        cupy.cumsum(offsets, out=offsets)
        if done < total:
            ends = ends[:done].copy()
            weights = None if weights is None else weights[:done].copy()
        return Rows(offsets, ends, weights, self.first)

    def _edges(self, low: int, high: int) -> np.ndarray:
        """Return the edges as the kernels take them, for the rows `low` to ``high - 1``."""
        return np.array(
            (
                self.source.data.ptr,
                self.target.data.ptr,
                len(self.source),
                0 if self.asked is None else self.asked.data.ptr,
                self.first + low,
                high - low,
                self.undirected,
            ),
            _EDGES,
        )

    def _blocks(self) -> list[tuple[int, int, int]]:
        """Split the rows into blocks; return the begin, the end and the number of entries of each block."""
        shift = max(0, (max(self.count, 1) - 1).bit_length() - BINS.bit_length() + 1)
        bins = cupy.zeros(max(1, -(-self.count >> shift)), "uint64")
        kernel, edges = instance("row_bins", self.source.dtype), self._edges(0, self.count)
        launch(kernel, len(self.source) // EACH, edges, np.uint32(shift), bins)
        parts = BLOCKS if self.weight is None else WEIGHTED_BLOCKS
        room = max(SMALLEST, len(self.source) // parts)
        most = 1 << (64 - self.width)  # maximum rows, so that a row and a column fit into a key
        blocks, low, held = [], 0, 0
        for at, size in enumerate(bins.get().tolist()):
            if held and (held + size > room or (at + 1 - low) << shift > most):
                blocks.append((low << shift, at << shift, held))
                low, held = at, 0
            held += size
        blocks.append((low << shift, self.count, held))
        return blocks

    def _select(self, low: int, high: int, size: int, keys: Any) -> Any:
        """Write the keys of a block; if there are weights, return the edge of each key."""
        edges, runs = self._edges(low, high), -(-len(self.source) // RUN)
        picked = places = None
        if self.weight is not None:
            picked, places = cupy.empty(size, "int64"), cupy.empty(runs, "int64")
            launch(instance("count_selected", self.source.dtype), 32 * runs, edges, places)
            cupy.cumsum(places, out=places)
        kernel, cursor = instance("select", self.source.dtype), cupy.zeros(1, "uint64")
        launch(kernel, 32 * runs, edges, np.uint32(self.width), places, cursor, keys, picked)
        return picked

    def _write(
        self,
        keys: Any,
        carried: Any,
        policy: int,
        degrees: Any,
        ends: Any,
        weights: Any,
        done: int,
    ) -> int:
        """Write sorted keys as rows after the first `done` entries; return the number of new entries."""
        size, heads = len(keys), None
        runs = -(-len(keys) // RUN)
        if policy:
            heads = cupy.empty(runs, "int64")
            launch("count_heads", 32 * runs, keys, size, heads)
            cupy.cumsum(heads, out=heads)
        kernel, width = instance("write_rows", self.dtype), np.uint32(self.width)
        into = ends[done:], degrees
        launch(kernel, 32 * runs, keys, size, width, heads, self.written, *into)
        if heads is None:
            if carried is not None:
                weights[done : done + len(keys)] = carried
            return len(keys)
        if carried is not None:
            kernel = instance("write_weights", carried.dtype)
            chosen = np.uint32(policy), weights[done:], self.wrong
            launch(kernel, 32 * runs, keys, size, heads, carried, *chosen)
        return int(heads[-1])


def relabelled(rows_, labels, *, places=None, first=0, count=None, threads=1):
    count = len(labels) - first if count is None else count
    with labels.device:
        labels = _cast(labels, rows_.ends.dtype)
        to = labels if places is None else _cast(places, rows_.ends.dtype)
        names = cupy.empty_like(labels)
        names[labels] = cupy.arange(len(labels), dtype=labels.dtype)
        names = names[first : first + count]
        offsets = cupy.zeros(count + 1, "int64")
        offsets[1:] = running(cupy.diff(rows_.offsets)[names - rows_.first])
        ends = cupy.empty(int(offsets[-1]), rows_.ends.dtype)
        weights = None if rows_.weights is None else cupy.empty(len(ends), rows_.weights.dtype)
        if len(ends):
            kernel, items = instance("relabel", ends.dtype), -(-len(ends) // TILE_LANES)
            size = 0 if weights is None else weights.itemsize
            old, new = (*rows_[:3], size, rows_.first), (offsets, count, ends, weights)
            launch(kernel, items, *old, to, names, *new)
    return Rows(offsets, ends, weights, first)


def renamed(ids, names, *, threads=1):
    return names[ids]


def owners(rows_, dtype, *, threads=1):
    with rows_.ends.device:
        vertices = cupy.empty(len(rows_.ends), dtype)
        if len(vertices):
            kernel, items = instance("owners", vertices.dtype), -(-len(vertices) // TILE_LANES)
            launch(kernel, items, rows_.offsets, len(rows_.offsets) - 1, rows_.first, vertices)
    return vertices


def between(rows_, which, inside, *, names=None, later=False, threads=1):
    with rows_.ends.device:
        begins = rows_.offsets[which]
        offsets = cupy.zeros(len(which) + 1, "int64")
        offsets[1:] = cupy.cumsum(rows_.offsets[which + 1] - begins)
        if names is None and int(offsets[-1]) * MANY >= len(rows_.ends):
            chosen = cupy.zeros(len(rows_.offsets) - 1, "bool")
            chosen[which] = True
            vertices = owners(rows_._replace(first=0), which.dtype)
            kept = chosen[vertices] & inside[rows_.ends]
            if later:
                kept &= vertices <= rows_.ends
            entries = cupy.flatnonzero(kept)
            return vertices[entries], entries
        entries = cupy.arange(int(offsets[-1]))
        row = owners(Rows(offsets, entries, None, 0), "int64")
        entries += (begins - offsets[:-1])[row]
        vertices, ends = (which if names is None else names)[row], rows_.ends[entries]
        kept = inside[ends]
        if later:
            kept &= vertices <= ends
        return vertices[kept], entries[kept]


def _cast(labels: Any, dtype: Any) -> Any:
    return None if labels is None else cupy.ascontiguousarray(labels, dtype)
