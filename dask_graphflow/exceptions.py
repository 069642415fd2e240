"""The errors of this library.

::

    GraphflowError
    ├── EdgeListError           the edge list cannot be taken as it is
    │   ├── UnknownColumnError      a column that the frame does not have
    │   ├── NullVertexError         a null where a vertex id is needed
    │   ├── VertexTypeError         ids of a type that cannot name a vertex
    │   └── WeightError             a weight that is missing or not a number
    ├── UnknownVertexError      an id was named that no edge begins or ends at
    ├── ExpressionError         an edge program that is not of the language, or whose types do not fit
    ├── ConvergenceError        an iteration did not come to rest in the steps it was given
    ├── OptionError             an option's value is not one of those allowed
    ├── BackendError            CuPy, cuDF or a GPU is needed and is not there
    ├── GraphMemoryError        a forest does not fit into the memory where it is to lie
    ├── WorkerLostError         a worker was lost, and what it held cannot be made again as it was
    ├── InputFileError          a file that cannot be read
    └── OutputError             a result that cannot be written

Every message says what was given, what is allowed and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BackendError",
    "ConvergenceError",
    "EdgeListError",
    "ExpressionError",
    "GraphMemoryError",
    "GraphflowError",
    "InputFileError",
    "NullVertexError",
    "OptionError",
    "OutputError",
    "UnknownColumnError",
    "UnknownVertexError",
    "VertexTypeError",
    "WeightError",
    "WorkerLostError",
    "nearest",
]


class GraphflowError(Exception):
    """Base class of every error that this library raises on purpose."""


class EdgeListError(GraphflowError, ValueError):
    """The edge list cannot be taken as it is."""


class UnknownColumnError(EdgeListError):
    """A column was named that the frame does not have."""


class NullVertexError(EdgeListError):
    """An id column holds nulls and ``dropna`` was not asked for."""


class VertexTypeError(EdgeListError):
    """An id column has a type that cannot name a vertex."""


class WeightError(EdgeListError):
    """A weight is missing where one is needed, or is not a number."""


class UnknownVertexError(GraphflowError, ValueError):
    """An id was named that no edge begins or ends at."""


class ExpressionError(GraphflowError, ValueError):
    """An edge program says what its language cannot, or its types do not fit the columns."""


class ConvergenceError(GraphflowError, RuntimeError):
    """An iteration did not come to rest in the steps it was given."""


class OptionError(GraphflowError, ValueError):
    """An option was given a value that is not one of those allowed."""


class BackendError(GraphflowError, RuntimeError):
    """A GPU, CuPy or cuDF is needed and is not there or does not work."""


class GraphMemoryError(GraphflowError, MemoryError):
    """A forest, or a part of a graph, does not fit into the memory where it is to lie.

    Attributes
    ----------
    needed : int
        Bytes of what there was no room for; 0 where nothing says.
    available : int or None
        Bytes that were there, as far as can be told; None where nothing says.
    """

    def __init__(self, message: str, needed: int, available: int | None) -> None:
        super().__init__(message)
        self.needed = needed
        self.available = available

    # Not left to the base classes: a worker would send what it could not restore as an Exception.
    def __reduce__(self) -> tuple[type[GraphMemoryError], tuple[str, int, int | None]]:
        return type(self), (str(self), self.needed, self.available)


class WorkerLostError(GraphflowError, RuntimeError):
    """A worker was lost, and with it something that could not be made again as it was."""


class InputFileError(GraphflowError, OSError):
    """A file cannot be read as an edge list."""


class OutputError(GraphflowError, OSError):
    """A result cannot be written where it was asked for."""


def nearest(name: object, candidates: Iterable[object]) -> str:
    """Say which candidate is spelled most like `name`, as a clause to end a message with."""
    close = difflib.get_close_matches(str(name), [str(c) for c in candidates], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
