"""Algorithms: one paper, one file, over the operators."""
