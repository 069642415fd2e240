"""What the members of a gang do to save a graph, and what a task does to load a shard of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.resources import Resources
from dask_graphflow.graph import build, partition, stored
from dask_graphflow.graph.frames import is_pandas
from dask_graphflow.graph.numbering import num_edges, num_vertices, occurs
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.kernels import kernels_for, lift
from dask_graphflow.kernels.csr import Rows

from .folders import Folder
from .id_files import by_grain, id_dtypes, read_ranges, write_range
from .manifest import Manifest, Range
from .stored_range import Contents

# Bytes of a range's edges in a file that cannot be mapped, which is read as a whole.
MOST_BYTES = 1 << 28


class Saved(NamedTuple):
    """What a member knows about the graph that it saved its part of."""

    ranges: list[Range]  # the ranges that this member wrote
    # Array of int64. Number of edge ends of each grain of vertices of this member.
    grains: np.ndarray
    sample: np.ndarray  # array of int64. A sample of the ends of this member's edges.
    # See :class:`.Manifest`; the same for all members.
    vertices: int
    edges: int
    numbers: int
    first_id: int | None
    weight_dtype: str | None


def save(channel: Channel, shard: Shard, rank: int, folder: Folder, token: str) -> Saved:
    """Write the files of a member's vertices: the loop of a gang (see :func:`.gang.run`).

    A local file has all vertices of a member, so that a member that loads them maps one file. Files in
    other places contain at most about `MOST_BYTES` of edges.
    """
    exchange = Exchange(channel, device=shard.on_device)
    sides = {"out": shard.out}
    if shard.directed:
        sides["into"] = build.into(shard, exchange)
    exists = kernels_for(shard.like).to_host(occurs(shard, exchange))
    rows = {side: _on_host(one) for side, one in sides.items()}
    ids = None if shard.ids is None else kernels_for(shard.ids).to_pandas(shard.ids)
    contents = Contents(ids, exists, rows)
    grains = by_grain(rows)
    most = math.inf if folder.is_local else MOST_BYTES
    edge = sum(array.itemsize for array in rows["out"][1:3] if array is not None)
    cuts = _cuts(grains * edge, shard.owned, most)
    if shard.owned == 0 and (rank > 0 or shard.size > 0):
        cuts = []  # a graph without vertices has a file, too, from which loading takes the types
    ranges = [
        write_range(folder, token, shard.low + low, contents.part(low, high)) for low, high in cuts
    ]
    sample = np.concatenate([_sample(one.ends) for one in rows.values()]).astype("int64")
    weights = rows["out"].weights
    return Saved(
        ranges,
        grains,
        sample,
        num_vertices(channel, shard, rank),
        num_edges(channel, shard, rank),
        shard.size,
        shard.base if shard.ids is None else None,
        None if weights is None else weights.dtype.name,
    )


def _on_host(rows: Any) -> Rows:
    names = "offsets", "ends", "weights"
    arrays = {name: getattr(rows, name) for name in names if getattr(rows, name) is not None}
    return Rows(**rows._asdict() | {name: kernels_for(a).to_host(a) for name, a in arrays.items()})


def _cuts(grains: np.ndarray, owned: int, most: float) -> list[tuple[int, int]]:
    """Cut a member's vertices, at grains, into ranges of about `most` bytes, given those of each grain."""
    cuts, low, held = [], 0, 0
    for grain, size in enumerate(grains.tolist()):
        if held and held + size > most:
            cuts.append((low, grain * partition.GRAIN))
            low, held = grain * partition.GRAIN, 0
        held += size
    return [*cuts, (low, owned)]


def _sample(ends: np.ndarray) -> np.ndarray:
    """Return a sample of ends, from which the evenness of degrees can be seen."""
    if not len(ends):
        return ends
    at = np.random.default_rng(0).integers(0, len(ends), min(len(ends), build.SAMPLE))
    return ends[np.sort(at)]  # in order, because the ends can be on disk


def load(
    rank: int,
    folder: Folder,
    manifest: Manifest,
    bounds: Sequence[int],
    like: Any,
    own: Resources,
) -> Shard:
    """Return the shard of a range of vertices of a saved graph, in the memory of `like`."""
    dtypes = id_dtypes(folder, manifest) if manifest.first_id is None else []
    low, high = bounds[rank : rank + 2]
    contents = read_ranges(folder, manifest, low, high, dtypes, own)
    device = not is_pandas(type(like))
    rows = {side: lift(one) if device else one for side, one in contents.rows.items()}
    exists = contents.exists
    if exists is None:
        exists = np.ones(contents.size, bool)
    ids = None
    if contents.ids is not None:
        ids = brought(contents.ids.set_axis(like.columns, axis=1), like)
    about: dict[str, Any] = {
        "directed": manifest.directed,
        "base": manifest.first_id or 0,
        "ids": ids,
    }
    shard = Shard(like, bounds, rank, rows["out"], **about)
    shard.kept(stored.OCCURS, lambda: lift(exists) if device else exists)
    if manifest.directed:
        shard.kept(stored.INTO, lambda: rows["into"])
    return shard
