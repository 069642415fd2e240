"""Calls that mypy refuses, each with the reason.

If mypy accepted one, its ignore comment would be unused, which is an error too.
"""

from __future__ import annotations

from typing import Any

import dask_graphflow as gf
from dask_graphflow import costs, generate


def refused(edges: Any, graph: gf.Graph) -> None:
    """Hold the calls; nobody makes them."""
    gf.connected_components(edges, "src", "dst")  # type: ignore[call-arg]
    gf.connected_components(edges, source="a", target="b", limit=1)  # type: ignore[call-arg]
    gf.connected_components(edges, source="a", target="b", threshold="1")  # type: ignore[arg-type]
    gf.connected_components(edges, source="a", target="b", thresholds=0.5)  # type: ignore[arg-type]
    gf.bfs(edges, source="a", target="b")  # type: ignore[call-overload]
    gf.bfs(edges, source="a", target="b", sources=1, depth_limit="2")  # type: ignore[call-overload]
    gf.sssp(edges, source="a", target="b", weight="km")  # type: ignore[call-overload]
    gf.bfs(graph)  # type: ignore[call-overload]
    gf.label_propagation(edges, source="a", target="b", max_iter=0.5)  # type: ignore[call-overload]
    gf.Graph(edges, source="a", target="b", directed="yes")  # type: ignore[arg-type]
    gf.Graph(edges, source="a", target="b").num_vertices()  # type: ignore[operator]
    graph.degree()  # type: ignore[attr-defined]
    graph.bfs(1, way="push")  # type: ignore[call-overload]
    graph.sssp(1, cutoff="far")  # type: ignore[call-overload]
    graph.pagerank(0.85)  # type: ignore[call-overload]
    graph.label_propagation(max_iters=3)  # type: ignore[call-overload]
    graph.run("hops", columns={})  # type: ignore[arg-type]
    gf.pagerank(edges, source="a", target="b", damping=0.9)  # type: ignore[call-overload]
    graph.num_edges = 7  # type: ignore[misc]
    gf.EdgeOp("hops", "level", signal="level[src] + 1", slot="min")  # type: ignore[call-arg]
    gf.EdgeOp("hops", target="level", signal=lambda level: level + 1, slot="min")  # type: ignore[arg-type]
    gf.EdgeOp("hops", target="level", signal="level[src]", slot="min").target = "x"  # type: ignore[misc]
    gf.Hybrid([1.0], placement=None)  # type: ignore[arg-type]
    gf.estimate(edges, algorithm=gf.bfs)  # type: ignore[arg-type]
    gf.estimate(edges).show()  # type: ignore[attr-defined]
    gf.calibrate(None, True)  # type: ignore[call-arg]
    gf.hybrid_cluster("all")  # type: ignore[arg-type]
    generate.rmat("20")  # type: ignore[arg-type]
    generate.grid(3)  # type: ignore[call-arg]
    generate.path(3, 4)  # type: ignore[call-arg]
    costs.ClusterSpec(workers=2.5)  # type: ignore[arg-type]
    costs.share_out(1.0)  # type: ignore[arg-type]
    gf.show()  # type: ignore[attr-defined]
