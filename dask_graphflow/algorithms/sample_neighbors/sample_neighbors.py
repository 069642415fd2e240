"""Neighbor sampling: a random part of each seed's neighborhood, of bounded size, for graph neural networks.

Hop 1 samples edges that leave the seed. Hop 2 samples edges that leave the vertices at their other ends,
and so on [1]_. Edges of a vertex are drawn by Floyd's algorithm, which makes each set of them as likely as
every other one [2]_. Random numbers depend on the seed of random numbers, the seed vertex, the hop and the
vertex alone.

.. [1] W. L. Hamilton, R. Ying, J. Leskovec, "Inductive Representation Learning on Large Graphs", NIPS 2017.
.. [2] J. Bentley, B. Floyd, "Programming Pearls: A Sample of Brilliance", Communications of the ACM 30,
   1987.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.number_options import Seed
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.operators.access import gather, send_groups, sort_rows
from dask_graphflow.operators.priorities import priorities
from dask_graphflow.operators.sample import Sampler
from dask_graphflow.operators.view import GraphView

from .fanouts import Fanouts


@algorithm(
    rows({"seed": "id", "hop": "int32", "source": "id", "target": "id"}),
    supersteps=False,
    cost=Cost("labels", 2, passes=0.1),
)
def sample_neighbors(
    g: GraphView,
    seeds: Annotated[Any, VertexIds()],
    *,
    fanouts: Annotated[Sequence[int], Fanouts()] = (25, 10),
    replace: bool = False,
    seed: Seed = 0,
) -> Answer:
    """Return a random sample of the neighborhood of each seed vertex, hop by hop.

    Hop 1 samples edges that leave the seed vertex. Each next hop samples edges that leave the vertices that
    the hop before has reached first. So the edges of a vertex are sampled at most once per seed vertex.
    Each seed vertex has a sample of its own, which does not depend on the other ones. All edges that leave
    a vertex are equally likely. Weights are ignored, and parallel edges are separate edges.

    Parameters
    ----------
    seeds : id, or list, Series or DataFrame of ids
        Vertices whose neighborhoods are sampled. A vertex that is given several times counts once.
    fanouts : sequence of int
        For each hop, the number of edges to sample per vertex; -1 samples all edges. (25, 10) by default,
        which makes two hops.
    replace : bool
        Whether an edge can be sampled several times in the sample of a vertex. By default it is sampled at
        most once, and a vertex with fewer edges than the fanout has all of them in the sample.
    seed : int
        Chooses the random numbers; 0 by default.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per sampled edge, sorted by seed, hop, source and target. The columns are ``seed`` (the
        dtype of the ids), ``hop`` (int32, from 1), and ``source`` and ``target`` (the dtype of the ids): an
        edge and its direction, along which the sample went. A seed vertex without edges has no row.

    References
    ----------
    .. [1] W. L. Hamilton, R. Ying, J. Leskovec, "Inductive Representation Learning on Large Graphs", NIPS
       2017.
    .. [2] J. Bentley, B. Floyd, "Programming Pearls: A Sample of Brilliance", Communications of the ACM 30,
       1987.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 1, 3], "b": [2, 3, 4, 5]})
    >>> ends = {"source": "a", "target": "b"}
    >>> gf.sample_neighbors(links, **ends, seeds=[1], fanouts=[-1, 1]).compute()
       seed  hop  source  target
    0     1    1       1       2
    1     1    1       1       3
    2     1    1       1       4
    3     1    2       3       5
    """
    ranks, numbers, sampler = g.ranks, g.numbers, Sampler(g, weighted=False)
    every = np.sort(gather(g, ranks[seeds]))
    place, at, rows = np.searchsorted(every, ranks[seeds]), seeds, []
    size = max(1, g.owned)
    seen = [np.sort(place * size + at)]
    for hop, fanout in enumerate(fanouts, 1):
        keys = priorities(np.full_like(place, hop), priorities(every[place], seed))
        keys = priorities(ranks[at], keys)
        items, targets = sampler.edges(at, keys, fanout, replace=replace)
        place, source = place[items], numbers[at[items]]
        rows.append((place, np.full_like(place, hop, "int32"), source, targets))
        if hop < len(fanouts):
            at, place = sampler.send_to_owners(targets, place)
            reached = _first_reached(place * size + at, seen)
            seen.append(reached)
            place, at = reached // size, reached % size
    place, *columns = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    send = send_groups(g, place, len(every))
    place, hops, source, target = (send(column) for column in (place, *columns))
    key = place * (len(fanouts) + 1) + hops
    _, source, target, place, hops = sort_rows([key, source, target, place, hops], 3)
    named = np.sort(gather(g, numbers[seeds]))
    return Answer({"seed": named[place], "hop": hops, "source": source, "target": target})


def _first_reached(values: Any, seen: list[Any]) -> Any:
    """Return the values that are in none of some ascending arrays: ascending and each once."""
    values = np.sort(values)
    new = np.ones_like(values, bool)
    new[1:] = values[1:] != values[:-1]
    for before in seen:
        new &= np.searchsorted(before, values) == np.searchsorted(before, values, side="right")
    return values[new]
