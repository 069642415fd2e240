"""Betweenness centrality, and the operators that only it uses."""

from .betweenness_centrality import betweenness_centrality

__all__ = ["betweenness_centrality"]
