"""Similarity of vertices."""

from .similarity import similarity

__all__ = ["similarity"]
