"""Measures this library beside others: ``python -m benchmarks --help``."""
