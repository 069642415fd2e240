"""What stops a benchmark."""

from __future__ import annotations


class BenchmarkError(Exception):
    """Base class; the command prints it and exits with 1."""


class ContenderFailedError(BenchmarkError):
    """A peer that could not do the work; the others go on without it."""


class DisagreementError(BenchmarkError):
    """Two contenders found different components."""


class UnusableInputError(BenchmarkError):
    """A graph or an option that a benchmark cannot be run with."""
