"""Components on several GPUs, or on workers that share one: persisted edges to persisted labels."""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.errors import BenchmarkError, UnusableInputError
from benchmarks.timing import interleave
from dask_graphflow.scheduling import device_readers

from . import agreement, clock, components, graphs, needs, ours, peers, pool, tables

POOL = 0.6  # of each GPU's memory; the peer's messages and UCX's buffers are outside the pool
PART = 1 << 26  # edges per part when the correct result is computed
HOST = ", through host memory"
OURS: dict[str, dict[str, Any]] = {ours.WORKERS: {}, ours.PLAIN: {"renumber": False}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", default="26", help="2**scale ids; several: 24,26 (default 26)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--gpus", type=int, default=2, help="workers, a GPU each (default 2)")
    parser.add_argument("--one-gpu", action="store_true", help="the workers share the first GPU")
    parser.add_argument(
        "--through-host",
        action="store_true",
        help="again with forests sent through host memory, where they are copied between GPUs",
    )
    parser.add_argument("--protocol", default="ucxx", help="ucxx, tcp, or both: ucxx,tcp")
    parser.add_argument("--partitions", type=int, default=4, help="of a GPU (default 4)")
    parser.add_argument("--peer", default="", help="dask-cugraph, to measure it in turn")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    shared = "-one-gpu" if options.one_gpu else ""
    return f"{options.gpus}{shared}-{options.protocol}-scale{options.scale}".replace(",", "-")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time every scale with every protocol."""
    scales = components.scales(options.scale)
    protocols = options.protocol.split(",")
    if any(one not in ("tcp", "ucxx") for one in protocols):
        raise UnusableInputError(f"--protocol {options.protocol}: give ucxx, tcp or both")
    if min(options.gpus, options.partitions, options.edge_factor) < 1:
        raise UnusableInputError("give --gpus, --partitions and --edge-factor 1 or more")
    if (options.one_gpu or options.through_host) and (options.peer or protocols != ["tcp"]):
        raise UnusableInputError(
            "--one-gpu and --through-host need --protocol tcp, and cannot be measured with --peer"
        )
    needs.check("dask_cudf", *([] if options.one_gpu else ["dask_cuda"]))
    needs.check(*(["distributed_ucxx"] if "ucxx" in protocols else []))
    peer = needs.peers(options.peer, peers.DASK_CUGRAPH)
    found = []
    for protocol in protocols:
        with cluster(options.gpus, protocol, peer=peer, one_gpu=options.one_gpu) as client:
            found += [compare(client, protocol, scale, options, peer=peer) for scale in scales]
    return {
        "benchmark": "device two",
        "gpus": options.gpus,
        "one_gpu": options.one_gpu,
        "pool": POOL,
        "graphs": found,
    }


@contextmanager
def cluster(workers: int, protocol: str, *, peer: bool, one_gpu: bool = False) -> Iterator[Any]:
    """Start workers with a GPU and a pool each, or all on one GPU, and what the peer needs on them."""
    from distributed import Client, LocalCluster

    if one_gpu:
        started = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
    else:
        from dask_cuda import LocalCUDACluster

        started = LocalCUDACluster(
            n_workers=workers,
            protocol=protocol,
            rmm_pool_size=POOL,
            rmm_allocator_external_lib_list=["cupy"],
            dashboard_address=":0",
        )
    with started, Client(started) as client:
        client.wait_for_workers(workers)
        if one_gpu:
            client.run(_share_gpu, workers)
        if peer:
            peers.start_on_workers()
        try:
            yield client
        finally:
            if peer:
                peers.stop_on_workers()


class Workers:
    """Work from a persisted frame to persisted labels, which are only fetched for the check."""

    def __init__(self, name: str, work: Any, client: Any, *, through_host: bool = False) -> None:
        self.name, self.work, self.client, self.through_host = name, work, client, through_host
        self.held = client.run_on_scheduler(_tasks)

    def run(self) -> clock.Outcome:
        """Do the work once the scheduler has forgotten the last run, whose results it would reuse."""
        patience = time.monotonic() + 60
        while self.client.run_on_scheduler(_tasks) > self.held:
            if time.monotonic() > patience:
                raise BenchmarkError("the scheduler still holds the tasks of the last run")
            time.sleep(0.02)
        self.client.run(send_forests, through_host=self.through_host)
        begin = time.perf_counter()
        found = self.work()
        return clock.Outcome(time.perf_counter() - begin, found)


def send_forests(*, through_host: bool) -> None:
    """Make this process send forests through host memory, or as the library chooses."""
    from dask_graphflow.components import serialization

    serialization.can_read = (lambda _: False) if through_host else device_readers.can_read


def copies_forests(dask_worker: Any) -> bool:
    """Return whether all workers of this machine copy forests from this worker's GPU."""
    return device_readers.can_read(dask_worker.address)


def compare(
    client: Any, protocol: str, scale: int, options: argparse.Namespace, *, peer: bool
) -> dict[str, Any]:
    """Time one graph."""
    import dask.dataframe as dd
    from distributed import futures_of, wait

    count = options.edge_factor << scale
    parts = options.gpus * options.partitions
    bounds = [count * part // parts for part in range(parts + 1)]
    how = {"scale": scale, "seed": options.seed}
    # Compute this on a worker, because the pools of workers have the memory. It is freed before measuring.
    truth = client.submit(truth_on_host, count, **how, pure=False).result()
    # Place the same number on each worker. The scheduler might give one worker more, and the others wait.
    workers = list(client.nthreads())
    futures = [
        client.submit(
            graphs.rmat_part, *ends, workers=workers[at % len(workers)], pure=False, **how
        )
        for at, ends in enumerate(itertools.pairwise(bounds))
    ]
    wait(futures)
    edges = dd.from_delayed(futures, meta=graphs.empty_frame(), verify_meta=False).persist()
    wait(edges)
    del futures
    homes = Counter(where[0] for where in client.who_has(futures_of(edges)).values())
    failures: dict[str, str] = {}
    left_out: dict[str, int] = {}

    def check(name: str, outcome: clock.Outcome) -> None:
        if name == peers.DASK_CUGRAPH and name in left_out:
            return  # the check takes a minute at scale 26, and the first round passed it
        found = outcome.found.map_partitions(_to_pandas, meta=_to_pandas(outcome.found._meta))
        frame = found.compute()
        if name != peers.DASK_CUGRAPH:
            agreement.equal(
                name, (frame["vertex"].to_numpy(), frame["component"].to_numpy()), truth
            )
        else:
            left_out[name] = agreement.same_partition(name, frame, _frame(truth))

    def labels(**options: Any) -> Any:
        found = ours.lazy(edges, **options).persist()
        wait(found)
        return found

    ways = [(name, partial(labels, **how)) for name, how in OURS.items()]
    work = [Workers(name, way, client) for name, way in ways]
    if options.through_host:
        work += [Workers(f"{name}{HOST}", way, client, through_host=True) for name, way in ways]
    if peer:
        work.append(Workers(peers.DASK_CUGRAPH, lambda: peers.on_workers(edges), client))
    seconds = interleave(work, options.repeat, check, failures)
    return {
        "graph": f"R-MAT scale {scale}, edge factor {options.edge_factor}, seed {options.seed}",
        "protocol": protocol,
        "edges": count,
        "partitions": parts,
        "partitions_a_worker": sorted(homes.values()),
        "vertices": len(truth[0]),
        "components": int((truth[0] == truth[1]).sum()),
        "left_out_by_peer": left_out,
        "copies_forests": all(client.run(copies_forests).values()),
        "contenders": {one.name: tables.contender(seconds, failures, {}, one.name) for one in work},
    }


def truth_on_host(count: int, *, scale: int, seed: int) -> tuple[Any, Any]:
    """Find the components on one worker, without the library; return host arrays."""
    import cupy

    parts = partial(graphs.rmat_parts, scale, count, seed=seed, part=PART)
    vertices, components = graphs.truth(parts, 1 << scale)
    return cupy.asnumpy(vertices), cupy.asnumpy(components)


def _to_pandas(frame: Any) -> Any:
    return frame.to_pandas()


def _frame(truth: tuple[Any, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame({"vertex": truth[0], "component": truth[1]})


def _share_gpu(workers: int) -> None:
    """Create this worker's pool, one of `workers` on the GPU, and let CuPy allocate from it."""
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    _, total = cupy.cuda.runtime.memGetInfo()
    size = int(total * POOL / workers) // pool.ALIGNMENT * pool.ALIGNMENT
    rmm.reinitialize(pool_allocator=True, initial_pool_size=size)
    cupy.cuda.set_allocator(rmm_cupy_allocator)


def _tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    count = results["gpus"]
    where = f"{count} workers that share one GPU" if results["one_gpu"] else f"{count} GPUs"
    parts = [
        f"Connected components on {where}, persisted edges to persisted labels",
        tables.machine_line(),
    ]
    for one in results["graphs"]:
        compared = f"{ours.WORKERS}{HOST}" in one["contenders"]
        against = {name: name + HOST if compared else peers.DASK_CUGRAPH for name in OURS}
        header = f"{'through host memory' if compared else peers.DASK_CUGRAPH} / this"
        ways = "can" if one["copies_forests"] else "cannot"
        parts.append(
            f"\n{one['graph']}, {one['protocol']}: {one['edges']:,} edges in {one['partitions']} "
            f"partitions, {one['partitions_a_worker']} on the workers; {one['vertices']:,} vertices "
            f"with an edge, {one['components']:,} components. The workers {ways} copy forests from "
            f"GPU to GPU without UCX\n\n" + tables.laid_out(header, one, against)
        )
    parts.append("""
All contenders in turn, after one round to warm up, by the wall, from the call to the last label.
dask-cugraph: build undirected and weakly connected components. Our results are equal to label
propagation's in every round; the peer's part the vertices likewise in the first.""")
    return "\n".join(parts)
