"""Expressions per vertex."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array
from dask_graphflow.kernels.program import VertexProgram


class FloatTotal(Protocol):
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

    wrong: int
    largest: float

    def parts(self, exponent: int, count: int) -> tuple[int, int]:
        """Return the two parts of the sum of all values times 2**-exponent; see :func:`.units`.

        Parameters
        ----------
        exponent : int
            No magnitude is 2**exponent or more, on any member.
        count : int
            Number of vertices of all members.
        """


class VerticesKernels(Protocol):
    """What :mod:`.vertices.host` and :mod:`.vertices.device` can do."""

    def assign(
        self, program: VertexProgram, given: Sequence[Any], columns: Sequence[Array]
    ) -> None:
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

    def new_float_total(
        self, program: VertexProgram, given: Sequence[Any], exists: Array, threads: int = 1
    ) -> FloatTotal:
        """Return a :class:`FloatTotal` with these parameters."""

    def integer_total(self, program: VertexProgram, given: Sequence[Any], exists: Array) -> int:
        """Return the sum of an expression of int64 or uint64 over a member's vertices, modulo 2**64."""

    def largest(
        self, program: VertexProgram, given: Sequence[Any], exists: Array, dtype: Any
    ) -> Array:
        """Return the largest value of an expression of some dtype over a member's vertices.

        The array is empty if the member has no vertices. A NaN is larger than every number.
        """


of: Callable[[Any], VerticesKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: VerticesKernels = host
    _device: VerticesKernels = device
