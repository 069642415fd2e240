"""Passes over the edges, supersteps and memory of each algorithm; :class:`.Cost` explains the numbers."""

from __future__ import annotations

from dask_graphflow.algorithms.personalized_pagerank import WIDTH

from .cost import Cost, buckets, converging, levels, pairs_listed, rounds, scores_listed

__all__ = ["COSTS"]

COSTS = {
    "betweenness_centrality": Cost(
        "labels", levels(3), passes=3, sources=1, rows=1, copies=1, scratch=150
    ),
    "bfs": Cost(
        "searches",
        levels(),
        passes=1,
        fused=True,
        sparse_kernel="labels",
        both_ways=True,
        scratch=75,
        reference=True,
    ),
    "closeness_centrality": Cost(
        "labels", levels(), passes=4, sparse=80, sources=64, rows=1, both_ways=True, scratch=105
    ),
    "clustering": Cost("labels", 1, passes=5, rows=1, copies=1, scratch=95),
    "community_metrics": Cost("labels", 0, passes=3, scratch=60, edge=40),
    "connected_components": Cost("labels", 1, passes=0.4, sparse=3, scratch=24),
    "core_number": Cost("labels", rounds(0.5, 0.01), passes=1, rows=1, copies=1),
    "degree_centrality": Cost("labels", 0, passes=0.6, both_ways=True),
    "degrees": Cost("labels", 0, passes=0.6, both_ways=True),
    "ego_graph": Cost("searches", 1, passes=2, both_ways=True, scratch=55),
    "eigenvector_centrality": Cost(
        "pulls", converging, each=1, sparse=10, rows=1.7, copies=1, scratch=90
    ),
    "greedy_color": Cost("labels", rounds(3, 0.3), passes=6, rows=1, copies=1, scratch=100),
    "harmonic_centrality": Cost(
        "labels", levels(), passes=4, sparse=80, sources=64, rows=1, both_ways=True, scratch=105
    ),
    "hits": Cost(
        "pulls", converging, each=2, sparse=4, rows=1.7, copies=2, both_ways=True, scratch=80
    ),
    "induced_subgraph": Cost("labels", 0, passes=1),
    "k_core": Cost("labels", rounds(0.03, 0.03), passes=2.5, rows=1, copies=1, edge=20),
    "k_truss": Cost("labels", rounds(0.1, 0.05), passes=24, sparse=0.3, rows=1, copies=1, edge=150),
    "katz_centrality": Cost("pulls", converging, each=1, sparse=4, rows=1.7, copies=1, scratch=90),
    "label_propagation": Cost(
        "labels", 10, each=0.5, sparse=1.6, both_ways=True, scratch=60, reference=True
    ),
    "leiden": Cost("labels", 1500, passes=40, sparse=2, rows=6, copies=2, scratch=200),
    "louvain": Cost("labels", 1000, passes=16, sparse=2, rows=4, copies=2, scratch=150),
    "maximal_independent_set": Cost("labels", rounds(0.05, 0.05), passes=1.2, rows=1, copies=1),
    "minimum_spanning_forest": Cost("labels", 0, passes=1.6, sparse=5, scratch=85, edge=20),
    "neighbors": Cost("labels", 0, passes=1),
    "pagerank": Cost(
        "pulls", converging, each=1, sparse=4, rows=1.7, copies=1, scratch=75, reference=True
    ),
    "personalized_pagerank": Cost(
        "pulls",
        converging,
        each=20,
        sources=WIDTH,
        both_ways=True,
        scratch=450,
        listed=scores_listed,
    ),
    "random_walks": Cost("labels", 80, passes=0.1, fused=True),
    "sample_neighbors": Cost("labels", 2, passes=0.1),
    "similarity": Cost("labels", 1, passes=6, wedges=2.5, rows=1, copies=1, listed=pairs_listed),
    "sssp": Cost(
        "paths",
        buckets,
        passes=1,
        fused=True,
        sparse=3,
        rows=1,
        copies=1,
        scratch=44,
        reference=True,
    ),
    "strongly_connected_components": Cost("labels", levels(2), passes=2, both_ways=True),
    "triangle_count": Cost("labels", 1, passes=5, rows=1, copies=1),
    "truss_number": Cost(
        "labels", rounds(0.2, 0.1), passes=95, sparse=0.15, rows=1, copies=1, edge=160
    ),
}
