"""The rows of the table: algorithms with their options, and how answers are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dask_graphflow.operators.priorities import priorities

from .inputs import Inputs

TOL = 1e-6
ITERATIONS = 20
BUILD = "build"
# Number of vertices that an algorithm samples itself, or gets as an option with this name.
SAMPLED = {"betweenness_centrality": 16, "closeness_centrality": 256, "harmonic_centrality": 256}
GIVEN = {
    "bfs": ("sources", 1), "sssp": ("sources", 1), "personalized_pagerank": ("sources", 16),
    "random_walks": ("starts", 4096),
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One algorithm on one graph.

    Attributes
    ----------
    algorithm, column : str
        Name of the function, and column of its result that is compared.
    graph : str
        One of :data:`.inputs.GRAPHS`.
    rule : {"equal", "partition", "near", "value", None}
        How answers are compared; see :class:`.Agreement`.
    options : mapping
        Options for this library and the peers.
    own : mapping
        Options for this library only.
    number : callable, optional
        Computes the number for "value" from the column.
    """

    algorithm: str
    column: str = ""
    graph: str = "undirected"
    rule: str | None = "equal"
    options: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    number: Callable[[Any, Inputs], float] | None = None

    def ours(self, inputs: Inputs) -> dict[str, Any]:
        """Return the options of this library's function."""
        sample = {"k": SAMPLED[self.algorithm]} if self.algorithm in SAMPLED else {}
        return {**self._options(inputs), **self.own, **sample}

    def theirs(self, inputs: Inputs) -> dict[str, Any]:
        """Return the options for peers; each peer takes the ones that its function has."""
        sample = {"sources": self.vertices(inputs)} if self.algorithm in SAMPLED else {}
        return {**self._options(inputs), **sample}

    def vertices(self, inputs: Inputs) -> list[int]:
        """Return the vertices that this library samples or is given."""
        drawn = priorities(np.arange(inputs.vertices), 0)
        count = SAMPLED.get(self.algorithm) or GIVEN[self.algorithm][1]
        return np.sort(np.argsort(drawn)[:count]).tolist()

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
        return {**self.options, **alpha, **given}


def modularity(labels: Any, inputs: Inputs) -> float:
    """Return the modularity of communities in the undirected graph."""
    source, target = inputs.ends("undirected")
    _, labels = np.unique(np.asarray(labels, like=source), return_inverse=True)
    ends = np.bincount(labels[np.concatenate([source, target])])
    inside = float((labels[source] == labels[target]).mean())
    return inside - float(((ends / (2 * len(source))) ** 2).sum())


def colors(column: Any, inputs: Inputs) -> float:
    """Return the number of colors."""
    return float(column.max()) + 1


def total(weights: Any, inputs: Inputs) -> float:
    """Return the sum of the weights of edges."""
    return float(weights.sum())


KATZ = "katz_centrality"
SCC = "strongly_connected_components"
PAGERANK = {"options": {"max_iter": ITERATIONS}, "own": {"tol": None}}
FLOAT32 = {**PAGERANK, "own": {"tol": None, "precision": "float32"}}
ROWS = {
    "build": Row(BUILD, graph="edges"),
    "build, directed": Row(BUILD, graph="directed edges"),
    "bfs": Row("bfs", "distance", "edges"),
    "sssp": Row("sssp", "distance", "weighted edges"),
    "pagerank": Row("pagerank", "pagerank", "directed edges", "near", **PAGERANK),
    "pagerank, float32": Row("pagerank", "pagerank", "directed edges", "near", **FLOAT32),
    "core_number": Row("core_number", "core"),
    "hits": Row("hits", "authority", "directed", "near", {"tol": TOL}, {"max_iter": 1000}),
    KATZ: Row(KATZ, "katz", rule="near", options={"tol": TOL}),
    "eigenvector_centrality": Row(
        "eigenvector_centrality", "eigenvector", rule="near", options={"tol": TOL}
    ),
    "betweenness_centrality": Row("betweenness_centrality", "betweenness", rule="near"),
    "closeness_centrality": Row("closeness_centrality", "closeness", rule="near"),
    "harmonic_centrality": Row("harmonic_centrality", "harmonic", rule="near"),
    SCC: Row(SCC, "component", "directed", "partition"),
    f"{SCC}, acyclic": Row(SCC, "component", "acyclic", "partition"),
    "maximal_independent_set": Row("maximal_independent_set", "selected", rule=None),
    "greedy_color": Row("greedy_color", "color", rule="value", number=colors),
    "degree_centrality": Row("degree_centrality", "degree_centrality", rule="near"),
    "triangle_count": Row("triangle_count", "triangles"),
    "clustering": Row("clustering", "clustering", rule="near"),
    # The ranks of a source in descending order.
    "personalized_pagerank": Row(
        "personalized_pagerank", "pagerank", rule="near", options={"alpha": 0.85, "tol": 1e-9}
    ),
    "random_walks": Row("random_walks", "vertex", rule=None, options={"length": 20}),
    "minimum_spanning_forest": Row(
        "minimum_spanning_forest", "weight", "weighted", "value", number=total
    ),
    "louvain": Row("louvain", "community", rule="value", number=modularity),
    "leiden": Row("leiden", "community", rule="value", number=modularity),
}
