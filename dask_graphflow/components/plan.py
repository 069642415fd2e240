"""How to take a graph, from its size alone: chunks, samples and rounds (Groute, Afforest)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

__all__ = ["Plan"]

DENSE = 8  # edges a vertex from which on Groute calls a graph dense
OVERLAP = 0.12  # Groute's ratio of computing to copying, for the number of buffers


@dataclass(frozen=True)
class Plan:
    """Sizes and rounds that fit a graph.

    Attributes
    ----------
    chunk : int
        Edges in an input chunk (Groute's IC).
    merge_chunk : int
        Forest entries in a reduction chunk (RC).
    rounds : int
        Rounds of non-atomic hooking before the atomic one.
    segments : int
        Segments of the ids that a sparse graph is cut into.
    buffers, merge_buffers : int
        Buffers of the link that edges, and forests, come over.
    step : int
        The first hook of a chunk takes every `step`-th edge (Afforest); 1 for none.
    """

    chunk: int
    merge_chunk: int
    rounds: int = 0
    segments: int = 1
    buffers: int = 2
    merge_buffers: int = 2
    step: int = 32

    @classmethod
    def groute(cls, vertices: int, edges: int, workers: int = 1) -> Plan:
        """Return the plan that Groute makes for a graph.

        Parameters
        ----------
        vertices, edges, workers : int
            V, E and N.

        References
        ----------
        .. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU
           Programming Model for Irregular Computations", PPoPP 2017.
        """
        vertices = max(vertices, 1)
        share = max(ceil(edges / workers), 1)
        dense = edges >= DENSE * vertices
        chunk = vertices if dense else max(min(ceil(1.5 * share), edges), 1)
        return cls(
            chunk=chunk,
            merge_chunk=max(vertices // (2 if dense else 8), 1),
            rounds=0 if dense else 1,
            segments=1 if dense else max(2 * edges // vertices, 1),
            buffers=max(2, round(ceil(share / chunk) * (1 - OVERLAP))),
            merge_buffers=2 if dense else 8,
            step=1,
        )

    @classmethod
    def for_graph(cls, vertices: int, edges: int, workers: int = 1, sampled: int = 2) -> Plan:
        """Return the plan this library uses: Groute's, with what was measured to be better.

        One chunk a partition: a sample makes the trees flat before the full pass, so more
        compressing in between costs more than it saves. No non-atomic rounds: on the host a
        compare-and-swap costs little beside the read before it.

        Parameters
        ----------
        vertices, edges, workers : int
            V, E and N.
        sampled : int
            Vertices for each edge of the sample: enough edges to find most of a largest component.
        """
        plan = cls.groute(vertices, edges, workers)
        return cls(
            chunk=max(edges, 1),
            merge_chunk=plan.merge_chunk,
            segments=plan.segments,
            buffers=plan.buffers,
            merge_buffers=plan.merge_buffers,
            step=min(max(sampled * edges // max(vertices, 1), 2), 16 * sampled),
        )
