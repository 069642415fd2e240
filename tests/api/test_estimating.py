"""Estimates: sizes that are known without reading edges, parts by hand, bounds, and calibration."""

from __future__ import annotations

from dataclasses import replace

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from conftest import Reader, partitioned

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.api import rate_store
from dask_graphflow.api.graph_sizes import sizes_of
from dask_graphflow.costs import ClusterSpec, Links, Rates
from dask_graphflow.costs.prediction import COPIED, MAKING
from dask_graphflow.costs.rates import KERNELS
from dask_graphflow.declarations.cost import Cost
from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels.memory import PROCESS

ENDS = {"source": "src", "target": "dst"}
EDGES = gf.generate.rmat(8).compute()
LINKS = Links(c=1e9, moves=5e8, latency=1e-4, call=0.01, level=0.005, gang=0.05)
MEASURE = "dask_graphflow.api.measuring.measure"
SIZES = {"num_edges": 8_000_000, "num_vertices": 1_000_000}


def rates(rate):
    return Rates((1,), **dict.fromkeys(KERNELS, (rate,)))


def workers(count=1, rate=1e6, memory=None, **options):
    return ClusterSpec(count, memory=memory, rates=rates(rate), links=LINKS, **options)


def estimate(edges=EDGES, algorithm="connected_components", cluster=None, **options):
    ends = {} if isinstance(edges, gf.Graph) else ENDS
    return gf.estimate(edges, algorithm, cluster or workers(), **ends, **options)


def star(leaves):
    return pd.DataFrame({"src": 0, "dst": range(1, leaves + 1)})


def path(edges):
    return pd.DataFrame({"src": range(edges), "dst": range(1, edges + 1)})


# Sizes


def test_sizes_of_a_frame_in_memory():
    sizes = sizes_of(EDGES, **ENDS)
    assert (sizes.edges, sizes.vertices) == (len(EDGES), int(EDGES.to_numpy().max()) + 1)
    assert (sizes.id_bytes, sizes.weight_bytes, sizes.built) == (8, 0, False)
    split = sizes_of(dd.from_pandas(EDGES, npartitions=3), **ENDS)
    assert split[:2] == sizes[:2]
    assert split.chunk == -(-len(EDGES) // 3)
    far = EDGES + 10**12  # ids are counted from the first one
    assert sizes_of(far, **ENDS).vertices == sizes.vertices - int(EDGES.to_numpy().min())


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_sizes_of_parquet_files_come_from_their_metadata(tmp_path, monkeypatch, filesystem):
    dd.from_pandas(EDGES.assign(w=1.0), npartitions=3).to_parquet(tmp_path)
    read = dd.read_parquet(tmp_path, filesystem=filesystem)
    monkeypatch.setattr(pd, "DataFrame", None)  # no partition can be read
    sizes = sizes_of(read, **ENDS, weight="w")
    assert (sizes.edges, sizes.vertices) == (len(EDGES), int(EDGES.to_numpy().max()) + 1)
    assert (sizes.weight_bytes, sizes.ids, sizes.partitions) == (8, ("dense_ids",), 3)
    assert sizes.read_bytes == pytest.approx(24 * len(EDGES), rel=0.5)
    assert sizes_of(read[["dst", "src"]], **ENDS)[:2] == sizes[:2]


def test_unknown_sizes_must_be_given(tmp_path):
    dd.from_pandas(EDGES, npartitions=3).to_parquet(tmp_path / "edges")
    read = dd.read_parquet(tmp_path / "edges")
    filtered = dd.read_parquet(tmp_path / "edges", filters=[("src", ">", 3)])
    for other in read[read.src > 3], read.partitions[:1], read + 1, filtered:
        with pytest.raises(OptionError, match="num_edges="):
            sizes_of(other, **ENDS)
    assert sizes_of(read[read.src > 3], **ENDS, num_edges=5, num_vertices=4)[:2] == (4, 5)
    names = EDGES.astype(str)
    with pytest.raises(OptionError, match="num_vertices="):
        sizes_of(names, **ENDS)
    assert sizes_of(names, **ENDS, num_vertices=9).edges == len(EDGES)


def test_sizes_of_a_graph_are_known_once_it_is_built():
    graph = gf.Graph(EDGES, **ENDS, directed=False)
    with pytest.raises(OptionError, match="persist"):
        sizes_of(graph)
    assert sizes_of(graph, num_edges=7, num_vertices=3)[:2] == (3, 7)
    built = graph.persist()
    sizes = sizes_of(built)
    assert (sizes.edges, sizes.vertices) == (built.num_edges, built.num_vertices)
    assert sizes.built
    assert not sizes.directed


def test_an_estimate_reads_no_edge():
    reader = Reader([EDGES, EDGES])
    edges = dd.from_map(reader, range(2), meta=EDGES.iloc[:0])
    found = estimate(edges, "pagerank", num_edges=1000, num_vertices=100)
    assert found.edges == 1000
    with pytest.raises(OptionError, match="num_edges="):
        estimate(edges)
    assert not reader.read


# Parts by hand


def test_components_by_groutes_model():
    edges, sizes = partitioned(EDGES, 8), {"num_edges": 8_000_000, "num_vertices": 1000}
    found = estimate(edges, cluster=workers(4), **sizes)
    forest = 5 * 1000
    # t_at E / (N V) + t_com + t_merge (merges on the longest path)
    merging = 2 * (forest / LINKS.moves + 1000 / 1e6 + LINKS.level)
    assert found.parts["hooking"] == pytest.approx(8e6 / 4e6)
    assert found.parts["merging"] == pytest.approx(merging)
    assert found.parts["Dask"] == pytest.approx(MAKING + 0.01 + 7 * 0.005)
    assert found.seconds == pytest.approx(sum(found.parts.values()))
    assert found.bytes_per_worker == (PROCESS + 2 * forest + 16 * 1_000_000 + 16 * 250,) * 4
    for merge, depth in ("tree", 2), ("one-way", 3), ("ring", 3):
        other = estimate(edges, cluster=workers(4), **sizes, merge=merge)
        assert other.plan["merges on the longest path"] == depth
        assert other.parts["merging"] == pytest.approx(depth / 2 * merging)


def test_edges_are_copied_to_devices_while_others_are_hooked():
    given = {"num_edges": 10**7, "num_vertices": 1000}
    for rate, slower in (1e6, 1e6), (1e12, COPIED / 16):
        found = estimate(cluster=workers(2, rate, device=True), **given)
        assert found.parts["hooking"] == pytest.approx(10**7 / (2 * slower))


def test_pagerank_by_totems_model():
    found = estimate(algorithm="pagerank", cluster=workers(2), **SIZES, shards=2, supersteps=10)
    assert found.parts["building"] == pytest.approx((1 + 1.7) * 4.0)
    # Each member has half of the edges to sort by their owners, and sends half of those.
    assert found.parts["dealing"] == pytest.approx(4.0 + 2 * 4 * 4e6 / 2 / 1e9)
    assert found.parts["computing"] == pytest.approx(10 * 4.0)
    assert found.parts["messages"] == pytest.approx(10 * 8 * 500_000 / 1e9 + 20 * 1e-4)
    assert found.seconds == pytest.approx(sum(found.parts.values()))
    assert found.plan["shares"] == [0.5, 0.5]


def test_the_time_grows_with_the_number_of_sources():
    one = estimate(algorithm="betweenness_centrality", **SIZES, supersteps=4, k=1)
    assert one.parts["launching"] == pytest.approx(4 * Cost.FUSED)
    many = estimate(algorithm="betweenness_centrality", **SIZES, supersteps=4, k=10)
    every = estimate(algorithm="betweenness_centrality", **SIZES, supersteps=4)
    for part in "computing", "launching":
        assert many.parts[part] == pytest.approx(10 * one.parts[part])
        assert every.parts[part] == pytest.approx(SIZES["num_vertices"] * one.parts[part])
    few, more = (estimate(algorithm="closeness_centrality", **SIZES, k=k) for k in (2, 64))
    assert few.seconds == more.seconds  # one run searches from 64 sources


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_estimates_grow_with_the_edges_and_shrink_with_the_workers(algorithm):
    def of(edges, cluster=None, **options):
        sizes = {"num_edges": edges, "num_vertices": 10**6, "supersteps": 3}
        return estimate(algorithm=algorithm, cluster=cluster, **sizes, **options)

    small, large, far = of(10**8), of(10**9), of(10**9, dense_ids=False)
    for found in small, large, far, of(10**7, workers(3)):
        assert found.seconds == pytest.approx(sum(found.parts.values()))
        assert min(found.parts.values()) >= 0
    assert large.seconds > 5 * small.seconds
    assert large.bytes_per_worker > small.bytes_per_worker
    assert far.parts["numbering"] > large.parts["numbering"]
    assert of(10**9, workers(4)).seconds < large.seconds / 2
    assert small.fits
    assert not of(10**8, workers(memory=10**6)).fits


def test_a_built_graph_is_not_read_or_built_again():
    graph, edges = gf.Graph(EDGES.astype("str"), **ENDS).persist(), EDGES.astype("str")
    built = estimate(graph, "bfs", workers(2), shards=2)
    new = estimate(edges, "bfs", workers(2), shards=2, num_vertices=256)
    for part in "reading", "numbering", "building", "dealing":
        assert built.parts[part] == 0 < new.parts[part]
    assert built.bytes_per_worker[0] - PROCESS < (new.bytes_per_worker[0] - PROCESS) / 2


# Shares, bounds and reasons


def test_workers_of_two_kinds_get_shares_by_rate_and_memory():
    given = {"num_edges": 10**8, "num_vertices": 10**6}
    fast, slow = workers(rate=3e6), workers(2, rate=1e6)
    found = estimate(algorithm="bfs", cluster=[fast, slow], **given)
    assert found.plan["shares"] == pytest.approx([0.6, 0.2, 0.2])
    small = workers(rate=3e6, memory=int(found.bytes_per_worker[0] / 2))
    less = estimate(algorithm="bfs", cluster=[small, slow], **given)
    assert less.fits
    assert less.bytes_per_worker[0] <= small.memory
    assert less.plan["shares"][0] < 0.4
    assert less.plan["shares"][1] == pytest.approx(less.plan["shares"][2])
    assert "no room for more" in less.reason


def test_an_estimate_prints_as_a_small_table():
    few = workers(2, memory=10**6)
    found = estimate(algorithm="pagerank", cluster=few, num_edges=10**9, num_vertices=10**6)
    assert not found.fits
    assert "there is room for" in found.reason
    assert "does NOT fit" in repr(found)
    found = estimate(algorithm="pagerank", cluster=workers(8))
    lines = repr(found).splitlines()
    heads = ["algorithm", "graph", "seconds", "memory per worker", "plan", "reason"]
    assert [line.split("  ")[0] for line in lines] == heads
    assert f"{len(EDGES):,} edges" in lines[1]
    assert found._repr_html_().count("<tr>") == len(lines)


def test_the_reason_explains_the_number_of_workers_and_names_the_longest_part():
    few = {"algorithm": "bfs", "num_edges": 10**6, "num_vertices": 10**6}
    found = estimate(cluster=workers(4), **few)
    assert found.plan["workers"] == 1
    assert "1 of 4 workers: one worker has room" in found.reason
    assert found.seconds == estimate(cluster=workers(1), **few).seconds
    assert estimate(cluster=workers(4), **few, shards=3).plan["workers"] == 3
    assert estimate(cluster=[workers(), workers(3, rate=3.0)], **few).plan["workers"] == 4
    slow = replace(workers(2, rate=1e12), links=replace(LINKS, latency=1e3))
    assert estimate(cluster=slow, **few, shards=2).reason.startswith("messages takes longest")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "pagernk"}, "did you mean 'pagerank'"),
        ({"cluster": "scheduler:8786"}, "ClusterSpec"),
        ({"cluster": ["x"]}, "ClusterSpec"),
        ({"storage": "disc", "algorithm": "bfs"}, "did you mean 'disk'"),
        ({"merge": "trees"}, "'tree', 'one-way', 'ring'"),
        ({"num_edges": -1}, "num_edges"),
        ({"num_vertices": 1.5}, "num_vertices"),
        ({"supersteps": 0.5}, "supersteps=0.5; give a whole number"),
        ({"shards": 0}, "shards=0; give a whole number"),
        ({"shards": 100}, r"shards=100, and there is 1 worker; give at most 1, or .*ClusterSpec"),
        ({"shards": 3, "cluster": workers(2)}, "there are 2 workers; give at most 2"),
        (
            {"k": 2, "algorithm": "degrees"},
            "leave out k=, which is for betweenness_centrality, bfs",
        ),
        ({"k": 2, "top_k": 2, "algorithm": "bfs"}, "leave out top_k=, which is for"),
        ({"top_k": 2, "algorithm": "shortest_paths"}, "leave out top_k=, which is for"),
        (
            {"algorithm": "bfs", "cluster": replace(workers(), rates=Rates((1,), builds=(1e6,)))},
            r"no searches; give Rates\(searches=",
        ),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        estimate(**options)


def test_similarity_depends_on_the_degrees():
    typical = workers(memory=8 << 30)
    hub, chain = (estimate(edges, "similarity", typical) for edges in (star(20_000), path(20_000)))
    assert hub.seconds > 1000 * chain.seconds
    assert hub.most_seconds == hub.seconds
    assert "the time depends on the degrees" in hub.reason
    assert chain.fits > hub.fits  # the hub has 400 million pairs
    assert estimate(star(20_000), "similarity", typical, top_k=2).fits
    assert estimate(star(20_000), "similarity", typical, k=10).seconds < chain.seconds
    # The sizes alone do not show whether there is a hub.
    sizes = {"num_vertices": 20_001, "num_edges": 20_000}
    unknown = estimate(algorithm="similarity", cluster=typical, **sizes)
    assert 100 * unknown.seconds < hub.seconds <= unknown.most_seconds
    assert not unknown.fits


WEIGHTED = [name for name, one in ALGORITHMS.items() if one.cost.weighted]


@pytest.mark.parametrize("algorithm", WEIGHTED)
def test_distances_by_weight_take_longer(algorithm):
    plain = pd.DataFrame({"a": range(10**4), "b": range(1, 10**4 + 1)})
    seconds = []
    for edges, weight in ((plain, None), (plain.assign(w=1.0), "w")):
        found = gf.estimate(edges, algorithm, source="a", target="b", weight=weight, k=64)
        seconds.append(found.parts["computing"])
    assert seconds[0] < seconds[1]


@pytest.mark.parametrize(
    "algorithm", ["closeness_centrality", "betweenness_centrality", "strongly_connected_components"]
)
def test_a_search_has_at_most_one_level_per_vertex_with_two_edges(algorithm):
    options = {"directed": False} | ({"k": 1} if algorithm.endswith("centrality") else {})
    hub, chain = (estimate(edges, algorithm, **options) for edges in (star(5000), path(5000)))
    assert hub.plan["supersteps"] <= 12
    assert hub.most_seconds == pytest.approx(hub.seconds)
    assert chain.most_seconds >= 5000 * ALGORITHMS[algorithm].cost.step > chain.parts["launching"]
    assert "the time depends on the diameter" in chain.reason
    given = estimate(path(5000), algorithm, **options, supersteps=7)
    assert given.most_seconds == given.seconds


def test_shortest_paths_need_memory_for_the_longest_path():
    short, long = (
        estimate(edges, "shortest_paths", workers(), k=20) for edges in (star(5000), path(5000))
    )
    assert long.bytes_per_worker[0] > PROCESS + 20 * 5000 * 20 > short.bytes_per_worker[0]
    assert long.most_seconds > long.seconds == pytest.approx(sum(long.parts.values()))


def test_the_memory_of_a_worker_includes_its_process():
    one, gpu = (
        estimate(cluster=workers(device=device)).bytes_per_worker[0] for device in (False, True)
    )
    assert one > PROCESS > gpu
    assert not estimate(algorithm="bfs", cluster=workers(memory=PROCESS)).fits


# Graphs on disk

PARTS = gf.generate.rmat(20, npartitions=1000)
LARGE = {"num_edges": 10**9, "num_vertices": 10**6}


def test_memory_on_disk_does_not_grow_with_the_edges():
    eight_gb = workers(memory=8 * 10**9)
    in_memory, on_disk = (
        estimate(PARTS, "pagerank", eight_gb, storage=storage, **LARGE)
        for storage in ("memory", "disk")
    )
    assert not in_memory.fits
    assert "with storage='disk', every worker has enough" in in_memory.reason
    assert "disk per worker" not in repr(in_memory)
    assert on_disk.fits
    assert on_disk.plan["storage"] == "disk"
    # While rows are made: the edges as they are read, by their numbers, and again in ranges.
    assert on_disk.disk_bytes_per_worker == ((16 + 8 + 8) * 10**9,)
    assert "disk per worker" in repr(on_disk)
    more = estimate(
        PARTS,
        "pagerank",
        eight_gb,
        storage="disk",
        **LARGE | {"num_edges": 2 * 10**9},
    )
    assert more.bytes_per_worker == on_disk.bytes_per_worker
    two = estimate(PARTS, "pagerank", workers(2, 1e6, 8 * 10**9), storage="disk", **LARGE)
    assert two.disk_bytes_per_worker == (16 * 10**9,) * 2


def test_large_partitions_need_memory_on_disk():
    one, many = (
        estimate(
            gf.generate.rmat(20, npartitions=count),
            "bfs",
            workers(memory=8 * 10**9),
            storage="disk",
            **LARGE,
        )
        for count in (1, 1000)
    )
    assert many.fits > one.fits
    assert (
        "on disk, with more and smaller partitions of the edges, every worker has enough"
        in one.reason
    )
    assert "partitions" not in many.reason


def test_functions_that_need_memory_for_every_edge_do_not_fit_on_disk():
    found = estimate(PARTS, "truss_number", workers(memory=8 * 10**9), storage="disk", **LARGE)
    assert not found.fits


@pytest.mark.parametrize(
    ("memory", "storage"), [(10**9, "disk"), (10**12, "memory"), (None, "memory")]
)
def test_an_estimate_chooses_the_storage_as_a_graph_does(memory, storage):
    found = estimate(EDGES, "bfs", workers(memory=memory), num_edges=10**8, num_vertices=10**6)
    assert found.plan["storage"] == storage


def test_a_graph_that_is_given_keeps_its_storage():
    on_disk = gf.Graph(EDGES, **ENDS, storage="disk").persist()
    found = estimate(on_disk, "pagerank")
    assert found.plan["storage"] == "disk"
    assert found.disk_bytes_per_worker[0] > 0
    assert estimate(gf.Graph(EDGES, **ENDS).persist(), "pagerank").plan["storage"] == "memory"
    with pytest.raises(OptionError, match="storage='disk' was given with a graph"):
        estimate(on_disk, "pagerank", storage="disk")


# Calibration


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(rate_store, "_measured", {})
    monkeypatch.setenv("DASK_GRAPHFLOW__CALIBRATION__PATH", str(tmp_path))
    with dask.config.set({"graphflow.calibration.path": str(tmp_path)}):
        yield tmp_path


def quick(device, threads, **options):
    return rates(1e6 * threads)


def test_a_calibration_is_stored_and_used(folder, monkeypatch):
    monkeypatch.setattr(MEASURE, quick)
    found = gf.calibrate()
    (kind,) = found.kinds
    assert kind.workers == 1
    assert kind.rates == rates(1e6 * kind.threads)
    assert len(list(folder.iterdir())) == 1
    assert "GB/s" in repr(found)
    monkeypatch.setattr(MEASURE, None)  # the stored rates are used
    about = gf.estimate(EDGES, **ENDS)
    assert about.fits
    assert "typical" not in about.reason


def test_rates_of_a_typical_machine_are_used_before_a_calibration(folder, monkeypatch):
    monkeypatch.setattr(MEASURE, None)  # nothing is measured
    about = gf.estimate(EDGES, "pagerank", **ENDS)
    assert about.seconds > 0
    assert "a typical machine, because this one was never measured" in about.reason
    four, one = (
        estimate(algorithm="pagerank", cluster=ClusterSpec(threads=threads, links=LINKS), **SIZES)
        for threads in (4, 1)
    )
    assert four.parts["computing"] == pytest.approx(one.parts["computing"] / 4)
    gpu = estimate(algorithm="pagerank", cluster=ClusterSpec(device=True, links=LINKS), **SIZES)
    assert gpu.parts["computing"] < one.parts["computing"] / 10
    assert list(folder.iterdir()) == []


def test_each_kind_of_worker_of_a_cluster_is_calibrated(folder, monkeypatch):
    from distributed import Client, SpecCluster, Worker
    from distributed.scheduler import Scheduler

    def worker(threads):
        options = {"nthreads": threads, "memory_limit": 1 << 30, "dashboard_address": ":0"}
        return {"cls": Worker, "options": options}

    # The workers are threads of this process, which uses more memory than their limit: none may pause.
    limits = "distributed.worker.memory.pause", "distributed.worker.memory.spill"
    with (
        dask.config.set(dict.fromkeys(limits, False)),
        SpecCluster(
            workers={0: worker(1), 1: worker(2), 2: worker(2)},
            scheduler={"cls": Scheduler, "options": {"dashboard_address": ":0"}},
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(3)
        monkeypatch.setattr(MEASURE, quick)
        early = gf.estimate(EDGES, "bfs", **ENDS)
        found = gf.calibrate()
        about = gf.estimate(EDGES, "bfs", **ENDS)
    assert "typical" in early.reason
    assert "typical" not in about.reason
    assert [(kind.workers, kind.threads) for kind in found.kinds] == [(1, 1), (2, 2)]
    assert all(kind.memory == 1 << 30 for kind in found.kinds)
    assert found.links.gang > 0
    assert found.links.moves < float("inf")
    assert len(about.bytes_per_worker) == 3
    assert about.plan["shares"][0] <= about.plan["shares"][1]
