"""Advance an edge program along the edges: one superstep, or until no vertex changes."""

from .advance import Advance, EachVertex, along
from .fixpoint import fixpoint

__all__ = ["Advance", "EachVertex", "along", "fixpoint"]
