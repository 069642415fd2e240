"""Estimates: from sizes that are known without reading, for clusters that are there and that are not."""

from __future__ import annotations

from dataclasses import replace

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from conftest import Reader, partitioned

import dask_graphflow as gf
from dask_graphflow.algorithms.algorithm import ALGORITHMS
from dask_graphflow.api import estimate as estimate_module
from dask_graphflow.api.graph_sizes import known
from dask_graphflow.costs import ClusterSpec, Links, Rates, store
from dask_graphflow.costs.cost import STEP
from dask_graphflow.costs.curves import CURVES
from dask_graphflow.costs.defaults import default_rates
from dask_graphflow.exceptions import OptionError
from dask_graphflow.scheduling.memory_limits import PROCESS

ENDS = {"source": "src", "target": "dst"}
EDGES = gf.generate.rmat(8).compute()
LINKS = Links(c=1e9, moves=5e8, latency=1e-4, call=0.01, level=0.005, gang=0.05)


def rates(rate):
    return Rates((1,), **dict.fromkeys(CURVES, (rate,)))


def workers(count=1, rate=1e6, memory=None, **options):
    return ClusterSpec(count, memory=memory, rates=rates(rate), links=LINKS, **options)


MEASURE = "dask_graphflow.costs.microbenchmarks.measure"
SIZES = {"num_edges": 8_000_000, "num_vertices": 1_000_000}


def estimate(edges=EDGES, algorithm="connected_components", cluster=None, **options):
    ends = {} if isinstance(edges, gf.Graph) else ENDS
    return gf.estimate(edges, algorithm, cluster or workers(), **ends, **options)


# What is known


def test_a_frame_in_memory():
    found = known(EDGES, **ENDS)
    assert (found.edges, found.vertices) == (len(EDGES), int(EDGES.to_numpy().max()) + 1)
    assert (found.id_bytes, found.weight_bytes, found.built) == (8, 0, False)
    held = known(dd.from_pandas(EDGES, npartitions=3), **ENDS)
    assert held[:2] == found[:2]
    assert held.chunk == -(-len(EDGES) // 3)
    far = EDGES + 10**12  # ids are counted from the first one
    assert known(far, **ENDS).vertices == found.vertices - int(EDGES.to_numpy().min())


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_parquets_metadata(tmp_path, monkeypatch, filesystem):
    frame = EDGES.assign(w=1.0)
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path)
    read = dd.read_parquet(tmp_path, filesystem=filesystem)
    monkeypatch.setattr(pd, "DataFrame", None)  # nothing can be read
    found = known(read, **ENDS, weight="w")
    assert (found.edges, found.vertices) == (len(EDGES), int(EDGES.to_numpy().max()) + 1)
    assert found.weight_bytes == 8
    assert known(read[["dst", "src"]], **ENDS)[:2] == found[:2]


def test_sizes_that_are_not_known_are_asked_for(tmp_path):
    dd.from_pandas(EDGES, npartitions=3).to_parquet(tmp_path / "edges")
    read = dd.read_parquet(tmp_path / "edges")
    filtered = dd.read_parquet(tmp_path / "edges", filters=[("src", ">", 3)])
    for other in read[read.src > 3], read.partitions[:1], read + 1, filtered:
        with pytest.raises(OptionError, match="num_edges="):
            known(other, **ENDS)
    assert known(read[read.src > 3], **ENDS, num_edges=5, num_vertices=4)[:2] == (4, 5)
    names = EDGES.astype(str)
    names.to_parquet(tmp_path / "names.parquet")
    text = dd.read_parquet(tmp_path / "names.parquet")
    for frame in names, text:
        with pytest.raises(OptionError, match="num_vertices="):
            known(frame, **ENDS)
    assert known(text, **ENDS, num_vertices=9).edges == len(EDGES)


def test_a_graph_that_is_built_and_one_that_is_not():
    graph = gf.Graph(EDGES, **ENDS, directed=False)
    with pytest.raises(OptionError, match="persist"):
        known(graph)
    assert known(graph, num_edges=7, num_vertices=3)[:2] == (3, 7)
    built = graph.persist()
    found = known(built)
    assert (found.edges, found.vertices) == (built.num_edges, built.num_vertices)
    assert found.built
    assert not found.directed


def test_nothing_is_read():
    reader = Reader([EDGES, EDGES])
    edges = dd.from_map(reader, range(2), meta=EDGES.iloc[:0])
    found = estimate(edges, "pagerank", num_edges=1000, num_vertices=100)
    assert found.edges == 1000
    with pytest.raises(OptionError, match="num_edges="):
        estimate(edges)
    assert not reader.read


# What follows


def test_components_by_hand():
    edges, sizes = partitioned(EDGES, 8), {"num_edges": 8_000_000, "num_vertices": 1000}
    found = estimate(edges, cluster=workers(4), **sizes)
    forest = 5 * 1000
    merging = 2 * (forest / LINKS.moves + 1000 / 1e6 + LINKS.level)
    assert found.parts["hooking"] == pytest.approx(2.0)
    assert found.parts["merging"] == pytest.approx(merging)
    calls = found.parts["Dask"] - estimate_module.MAKING["forest"]
    assert calls == pytest.approx(0.01 + 7 * 0.005)
    assert found.seconds == pytest.approx(sum(found.parts.values()))
    assert found.bytes_per_worker == (PROCESS + 2 * forest + 16 * 1_000_000 + 16 * 250,) * 4
    assert found.plan["merges on the longest path"] == 2
    # Nothing that the call itself does not go by, such as sizes of chunks that it never makes.
    assert found.plan.keys() == {"workers", "merge", "merges on the longest path", "shares"}
    one_way = estimate(edges, cluster=workers(4), **sizes, merge="one-way")
    assert one_way.parts["merging"] == pytest.approx(1.5 * merging)


def test_components_take_time_by_their_tasks():
    # 12 chains and as many owners: twice their product; or a chain a partition; or, where it is known
    # which of four workers chains lie on, twice as much for each of those.
    for partitions, merge, tasks in (
        (12, "tree", 12 + 288 + 21 + 24 + 36 + 1 + 11),
        (2, "tree", 2 + 8 + 1 + 4 + 6 + 1 + 1),
    ):
        seconds = []
        for task in 0.0, 1.0:
            cluster = ClusterSpec(4, threads=3, rates=rates(1e6), links=replace(LINKS, task=task))
            how = {"cluster": cluster, "num_edges": len(EDGES), "num_vertices": 256, "merge": merge}
            seconds.append(estimate(partitioned(EDGES, partitions), **how).seconds)
        assert seconds[1] - seconds[0] == pytest.approx(tasks)


def test_edges_of_the_host_are_copied_to_devices_while_others_are_hooked():
    given = {"num_edges": 10**7, "num_vertices": 1000}
    device = {"workers": 2, "device": True, "links": LINKS}
    for copies, seconds, binding in ((4e6, 20.0, "copying"), (1e9, 5.0, "hooking")):
        fast = Rates(rates(1e6).sizes, *[(1e6,)] * 8, copies=copies)
        found = estimate(cluster=ClusterSpec(rates=fast, **device), **given)
        assert found.parts["hooking"] == pytest.approx(seconds)
        assert found.reason.startswith(binding)


def test_ranks_by_hand():
    found = estimate(algorithm="pagerank", cluster=workers(2), **SIZES, shards=2, supersteps=10)
    rows = 1.7 * 4.0  # no others, as it is built and used in one run
    assert found.parts["building"] == pytest.approx(rows)
    # Each has half of the edges to deal, and sends half of those.
    assert found.parts["dealing"] == pytest.approx(4.0 + 2 * 4 * 4e6 / 2 / 1e9)
    assert found.parts["computing"] == pytest.approx(10 * 4.0)
    assert found.parts["messages"] == pytest.approx(10 * 8 * 500_000 / 1e9)
    assert found.parts["latency"] == pytest.approx(20 * 1e-4)
    assert found.seconds == pytest.approx(sum(found.parts.values()))
    assert found.plan["shares"] == [0.5, 0.5]


def test_members_build_of_all_edges_with_an_end_among_their_vertices():
    for count, each in (1, 16.0), (2, 12.0), (4, 7.0):
        found = estimate(
            algorithm="bfs", cluster=workers(count), **SIZES, shards=count, directed=False
        )
        assert found.parts["building"] == pytest.approx(each)
        dealing = (16.0 / count + 2 * 4 * 16e6 / count * (1 - 1 / count) / 1e9) * (count > 1)
        assert found.parts["dealing"] == pytest.approx(dealing)


def test_what_goes_both_ways_along_directed_edges_has_rows_of_both():
    for algorithm, ways, copies in ("bfs", 2, 0), ("label_propagation", 2, 0), ("sssp", 1, 1):
        one, two = (
            estimate(algorithm=algorithm, cluster=workers(n), **SIZES, shards=n) for n in (1, 2)
        )
        assert one.parts["building"] == pytest.approx(8.0 * (ways + copies))
        assert two.parts["building"] == pytest.approx(4.0 * (ways + copies))
        assert two.parts["dealing"] == pytest.approx(ways * (4.0 + 2 * 4 * 4e6 / 2 / 1e9))


def test_searches_from_fewer_sources_take_less():
    one = estimate(algorithm="betweenness_centrality", **SIZES, supersteps=4, k=1)
    assert one.parts["launching"] == pytest.approx(4 * STEP)
    many = estimate(algorithm="betweenness_centrality", **SIZES, supersteps=4, k=10)
    every = estimate(algorithm="betweenness_centrality", **SIZES, supersteps=4)
    for part in "computing", "launching":
        assert many.parts[part] == pytest.approx(10 * one.parts[part])
        assert every.parts[part] == pytest.approx(SIZES["num_vertices"] * one.parts[part])
    few, more = (estimate(algorithm="closeness_centrality", **SIZES, k=k) for k in (2, 64))
    assert few.seconds == more.seconds  # they are searched from together
    with pytest.raises(OptionError, match="leave out k=, which is for betweenness_centrality"):
        estimate(algorithm="bfs", **SIZES, k=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"supersteps": -1}, "supersteps=-1; give a whole number, 1 or more, or None"),
        ({"supersteps": 0.5}, "supersteps=0.5; give a whole number"),
        ({"shards": -1}, "shards=-1; give a whole number"),
        ({"shards": 100}, r"shards=100, and there is 1 worker; give at most 1, or .*ClusterSpec"),
        ({"shards": 3, "cluster": workers(2)}, "there are 2 workers; give at most 2"),
    ],
)
def test_numbers_of_supersteps_and_shards_that_cannot_be_are_refused(given, message):
    with pytest.raises(OptionError, match=message):
        estimate(
            algorithm="betweenness_centrality", **SIZES, k=5, **{"cluster": workers(1)} | given
        )


def test_results_with_more_columns_of_ids_take_longer():
    degrees, components, edges = (
        estimate(algorithm=name, **SIZES).parts["result"]
        for name in ("degrees", "strongly_connected_components", "k_core")
    )
    assert degrees == 0 < components == edges


def test_rates_that_are_missing_are_asked_for():
    less = ClusterSpec(2, rates=Rates((1,), builds=(1e6,), searches=(1e6,)), links=LINKS)
    with pytest.raises(OptionError, match=r"no deals; give Rates\(deals="):
        estimate(algorithm="bfs", cluster=less, shards=2)


def test_what_is_built_is_not_built_again():
    graph = gf.Graph(EDGES, **ENDS).persist()
    assert estimate(graph, "bfs").parts["building"] == 0
    assert estimate(EDGES, "bfs").parts["building"] > 0
    needed = [estimate(one, "bfs").bytes_per_worker[0] - PROCESS for one in (graph, EDGES)]
    assert needed[0] < needed[1] / 2


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_parts_add_up_and_grow_with_the_edges(algorithm):
    def of(edges, **options):
        return estimate(
            algorithm=algorithm, num_edges=edges, num_vertices=10**6, dense_ids=False, **options
        )

    few, many = of(3 * 10**6), of(6 * 10**6)
    for found in few, many, of(10**7, cluster=workers(3)):
        assert found.seconds == pytest.approx(sum(found.parts.values()))
        assert min(found.parts.values()) >= 0
    # A denser graph has fewer levels.
    assert all(few.parts[part] <= many.parts[part] for part in few.parts if part != "launching")
    assert few.parts["numbering"] < many.parts["numbering"]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_ids_take_longer_the_more_has_to_be_done_with_them(algorithm, count):
    host = ClusterSpec(count, rates=default_rates(False, 1), links=LINKS)
    text = EDGES.astype("str")
    pairs = text.assign(src2=text.src, dst2=text.dst)
    sizes = {"num_edges": 10**6, "num_vertices": 10**5}
    dense, far = (estimate(EDGES, algorithm, host, **sizes, dense_ids=ids) for ids in (True, False))
    strings = estimate(text, algorithm, host, **sizes)
    of_two = {"source": ["src", "src2"], "target": ["dst", "dst2"], "cluster": host, **sizes}
    both = gf.estimate(pairs, algorithm, **of_two)
    numbering = [found.parts["numbering"] for found in (dense, far, strings, both)]
    assert numbering == sorted(set(numbering))
    assert dense.seconds < far.seconds < strings.seconds < both.seconds


def test_the_kind_of_the_ids_is_known_where_their_range_is(tmp_path):
    far = EDGES * 10**9
    assert known(EDGES, **ENDS).ids == ("dense_ids",)
    sizes = {"num_edges": len(EDGES), "num_vertices": 256}
    assert known(far, **ENDS, **sizes).ids == ("far_ids",)
    assert known(far, **ENDS, **sizes, dense_ids=True).ids == ("dense_ids",)
    assert known(EDGES.astype("str"), **ENDS, **sizes).ids == ("text_ids",)
    dd.from_pandas(far, npartitions=2).to_parquet(tmp_path)
    read = known(dd.read_parquet(tmp_path), **ENDS, **sizes)
    assert read.ids == ("far_ids",)
    assert read.partitions == 2
    assert read.read_bytes == pytest.approx(16 * len(EDGES), rel=0.5)


def test_files_that_are_read_take_time(tmp_path):
    dd.from_pandas(EDGES, npartitions=2).to_parquet(tmp_path)
    read = estimate(dd.read_parquet(tmp_path), "bfs")
    assert read.parts["reading"] > estimate(EDGES, "bfs").parts["reading"] > 0


def test_a_frame_of_this_process_is_sent_to_the_workers():
    near = replace(LINKS, moves=float("inf"))
    there, here = (
        estimate(algorithm="bfs", cluster=replace(workers(), links=links))
        for links in (LINKS, near)
    )
    assert there.parts["reading"] > here.parts["reading"]


def test_a_graph_that_is_built_is_not_read_numbered_or_dealt_again():
    graph = gf.Graph(EDGES.astype("str"), **ENDS).persist()
    found = estimate(graph, "pagerank", workers(2))
    for part in "reading", "numbering", "dealing":
        assert found.parts[part] == 0
    assert (
        estimate(EDGES.astype("str"), "pagerank", workers(2), num_vertices=256).seconds
        > found.seconds
    )


def test_every_algorithm_takes_longer_of_more_edges_and_less_on_more_workers():
    def of(algorithm, edges, cluster):
        sizes = {"num_edges": edges, "num_vertices": 10**6, "supersteps": 3}
        return estimate(algorithm=algorithm, cluster=cluster, **sizes)

    for algorithm in ALGORITHMS:
        small, large = (of(algorithm, edges, workers()) for edges in (10**8, 10**9))
        assert large.seconds > 5 * small.seconds
        assert of(algorithm, 10**9, workers(4)).seconds < large.seconds / 2
        assert small.fits
        assert not of(algorithm, 10**8, workers(memory=10**6)).fits


def test_workers_of_two_kinds_take_shares_by_their_rates_and_their_room():
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


def test_it_prints_as_a_small_table():
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
    assert str(found) == repr(found)


def test_it_says_how_many_workers_get_a_part_of_the_graph_and_why():
    few = {"algorithm": "bfs", "num_edges": 10**6, "num_vertices": 10**6}
    found = estimate(cluster=workers(4), **few)
    assert found.plan["workers"] == 1
    assert "1 of 4 workers: one worker has room" in found.reason
    assert found.seconds == estimate(cluster=workers(1), **few).seconds
    assert estimate(cluster=workers(4), **few, shards=3).plan["workers"] == 3
    assert estimate(cluster=[workers(), workers(3, rate=3.0)], **few).plan["workers"] == 4


def test_a_binding_part_is_named():
    slow_links = Links(c=1.0, moves=1.0, latency=1.0, call=0.0, level=0.0, gang=0.0)
    slow = ClusterSpec(2, rates=rates(1e12), links=slow_links)
    given = {"num_edges": 10**6, "num_vertices": 10**6}
    found = estimate(algorithm="bfs", cluster=slow, **given, shards=2)
    assert found.reason.startswith(("dealing", "messages"))
    found = estimate(algorithm="bfs", cluster=workers(2, rate=1.0), **given)
    assert found.reason.startswith(("building", "computing", "dealing", "numbering"))


def test_calls_that_are_wrong():
    for options, message in (
        ({"algorithm": "pagernk"}, "did you mean 'pagerank'"),
        ({"cluster": "scheduler:8786"}, "ClusterSpec"),
        ({"cluster": ["x"]}, "ClusterSpec"),
        ({"merge": "trees"}, "'tree', 'one-way', 'ring'"),
        ({"num_edges": -1}, "num_edges"),
        ({"shards": 0}, "shards"),
        ({"num_vertices": 1.5}, "num_vertices"),
    ):
        with pytest.raises(OptionError, match=message):
            estimate(**options)


# What depends on more than the numbers of vertices and edges


def star(leaves):
    return pd.DataFrame({"src": 0, "dst": range(1, leaves + 1)})


def path(edges):
    return pd.DataFrame({"src": range(edges), "dst": range(1, edges + 1)})


def test_similar_vertices_of_a_hub_take_time_and_memory_for_each_pair():
    typical = workers(memory=8 << 30)
    hub, chain = (estimate(edges, "similarity", typical) for edges in (star(20_000), path(20_000)))
    assert hub.seconds > 1000 * chain.seconds
    assert hub.most_seconds == hub.seconds
    assert "the time depends on the degrees" in hub.reason
    assert chain.fits
    assert not hub.fits  # 400 million pairs
    few = estimate(star(20_000), "similarity", typical, top_k=2)
    assert few.fits
    # The sizes alone do not tell whether there is a hub.
    sizes = {"num_vertices": 20_001, "num_edges": 20_000}
    unknown = estimate(algorithm="similarity", cluster=typical, **sizes)
    assert unknown.seconds < hub.seconds / 100
    assert unknown.most_seconds >= hub.seconds
    assert not unknown.fits
    assert estimate(star(20_000), "similarity", typical, k=10).seconds < chain.seconds


@pytest.mark.parametrize(
    "algorithm", ["closeness_centrality", "betweenness_centrality", "strongly_connected_components"]
)
def test_a_search_takes_at_most_a_level_per_vertex_with_two_edges(algorithm):
    options = {"directed": False} | ({"k": 1} if algorithm.endswith("centrality") else {})
    hub, chain, twice = (
        estimate(edges, algorithm, **options)
        for edges in (star(5000), path(5000), pd.concat([path(5000)] * 2))
    )
    assert hub.plan["supersteps"] <= 12
    assert hub.most_seconds == pytest.approx(hub.seconds)
    for found in chain, twice:
        assert found.most_seconds >= 5000 * STEP > found.parts["launching"]
        assert "the time depends on the diameter" in found.reason
    given = estimate(path(5000), algorithm, **options, supersteps=7)
    assert given.most_seconds == given.seconds


def test_paths_need_memory_for_the_longest_path():
    short, long = (
        estimate(edges, "shortest_paths", workers(), k=20) for edges in (star(5000), path(5000))
    )
    assert long.bytes_per_worker[0] > PROCESS + 20 * 5000 * 20 > short.bytes_per_worker[0]
    assert long.most_seconds > long.seconds == pytest.approx(sum(long.parts.values()))
    with pytest.raises(OptionError, match="leave out top_k=, which is for"):
        estimate(algorithm="shortest_paths", top_k=2)


def test_the_memory_of_a_worker_includes_its_process():
    one, gpu = (
        estimate(cluster=workers(device=device)).bytes_per_worker[0] for device in (False, True)
    )
    assert one > PROCESS > gpu
    assert not estimate(algorithm="bfs", cluster=workers(memory=PROCESS)).fits


# What is there


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_known", {})
    monkeypatch.setenv("DASK_GRAPHFLOW__CALIBRATION__PATH", str(tmp_path))
    with dask.config.set({"graphflow.calibration.path": str(tmp_path)}):
        yield tmp_path


def quick(device, threads, **options):
    return rates(1e6 * threads)


def test_this_process_is_calibrated_and_that_is_kept(kept, monkeypatch):
    monkeypatch.setattr(MEASURE, quick)
    found = gf.calibrate()
    (kind,) = found.kinds
    assert kind.workers == 1
    assert kind.rates == rates(1e6 * kind.threads)
    assert len(list(kept.iterdir())) == 1
    assert "GB/s" in repr(found)
    monkeypatch.setattr(MEASURE, None)  # what is kept is taken
    about = gf.estimate(EDGES, **ENDS)
    assert about.fits
    assert "typical" not in about.reason


def test_a_machine_that_was_never_measured_is_taken_for_a_typical_one(kept, monkeypatch):
    monkeypatch.setattr(MEASURE, None)  # nothing is measured
    about = gf.estimate(EDGES, "pagerank", **ENDS)
    assert about.seconds > 0
    assert "a typical machine, because this one was never measured" in about.reason
    four, one = (
        estimate(algorithm="pagerank", cluster=ClusterSpec(threads=threads), **SIZES)
        for threads in (4, 1)
    )
    assert four.parts["computing"] == pytest.approx(one.parts["computing"] / 4)
    gpu = estimate(algorithm="pagerank", cluster=ClusterSpec(device=True, links=LINKS), **SIZES)
    assert gpu.parts["computing"] < one.parts["computing"] / 10
    assert list(kept.iterdir()) == []


def test_a_cluster_of_two_kinds_is_calibrated_where_it_is(kept, monkeypatch):
    from distributed import Client, SpecCluster, Worker
    from distributed.scheduler import Scheduler

    def worker(threads, resource):
        options = {"nthreads": threads, "resources": {resource: 1}, "memory_limit": 1 << 30}
        return {"cls": Worker, "options": {**options, "dashboard_address": ":0"}}

    # The workers are threads of this process, which uses more memory than their limit: none may pause.
    limits = "distributed.worker.memory.pause", "distributed.worker.memory.spill"
    with (
        dask.config.set(dict.fromkeys(limits, False)),
        SpecCluster(
            workers={0: worker(1, "CPU"), 1: worker(2, "CPU"), 2: worker(2, "CPU")},
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
