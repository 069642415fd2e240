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
    linear : bool
        Whether NetworkX itself needs one pass over the edges, like the conversion of a graph. Such a
        function is worth a call only if the graph was converted before.
    least_edges : int
        The number of edges from which a call is faster than in NetworkX.
    """

    unsupported: tuple[str, ...] = ()
    linear: bool = False
    least_edges: int = 5000


#: The functions of the backend. ``dask_graphflow/nx_backend/functions.py`` implements each of them.
FUNCTIONS: dict[str, Function] = {
    "ancestors": Function(linear=True),
    "bellman_ford_path_length": Function(),
    "betweenness_centrality": Function(unsupported=("k", "weight")),
    "closeness_centrality": Function(unsupported=("u", "distance"), least_edges=300),
    "connected_components": Function(linear=True),
    "core_number": Function(),
    "degree_centrality": Function(linear=True),
    "descendants": Function(linear=True),
    "descendants_at_distance": Function(linear=True),
    "dijkstra_path_length": Function(),
    "eigenvector_centrality": Function(unsupported=("nstart",)),
    "harmonic_centrality": Function(unsupported=("nbunch", "distance", "sources"), least_edges=300),
    "has_path": Function(linear=True),
    "hits": Function(unsupported=("nstart", "normalized")),
    "in_degree_centrality": Function(linear=True),
    "is_connected": Function(linear=True),
    "is_strongly_connected": Function(linear=True),
    "is_weakly_connected": Function(linear=True),
    "k_core": Function(unsupported=("core_number",)),
    "katz_centrality": Function(unsupported=("nstart",)),
    "multi_source_dijkstra_path_length": Function(),
    "node_connected_component": Function(linear=True),
    "number_connected_components": Function(linear=True),
    "number_strongly_connected_components": Function(linear=True),
    "number_weakly_connected_components": Function(linear=True),
    "out_degree_centrality": Function(linear=True),
    "pagerank": Function(),
    "single_source_bellman_ford_path_length": Function(),
    "single_source_dijkstra_path_length": Function(),
    "single_source_shortest_path_length": Function(linear=True),
    "single_target_shortest_path_length": Function(linear=True),
    "weakly_connected_components": Function(linear=True),
}


def get_info() -> dict[str, Any]:
    """Return what NetworkX shows about the backend and its functions in its documentation."""
    functions = {}
    for name, function in FUNCTIONS.items():
        options = ", ".join(f"`{option}`" for option in function.unsupported)
        note = f"These options are not supported: {options}." if options else ""
        functions[name] = {"additional_docs": note} if note else {}
    return {
        "backend_name": "graphflow",
        "project": "dask-graphflow",
        "package": "dask_graphflow",
        "short_summary": "Parallel graph algorithms on all cores of one machine.",
        "functions": functions,
    }
