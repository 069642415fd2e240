"""Expressions per vertex on the host, computed with NumPy: one call per operation.

Each operation rounds separately, so the host and a GPU give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels.program import VertexProgram
from dask_graphflow.kernels.scores.host import total

WORD = 2**64


def assign(program: VertexProgram, given: Sequence[Any], columns: Sequence[np.ndarray]) -> None:
    """Assign the values of expressions to columns.

    Parameters
    ----------
    program : VertexProgram
    given : sequence of array or NumPy scalar
        What the expressions read. It may contain `columns`: all expressions read the values from before
        the call.
    columns : sequence of array, shape (V_p,)
        One column per expression, with its dtype.
    """
    values = [value.copy() for value in program.values(given)]
    for column, value in zip(columns, values, strict=True):
        column[:] = value


class HostFloatTotal:
    """The sum of an expression over a member's vertices, in two passes.

    Parameters
    ----------
    program : VertexProgram
        A single expression, of float64.
    given : sequence of array or NumPy scalar
        See :func:`assign`.
    exists : array of bool, shape (V_p,)
        Which positions are vertices.
    threads : int
        Host threads to use.

    Attributes
    ----------
    wrong : int
        Number of values that are infinite or NaN.
    largest : float
        The largest magnitude of the other values.
    """

    def __init__(
        self, program: VertexProgram, given: Sequence[Any], exists: np.ndarray, threads: int = 1
    ) -> None:
        (values,) = program.values(given)
        self._values, self._threads = np.where(exists, values, 0.0), threads
        finite = np.isfinite(self._values)
        self.wrong = int((~finite).sum())
        self.largest = float(abs(self._values[finite]).max(initial=0.0))

    def parts(self, exponent: int, count: int) -> tuple[int, int]:
        """Return the two parts of the sum of all values times 2**-exponent; see :func:`.units`.

        Parameters
        ----------
        exponent : int
            No magnitude is 2**exponent or more, on any member.
        count : int
            Number of vertices of all members.
        """
        high, low, _ = total(np.ldexp(self._values, -exponent), 1.0, count, threads=self._threads)
        return high, low


def integer_total(program: VertexProgram, given: Sequence[Any], exists: np.ndarray) -> int:
    """Return the sum of an expression of int64 or uint64 over a member's vertices, modulo 2**64."""
    (values,) = program.values(given)
    return int(np.where(exists, values, values.dtype.type(0)).sum()) % WORD


def largest(
    program: VertexProgram, given: Sequence[Any], exists: np.ndarray, dtype: Any
) -> np.ndarray:
    """Return the largest value of an expression of some dtype over a member's vertices.

    The array is empty if the member has no vertices. A NaN is larger than every number.
    """
    (values,) = program.values(given)
    own = np.broadcast_to(values, exists.shape)[exists]
    return np.array([own.max()] if len(own) else [], dtype)


new_float_total = HostFloatTotal
