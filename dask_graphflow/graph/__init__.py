"""Graphs: edge lists, ids, generators."""
