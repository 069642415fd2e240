"""The inputs of a call: checking them, and converting them to frames of edges."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.declarations.option import Flag
from dask_graphflow.exceptions import (
    EdgeListError,
    OptionError,
    UnknownColumnError,
    WeightError,
)
from dask_graphflow.graph import dtypes, edgelist, vertex_ids
from dask_graphflow.graph.advice import convert, library_of
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.graph.edgelist import EdgeColumns, vertex_names
from dask_graphflow.graph.frames import is_pandas
from dask_graphflow.runtime.edge_inputs import as_edges
from dask_graphflow.runtime.inputs import as_dask
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown

__all__ = [
    "EdgeFrame",
    "ascending",
    "check_dense",
    "edge_columns",
    "edge_frame",
    "graph_inputs",
    "moved_to_gpu",
    "seed_frames",
    "vertex_frame",
    "with_one_dtype",
]


class EdgeFrame(NamedTuple):
    """The edges of a call as a frame.

    Attributes
    ----------
    frame : dask.dataframe.DataFrame or Held
    source, target : column name, or list of column names
    vertices : list
        Ids that are vertices even without an edge: frames, series or lists.
    directed : bool
        Whether edges lead only from their source to their target.
    weight : column name or None
        The column with the weights.
    library : str
        The library whose methods the given edges have; see :func:`.advice.library_of`.
    """

    frame: Any
    source: Any
    target: Any
    vertices: list[Any]
    directed: bool
    weight: Any
    library: str


def edge_frame(
    edges: Any,
    source: Any,
    target: Any,
    *,
    weight: Any = None,
    vertices: Any = None,
    directed: bool | None = None,
) -> EdgeFrame:
    """Return given edges as a frame; see :func:`.as_edges` for the arguments."""
    given = as_edges(edges, source, target, weight=weight, directed=directed)
    source, target = edgelist.ends_of(source, target, list(given.frame.columns))
    library = library_of(edges)
    frame = as_dask(given.frame, "edges", source, target, library=library)
    listed = [ids for ids in (given.vertices, vertices) if ids is not None]
    return EdgeFrame(frame, source, target, listed, given.directed, given.weight, library)


def graph_inputs(given: EdgeFrame, *, multi: str, dropna: bool) -> list[tuple[Any, EdgeColumns]]:
    """Return the frames of a graph's edges and of its given vertices, and how to read each.

    Raise if an argument is invalid; see :class:`.Graph`.
    """
    if given.weight is not None:
        edgelist.check_weight(given.frame, given.weight, given.library)
    elif multi in ("sum", "min"):
        raise WeightError(f"multi={multi!r} needs weights; name their column with weight=")
    columns = edge_columns(given, given.weight, dropna)
    listed = [vertex_frame(ids, columns, given.frame._meta) for ids in given.vertices]
    return with_one_dtype([(given.frame, columns), *listed])


def moved_to_gpu(frame: Any, device: Any) -> bool:
    """Return whether a call moves edges from host memory to a GPU, or raise if the option is invalid.

    Parameters
    ----------
    frame : DataFrame
        The edges, or other rows of the same backend.
    device
        An option of :class:`.Graph`.
    """
    if device is not None and not (isinstance(device, str) and device == "gpu"):
        raise OptionError(
            f"device={shown(device)}; give 'gpu' to run on GPUs, or None to run where the edges are stored"
            f"{nearest(shown(device).lower(), ['gpu'])}"
        )
    return device == "gpu" and is_pandas(type(frame))


def ascending(
    edges: Any, weight: Any, threshold: float | None, thresholds: Sequence[float] | None
) -> list[float]:
    """Return the thresholds in ascending order, or raise if they do not fit the weight.

    Each one is an int or a float that equals the given value exactly.
    """
    if threshold is not None and thresholds is not None:
        raise OptionError("threshold= and thresholds= were both given; give one of them")
    given = [threshold] if threshold is not None else _listed(thresholds)
    if thresholds is not None and not given:
        raise OptionError("thresholds=[] is empty; give at least one, or leave it out")
    limits = [_exact(value) for value in given]
    if len(set(limits)) < len(limits):
        raise OptionError(
            f"thresholds={limits!r} has a threshold more than once; give each of them once"
        )
    if given and weight is None:
        raise WeightError(
            f"threshold {given[0]!r} needs a weight to be compared with; name its column with weight=. "
            f"The frame has {', '.join(map(repr, edges.columns))}"
        )
    if weight is not None:
        edgelist.check_weight(edges, weight)
        if not given:
            raise WeightError(
                f"weight={weight!r} does nothing without threshold= or thresholds=; add one, or leave "
                "the weight out"
            )
    return sorted(limits)


def _listed(thresholds: Any) -> list[Any]:
    """Return the thresholds as a list, or raise if they are not a list or an array."""
    try:
        return [] if thresholds is None else list(thresholds)
    except TypeError as error:
        raise OptionError(
            f"thresholds={shown(thresholds)}; give a list of numbers, or a single one as threshold="
        ) from error


def _exact(threshold: Any) -> float:
    """Return a threshold as an int or a float of the same value, or raise if that is not possible."""
    value = threshold.item() if isinstance(threshold, np.number) else threshold
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise OptionError(
            f"threshold {threshold!r} is not a number that a weight can be compared with; give an int "
            "or a float, other than NaN"
        )
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise OptionError(
            "a threshold is an integer outside the range of a float; give float('inf') for one that "
            "no finite weight reaches, or float('-inf') for one that every weight reaches"
        )
    return value


def edge_columns(given: EdgeFrame, weight: Any, dropna: bool) -> EdgeColumns:
    """Return how to read the edges, or raise if the columns are invalid."""
    Flag().check("dropna", dropna, None)
    edges, source, target = given.frame, given.source, given.target
    have = list(edges.columns)
    sources = edgelist.as_columns(source, "source", have)
    targets = edgelist.as_columns(target, "target", have)
    edgelist.check_columns(edges, sources, "source")
    edgelist.check_columns(edges, targets, "target")
    if len(sources) != len(targets):
        raise EdgeListError(
            f"source={source!r} has {counted(len(sources), 'column')} and target={target!r} has "
            f"{len(targets)}; both ends of an edge must have the same number of columns"
        )
    meta, library = edges._meta, given.library
    of_ids = []
    for s, t in zip(sources, targets, strict=True):
        left = dtypes.vertex_dtype(meta[s], "source", library)
        right = dtypes.vertex_dtype(meta[t], "target", library)
        others = [name for name, one in ((s, left), (t, right)) if dtypes.kind(one) != "string"]
        advice = f"Make both text, for example with {convert('edges', library, others, 'text')}"
        of_ids.append(dtypes.common_dtype(left, right, f"source={s!r}", f"target={t!r}", advice))
    names = edgelist.vertex_names("vertex", len(sources))
    return EdgeColumns(
        tuple(sources),
        tuple(targets),
        tuple(names),
        tuple(of_ids),
        weight=weight,
        dropna=dropna,
        weight_dtype=None if weight is None else dtypes.number_dtype(meta[weight].dtype),
        library=library,
    )


def check_dense(columns: EdgeColumns, renumber: bool) -> None:
    """Raise if `renumber` is False and the ids are not integers."""
    Flag().check("renumber", renumber, None)
    if not renumber and not (len(columns.dtypes) == 1 and dtypes.is_integer(columns.dtypes[0])):
        raise OptionError(
            f"renumber=False is for ids that are one column of integers; source={columns.source!r} has "
            f"dtype {', '.join(map(str, columns.dtypes))}. Leave it out"
        )


def vertex_frame(vertices: Any, edges: EdgeColumns, like: Any) -> tuple[Any, EdgeColumns]:
    """Return the vertices as edges from each vertex to itself.

    Parameters
    ----------
    vertices : frame, Series or Index, which can be lazy; or list or array of ids
    edges : EdgeColumns
        How the edges are read.
    like : DataFrame
        A frame of the backend of the edges. Vertices in a pandas object or in a list are converted to it.
    """
    width, library = len(edges.names), library_of(vertices)
    vertices = as_frame(vertices, "vertices")
    if vertex_ids.is_listed(vertices):
        parts = vertex_ids.listed(vertices, width, "vertices=")
        made = {}
        for name, own, dtype in zip(edges.names, parts, edges.dtypes, strict=True):
            if not len(own):  # its dtype says nothing
                made[name] = own.astype(dtype)
                continue
            made[name] = vertex_ids.typed(own, "vertices=")
            dtypes.vertex_dtype(made[name], "vertices=")
        vertices = pd.DataFrame(made)
    if isinstance(vertices, pd.MultiIndex):
        vertices = vertices.to_frame(name=vertex_names("vertex", vertices.nlevels))
    elif hasattr(vertices, "to_frame"):
        vertices = vertices.to_frame(name=edges.names[0])
    if isinstance(vertices, pd.DataFrame):
        vertices = vertex_ids.brought(vertices, like)
    columns = list(getattr(vertices, "columns", ()))[:width]
    frame = as_dask(vertices, "vertices", *columns, library=library)
    if len(frame.columns) < width:
        raise EdgeListError(
            f"vertices has {counted(len(frame.columns), 'column')} and an id has {width}; give one "
            "column per part of an id, before all other columns"
        )
    columns = list(frame.columns[:width])
    edgelist.check_columns(frame, columns, "vertices")
    return frame, _like(edges, frame, columns, columns, "vertices", library, level=0)


def seed_frames(
    seed: Any, edges: EdgeColumns, labels: Sequence[Sequence[str]]
) -> list[tuple[Any, EdgeColumns]]:
    """Return an earlier result as edges from each vertex to its component, threshold by threshold."""
    needed, library = [*edges.names, *itertools.chain(*labels)], library_of(seed)
    frame = as_dask(seed, "seed", needed, library=library)
    have = list(frame.columns)
    if missing := [name for name in needed if name not in have]:
        raise UnknownColumnError(
            f"seed has {', '.join(map(repr, have)) or 'no column'}, and lacks "
            f"{', '.join(map(repr, missing))}; give the result of an earlier call, with the columns "
            f"{', '.join(map(repr, needed))}{nearest(missing[0], have)}"
        )
    edgelist.check_columns(frame, needed, "seed")
    return [
        (frame, _like(edges, frame, edges.names, columns, "seed", library, level=level))
        for level, columns in enumerate(labels, start=1)
    ]


def _like(
    edges: EdgeColumns,
    frame: Any,
    source: Sequence[Any],
    target: Sequence[Any],
    role: str,
    library: str,
    level: int,
) -> EdgeColumns:
    common = list(edges.dtypes)
    for columns in (source, target):
        for part, column in enumerate(columns):
            common[part] = dtypes.common_dtype(
                common[part],
                dtypes.vertex_dtype(frame._meta[column], role, library),
                "the edges' id",
                f"{role} {column!r}",
            )
    return replace(
        edges,
        source=tuple(source),
        target=tuple(target),
        dtypes=tuple(common),
        weight=None,
        weight_dtype=None,
        level=level,
        role=role,
        library=library,
    )


def with_one_dtype(frames: Sequence[tuple[Any, EdgeColumns]]) -> list[tuple[Any, EdgeColumns]]:
    """Return frames that are read together, with id dtypes that can represent the ids of all of them."""
    common = frames[0][1].dtypes
    for _, columns in frames[1:]:
        common = tuple(
            dtypes.common_dtype(one, other, "the edges' id", columns.role)
            for one, other in zip(common, columns.dtypes, strict=True)
        )
    return [(frame, replace(columns, dtypes=common)) for frame, columns in frames]
