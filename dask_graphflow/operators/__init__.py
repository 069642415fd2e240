"""Operators: pure, over arrays on the host or the device; no Dask."""
