"""Scores of pairs of nodes, by their common neighbors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from .converted import ConvertedGraph, Node
from .registry import networkx_function, register
from .searches import require

Scores = Iterator[tuple[Node, Node, float]]
ALL_PAIRS = "all pairs of nodes without an edge are not supported; give ebunch="


def _scores(measure: str, G: ConvertedGraph, ebunch: Iterable[tuple[Node, Node]] | None) -> Scores:
    """Return pairs of nodes, each with its score."""
    pairs = _pairs(G, ebunch)
    if (G.sources == G.targets).any():
        raise NotImplementedError("the graph has self-loops, which NetworkX counts as neighbors")
    if not pairs:
        return iter(())
    first, second = zip(*pairs, strict=True)
    ends = [[G.positions[node] for node in side] for side in (first, second)]
    frame = pd.DataFrame({"first": ends[0], "second": ends[1]})
    if measure == "adamic_adar" and (frame["first"] == frame["second"]).any():
        # It can have neighbors with a single edge, for which NetworkX divides by 0.
        raise NotImplementedError("a pair has the same node twice")
    scores = G.run("similarity", pairs=frame, measure=measure).score.tolist()
    return zip(first, second, scores, strict=True)


@networkx_function
def preferential_attachment(
    G: ConvertedGraph, ebunch: Iterable[tuple[Node, Node]] | None
) -> Scores:
    """Return pairs of nodes, each with the product of their degrees."""
    pairs = _pairs(G, ebunch)
    degrees = np.bincount(np.concatenate([G.sources, G.targets]), minlength=len(G)).tolist()
    return ((a, b, degrees[G.positions[a]] * degrees[G.positions[b]]) for a, b in pairs)


def _pairs(
    G: ConvertedGraph, ebunch: Iterable[tuple[Node, Node]] | None
) -> list[tuple[Node, Node]]:
    """Return the given pairs, or raise if a node is not in the graph."""
    if ebunch is None:
        raise NotImplementedError(ALL_PAIRS)
    pairs = list(ebunch)
    for node in itertools.chain.from_iterable(pairs):
        require(G, "Node {} not in G.", node)
    return pairs


register("jaccard_coefficient", partial(_scores, "jaccard"))
register("adamic_adar_index", partial(_scores, "adamic_adar"))
