"""Ids of groups that stay the same while the groups change: the checks of the call."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dask_graphflow.calls.stable_ids.plan import Table, plan
from dask_graphflow.calls.stable_ids.rows import MEMORY, memory_columns
from dask_graphflow.exceptions import UnknownColumnError
from dask_graphflow.graph import dtypes
from dask_graphflow.graph.advice import library_of
from dask_graphflow.graph.edgelist import EdgeColumns, check_columns, vertex_names
from dask_graphflow.inputs.hold_frame import as_dask
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.tables import counted

from .types import ArrowStream, Frame

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

OTHER_IDS = "Give labels with ids of the type that they had in the earlier call"


class StableIds(NamedTuple):
    """The frames that :func:`.stable_ids` returns. ``dask.compute(*ids)`` computes them together."""

    labels: DataFrame
    events: DataFrame
    memory: DataFrame


@explained
def stable_ids(
    labels: Frame | ArrowStream,
    previous: StableIds | Frame | ArrowStream | None = None,
) -> StableIds:
    """Return ids of groups that stay the same from one call to the next, and what happened to the groups.

    Algorithms name a component or a community anew in each call. This function compares the members of
    the groups with those of an earlier call, and gives them the ids that they had. It works for any
    grouping, and does not need the graph.

    Parameters
    ----------
    labels : DataFrame
        The group of each vertex, one row per vertex: the result of `connected_components`, `leiden`,
        `louvain`, `label_propagation` or any other grouping, lazy or not. The columns of the vertices are
        called ``vertex``, or ``vertex_0``, ``vertex_1`` and so on, and one more column has the group.
        Groups that are named by ids of k columns have k columns, such as ``component_0`` and
        ``component_1``. If a result has several levels or thresholds, give one of them, for example
        ``labels[["vertex", "community_1"]]``.
    previous : StableIds or DataFrame, optional
        The result of the earlier call, or its frame `memory`, which may have been written to Parquet and
        read again. None by default, for the first call.

    Returns
    -------
    StableIds
        A named tuple of three lazy frames. They are the same for every partitioning, numbering of the
        groups and scheduler.

        ``labels``
            The columns of the vertices, and ``id`` (int64). The rows are in the order of `labels`. A
            smaller id is older. The ids of the first call are 0, 1 and so on, in the order of the smallest
            vertices of the groups.
        ``events``
            What happened to the groups that changed: ``event`` (str), ``old`` and ``new`` (Int64, ids),
            ``old_size`` and ``new_size`` (int64, number of vertices of these groups in the earlier and in
            this call). Groups that are in no row have the same members as before. Sorted by event, old and
            new.
        ``memory``
            What the next call needs as `previous`: one row per vertex, and one for each group that has
            changed so far, as it was before the change. The columns are those of the vertices, ``id``
            (int64), ``size`` (int64), ``members`` (uint64) and ``update`` (int64).

    Raises
    ------
    UnknownColumnError
        `labels` does not have the columns of the vertices and of one group, or `previous` is not a memory.
    VertexTypeError
        Ids of vertices or groups have a dtype that is not allowed, or the vertices in `previous` have
        another type than those in `labels`.
    OptionError
        A column of `previous` has another dtype than in a memory.
    NullVertexError
        A value is null. Raised when the result is computed.
    EdgeListError
        A vertex has several rows. Raised when the result is computed.

    Notes
    -----
    A group that has not changed keeps its id. The others get their ids by three rules, in this order, and
    no id is given twice:

    1. A group with exactly the members that a group had before an earlier call gets that group's id. If
       there are several such ids, it gets that of the group that changed last. So to undo a merge or a
       split gives back all ids.
    2. Each old group has one heir: the group with most of its vertices. If there are several, the heir is
       the one with the smallest vertex. A group gets the smallest id among those that it inherits.
    3. A group without an id gets the id of a group that changed earlier, if it contains the smallest vertex
       that this group had. If there are several such ids, it gets that of the group that changed last.
       All other groups get new ids, in the order of their smallest vertices.

    Members are compared by their number and by the sum of 64-bit hashes, so two different groups count as
    equal with a probability of about 2**-64.

    The events are:

    - *created*: no vertex of the group was in the earlier call. `old` is null.
    - *extended*: the group kept its id, and got vertices that were not in the earlier call. `old` and `new`
      are equal.
    - *shrunk*: the group kept its id, and some of its vertices are not in this call. `old` and `new` are
      equal.
    - *split*: a part of the old group is a group with another id, and all other parts of the old group are
      elsewhere.
    - *merged*: vertices of the old group are in a group with another id, which has vertices of other old
      groups too, or has all of the old group.
    - *dissolved*: no vertex of the old group is in this call. `new` is null.

    One task decides about all groups. It needs memory for one row per pair of an old and a new group with a
    common vertex. Everything else works partition by partition. The memory gets one row for each group that
    changes; if a group has been the same before, the row replaces the earlier one.

    The rules follow the matching of communities in successive snapshots by Greene et al. [1]_, with the
    size of the overlap as the measure.

    References
    ----------
    .. [1] D. Greene, D. Doyle, P. Cunningham, "Tracking the Evolution of Communities in Dynamic Social
       Networks", ASONAM 2010.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> monday = pd.DataFrame({"vertex": list("abcde"), "component": list("aaccc")})
    >>> ids = gf.stable_ids(monday)
    >>> ids.labels.compute().id.tolist()
    [0, 0, 1, 1, 1]

    On Tuesday, "b" has left its group, and the groups have other names:

    >>> tuesday = pd.DataFrame({"vertex": list("abcdef"), "component": [2, 1, 3, 3, 3, 3]})
    >>> new = gf.stable_ids(tuesday, previous=ids)
    >>> new.labels.compute().id.tolist()
    [0, 2, 1, 1, 1, 1]
    >>> new.events.compute()
          event  old  new  old_size  new_size
    0  extended    1    1         3         4
    1     split    0    2         2         1
    """
    library = library_of(labels)
    frame = as_dask(labels, "labels", *getattr(labels, "columns", ()), library=library)
    names, groups = _split([*frame.columns])
    group = _columns(frame, groups, vertex_names("group", len(groups)), "labels", library)
    vertex = _columns(frame, names, names, "labels", library)
    if previous is None:
        return StableIds(*plan(Table(frame, (vertex, group)), None))
    memory = _memory(previous, vertex)
    vertex = replace(vertex, dtypes=memory.columns[0].dtypes)
    return StableIds(*plan(Table(frame, (vertex, group)), memory))


def _columns(
    frame: Any, columns: Sequence[Any], names: Sequence[str], role: str, library: str
) -> EdgeColumns:
    """Return how to read some columns, which get other names; raise if their values cannot be ids."""
    check_columns(frame, columns, role)
    types = tuple(dtypes.vertex_dtype(frame._meta[column], role, library) for column in columns)
    own = tuple(columns)
    return EdgeColumns(own, own, tuple(names), types, role=role, library=library)


def _split(columns: Sequence[Any]) -> tuple[list[str], list[Any]]:
    """Return the columns of the vertices and of the groups of labels; raise if they are not clear."""
    parts = next(k for k in itertools.count() if f"vertex_{k}" not in columns)
    width = 1 if "vertex" in columns else parts
    vertex = vertex_names("vertex", width)
    groups = [column for column in columns if column not in vertex]
    usable = width > 0 and {*vertex} <= {*columns}
    if usable and len(groups) == 1:
        return vertex, groups
    if usable and groups == vertex_names(str(*groups[:1]).removesuffix("_0"), width):
        return vertex, groups
    if usable and groups:
        advice = f"Give one group per vertex, for example labels[{[*vertex, groups[0]]}]"
    elif usable:
        advice = "Add a column with the group of each vertex"
    else:
        advice = "Rename the column with the ids of the vertices to 'vertex'"
    raise UnknownColumnError(
        f"labels has the columns {', '.join(map(repr, columns)) or 'none'}; labels are the vertices, and "
        f"one column with their groups. {advice}"
    )


def _memory(previous: Any, vertex: EdgeColumns) -> Table:
    """Return the memory of an earlier call, whose vertices are read with the dtypes of both calls."""
    given = previous.memory if isinstance(previous, StableIds) else previous
    library = library_of(given)
    frame = as_dask(given, "previous", *vertex.names, library=library)
    have = [*frame.columns]
    if missing := [name for name in (*vertex.names, *MEMORY) if name not in have]:
        raise UnknownColumnError(
            f"previous has the columns {', '.join(map(repr, have)) or 'none'}, and lacks "
            f"{', '.join(map(repr, missing))}; give the result of an earlier call for ids of "
            f"{counted(len(vertex.names), 'part')}, or its frame `memory`"
        )
    own = _columns(frame, vertex.names, vertex.names, "previous", library)
    common = tuple(
        dtypes.common_dtype(*pair, "labels", "previous", OTHER_IDS)
        for pair in zip(vertex.dtypes, own.dtypes, strict=True)
    )
    return Table(frame, (replace(own, dtypes=common), memory_columns(frame._meta, library)))
