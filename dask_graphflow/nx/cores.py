"""Core numbers, and the subgraphs of cores and trusses."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from .converted import ConvertedGraph, Node
from .registry import networkx_function, register


@networkx_function
def core_number(G: ConvertedGraph) -> dict[Node, int]:
    """Return the core number of each node."""
    return G.by_node(_cores(G))


@networkx_function
def k_truss(G: ConvertedGraph, k: float) -> ConvertedGraph:
    """Return the subgraph of the edges that are in at least k - 2 of its triangles."""
    _refuse_self_loops(G)
    kept = G.which_edges(G.run("k_truss", k=max(2, math.ceil(k))))
    nodes = np.zeros(len(G), bool)
    nodes[G.sources[kept]] = nodes[G.targets[kept]] = True
    return G.subgraph(nodes, kept)


def _compare(
    compare: Callable[[Any, Any], Any], less: int, G: ConvertedGraph, k: int | None
) -> ConvertedGraph:
    """Return the subgraph of the nodes whose core numbers are at least k, k, or at most k."""
    cores = _cores(G)
    return G.subgraph(compare(cores, max(cores) - less if k is None else k))


register("k_core", partial(_compare, operator.ge, 0))
register("k_shell", partial(_compare, operator.eq, 0))
register("k_crust", partial(_compare, operator.le, 1))


@networkx_function
def k_corona(G: ConvertedGraph, k: int) -> ConvertedGraph:
    """Return the subgraph of the nodes of the k-core that have exactly k neighbors in it."""
    cores = _cores(G).to_numpy()
    ends = [(G.sources, G.targets)] + ([] if G.directed else [(G.targets, G.sources)])
    neighbors = sum(np.bincount(node[cores[other] >= k], minlength=len(G)) for node, other in ends)
    return G.subgraph((cores == k) & (neighbors == k))


def _cores(G: ConvertedGraph) -> pd.Series:
    _refuse_self_loops(G)
    return G.run("core_number").core


def _refuse_self_loops(G: ConvertedGraph) -> None:
    if (G.sources == G.targets).any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
