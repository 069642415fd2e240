"""Every function works on graphs without rows, vertices or edges between different vertices."""

from __future__ import annotations

import pandas as pd
import pytest
from conftest import frame, is_as_announced

from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.exceptions import CycleError, EdgeListError, OptionError, UnknownVertexError

# The edges, and all vertices.
SHAPES = {
    "no vertices": ([], []),
    "one vertex": ([], [7]),
    "one self-loop": ([(7, 7)], [7]),
    "self-loops only": ([(7, 7), (300, 300), (300, 300)], [7, 300]),
    "isolated vertices only": ([], [7, 300, 301]),
    "text": ([("y", "y")], ["x", "y"]),
}
# Options that name vertices; a function gets all vertices of the graph.
NAMED = {
    "bfs": "sources",
    "earliest_arrival": "sources",
    "ego_graph": "centers",
    "induced_subgraph": "subset",
    "k_shortest_paths": "pairs",
    "maximum_flow": "sinks",
    "minimum_cut": "sinks",
    "neighbors": "sources",
    "personalized_pagerank": "sources",
    "random_walks": "starts",
    "sample_neighbors": "seeds",
    "simple_paths": "pairs",
    "sssp": "sources",
}
OTHERS = {
    "bipartite_projection": {"side": "source", "measure": "jaccard"},
    "earliest_arrival": {"departure": "t", "start": 1},
    "k_shortest_paths": {"k": 2},
    "k_truss": {"k": 2},
    "random_walks": {"length": 3},
    "simple_cycles": {"max_length": 3},
    "simple_paths": {"max_length": 3},
}


def rows_of(name, edges, vertices, result):
    """Return the possible numbers of rows of a result on a graph without edges between vertices."""
    declared = ALGORITHMS[name]
    if name in ("personalized_pagerank",):
        return [len(vertices) ** 2]
    alone = "community_metrics", "k_shortest_paths", "simple_paths"
    if declared.result.rows == "vertices" or name in alone:
        return [len(vertices)]
    if name == "diameter":
        return [1]
    if name == "random_walks":  # self-loops are followed until the walk ends
        return [len(vertices) + 3 * len({a for a, _ in edges})]
    return range(len(edges) + 1)  # self-loops, if the function does not ignore them


@pytest.mark.parametrize("members", [2])
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_graph_without_edges_between_vertices(name, built):
    for number, (pairs, vertices) in enumerate(SHAPES.values()):
        # One member and two take turns, and each of them has graphs with weights and without.
        directed, shards = number // 2 % 2 == 0 or name == "bipartite_projection", 1 + number % 2
        weighted = not directed or ALGORITHMS[name].weights == "required"
        dtype = "str" if "x" in vertices else "int64"
        edges = frame(pairs, dtype)
        edges = edges.assign(w=1.5) if weighted else edges
        given = pd.Series(vertices, dtype=dtype)
        g = built(edges, directed=directed, vertices=given, shards=shards)
        options = dict(OTHERS.get(name, {}))
        if name == "community_metrics":
            options["communities"] = pd.DataFrame({"vertex": given, "community": given})
        if name == "earliest_arrival":
            options["timetable"] = edges[["a", "b"]].assign(t=2)
        if name in NAMED:
            options[NAMED[name]] = vertices or [7]
        if name in ("k_shortest_paths", "simple_paths"):  # the path from each vertex to itself
            ends = pd.Series(vertices or [7], dtype=dtype)
            options["pairs"] = pd.DataFrame({"x": ends, "y": ends})
        if NAMED.get(name) == "sinks":
            options |= {"sources": vertices[:1] or [7], "sinks": vertices[1:] or [7]}
        result = getattr(g, name)(**options)
        if name in NAMED and not vertices:
            with pytest.raises(UnknownVertexError, match="7"):
                result.compute(scheduler="sync")
            continue
        if options.get("sinks") == vertices:
            with pytest.raises(OptionError, match="vertex 7 is among the sources and"):
                result.compute(scheduler="sync")
            continue
        refused = {"topological_order": CycleError, "bipartite_projection": EdgeListError}
        refused["bipartite_matching"] = EdgeListError
        if name in refused and pairs:
            with pytest.raises(refused[name], match=f"vertex {pairs[0][0]!r}[;,]"):
                result.compute(scheduler="sync")
            continue
        found = result.compute()
        assert is_as_announced(found, result)
        assert len(found) in rows_of(name, pairs, vertices, found)
        assert g.num_vertices == len(vertices)
