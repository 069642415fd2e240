"""Random choices of edges, and random walks."""

from .sampler import Sampler

__all__ = ["Sampler"]
