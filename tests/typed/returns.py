"""What the functions and methods return: test_typing.py has mypy check it with Dask's own types."""

from __future__ import annotations

from typing import Any, assert_type

import dask.dataframe as dd

import dask_graphflow as gf

Pair = tuple[dd.DataFrame, dd.DataFrame]


def returned(edges: dd.DataFrame, graph: gf.Graph, trace: bool) -> None:
    """Hold the calls; nobody makes them."""
    assert_type(gf.bfs(edges, source="a", target="b", sources=1), dd.DataFrame)
    assert_type(gf.bfs(edges, source="a", target="b", sources=1, trace=True), Pair)
    assert_type(gf.bfs(edges, source="a", target="b", sources=1, trace=trace), Any)
    assert_type(gf.bfs(graph, sources=[1, 2]), dd.DataFrame)
    assert_type(gf.bfs(graph, sources=[1, 2], trace=True), Pair)
    assert_type(gf.sssp(edges, source="a", target="b", sources=1, weight="km"), dd.DataFrame)
    assert_type(gf.sssp(graph, sources=1, cutoff=2, trace=True), Pair)
    assert_type(gf.pagerank(edges, source=["a", "b"], target=["c", "d"]), dd.DataFrame)
    assert_type(gf.pagerank(graph, personalization={1: 2.0}, trace=True), Pair)
    assert_type(gf.label_propagation(graph), dd.DataFrame)
    assert_type(gf.core_number(graph), dd.DataFrame)
    assert_type(gf.k_core(edges, source="a", target="b", weight="km", k=2, trace=True), Pair)
    assert_type(gf.hits(edges, source="a", target="b", weight="km", trace=True), Pair)
    assert_type(graph.maximal_independent_set(seed=1), dd.DataFrame)
    assert_type(gf.degrees(edges, source="a", target="b", directed=False), dd.DataFrame)
    assert_type(gf.degrees(graph), dd.DataFrame)
    assert_type(gf.connected_components(edges, source="a", target="b"), dd.DataFrame)
    assert_type(gf.connected_components(graph, progress=True), dd.DataFrame)
    assert_type(graph.degrees(), dd.DataFrame)
    assert_type(graph.bfs(1, progress=print), dd.DataFrame)
    assert_type(graph.bfs(1, trace=True), Pair)
    assert_type(graph.connected_components(trace=False), dd.DataFrame)
    assert_type(graph.connected_components(trace=True), Pair)
