"""Shortest paths by weight."""

from .sssp import sssp

__all__ = ["sssp"]
