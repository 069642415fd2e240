"""Connected components of a graph that is built: the trees into which the edges join the vertices.

Edges that are not built into a graph have a faster way, which reads them once:
:func:`dask_graphflow.connected_components`.

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
from dask_graphflow.operators.access import gather
from dask_graphflow.operators.gather_rows import edges_of, entries_of
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.wide_column import wide_column
from dask_graphflow.runtime.algorithm import algorithm
from dask_graphflow.runtime.answer import Answer

FIRST, SAMPLE = 2, 1 << 10  # edges of a row, and vertices, that show the largest tree


@algorithm(
    columns={"component": "id"},
    directed=False,
)
def connected_components(g: GraphView) -> Answer:
    """Return the connected component of each vertex.

    Use this if the graph is already built. Otherwise call :func:`dask_graphflow.connected_components` on
    the edges: it does not build a graph, and is several times faster than building one. The directions of
    the edges do not matter: in a directed graph the components are the weakly connected ones.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``component``, the smallest id
        of the component (both the dtype of the ids).

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 5, 8], "b": [5, 2, 9]})
    >>> g = gf.Graph(ties, source="a", target="b", directed=False)
    >>> g.connected_components().compute().component.tolist()
    [1, 1, 1, 8, 8]
    """
    every = g.everyone()
    with g.superstep("push", len(every), every.leaving):
        own, mirrors = _roots(g)
        name = _smallest(g, own, mirrors)
        _join(g, name, own, mirrors)
    return Answer({"component": name[own]})


def _roots(g: GraphView) -> tuple[Any, Any]:
    """Return the root of each owned vertex and each mirror in the forest of this member's edges."""
    local = g.local("out")
    forest = Forest(local.rows.ends, size=local.size)
    few = g.alone and not g.directed and len(local.rows.ends) > 0
    for source, target in _few_edges(g, forest) if few else edges_of(local.rows, g.threads):
        forest.hook(source, target, threads=g.threads)
    forest.compress(threads=g.threads)
    return forest.parent[: g.owned], forest.parent[g.owned :]


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
        yield from edges_of(rows, g.threads)
        return
    offsets, entries = entries_of(rows, others, g.threads)
    piece = Rows(offsets, rows.ends[entries], None, 0)
    owners = kernels_of("rows", rows.ends).owners(piece, rows.ends.dtype, threads=g.threads)
    yield others[owners], piece.ends


def _smallest(g: GraphView, own: Any, mirrors: Any) -> Any:
    """Return the smallest number of a vertex or mirror in the tree of each root."""
    smallest, least_of = g.numbers.copy(), kernels_for(own).namespace.minimum.at
    if g.shard.placed is not None:  # otherwise the root of a tree is its smallest owned vertex
        least_of(smallest, own, g.numbers)
    if not g.alone:
        least_of(smallest, mirrors, g.shard.slot_numbers("out", g.threads))
    return smallest


def _join(g: GraphView, name: Any, own: Any, mirrors: Any) -> None:
    """Replace the names of roots by the smallest names in their components.

    Parameters
    ----------
    g : GraphView
    name : array of index, shape (V_p,)
        Name of the tree of each root; changed in place.
    own, mirrors : array of index, shapes (V_p,) and (mirrors,)
        Root of each owned vertex and each mirror.
    """
    if g.alone:  # there are no mirrors
        return
    here, there = name[mirrors], wide_column(g, name[own])[g.owned :]
    differ = here != there
    # A name and the smallest one that it is joined with: never more pairs than names.
    names, joined = _joined(here[differ], there[differ])
    less = joined < names
    pairs = gather(g, np.stack([names[less], joined[less]], axis=1).ravel()).reshape(-1, 2)
    if not len(pairs):
        return
    names, joined = _joined(*pairs.T)
    roots = np.flatnonzero(own == np.arange(g.owned, dtype=own.dtype, like=own))
    at = np.minimum(np.searchsorted(names, name[roots]), len(names) - 1)
    name[roots] = np.where(names[at] == name[roots], joined[at], name[roots])


def _joined(one: Any, other: Any) -> tuple[Any, Any]:
    """Join pairs of names; return the different names, ascending, and the smallest one joined to each."""
    names, at = np.unique(np.concatenate([one, other]), return_inverse=True)
    forest = Forest(names, size=len(names))
    forest.hook(at[: len(one)], at[len(one) :])
    forest.compress()
    return names, names[forest.parent]
