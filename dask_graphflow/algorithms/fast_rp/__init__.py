"""FastRP: vectors of vertices."""

from .fast_rp import fast_rp

__all__ = ["fast_rp"]
