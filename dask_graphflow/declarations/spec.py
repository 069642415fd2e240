"""What a graph is, without its edges: how they are read, and the types of its ids and weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import is_pandas


@dataclass(frozen=True, eq=False)
class GraphSpec:
    """What is known about a graph before any edge is read."""

    columns: EdgeColumns  # how the edges are read
    partitions: int  # number of partitions of the edges
    ids: Any  # DataFrame. Empty frame with the columns and dtypes of the ids.
    weight_dtype: Any  # dtype or None. Dtype of the stored weights; None if the edges have none.
    directed: bool  # whether an edge leads only from its source to its target
    multi: str  # {"keep", "sum", "min", "first"}. How parallel edges are treated.
    # Empty results by their columns; see empty_result().
    empty: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def weighted(self) -> bool:
        """Whether the edges have weights."""
        return self.weight_dtype is not None

    @property
    def on_device(self) -> bool:
        """Whether the edges are in GPU memory."""
        return not is_pandas(type(self.ids))

    @property
    def id_width(self) -> int:
        """Number of columns of an id."""
        return len(self.ids.columns)

    def row_columns(self, rows: str, *, weighted: bool = False) -> dict[str, Any]:
        """Return the first columns of a result, with their dtypes: the vertex or the edge of each row.

        Listed rows do not have such columns; see :class:`.Result`. An edge of a weighted graph also has the
        column ``weight`` if `weighted` is true.
        """
        ids = {"vertices": ["vertex"], "edges": ["source", "target"], "listed": []}[rows]
        weight = {"weight": self.weight_dtype} if weighted and self.weighted else {}
        return dict.fromkeys(ids, "id") | weight
