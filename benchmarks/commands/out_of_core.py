"""Components of more edges than fit in the memory pool of a GPU, from host memory and from Parquet."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

import dask.dataframe as dd
from dask.utils import parse_bytes

import dask_graphflow as gf
from benchmarks.lib import gpu, report
from benchmarks.lib.agreement import Agreement
from benchmarks.lib.errors import UnusableInputError
from benchmarks.lib.harness import Outcome, take_turns, timed
from dask_graphflow.kernels.link import Link
from dask_graphflow.operators.forests import streaming

EDGE_BYTES = 8  # two int32
READERS = 4  # maximum number of files that are read at a time
FILE_EDGES = 1 << 24  # the pool holds the encoded and the decoded data of each file that is read
MEMORY, PARQUET = "from host memory", "from Parquet, read by cuDF"
COPYING, READING = "copying the edges alone, by the driver", "reading the files alone"
COUNTERS = ("pinning", "staging", "waiting")
NOTES = f"""\
Times go to the computed label frame. A ratio below 1 is faster than {COPYING!r}: one copy of both columns
from pageable memory, which a call cannot avoid unless it stages them with several threads. The files were
just written and are in the system's page cache. The labels equal those of the host."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=26, help="2**scale ids (default 26)")
    parser.add_argument("--cap", default="2GiB", help="size of the memory pool (default 2GiB)")
    parser.add_argument("--times", type=int, default=4, help="bytes of the edges over the cap")
    parser.add_argument("--folder", help="where the files are stored (default: temporary)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.times < 1 or options.repeat < 1 or not 4 <= options.scale <= 31:
        raise UnusableInputError("give --times and --repeat 1 or more, and --scale from 4 to 31")
    gpu.check("dask_cudf")
    cap = gpu.start(parse_bytes(options.cap))
    factor = max(1, options.times * cap // EDGE_BYTES >> options.scale)
    parts = max(4 * options.times, (factor << options.scale) // FILE_EDGES)
    lazy = gf.generate.rmat(options.scale, edge_factor=factor, npartitions=parts, dtype="int32")
    with tempfile.TemporaryDirectory(prefix="graphflow-edges-", dir=options.folder) as folder:
        lazy.to_parquet(folder, compute_kwargs={"scheduler": "threads"})
        edges = dd.read_parquet(folder).compute(scheduler="threads").reset_index(drop=True)
        agreement = Agreement("equal")
        agreement("the host", expected(edges))
        counters: list[dict[str, float]] = []
        seconds = take_turns(
            contenders(folder, edges, options, counters), options.repeat, agreement
        )
    shown = [f"{name} {median(one[name] for one in counters) * 1e3:.1f}" for name in COUNTERS]
    results = {
        "benchmark": "out of core",
        "pool_bytes": cap,
        "edges": len(edges),
        "workers": options.workers,
        "seconds": seconds,
        "links": counters,
        "differs": agreement.differs,
    }
    size = report.mib(len(edges) * EDGE_BYTES)
    text = f"""\
{len(edges):,} edges of 2^{options.scale} ids, {size}, with a pool of {report.mib(cap)}; threads: \
{options.workers}

{report.comparison(seconds, COPYING, {"labels": agreement.answers}, agreement.differs)}

ms of the link, {MEMORY}: {", ".join(shown)}
{NOTES}"""
    report.show(text, results, f"out-of-core-{options.times}x{options.cap}", options)
    return int(bool(agreement.differs))


def expected(edges: Any) -> Any:
    """Return the components of a pandas frame, found on the host."""
    labels = gf.connected_components(edges, source="src", target="dst")
    return labels.compute(scheduler="threads")["component"].to_numpy()


def contenders(
    folder: str, edges: Any, options: argparse.Namespace, counters: list[dict[str, float]]
) -> dict[str, Any]:
    """Return the calls, and what a call cannot avoid."""
    import cupy
    import dask_cudf

    whole = {"columns": ["src", "dst"], "split_row_groups": False, "blocksize": None}
    files = dask_cudf.read_parquet(folder, **whole)
    # The encoded data of a partition are in the pool too, with the partition and the forest.
    threads = {"scheduler": "threads", "num_workers": min(options.workers, READERS)}
    ends = {"source": "src", "target": "dst"}

    def streamed() -> Outcome:
        with links() as made:
            labels = gf.connected_components(edges, **ends, device="gpu")
            outcome = timed(lambda: labels.compute(scheduler="sync"), gpu.wait)
        counters.extend(asdict(link.counters) for link in made)
        return Outcome(outcome.seconds, outcome.answer["component"].to_numpy())

    def read() -> Outcome:
        labels = gf.connected_components(files, **ends)
        outcome = timed(lambda: labels.compute(**threads), gpu.wait)
        return Outcome(outcome.seconds, outcome.answer["component"].to_numpy())

    columns = [edges[name].to_numpy() for name in ("src", "dst")]
    size = len(edges) // (4 * options.times)

    def copy() -> None:
        buffer = cupy.empty(size, "int32")
        for column in columns:
            for low in range(0, len(column), size):
                part = column[low : low + size]
                buffer[: len(part)].set(part)

    rows = files.map_partitions(_no_rows, meta=files._meta)
    return {
        MEMORY: streamed,
        PARQUET: read,
        COPYING: partial(_floor, copy),
        READING: partial(_floor, lambda: rows.compute(**threads)),
    }


def _floor(work: Any) -> Outcome:
    return Outcome(timed(work, gpu.wait).seconds)


def _no_rows(frame: Any) -> Any:
    return frame.iloc[:0]


@contextmanager
def links() -> Iterator[list[Link]]:
    """Collect the links that are made inside the context; closed links have complete counters."""
    made: list[Link] = []
    plain = streaming.new_link

    def kept(**options: Any) -> Link:
        made.append(plain(**options))
        return made[-1]

    with mock.patch.object(streaming, "new_link", kept):
        yield made
