"""Independent sets."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def maximal_independent_set(G: ConvertedGraph, seed: Any) -> list[Node]:
    """Return nodes without an edge between them, to which no node can be added."""
    number = nx.utils.create_py_random_state(seed).randrange(2**31)
    selected = G.run("maximal_independent_set", seed=number).selected.to_numpy()
    return G.nodes_at(selected.nonzero()[0])
