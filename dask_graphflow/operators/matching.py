"""Matchings of bipartite graphs: every member has all rows, and finds the same matching on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.exceptions import EdgeListError
from dask_graphflow.kernels import matching as matching_kernels
from dask_graphflow.kernels import move_to

from .access import count_entering, gather, own_part
from .rows_of_all import rows_of_all
from .view import GraphView
from .whole_weights import exact_weights


def match(g: GraphView) -> list[Any]:
    """Return the edges of a matching that this member lists: vertex numbers of both ends, and weights.

    All members call it. The edges are sorted by their left ends over all members.
    """
    if g.directed:
        _check_sides(g)
    rows = rows_of_all(g, "out")
    kernels = matching_kernels.of(rows.ends)
    leaving = rows.offsets[1:] > rows.offsets[:-1]
    if not g.directed:
        sides = kernels.sides(rows)
        if sides.odd:
            one, other = (g.show(move_to(g.numbers, np.array([v], g.index))) for v in sides.odd)
            odd = f"the edge between {one} and {other} is on a cycle with an odd number of edges"
            if one == other:
                odd = f"there is a self-loop at vertex {one}"
            raise EdgeListError(
                f"{odd}, so the graph is not bipartite. Leave out edges between vertices of the same side"
            )
        leaving &= sides.left
    left = np.flatnonzero(leaving).astype(g.index)
    with g.superstep("push", len(left), len(rows.ends)):
        if g.weighted:
            exact, _ = exact_weights(rows, "weight", directed=g.directed)
            whole = rows._replace(weights=exact)
            entry = kernels.most_weight(whole, left)
        else:
            into = rows_of_all(g, "into") if g.directed else rows
            entry = kernels.most_edges(rows, into, left)
    matched = left[entry[left] >= 0]
    matched = matched[own_part(g, len(matched))]
    at = entry[matched]
    columns = [matched, rows.ends[at].astype(g.index)]
    if g.weighted:
        columns.append(rows.weights[at])
    return [move_to(g.numbers, column) for column in columns]


def _check_sides(g: GraphView) -> None:
    """Raise unless all edges lead from one side to the other. All members call it."""
    both = (g.degrees > 0) & (count_entering(g) > 0)
    if g.count_true(both):
        vertex = g.show(gather(g, g.numbers[both]).min()[None])
        raise EdgeListError(
            f"edges begin and end at vertex {vertex}, so they do not lead from one side to the other. If "
            "it stands for two things with the same id, give the ids of each side a prefix of their own. "
            "If the directions of edges have no meaning, give directed=False"
        )
