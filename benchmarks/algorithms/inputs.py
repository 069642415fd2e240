"""The graphs: an R-MAT edge list, as an undirected, a weighted, a directed and an acyclic graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.inputs import Recipe
from dask_graphflow.algorithms.priorities import priorities

# In the acyclic graph, edges lead from smaller to larger ids, so every strong component is one vertex.
GRAPHS = ("undirected", "directed", "acyclic", "weighted")
DIRECTED = ("directed", "acyclic")


@dataclass(frozen=True)
class Inputs:
    """Simple graphs with the ids 0 to `vertices` - 1, all of which have an edge.

    Attributes
    ----------
    vertices : int
    ends : mapping of str to tuple of arrays of int64
        Sources and targets of each graph.
    """

    vertices: int
    ends: dict[str, tuple[Any, Any]]

    @classmethod
    def of(cls, scale: int, edge_factor: int, seed: int) -> Inputs:
        """Make the graphs of an R-MAT edge list, without self-loops and repeated edges."""
        frame = Recipe(scale, edge_factor, seed).load().frame
        return cls.made(frame["src"].to_numpy(), frame["dst"].to_numpy())

    @classmethod
    def made(cls, source: Any, target: Any) -> Inputs:
        """Make the graphs from arrays of ids, in the memory of these arrays (host or device)."""
        proper = source != target
        source, target = source[proper].astype("int64"), target[proper].astype("int64")
        occurs = np.zeros_like(source, "bool", shape=int(max(source.max(), target.max())) + 1)
        occurs[source] = True
        occurs[target] = True
        numbers = np.cumsum(occurs) - 1
        source, target, count = numbers[source], numbers[target], int(occurs.sum())
        undirected = _distinct(np.minimum(source, target), np.maximum(source, target), count)
        directed = _distinct(source, target, count)
        ends = undirected, directed, undirected, undirected
        return cls(count, dict(zip(GRAPHS, ends, strict=True)))

    @property
    def sizes(self) -> dict[str, int]:
        """Number of edges of each graph."""
        return {name: len(source) for name, (source, _) in self.ends.items()}

    @cached_property
    def largest_eigenvalue(self) -> float:
        """The largest eigenvalue of the undirected graph's adjacency matrix, accurate to a percent."""
        source, target = self.ends["undirected"]
        score = np.ones_like(source, "float64", shape=self.vertices)
        for _ in range(50):
            score /= np.linalg.norm(score)
            found = np.bincount(source, score[target], self.vertices)
            score = found + np.bincount(target, score[source], self.vertices)
        return float(np.linalg.norm(score))

    def frame(self, name: str) -> pd.DataFrame:
        """Return a graph's edges as a frame."""
        return pd.DataFrame(self._columns(name))

    def write(self, folder: str) -> None:
        """Write the graphs to a folder that peers read."""
        for name in self.ends:
            arrays = {"vertices": self.vertices, "directed": name in DIRECTED}
            np.savez(Path(folder) / f"{name}.npz", **arrays, **self._columns(name))

    def _columns(self, name: str) -> dict[str, Any]:
        source, target = self.ends[name]
        columns = {"source": source, "target": target}
        if name == "weighted":  # random weights, from 1 to 2
            drawn = priorities(source * self.vertices + target, 1) % 2**40
            columns["weight"] = 1 + drawn / 2**40
        return columns


def _distinct(source: Any, target: Any, count: int) -> tuple[Any, Any]:
    pairs = np.unique(source * count + target)
    # Shuffle the edges, because a sorted edge list would help some libraries more than others.
    pairs = pairs[np.argsort(priorities(pairs, 0))]
    return pairs // count, pairs % count
