"""How long does a function take on a graph on disk, if memory is too short for it, and what is read?"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dask.utils import format_bytes, parse_bytes

from benchmarks.lib import control_group, report
from benchmarks.lib.errors import ContenderFailedError, UnusableInputError
from benchmarks.lib.harness import in_process
from benchmarks.peers import limited

NOTES = """\
Each line is a process of its own, or one with a cluster of workers of one thread, in a control group whose
limit also counts the files that Linux keeps in its cache. Each worker gets its part of the limit as
memory_limit. "build" builds the graph from the Parquet files and saves it, and the others load it, except
that streamed_components reads the Parquet files. No file
is in the cache when a process begins. "own" is the largest memory of a process without files, and "mapped"
that of mapped files, some of which are mapped twice; with workers, those of the largest worker. "reading"
is the rate of a plain read before the lines of one process and before those of workers."""
BUILD = "build"
PROCESS, WORKERS = KINDS = "one process", "workers"
CALLS = {
    "bfs": "g.bfs([0])",
    "connected_components": "g.connected_components()",
    "pagerank": "g.pagerank(max_iter=10, tol=None)",
    "label_propagation": "g.label_propagation(max_iter=10)",
    "core_number": "g.core_number()",
    "maximal_independent_set": "g.maximal_independent_set()",
    "louvain": "g.louvain()",
    "triangle_count": "g.triangle_count()",
    "streamed_components": "gf.connected_components(frame, source=source, target=target)",
}
READ = 1 << 31  # bytes of the plain read
PIECE = 1 << 23  # bytes of the plain read at a time
LOOK = 0.01  # seconds between looks at the memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("edges", help="folder of Parquet files; the first two columns are the ends")
    parser.add_argument("--limit", default="2GB", help="memory of the process (2GB)")
    parser.add_argument("--folder", help="folder for the graph (the parent of the edges' folder)")
    parser.add_argument(
        "--only", nargs="+", choices=CALLS, default=[*CALLS][:5], help="functions to call"
    )
    limited.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Measure each call in a process under the limit, print the results and store them."""
    if not os.access(control_group.GROUPS, os.W_OK):
        raise UnusableInputError(
            f"{control_group.GROUPS} cannot be written to; run this on Linux, as root"
        )
    limit, about, calls, failures = parse_bytes(options.limit), {}, {}, {}
    reading = {}
    parent = options.folder or Path(options.edges).parent
    for kind in KINDS:
        reading[kind] = plain_read(options.edges)
        with tempfile.TemporaryDirectory(prefix="graphflow-under-limit-", dir=parent) as folder:
            for call in (BUILD, *options.only):
                given = call, options.edges, folder, str(limit), str(options.workers), kind
                name = f"{call}, {kind}"
                try:
                    about, calls[name] = in_process(main, *given)
                except ContenderFailedError as error:
                    failures[name] = str(error)
    peers = limited.measured(options)
    rows = [
        [
            call,
            f"{one['seconds']:.1f}",
            f"{one['read'] / 1e9:.1f}",
            f"{one['read'] / one['seconds'] / 1e9:.2f}",
            f"{one['written'] / 1e9:.1f}",
            report.mib(one["own"]),
            report.mib(one["mapped"]),
        ]
        for call, one in calls.items()
    ]
    rates = " and ".join(f"{rate / 1e9:.2f}" for rate in reading.values())
    header = ["", "seconds", "GB read", "GB/s", "GB written", "own", "mapped"]
    failed = [f"{call} failed: {reason}" for call, reason in failures.items()]
    text = (
        f"{about['edges']:,} edges of {about['vertices']:,} vertices in {format_bytes(limit)}; "
        f"reading {rates} GB/s\n{report.table(header, rows)}\n" + "\n".join([*failed, "", NOTES])
    )
    if peers:
        text += f"\n\n{limited.table(peers)}\n\n{limited.NOTES}"
    results = {
        "benchmark": "under-limit", "limit_bytes": limit, "threads": options.workers, **about,
        "read_bytes_per_second": reading, "calls": calls, "failures": failures,
        "peers": peers,
    }  # fmt: skip
    report.show(text, results, "under-limit", options)
    return 0


def main(call: str, edges: str, folder: str, limit: str, threads: str, kind: str) -> None:
    """Make a call; print the size of the graph, and what the call took."""
    with (
        control_group.within(int(limit)),
        _processes(kind, int(limit), int(threads), folder) as (processes, wait),
    ):
        import dask.dataframe as dd

        import dask_graphflow as gf

        saved, took = Path(folder, "graph"), {}
        for path in Path(edges if call in (BUILD, "streamed_components") else saved).iterdir():
            control_group.forget(path)
        frame = dd.read_parquet(edges)
        source, target = frame.columns[:2]
        if call == BUILD:
            ends = {"source": source, "target": target}
            with _measured(took, processes):
                gf.Graph(frame, **ends, directed=False, storage="disk").save(saved)
        g = gf.load_graph(saved)
        if call != BUILD:
            with _measured(took, processes):
                wait(eval(CALLS[call]).persist())
        print(json.dumps([{"edges": g.num_edges, "vertices": g.num_vertices}, took]))


@contextmanager
def _processes(
    kind: str, limit: int, threads: int, folder: str
) -> Iterator[tuple[list[int], Callable[[Any], Any]]]:
    """Yield the ids of the processes that will compute, and a function that waits for a result.

    They are this process, or the workers of a new cluster.
    """
    import dask
    from distributed import Client, LocalCluster, wait

    from dask_graphflow.kernels import disk

    dask.config.set(num_workers=threads, temporary_directory=folder)
    if kind == PROCESS:
        disk.limit(limit)
        yield [os.getpid()], lambda _: None
        return
    with (
        LocalCluster(
            n_workers=threads, threads_per_worker=1, memory_limit=limit // threads,
            local_directory=folder, dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield list(client.run(os.getpid).values()), wait


@contextmanager
def _measured(into: dict[str, float], processes: Sequence[int]) -> Any:
    """Store the seconds, the bytes read and written, and the peaks of memory of a block of code.

    A worker that is lost is an error.
    """
    done, peaks = threading.Event(), {"RssAnon": 0, "RssFile": 0}

    def look() -> None:
        while not done.wait(LOOK):
            for process in processes:
                fields = _fields(process, "status")
                for name in peaks:
                    peaks[name] = max(peaks[name], int(fields[name].split()[0]) * 1024)

    def moved() -> list[int]:
        every = [_fields(process, "io") for process in processes]
        return [sum(int(one[name]) for one in every) for name in ("read_bytes", "write_bytes")]

    watch = threading.Thread(target=look)
    watch.start()
    before, began = moved(), time.perf_counter()
    try:
        yield
    finally:
        into["seconds"] = time.perf_counter() - began
        done.set()
        watch.join()
        into["read"], into["written"] = (
            after - first for after, first in zip(moved(), before, strict=True)
        )
        into["own"], into["mapped"] = peaks.values()


def _fields(process: int, file: str) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{process}", file).read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        raise ContenderFailedError(f"process {process} was lost") from None
    return dict(line.split(":", 1) for line in lines)


def plain_read(folder: str) -> float:
    """Return the bytes per second of a read of files from the disk, without the cache."""
    buffer, size, began = mmap.mmap(-1, PIECE), 0, time.perf_counter()
    for path in sorted(Path(folder).glob("*.parquet")):
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        while count := os.readv(file, [buffer]):
            size += count
        os.close(file)
        if size >= READ:
            break
    return size / (time.perf_counter() - began)
