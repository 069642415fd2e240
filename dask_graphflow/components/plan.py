"""How :meth:`.Forest.hook` takes edges: chunks and samples, chosen from the size of the graph."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """A chunk and a sample that fit a graph.

    Attributes
    ----------
    chunk : int
        Edges per chunk.
    step : int
        The first hook of a chunk samples one edge in `step` (Afforest); 1 for no sample.
    """

    chunk: int
    step: int = 1

    @classmethod
    def for_graph(cls, vertices: int, edges: int, *, sampled: int) -> Plan:
        """Return the plan for a graph: one chunk, after a sample.

        Parameters
        ----------
        vertices, edges : int
            V and E.
        sampled : int
            Vertices per edge of the sample, so that the sample finds most of a largest component.
        """
        step = min(max(sampled * edges // max(vertices, 1), 2), 16 * sampled)
        return cls(chunk=max(edges, 1), step=step)
