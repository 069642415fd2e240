"""Components of more edges than fit in an RMM pool, from host memory and from Parquet."""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.errors import UnusableInputError
from benchmarks.report import mib, milliseconds, table, times
from benchmarks.timing import Spread, interleave, ratios
from dask_graphflow.components import streaming
from dask_graphflow.components.link import Link

from . import agreement, clock, components, graphs, needs, ours, pool, tables
from .copying import Columns, Copying

EDGE_BYTES = 8  # two int32
MADE = 1 << 24  # edges made at a time
READERS = 4  # maximum number of files that are read at a time
INPUTS = ("memory", "parquet")

DRIVER = "copying, by the driver"
STAGED = "copying, staged by threads"
PINNED = "copying, were it pinned"
READING = "reading"
COMPUTING = "computing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", default="26", help="2**scale ids (default 26)")
    parser.add_argument("--cap", default="2GiB", help="of the RMM pool (default 2GiB)")
    parser.add_argument("--times", type=float, default=4, help="edges over the cap (default 4)")
    parser.add_argument("--input", default="memory,parquet", help="memory, parquet, or both")
    parser.add_argument("--file-edges", type=int, default=1 << 24, help="of a file (default 2**24)")
    parser.add_argument("--folder", help="where the files may lie for a while (default: temporary)")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return f"{options.times:g}x{options.cap}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Make the edges, then time each kind of input, and the parts of its work alone."""
    from dask.utils import parse_bytes

    (scale,) = components.scales(options.scale)[:1]
    inputs = options.input.split(",")
    if any(one not in INPUTS for one in inputs):
        raise UnusableInputError(f"--input {options.input}: give memory, parquet or both")
    if options.times <= 0 or options.file_edges < 1 or options.workers < 1:
        raise UnusableInputError("give --times above 0, --file-edges and --workers 1 or more")
    if "parquet" in inputs:
        needs.check("dask_cudf")
    cap = pool.start(parse_bytes(options.cap))
    count = int(options.times * cap) // EDGE_BYTES
    # A quarter of the pool, which also has to hold the forest and the temporary data of kernels.
    chunk = min(count, max(1 << 20, cap // 4 // EDGE_BYTES))
    truth = on_host(scale, count, options.seed)
    columns = in_memory(scale, count, options.seed)
    results: dict[str, Any] = {
        "benchmark": "device out-of-core",
        "graph": f"R-MAT scale {scale}, {count:,} edges, seed {options.seed}",
        "pool_bytes": cap,
        "input_bytes": count * EDGE_BYTES,
        "edges": count,
        "chunk_edges": chunk,
        "threads": options.workers,
        "vertices": len(truth[0]),
        "inputs": {},
    }
    computing = Computing(scale, count, options.seed, chunk)
    with ExitStack() as stack:
        files = None
        if "parquet" in inputs:
            files = Path(
                stack.enter_context(
                    tempfile.TemporaryDirectory(prefix="graphflow-edges-", dir=options.folder)
                )
            )
            write(files, columns, options.file_edges, options.workers)
            results["file_bytes"] = sum(file.stat().st_size for file in files.iterdir())
        if "memory" in inputs:
            results["inputs"]["memory"] = from_memory(columns, chunk, computing, truth, options)
        del columns
        gc.collect()
        if files is not None:
            results["inputs"]["parquet"] = from_parquet(files, computing, truth, options)
    return results


def on_host(scale: int, count: int, seed: int) -> tuple[Any, Any]:
    """Find the components without the library; return host arrays, because the pool is small."""
    import cupy

    parts = partial(graphs.rmat_parts, scale, count, seed=seed, part=MADE)
    vertices, smallest = graphs.truth(parts, 1 << scale)
    return cupy.asnumpy(vertices), cupy.asnumpy(smallest)


def in_memory(scale: int, count: int, seed: int) -> Columns:
    """Make the edges in host memory that is not pinned, one part at a time."""
    columns = np.empty(count, "int32"), np.empty(count, "int32")
    start = 0
    for ends in graphs.rmat_parts(scale, count, seed=seed, part=MADE):
        for column, end in zip(columns, ends, strict=True):
            column[start : start + len(end)] = end.get()
        start += len(ends[0])
    return columns


def write(folder: Path, columns: Columns, rows: int, threads: int) -> None:
    """Write the edges as Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    def one(start: int) -> None:
        source, target = (column[start : start + rows] for column in columns)
        table = pa.table({"src": source, "dst": target})
        parquet.write_table(table, folder / f"edges-{start:015}.parquet")

    with ThreadPoolExecutor(threads) as executor:
        list(executor.map(one, range(0, len(columns[0]), rows)))


class Computing:
    """The kernels alone: each chunk is already on the device, and copying it there is not timed."""

    name = COMPUTING

    def __init__(self, scale: int, count: int, seed: int, chunk: int) -> None:
        self.vertices = 1 << scale
        self.parts = partial(graphs.rmat_parts, scale, count, seed=seed, part=chunk)

    def run(self) -> clock.Outcome:
        """Hook all chunks into one forest and label its vertices."""
        import cupy

        like = cupy.empty(0, "int32")
        step = clock.Events("", partial(ours.forest, like, self.vertices)).run()
        forest, seconds = step.found, step.seconds
        for source, target in self.parts():
            seconds += clock.Events("", partial(forest.hook, source, target)).run().seconds
        source = target = None  # free memory for labeling
        step = clock.Events("", partial(ours.marked_labels, forest, self.vertices)).run()
        found = tuple(cupy.asnumpy(array) for array in step.found)
        return clock.Outcome(seconds + step.seconds, found)


@contextmanager
def links() -> Iterator[list[Link]]:
    """Collect the links that are made inside the context. Closed links have complete counters."""
    made: list[Link] = []
    plain = streaming.new_link

    def kept(**options: Any) -> Link:
        made.append(plain(**options))
        return made[-1]

    with mock.patch.object(streaming, "new_link", kept):
        yield made


@dataclass
class Linked:
    """Work that copies edges over links, timed by wall-clock time, and the counters of the links.

    Attributes
    ----------
    runs : list of list of dict
        The counters of each run's links. The times when the latest call of a link handed over its first
        chunk, and when it ended, are relative to the start of the run.
    """

    name: str
    work: Callable[[], Any]
    runs: list[list[dict[str, Any]]] = field(default_factory=list)

    def run(self) -> clock.Outcome:
        """Do the work once."""
        with links() as made:
            outcome = clock.Wall(self.name, self.work).run()
        begin = time.perf_counter() - outcome.seconds
        self.runs.append([_counted(link, begin) for link in made])
        return outcome


def _counted(link: Link, begin: float) -> dict[str, Any]:
    found = asdict(link.counters)
    return found | {name: found[name] - begin for name in ("first_use", "last_copy")}


def from_memory(
    columns: Columns,
    chunk: int,
    computing: Computing,
    truth: tuple[Any, Any],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Time a pandas frame that is streamed to the device."""
    import pandas as pd

    edges = pd.DataFrame({"src": columns[0], "dst": columns[1]}, copy=False)
    copying = Copying(columns, chunk, options.workers)
    work = [
        Linked(ours.STREAMED, lambda: ours.streamed(edges)),
        clock.Wall(DRIVER, copying.by_driver),
        clock.Wall(STAGED, copying.staged),
        clock.Wall(PINNED, copying.from_pinned),
        computing,
    ]
    return timed(work, truth, options.repeat)


def from_parquet(
    files: Path, computing: Computing, truth: tuple[Any, Any], options: argparse.Namespace
) -> dict[str, Any]:
    """Time lazy frames with one partition per file, on the threaded scheduler.

    cuDF reads one frame on the device, and pandas reads the other on the host.
    """
    import dask.dataframe as dd
    import dask_cudf

    cut = {"columns": ["src", "dst"], "split_row_groups": False, "blocksize": None}
    edges = dask_cudf.read_parquet(str(files), **cut)
    on_host = dd.read_parquet(str(files), **cut)
    # The encoded data of a partition are in the pool too, together with the partition and the forest.
    how = {"scheduler": "threads", "num_workers": min(options.workers, READERS)}
    rows = edges.map_partitions(_rows, meta=edges._meta)
    work = [
        clock.Wall(ours.STREAMED, lambda: ours.lazy(edges).compute(**how)),
        Linked(ours.READ_ON_HOST, lambda: ours.streamed(on_host, **how)),
        clock.Wall(READING, lambda: rows.compute(**how)),
        computing,
    ]
    return timed(work, truth, options.repeat)


def _rows(frame: Any) -> Any:
    """Return an empty frame, after all rows were read."""
    return frame.iloc[:0]


def timed(work: list[Any], truth: tuple[Any, Any], repeat: int) -> dict[str, Any]:
    """Time contenders in turn, and check the labels of those that return labels."""

    def check(name: str, outcome: clock.Outcome) -> None:
        if name == COMPUTING:
            agreement.equal(name, outcome.found, truth)
        elif name in (ours.STREAMED, ours.READ_ON_HOST):
            vertices, smallest = (outcome.found[one] for one in ("vertex", "component"))
            agreement.equal(name, (vertices.to_numpy(), smallest.to_numpy()), truth)

    seconds = interleave(work, repeat, check)
    found = {name: tables.contender(seconds, {}, {}, name) for name in seconds}
    for one in work:
        if isinstance(one, Linked):
            found[one.name]["links"] = one.runs[1:]  # without the round to warm up
    return found


def larger_part(contenders: Mapping[str, Mapping[str, Any]]) -> list[float]:
    """Return for each round the larger time of copying the edges alone and of computing alone.

    For edges in memory that is not pinned, the faster of two ways of copying counts.
    """
    seconds = {name: one["seconds"] for name, one in contenders.items()}
    ways = [seconds[name] for name in (READING, DRIVER, STAGED) if name in seconds]
    brought = map(min, zip(*ways, strict=True))
    return [max(pair) for pair in zip(brought, seconds[COMPUTING], strict=True)]


def over_links(runs: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """Return one line with the medians of the links' counters over several runs."""

    def median(counter: str) -> float:
        return Spread.of([link[counter] for run in runs for link in run]).median

    parts = ("pinning", "staging", "waiting", "first_use", "last_copy")
    spent = ", ".join(f"{name.replace('_', ' ')} {median(name) * 1e3:.1f}" for name in parts)
    return (
        f"{median('chunks'):.0f} chunks a link, at most {median('most_in_flight'):.0f} in flight; "
        f"ms: {spent}"
    )


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    size, cap = (mib(results[name]) for name in ("input_bytes", "pool_bytes"))
    parts = [
        f"Connected components out of core: {results['graph']}, {size}, under an RMM pool of {cap}",
        f"{results['vertices']:,} vertices with an edge; threads: {results['threads']}",
        tables.machine_line(),
    ]
    for name, contenders in results["inputs"].items():
        least = larger_part(contenders)
        made = []
        for one, found in contenders.items():
            spread = Spread.of(found["seconds"])
            made.append(
                [
                    one,
                    *milliseconds(spread),
                    f"{results['edges'] / spread.median / 1e9:.2f}",
                    f"{results['input_bytes'] / spread.median / 1e9:.1f}",
                    times(ratios(found["seconds"], least)),
                ]
            )
        header = ["", "min ms", "median", "max", "G edges/s", "GB/s", "/ larger part"]
        parts.append(f"\nfrom {name}\n\n{table(header, made)}")
        parts += [
            f"{one}: {over_links(found['links'])}"
            for one, found in contenders.items()
            if "links" in found
        ]
    parts.append("""
/ larger part: over the larger of bringing the edges alone (reading; or the faster of the first two
ways of copying) and computing alone, round by round. Streamed: to the label frame, by the wall; from
Parquet, cuDF reads a partition on the device, or pandas reads it on the host and its edges are streamed.
Computing: hooking chunks that are on the device, one after the other, and labelling, by events. The
files were just written and lie in the system's page cache. Results equal label propagation's.""")
    return "\n".join(parts)
