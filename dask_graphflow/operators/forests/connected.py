"""Connected components: the trees into which the edges of all members join the vertices.

Members that share the memory of their devices hook their edges into a forest of all vertices each. Then a
tree of members merges these forests (Groute [1]_).

Otherwise, each member hooks its edges into a forest of its vertices and mirrors; see :class:`.Forest`. A
tree is named after its smallest vertex. Each mirror is also in a tree at its owner. If the two trees have
different names, these belong to the same component. All members send each other such pairs of names, and
join them in the same way. So there are two rounds, however long the paths are. In most graphs there are few
such pairs, because most vertices are in a tree with the smallest vertex at every member.

The smallest vertex of a component is the same for every partitioning, so the result is, too.

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model for
   Irregular Computations", PPoPP 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph.blocks import blocks
from dask_graphflow.kernels import components as component_kernels
from dask_graphflow.kernels import groups as groups_kernels
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels.components import SharedForests
from dask_graphflow.operators.access import gather, sources_of, wide_column
from dask_graphflow.operators.forests.forest import Forest
from dask_graphflow.operators.view import GraphView

CHUNK = 1 << 24  # about the number of edges whose sources are listed at a time


def find_components(g: GraphView, labels: Any = None) -> Any:
    """Return the smallest number in the component of each owned vertex of an undirected graph.

    All members call it. With labels, one per owned vertex and mirror, only edges between vertices with the
    same label count.
    """
    forests = None if labels is not None else _share(g)
    if forests is not None:
        return _join_forests(g, forests)
    own, mirrors = _roots(g, labels)
    if g.member.alone and g.member.shard.placed is None:
        return own  # the numbers of the vertices are their positions
    # Without an edge that counts, a mirror is in no tree with an owned vertex.
    joined = np.flatnonzero(mirrors < g.owned)
    name = _smallest(g, own, mirrors, joined)
    _join(g, name, own, mirrors, joined)
    return name[own]


def _share(g: GraphView) -> SharedForests | None:
    """Return the forests that the members share on their devices, if they do."""
    memory = g.member.shared_memory()
    columns = memory and memory.columns((g.index, g.size))
    return SharedForests(memory, *columns) if columns else None


def _join_forests(g: GraphView, forests: SharedForests) -> Any:
    """Return the smallest number in the component of each owned vertex, by forests of all vertices."""
    rows, shard = g.member.rows("out"), g.member.shard
    rows = rows._replace(weights=None, ends=rows.ends.astype(g.index, copy=False))
    component_kernels.of(rows.ends).join_rows(rows, both=not g.directed, forests=forests)
    return component_kernels.merge(forests, shard.low, shard.high)


def _roots(g: GraphView, labels: Any) -> tuple[Any, Any]:
    """Return the root of each owned vertex and each mirror in the forest of this member's edges."""
    local, threads = g.member.local("out"), g.member.threads
    if g.member.alone and labels is None:
        kernels = component_kernels.of(local.rows.ends)
        parent = kernels.join_rows(local.rows, both=not g.directed, threads=threads)
        return parent, parent[g.owned :]
    forest = Forest(local.rows.ends, size=local.size)
    for _, piece in blocks(local.rows._replace(weights=None), CHUNK):
        if labels is None:
            ends = sources_of(g, piece), piece.ends
        else:
            ends = groups_kernels.of(labels).edges_inside(piece, labels)
        forest.hook(*ends, threads=threads)
    forest.compress(threads=threads)
    return forest.parent[: g.owned], forest.parent[g.owned :]


def _smallest(g: GraphView, own: Any, mirrors: Any, joined: Any) -> Any:
    """Return the smallest number of a vertex or mirror in the tree of each root."""
    smallest, least_of = g.numbers.copy(), kernels_for(own).namespace.minimum.at
    # Unless vertices are placed, the root of a tree is its smallest owned vertex.
    if g.member.shard.placed is not None:
        least_of(smallest, own, g.numbers)
    if not g.member.alone:
        numbers = g.member.shard.slot_numbers("out", g.member.threads)
        least_of(smallest, mirrors[joined], numbers[joined])
    return smallest


def _join(g: GraphView, name: Any, own: Any, mirrors: Any, joined: Any) -> None:
    """Replace the names of roots, in place, by the smallest names in their components.

    `own` and `mirrors` are the roots of each owned vertex and each mirror, and `joined` the mirrors that
    are in a tree with an owned vertex.
    """
    if g.member.alone:  # there are no mirrors
        return
    here, there = name[mirrors[joined]], wide_column(g, name[own])[g.owned :][joined]
    differ = here != there
    # A name and the smallest one that it is joined with: never more pairs than names.
    names, least = join_pairs(here[differ], there[differ])
    less = least < names
    pairs = gather(g, np.stack([names[less], least[less]], axis=1).ravel()).reshape(-1, 2)
    if not len(pairs):
        return
    names, least = join_pairs(*pairs.T)
    roots = np.flatnonzero(own == np.arange(g.owned, dtype=own.dtype, like=own))
    at = np.minimum(np.searchsorted(names, name[roots]), len(names) - 1)
    name[roots] = np.where(names[at] == name[roots], least[at], name[roots])


def join_pairs(one: Any, other: Any) -> tuple[Any, Any]:
    """Join pairs of names; return the different names, ascending, and the smallest one joined to each."""
    names, at = np.unique(np.concatenate([one, other]), return_inverse=True)
    forest = Forest(names, size=len(names))
    forest.hook(at[: len(one)], at[len(one) :])
    forest.compress()
    return names, names[forest.parent]
