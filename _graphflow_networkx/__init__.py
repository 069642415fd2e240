"""What the NetworkX backend "graphflow" offers, in a package that imports nothing.

NetworkX calls :func:`get_info` whenever it is imported. Importing ``dask_graphflow.nx`` takes about a
second, so that happens only when a call runs on this backend; see ``backend.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["FUNCTIONS", "Function", "get_info"]


class Function(NamedTuple):
    """What the backend says about a function of NetworkX.

    Attributes
    ----------
    least_edges : int, optional
        The number of edges from which a call with the conversion of its graph is faster than NetworkX. None
        if NetworkX takes no longer than the conversion. ``python -m benchmarks networkx-backend`` measures
        it.
    least_converted : int, optional
        The same for a graph that was converted before.
    unsupported : tuple of str
        Options that have to keep their default value.
    unsupported_graphs : tuple of str
        Types of graphs that are left to NetworkX: "directed" or "multigraph".
    needs : tuple of str
        Options of which one has to be given.
    """

    least_edges: int | None
    least_converted: int | None
    unsupported: tuple[str, ...] = ()
    unsupported_graphs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


#: The functions of the backend. A file in ``dask_graphflow/nx`` implements each of them.
FUNCTIONS: dict[str, Function] = {
    "adamic_adar_index": Function(None, 100_000, needs=("ebunch",)),
    "all_pairs_bellman_ford_path": Function(1000, 1000),
    "all_pairs_bellman_ford_path_length": Function(1000, 1000),
    "all_pairs_dijkstra": Function(None, None),
    "all_pairs_dijkstra_path": Function(1000, 1000),
    "all_pairs_dijkstra_path_length": Function(1000, 1000),
    "all_pairs_shortest_path": Function(None, None),
    "all_pairs_shortest_path_length": Function(1000, 1000),
    "all_simple_paths": Function(
        10_000, 2000, unsupported_graphs=("multigraph",), needs=("cutoff",)
    ),
    "ancestors": Function(None, 100_000),
    "articulation_points": Function(50_000, 5000),
    "attracting_components": Function(10_000, 2000),
    "average_clustering": Function(
        5000, 1000, unsupported=("weight",), unsupported_graphs=("directed",)
    ),
    "average_shortest_path_length": Function(2000, 1000),
    "bellman_ford_path": Function(50_000, 50_000),
    "bellman_ford_path_length": Function(50_000, 20_000),
    "betweenness_centrality": Function(5000, 2000),
    "bfs_edges": Function(None, 200_000, unsupported=("sort_neighbors",)),
    "bfs_layers": Function(None, 100_000),
    "bfs_predecessors": Function(None, 500_000, unsupported=("sort_neighbors",)),
    "bfs_successors": Function(None, 200_000, unsupported=("sort_neighbors",)),
    "bfs_tree": Function(200_000, 50_000, unsupported=("sort_neighbors",)),
    "bidirectional_dijkstra": Function(None, 100_000),
    "bidirectional_shortest_path": Function(None, None),
    "bridge_components": Function(5000, 2000),
    "bridges": Function(5000, 1000),
    "closeness_centrality": Function(5000, 2000, unsupported=("u", "sp")),
    "clustering": Function(5000, 2000, unsupported=("weight",), unsupported_graphs=("directed",)),
    "color": Function(None, 100_000),
    "connected_components": Function(None, 100_000),
    "core_number": Function(50_000, 5000),
    "degree_centrality": Function(None, 200_000),
    "descendants": Function(None, 100_000),
    "descendants_at_distance": Function(None, None),
    "dijkstra_path": Function(100_000, 50_000),
    "dijkstra_path_length": Function(None, 100_000),
    "edge_betweenness_centrality": Function(5000, 1000, unsupported_graphs=("multigraph",)),
    "ego_graph": Function(
        None, None, unsupported=("undirected",), unsupported_graphs=("multigraph",)
    ),
    "eigenvector_centrality": Function(10_000, 5000, unsupported=("nstart",)),
    "eppstein_matching": Function(5000, 5000, unsupported_graphs=("directed",)),
    "global_efficiency": Function(2000, 1000),
    "greedy_color": Function(
        100_000, 20_000, unsupported=("strategy", "interchange"), unsupported_graphs=("directed",)
    ),
    "harmonic_centrality": Function(5000, 2000, unsupported=("nbunch", "sources")),
    "has_bridges": Function(5000, 1000),
    "has_path": Function(None, None),
    "hits": Function(100_000, 50_000, unsupported=("nstart", "normalized", "method")),
    "hopcroft_karp_matching": Function(50_000, 10_000, unsupported_graphs=("directed",)),
    "in_degree_centrality": Function(None, 1_000_000),
    "is_arborescence": Function(None, 2000),
    "is_attracting_component": Function(20_000, 2000),
    "is_biconnected": Function(20_000, 10_000),
    "is_bipartite": Function(None, 100_000),
    "is_branching": Function(10_000, 2000),
    "is_connected": Function(None, 100_000),
    "is_directed_acyclic_graph": Function(200_000, 20_000),
    "is_eulerian": Function(None, None),
    "is_forest": Function(20_000, 2000),
    "is_semiconnected": Function(10_000, 10_000),
    "is_strongly_connected": Function(None, 200_000),
    "is_tree": Function(None, 2000),
    "is_weakly_connected": Function(None, 100_000),
    "jaccard_coefficient": Function(50_000, 20_000, needs=("ebunch",)),
    "k_core": Function(5000, 1000, unsupported=("core_number",)),
    "k_corona": Function(50_000, 5000, unsupported=("core_number",)),
    "k_crust": Function(5000, 1000, unsupported=("core_number",)),
    "k_shell": Function(5000, 1000, unsupported=("core_number",)),
    "k_truss": Function(10_000, 2000),
    "katz_centrality": Function(5000, 2000, unsupported=("nstart",)),
    "leiden_communities": Function(
        0, 0, unsupported=("max_level", "theta"), unsupported_graphs=("directed",)
    ),
    "louvain_communities": Function(2000, 1000, unsupported=("max_level",)),
    "maximal_independent_set": Function(50_000, 20_000, unsupported=("nodes",)),
    "maximum_flow": Function(
        1000, 1000, unsupported=("flow_func", "kwargs"), unsupported_graphs=("multigraph",)
    ),
    "maximum_flow_value": Function(
        2000, 1000, unsupported=("flow_func", "kwargs"), unsupported_graphs=("multigraph",)
    ),
    "maximum_spanning_edges": Function(
        50_000, 20_000, unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "maximum_spanning_tree": Function(
        10_000, 10_000, unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "minimum_cut": Function(
        1000, 1000, unsupported=("flow_func", "kwargs"), unsupported_graphs=("multigraph",)
    ),
    "minimum_cut_value": Function(
        1000, 1000, unsupported=("flow_func", "kwargs"), unsupported_graphs=("multigraph",)
    ),
    "minimum_spanning_edges": Function(
        50_000, 20_000, unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "minimum_spanning_tree": Function(
        10_000, 10_000, unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "modularity": Function(50_000, 10_000),
    "multi_source_dijkstra": Function(100_000, 50_000),
    "multi_source_dijkstra_path": Function(100_000, 50_000),
    "multi_source_dijkstra_path_length": Function(100_000, 50_000),
    "node_connected_component": Function(None, 200_000),
    "number_attracting_components": Function(10_000, 2000),
    "number_connected_components": Function(None, 100_000),
    "number_strongly_connected_components": Function(50_000, 20_000),
    "number_weakly_connected_components": Function(None, 100_000),
    "out_degree_centrality": Function(None, None),
    "pagerank": Function(50_000, 20_000),
    "preferential_attachment": Function(None, 1000, needs=("ebunch",)),
    "sets": Function(10_000, 10_000),
    "shortest_path": Function(None, 200_000, needs=("source", "target")),
    "shortest_path_length": Function(None, 200_000, needs=("source", "target")),
    "simple_cycles": Function(5000, 2000, needs=("length_bound",)),
    "single_source_bellman_ford": Function(100_000, 50_000),
    "single_source_bellman_ford_path": Function(50_000, 20_000),
    "single_source_bellman_ford_path_length": Function(50_000, 50_000),
    "single_source_dijkstra": Function(100_000, 50_000),
    "single_source_dijkstra_path": Function(100_000, 50_000),
    "single_source_dijkstra_path_length": Function(100_000, 50_000),
    "single_source_shortest_path": Function(None, 200_000),
    "single_source_shortest_path_length": Function(None, 200_000),
    "single_target_shortest_path": Function(None, 200_000),
    "single_target_shortest_path_length": Function(None, 100_000),
    "strongly_connected_components": Function(100_000, 50_000),
    "topological_generations": Function(500_000, 50_000),
    "topological_sort": Function(200_000, 50_000),
    "transitivity": Function(5000, 1000, unsupported_graphs=("directed",)),
    "triangles": Function(20_000, 5000),
    "weakly_connected_components": Function(None, 100_000),
    "wiener_index": Function(2000, 1000),
}


def get_info() -> dict[str, Any]:
    """Return what NetworkX shows about the backend and its functions in its documentation."""
    functions = {}
    for name, function in FUNCTIONS.items():
        options = ", ".join(f"`{option}`" for option in function.unsupported)
        kinds = " or ".join(function.unsupported_graphs)
        needed = " or ".join(f"`{option}`" for option in function.needs)
        notes = [
            f"These options are not supported: {options}." if options else "",
            f"A {kinds} graph is left to NetworkX." if kinds else "",
            f"{needed} is required." if needed else "",
        ]
        functions[name] = {"additional_docs": " ".join(filter(None, notes))} if any(notes) else {}
    return {
        "backend_name": "graphflow",
        "project": "dask-graphflow",
        "package": "dask_graphflow",
        "short_summary": "Parallel graph algorithms on all cores of one machine.",
        "functions": functions,
    }
