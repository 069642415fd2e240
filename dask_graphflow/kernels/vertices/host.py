"""Expressions per vertex on the host, computed with NumPy: one call per operation.

Each operation rounds separately, so the host and a GPU give the same bits.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.scores.host import total

WORD = 2**64


def assign(program, given, columns):
    values = [value.copy() for value in program.values(given)]
    for column, value in zip(columns, values, strict=True):
        column[:] = value


class HostFloatTotal:
    def __init__(self, program, given, exists, threads=1):
        (values,) = program.values(given)
        self._values, self._threads = np.where(exists, values, 0.0), threads
        finite = np.isfinite(self._values)
        self.wrong = int((~finite).sum())
        self.largest = float(abs(self._values[finite]).max(initial=0.0))

    def parts(self, exponent, count):
        high, low, _ = total(np.ldexp(self._values, -exponent), 1.0, count, threads=self._threads)
        return high, low


def integer_total(program, given, exists):
    (values,) = program.values(given)
    return int(np.where(exists, values, values.dtype.type(0)).sum()) % WORD


def largest(program, given, exists, dtype):
    (values,) = program.values(given)
    own = np.broadcast_to(values, exists.shape)[exists]
    return np.array([own.max()] if len(own) else [], dtype)


new_float_total = HostFloatTotal
