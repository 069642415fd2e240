"""The algorithms as functions and as methods of a frame, written by ``python3 dev.py generate``."""

from collections.abc import Sequence
from typing import Any, Literal, overload

from dask.dataframe import DataFrame

from .graph import Graph
from .signatures import Described
from .types import ColumnName, ColumnNames, Edges, Listener

# fmt: off

Pair = tuple[DataFrame, DataFrame]

__all__ = [
    "articulation_points", "betweenness_centrality", "bfs", "bipartite_matching", "bipartite_projection",
    "bridges", "closeness_centrality", "clustering", "community_metrics", "connected_components",
    "core_number", "degree_centrality", "degrees", "diameter", "earliest_arrival", "eccentricity",
    "edge_betweenness_centrality", "ego_graph", "eigenvector_centrality", "fast_rp", "greedy_color",
    "harmonic_centrality", "hits", "induced_subgraph", "k_core", "k_shortest_paths", "k_truss",
    "katz_centrality", "label_propagation", "leiden", "louvain", "maximal_independent_set", "maximum_flow",
    "minimum_cut", "minimum_spanning_forest", "motif_counts", "neighbors", "pagerank",
    "personalized_pagerank", "random_walks", "sample_neighbors", "similarity", "simple_cycles",
    "simple_paths", "sssp", "strongly_connected_components", "topological_order", "triangle_count",
    "truss_number",
]

def describe(name: str) -> Described: ...

@overload
def articulation_points(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def articulation_points(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def articulation_points(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def betweenness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
    normalized: bool = True, endpoints: bool = False, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def betweenness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
    normalized: bool = True, endpoints: bool = False, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def betweenness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
    normalized: bool = True, endpoints: bool = False, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def bfs(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool | None = None, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, targets: Any = None, depth_limit: int | None = None,
    direction: Literal['gemini', 'beamer', 'push', 'pull'] = 'beamer', by_source: bool = False,
    previous: Any = None, trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def bfs(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool | None = None, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, targets: Any = None, depth_limit: int | None = None,
    direction: Literal['gemini', 'beamer', 'push', 'pull'] = 'beamer', by_source: bool = False,
    previous: Any = None, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def bfs(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool | None = None, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, targets: Any = None, depth_limit: int | None = None,
    direction: Literal['gemini', 'beamer', 'push', 'pull'] = 'beamer', by_source: bool = False,
    previous: Any = None, trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def bipartite_matching(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def bipartite_matching(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def bipartite_matching(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def bipartite_projection(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, side: Literal['source', 'target'], weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, measure:
    Literal['jaccard', 'sorensen', 'overlap', 'cosine', 'adamic_adar', 'common_neighbors'] =
    'common_neighbors', trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def bipartite_projection(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, side: Literal['source', 'target'], weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, measure:
    Literal['jaccard', 'sorensen', 'overlap', 'cosine', 'adamic_adar', 'common_neighbors'] =
    'common_neighbors', trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def bipartite_projection(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, side: Literal['source', 'target'], weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, measure:
    Literal['jaccard', 'sorensen', 'overlap', 'cosine', 'adamic_adar', 'common_neighbors'] =
    'common_neighbors', trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def bridges(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def bridges(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def bridges(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def closeness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, wf_improved: bool = True, k: int | None = None, seed: int = 0,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def closeness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, wf_improved: bool = True, k: int | None = None, seed: int = 0,
    trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def closeness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, wf_improved: bool = True, k: int | None = None, seed: int = 0,
    trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def clustering(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, previous: Any = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def clustering(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, previous: Any = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def clustering(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, previous: Any = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
def community_metrics(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, communities: Any, weight: ColumnName | None = ...,
    directed: bool = False, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None) -> DataFrame: ...
def connected_components(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, vertices: Any = None, weight: ColumnName | None = ...,
    threshold: float | None = None, thresholds: Sequence[float] | None = None, seed: Any = None,
    ids: Literal['smallest', 'stable'] = 'smallest', merge: Literal['tree', 'one-way', 'ring'] = 'tree',
    merge_chunks: int = 1,
    inputs: Literal['availability', 'round-robin'] | list[str] | tuple[str, ...] = 'availability',
    chunk_size: int | None = None, dropna: bool = False, device: Literal['gpu'] | None = None,
    renumber: bool = True, progress: Listener = False) -> DataFrame: ...
@overload
def core_number(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def core_number(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def core_number(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
def degree_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None) -> DataFrame: ...
def degrees(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool | None = None, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None) -> DataFrame: ...
@overload
def diameter(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def diameter(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def diameter(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
def earliest_arrival(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, departure: Any, directed: bool | None = None,
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, arrival: Any = None,
    duration: Any = None, timetable: Any = None, start: Any = None, reverse: bool = False) -> DataFrame: ...
@overload
def eccentricity(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def eccentricity(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def eccentricity(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def edge_betweenness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
    normalized: bool = True, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def edge_betweenness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
    normalized: bool = True, seed: int = 0, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def edge_betweenness_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
    normalized: bool = True, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def ego_graph(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    centers: Any, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, radius: int = 1, columns: ColumnNames | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def ego_graph(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    centers: Any, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, radius: int = 1, columns: ColumnNames | None = None,
    trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def ego_graph(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    centers: Any, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, radius: int = 1, columns: ColumnNames | None = None,
    trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def eigenvector_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-06,
    precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def eigenvector_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-06,
    precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
    trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def eigenvector_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-06,
    precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
    trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def fast_rp(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, dimensions: int = 128, weights: Sequence[float] = (0, 1, 1),
    normalization: float = -0.5, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def fast_rp(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, dimensions: int = 128, weights: Sequence[float] = (0, 1, 1),
    normalization: float = -0.5, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def fast_rp(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, dimensions: int = 128, weights: Sequence[float] = (0, 1, 1),
    normalization: float = -0.5, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def greedy_color(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def greedy_color(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def greedy_color(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def harmonic_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, seed: int = 0,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def harmonic_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def harmonic_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def hits(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-08,
    precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def hits(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-08,
    precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
    trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def hits(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-08,
    precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
    trace: bool = False, progress: Listener = False) -> Any: ...
def induced_subgraph(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, subset: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None,
    columns: ColumnNames | None = None) -> DataFrame: ...
@overload
def k_core(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, columns: ColumnNames | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def k_core(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, columns: ColumnNames | None = None,
    trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def k_core(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, k: int | None = None, columns: ColumnNames | None = None,
    trace: bool = False, progress: Listener = False) -> Any: ...
def k_shortest_paths(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, pairs: Any, k: int, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None) -> DataFrame: ...
@overload
def k_truss(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    k: int, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def k_truss(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    k: int, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def k_truss(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    k: int, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def katz_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
    tol: float = 1e-06, precision: Literal['float64', 'float32'] = 'float64', normalized: bool = True,
    fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def katz_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
    tol: float = 1e-06, precision: Literal['float64', 'float32'] = 'float64', normalized: bool = True,
    fail_on_nonconvergence: bool = True, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def katz_centrality(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
    tol: float = 1e-06, precision: Literal['float64', 'float32'] = 'float64', normalized: bool = True,
    fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def label_propagation(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 10, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def label_propagation(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 10, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def label_propagation(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, max_iter: int = 10, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def leiden(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, objective: Literal['modularity', 'cpm'] = 'modularity',
    resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
    max_community_size: int | None = None, seed: int = 0, previous: Any = None,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def leiden(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, objective: Literal['modularity', 'cpm'] = 'modularity',
    resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
    max_community_size: int | None = None, seed: int = 0, previous: Any = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def leiden(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, objective: Literal['modularity', 'cpm'] = 'modularity',
    resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
    max_community_size: int | None = None, seed: int = 0, previous: Any = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def louvain(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, resolution: float | list[float] = 1.0, tol: float = 1e-07,
    levels: int = 1, seed: int = 0, previous: Any = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def louvain(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, resolution: float | list[float] = 1.0, tol: float = 1e-07,
    levels: int = 1, seed: int = 0, previous: Any = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def louvain(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, resolution: float | list[float] = 1.0, tol: float = 1e-07,
    levels: int = 1, seed: int = 0, previous: Any = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def maximal_independent_set(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def maximal_independent_set(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def maximal_independent_set(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def maximum_flow(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, sinks: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def maximum_flow(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, sinks: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def maximum_flow(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, sinks: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def minimum_cut(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, sinks: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def minimum_cut(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, sinks: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def minimum_cut(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, sinks: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
def minimum_spanning_forest(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None) -> DataFrame: ...
@overload
def motif_counts(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, size: int = 3, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def motif_counts(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, size: int = 3, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def motif_counts(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, size: int = 3, trace: bool = False,
    progress: Listener = False) -> Any: ...
def neighbors(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, columns: ColumnNames | None = None) -> DataFrame: ...
@overload
def pagerank(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
    previous: Any = None, precision: Literal['float64', 'float32'] = 'float64',
    fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def pagerank(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
    previous: Any = None, precision: Literal['float64', 'float32'] = 'float64',
    fail_on_nonconvergence: bool = True, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def pagerank(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
    previous: Any = None, precision: Literal['float64', 'float32'] = 'float64',
    fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def personalized_pagerank(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, alpha: float = 0.85,
    max_iter: int = 100, tol: float | None = 1e-06, top_k: int | None = None,
    fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def personalized_pagerank(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, alpha: float = 0.85,
    max_iter: int = 100, tol: float | None = 1e-06, top_k: int | None = None,
    fail_on_nonconvergence: bool = True, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def personalized_pagerank(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, alpha: float = 0.85,
    max_iter: int = 100, tol: float | None = 1e-06, top_k: int | None = None,
    fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any: ...
def random_walks(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, starts: Any, length: int, weight: ColumnName | None = ...,
    directed: bool | None = None, multi: Literal['keep', 'sum', 'min', 'first'] = 'keep',
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None,
    walks_per_vertex: int = 1, p: float = 1.0, q: float = 1.0, seed: int = 0) -> DataFrame: ...
def sample_neighbors(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, seeds: Any, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, fanouts: Sequence[int] = (25, 10),
    replace: bool = False, seed: int = 0) -> DataFrame: ...
@overload
def similarity(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, pairs: Any = None, measure: Literal['jaccard', 'sorensen',
    'overlap', 'cosine', 'adamic_adar', 'common_neighbors'] = 'jaccard', top_k: int | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def similarity(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, pairs: Any = None, measure: Literal['jaccard', 'sorensen',
    'overlap', 'cosine', 'adamic_adar', 'common_neighbors'] = 'jaccard', top_k: int | None = None,
    trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def similarity(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, pairs: Any = None, measure: Literal['jaccard', 'sorensen',
    'overlap', 'cosine', 'adamic_adar', 'common_neighbors'] = 'jaccard', top_k: int | None = None,
    trace: bool = False, progress: Listener = False) -> Any: ...
@overload
def simple_cycles(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, max_length: int, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, through: Any = None, min_length: int = 1,
    top: int | None = None, columns: ColumnNames | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def simple_cycles(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, max_length: int, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, through: Any = None, min_length: int = 1,
    top: int | None = None, columns: ColumnNames | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def simple_cycles(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, max_length: int, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, through: Any = None, min_length: int = 1,
    top: int | None = None, columns: ColumnNames | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def simple_paths(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, pairs: Any, max_length: int, directed: bool | None = None,
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> DataFrame: ...
@overload
def simple_paths(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, pairs: Any, max_length: int, directed: bool | None = None,
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def simple_paths(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, pairs: Any, max_length: int, directed: bool | None = None,
    vertices: Any = None, dropna: bool = False, device: Literal['gpu'] | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def sssp(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, targets: Any = None, cutoff: float | None = None,
    by_source: bool = False, previous: Any = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def sssp(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, targets: Any = None, cutoff: float | None = None,
    by_source: bool = False, previous: Any = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def sssp(edges: Edges | Graph, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: ColumnName | None = ..., directed: bool | None = None,
    multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, targets: Any = None, cutoff: float | None = None,
    by_source: bool = False, previous: Any = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def strongly_connected_components(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def strongly_connected_components(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def strongly_connected_components(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def topological_order(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def topological_order(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def topological_order(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
    dropna: bool = False, device: Literal['gpu'] | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def triangle_count(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, previous: Any = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def triangle_count(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, previous: Any = None, trace: Literal[True],
    progress: Listener = False) -> Pair: ...
@overload
def triangle_count(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, previous: Any = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
@overload
def truss_number(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> DataFrame: ...
@overload
def truss_number(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: Literal[True], progress: Listener = False) -> Pair: ...
@overload
def truss_number(edges: Edges | Graph, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None, dropna: bool = False,
    device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
class FrameMethods:
    _frame: Any
    def articulation_points(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
    def betweenness_centrality(self, *, source: ColumnNames | None = None,
        target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
        normalized: bool = True, endpoints: bool = False, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def bfs(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None, sources: Any,
        directed: bool | None = None, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, targets: Any = None, depth_limit: int | None = None,
        direction: Literal['gemini', 'beamer', 'push', 'pull'] = 'beamer', by_source: bool = False,
        previous: Any = None, trace: bool = False, progress: Listener = False) -> Any: ...
    def bipartite_matching(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
    def bipartite_projection(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        side: Literal['source', 'target'], weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, measure: Literal['jaccard', 'sorensen', 'overlap', 'cosine',
        'adamic_adar', 'common_neighbors'] = 'common_neighbors', trace: bool = False,
        progress: Listener = False) -> Any: ...
    def bridges(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def closeness_centrality(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, wf_improved: bool = True, k: int | None = None, seed: int = 0,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def clustering(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, previous: Any = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def community_metrics(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        communities: Any, weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None) -> DataFrame: ...
    def connected_components(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        vertices: Any = None, weight: ColumnName | None = ..., threshold: float | None = None,
        thresholds: Sequence[float] | None = None, seed: Any = None,
        ids: Literal['smallest', 'stable'] = 'smallest', merge: Literal['tree', 'one-way', 'ring'] = 'tree',
        merge_chunks: int = 1,
        inputs: Literal['availability', 'round-robin'] | list[str] | tuple[str, ...] = 'availability',
        chunk_size: int | None = None, dropna: bool = False, device: Literal['gpu'] | None = None,
        renumber: bool = True, progress: Listener = False) -> DataFrame: ...
    def core_number(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
    def degree_centrality(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool | None = None, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None) -> DataFrame: ...
    def degrees(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool | None = None, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None) -> DataFrame: ...
    def diameter(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, k: int | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def earliest_arrival(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        sources: Any, departure: Any, directed: bool | None = None, vertices: Any = None,
        dropna: bool = False, device: Literal['gpu'] | None = None, arrival: Any = None,
        duration: Any = None, timetable: Any = None, start: Any = None,
        reverse: bool = False) -> DataFrame: ...
    def eccentricity(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, k: int | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def edge_betweenness_centrality(self, *, source: ColumnNames | None = None,
        target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, k: int | None = None, sources: Any = None,
        normalized: bool = True, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any: ...
    def ego_graph(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        centers: Any, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, radius: int = 1, columns: ColumnNames | None = None,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def eigenvector_centrality(self, *, source: ColumnNames | None = None,
        target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-06,
        precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def fast_rp(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, dimensions: int = 128, weights: Sequence[float] = (0, 1, 1),
        normalization: float = -0.5, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def greedy_color(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def harmonic_centrality(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, k: int | None = None, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def hits(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, max_iter: int = 100, tol: float = 1e-08,
        precision: Literal['float64', 'float32'] = 'float64', fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def induced_subgraph(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        subset: Any, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, columns: ColumnNames | None = None) -> DataFrame: ...
    def k_core(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, k: int | None = None, columns: ColumnNames | None = None,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def k_shortest_paths(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        pairs: Any, k: int, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None) -> DataFrame: ...
    def k_truss(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None, k: int,
        weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, columns: ColumnNames | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def katz_centrality(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
        tol: float = 1e-06, precision: Literal['float64', 'float32'] = 'float64', normalized: bool = True,
        fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any: ...
    def label_propagation(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, max_iter: int = 10, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def leiden(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, objective: Literal['modularity', 'cpm'] = 'modularity',
        resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
        max_community_size: int | None = None, seed: int = 0, previous: Any = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def louvain(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, resolution: float | list[float] = 1.0, tol: float = 1e-07,
        levels: int = 1, seed: int = 0, previous: Any = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def maximal_independent_set(self, *, source: ColumnNames | None = None,
        target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
        dropna: bool = False, device: Literal['gpu'] | None = None, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def maximum_flow(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        sources: Any, sinks: Any, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
    def minimum_cut(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        sources: Any, sinks: Any, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
    def minimum_spanning_forest(self, *, source: ColumnNames | None = None,
        target: ColumnNames | None = None, weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, columns: ColumnNames | None = None) -> DataFrame: ...
    def motif_counts(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, size: int = 3, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def neighbors(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        sources: Any, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, columns: ColumnNames | None = None) -> DataFrame: ...
    def pagerank(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, alpha: float = 0.85, tol: float | None = 1e-06,
        max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
        previous: Any = None, precision: Literal['float64', 'float32'] = 'float64',
        fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any: ...
    def personalized_pagerank(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        sources: Any, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, alpha: float = 0.85, max_iter: int = 100,
        tol: float | None = 1e-06, top_k: int | None = None, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def random_walks(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        starts: Any, length: int, weight: ColumnName | None = ..., directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, walks_per_vertex: int = 1, p: float = 1.0, q: float = 1.0,
        seed: int = 0) -> DataFrame: ...
    def sample_neighbors(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        seeds: Any, directed: bool | None = None, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, fanouts: Sequence[int] = (25, 10), replace: bool = False,
        seed: int = 0) -> DataFrame: ...
    def similarity(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        weight: ColumnName | None = ..., directed: bool = False,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, pairs: Any = None, measure: Literal['jaccard', 'sorensen',
        'overlap', 'cosine', 'adamic_adar', 'common_neighbors'] = 'jaccard', top_k: int | None = None,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def simple_cycles(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        max_length: int, directed: bool | None = None, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, through: Any = None, min_length: int = 1,
        top: int | None = None, columns: ColumnNames | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def simple_paths(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        pairs: Any, max_length: int, directed: bool | None = None, vertices: Any = None,
        dropna: bool = False, device: Literal['gpu'] | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def sssp(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None, sources: Any,
        weight: ColumnName, directed: bool | None = None,
        multi: Literal['keep', 'sum', 'min', 'first'] = 'keep', vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, targets: Any = None, cutoff: float | None = None,
        by_source: bool = False, previous: Any = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def strongly_connected_components(self, *, source: ColumnNames | None = None,
        target: ColumnNames | None = None, directed: bool | None = None, vertices: Any = None,
        dropna: bool = False, device: Literal['gpu'] | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def topological_order(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool | None = None, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
    def triangle_count(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, previous: Any = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def truss_number(self, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
        directed: bool = False, vertices: Any = None, dropna: bool = False,
        device: Literal['gpu'] | None = None, trace: bool = False, progress: Listener = False) -> Any: ...
