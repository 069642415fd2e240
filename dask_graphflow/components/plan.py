"""The plan of :meth:`.Forest.hook`: chunk and sample sizes, chosen from the size of the graph."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """Chunk and sample sizes for hooking the edges of a graph.

    Attributes
    ----------
    chunk : int
        Edges per chunk.
    step : int
        The first pass over a chunk hooks a sample of one edge in `step` (Afforest); 1 for no sample.
    """

    chunk: int
    step: int = 1

    @classmethod
    def for_graph(cls, vertices: int, edges: int, *, sampled: int) -> Plan:
        """Return the plan for a graph: one chunk, after a sample.

        Parameters
        ----------
        vertices, edges : int
            Number of vertices and edges.
        sampled : int
            Number of vertices per sampled edge. It must be small enough that the sample finds most of the
            largest component.
        """
        step = min(max(sampled * edges // max(vertices, 1), 2), 16 * sampled)
        return cls(chunk=max(edges, 1), step=step)
