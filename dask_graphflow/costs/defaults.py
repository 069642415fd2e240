"""Rates of typical machines, which an estimate uses until the machine has been measured."""

from __future__ import annotations

from .curves import Rates

__all__ = ["READ", "default_rates"]

# Bytes in memory per second that a thread reads from Parquet files in the page cache: 250 to 340 MB/s.
READ = 3e8

# One thread of an AMD EPYC (Zen 4), measured by gf.calibrate() on 2026-11-23. The rates of ids were
# measured as CPU time while other programs used the machine. Far ids took 2.5 times as long there as in
# calls on the nearly idle machine. So their rates for 2**16 and 2**20 vertices come from calls, and the
# rate for 2**18 is between these two.
HOST = Rates(
    sizes=(1 << 12, 1 << 16, 1 << 18, 1 << 20),
    hooks=(1.39e8, 1.33e8, 1.30e8, 0.86e8),
    builds=(1.25e8, 0.96e8, 1.14e8, 0.97e8),
    pulls=(1.74e9, 1.68e9, 1.28e9, 0.97e9),
    searches=(1.09e9, 3.67e9, 3.26e9, 2.35e9),
    paths=(0.69e8, 0.86e8, 0.75e8, 0.64e8),
    labels=(1.31e8, 1.25e8, 1.26e8, 0.98e8),
    merges=(1.68e8, 2.32e8, 2.40e8, 2.71e8),
    deals=(2.11e8, 1.25e8, 1.46e8, 0.93e8),
    dense_ids=(3.0e8, 9.0e8, 9.0e8, 7.4e8),
    far_ids=(5.3e7, 6.0e7, 4.2e7, 3.0e7),
    text_ids=(3.5e7, 3.35e7, 2.2e7, 1.8e7),
)
# An NVIDIA H200, measured by gf.calibrate(device=True) on 2026-11-22. Deals were not measured; they are
# assumed to be as fast as builds, as on the host. The rate of text comes from the components of 100 million
# edges between strings. Integers that are far apart are assumed to be as fast as text, and dense integers
# as fast as a pull.
DEVICE = Rates(
    sizes=(1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24),
    hooks=(1.52e9, 2.68e9, 1.17e10, 3.59e10, 7.97e10),
    builds=(1.37e9, 3.82e9, 6.24e9, 7.25e9, 8.68e9),
    pulls=(6.15e9, 2.53e10, 7.01e10, 1.37e11, 1.54e11),
    searches=(3.59e8, 1.35e9, 4.32e9, 1.47e10, 3.17e10),
    paths=(2.27e8, 5.67e8, 1.67e9, 4.80e9, 8.74e9),
    labels=(2.44e9, 5.44e9, 8.36e9, 1.15e10, 1.14e10),
    merges=(1.78e8, 6.73e8, 2.40e9, 9.17e9, 3.37e10),
    deals=(1.37e9, 3.82e9, 6.24e9, 7.25e9, 8.68e9),
    dense_ids=(6.15e9, 2.53e10, 7.01e10, 1.37e11, 1.54e11),
    far_ids=(6.8e8,) * 5,
    text_ids=(6.8e8,) * 5,
    copies=5.8e9,
)


def default_rates(device: bool, threads: int) -> Rates:
    """Return the rates of a typical GPU, or of `threads` threads of a typical host."""
    return DEVICE if device else HOST.over(1 / threads)
