"""Graphs with one shard per GPU: the build, searches and ranks on several GPUs, to persisted frames."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.errors import UnusableInputError
from benchmarks.timing import interleave

from . import clock, graphs, needs, peers, tables, two

ITERATIONS = 20
ROUNDS = 2000
DASK = "Dask alone: a gang that does nothing"
OURS = ("graphflow", "graphflow, in the members")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=26, help="2**scale ids (default 26)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--gpus", type=int, default=2, help="workers, a GPU each (default 2)")
    parser.add_argument("--protocol", default="ucxx", help="Dask's: ucxx or tcp (default ucxx)")
    parser.add_argument("--partitions", type=int, default=4, help="of a GPU (default 4)")
    parser.add_argument("--peer", default="", help="dask-cugraph, to measure it in turn")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return f"{options.gpus}-{options.protocol}-scale{options.scale}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time each algorithm in turn with the peer."""
    if options.protocol not in ("tcp", "ucxx"):
        raise UnusableInputError(f"--protocol {options.protocol}: give ucxx or tcp")
    if min(options.gpus, options.partitions, options.edge_factor) < 1:
        raise UnusableInputError("give --gpus, --partitions and --edge-factor 1 or more")
    needs.check("dask_cudf", "dask_cuda")
    peer = needs.peers(options.peer, peers.DASK_CUGRAPH)
    with two.cluster(options.gpus, options.protocol, peer=peer) as client:
        edges = spread(client, options)
        asked = {
            name: ask(client, work, options)
            for name, work in questions(edges, options.gpus, peer=peer).items()
        }
        rounds = {
            kind: supersteps(client, options.gpus, kind)
            for kind in ("all_reduce", "small", "large")
        }
    return {
        "benchmark": "device members",
        "gpus": options.gpus,
        "protocol": options.protocol,
        "graph": f"R-MAT scale {options.scale}, edge factor {options.edge_factor}, "
        f"seed {options.seed}",
        "edges": options.edge_factor << options.scale,
        "questions": asked,
        "round_seconds": rounds,
    }


def spread(client: Any, options: argparse.Namespace) -> Any:
    """Return a persisted edge list that is distributed evenly over the workers."""
    import dask.dataframe as dd
    from distributed import wait

    count, parts = options.edge_factor << options.scale, options.gpus * options.partitions
    bounds = [count * part // parts for part in range(parts + 1)]
    workers = list(client.nthreads())
    futures = [
        client.submit(
            graphs.rmat_part,
            *ends,
            scale=options.scale,
            seed=options.seed,
            workers=workers[at // options.partitions],
            pure=False,
        )
        for at, ends in enumerate(itertools.pairwise(bounds))
    ]
    edges = dd.from_delayed(futures, meta=graphs.empty_frame(), verify_meta=False).persist()
    wait(edges)
    return edges


Work = dict[str, Callable[[], Any]]


def questions(edges: Any, gpus: int, *, peer: bool) -> dict[str, Callable[[], Work]]:
    """Return the work to measure by name, each as a function that prepares the contenders."""
    import dask_graphflow as gf

    def graph(*, directed: bool) -> Any:
        return gf.Graph(edges, source="src", target="dst", directed=directed, shards=gpus)

    def theirs(*, directed: bool, transposed: bool = False) -> Any:
        import cugraph

        made = cugraph.Graph(directed=directed)
        made.from_dask_cudf_edgelist(
            edges, source="src", destination="dst", store_transposed=transposed
        )
        return made

    start = int(edges.partitions[0].head(1)["src"].iloc[0])
    ranks = {"tol": None, "max_iter": ITERATIONS}

    def build() -> Work:
        work: Work = {OURS[0]: lambda: graph(directed=False).persist()}
        if peer:
            work[peers.DASK_CUGRAPH] = lambda: theirs(directed=False)
        return work

    def build_and_rank() -> Work:
        work: Work = {OURS[0]: lambda: graph(directed=True).pagerank(**ranks).persist()}
        if peer:
            work[peers.DASK_CUGRAPH] = lambda: peers.ranks_on_workers(
                theirs(directed=True, transposed=True), ITERATIONS
            )
        return work

    def search() -> Work:
        built = kept(graph(directed=False))
        work: Work = {
            OURS[0]: lambda: built.bfs([start]).persist(),
            OURS[1]: lambda: in_members(built.bfs([start], trace=True)[1]),
            DASK: partial(nothing, gpus),
        }
        if peer:
            other = theirs(directed=False)
            work[peers.DASK_CUGRAPH] = lambda: peers.search_on_workers(other, start)
        return work

    def rank() -> Work:
        built = kept(graph(directed=True))
        work: Work = {
            OURS[0]: lambda: built.pagerank(**ranks).persist(),
            OURS[1]: lambda: in_members(built.pagerank(**ranks, trace=True)[1]),
        }
        if peer:
            other = theirs(directed=True, transposed=True)
            work[peers.DASK_CUGRAPH] = lambda: peers.ranks_on_workers(other, ITERATIONS)
        return work

    return {
        "build, undirected": build,
        "build, directed, and PageRank": build_and_rank,
        "breadth-first search": search,
        f"PageRank, {ITERATIONS} iterations": rank,
    }


def kept(graph: Any) -> Any:
    """Persist a graph, and return it once it is built."""
    from distributed import wait

    built = graph.persist()
    wait(built._shards.built)
    return built


def in_members(steps: Any) -> float:
    """Return the seconds of the supersteps alone, on the slowest member."""
    frame = steps.compute()
    by = frame.groupby("member") if "member" in frame else frame  # one GPU needs no gang
    return float(np.max(by.seconds.sum()))


_numbers = itertools.count()


def nothing(gpus: int) -> Any:
    """Return a gang that does nothing, persisted."""
    import dask

    from dask_graphflow.scheduling import gang

    work = [dask.delayed(rank, pure=False) for rank in range(gpus)]
    return list(
        dask.persist(*gang.run(work, idle, None, name=f"idle-{next(_numbers)}", alone=True))
    )


def idle(channel: Any, shard: Any, rank: int) -> int:
    """Do nothing as a member."""
    return rank


class Asked(two.Workers):
    """Work that returns persisted results, or seconds that were measured elsewhere."""

    def run(self) -> clock.Outcome:
        """Do the work once."""
        outcome = super().run()
        if isinstance(outcome.found, float):
            return clock.Outcome(outcome.found, None)
        return outcome


def ask(client: Any, prepare: Callable[[], Work], options: argparse.Namespace) -> dict[str, Any]:
    """Time one algorithm."""
    failures: dict[str, str] = {}
    found: dict[str, list[float]] = {}

    def waited(work: Callable[[], Any]) -> Any:
        from distributed import wait

        result = work()
        pending = getattr(getattr(result, "_shards", None), "built", result)
        if isinstance(pending, list) or hasattr(pending, "npartitions"):
            wait(pending)
            client.run(clock.wait)  # a task may end before its device is done
        return result

    def check(name: str, outcome: clock.Outcome) -> None:
        if name not in found and hasattr(outcome.found, "columns"):
            found[name] = summary(outcome.found)

    work = prepare()
    contenders = [Asked(name, partial(waited, one), client) for name, one in work.items()]
    seconds = interleave(contenders, options.repeat, check, failures)
    return {
        "contenders": {
            one.name: tables.contender(seconds, failures, {}, one.name) for one in contenders
        },
        "sums": found,
    }


def summary(frame: Any) -> list[float]:
    """Return values to compare two results by: the number of rows, and the sum of the values."""
    name = next(column for column in ("distance", "pagerank") if column in frame.columns)
    values = frame[name]
    values = values[values < 1e9]  # the peer's distances of unreachable vertices are large
    return [float(one) for one in (values.size.compute(), values.sum().compute())]


def supersteps(client: Any, gpus: int, kind: str) -> float:
    """Return the seconds per round of the exchange between the members."""
    import dask

    from dask_graphflow.scheduling import gang

    work = [dask.delayed(rank, pure=False) for rank in range(gpus)]
    name = f"rounds-{kind}-{next(_numbers)}"
    return max(dask.compute(*gang.run(work, rounds_of, None, kind, name=name, alone=True)))


def rounds_of(channel: Any, shard: Any, rank: int, kind: str) -> float:
    """Time rounds of one kind: an all-reduce, or an all-to-all of 800 bytes or 800 kB per member."""
    import time

    import cupy

    from dask_graphflow.comm.exchange import Exchange

    exchange = Exchange(channel, device=True)
    arrays = [cupy.arange(100 if kind == "small" else 100_000)] * channel.size
    seconds = 0.0
    for count in (10, ROUNDS):  # the first rounds set up the connections
        begin = time.perf_counter()
        for _ in range(count):
            if kind == "all_reduce":
                exchange.all_reduce(sums=(1,))
            else:
                exchange.all_to_all(arrays)
        cupy.cuda.get_current_stream().synchronize()
        seconds = (time.perf_counter() - begin) / count
    return seconds


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    parts = [
        f"Graphs on {results['gpus']} GPUs, persisted edges to persisted frames, {results['protocol']}",
        tables.machine_line(),
        f"{results['graph']}: {results['edges']:,} edges",
    ]
    for name, one in results["questions"].items():
        one = {**one, "edges": results["edges"]}
        against = dict.fromkeys((*OURS, DASK), peers.DASK_CUGRAPH)
        parts.append(f"\n{name}\n" + tables.laid_out("dask-cugraph / this", one, against))
        parts += [
            f"{who}: {rows:,.0f} rows, sum {total:.9g}"
            for who, (rows, total) in one["sums"].items()
        ]
    parts.append(
        "\na round of the exchange, ms: "
        + ", ".join(
            f"{kind} {seconds * 1e3:.3f}" for kind, seconds in results["round_seconds"].items()
        )
    )
    parts.append("""
All contenders in turn, after one round to warm up, by the wall, from the call to devices at rest;
"in the members" are the seconds of the supersteps alone, from the trace. A round: an all-reduce, 800 bytes,
or 800 kB to each other member.""")
    return "\n".join(parts)
