"""Benchmarks of this library and others; see ``python -m benchmarks --help``."""
