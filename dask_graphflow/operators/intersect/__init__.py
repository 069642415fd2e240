"""Neighbors that vertices have in common: triangles, trusses and similar pairs."""

from .edge_triangles import EdgeTriangles
from .triangle_counts import count_triangles

__all__ = ["EdgeTriangles", "count_triangles"]
