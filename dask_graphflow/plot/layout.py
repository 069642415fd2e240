"""Positions for the vertices of a graph, by ForceAtlas2.

Vertices repel each other, and edges pull their ends together. The package crategraph-forceatlas2
computes the layout, with the approximation of Barnes and Hut for large graphs. It starts from fixed random
positions, and its results have the same bits for every number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.exceptions import BackendError
from dask_graphflow.showing.arguments import explained

from .drawing import LIMIT, built, whole

EXACT = 2000  # vertices up to which all pairs repel each other, without an approximation
THETA = 1.2  # how coarse the approximation is; Gephi's default
REPULSION = 10.0
GRAVITY = 0.05  # strong gravity, which also keeps small components in the picture


@explained
def layout(
    edges: Any,
    *,
    source: Any = None,
    target: Any = None,
    iterations: int = 100,
    limit: int = LIMIT,
    dropna: bool = False,
) -> pd.DataFrame:
    """Return positions for the vertices of a graph, so that adjacent vertices are near each other.

    The method is ForceAtlas2 [1]_. Directions and weights of edges are not used.

    Parameters
    ----------
    edges : Graph, or DataFrame, sparse matrix, array, list of pairs or NetworkX graph
        A graph, or an edge list in any form that :class:`~dask_graphflow.Graph` describes.
    source, target : column name, or list of column names, optional
        Columns with the ids at the two ends of each edge, if `edges` is a frame. The defaults are those of
        :class:`~dask_graphflow.Graph`.
    iterations : int
        Number of steps in which vertices move; 100 by default. More steps separate groups further.
    limit : int
        Maximum number of vertices; 100,000 by default. A larger graph raises an error.
    dropna : bool
        Whether to skip edges with a null id. False by default, which raises an error.

    Returns
    -------
    pandas.DataFrame
        One row per vertex, sorted by vertex. The columns are ``vertex`` (the dtype of the ids; ``vertex_0``
        and so on for ids of several columns), ``x`` and ``y`` (float64, in arbitrary units).

    Raises
    ------
    OptionError
        The graph has more than `limit` vertices, or an argument is invalid.
    UnknownColumnError, VertexTypeError, NullVertexError, EdgeListError
        The edges are invalid.
    BackendError
        The package crategraph-forceatlas2 is not installed.
    UsageError
        The caller is the event loop of an asynchronous client.

    Notes
    -----
    This function computes immediately, in this process and on all its cores. An iteration takes time in
    proportion to V log V, for V vertices.

    References
    ----------
    .. [1] M. Jacomy, T. Venturini, S. Heymann, M. Bastian, "ForceAtlas2, a Continuous Graph Layout
       Algorithm for Handy Network Visualization Designed for the Gephi Software", PLoS ONE 9(6), 2014.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> pairs = pd.DataFrame({"a": [1, 2, 3, 4, 5], "b": [2, 3, 1, 5, 4]})
    >>> positions = gf.plot.layout(pairs, source="a", target="b")
    >>> positions.columns.tolist(), positions.vertex.tolist()
    (['vertex', 'x', 'y'], [1, 2, 3, 4, 5])
    """
    forceatlas2()  # before anything is computed
    check_count("iterations", iterations)
    graph = built(layout, edges, source=source, target=target, dropna=dropna)
    drawing = whole(graph, limit)
    x, y = positions(len(drawing.ids), drawing.edges, iterations=iterations).T
    return drawing.ids.assign(x=x, y=y)


def positions(
    count: int, edges: np.ndarray, weights: np.ndarray | None = None, iterations: int = 100
) -> np.ndarray:
    """Return a position for each of `count` vertices: array of float, shape (count, 2).

    Edges are pairs of row numbers without self-loops. Their order changes the last bits. Weights say how
    strongly each edge pulls its ends together; 1 by default.
    """
    start = np.random.default_rng(0).random((count, 2)) * np.sqrt(count)
    placed: np.ndarray = forceatlas2().layout(
        count,
        edges,
        init=start,
        weights=weights,
        iterations=iterations,
        barnesHutOptimize=count > EXACT,
        barnesHutTheta=THETA,
        scalingRatio=REPULSION,
        strongGravityMode=True,
        gravity=GRAVITY,
    )
    return _lay_flat(placed)


def _lay_flat(points: np.ndarray) -> np.ndarray:
    """Return points turned around their center, so that they are spread most along the x axis."""
    if not len(points):
        return points
    x, y = (points - points.mean(axis=0)).T
    turn = 0.5 * np.arctan2(2 * (x * y).sum(), (x * x).sum() - (y * y).sum())
    return np.column_stack(
        [x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)]
    )


def forceatlas2() -> Any:
    """Return the package that computes layouts, or raise an error that says how to install it."""
    try:
        import crategraph_forceatlas2
    except ImportError as error:
        raise BackendError(
            f"layouts are computed by crategraph-forceatlas2, which cannot be imported ({error}); install "
            'it with pip install "dask-graphflow[plot]"'
        ) from error
    return crategraph_forceatlas2
