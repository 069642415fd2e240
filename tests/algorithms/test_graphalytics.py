"""The example graphs of LDBC Graphalytics: its results, and those of the oracles for isolated vertices.

The graphs and the results are those of the benchmark's specification (A. Iosup et al., "The LDBC
Graphalytics Benchmark", arXiv:2011.15028), which also publishes them as files. Clustering coefficients were
counted by hand from its definition.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from oracles import confirm

pytestmark = pytest.mark.usefixtures("backend")

# Source, target and weight of each edge, for the directed and for the undirected graph.
EDGES = {
    True: "1 3 .5  1 5 .3  2 4 .1  2 5 .3  2 10 .12  3 1 .53  3 5 .62  3 8 .21  3 10 .52  5 3 .69  "
    "5 4 .53  5 8 .1  6 3 .23  6 4 .39  7 4 .83  8 1 .39  9 4 .69",
    False: "2 3 .9  2 4 .69  3 4 .13  3 5 .5  3 8 .32  5 6 .63  5 8 .12  6 7 .53  6 8 .64  6 9 .23  "
    "6 10 .63  7 9 .36",
}
SOURCE = {True: 1, False: 2}
# By vertex, from 1 on in the directed graph and from 2 on in the undirected one; -1 if it is not reached.
RESULTS = {
    True: {
        "distance": [0, -1, 1, 2, 1, -1, -1, 2, -1, 2],
        "component": [1] * 10,
        "label": [1, 2, 3, 4, 1, 1, 2, 3, 2, 1],
        "pagerank": [
            0.1477629166666667, 0.04753375, 0.1550469444444444, 0.1597573611111111, 0.14624,
            0.04753375, 0.04753375, 0.1135740277777778, 0.04753375, 0.08748375000000001,
        ],
        "clustering": [4 / 6, 1 / 6, 3 / 20, 1 / 20, 5 / 20, 0, 0, 5 / 6, 0, 0],
        "weighted distance": [0, -1, 0.5, 0.83, 0.3, -1, -1, 0.4, -1, 1.02],
    },
    False: {
        "distance": [0, 1, 1, 2, 3, 4, 2, 4, 4],
        "component": [2] * 9,
        "label": [2, 3, 2, 2, 6, 5, 2, 5, 5],
        "pagerank": [
            0.09084490740740739, 0.1424089506172839, 0.09084490740740739, 0.1249891975308642,
            0.1686172839506173, 0.09749537037037037, 0.1249891975308642, 0.09749537037037037,
            0.06231481481481481,
        ],
        "clustering": [1, 4 / 12, 1, 4 / 6, 4 / 20, 1, 4 / 6, 1, 0],
        "weighted distance": [0, 0.82, 0.69, 1.26, 1.78, 2.31, 1.14, 2.01, 2.41],
    },
}  # fmt: skip
ASKED = {
    "distance": lambda g, source: g.bfs([source]),
    "component": lambda g, source: g.connected_components(),
    "label": lambda g, source: g.label_propagation(max_iter=2),
    "pagerank": lambda g, source: g.pagerank(tol=None, max_iter=2),
    "clustering": lambda g, source: g.clustering(),
    "weighted distance": lambda g, source: g.sssp([source]),
}

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
IDS = {"numbers": int, "text": "v{:03d}".format}
ISOLATED = [0, 6 * 64, 5]  # one of them has edges


def example(directed):
    """Return the edges as a frame; ids are the vertices' numbers."""
    numbers = np.array(EDGES[directed].split(), float).reshape(-1, 3)
    ends = pd.DataFrame(numbers[:, :2].astype("int64"), columns=["a", "b"])
    return ends.assign(w=numbers[:, 2])


@DIRECTED
@pytest.mark.parametrize("name", ASKED)
def test_results_are_those_of_graphalytics(built, name, directed):
    edges = example(directed)
    g = built(edges if "distance" in name else edges[["a", "b"]], directed=directed)
    found = ASKED[name](g, SOURCE[directed]).compute()
    column = name.rpartition(" ")[2]
    values = dict(zip(found.vertex, found[column], strict=True))
    wanted = RESULTS[directed][name]
    first = SOURCE[directed]
    assert [values.get(first + place, -1) for place in range(len(wanted))] == pytest.approx(wanted)


NARROW = {"tol": 1e-14, "max_iter": 10_000}
OPTIONS = {
    "hits": NARROW,
    "katz_centrality": {"alpha": 0.1, **NARROW},
    "eigenvector_centrality": NARROW,
    "pagerank": NARROW,
    "personalized_pagerank": {"sources": ISOLATED, **NARROW},
}
NAMES = [
    *OPTIONS, "degree_centrality", "closeness_centrality", "harmonic_centrality",
    "betweenness_centrality", "strongly_connected_components", "articulation_points", "core_number",
    "greedy_color", "maximal_independent_set",
]  # fmt: skip


@DIRECTED
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("name", NAMES)
def test_vertices_without_an_edge_are_vertices(built, name, directed, ids):
    edges, vertices = example(directed), list(map(IDS[ids], ISOLATED))
    edges = edges.assign(a=edges.a.map(IDS[ids]), b=edges.b.map(IDS[ids]))
    options = OPTIONS.get(name, {})
    options = options | {"sources": vertices} if "sources" in options else {}
    g = built(edges, directed=directed, vertices=pd.Series(vertices))
    found = getattr(g, name)(**options).compute()
    assert {*found.vertex} == {*edges.a, *edges.b, *vertices}
    close = {"rtol": 1e-9, "atol": 1e-12}
    confirm(name, found, edges, options, directed=directed, vertices=vertices, **close)
