"""Dataflow: expressions, policies and placement; it knows no algorithm."""
