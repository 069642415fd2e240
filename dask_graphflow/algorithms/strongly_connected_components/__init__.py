"""Strongly connected components, and the steps that only they use."""

from .strongly_connected_components import strongly_connected_components

__all__ = ["strongly_connected_components"]
