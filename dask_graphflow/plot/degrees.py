"""The distribution of degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphflow.exceptions import EdgeListError, UnknownColumnError
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.tables import counted
from dask_graphflow.tasks.clients import check_waiting, compute

from .canvas import PALETTE, log_axes, new_axes, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@explained
def degrees(degrees: Any, *, ax: Axes | None = None) -> Axes:
    """Plot how many vertices have at least a given number of edges.

    This is the complementary cumulative distribution of degrees, with two logarithmic axes. A power law is
    a straight line in this plot. Unlike a histogram, the plot needs no bins.

    Parameters
    ----------
    degrees : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame
        One row per vertex, as returned by :func:`dask_graphflow.degrees`. Each of the columns ``degree``,
        ``in_degree`` and ``out_degree`` that it has becomes a line. The values of a Dask frame are counted
        on the workers, and only the counts are sent to this process.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes. Each line has the distinct degrees from 1 upward as x, in ascending order, and the numbers
        of vertices with at least this degree as y.

    Raises
    ------
    UnknownColumnError
        The frame has no column with degrees.
    EdgeListError
        `degrees` is not a DataFrame.
    BackendError
        Matplotlib is not installed.
    UsageError
        `degrees` is lazy, and the caller is the event loop of an asynchronous client.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> pairs = pd.DataFrame({"a": [1, 1, 1], "b": [2, 3, 4]})
    >>> ax = gf.plot.degrees(gf.degrees(pairs, source="a", target="b", directed=False))
    >>> least, vertices = ax.lines[0].get_data()
    >>> least.tolist(), vertices.tolist()
    ([1, 3], [4, 1])
    """
    pyplot()  # before anything is computed
    counts = _counts(degrees)
    ax = new_axes(ax, (5, 3.5))
    for color, (name, (values, vertices)) in zip(PALETTE, counts.items(), strict=False):
        at_least = vertices[::-1].cumsum()[::-1]
        some = values > 0  # a logarithmic axis has no 0
        ax.plot(
            values[some],
            at_least[some],
            "o",
            color=color,
            markersize=3.5,
            label=name.replace("_", "-"),
            clip_on=False,
        )
    largest = max((int(values[-1]) for values, _ in counts.values() if len(values)), default=1)
    total = max(int(vertices.sum()) for _, vertices in counts.values())
    log_axes(ax, largest, total)
    ax.set_xlabel("edges")
    ax.set_ylabel("vertices with at least so many")
    title = f"{counted(total, 'vertex', 'vertices')}, with up to {counted(largest, 'edge')}"
    ax.set_title(title, loc="left")
    if len(counts) > 1:
        ax.legend(frameon=False, handletextpad=0.1)
    return ax


def _counts(degrees: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the distinct degrees of each column in ascending order, and how many vertices have them."""
    if not hasattr(degrees, "columns"):
        raise EdgeListError(
            f"degrees has the type {type(degrees).__module__}.{type(degrees).__name__}; it has to be a "
            "frame with a row per vertex. Give the result of gf.degrees"
        )
    names = [name for name in ("degree", "in_degree", "out_degree") if name in degrees.columns]
    if not names:
        raise UnknownColumnError(
            f"the frame has the columns {', '.join(map(repr, degrees.columns))}, but none of 'degree', "
            "'in_degree' and 'out_degree'. Give the result of gf.degrees"
        )
    check_waiting("gf.plot.degrees", "gf.plot.degrees(...)")
    counted_values = compute(*(degrees[name].value_counts() for name in names))
    found = {}
    for name, series in zip(names, counted_values, strict=True):
        series = to_pandas(series).sort_index()
        found[name] = (series.index.to_numpy(), series.to_numpy())
    return found
