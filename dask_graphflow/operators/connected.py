"""Connected components: the trees into which the edges of all members join the vertices.

Each member hooks its edges into a forest of its vertices and mirrors; see :class:`.Forest`. A tree is named
after its smallest vertex. Each mirror is also in a tree at its owner. If the two trees have different
names, these belong to the same component. All members send each other such pairs of names, and join them in
the same way. So there are two rounds, however long the paths are. In most graphs there are few such pairs,
because most vertices are in a tree with the smallest vertex at every member. The smallest vertex of a
component is the same for every partitioning, so the result is, too.

.. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph
   Sampling", IPDPS 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.components.forest import Forest
from dask_graphflow.kernels import kernels_for, kernels_of
from dask_graphflow.kernels.csr import Rows

from .access import gather
from .gather_rows import entries_of, pieces_of
from .view import GraphView
from .wide_column import wide_column

CHUNK = 1 << 24  # about the number of edges whose sources are listed at a time
FIRST, SAMPLE = 2, 1 << 10  # edges of a row, and vertices, that show the largest tree


def smallest_connected(g: GraphView, labels: Any = None) -> Any:
    """Return the smallest number in the component of each owned vertex. All members call it.

    Parameters
    ----------
    g : GraphView
        Undirected.
    labels : array, shape (V_p + mirrors,), optional
        If given, only edges between vertices with the same label count.

    Returns
    -------
    array of index, shape (V_p,)
    """
    own, mirrors = _roots(g, labels)
    # Without an edge that counts, a mirror is in no tree with an owned vertex.
    joined = np.flatnonzero(mirrors < g.owned)
    name = _smallest(g, own, mirrors, joined)
    _join(g, name, own, mirrors, joined)
    return name[own]


def _roots(g: GraphView, labels: Any) -> tuple[Any, Any]:
    """Return the root of each owned vertex and each mirror in the forest of this member's edges."""
    local = g.local("out")
    forest = Forest(local.rows.ends, size=local.size)
    few = g.alone and not g.directed and labels is None and len(local.rows.ends) > 0
    for source, target in _few_edges(g, forest) if few else _edges(local.rows, g, labels):
        forest.hook(source, target, threads=g.threads)
    forest.compress(threads=g.threads)
    return forest.parent[: g.owned], forest.parent[g.owned :]


def _smallest(g: GraphView, own: Any, mirrors: Any, joined: Any) -> Any:
    """Return the smallest number of a vertex or mirror in the tree of each root."""
    smallest, least_of = g.numbers.copy(), kernels_for(own).namespace.minimum.at
    if g.shard.placed is not None:  # otherwise the root of a tree is its smallest owned vertex
        least_of(smallest, own, g.numbers)
    if not g.alone:
        least_of(smallest, mirrors[joined], g.shard.slot_numbers("out", g.threads)[joined])
    return smallest


def _edges(rows: Any, g: GraphView, labels: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the positions of the ends of this member's edges, for some rows at a time."""
    owners = kernels_of("rows", rows.ends).owners
    for first, last in pieces_of(rows, -(-len(rows.ends) // CHUNK)):
        offsets = rows.offsets[first : last + 1]
        low, high = int(offsets[0]), int(offsets[-1])
        piece = Rows(offsets - low, rows.ends[low:high], None, first)
        if labels is None:
            yield owners(piece, piece.ends.dtype, threads=g.threads), piece.ends
        else:
            yield kernels_of("groups", labels).edges_inside(piece, labels)


def _few_edges(g: GraphView, forest: Forest) -> Iterator[tuple[Any, Any]]:
    """Yield the positions of the ends of enough edges, if the rows of both ends contain each edge [1]_.

    After the first edges of each row are hooked, most vertices are in one tree. Only the rows of the other
    vertices have to be read, because they contain all edges between them and that tree.
    """
    rows, degrees = g.local("out").rows, g.degrees
    for edge in range(FIRST):
        at = (degrees > edge).nonzero()[0]
        yield at.astype(rows.ends.dtype), rows.ends[rows.offsets[at] + edge]
    forest.compress(threads=g.threads)
    trees, counts = np.unique(forest.parent[:: 1 + g.owned // SAMPLE], return_counts=True)
    others = (forest.parent != trees[counts.argmax()]).nonzero()[0].astype(rows.ends.dtype)
    if 2 * int(degrees[others].sum()) > len(rows.ends):  # there is no such tree
        yield from _edges(rows, g, None)
        return
    offsets, entries = entries_of(rows, others, g.threads)
    piece = Rows(offsets, rows.ends[entries], None, 0)
    owners = kernels_of("rows", rows.ends).owners(piece, rows.ends.dtype, threads=g.threads)
    yield others[owners], piece.ends


def _join(g: GraphView, name: Any, own: Any, mirrors: Any, joined: Any) -> None:
    """Replace the names of roots by the smallest names in their components.

    Parameters
    ----------
    g : GraphView
    name : array of index, shape (V_p,)
        Name of the tree of each root; changed in place.
    own, mirrors : array of index, shapes (V_p,) and (mirrors,)
        Root of each owned vertex and each mirror.
    joined : array of int64
        The mirrors that are in a tree with an owned vertex.
    """
    if g.alone:  # there are no mirrors
        return
    here, there = name[mirrors[joined]], wide_column(g, name[own])[g.owned :][joined]
    differ = here != there
    # A name and the smallest one that it is joined with: never more pairs than names.
    names, least = _joined(here[differ], there[differ])
    less = least < names
    pairs = gather(g, np.stack([names[less], least[less]], axis=1).ravel()).reshape(-1, 2)
    if not len(pairs):
        return
    names, least = _joined(*pairs.T)
    roots = np.flatnonzero(own == np.arange(g.owned, dtype=own.dtype, like=own))
    at = np.minimum(np.searchsorted(names, name[roots]), len(names) - 1)
    name[roots] = np.where(names[at] == name[roots], least[at], name[roots])


def _joined(one: Any, other: Any) -> tuple[Any, Any]:
    """Join pairs of names; return the different names, ascending, and the smallest one joined to each."""
    names, at = np.unique(np.concatenate([one, other]), return_inverse=True)
    forest = Forest(names, size=len(names))
    forest.hook(at[: len(one)], at[len(one) :])
    forest.compress()
    return names, names[forest.parent]
