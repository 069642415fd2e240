"""The errors of the benchmarks."""

from __future__ import annotations


class BenchmarkError(Exception):
    """Base class; the command prints the error and exits with code 1."""


class ContenderFailedError(BenchmarkError):
    """A contender could not do the work; the others continue without it."""


class DisagreementError(BenchmarkError):
    """Two contenders found different components."""


class UnusableInputError(BenchmarkError):
    """A benchmark cannot run with a graph or an option."""
