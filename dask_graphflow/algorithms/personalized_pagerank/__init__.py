"""Personalized PageRank, and the steps that only it uses."""

from .personalized_pagerank import personalized_pagerank

__all__ = ["personalized_pagerank"]
