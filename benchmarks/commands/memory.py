"""Peak memory of workers that stream more edges than fit in their memory."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import report, rss
from benchmarks.lib.errors import DisagreementError, UnusableInputError

GROUPS = 8
ROWS = 2_000_000  # edges per file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--edges", type=int, default=200_000_000, help="rows (default 200_000_000)")
    parser.add_argument("--scale", type=int, default=20, help="2**scale ids (default 20)")
    parser.add_argument("--memory-limit", default="1GB", help="of each worker (default 1GB)")
    parser.add_argument("--double", action="store_true", help="again with twice the edges")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a run may take (1800)")
    parser.add_argument("--folder", help="where the edges may lie for a while (default: temporary)")


def run(options: argparse.Namespace) -> int:
    """Write the edges, find their components, print the results and store them."""
    if options.scale < 4 or options.edges < 1:
        raise UnusableInputError("give --scale 4 or more, and --edges 1 or more")
    limit = dask.utils.parse_bytes(options.memory_limit)
    runs = []
    with tempfile.TemporaryDirectory(prefix="graphflow-edges-", dir=options.folder) as folder:
        written = 0
        for edges in [options.edges, 2 * options.edges] if options.double else [options.edges]:
            write(Path(folder), written, edges, options)
            written = edges
            runs.append(observe(folder, edges, options, limit))
    results = {
        "benchmark": "memory",
        "ids": 1 << options.scale,
        "workers": options.workers,
        "memory_limit_bytes": limit,
        "runs": runs,
    }
    report.show(show(results), results, f"memory-scale{options.scale}", options)
    return 1 if any(one["complaints"] for one in runs) else 0


def write(folder: Path, start: int, stop: int, options: argparse.Namespace) -> None:
    """Write the edges from `start` to `stop` as Parquet files.

    Edges are random between ids that are equal modulo 8. This makes eight components that are known in
    advance.
    """
    per_group = (1 << options.scale) // GROUPS
    for low in range(start, stop, ROWS):
        random = np.random.default_rng(low)
        rows = min(ROWS, stop - low)
        ends = random.integers(0, per_group, (2, rows)) * GROUPS
        ends += random.integers(0, GROUPS, rows)
        frame = pd.DataFrame(ends.T, columns=["src", "dst"])
        frame.to_parquet(folder / f"edges-{low:015}.parquet", index=False)


def observe(folder: str, edges: int, options: argparse.Namespace, limit: int) -> dict[str, Any]:
    """Find the components on workers with little memory, and monitor the workers."""
    from distributed import Client, LocalCluster, futures_of, wait

    complaints = []
    with (
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            memory_limit=limit,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        before = client.run(_about)
        begin = time.perf_counter()
        frame = dd.read_parquet(folder)
        labels = gf.connected_components(frame, source="src", target="dst").persist()
        try:
            wait(labels, timeout=options.timeout)
        except TimeoutError:  # a paused worker may never continue
            complaints.append(f"the run was not over after {options.timeout:g} s")
        seconds = time.perf_counter() - begin
        after = client.run(_about)
        logs = {**client.get_worker_logs(), **_named(client.get_worker_logs(nanny=True))}
        for future in futures_of(labels):
            if future.status == "error":
                complaints.append(f"the run failed: {future.exception()}")
                break
        labels = None if complaints else labels.compute()
    if labels is not None:
        check(labels, edges, options.scale)
    complaints += [
        f"{address}: {line}"
        for address, lines in logs.items()
        for level, line in lines
        if level in ("WARNING", "ERROR", "CRITICAL")
    ]
    nothing = {"peak": 0, "spilled": 0}
    for address, about in before.items():
        if after.get(address, nothing).get("pid") != about["pid"]:
            complaints.append(f"{address} was restarted: its peak is lost")
        if after.get(address, nothing)["spilled"]:
            complaints.append(f"{address} spilled")
    return {
        "edges": edges,
        "input_bytes": 16 * edges,
        "seconds": seconds,
        "resting_bytes": [about["resident"] for about in before.values()],
        "peak_bytes": [after.get(address, nothing)["peak"] for address in before],
        "spilled_bytes": [after.get(address, nothing)["spilled"] for address in before],
        "complaints": complaints,
    }


def check(labels: pd.DataFrame, edges: int, scale: int) -> None:
    """Raise unless the labels are the expected ones."""
    vertex, component = labels["vertex"].to_numpy(), labels["component"].to_numpy()
    right = (component % GROUPS == vertex % GROUPS) & (component <= vertex)
    if edges >= 64 << scale:
        # With this many random edges, every id has an edge, and all ids that are equal modulo 8 are joined.
        right &= component == vertex % GROUPS
        if not np.array_equal(vertex, np.arange(1 << scale)):
            raise DisagreementError(
                f"{len(vertex)} vertices came, all of 0 to {(1 << scale) - 1} were due"
            )
    if not right.all():
        wrong = int(np.flatnonzero(~right)[0])
        raise DisagreementError(
            f"vertex {vertex[wrong]} cannot be in component {component[wrong]}: every edge "
            f"joins ids that are equal modulo {GROUPS}"
        )


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    rows = [
        [
            f"{one['edges']:,}",
            report.mib(one["input_bytes"]),
            f"{one['seconds']:.1f}",
            str(worker),
            report.mib(one["resting_bytes"][worker]),
            report.mib(one["peak_bytes"][worker]),
            report.mib(one["spilled_bytes"][worker]),
        ]
        for one in results["runs"]
        for worker in range(results["workers"])
    ]
    header = ["edges", "as int64", "seconds", "worker", "at rest", "peak", "spilled"]
    text = f"""\
Connected components from Parquet, {results["ids"]:,} ids, on {results["workers"]} workers with \
{report.mib(results["memory_limit_bytes"])} each

{report.table(header, rows)}

peak: the high-water mark of the resident memory; spilled: bytes written to the disk."""
    lines = [text]
    if len(results["runs"]) == 2:
        once, twice = (max(one["peak_bytes"]) for one in results["runs"])
        lines.append(f"twice the edges: {twice / once:.3f} times the peak")
    complaints = [line for one in results["runs"] for line in one["complaints"]]
    lines.append("no warning, nothing spilled" if not complaints else "COMPLAINTS:")
    return "\n".join(lines + complaints)


def _about(dask_worker: Any) -> dict[str, int]:
    """Return a worker's memory; this runs on the worker."""
    import os

    # This counts every byte that was ever spilled. A worker without a limit has a plain dict.
    metrics = getattr(dask_worker.data, "cumulative_metrics", {})
    return {
        "pid": os.getpid(),
        "resident": rss.current(),
        "peak": rss.peak(),
        "spilled": int(metrics.get(("disk-write", "bytes"), 0)),
    }


def _named(logs: dict[str, Any]) -> dict[str, Any]:
    return {f"nanny of {address}": lines for address, lines in logs.items()}
