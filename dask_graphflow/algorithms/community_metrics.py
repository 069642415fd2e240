"""Community metrics: how large, dense and well separated each community is.

Weights are added up as whole multiples of a power of two, 2**-61 of the sum of all weights or less, so the
sums have the same bits for every partitioning.

.. [1] M. E. J. Newman, M. Girvan, "Finding and Evaluating Community Structure in Networks", Physical Review
   E 69, 2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from dask_graphflow.declarations.algorithm import algorithm
from dask_graphflow.declarations.answer import Answer, LabelColumn, LabelTypes, rows
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.operators.access import own_part
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import (
    sum_loops,
    sums_inside,
    sums_of_groups,
    whole_degrees,
    whole_skew,
    whole_weights,
)

from .communities.which_community import Communities

COMMUNITIES = Communities()


def _columns(spec: GraphSpec, options: Mapping[str, Any]) -> dict[str, Any]:
    edges = "float64" if spec.weighted else "int64"
    return {
        "community": LabelTypes(COMMUNITIES.types(options["communities"], spec)),
        "size": "int64",
        "internal_edges": edges,
        "cut_edges": edges,
        "density": "float64",
        "conductance": "float64",
        "modularity": "float64",
    }


@algorithm(
    rows(_columns),
    weights="optional",
    directed=False,
    supersteps=False,
    cost=Cost("labels", 0, passes=3, scratch=60, edge=40),
)
def community_metrics(g: GraphView, communities: Annotated[Any, COMMUNITIES]) -> Answer:
    """Return how large, dense and well separated each community is.

    The directions of edges only matter for the modularity of a directed graph [2]_. Parallel edges count as
    often as they occur, and a self-loop adds 2 to the degree of its vertex.

    Parameters
    ----------
    communities : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame
        One row per vertex: the id, then its community, which can be of any type that can be sorted. Results
        of `louvain`, `leiden`, `label_propagation` and `connected_components` are such frames, and need not
        be computed first.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per community, sorted by community. The columns are ``community`` (its dtype in
        `communities`), ``size`` (int64, the number of vertices), ``internal_edges`` and ``cut_edges``
        (int64, the number of edges inside the community and of edges that leave it; with weights float64,
        their sums), ``density`` (float64, `internal_edges` divided by the number of pairs of vertices, 0
        for a single vertex), ``conductance`` (float64, `cut_edges` divided by the sum of the degrees
        inside or outside of the community, whichever is smaller, 0 if that sum is 0) and ``modularity``
        (float64, what the community adds to the modularity, which is the sum of this column [1]_).

    Raises
    ------
    UnknownVertexError
        `communities` has an id that is not in the graph. Raised when the result is computed.
    EdgeListError
        A vertex has no row in `communities`, or several, or a community is null. Raised when the result is
        computed.
    WeightError
        A weight is negative, infinite or NaN, or the edges of a vertex weigh less on average than 2**-57 of
        the sum of all weighted degrees. Raised when the result is computed.

    References
    ----------
    .. [1] M. E. J. Newman, M. Girvan, "Finding and Evaluating Community Structure in Networks", Physical
       Review E 69, 2004.
    .. [2] E. A. Leicht, M. E. J. Newman, "Community Structure in Directed Networks", Physical Review
       Letters 100, 2008.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4], "b": [2, 3, 3, 4, 5]})
    >>> groups = pd.DataFrame({"vertex": [1, 2, 3, 4, 5], "community": [1, 1, 1, 4, 4]})
    >>> metrics = gf.community_metrics(ties, source="a", target="b", communities=groups).compute()
    >>> metrics[["community", "size", "internal_edges", "cut_edges", "modularity"]]
       community  size  internal_edges  cut_edges  modularity
    0          1     3               3          1        0.11
    1          4     2               1          1        0.11
    """
    directed, g, (community, names) = g, g.undirected, communities
    weights, unit = whole_weights(g)
    self_loops = sum_loops(g, weights)
    degrees = whole_degrees(g, weights, self_loops)
    total = max(1, g.all_sum(int(degrees.sum())))
    own = community >= 0
    # An edge is in the rows of both its ends, but a self-loop is in one row only.
    inside = self_loops + sums_inside(g, weights, community)
    within = sums_of_groups(g, community[own], inside[own], len(names))
    volume = sums_of_groups(g, community[own], degrees[own], len(names))
    size = sums_of_groups(g, community[own], None, len(names))
    internal, cut = within // 2, volume - within
    if g.weighted:
        internal, cut = internal * unit, cut * unit
    expected = (volume / total) * (volume / total)
    if directed.directed:
        skew = whole_skew(directed, degrees, unit)
        skew = sums_of_groups(g, community[own], skew[own], len(names)) / total
        expected -= skew * skew
    pairs = size * (size - 1) / 2
    first = own_part(g, len(names)).start
    return Answer(
        {
            "community": LabelColumn(np.arange(first, first + len(size), like=size), names),
            "size": size,
            "internal_edges": internal,
            "cut_edges": cut,
            "density": np.where(size > 1, internal / np.maximum(pairs, 1), 0.0),
            "conductance": (volume - within) / np.maximum(np.minimum(volume, total - volume), 1),
            "modularity": within / total - expected,
        }
    )
