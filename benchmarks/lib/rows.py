"""The rows of the table: algorithms with their options, and how answers are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.lib.graphs import Inputs
from benchmarks.lib.harness import TRIALS
from dask_graphflow.operators.priorities import priorities

TOL = 1e-6
ITERATIONS = 20
BUILD = "build"
# Number of vertices that an algorithm samples itself, or gets as an option with this name.
SAMPLED = {
    "betweenness_centrality": 16, "edge_betweenness_centrality": 16, "closeness_centrality": 64,
    "harmonic_centrality": 64,
}  # fmt: skip
GIVEN = {
    "bfs": ("sources", 1), "sssp": ("sources", 1), "personalized_pagerank": ("sources", 16),
    "minimum_cut": ("sources and sinks", 2),
    "random_walks": ("starts", 4096), "simple_cycles": ("through", 4), "ego_graph": ("centers", 1),
    "induced_subgraph": ("subset", 10_000),
}  # fmt: skip
# Number of pairs of vertices that a function gets. igraph needs seconds for a pair's alternatives on roads.
PAIRED = {"similarity": 10_000, "simple_paths": 16, "shortest_paths": 100, "k_shortest_paths": 4}


@dataclass(frozen=True)
class Row:
    """One algorithm on one graph."""

    # Name of the function, and column of its result that is compared.
    algorithm: str
    column: str = ""
    graph: str = "undirected"  # one of :data:`.graphs.GRAPHS`
    # {"equal", "partition", "near", "value", None}. How answers are compared; see :class:`.Agreement`.
    rule: str | None = "equal"
    # Options for this library and the peers.
    options: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)  # options for this library only
    # Computes the number for "value" from the column.
    number: Callable[[Any, Inputs], float] | None = None
    from_frame: bool = False  # whether the time starts from the edges, before a graph is built

    @property
    def trials(self) -> int:
        """Maximum number of runs in a row, of which the fastest counts; a graph is built once."""
        return 1 if self.from_frame or self.algorithm == BUILD else TRIALS

    def ours(self, inputs: Inputs) -> dict[str, Any]:
        """Return the options of this library's function."""
        sample = {"k": SAMPLED[self.algorithm]} if self.algorithm in SAMPLED else {}
        pairs = {"pairs": self.pairs(inputs)} if self.algorithm in PAIRED else {}
        return {**self._options(inputs), **self.own, **sample, **pairs}

    def theirs(self, inputs: Inputs) -> dict[str, Any]:
        """Return the options for peers; each peer takes the ones that its function has."""
        sample = {"sources": self.vertices(inputs)} if self.algorithm in SAMPLED else {}
        pairs = self.pairs(inputs).to_numpy().tolist() if self.algorithm in PAIRED else []
        return {**self._options(inputs), **sample, "pairs": pairs}

    def vertices(self, inputs: Inputs) -> list[int]:
        """Return the vertices that this library samples or is given."""
        drawn = priorities(np.arange(inputs.vertices), 0)
        count = min(SAMPLED.get(self.algorithm) or GIVEN[self.algorithm][1], len(drawn))
        return np.sort(np.argpartition(drawn, count - 1)[:count]).tolist()

    def pairs(self, inputs: Inputs) -> pd.DataFrame:
        """Return pairs of vertices: the ends of edges, and their ends combined differently."""
        count = PAIRED[self.algorithm]
        source, target = (end[: count // 2] for end in inputs.ends("undirected"))
        first, second = np.concatenate([source, source]), np.concatenate([target, target[::-1]])
        different = first != second
        return pd.DataFrame({"first": first[different], "second": second[different]})

    def compared(self, inputs: Inputs) -> Any:
        """Return a mask of the compared vertices; scores of sampled vertices are scaled differently."""
        if self.algorithm not in SAMPLED:
            return None
        others = np.ones(inputs.vertices, bool)
        others[self.vertices(inputs)] = False
        return others if others.any() else None

    def _options(self, inputs: Inputs) -> dict[str, Any]:
        # A Katz centrality converges if alpha is below one divided by the largest eigenvalue.
        alpha = {"alpha": 0.85 / inputs.largest_eigenvalue} if self.algorithm == KATZ else {}
        given = {}
        if self.algorithm in GIVEN:
            given[GIVEN[self.algorithm][0]] = self.vertices(inputs)
        if self.algorithm == "minimum_cut":
            sources, sinks = given.pop("sources and sinks")
            given = {"sources": [sources], "sinks": [sinks]}
        return {**self.options, **alpha, **given}


def modularity(labels: Any, inputs: Inputs) -> float:
    """Return the modularity of communities in the undirected graph."""
    source, target = inputs.ends("undirected")
    _, labels = np.unique(np.asarray(labels, like=source), return_inverse=True)
    ends = np.bincount(labels[np.concatenate([source, target])])
    inside = float((labels[source] == labels[target]).mean())
    return inside - float(((ends / (2 * len(source))) ** 2).sum())


def count(column: Any, inputs: Inputs) -> float:
    """Return the number of rows."""
    return float(len(column))


def distinct(column: Any, inputs: Inputs) -> float:
    """Return the number of different values."""
    return float(len(np.unique(column)))


def different_lengths(column: Any, inputs: Inputs) -> float:
    """Return the sum of the different lengths of paths."""
    return float(np.unique(column).sum())


def colors(column: Any, inputs: Inputs) -> float:
    """Return the number of colors."""
    return float(column.max()) + 1


def total(weights: Any, inputs: Inputs) -> float:
    """Return the sum of a column."""
    return float(weights.sum())


def highest(scores: Any, inputs: Inputs) -> float:
    """Return the largest score as a part of the sum, since libraries scale them differently."""
    return float(scores.max() / scores.sum())


def ahead(positions: Any, inputs: Inputs) -> float:
    """Return how many edges of the acyclic graph lead to a vertex of a larger position."""
    source, target = inputs.ends("acyclic")
    return float((positions[source] < positions[target]).sum())


KATZ = "katz_centrality"
EDGES = "edge_betweenness_centrality"
SCC = "strongly_connected_components"
PAGERANK = {"options": {"max_iter": ITERATIONS}, "own": {"tol": None}}
# Scores of a road network do not converge, and peers then stop after as many iterations.
UNTIL = {"max_iter": 1000, "fail_on_nonconvergence": False}
FLOAT32 = {**PAGERANK, "own": {"tol": None, "precision": "float32"}}
FRAME_COMPONENTS = "connected_components of a frame"
ROWS = {
    FRAME_COMPONENTS: Row(
        "connected_components", "component", "edges", "partition", from_frame=True
    ),
    "build": Row(BUILD, graph="edges"),
    "build, directed": Row(BUILD, graph="directed edges"),
    "bfs": Row("bfs", "distance", "edges"),
    "sssp": Row("sssp", "distance", "weighted edges"),
    # A source reaches only a few vertices of a road network whose edges have directions.
    "sssp, undirected": Row("sssp", "distance", "weighted"),
    "pagerank": Row("pagerank", "pagerank", "directed edges", "near", **PAGERANK),
    "pagerank, float32": Row("pagerank", "pagerank", "directed edges", "near", **FLOAT32),
    "core_number": Row("core_number", "core"),
    "hits": Row("hits", "authority", "directed", "near", {"tol": TOL}, UNTIL),
    KATZ: Row(KATZ, "katz", rule="near", options={"tol": TOL}, own=UNTIL),
    "eigenvector_centrality": Row(
        "eigenvector_centrality", "eigenvector", rule="near", options={"tol": TOL}, own=UNTIL
    ),
    "betweenness_centrality": Row("betweenness_centrality", "betweenness", rule="near"),
    "betweenness_centrality, weighted": Row(
        "betweenness_centrality", "betweenness", "weighted", "near"
    ),
    "edge_betweenness_centrality": Row(EDGES, "betweenness", rule="value", number=highest),
    "edge_betweenness_centrality, weighted": Row(
        EDGES, "betweenness", "weighted", "value", number=highest
    ),
    "closeness_centrality": Row("closeness_centrality", "closeness", rule="near"),
    "closeness_centrality, weighted": Row("closeness_centrality", "closeness", "weighted", "near"),
    "harmonic_centrality": Row("harmonic_centrality", "harmonic", rule="near"),
    "eccentricity": Row("eccentricity", "eccentricity"),
    "diameter": Row("diameter", "upper", rule="value", number=total),
    "simple_cycles": Row(
        "simple_cycles", "cycle", rule="value", number=distinct, options={"max_length": 4}
    ),
    "simple_paths": Row(
        "simple_paths", "path", rule="value", number=distinct, options={"max_length": 3}
    ),
    "shortest_paths": Row(
        "shortest_paths", "length", "weighted", "value", number=different_lengths
    ),
    "k_shortest_paths": Row(
        "k_shortest_paths", "length", "weighted", "value", {"k": 3}, number=different_lengths
    ),
    "bipartite_projection": Row(
        "bipartite_projection", "weight", "bipartite", "value", own={"side": "source"}, number=total
    ),
    "bipartite_matching": Row("bipartite_matching", "source", "bipartite", "value", number=count),
    "connected_components": Row("connected_components", "component", rule="partition"),
    SCC: Row(SCC, "component", "directed", "partition"),
    f"{SCC}, acyclic": Row(SCC, "component", "acyclic", "partition"),
    "articulation_points": Row("articulation_points", "articulation_point"),
    "bridges": Row("bridges", "source", rule="value", number=count),
    "topological_order": Row("topological_order", "generation", "acyclic", "value", number=ahead),
    "maximal_independent_set": Row("maximal_independent_set", "selected", rule=None),
    "greedy_color": Row("greedy_color", "color", rule="value", number=colors),
    "degrees": Row("degrees", "degree"),
    "degree_centrality": Row("degree_centrality", "degree_centrality", rule="near"),
    "similarity": Row("similarity", "score", rule="value", number=total),
    "k_core": Row("k_core", "source", rule="value", number=count, options={"k": 10}),
    "ego_graph": Row("ego_graph", "source", rule="value", number=count),
    "induced_subgraph": Row("induced_subgraph", "source", rule="value", number=count),
    "triangle_count": Row("triangle_count", "triangles"),
    "motif_counts": Row("motif_counts", "path", rule="value", number=total, options={"size": 3}),
    "fast_rp": Row("fast_rp", "fast_rp_0", rule=None),
    "clustering": Row("clustering", "clustering", rule="near"),
    # The ranks of a source in descending order.
    "personalized_pagerank": Row(
        "personalized_pagerank",
        "pagerank",
        rule="near",
        options={"alpha": 0.85, "tol": 1e-9},
        own=UNTIL,
    ),
    "random_walks": Row("random_walks", "vertex", rule=None, options={"length": 20}),
    "minimum_spanning_forest": Row(
        "minimum_spanning_forest", "weight", "weighted", "value", number=total
    ),
    "minimum_cut": Row("minimum_cut", "cut", "weighted", "value", number=total),
    "label_propagation": Row("label_propagation", "label", rule="value", number=modularity),
    "louvain": Row("louvain", "community", rule="value", number=modularity),
    "leiden": Row("leiden", "community", rule="value", number=modularity),
}
