"""Inputs: anything that a caller gives becomes one checked frame and its columns."""
