"""PageRank and HITS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .converted import ConvertedGraph, Node
from .registry import networkx_function

# NetworkX's solver for HITS counts restarts as iterations. Each of them has up to 20 products.
HITS_PRODUCTS = 20


@networkx_function
def pagerank(
    G: ConvertedGraph,
    alpha: float,
    personalization: Any,
    max_iter: int,
    tol: float,
    nstart: Any,
    weight: Any,
    dangling: Any,
) -> dict[Node, float]:
    """Return the PageRank of each node."""
    vectors: dict[str, Any] = {
        "personalization": _vector(G, personalization),
        "nstart": _vector(G, nstart),
        "dangling": _vector(G, dangling),
    }
    restarts = vectors["personalization"]
    if restarts is not None and len(G) and not restarts.value.sum():
        raise ZeroDivisionError("the personalization values of the nodes sum to 0")
    ranks = G.run("pagerank", weight, alpha=alpha, max_iter=max_iter, tol=tol, **vectors)
    return G.by_node(ranks.pagerank)


def _vector(G: ConvertedGraph, values: Any) -> pd.DataFrame | None:
    """Return a dict keyed by node as a frame. Nodes that are not in the dict get 0."""
    if values is None or not len(G):
        return None
    column = np.array([values.get(node, 0) for node in G.nodes], np.float64)
    return pd.DataFrame({"vertex": np.arange(len(G)), "value": column})


@networkx_function
def hits(
    G: ConvertedGraph, max_iter: int, tol: float
) -> tuple[dict[Node, float], dict[Node, float]]:
    """Return the hub score and the authority score of each node."""
    scores = G.run("hits", "weight", max_iter=max_iter * HITS_PRODUCTS, tol=tol)
    return G.by_node(scores.hub), G.by_node(scores.authority)
