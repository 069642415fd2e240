"""The edges of a call: one pass from what the caller gives to a checked frame and its columns."""

from __future__ import annotations

from collections.abc import Iterator
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

from .forms import EdgeRows, as_edges
from .hold_frame import hold
from .vertex_frame import vertex_frame

Frames = list[tuple[Any, EdgeColumns]]
"""Frames of Dask, or :class:`.Held`, that are read as edges, and how to read each."""


class CheckedEdges(NamedTuple):
    """The edges of a call, whose columns are valid."""

    # The edges, and the ids that are vertices even without an edge. All are read with the same id dtypes.
    frames: Frames
    rows: EdgeRows  # the edges before a frame in memory became one partition
    further: tuple[Any, ...] = ()  # the names of further columns of the edges


def check_edges(
    edges: Any,
    source: Any,
    target: Any,
    *,
    weight: Any = None,
    vertices: Any = None,
    directed: bool | None = None,
    dropna: bool = False,
    columns: Any = None,
) -> CheckedEdges:
    """Return given edges as a frame, and how to read it; raise if an argument is invalid.

    See :func:`.as_edges` and :class:`.Graph` for the arguments.
    """
    rows = as_edges(edges, source, target, weight=weight, directed=directed, columns=columns)
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
    further = () if columns is None else _check_further(rows.frame, columns)
    frame = hold(rows.frame, "edges", [*sources, *targets], library)
    if weight is not None:
        edgelist.check_weight(frame, weight, library)
    read = EdgeColumns(
        tuple(sources),
        tuple(targets),
        tuple(edgelist.vertex_names("vertex", len(sources))),
        tuple(_id_dtypes(frame._meta, sources, targets, library)),
        weight=weight,
        dropna=dropna,
        weight_dtype=None if weight is None else dtypes.number_dtype(frame._meta[weight].dtype),
        library=library,
    )
    listed = [
        vertex_frame(ids, read, frame._meta) for ids in (rows.vertices, vertices) if ids is not None
    ]
    return CheckedEdges(read_alike([(frame, read), *listed]), rows, further)


def _check_further(frame: Any, columns: Any) -> tuple[Any, ...]:
    """Return the names of further columns of the edges, or raise unless the frame has each of them once."""
    names = edgelist.as_columns(columns, "columns", list(frame.columns))
    edgelist.check_columns(frame, names, "columns")
    edgelist.check_distinct(names, "columns")
    return tuple(names)


def _id_dtypes(meta: Any, sources: list[Any], targets: list[Any], library: str) -> Iterator[Any]:
    """Yield the dtype of each part of an id, which can represent both ends."""
    for s, t in zip(sources, targets, strict=True):
        left = dtypes.vertex_dtype(meta[s], "source", library)
        right = dtypes.vertex_dtype(meta[t], "target", library)
        others = [name for name, one in ((s, left), (t, right)) if dtypes.kind(one) != "string"]
        advice = f"Make both text, for example with {convert('edges', library, others, 'text')}"
        yield dtypes.common_dtype(left, right, f"source={s!r}", f"target={t!r}", advice)


def read_alike(frames: Frames) -> Frames:
    """Return frames that are read with id dtypes that can represent the ids of all of them.

    The first frame has the edges.
    """
    common, *others = (columns.dtypes for _, columns in frames)
    for (_, columns), own in zip(frames[1:], others, strict=True):
        pairs = zip(common, own, strict=True)
        common = tuple(dtypes.common_dtype(*pair, "the edges' id", columns.role) for pair in pairs)
    return [(frame, replace(columns, dtypes=common)) for frame, columns in frames]


def moves_to_gpu(frame: Any, device: Any) -> bool:
    """Return whether a call moves edges from host memory to a GPU; raise if `device` is invalid."""
    if device is not None and not (isinstance(device, str) and device == "gpu"):
        raise OptionError(
            f"device={shown(device)}; give 'gpu' to run on GPUs, or None to run where the edges are stored"
            f"{nearest(shown(device).lower(), ['gpu'])}"
        )
    return device == "gpu" and is_pandas(type(frame))
