"""How much longer does a function take on a graph on disk than in memory, and with how much memory?"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.lib import report, rss
from benchmarks.lib.agreement import Agreement
from benchmarks.lib.errors import DisagreementError
from benchmarks.lib.harness import Outcome, in_process, take_turns

NOTES = """\
Each run is a process of its own, which reads the same Parquet files. "build" builds and persists the graph.
The functions follow in this order, so the first that needs them also makes the rows that are kept with the
graph. "peak" is the largest resident memory of the process in any round, which includes mapped pages."""

CALLS = {
    "build": "",
    "pagerank": "g.pagerank(max_iter=10, tol=None)",
    "bfs": "g.bfs([0])",
    "connected_components": "g.connected_components()",
    "label_propagation": "g.label_propagation(max_iter=10)",
    "core_number": "g.core_number()",
    "louvain": "g.louvain()",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="R-MAT edges of 2**scale ids (20)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges per id (16)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Write the edges, let both kinds of storage take turns, print the results and store them."""
    import dask_graphflow as gf

    with tempfile.TemporaryDirectory(prefix="graphflow-on-disk-") as folder:
        edges = gf.generate.rmat(
            options.scale, edge_factor=options.edge_factor, npartitions=64, dtype="int32"
        )
        edges.to_parquet(folder)
        seconds, peaks = measured(folder, options)
    cells = {name: report.mib(peak) for name, peak in peaks.items()}
    texts = [
        f"{call}\n{report.comparison(times, 'memory', {'peak': cells} if call == 'build' else None)}"
        for call, times in seconds.items()
    ]
    results = {
        "benchmark": "on-disk", "scale": options.scale, "edge_factor": options.edge_factor,
        "threads": options.workers, "seconds": seconds, "peak_bytes": peaks,
    }  # fmt: skip
    report.show("\n\n".join([*texts, NOTES]), results, f"on-disk-{options.scale}", options)
    return 0


def measured(folder: str, options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the seconds of each call by storage, and the peak memory of each storage."""
    check, peaks = Agreement("equal"), dict.fromkeys(("memory", "disk"), 0)
    by_call: dict[str, dict[str, list[float]]] = {
        call: {storage: [] for storage in peaks} for call in CALLS
    }

    def once(storage: str) -> Outcome:
        answer = in_process(main, storage, folder, str(options.workers))
        peaks[storage] = max(peaks[storage], answer["peak"])
        for call, seconds in answer["seconds"].items():
            by_call[call][storage].append(seconds)
        return Outcome(sum(answer["seconds"].values()), np.array(answer["hashes"], "uint64"))

    take_turns({name: partial(once, name) for name in peaks}, options.repeat, check, {})
    if check.differs:
        raise DisagreementError(f"on disk and in memory: {check.differs}")
    # Without the round to warm up.
    seconds = {
        call: {storage: times[-options.repeat :] for storage, times in both.items()}
        for call, both in by_call.items()
    }
    return seconds, peaks


def main(storage: str, folder: str, threads: str) -> None:
    """Make all calls in this process; print their seconds, hashes of the results and the peak memory."""
    import dask
    import dask.dataframe as dd
    import pandas as pd

    import dask_graphflow as gf

    dask.config.set(num_workers=int(threads))
    seconds, hashes, g = {}, [], None
    for call, code in CALLS.items():
        begin = time.perf_counter()
        if code:
            found = eval(code).compute()
            hashes.append(int(pd.util.hash_pandas_object(found, index=False).sum()))
        else:
            g = gf.Graph(
                dd.read_parquet(folder), source="src", target="dst", directed=False, storage=storage
            ).persist()
        seconds[call] = time.perf_counter() - begin
    assert g is not None
    print(json.dumps({"seconds": seconds, "hashes": hashes, "peak": rss.peak()}))
