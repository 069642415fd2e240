"""A user's program: mypy checks it, and test_typing.py runs it.

Dask is only partly typed, so values computed from a frame have no type, and the user annotates them.
"""

from __future__ import annotations

import io
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any, assert_type

import dask.dataframe as dd
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import dask_graphflow as gf
from dask_graphflow import costs, exceptions, generate
from dask_graphflow.costs.estimate_of_call import Calibration, Estimate
from dask_graphflow.programs.edge_op import BoundOp

Step = Mapping[str, Any]


def edges_of(scale: int) -> dd.DataFrame:
    """Return a power-law graph with weights."""
    drawn = generate.rmat(scale, edge_factor=4, seed=1, npartitions=2, dtype=np.int32)
    edges: dd.DataFrame = drawn.assign(w=drawn.src % 7 + 0.5)
    return edges


def components(edges: dd.DataFrame, crm: pd.Series[int]) -> pd.DataFrame:
    """Return components, from a call with every option."""
    labels = gf.connected_components(
        edges,
        source="src",
        target="dst",
        vertices=crm,
        weight="w",
        threshold=0.9,
        merge="one-way",
        merge_chunks=2,
        inputs="round-robin",
        chunk_size=1 << 10,
        dropna=True,
        device=None,
        renumber=True,
    )
    several: dd.DataFrame = gf.connected_components(
        edges, source="src", target="dst", weight="w", thresholds=(0.5, 2.5)
    )
    more = gf.connected_components(edges, source=["src"], target=["dst"], seed=labels)
    assert set(several.columns) == {"vertex", "component_0.5", "component_2.5"}
    assert len(more) >= len(labels)
    found: pd.DataFrame = labels.compute()
    return found


def searches(edges: dd.DataFrame) -> tuple[pd.DataFrame, list[Step]]:
    """Return distances, and the supersteps that the progress function received."""
    told: list[Step] = []
    hops, steps = gf.bfs(
        edges,
        source="src",
        target="dst",
        directed=False,
        sources=[1],
        depth_limit=5,
        direction="gemini",
        trace=True,
        progress=told.append,
    )
    far: pd.DataFrame = gf.sssp(
        edges, source="src", target="dst", weight="w", directed=False, sources=1, cutoff=3.5
    ).compute()
    found: pd.DataFrame = hops.compute()
    assert len(steps.compute()) > 0
    assert set(far.vertex) <= set(found.vertex)
    return found, told


def rankings(edges: dd.DataFrame) -> pd.DataFrame:
    """Return a frame with ranks and communities."""
    ranks: pd.DataFrame = gf.pagerank(
        edges,
        source="src",
        target="dst",
        weight="w",
        multi="sum",
        alpha=0.9,
        tol=None,
        max_iter=5,
        personalization={1: 2.0, 2: 1.0},
        precision="float32",
    ).compute()
    groups: pd.DataFrame = gf.label_propagation(
        edges, source="src", target="dst", directed=True, max_iter=3
    ).compute()
    return ranks.merge(groups, on="vertex")


def projected(g: gf.Graph) -> dd.DataFrame:
    """Return the edges of one side of a bipartite graph."""
    return g.bipartite_projection(side="target")


def matched(g: gf.Graph) -> dd.DataFrame:
    """Return a matching of a bipartite graph."""
    return g.bipartite_matching()


def ordered(g: gf.Graph) -> dd.DataFrame:
    """Return the order of a graph that is directed and has no cycle."""
    return g.topological_order()


def asked(edges: dd.DataFrame) -> gf.Graph:
    """Return a graph on which every method was called."""
    shares = gf.Hybrid({"cpu": 1.0}, placement="leaves-on-cpu")
    assert_type(shares.count, int | None)
    assert_type(shares.by_shard(["cpu", "cpu"]), gf.Hybrid)
    g = gf.Graph(
        edges,
        source="src",
        target="dst",
        weight="w",
        directed=False,
        multi="min",
        shards=1,
        hybrid=None,
        columns=["src", "w"],
    )
    assert_type(g, gf.Graph)
    g = assert_type(g.persist(), gf.Graph)
    assert_type(g.num_vertices, int)
    assert_type(g.num_edges, int)
    assert_type(g.directed, bool)
    assert_type(len(g), int)
    assert_type(g.reverse(), gf.Graph)
    assert_type(g.to_undirected(), gf.Graph)
    assert_type(g.update(edges, delete=[(1, 2)], missing="ignore"), gf.Graph)
    assert_type(-1 in g, bool)
    with tempfile.TemporaryDirectory() as folder:
        g.save(folder, storage_options={"auto_mkdir": True})
        assert_type(gf.load_graph(pathlib.Path(folder), shards=2, backend="pandas"), gf.Graph)
        assert_type(gf.vacuum(folder, keep=2), list[str])
    assert len(g.to_scipy()[1]) == len(g.to_networkx())
    assert_type(g.weighted, bool)
    ids = gf.stable_ids(g.connected_components())
    ids = gf.stable_ids(g.leiden(), previous=gf.stable_ids(g.louvain().compute(), ids.memory))
    assert ids.events.compute().event.nunique() > 0
    start: int = g.degrees().nlargest(1, columns="degree").compute().vertex.iloc[0]
    other: int = g.neighbors([start]).compute().target.iloc[-1]
    steps = [widest(), {"width": "width / 2"}]
    pairs = pd.DataFrame({"first": [start], "last": [start]})
    answers: list[dd.DataFrame] = [
        g.layout(),
        g.vertices(),
        g.edges(),
        gf.degrees(g),
        g.bfs(start, targets=[start], direction="push"),
        g.sssp(sources=[start], cutoff=None),
        g.pagerank(max_iter=3, fail_on_nonconvergence=False),
        gf.personalized_pagerank(g, sources=[start], top_k=3),
        g.personalized_pagerank([start], tol=None, fail_on_nonconvergence=False),
        g.label_propagation(max_iter=2),
        gf.louvain(g, resolution=[0.5, 2], levels=2, tol=0.01, seed=1),
        g.louvain(),
        gf.leiden(g, objective="cpm", resolution=0.1, max_community_size=5),
        g.leiden(),
        gf.core_number(g),
        g.core_number(),
        gf.k_core(g, k=3, columns="w"),
        gf.shortest_paths(g.bfs(start), targets=[start]),
        g.shortest_paths(start, targets=[start]),
        gf.shortest_paths(g, pairs=pairs),
        g.shortest_paths(pairs=pairs),
        gf.earliest_arrival(
            pairs.assign(at=3),
            source="first",
            target="last",
            sources=start,
            departure="at",
            duration="at",
            reverse=True,
        ),
        g.earliest_arrival(start, departure="at", timetable=pairs.assign(at=3), start=5),
        gf.k_shortest_paths(g, pairs=pairs, k=2),
        g.k_shortest_paths(pairs, k=2),
        g.k_core(),
        gf.hits(g, max_iter=200, tol=0.01),
        g.hits(max_iter=200, tol=0.01),
        gf.katz_centrality(g, alpha=0.01, beta=2, normalized=False),
        g.katz_centrality(alpha=0.01, fail_on_nonconvergence=False),
        gf.eigenvector_centrality(g, max_iter=200, tol=0.01),
        g.eigenvector_centrality(fail_on_nonconvergence=False),
        gf.betweenness_centrality(g, k=2, normalized=False, endpoints=True, seed=1),
        g.betweenness_centrality(),
        gf.edge_betweenness_centrality(g, k=2, normalized=False, seed=1),
        g.edge_betweenness_centrality(),
        gf.closeness_centrality(g, wf_improved=False, k=2, seed=1),
        g.closeness_centrality(),
        gf.harmonic_centrality(g, k=2, seed=1),
        g.harmonic_centrality(),
        gf.eccentricity(g, k=2),
        g.eccentricity(),
        gf.diameter(g, k=2),
        g.diameter(),
        gf.degree_centrality(g),
        g.degree_centrality(),
        gf.maximal_independent_set(g, seed=1),
        g.maximal_independent_set(seed=1),
        gf.greedy_color(g, seed=1),
        g.greedy_color(seed=1),
        gf.bipartite_projection([(1, 2), (3, 2)], side="source", measure="jaccard"),
        projected(gf.Graph([(1, 2), (1, 3)])),
        gf.motif_counts(g, size=4),
        g.motif_counts(),
        gf.fast_rp(g, dimensions=64, weights=(1, 2.5), normalization=0, seed=1),
        g.fast_rp(dimensions=64),
        gf.similarity(g, top_k=3),
        g.similarity(top_k=3),
        gf.random_walks(g, starts=start, length=4, walks_per_vertex=2, p=0.5, q=2, seed=1),
        g.random_walks(start, length=4),
        gf.sample_neighbors(g, seeds=[start], fanouts=[3, -1], replace=True, seed=1),
        g.sample_neighbors(start, fanouts=(3,)),
        gf.truss_number(g),
        g.truss_number(),
        gf.k_truss(g, k=4),
        g.k_truss(k=4),
        gf.clustering(g),
        g.clustering(),
        gf.triangle_count(g),
        g.triangle_count(),
        gf.strongly_connected_components(g),
        g.strongly_connected_components(),
        gf.articulation_points(g),
        g.articulation_points(),
        gf.bridges(g),
        g.bridges(),
        gf.maximum_flow(g, sources=[start], sinks=[other]),
        g.maximum_flow(start, [other]),
        gf.minimum_cut(g, sources=[start], sinks=other),
        g.minimum_cut([start], other),
        gf.bipartite_matching([(1, 2), (3, 2)], directed=False),
        matched(gf.Graph([(1, 2), (1, 3)])),
        gf.simple_cycles(g, max_length=3, through=[start], top=5),
        g.simple_cycles(3, min_length=2, columns=["src", "w"]),
        gf.simple_paths(g, pairs=pd.DataFrame({"from": [start], "to": [start]}), max_length=2),
        g.simple_paths(pd.DataFrame({"from": [start], "to": [start]}), max_length=2),
        gf.topological_order(generate.path(5), source="src", target="dst"),
        ordered(gf.Graph(generate.path(5))),
        g.connected_components(),
        gf.neighbors(g, sources=[start]),
        g.neighbors([start]),
        gf.ego_graph(g, centers=[start], radius=2),
        g.ego_graph(start),
        gf.induced_subgraph(g, subset=edges.src.compute()),
        g.induced_subgraph(edges.src.compute()),
        gf.minimum_spanning_forest(g),
        g.minimum_spanning_forest(),
        gf.community_metrics(g, communities=g.connected_components()),
        g.community_metrics(g.connected_components()),
        g.run(widest(), columns={"width": 0.0}, max_iter=4, balance="auto"),
        g.run(steps, columns={"width": 0.0}, until="largest(width) < n", max_iter=4),
    ]
    for answer in answers:
        assert len(answer) > 0
    return g


def widest() -> gf.EdgeOp:
    """Return an edge program, which is checked as it is written."""
    op = gf.EdgeOp("widest", target="width", signal="min(width[src], weight)", slot="max")
    assert_type(op.columns, tuple[str, ...])
    assert_type(op.needs_weight, bool)
    bound = op.bind({"width": np.float64}, index_dtype="int32", weight_dtype=np.dtype("float64"))
    assert_type(bound, BoundOp)
    assert_type(bound.value_dtype, str)
    return op


def costs_of(edges: dd.DataFrame) -> Estimate:
    """Return the estimate of PageRank on workers that do not exist."""
    both = (2e8, 1e8)
    rates = costs.Rates((1 << 10, 1 << 20), both, both, both, both, both, both, both)
    links = costs.Links(c=1e9, moves=1e9, latency=1e-4, call=0.005, level=0.001, gang=0.02)
    two = costs.ClusterSpec(workers=2, threads=4, memory=8 << 30, rates=rates, links=links)
    assert_type(rates.rate("hooks", 1 << 15), float)
    assert_type(rates.over(2), costs.Rates)
    assert_type(costs.share_out([3.0, 1.0], room=[0.5, 1.0]), list[float])
    calibration = assert_type(gf.calibrate(two, fresh=False), Calibration)
    assert_type(calibration.kinds, tuple[costs.ClusterSpec, ...])
    about = gf.estimate(
        edges,
        "pagerank",
        [two],
        source="src",
        target="dst",
        num_edges=10**6,
        num_vertices=10**5,
        supersteps=20,
    )
    assert_type(about, Estimate)
    assert_type(about.seconds, float)
    assert_type(about.bytes_per_worker, tuple[int, ...])
    assert_type(about.fits, bool)
    return about


def drawn(edges: dd.DataFrame) -> Axes:
    """Return the last of several pictures."""
    ends: dict[str, Any] = {"source": "src", "target": "dst"}
    labels = gf.connected_components(edges, **ends)
    _, steps = gf.bfs(edges, **ends, sources=[1], trace=True)
    assert_type(gf.plot.components(labels), Axes)
    assert len(gf.plot.trace(steps)) > 0
    assert_type(gf.plot.communities(edges, labels, **ends), Axes)
    assert_type(gf.plot.degrees(gf.degrees(edges, **ends)), Axes)
    at = assert_type(gf.plot.layout(edges, **ends), pd.DataFrame)
    assert_type(gf.plot.graph(edges, **ends, groups=labels, layout=at), Axes)
    near = gf.plot.neighborhood(edges, 1, source="src", target="dst", hops=1, limit=5)
    assert near.figure is not None
    return gf.plot.plan(labels)


def other_tools(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return clusters for Splink, and communities for GraphRAG."""
    from dask_graphflow.integrations import graphrag, scanpy, splink

    scanpy.leiden(None, 0.5, restrict_to=("louvain", ["0"]), key_added="finer")
    found = splink.clusters(pairs, [0.5, 0.9], previous=pairs)
    assert_type(found.labels, dd.DataFrame)
    return graphrag.create_communities(pairs, "relationships.parquet", max_cluster_size=5)


def refusals(edges: dd.DataFrame) -> list[str]:
    """Return the messages of calls whose errors a type checker cannot find."""
    said: list[str] = []
    try:
        gf.bfs(edges, source="scr", target="dst", sources=[0])
    except exceptions.UnknownColumnError as error:
        said.append(str(error))
    try:
        gf.hybrid_cluster(10**6, cpu_workers=2)
    except exceptions.BackendError as error:
        said.append(str(error))
    try:
        costs.share_out([1.0], room=[0.5], nbytes=100)
    except exceptions.GraphMemoryError as error:
        assert_type(error.needed, int)
        assert_type(error.available, int | None)
        said.append(str(error))
    except gf.GraphflowError:
        raise
    return said


def files_of(edges: dd.DataFrame, folder: str) -> int:
    """Return the number of vertices in files of the edges."""
    edges.to_parquet(folder)
    read = assert_type(gf.read_edges(folder, format="parquet"), dd.DataFrame)
    return len(gf.degrees(read))


def main() -> None:
    """Call all functions of this program."""
    print(gf.__version__)  # noqa: T201
    edges = edges_of(6)
    assert len(edges.gf.connected_components(source="src", target="dst")) > 0
    assert len(components(edges, pd.Series([1, 2, 900], dtype="int32"))) > 0
    found, told = searches(edges)
    assert len(found) >= len(told) > 0
    assert len(rankings(edges)) > 0
    assert asked(edges).num_vertices > 0
    assert costs_of(edges).fits
    assert len(generate.grid(3, 3)) + len(generate.path(n=4)) == 15
    assert len(refusals(edges)) == 3
    assert drawn(edges).has_data()
    with tempfile.TemporaryDirectory() as folder:
        assert files_of(edges, folder) > 0
    gf.show_versions(io.StringIO())


if __name__ == "__main__":
    main()
