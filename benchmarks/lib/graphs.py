"""The graphs: one R-MAT edge list with its repeated edges, and the simple graphs of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib.errors import UnusableInputError
from dask_graphflow.operators.priorities import priorities

# In the acyclic graph, edges lead from smaller to larger ids, so every strong component is one vertex. The
# bipartite graph has some edges from one half of the vertices to the other half.
GRAPHS = (
    "edges", "directed edges", "weighted edges", "undirected", "directed", "acyclic", "bipartite",
    "weighted",
)  # fmt: skip
DIRECTED = ("directed edges", "weighted edges", "directed", "acyclic", "bipartite")
WEIGHTED = ("weighted edges", "weighted")
BIPARTITE = 100_000  # edges of the bipartite graph at most
MOST = 255  # weights are whole numbers from 1 to MOST, because GAP takes no others


@dataclass(frozen=True)
class Inputs:
    """Edges without self-loops between the ids 0 to `vertices` - 1, each of which has an edge.

    The arrays are in the memory of the host or of a device. The first three graphs have all edges, and the
    others are simple.
    """

    vertices: int
    source: Any
    target: Any

    @classmethod
    def of(cls, scale: int, seed: int, *, gpu: bool = False) -> Inputs:
        """Make an R-MAT edge list with 16 edges per id."""
        dtype = "int32" if gpu else "int64"
        frame = gf.generate.rmat(scale, seed=seed, dtype=dtype).compute(scheduler="threads")
        ends = [frame[name].to_numpy() for name in ("src", "dst")]
        if gpu:
            import cupy

            ends = [cupy.asarray(end) for end in ends]
        return cls.made(*ends)

    @classmethod
    def made(cls, source: Any, target: Any) -> Inputs:
        """Make the graphs from arrays of ids, in the memory of these arrays."""
        proper = source != target
        source, target = source[proper], target[proper]
        occurs = np.zeros_like(source, "bool", shape=int(max(source.max(), target.max())) + 1)
        occurs[source] = True
        occurs[target] = True
        numbers = (np.cumsum(occurs) - 1).astype(source.dtype)
        return cls(int(occurs.sum()), numbers[source], numbers[target])

    @classmethod
    def read(cls, path: str) -> Inputs:
        """Read an edge list from the first two columns of a Parquet file; ids have any type."""
        try:
            frame = pd.read_parquet(path).dropna()
        except OSError as error:
            raise UnusableInputError(f"{path} cannot be read as Parquet: {error}") from error
        if len(frame.columns) < 2 or not len(frame):
            raise UnusableInputError(f"{path} has no edges; they are its first two columns")
        ends = [frame.iloc[:, 0], frame.iloc[:, 1]]
        numbers, _ = pd.factorize(pd.concat(ends, ignore_index=True), sort=True)
        return cls.made(numbers[: len(frame)], numbers[len(frame) :])

    @cached_property
    def _undirected(self) -> tuple[Any, Any]:
        low, high = np.minimum(self.source, self.target), np.maximum(self.source, self.target)
        return self._distinct(low, high)

    @cached_property
    def _directed(self) -> tuple[Any, Any]:
        return self._distinct(self.source, self.target)

    @cached_property
    def _bipartite(self) -> tuple[Any, Any]:
        source, target = self._undirected
        left = priorities(np.arange(self.vertices, like=source), 2) % 2 == 0
        across = np.flatnonzero(left[source] != left[target])[:BIPARTITE]
        source, target = source[across], target[across]
        return np.where(left[source], source, target), np.where(left[source], target, source)

    def _distinct(self, source: Any, target: Any) -> tuple[Any, Any]:
        pairs = np.unique(source.astype("int64") * self.vertices + target)
        # Shuffle the edges, because a sorted edge list would help some libraries more than others.
        pairs = pairs[np.argsort(priorities(pairs, 0))]
        ends = pairs // self.vertices, pairs % self.vertices
        return ends[0].astype(source.dtype), ends[1].astype(source.dtype)

    def ends(self, graph: str) -> tuple[Any, Any]:
        """Return the sources and the targets of a graph."""
        if graph.endswith("edges"):
            return self.source, self.target
        if graph == "bipartite":
            return self._bipartite
        return self._directed if graph == "directed" else self._undirected

    def columns(self, graph: str) -> dict[str, Any]:
        """Return the columns source and target of a graph, and its weights if it has any."""
        source, target = self.ends(graph)
        columns = {"source": source, "target": target}
        if graph in WEIGHTED:
            pairs = source.astype("int64") * self.vertices + target
            weight = priorities(pairs + np.arange(len(pairs), like=pairs), 1) % MOST + 1
            columns["weight"] = weight.astype("float32" if source.itemsize == 4 else "float64")
        return columns

    @cached_property
    def largest_eigenvalue(self) -> float:
        """The largest eigenvalue of the undirected graph's adjacency matrix, accurate to a percent."""
        source, target = self.ends("undirected")
        score = np.ones_like(source, "float64", shape=self.vertices)
        for _ in range(50):
            score /= np.linalg.norm(score)
            along = np.bincount(source, score[target], self.vertices)
            score = along + np.bincount(target, score[source], self.vertices)
        return float(np.linalg.norm(score))

    def write(self, graph: str, folder: str) -> None:
        """Write a graph to a folder that peers read, unless it is there."""
        path = Path(folder) / f"{graph}.npz"
        if not path.exists():
            arrays = {"vertices": self.vertices, "directed": graph in DIRECTED}
            np.savez(path, **arrays, **self.columns(graph))
