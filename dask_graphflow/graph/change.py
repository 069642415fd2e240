"""How a graph differs from the graph that it was made from by an update."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Change(NamedTuple):
    """How a graph differs from the one that it was made from by an update. The same on every member.

    The pairs are those that the batch named. Each distinct ordered pair occurs once, in ascending order of
    source and target. In an undirected graph, a pair occurs in both directions, and a self-loop once.
    """

    base: str  # the token of the version that the graph was made from
    sources: Any  # array of int32 or int64, shape (k,). Numbers of vertices in the new graph.
    targets: Any  # array of the same dtype, shape (k,)
    before: np.ndarray  # array of bool, shape (k,). Whether the pair was an edge before.
    after: np.ndarray  # array of bool, shape (k,). Whether the pair is an edge now.

    @property
    def inserted(self) -> np.ndarray:
        """Whether each pair became an edge."""
        new: np.ndarray = self.after & ~self.before
        return new

    @property
    def deleted(self) -> np.ndarray:
        """Whether each pair is no longer an edge."""
        gone: np.ndarray = self.before & ~self.after
        return gone
