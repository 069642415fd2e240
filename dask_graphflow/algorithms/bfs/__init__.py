"""Breadth-first search, and the operators that only it uses."""

from .bfs import bfs
from .breadth_first import breadth_first

__all__ = ["bfs", "breadth_first"]
