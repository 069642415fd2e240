"""What the NetworkX backend "graphflow" offers, in a package that imports nothing.

NetworkX calls :func:`get_info` whenever it is imported. Importing ``dask_graphflow`` takes about a second,
so NetworkX imports that only when a function is called with this backend.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["FUNCTIONS", "Function", "get_info"]


class Function(NamedTuple):
    """What the backend says about a function of NetworkX.

    Attributes
    ----------
    unsupported : tuple of str
        Options that have to keep their default value.
    unsupported_graphs : tuple of str
        Types of graphs that are left to NetworkX: "directed" or "multigraph".
    note : str
        What else is not supported, as a sentence.
    least_edges : int, optional
        The number of edges from which a call with the conversion of its graph is faster than NetworkX. None
        if NetworkX takes no longer than the conversion. ``python -m benchmarks networkx-backend`` measures
        it.
    least_converted : int, optional
        The same for a graph that was converted before.
    """

    unsupported: tuple[str, ...] = ()
    unsupported_graphs: tuple[str, ...] = ()
    note: str = ""
    least_edges: int | None = 10_000
    least_converted: int | None = 10_000


#: The functions of the backend. A file in ``dask_graphflow/nx_backend`` implements each of them.
FUNCTIONS: dict[str, Function] = {
    "adamic_adar_index": Function(note="`ebunch` is required."),
    "ancestors": Function(least_edges=None),
    "average_clustering": Function(unsupported=("weight",), unsupported_graphs=("directed",)),
    "bellman_ford_path": Function(),
    "bellman_ford_path_length": Function(),
    "betweenness_centrality": Function(unsupported=("weight",)),
    "bfs_edges": Function(unsupported=("sort_neighbors",), least_edges=None),
    "bfs_layers": Function(least_edges=None),
    "bfs_predecessors": Function(unsupported=("sort_neighbors",), least_edges=None),
    "bfs_successors": Function(unsupported=("sort_neighbors",), least_edges=None),
    "bfs_tree": Function(unsupported=("sort_neighbors",), least_edges=None),
    "closeness_centrality": Function(unsupported=("u", "distance"), least_edges=1000),
    "clustering": Function(unsupported=("weight",), unsupported_graphs=("directed",)),
    "connected_components": Function(least_edges=None),
    "core_number": Function(),
    "degree_centrality": Function(least_edges=None),
    "descendants": Function(least_edges=None),
    "descendants_at_distance": Function(least_edges=None),
    "dijkstra_path": Function(),
    "dijkstra_path_length": Function(),
    "ego_graph": Function(unsupported=("undirected",), least_edges=None),
    "eigenvector_centrality": Function(unsupported=("nstart",)),
    "greedy_color": Function(
        unsupported=("strategy", "interchange"), unsupported_graphs=("directed",)
    ),
    "harmonic_centrality": Function(
        unsupported=("nbunch", "distance", "sources"), least_edges=1000
    ),
    "has_path": Function(least_edges=None),
    "hits": Function(unsupported=("nstart", "normalized")),
    "in_degree_centrality": Function(least_edges=None),
    "is_connected": Function(least_edges=None),
    "is_strongly_connected": Function(least_edges=None),
    "is_weakly_connected": Function(least_edges=None),
    "jaccard_coefficient": Function(note="`ebunch` is required."),
    "k_core": Function(unsupported=("core_number",)),
    "k_crust": Function(unsupported=("core_number",)),
    "k_shell": Function(unsupported=("core_number",)),
    "k_truss": Function(),
    "katz_centrality": Function(unsupported=("nstart",)),
    "leiden_communities": Function(unsupported=("max_level",)),
    "louvain_communities": Function(unsupported=("max_level",), unsupported_graphs=("directed",)),
    "maximal_independent_set": Function(unsupported=("nodes",)),
    "maximum_spanning_edges": Function(
        unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "maximum_spanning_tree": Function(
        unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "minimum_spanning_edges": Function(
        unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "minimum_spanning_tree": Function(
        unsupported=("algorithm",), unsupported_graphs=("multigraph",)
    ),
    "modularity": Function(unsupported_graphs=("directed",), least_edges=None),
    "multi_source_dijkstra": Function(),
    "multi_source_dijkstra_path": Function(),
    "multi_source_dijkstra_path_length": Function(),
    "node_connected_component": Function(least_edges=None),
    "number_connected_components": Function(least_edges=None),
    "number_strongly_connected_components": Function(least_edges=None),
    "number_weakly_connected_components": Function(least_edges=None),
    "out_degree_centrality": Function(least_edges=None),
    "pagerank": Function(),
    "shortest_path": Function(note="`source` or `target` is required."),
    "shortest_path_length": Function(note="`source` or `target` is required."),
    "single_source_bellman_ford": Function(),
    "single_source_bellman_ford_path": Function(),
    "single_source_bellman_ford_path_length": Function(),
    "single_source_dijkstra": Function(),
    "single_source_dijkstra_path": Function(),
    "single_source_dijkstra_path_length": Function(),
    "single_source_shortest_path": Function(least_edges=None),
    "single_source_shortest_path_length": Function(least_edges=None),
    "single_target_shortest_path": Function(least_edges=None),
    "single_target_shortest_path_length": Function(least_edges=None),
    "strongly_connected_components": Function(least_edges=None),
    "transitivity": Function(unsupported_graphs=("directed",)),
    "triangles": Function(),
    "weakly_connected_components": Function(least_edges=None),
}


def get_info() -> dict[str, Any]:
    """Return what NetworkX shows about the backend and its functions in its documentation."""
    functions = {}
    for name, function in FUNCTIONS.items():
        options = ", ".join(f"`{option}`" for option in function.unsupported)
        kinds = " or ".join(function.unsupported_graphs)
        notes = [
            f"These options are not supported: {options}." if options else "",
            f"A {kinds} graph is left to NetworkX." if kinds else "",
            function.note,
        ]
        functions[name] = {"additional_docs": " ".join(filter(None, notes))} if any(notes) else {}
    return {
        "backend_name": "graphflow",
        "project": "dask-graphflow",
        "package": "dask_graphflow",
        "short_summary": "Parallel graph algorithms on all cores of one machine.",
        "functions": functions,
    }
