"""The rows of labels and of a memory: the names of their columns, and checks of each partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import NullVertexError, OptionError
from dask_graphflow.graph import dtypes, frames
from dask_graphflow.graph.edgelist import EdgeColumns, column_of
from dask_graphflow.graph.hash_ids import hash_ids
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.showing.tables import counted

CURRENT = -1  # the update of those rows of a memory that have the current id of each vertex
HASH = "hash"

# The columns of a memory after those of the vertices. A row with an update remembers a group as it was
# before that update, by its smallest vertex, id, size and hash. In all other rows, size and hash are 0.
MEMORY = {"id": "int64", "size": "int64", "members": "uint64", "update": "int64"}
ADVICE = {
    "labels": "give a group for each vertex, or leave such rows out",
    "previous": "give the memory of an earlier call as that call returned it",
}


def memory_columns(given: Any, library: str) -> EdgeColumns:
    """Return how to read the columns of a memory that do not belong to the vertices; raise if none fit."""
    for name in MEMORY:
        if not dtypes.is_integer(dtype := given[name].dtype):
            raise OptionError(
                f"previous has the dtype {dtype} in its column {name!r}, which holds whole numbers; "
                f"{ADVICE['previous']}"
            )
    names, types = tuple(MEMORY), tuple(np.dtype(dtype) for dtype in MEMORY.values())
    return EdgeColumns(names, names, names, types, role="previous", library=library)


def read(frame: Any, partition: int, *columns: EdgeColumns) -> pd.DataFrame:
    """Return the rows of a partition in host memory, with the hashes of their vertices.

    The first `columns` are those of the vertices.

    Raises
    ------
    NullVertexError
        A value is null.
    UnknownColumnError, VertexTypeError
        See :meth:`.EdgeColumns.ends`.
    """
    rows = brought(frame, pd.DataFrame()).reset_index(drop=True)
    series: dict[str, Any] = {}
    for some in columns:
        where = f"partition {partition} of {some.role}"
        for name in some.source:
            if nulls := int(column_of(rows, name, where).isna().sum()):
                raise NullVertexError(
                    f"column {name!r} has {counted(nulls, 'null')} in {where}; {ADVICE[some.role]}"
                )
        series |= some.ends(rows, partition)[0].series
    vertices = frames.build(pd.DataFrame, {name: series[name] for name in columns[0].names})
    made: pd.DataFrame = frames.build(pd.DataFrame, {**series, HASH: hash_ids(vertices)})
    return made
