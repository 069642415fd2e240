"""A whole graph, drawn with what an algorithm found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.exceptions import OptionError, UnknownColumnError
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.tables import counted

from .canvas import FAINT, PALETTE, color_bar, map_axes, named, names_of, pyplot, write_names
from .drawing import LIMIT, Drawing, built, column_for, computed, pairs_of, whole
from .layout import forceatlas2, positions
from .subgraph import rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRAY = "#a3abb3"
MARKED = PALETTE[5]
GROUPS = (*PALETTE[:5], PALETTE[6])  # the color of marked things is left out
LONGEST = 20  # letters of a name
PIXELS = (
    5000  # lines or points from which a figure stores them as pixels, which are smaller and faster
)


@explained
def graph(
    edges: Any,
    *,
    source: Any = None,
    target: Any = None,
    values: Any = None,
    groups: Any = None,
    marked: Any = None,
    layout: Any = None,
    names: int = 10,
    limit: int = LIMIT,
    dropna: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Plot a graph, with colors that show the result of an algorithm.

    The size of a vertex shows its number of neighbors. Directions of edges are not drawn.

    Parameters
    ----------
    edges : Graph, or DataFrame, sparse matrix, array, list of pairs or NetworkX graph
        A graph, or an edge list in any form that :class:`~dask_graphflow.Graph` describes. If it is an edge
        list, every call builds a graph; build a :class:`~dask_graphflow.Graph` first to make several plots.
    source, target : column name, or list of column names, optional
        Columns with the ids at the two ends of each edge, if `edges` is a frame. The defaults are those of
        :class:`~dask_graphflow.Graph`.
    values : DataFrame, optional
        A number for each vertex, which is drawn as a color: a result such as that of
        :func:`dask_graphflow.pagerank`. The first column after the ids is used. Vertices without a row or
        with a null are gray.
    groups : DataFrame, optional
        A group for each vertex: a result such as that of :func:`dask_graphflow.louvain`. The first column
        after the ids is used. The six largest groups have a color each, and other vertices are gray. If the
        column has bools, the vertices that are true have a color.
    marked : DataFrame, optional
        Pairs of vertices to connect by lines over the edges: a result such as that of
        :func:`dask_graphflow.bridges` or :func:`dask_graphflow.similarity`, with the two ids of each pair
        in the first columns. They need not be edges. Pairs with a vertex that is not in the graph are left
        out.
    layout : DataFrame, optional
        The positions of the vertices, as returned by :func:`dask_graphflow.plot.layout`. It may have
        further vertices. By default it is computed, so give it to draw one graph several times.
    names : int
        Maximum number of vertices that are named: those with the largest values, or with the most neighbors
        if there are no values; 10 by default. A name that would cover another one is left out.
    limit : int
        Maximum number of vertices; 100,000 by default. A larger graph raises an error.
    dropna : bool
        Whether to skip edges with a null id. False by default, which raises an error.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes. Their collections have the labels "edges", "marked" and "vertices"; the offsets of the
        last one are the positions of the vertices, in the order of their ids.

    Raises
    ------
    OptionError
        The graph has more than `limit` vertices, both `values` and `groups` are given, `layout` lacks a
        vertex, or an argument is invalid.
    UnknownVertexError
        `values` or `groups` has no vertex of the graph.
    UnknownColumnError, VertexTypeError, NullVertexError, EdgeListError
        The edges or a frame are invalid.
    BackendError
        Matplotlib or the package that computes layouts is not installed.
    UsageError
        The caller is the event loop of an asynchronous client.

    Notes
    -----
    This function computes immediately, and brings the whole graph to this process.

    Examples
    --------
    >>> import networkx as nx
    >>> import dask_graphflow as gf
    >>> g = gf.Graph(nx.les_miserables_graph())
    >>> ax = gf.plot.graph(g, groups=g.louvain(), names=2)
    >>> sorted(text.get_text() for text in ax.texts)
    ['Gavroche', 'Valjean']
    """
    pyplot()  # before anything is computed
    if layout is None:
        forceatlas2()
    if values is not None and groups is not None:
        raise OptionError(
            "values= and groups= are both given, and a vertex has one color; give only one of them, and "
            "draw the other one on other Axes"
        )
    check_count("names", names, least=0)
    read = {"source": source, "target": target, "dropna": dropna}
    drawing = whole(built(graph, edges, **read), limit)
    points = _points(drawing, layout)
    ax = map_axes(ax, (5, 4))
    ax.margins(0.05, 0.1)  # room for names
    degree = np.bincount(drawing.edges.ravel(), minlength=len(drawing.ids))
    _lines(ax, points, drawing.edges, marked, drawing.ids)
    order, title = degree, ""
    sizes = _diameters(degree)
    if values is not None:
        column = column_for(values, drawing.ids, "values")
        order = _values(ax, points, sizes, column)
    elif groups is not None:
        title = _groups(ax, points, sizes, column_for(groups, drawing.ids, "groups"))
    else:
        _dots(ax, points, sizes, PALETTE[0] if marked is None else GRAY)
    vertices, links = counted(len(points), "vertex", "vertices"), len(drawing.edges)
    ax.set_title(title or f"{vertices}, {counted(links, 'edge')}", loc="left")
    rows = np.lexsort((-degree, -order))[:names]
    write_names(ax, names_of(drawing.ids.iloc[rows], LONGEST), points[rows], sizes[rows] / 2 + 1)
    return ax


def _points(drawing: Drawing, given: Any) -> np.ndarray:
    """Return the position of each vertex: shape (V, 2)."""
    if given is None:
        return positions(len(drawing.ids), drawing.edges)
    width, have = len(drawing.ids.columns), list(getattr(given, "columns", []))
    if not {"x", "y"} <= {*have[width:]}:
        raise UnknownColumnError(
            f"layout has the type {type(given).__name__} and the columns {have}; it has to be a frame with "
            "the ids, then x and y. Compute it with gf.plot.layout"
        )
    frame = computed(given)
    rows = rows_of(frame.iloc[:, :width].set_axis(drawing.ids.columns, axis=1), drawing.ids)
    if (rows < 0).any():
        lost = drawing.ids[rows < 0].head(1).to_numpy().ravel().tolist()
        raise OptionError(
            f"layout has no position for {int((rows < 0).sum()):,} of {len(rows):,} vertices, such as "
            f"{lost}; it needs all vertices of the graph. Compute it with gf.plot.layout for this graph"
        )
    points: np.ndarray = frame[["x", "y"]].to_numpy()[rows]
    return points


def _diameters(degree: np.ndarray) -> np.ndarray:
    """Return diameters in points: smaller in a graph with more vertices, larger with more neighbors."""
    usual = np.clip(70 / np.sqrt(max(len(degree), 1)), 0.5, 9)
    mean = max(degree.mean(), 1) if len(degree) else 1
    sizes: np.ndarray = np.clip(usual * (0.4 + 0.6 * np.sqrt(degree / mean)), 0.5, 18)
    return sizes


def _lines(ax: Axes, points: np.ndarray, edges: np.ndarray, marked: Any, ids: pd.DataFrame) -> None:
    from matplotlib.collections import LineCollection

    thin = float(np.clip(20 / np.sqrt(max(len(edges), 1)), 0.1, 0.9))
    style: dict[str, Any] = {"linewidths": thin, "colors": GRAY, "alpha": max(thin, 0.15)}
    some: dict[str, Any] = {"rasterized": len(edges) > PIXELS}
    ax.add_collection(LineCollection(points[edges], label="edges", zorder=1, **style, **some))
    if marked is not None:
        over = pairs_of(computed(marked), ids)
        style = {"linewidths": max(2.2 * thin, 0.5), "colors": MARKED}
        ax.add_collection(LineCollection(points[over], label="marked", zorder=2, **style, **some))


def _dots(ax: Axes, points: np.ndarray, sizes: np.ndarray, colors: Any, **how: Any) -> Any:
    """Draw the vertices in the order of their ids."""
    style: dict[str, Any] = {"edgecolors": "white", "linewidths": np.where(sizes > 3, 0.5, 0)}
    style |= {"label": "vertices", "zorder": 3, "rasterized": len(points) > PIXELS}
    return ax.scatter(*points.T, s=sizes**2, c=colors, **style, **how)


def _values(ax: Axes, points: np.ndarray, sizes: np.ndarray, column: pd.Series) -> np.ndarray:
    """Color vertices by a number, explain the colors, and return the numbers; -inf for a null."""
    from matplotlib.ticker import MaxNLocator

    numbers = pd.to_numeric(column).to_numpy(float, na_value=np.nan)
    colors = pyplot().get_cmap("viridis_r").with_extremes(bad=FAINT)
    dots = _dots(ax, points, sizes, np.ma.masked_invalid(numbers), cmap=colors, plotnonfinite=True)
    whole_numbers = bool((numbers[np.isfinite(numbers)] % 1 == 0).all())
    color_bar(ax, dots, str(column.name), ticks=MaxNLocator(5, integer=whole_numbers))
    return np.where(np.isnan(numbers), -np.inf, numbers)


def _groups(ax: Axes, points: np.ndarray, sizes: np.ndarray, column: pd.Series) -> str:
    """Color vertices by their group, explain the colors, and return a title."""
    from matplotlib.lines import Line2D

    counts = column.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    if pd.api.types.is_bool_dtype(counts.index.dtype):
        shown = [True] if True in counts.index else []
        title = f"{counted(int(counts.get(True, 0)), 'vertex', 'vertices')}: {column.name}"
    else:
        shown = counts.index[: len(GROUPS)].tolist()
        title = f"{counted(len(counts), 'group')} of {counted(len(column), 'vertex', 'vertices')}"
    colors = np.full(len(column), GRAY, object)
    handles = []
    for color, group in zip(GROUPS if len(shown) > 1 else (MARKED,), shown, strict=False):
        inside = (column == group).fillna(False).to_numpy(bool)
        colors[inside] = color
        label = f"{named((group,), LONGEST)} ({int(counts[group]):,})"
        handles.append(Line2D([], [], marker="o", linestyle="", color=color, label=label))
    _dots(ax, points, sizes, colors.tolist())
    if len(shown) > 1:
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": 3, "frameon": False}
        ax.legend(handles=handles, handletextpad=0.1, columnspacing=1.2, **below)
    return title
