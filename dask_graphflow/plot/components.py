"""The sizes of components, and the number of components of each size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

from dask_graphflow.exceptions import EdgeListError, NullVertexError, UnknownColumnError
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.tasks.clients import check_waiting, compute
from dask_graphflow.tasks.names import unique

from .canvas import INK, PALETTE, log_axes, named, new_axes, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = "__size__"  # column name that does not clash with the columns of the labels


@explained
def components(labels: Any, *, column: Any = "component", ax: Axes | None = None) -> Axes:
    """Plot the number of components of each size, and name the largest component.

    Both axes are logarithmic, because most graphs have one large component and many small ones.

    Parameters
    ----------
    labels : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame
        One row per vertex, as returned by :func:`dask_graphflow.connected_components`. The sizes of a Dask
        frame are counted on the workers, and only the histogram is sent to this process.
    column : column name
        Column with the component of each vertex; "component" by default. With thresholds it is a name such
        as ``"component_0.9"``, and for communities ``"label"``. If ids have several columns, give the
        common prefix: ``"component"`` stands for ``component_0``, ``component_1`` and so on.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes. Their only line has the sizes in ascending order (in vertices) as x, and the numbers of
        components as y.

    Raises
    ------
    UnknownColumnError
        The frame has no such column.
    NullVertexError
        A vertex has no component.
    EdgeListError
        `labels` is not a DataFrame.
    BackendError
        Matplotlib is not installed.
    UsageError
        `labels` is lazy, and the caller is the event loop of an asynchronous client.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> pairs = pd.DataFrame({"a": [1, 2, 7, 9], "b": [2, 3, 8, 9]})
    >>> ax = gf.plot.components(gf.connected_components(pairs, source="a", target="b"))
    >>> sizes, counts = ax.lines[0].get_data()
    >>> sizes.tolist(), counts.tolist()
    ([1, 2, 3], [1, 1, 1])
    >>> ax.get_title(loc="left")
    '3 components of 6 vertices'
    """
    pyplot()  # before anything is computed
    summary = _count_sizes(labels, column)
    sizes, counts = summary.sizes, summary.counts
    ax = new_axes(ax, (5, 3.5))
    ax.vlines(sizes, 0, counts, color=PALETTE[0], linewidth=1.5, alpha=0.35)
    ax.plot(sizes, counts, "o", color=PALETTE[0], markersize=5, clip_on=False)
    log_axes(ax, sizes.max(initial=1), counts.max(initial=1))
    noun = "component" if str(column).startswith("component") else "group"
    ax.set_xlabel(f"size of a {noun} (vertices)")
    ax.set_ylabel(f"{noun}s of that size")
    vertices = counted(int((sizes * counts).sum()), "vertex", "vertices")
    ax.set_title(f"{counted(int(counts.sum()), noun)} of {vertices}", loc="left")
    if len(sizes):
        _name(ax, summary)
    return ax


def _name(ax: Axes, summary: _Sizes) -> None:
    """Write the name of the largest component beside its point."""
    size, count = int(summary.sizes[-1]), int(summary.counts[-1])
    name = named(summary.largest, 40)
    others = f" and {count - 1:,} more" if count > 1 else ""
    left, right = ax.get_xlim()
    far = np.log(size / left) > 0.5 * np.log(right / left)
    ax.annotate(
        f"largest: {name}{others}\n{counted(size, 'vertex', 'vertices')}",
        (size, count),
        xytext=(6 if not far else 0, 9),
        textcoords="offset points",
        ha="right" if far else "left",
        va="bottom" if count * 4 < ax.get_ylim()[1] else "top",
        color=INK,
    )


@dataclass(frozen=True)
class _Sizes:
    """Number of components of each size, in ascending order, and the parts of the largest one's name."""

    sizes: np.ndarray
    counts: np.ndarray
    largest: tuple[Any, ...]

    @classmethod
    def of(cls, components: pd.DataFrame) -> _Sizes:
        """Count the sizes of components. Each row has the columns of a component's name, and its size."""
        sizes, counts = np.unique(components[SIZE].to_numpy(), return_counts=True)
        names = [column for column in components.columns if column != SIZE]
        top = components[components[SIZE] == (sizes[-1] if len(sizes) else 0)]
        first = top.sort_values(names)[names].head(1)
        return cls(sizes, counts, next(first.itertuples(index=False, name=None), ()))

    @classmethod
    def all(cls, parts: list[_Sizes]) -> _Sizes:
        """Return the combined sizes of parts that have no component in common."""
        each = np.concatenate([part.sizes for part in parts])
        sizes, places = np.unique(each, return_inverse=True)
        counts = np.zeros(len(sizes), np.int64)
        np.add.at(counts, places, np.concatenate([part.counts for part in parts]))
        largest = [
            part.largest for part in parts if sizes[-1:].tolist() == part.sizes[-1:].tolist()
        ]
        return cls(sizes, counts, min(largest, default=()))


def _count_sizes(labels: Any, column: Any) -> _Sizes:
    if not hasattr(labels, "columns"):
        raise EdgeListError(
            f"labels is a {type(labels).__module__}.{type(labels).__name__}; give a frame with one "
            "row per vertex, such as the result of connected_components"
        )
    names = _columns(labels, column)
    if not isinstance(labels, dd.DataFrame):
        return _Sizes.of(_count_vertices(labels[names]))
    check_waiting("gf.plot.components", "gf.plot.components(...)")
    meta = _count_vertices(labels._meta[names])
    counts = labels[names].map_partitions(_count_vertices, meta=meta, token="graphflow-plot")
    # In the worst case, there are as many components as vertices, so use as many partitions.
    sizes = counts.groupby(names, sort=False)[SIZE].sum(split_out=labels.npartitions)
    whole = sizes.reset_index().to_delayed()
    of = dask.delayed(_Sizes.of)
    tasks = (of(part, dask_key_name=unique("plot")) for part in whole)
    return _Sizes.all(list(compute(*tasks)))


def _columns(labels: Any, column: Any) -> list[Any]:
    """Return the columns that name a component; there are as many as for a vertex."""
    have, width = list(labels.columns), 0
    while f"vertex_{width}" in have:
        width += 1
    names = [column] if column in have else vertex_names(column, max(width, 1))
    if any(name not in have for name in names):
        raise UnknownColumnError(
            f"column={column!r} is not a column of the labels, which have {', '.join(map(repr, have))}"
            f"{nearest(column, have)}"
        )
    return names


def _count_vertices(part: Any) -> pd.DataFrame:
    """Return one row per component of a partition, with the number of its vertices there."""
    part = to_pandas(part)
    for name in part.columns:
        if nulls := int(part[name].isna().sum()):
            raise NullVertexError(
                f"{nulls:,} of {counted(len(part), 'vertex', 'vertices')} of a partition "
                f"{'has' if nulls == 1 else 'have'} no {name!r}; leave them out with "
                f"labels.dropna(subset=[{name!r}]), or give all ids as vertices= when components "
                "are found"
            )
        if isinstance(part[name].dtype, pd.CategoricalDtype):
            part = part.assign(**{name: part[name].astype(part[name].cat.categories.dtype)})
    counts = part.groupby(list(part.columns), sort=False).size()
    frame: pd.DataFrame = counts.rename(SIZE).reset_index()
    return frame
