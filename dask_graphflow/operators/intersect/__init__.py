"""Neighbors that vertices have in common: triangles, trusses and similar pairs."""

from .changed_edges import changed_edges
from .common_neighbors import CommonNeighbors
from .edge_triangles import EdgeTriangles
from .triangle_changes import add_triangle_changes, changed_neighborhoods
from .triangle_counts import count_triangles

__all__ = [
    "CommonNeighbors",
    "EdgeTriangles",
    "add_triangle_changes",
    "changed_edges",
    "changed_neighborhoods",
    "count_triangles",
]
