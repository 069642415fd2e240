"""Personalized PageRank, and the operators that only it uses."""

from .batched_pull import WIDTH
from .personalized_pagerank import personalized_pagerank

__all__ = ["WIDTH", "personalized_pagerank"]
