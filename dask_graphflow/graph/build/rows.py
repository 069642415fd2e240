"""The last step of a build: make the rows of a member's vertices from the edges that it was dealt."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.make_rows import make_rows
from dask_graphflow.graph.vertices import Placed
from dask_graphflow.kernels import aligned, as_stored, joined, summable
from dask_graphflow.kernels import rows as rows_kernels

from .deal import Edges
from .recipe import Recipe


def rows_of_edges(
    exchange: Exchange,
    dealt: Edges,
    bounds: list[int],
    placed: Placed | None,
    recipe: Recipe,
    folder: str | None,
) -> Any:
    """Return the rows of the edges that leave a member's vertices.

    `dealt` are the edges that the member was dealt; the list of weights may be changed. `bounds` are places
    if the vertices are `placed`. Without a folder, the rows are on disk if the edges are.
    """
    if dealt.weight is not None and recipe.multi == "sum":
        dealt.weight[:] = [as_stored(one, summable(one)) for one in dealt.weight]
    low, high = bounds[exchange.rank : exchange.rank + 2]
    return make_rows(
        *dealt,
        first=low,
        count=high - low,
        columns=bounds[-1] if placed is None else len(placed.places),
        undirected=not recipe.directed,
        multi=recipe.multi,
        resources=exchange.resources,
        labels=None if placed is None else placed.places,
        folder=folder,
    )


def edges_without_rows(exchange: Exchange, dealt: Edges, placed: Placed | None) -> Edges:
    """Return the edges that a member was dealt, which are turned, as the edges that enter its vertices."""
    target, source, weight = (aligned(joined(column)) for column in dealt)
    edges = Edges(source, target, weight)
    return edges if placed is None else rename(edges, placed.places, exchange.resources.threads)


def rename(edges: Edges, names: np.ndarray, threads: int) -> Edges:
    """Return the edges with both ends mapped through `names`."""
    renamed = rows_kernels.of(edges.source).renamed
    source, target = (renamed(side, names, threads=threads) for side in edges[:2])
    return Edges(source, target, edges.weight)
