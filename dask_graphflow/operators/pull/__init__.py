"""Sums that each vertex pulls along all edges, repeatedly, over hub-first rows."""

from .batched_pull import BatchedPull
from .neighbor_averages import NeighborAverages
from .neighbor_sums import NeighborSums
from .pull import Pull
from .rank_changes import track_changes

__all__ = ["BatchedPull", "NeighborAverages", "NeighborSums", "Pull", "track_changes"]
