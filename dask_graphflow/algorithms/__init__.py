"""Algorithms: one paper, one file, over the operators and the dataflow."""
