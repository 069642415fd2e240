"""Types of arguments, for editors and type checkers.

The protocols describe objects of libraries that this package does not import. Type checkers know a class
such as ``polars.DataFrame`` by its methods, so these protocols need no stubs of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol

import numpy.typing as npt

from dask_graphflow.showing.arguments import ColumnName

__all__ = [
    "Balance",
    "ColumnName",
    "ColumnNames",
    "Direction",
    "Edges",
    "Listener",
    "Multi",
]

ColumnNames = ColumnName | Sequence[ColumnName]  # one column name, or several
Listener = bool | Callable[[dict[str, Any]], object]  # the type of `progress`

Multi = Literal["keep", "sum", "min", "first"]
Storage = Literal["auto", "memory", "disk"]
Direction = Literal["gemini", "beamer", "push", "pull"]
Balance = Literal[
    "auto", "thread", "twc", "lb", "lb_light", "lb_cull", "lb_light_cull", "all_edges"
]


class Frame(Protocol):
    """A DataFrame of Dask, pandas or cuDF, or of a library that works like pandas."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, key: Any, /) -> Any: ...


class ArrowStream(Protocol):
    """A table of a library that exports Arrow data, such as polars, PyArrow or DuckDB."""

    @property
    def __arrow_c_stream__(self) -> Callable[..., object]: ...


class LazyFrame(Protocol):
    """A lazy frame of polars or narwhals."""

    def collect_schema(self) -> Any:
        """Return the names and types of the columns."""

    @property
    def collect(self) -> Callable[..., Any]:
        """Compute the frame."""


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    @property
    def tocsr(self) -> Callable[..., Any]:
        """Return the matrix as compressed rows."""

    @property
    def tocoo(self) -> Callable[..., Any]:
        """Return the matrix as coordinates."""


class NodesAndEdges(Protocol):
    """A graph of NetworkX."""

    @property
    def nodes(self) -> Any:
        """The nodes."""

    @property
    def edges(self) -> Any:
        """The edges."""

    def is_directed(self) -> bool:
        """Whether edges have a direction."""


Pairs = Iterable[tuple[Any, Any] | list[Any] | npt.NDArray[Any]]
Edges = Frame | ArrowStream | LazyFrame | SparseMatrix | NodesAndEdges | npt.NDArray[Any] | Pairs
