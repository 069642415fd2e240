"""Sparse random signs, which depend only on a seed, the id of a vertex and the number of a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph import frames
from dask_graphflow.graph.hash_ids import hash_ids
from dask_graphflow.graph.numbering import names_of
from dask_graphflow.kernels import kernels_for, move_to

from .priorities import priorities
from .view import GraphView

PER_HASH = 4  # columns for which one hash of 64 bits is enough
SIXTH = round(2**16 / 6)


def vertex_keys(g: GraphView, at: Any) -> Any:
    """Return a hash of the id of each vertex at some positions of this member, as int64.

    All members call it. It is the same for every graph that has the vertex. Ids are hashed on the host.
    """
    shard, host = g.member.shard, g.member.shard.host
    numbers = g.numbers[at]
    if host is not shard:
        numbers = kernels_for(numbers).to_host(numbers)
    parts = names_of(host, g.member.exchange, numbers)
    ids = frames.build(type(host.like), dict(zip(host.like.columns, parts, strict=True)))
    return move_to(g.numbers, hash_ids(frames.to_pandas(ids)).view("int64"))


def random_signs(keys: Any, seed: int, columns: range) -> Any:
    """Return 1, 0 or -1 for each key and each column, with probabilities of 1/6, 2/3 and 1/6, as int8.

    `columns` begins at a multiple of :data:`PER_HASH`.
    """
    hashes = np.arange(columns.start // PER_HASH, -(-columns.stop // PER_HASH))
    signs = np.empty_like(keys, "int8", shape=(len(keys), PER_HASH * len(hashes)))
    for first, own in enumerate(priorities(hashes, seed).tolist()):
        drawn = priorities(keys, own).view("uint16").reshape(-1, PER_HASH)
        plus, minus = drawn < SIXTH, drawn >= 2**16 - SIXTH
        signs[:, PER_HASH * first : PER_HASH * (first + 1)] = plus.astype("int8") - minus
    return signs[:, : len(columns)]
