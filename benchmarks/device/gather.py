"""The limit of PageRank on one GPU: compare the kernel with plain gathers along the same edges."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import dask
import numpy as np

from benchmarks import report
from benchmarks.alone import view
from benchmarks.errors import DisagreementError, UnusableInputError
from benchmarks.timing import Spread
from dask_graphflow.kernels import kernels_of
from dask_graphflow.operators.pull import Pull

from . import algorithms, clock, graphs, pool, tables

ITERATIONS = 20
BLOCKS = 16  # per multiprocessor
THREADS = 256
KERNEL = "graphflow, one sum of contributions"
READ = "reading the ends"
RANKS = f"graphflow, {ITERATIONS} iterations to a frame"
ROWS = "ends in the order of the rows"
# A warp takes 256 neighboring edges, and each lane has eight loads of values in flight. Ends are read with
# a hint that they are not needed again, so that the caches are free for the values.
SOURCE = """
template <typename V>
__device__ void gather(const int* ends, long long count, const V* values, unsigned long long* total) {
    unsigned long long sum = 0;
    const long long step = (long long)gridDim.x * blockDim.x * 8;
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (long long first = warp * 256; first < count; first += step) {
        int end[8];
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const long long edge = first + i * 32 + (threadIdx.x & 31);
            end[i] = edge < count ? __ldcs(ends + edge) : -1;
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i) if (end[i] >= 0) sum += (unsigned long long)values[end[i]];
    }
    atomicAdd(total, sum);
}
extern "C" __global__ void gather4(
    const int* e, long long n, const unsigned* v, unsigned long long* t
) { gather(e, n, v, t); }
extern "C" __global__ void gather2(
    const int* e, long long n, const unsigned short* v, unsigned long long* t
) { gather(e, n, v, t); }
extern "C" __global__ void gather1(
    const int* e, long long n, const unsigned char* v, unsigned long long* t
) { gather(e, n, v, t); }
extern "C" __global__ void read(
    const int* e, long long n, const unsigned* v, unsigned long long* t
) {
    unsigned long long sum = 0;
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        sum += (unsigned long long)__ldcs(e + i);
    atomicAdd(t, sum);
}
"""
NOTES = f"""
By events, median of the runs after one to warm up; {RANKS}: by the wall. A plain gather reads the
ends in the given order and adds up the values that they point to; it does not know the rows. Every sum is
compared with one that is made from the in-degrees. A sum of contributions cannot take less time than
a gather of 4-byte values in the order of its rows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=26, help="2**scale ids (default 26)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument(
        "--tiles", type=int, nargs="*", default=[1 << 10, 1 << 12, 1 << 14, 1 << 16], metavar="EDGES",
        help="also with ends sorted within tiles of so many edges (default 1024 4096 16384 65536)",
    )  # fmt: skip
    parser.add_argument(
        "--block", type=int, default=8_000_000, metavar="VERTICES",
        help="also with ends by blocks of so many sources; 0 for none (default 8_000_000)",
    )  # fmt: skip


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return f"scale{options.scale}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time the kernel, and plain gathers along the same edges in several orders."""
    if not 4 <= options.scale <= 30 or options.edge_factor < 1:
        raise UnusableInputError("give --scale 4 to 30, and --edge-factor 1 or more")
    if options.block < 0 or min(options.tiles, default=1) < 1:
        raise UnusableInputError("give --block 0 or more, and --tiles of 1 edge or more")
    pool_bytes = pool.start()
    count = options.edge_factor << options.scale
    edges = graphs.frame(*graphs.rmat(options.scale, count, seed=options.seed))
    with dask.config.set(scheduler="sync"):
        graph = algorithms.built(edges, directed=True)
        del edges
        ask = {"max_iter": ITERATIONS, "tol": None, "precision": "float32"}
        whole = clock.Wall(RANKS, lambda: graph.pagerank(**ask).compute())
        ranks = [whole.run().seconds for _ in range(options.repeat + 1)][1:]
        rows, told, sums = contributions(graph)
    summed = partial(kernels_of("pull", told).sum_contributions, rows, told, sums)
    return {
        "benchmark": "device gather",
        "graph": f"R-MAT scale {options.scale}, edge factor {options.edge_factor}, seed {options.seed}",
        "edges": len(rows.ends),
        "vertices": len(sums),
        "end_bytes": rows.ends.nbytes,
        "column_bytes": told.nbytes,
        "pool_bytes": pool_bytes,
        "iterations": ITERATIONS,
        "iterations_seconds": ranks,
        "kernel_seconds": clock.several(summed, options.repeat),
        "read_seconds": timed("read", rows.ends, told.view("uint32"), options.repeat),
        "gathers": [
            {"order": name, "seconds": gathered(ends, told, options.repeat)}
            for name, ends in orders(rows.ends, options)
        ],
    }


def contributions(graph: Any) -> tuple[Any, Any, Any]:
    """Return the rows of a graph in one process, PageRank's first contributions, and an array for sums."""
    pull = Pull(view(graph))
    share, _ = pull.shares("float32")
    told = pull.take(share) / np.float32(pull.count)
    return pull.layout.rows, told, np.zeros_like(told, "int64")


def orders(ends: Any, options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """Yield the ends of all edges in several orders."""
    yield ROWS, ends
    if options.block:
        yield f"by blocks of {options.block:,} sources", ends[np.argsort(ends // options.block)]
    for tile in options.tiles:
        ordered = ends.copy()
        ordered[: len(ends) // tile * tile].reshape(-1, tile).sort(axis=1)
        yield f"sorted within tiles of {tile:,} edges", ordered


def gathered(ends: Any, told: Any, repeat: int) -> dict[str, list[float]]:
    """Return the seconds of gathers of values with 4, 2 and 1 bytes."""
    words = told.view("uint32")
    return {
        str(width): timed(f"gather{width}", ends, words.astype(f"uint{8 * width}"), repeat)
        for width in (4, 2, 1)
    }


def timed(name: str, ends: Any, values: Any, repeat: int) -> list[float]:
    """Return the seconds of a kernel that adds up the ends, or the values that the ends point to."""
    import cupy

    total = cupy.zeros(1, "uint64")
    blocks = cupy.cuda.Device().attributes["MultiProcessorCount"] * BLOCKS
    launch = partial(
        _kernel(name), (blocks,), (THREADS,), (ends, np.int64(len(ends)), values, total)
    )
    launch()
    truth = ends.sum(dtype="uint64") if name == "read" else expected(ends, values)
    if int(total[0]) != int(truth):
        raise DisagreementError(f"{name} adds up to {int(total[0])}, which should be {int(truth)}")
    return clock.several(launch, repeat)


def expected(ends: Any, values: Any) -> Any:
    """Return the sum of the values that all ends point to, computed from the number of ends per value."""
    counts = np.bincount(ends, minlength=len(values)).astype("uint64")
    return (counts * values).sum()


@cache
def _kernel(name: str) -> Any:
    import cupy

    return cupy.RawModule(code=SOURCE, options=("-std=c++17",)).get_function(name)


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    least, edges = bound(results), results["edges"]
    first = [
        [KERNEL, *report.milliseconds(Spread.of(results["kernel_seconds"]))],
        [READ, *report.milliseconds(Spread.of(results["read_seconds"]))],
        [RANKS, *report.milliseconds(Spread.of(results["iterations_seconds"]))],
    ]
    rows = [
        [one["order"], *(f"{Spread.of(each).median * 1e3:.2f}" for each in one["seconds"].values())]
        for one in results["gathers"]
    ]
    return f"""\
PageRank and plain gathers on one GPU: {results["graph"]}, {edges:,} edges, {results["vertices"]:,} vertices
{tables.machine_line()}

{report.table(["", "min ms", "median", "max"], first)}

{report.table(["a plain gather of all edges, ms; values of", "4 bytes", "2 bytes", "1 byte"], rows)}

A pass reads {results["end_bytes"]:,} bytes of ends, and for each end a value in a column of \
{results["column_bytes"]:,} bytes.
{ITERATIONS} iterations take at least {least * 1e3:.1f} ms: {ITERATIONS} gathers of 4-byte values in the \
order of the rows.
{NOTES}"""


def bound(results: dict[str, Any]) -> float:
    """Return the seconds that the gathers of all iterations take."""
    median = Spread.of(results["gathers"][0]["seconds"]["4"]).median
    return float(median * results["iterations"])
