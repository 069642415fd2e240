"""The timetable of a call on a frame: the columns of the edges that the option `timetable` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphflow.exceptions import EdgeListError
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.graph.edgelist import EdgeColumns, check_columns, is_name

TIMETABLE = "timetable"  # name of the option


def timetable_of(edges: Any, columns: EdgeColumns, options: Mapping[str, Any]) -> Any:
    """Return the ids and the times of edges as a frame; `columns` says how the edges are read.

    Raises
    ------
    EdgeListError
        The edges are not a frame, or do not have such columns.
    """
    from dask_graphflow.graph.times import COLUMNS  # which other calls do not need

    given = {
        role: options[role]
        for role in COLUMNS
        if is_name(options[role]) and options[role] is not None
    }
    ids = [*columns.source, *columns.target]
    frame = as_frame(edges, "edges", lambda have: [*ids, *given.values()])
    if not hasattr(frame, "columns"):
        raise EdgeListError(
            f"edges is a {type(edges).__name__}, which has no times; give a DataFrame with columns for them"
        )
    for role, name in given.items():
        check_columns(frame, [name], role)
    frame = frame[[*ids, *dict.fromkeys(given.values())]]
    return frame.dropna(subset=list(dict.fromkeys(ids))) if columns.dropna else frame
