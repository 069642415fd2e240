"""How a graph differs from the graph that it was made from by an update."""

from __future__ import annotations

from typing import Any, NamedTuple


class Change(NamedTuple):
    """How a graph differs from the one that it was made from by an update. The same on every member.

    The pairs are those that the batch named. Each distinct ordered pair occurs once, in ascending order of
    source and target. In an undirected graph, a pair occurs in both directions, and a self-loop once. The
    arrays are in the memory of the rows.
    """

    base: str  # the token of the version that the graph was made from
    sources: Any  # array of int32 or int64, shape (k,). Numbers of vertices in the new graph.
    targets: Any  # array of the same dtype, shape (k,)
    before: Any  # array of bool, shape (k,). Whether the pair was an edge before.
    after: Any  # array of bool, shape (k,). Whether the pair is an edge now.

    @property
    def inserted(self) -> Any:
        """Whether each pair became an edge."""
        return self.after & ~self.before

    @property
    def deleted(self) -> Any:
        """Whether each pair is no longer an edge."""
        return self.before & ~self.after
