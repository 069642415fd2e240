"""Bipartite projection: edges between vertices of one side that have neighbors in common [1]_.

The pairs are those of :mod:`.similarity`, of which each is listed once.

.. [1] T. Zhou, J. Ren, M. Medo, Y.-C. Zhang, "Bipartite Network Projection and Personal Recommendation",
   Physical Review E 76, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.option import Choice
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import EdgeListError, UsageError
from dask_graphflow.operators.access import count_entering, gather
from dask_graphflow.operators.intersect.common_neighbors import CommonNeighbors
from dask_graphflow.operators.view import GraphView

from .similarity.measures import SCORES, Measure
from .similarity.similarity import pairs_listed


@dataclass(frozen=True)
class Side(Choice):
    """One of the two sides that edges lead from and to, if edges have directions."""

    def check(self, name: str, value: str, spec: GraphSpec) -> str:
        """Return the name of the side."""
        if not spec.directed:
            raise UsageError(
                "bipartite_projection takes the sides from the directions of edges, which an undirected "
                "graph does not have; give directed=True, with edges that lead from one side to the other"
            )
        return super().check(name, value, spec)


@algorithm(
    rows({"source": "id", "target": "id", "weight": "float64"}),
    weights="optional",
    edge_bytes=(33, 57),
    cost=Cost("labels", 1, passes=6, wedges=1.25, rows=1, copies=1, listed=pairs_listed),
)
def bipartite_projection(
    g: GraphView,
    *,
    side: Annotated[str, Side(("source", "target"))],
    measure: Annotated[str, Measure(tuple(SCORES))] = "common_neighbors",
) -> Answer:
    """Return the edges between vertices of one side of a bipartite graph that have neighbors in common.

    Each edge leads from one side to the other, for example from a customer to a product. Two customers then
    have an edge in the projection if they bought the same product. Parallel edges count once; with weights,
    their weights are added up.

    Parameters
    ----------
    side : {"source", "target"}
        Which vertices the projection has: those at which edges begin, or those at which edges end.
    measure : {"jaccard", "sorensen", "overlap", "cosine", "adamic_adar", "common_neighbors"}
        What the weight of an edge is, as in :func:`~dask_graphflow.similarity`. By default, it is the
        number of common neighbors. If edges have weights, only the first three can be given.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per pair of vertices with a common neighbor, sorted by source and target, with the columns
        ``source`` and ``target`` (the dtype of the ids) and ``weight`` (float64). The source has the
        smaller id.

    Raises
    ------
    UsageError
        The graph is undirected.
    EdgeListError
        An edge begins and another one ends at the same vertex, so the graph is not bipartite. Raised when
        the result is computed.
    WeightError
        A weight is negative, infinite or NaN, or the weights of a vertex's edges are on average below
        2**-57 of the largest sum of the weights of a vertex's edges. Raised when the result is computed.

    References
    ----------
    .. [1] T. Zhou, J. Ren, M. Medo, Y.-C. Zhang, "Bipartite Network Projection and Personal
       Recommendation", Physical Review E 76, 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> bought = pd.DataFrame(
    ...     {"who": ["ada", "ada", "bob", "eve"], "what": ["tea", "rice", "tea", "rice"]}
    ... )
    >>> gf.bipartite_projection(bought, source="who", target="what", side="source").compute()
      source target  weight
    0    ada    bob     1.0
    1    ada    eve     1.0
    """
    begins, ends = g.degrees > 0, count_entering(g) > 0
    if g.count_true(begins & ends):
        both = g.show(gather(g, g.numbers[begins & ends]).min()[None])
        raise EdgeListError(
            f"edges begin and end at vertex {both}, so the graph is not bipartite. If it stands for two "
            "things with the same id, give the ids of each side a prefix of their own; otherwise leave out "
            "the edges in one of the two directions"
        )
    neighbors = CommonNeighbors(g.undirected, SCORES[measure], by_rarity=measure == "adamic_adar")
    columns = neighbors.score_once(begins if side == "source" else ends)
    return Answer(dict(zip(("source", "target", "weight"), columns, strict=True)))
