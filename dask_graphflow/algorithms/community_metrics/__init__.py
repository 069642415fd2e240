"""Metrics of communities."""

from .community_metrics import community_metrics

__all__ = ["community_metrics"]
