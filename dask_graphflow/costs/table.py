"""Passes over the edges, supersteps and memory of each algorithm; :class:`.Cost` explains the numbers."""

from __future__ import annotations

import math

from .cost import FUSED, Cost, Steps

ITERATIONS = 100  # default of the option `max_iter`
TOLERANCE = 1e-6  # default of the option `tol`
MIXING = 0.4  # ratio of the changes that two successive power iterations make
BLOCK = 1 << 24  # number of pairs that similarity lists at a time


def _iterations(vertices: int, degree: float) -> float:
    """Return the number of iterations after which scores change by less than the tolerance per vertex."""
    change = TOLERANCE * max(vertices, 1) / 2
    return min(max(1 + math.log(change) / math.log(MIXING), 1), ITERATIONS)


CONVERGING = Steps("the number of iterations", _iterations, lambda diameter: ITERATIONS)


def _pairs_listed(vertices: int, wedges: float, k: int | None, top_k: int | None) -> float:
    """Return the number of rows of k given pairs, or of a block and the result of all similar pairs."""
    if k is not None:
        return k
    return min(wedges, BLOCK) + min(wedges, top_k * vertices if top_k else math.inf)


def _rows_listed(vertices: int, wedges: float, k: int | None, top_k: int | None) -> float:
    """Return the number of rows of a result with one row per source and vertex."""
    return (k or vertices) * min(vertices, top_k or vertices)


COSTS = {
    "articulation_points": Cost("searches", Steps.levels(), passes=1.5, step=FUSED, scratch=110),
    "betweenness_centrality": Cost(
        "labels",
        Steps.levels(3),
        passes=1,
        step=FUSED,
        sources=1,
        rows=1,
        copies=1,
        scratch=115,
    ),
    "bfs": Cost(
        "searches",
        Steps.levels(),
        passes=1,
        step=FUSED,
        sparse=25,
        scratch=75,
    ),
    "bridges": Cost("searches", Steps.levels(), passes=1.5, step=FUSED, scratch=110),
    "closeness_centrality": Cost(
        "labels", Steps.levels(), passes=4, step=FUSED, sparse=12, sources=64, rows=1, scratch=260
    ),
    "clustering": Cost("labels", 1, passes=5, rows=1, copies=1, scratch=95),
    "community_metrics": Cost("labels", 0, passes=3, scratch=60, edge=40),
    "connected_components": Cost("labels", 1, passes=0.4, sparse=3, scratch=24),
    "core_number": Cost("labels", Steps.rounds(0.5, 0.01), passes=1, rows=1, copies=1),
    "degree_centrality": Cost("labels", 0, passes=0.6),
    "degrees": Cost("labels", 0, passes=0.6),
    "edge_betweenness_centrality": Cost(
        "labels",
        Steps.levels(3),
        passes=3,
        step=FUSED,
        sources=1,
        rows=1,
        copies=1,
        scratch=115,
        edge=60,
    ),
    "ego_graph": Cost("searches", 1, passes=2, scratch=55),
    "eigenvector_centrality": Cost(
        "pulls", CONVERGING, each=1, sparse=10, rows=1.7, copies=1, scratch=90
    ),
    "greedy_color": Cost(
        "labels", Steps.rounds(3, 0.3), passes=1, step=FUSED, rows=1, copies=1, scratch=80
    ),
    "harmonic_centrality": Cost(
        "labels", Steps.levels(), passes=4, step=FUSED, sparse=12, sources=64, rows=1, scratch=260
    ),
    "hits": Cost("pulls", CONVERGING, each=2, sparse=4, rows=1.7, copies=2, scratch=80),
    "induced_subgraph": Cost("labels", 0, passes=1),
    "k_core": Cost("labels", Steps.rounds(0.03, 0.03), passes=2.5, rows=1, copies=1, edge=20),
    "k_truss": Cost(
        "labels", Steps.rounds(0.1, 0.05), passes=24, sparse=0.3, rows=1, copies=1, edge=150
    ),
    "katz_centrality": Cost("pulls", CONVERGING, each=1, sparse=4, rows=1.7, copies=1, scratch=90),
    "label_propagation": Cost("labels", 10, each=0.5, sparse=1.6, scratch=60),
    "leiden": Cost("labels", 1500, passes=20, sparse=2, rows=3, copies=2, scratch=200),
    "louvain": Cost("labels", 1000, passes=10, sparse=2, rows=2, copies=2, scratch=150),
    "maximal_independent_set": Cost(
        "labels", Steps.rounds(0.05, 0.05), passes=1.2, rows=1, copies=1
    ),
    "minimum_spanning_forest": Cost("labels", 0, passes=1.6, sparse=5, scratch=85, edge=20),
    "neighbors": Cost("labels", 0, passes=1),
    "pagerank": Cost("pulls", CONVERGING, each=1, sparse=4, rows=1.7, copies=1, scratch=75),
    "personalized_pagerank": Cost(
        "pulls",
        CONVERGING,
        each=20,
        sources=16,
        scratch=450,
        listed=_rows_listed,
    ),
    "random_walks": Cost("labels", 80, passes=0.1, step=FUSED),
    "sample_neighbors": Cost("labels", 2, passes=0.1),
    "similarity": Cost("labels", 1, passes=6, wedges=2.5, rows=1, copies=1, listed=_pairs_listed),
    "sssp": Cost(
        "paths",
        Steps.levels(),
        passes=1,
        step=FUSED,
        sparse=3,
        rows=1,
        copies=1,
        scratch=44,
    ),
    "strongly_connected_components": Cost("labels", Steps.levels(2), passes=2),
    "topological_order": Cost("labels", Steps.rounds(0.2, 2), passes=2, step=FUSED),
    "triangle_count": Cost("labels", 1, passes=5, rows=1, copies=1),
    "truss_number": Cost(
        "labels", Steps.rounds(0.2, 0.1), passes=95, sparse=0.15, rows=1, copies=1, edge=160
    ),
}
# The same functions with `by_source`, if `k` sources are given.
BY_SOURCE = {
    "bfs": Cost(
        "searches", Steps.levels(), passes=6, step=1e-4, sources=64, scratch=600, listed=_rows_listed
    ),
    "sssp": Cost(
        "paths", Steps.levels(), passes=1, step=FUSED, sparse=3, sources=1, rows=1, copies=1,
        scratch=44, listed=_rows_listed,
    ),
}  # fmt: skip


def _by_weight(passes: float, *, edge: int = 0) -> Cost:
    """Return the cost of a search for weighted distances from each source."""
    return Cost(
        "paths",
        Steps.levels(),
        passes=passes,
        step=FUSED,
        sparse=3,
        sources=1,
        rows=1,
        copies=1,
        scratch=150,
        edge=24 + edge,
    )


WEIGHTED = {
    "betweenness_centrality": _by_weight(1.5),
    "closeness_centrality": _by_weight(1),
    "edge_betweenness_centrality": _by_weight(2, edge=40),
    "harmonic_centrality": _by_weight(1),
}
"""Costs of the calls that take another way if edges have weights, and can be made without."""
