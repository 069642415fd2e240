"""Dask: expressions, gangs, membership, placement and progress. Nothing here knows an algorithm."""
