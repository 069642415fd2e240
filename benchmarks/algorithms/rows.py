"""The rows of the table: algorithms with their options, and how answers are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dask_graphflow.algorithms.priorities import priorities

from .inputs import Inputs

TOL = 1e-6
# Number of vertices that an algorithm samples itself, or gets as an option with this name.
SOURCES = {"betweenness_centrality": 16, "closeness_centrality": 256, "harmonic_centrality": 256}
GIVEN = {"personalized_pagerank": ("sources", 16), "random_walks": ("starts", 4096)}


@dataclass(frozen=True)
class Row:
    """One algorithm on one graph.

    Attributes
    ----------
    algorithm, column : str
        Name of the function, and column of its result that is compared.
    graph : str
    agrees : {"equal", "partition", "near", "value", None}
        How answers are compared; see :class:`.Agreement`.
    options : mapping
        Options for this library and the peers.
    own : mapping
        Options for this library only.
    tells : callable, optional
        Computes the number for "value" from the column.
    """

    algorithm: str
    column: str
    graph: str = "undirected"
    agrees: str | None = "equal"
    options: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    tells: Callable[[Any, Inputs], float] | None = None

    def ours(self, inputs: Inputs) -> dict[str, Any]:
        """Return the options of this library's function."""
        sample = {"k": SOURCES[self.algorithm]} if self.algorithm in SOURCES else {}
        return {**self._options(inputs), **self.own, **sample}

    def theirs(self, inputs: Inputs) -> dict[str, Any]:
        """Return the options for peers; each peer takes the ones that its function has."""
        sample = {"sources": self.sources(inputs)} if self.algorithm in SOURCES else {}
        return {**self._options(inputs), **sample}

    def sources(self, inputs: Inputs) -> list[int]:
        """Return the vertices that this library samples or is given."""
        drawn = priorities(np.arange(inputs.vertices), 0)
        count = SOURCES.get(self.algorithm) or GIVEN[self.algorithm][1]
        return np.sort(np.argsort(drawn)[:count]).tolist()

    def compared(self, inputs: Inputs) -> Any:
        """Return a mask of the compared vertices; scores of sampled vertices are scaled differently."""
        if self.algorithm not in SOURCES:
            return None
        others = np.ones(inputs.vertices, bool)
        others[self.sources(inputs)] = False
        return others if others.any() else None

    def value(self, column: Any, inputs: Inputs) -> Any:
        """Return the value or values to compare."""
        return column if self.tells is None else np.array([self.tells(column, inputs)])

    def _options(self, inputs: Inputs) -> dict[str, Any]:
        # A Katz centrality converges if alpha is below one divided by the largest eigenvalue.
        alpha = {"alpha": 0.85 / inputs.largest_eigenvalue} if self.algorithm == KATZ else {}
        given = {}
        if self.algorithm in GIVEN:
            given[GIVEN[self.algorithm][0]] = self.sources(inputs)
        return {**self.options, **alpha, **given}


def modularity(labels: Any, inputs: Inputs) -> float:
    """Return the modularity of communities in the undirected graph."""
    source, target = inputs.ends["undirected"]
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
ROWS = {
    "core_number": Row("core_number", "core"),
    "hits": Row("hits", "authority", "directed", "near", {"tol": TOL}, {"max_iter": 1000}),
    KATZ: Row(KATZ, "katz", agrees="near", options={"tol": TOL}),
    "eigenvector_centrality": Row(
        "eigenvector_centrality", "eigenvector", agrees="near", options={"tol": TOL}
    ),
    "betweenness_centrality": Row("betweenness_centrality", "betweenness", agrees="near"),
    "closeness_centrality": Row("closeness_centrality", "closeness", agrees="near"),
    "harmonic_centrality": Row("harmonic_centrality", "harmonic", agrees="near"),
    SCC: Row(SCC, "component", "directed", "partition"),
    f"{SCC}, acyclic": Row(SCC, "component", "acyclic", "partition"),
    "maximal_independent_set": Row("maximal_independent_set", "selected", agrees=None),
    "greedy_color": Row("greedy_color", "color", agrees="value", tells=colors),
    "degree_centrality": Row("degree_centrality", "degree_centrality", agrees="near"),
    "triangle_count": Row("triangle_count", "triangles"),
    "clustering": Row("clustering", "clustering", agrees="near"),
    # The ranks of a source in descending order.
    "personalized_pagerank": Row(
        "personalized_pagerank", "pagerank", agrees="near", options={"alpha": 0.85, "tol": 1e-9}
    ),
    "random_walks": Row("random_walks", "vertex", agrees=None, options={"length": 20}),
    "minimum_spanning_forest": Row(
        "minimum_spanning_forest", "weight", "weighted", "value", tells=total
    ),
    "louvain": Row("louvain", "community", agrees="value", tells=modularity),
    "leiden": Row("leiden", "community", agrees="value", tells=modularity),
}
