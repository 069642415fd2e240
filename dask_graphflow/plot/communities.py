"""Communities as circles, and the edges between them as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.tables import counted

from .canvas import FAINT, color_bar, map_axes, names_of, pyplot, write_names
from .drawing import built
from .layout import forceatlas2, positions
from .quotient import Quotient, quotient

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 16  # letters of a name
NAMED = 12  # circles with a name; names would hide smaller ones
COVERED = 0.2  # share of the picture that circles cover


@explained
def communities(
    edges: Any,
    labels: Any,
    *,
    source: Any = None,
    target: Any = None,
    limit: int = 30,
    dropna: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Plot how large communities are, and how they are connected.

    Each circle is a community. Its area shows the number of vertices, and its color the share of its edges
    that stay inside. The 12 largest have the name of the vertex with the most edges, unless it would cover
    another name. The width of a line shows the number of edges between two communities.

    Parameters
    ----------
    edges : Graph, or DataFrame, sparse matrix, array, list of pairs or NetworkX graph
        A graph, or an edge list in any form that :class:`~dask_graphflow.Graph` describes.
    labels : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame
        One row per vertex: the id, then its community. Results of `louvain`, `leiden`, `label_propagation`
        and `connected_components` are such frames, and need not be computed first.
    source, target : column name, or list of column names, optional
        Columns with the ids at the two ends of each edge, if `edges` is a frame. The defaults are those of
        :class:`~dask_graphflow.Graph`.
    limit : int
        Maximum number of communities to draw; 30 by default. The largest ones are drawn. The title says how
        many were left out.
    dropna : bool
        Whether to skip edges with a null id. False by default, which raises an error.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes. Their collections have the labels "between" and "communities". Circles are sorted by size,
        the largest first; at equal size, by community.

    Raises
    ------
    EdgeListError
        A vertex has no row in `labels`, or several, or a community is null.
    UnknownVertexError
        `labels` has an id that is not in the graph.
    UnknownColumnError, VertexTypeError, NullVertexError, OptionError
        The edges or an argument are invalid.
    BackendError
        Matplotlib or the package that computes layouts is not installed.
    UsageError
        The caller is the event loop of an asynchronous client.

    Notes
    -----
    This function computes immediately, where the graph is. Only the data of the plot is sent to this
    process, so it works for graphs of any size.

    Examples
    --------
    >>> import networkx as nx
    >>> import dask_graphflow as gf
    >>> g = gf.Graph(nx.karate_club_graph()).persist()
    >>> ax = gf.plot.communities(g, g.louvain())
    >>> ax.get_title(loc="left")
    '4 communities of 34 vertices'
    """
    pyplot()  # before anything is computed
    forceatlas2()
    check_count("limit", limit)
    graph = built(communities, edges, source=source, target=target, dropna=dropna)
    found = quotient(graph, labels, limit)
    ax = map_axes(ax, (5, 5))
    if len(found.sizes):
        _draw(ax, found)
    title = f"{counted(found.count, 'community', 'communities')} of "
    title += counted(graph.num_vertices, "vertex", "vertices")
    if left := found.count - len(found.sizes):
        title += f", {left:,} left out"
    ax.set_title(title, loc="left")
    return ax


def _draw(ax: Axes, found: Quotient) -> None:
    """Draw a circle for each community, and a line for each pair with edges between them."""
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle

    a, b = np.nonzero(np.triu(found.edges, 1))
    between = found.edges[a, b]
    points = positions(len(found.sizes), np.column_stack([a, b]), np.log1p(between), 300)
    area = np.prod(np.maximum(np.ptp(points, axis=0), 1))
    radii = np.sqrt(found.sizes / found.sizes.sum() * COVERED * area / np.pi)
    points = apart(points, radii)
    widths = 8 * np.sqrt(between / between.max(initial=1))
    style: dict[str, Any] = {"colors": FAINT, "linewidths": widths.clip(0.3), "zorder": 1}
    ax.add_collection(LineCollection(points[np.column_stack([a, b])], label="between", **style))
    circles = PatchCollection(
        [Circle(tuple(point), radius) for point, radius in zip(points, radii, strict=True)],
        cmap="viridis_r",
        edgecolor="white",
        label="communities",
        zorder=2,
    )
    circles.set_array(100 * found.inside)
    circles.set_clim(min(50, 100 * found.inside.min()), 100)
    ax.add_collection(circles)
    ax.autoscale_view()
    color_bar(ax, circles, "edges that stay inside the community (%)")
    names = names_of(found.names.head(NAMED), LONGEST)
    write_names(ax, names, points[: len(names)], np.zeros(len(names)))


def apart(points: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return the centers of circles, moved so that the circles do not overlap.

    Parameters
    ----------
    points : ndarray of float, shape (n, 2)
        Centers, all of them different.
    radii : ndarray of float, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> apart(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([1.0, 1.0])).round(6).tolist()
    [[-0.55, 0.0], [1.55, 0.0]]
    """
    points, room = points.copy(), 1.05 * (radii[:, None] + radii)
    np.fill_diagonal(room, 0)
    for _ in range(500):
        ways = points[:, None] - points
        distance = np.hypot(*np.moveaxis(ways, 2, 0))
        overlap = np.maximum(room - distance, 0)
        if (overlap <= 1e-6 * room).all():
            break
        points += (ways * (overlap / np.maximum(distance, 1e-9))[..., None] / 2).sum(axis=1)
    return points
