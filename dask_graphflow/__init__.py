"""Large-graph analytics on Dask DataFrames."""

from __future__ import annotations

from dask_graphflow import costs, exceptions, plot
from dask_graphflow.api.accessor import GraphflowAccessor as _GraphflowAccessor  # noqa: F401
from dask_graphflow.api.components import connected_components
from dask_graphflow.api.estimate import calibrate, estimate
from dask_graphflow.api.functions import (
    betweenness_centrality,
    bfs,
    closeness_centrality,
    clustering,
    community_metrics,
    core_number,
    degree_centrality,
    degrees,
    ego_graph,
    eigenvector_centrality,
    greedy_color,
    harmonic_centrality,
    hits,
    induced_subgraph,
    k_core,
    k_truss,
    katz_centrality,
    label_propagation,
    leiden,
    louvain,
    maximal_independent_set,
    minimum_spanning_forest,
    neighbors,
    pagerank,
    personalized_pagerank,
    random_walks,
    sample_neighbors,
    similarity,
    sssp,
    strongly_connected_components,
    triangle_count,
    truss_number,
)
from dask_graphflow.api.graph import Graph
from dask_graphflow.api.paths import shortest_paths
from dask_graphflow.api.versions import show_versions
from dask_graphflow.graph.shares import Hybrid
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.scheduling.hybrid_cluster import hybrid_cluster

from .exceptions import GraphflowError
from .graph import generate

__all__ = [
    "EdgeOp",
    "Graph",
    "GraphflowError",
    "Hybrid",
    "__version__",
    "betweenness_centrality",
    "bfs",
    "calibrate",
    "closeness_centrality",
    "clustering",
    "community_metrics",
    "connected_components",
    "core_number",
    "costs",
    "degree_centrality",
    "degrees",
    "ego_graph",
    "eigenvector_centrality",
    "estimate",
    "exceptions",
    "generate",
    "greedy_color",
    "harmonic_centrality",
    "hits",
    "hybrid_cluster",
    "induced_subgraph",
    "k_core",
    "k_truss",
    "katz_centrality",
    "label_propagation",
    "leiden",
    "louvain",
    "maximal_independent_set",
    "minimum_spanning_forest",
    "neighbors",
    "pagerank",
    "personalized_pagerank",
    "plot",
    "random_walks",
    "sample_neighbors",
    "shortest_paths",
    "show_versions",
    "similarity",
    "sssp",
    "strongly_connected_components",
    "triangle_count",
    "truss_number",
]

__version__ = "0.1.0"
