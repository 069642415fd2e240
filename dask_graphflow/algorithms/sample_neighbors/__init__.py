"""Samples of neighborhoods."""

from .sample_neighbors import sample_neighbors

__all__ = ["sample_neighbors"]
