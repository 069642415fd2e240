"""The edges of a call: one pass from what the caller gives to a checked frame and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dask_graphflow.exceptions import EdgeListError, OptionError
from dask_graphflow.graph import dtypes, edgelist
from dask_graphflow.graph.advice import convert, library_of
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import is_pandas
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown

from .forms import as_edges
from .hold_frame import hold
from .vertex_frame import vertex_frame

__all__ = ["CheckedEdges", "check_edges", "moved_to_gpu"]

Frames = list[tuple[Any, EdgeColumns]]


class CheckedEdges(NamedTuple):
    """The edges of a call, whose columns are valid."""

    frame: Any  # dask.dataframe.DataFrame or Held
    columns: EdgeColumns  # how to read the edges
    vertices: list[Any]  # ids that are vertices even without an edge: frames, series or lists
    directed: bool  # whether edges lead only from their source to their target
    # DataFrame of Dask, pandas or cuDF. The edges before a frame in memory became one partition.
    rows: Any

    def frames(self, more: Sequence[tuple[Any, EdgeColumns]] = ()) -> Frames:
        """Return the frames of edges, of vertices, and more that are read together, and how to read each.

        All of them are read with id dtypes that can represent the ids of all of them.
        """
        listed = [vertex_frame(ids, self.columns, self.frame._meta) for ids in self.vertices]
        every = [(self.frame, self.columns), *listed, *more]
        common = self.columns.dtypes
        for _, columns in every[1:]:
            common = tuple(
                dtypes.common_dtype(one, other, "the edges' id", columns.role)
                for one, other in zip(common, columns.dtypes, strict=True)
            )
        return [(frame, replace(columns, dtypes=common)) for frame, columns in every]


def check_edges(
    edges: Any,
    source: Any,
    target: Any,
    *,
    weight: Any = None,
    vertices: Any = None,
    directed: bool | None = None,
    dropna: bool = False,
) -> CheckedEdges:
    """Return given edges as a frame, and how to read it; raise if an argument is invalid.

    See :func:`.as_edges` and :class:`.Graph` for the arguments.
    """
    rows = as_edges(edges, source, target, weight=weight, directed=directed)
    library = library_of(edges)
    have, weight = list(rows.frame.columns), rows.weight
    source, target = edgelist.ends_of(source, target, have)
    sources = edgelist.as_columns(source, "source", have)
    targets = edgelist.as_columns(target, "target", have)
    edgelist.check_columns(rows.frame, sources, "source")
    edgelist.check_columns(rows.frame, targets, "target")
    if len(sources) != len(targets):
        raise EdgeListError(
            f"source={source!r} has {counted(len(sources), 'column')} and target={target!r} has "
            f"{len(targets)}; both ends of an edge must have the same number of columns"
        )
    frame = hold(rows.frame, "edges", [*sources, *targets], library)
    if weight is not None:
        edgelist.check_weight(frame, weight, library)
    meta, of_ids = frame._meta, []
    for s, t in zip(sources, targets, strict=True):
        left = dtypes.vertex_dtype(meta[s], "source", library)
        right = dtypes.vertex_dtype(meta[t], "target", library)
        others = [name for name, one in ((s, left), (t, right)) if dtypes.kind(one) != "string"]
        advice = f"Make both text, for example with {convert('edges', library, others, 'text')}"
        of_ids.append(dtypes.common_dtype(left, right, f"source={s!r}", f"target={t!r}", advice))
    columns = EdgeColumns(
        tuple(sources),
        tuple(targets),
        tuple(edgelist.vertex_names("vertex", len(sources))),
        tuple(of_ids),
        weight=weight,
        dropna=dropna,
        weight_dtype=None if weight is None else dtypes.number_dtype(meta[weight].dtype),
        library=library,
    )
    listed = [ids for ids in (rows.vertices, vertices) if ids is not None]
    return CheckedEdges(frame, columns, listed, rows.directed, rows.frame)


def moved_to_gpu(frame: Any, device: Any) -> bool:
    """Return whether a call moves edges from host memory to a GPU; raise if `device` is invalid."""
    if device is not None and not (isinstance(device, str) and device == "gpu"):
        raise OptionError(
            f"device={shown(device)}; give 'gpu' to run on GPUs, or None to run where the edges are stored"
            f"{nearest(shown(device).lower(), ['gpu'])}"
        )
    return device == "gpu" and is_pandas(type(frame))
