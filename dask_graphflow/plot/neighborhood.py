"""The neighborhood of a vertex: a small subgraph, drawn on rings by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.tables import counted
from dask_graphflow.tasks.clients import check_waiting

from .canvas import INK, PALETTE, halo, names_of, new_axes, pyplot
from .rings import rings
from .subgraph import Subgraph, around

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 24  # letters of a label
FILLS = (PALETTE[5], PALETTE[0], PALETTE[4], "#b9dcf2")  # by distance; larger ones use the last


@explained
def neighborhood(
    edges: Any,
    vertex: Any,
    *,
    source: Any = None,
    target: Any = None,
    directed: bool | None = None,
    follow: str = "out",
    hops: int = 1,
    limit: int = 60,
    dropna: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Plot the vertices near one vertex, and all edges between them.

    Vertices are placed on rings by their distance. Each vertex is close to its predecessor, and the edge
    between them is darker. The size of a vertex shows its number of edges in the plot.

    Parameters
    ----------
    edges : Graph, or DataFrame, sparse matrix, array, list of pairs or NetworkX graph
        A graph, or an edge list in any form that :class:`~dask_graphflow.Graph` describes. If it is an edge
        list, every call builds a graph; build a :class:`~dask_graphflow.Graph` first to make several plots.
    vertex : id
        The vertex in the center. If ids have several columns, give a tuple.
    source, target : column name, or list of column names, optional
        Columns with the ids at the two ends of each edge, if `edges` is a frame. The defaults are those of
        :class:`~dask_graphflow.Graph`.
    directed : bool, optional
        Whether edges have a direction, which is drawn as an arrow. True by default for a frame; a graph has
        its own direction.
    follow : {"out", "in", "both"}
        Which edges of a directed graph to follow: the edges that leave a vertex (the default, as in
        :func:`dask_graphflow.bfs`), the edges that enter it, or both. A `Graph` supports only "out".
    hops : int
        Maximum distance in edges; 1 by default.
    limit : int
        Maximum number of vertices to draw; 60 by default. The nearest vertices are drawn first. At equal
        distance, vertices with more edges in the whole graph come first, then smaller ids. The title says
        how many vertices were left out.
    dropna : bool
        Whether to skip edges with a null id. False by default, which raises an error.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes. Their first collection contains the vertices, and its offsets are their positions.

    Raises
    ------
    UnknownVertexError
        `vertex` is not in the graph: no edge starts or ends there.
    UnknownColumnError, VertexTypeError, NullVertexError, EdgeListError, OptionError
        The edges or an argument are invalid.
    BackendError
        Matplotlib is not installed.
    UsageError
        The caller is the event loop of an asynchronous client.

    Notes
    -----
    This function computes immediately: a breadth-first search, the degrees if there are more vertices than
    `limit`, and one pass over the edges. Only the data of the plot is sent to this process.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> needs = pd.DataFrame({"package": ["app", "app", "curl"], "on": ["curl", "ssl", "ssl"]})
    >>> ax = gf.plot.neighborhood(needs, "app", source="package", target="on")
    >>> sorted(text.get_text() for text in ax.texts)
    ['app', 'curl', 'ssl']
    """
    pyplot()  # before anything is computed
    check_waiting("gf.plot.neighborhood", "gf.plot.neighborhood(...)")
    subgraph = around(
        edges,
        vertex,
        source=source,
        target=target,
        directed=directed,
        follow=follow,
        hops=hops,
        limit=limit,
        dropna=dropna,
    )
    ax = new_axes(ax, (7.5, 7.5))
    ax.set_axis_off()
    angles, points = rings(subgraph.distance, subgraph.parent, subgraph.edges)
    sizes = _sizes(subgraph)
    _edges(ax, subgraph, points, sizes)
    _vertices(ax, subgraph, points, sizes)
    names = names_of(subgraph.ids, LONGEST)
    things = ("neighbor",) if hops == 1 else ("vertex", "vertices")
    title = f"{names[0]}: {counted(len(subgraph) - 1, *things)}"
    title += f" within {hops} edges" if hops > 1 else ""
    if left := subgraph.reached - len(subgraph):
        title += f", {left:,} more left out"
    ax.set_title(title, loc="left")
    _fit(ax, points, _labels(ax, subgraph, names, angles, points, sizes))
    return ax


def _sizes(subgraph: Subgraph) -> np.ndarray:
    """Return diameters in points, from the square root of the degree; the first is never small."""
    degree = np.bincount(subgraph.edges.ravel(), minlength=len(subgraph))
    sizes: np.ndarray = np.clip(5 + 1.4 * np.sqrt(degree), 5, 16)
    sizes[0] = max(sizes[0], 14)
    return sizes


def _vertices(ax: Axes, subgraph: Subgraph, points: np.ndarray, sizes: np.ndarray) -> None:
    colors = [FILLS[min(one, len(FILLS) - 1)] for one in subgraph.distance.tolist()]
    style = {"edgecolors": "white", "linewidths": 0.8, "zorder": 3}
    ax.scatter(*points.T, s=sizes**2, c=colors, **style)


def _edges(ax: Axes, subgraph: Subgraph, points: np.ndarray, sizes: np.ndarray) -> None:
    """Draw an arrow or a line per edge. Edges between a vertex and its parent are darker."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.transforms import ScaledTranslation

    head = "-|>,head_length=3.2,head_width=1.5" if subgraph.directed else "-"
    many = len(subgraph.edges) > 3 * len(subgraph)
    # Many arrows may end around the first vertex, so leave a gap that has room for all their heads.
    gap = 4.5 * np.sum(subgraph.edges[:, 1] == 0) / (2 * np.pi) if subgraph.directed else 0.0
    for a, b in subgraph.edges.tolist():
        tree = subgraph.parent[a] == b or subgraph.parent[b] == a
        style: dict[str, Any] = {"color": INK if tree else "#7d868e", "zorder": 2 if tree else 1}
        style["linewidth"] = 0.9 if tree else 0.6
        style["alpha"] = 0.75 if tree else 0.3 if many else 0.5
        if a == b:
            away = 0.7 * sizes[a] / 72
            beside = ax.transData + ScaledTranslation(away, away, ax.figure.dpi_scale_trans)
            round_ = {"marker": "o", "markersize": sizes[a], "markerfacecolor": "none"}
            ax.plot(*points[a], transform=beside, **round_, **style)
            continue
        # Edges outside the tree are bent inward, so that they avoid the other vertices on their ring.
        turn = np.sign(points[a, 0] * points[b, 1] - points[a, 1] * points[b, 0])
        ax.add_patch(
            FancyArrowPatch(
                tuple(points[a]),
                tuple(points[b]),
                arrowstyle=head,
                connectionstyle=f"arc3,rad={0 if tree else -0.15 * turn}",
                shrinkA=sizes[a] / 2,
                shrinkB=max(sizes[b] / 2 + 1, gap if b == 0 else 0),
                **style,
            )
        )


def _labels(
    ax: Axes,
    subgraph: Subgraph,
    names: list[str],
    angles: np.ndarray,
    points: np.ndarray,
    sizes: np.ndarray,
) -> list[Any]:
    """Write the name of each vertex on its outer side, and return the texts."""
    size, around_text = 9 if len(subgraph) <= 40 else 8, halo(ax)
    texts = []
    for row, name in enumerate(names):
        way = np.array([np.cos(angles[row]), np.sin(angles[row])]) if row else np.array([0, -1])
        left = way[0] < -1e-9
        turn = np.degrees(angles[row]) + 180 * left if row else 0
        text = ax.annotate(
            name,
            tuple(points[row]),
            xytext=tuple((sizes[row] / 2 + 3) * way),
            textcoords="offset points",
            rotation=turn,
            rotation_mode="anchor",
            ha="center" if not row else "right" if left else "left",
            va="top" if not row else "center",
            fontsize=size if row else size + 2,
            fontweight="normal" if row else "bold",
            color=INK,
            path_effects=around_text,
            zorder=4,
            in_layout=False,  # the text will fit in the Axes, which must not shrink for it
        )
        texts.append(text)
    return texts


def _fit(ax: Axes, points: np.ndarray, texts: list[Any]) -> None:
    """Set the limits so that all names just fit; names keep their size in pixels at any scale."""
    # The layout and the sizes of names are only known after drawing.
    ax.figure.canvas.figure.draw_without_rendering()
    middles = ax.transData.transform(points)
    low, high = np.zeros((2, len(points), 2))
    for row, text in enumerate(texts):
        box = text.get_window_extent()
        low[row], high[row] = middles[row] - (box.x0, box.y0), (box.x1, box.y1) - middles[row]
    pad, room = 0.1 * ax.figure.dpi, np.array([ax.bbox.width, ax.bbox.height])

    def room_for(scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Return how far the drawing extends below and above 0 in pixels, at `scale` pixels per unit."""
        return (low - scale * points).max(0) + pad, (high + scale * points).max(0) + pad

    # A ring is at least 12 pixels wide, however long the names are. A single vertex has no ring.
    least, most = 12.0, max(ax.bbox.width, 13.0)
    for _ in range(30):
        scale = (least + most) / 2
        least, most = (scale, most) if (sum(room_for(scale)) <= room).all() else (least, scale)
    below, above = room_for(least)
    spare = np.maximum(room - below - above, 0) / 2
    ax.set_xlim(*(np.array([-below[0] - spare[0], above[0] + spare[0]]) / least))
    ax.set_ylim(*(np.array([-below[1] - spare[1], above[1] + spare[1]]) / least))
    ax.set_aspect("equal")
