"""Edge lists made on the device, and their components, found without the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.errors import DisagreementError, UnusableInputError

PASSES = 1000  # maximum passes of the oracle; label propagation with jumps takes about log2(V)
STRING_BASE = 10**9  # string ids have ten digits each, so their order is that of the numbers

# Everything is a function of the seed and the number of the edge, so that any worker can make any part of
# the same graph. A 64-bit word contains the draws of four levels.
RMAT_FUNCTIONS = """
typedef unsigned long long word_t;

__device__ inline word_t mixed(word_t z) {  // splitmix64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

__device__ inline word_t draw(word_t seed, word_t number) {
    return mixed(mixed(seed + 0x632BE59BD9B4E019ULL) + (number + 1) * 0x9E3779B97F4A7C15ULL);
}

// A permutation of the ids: multiplying by an odd number, adding, and xor with the own high bits
// can each be undone modulo 2^scale.
__device__ inline unsigned permuted(unsigned id, word_t seed, int scale) {
    const unsigned mask = scale < 32 ? (1u << scale) - 1 : 0xFFFFFFFFu;
    for (int round = 0; round < 4; ++round) {
        const word_t key = draw(~seed, round);
        id = (id * ((unsigned)key | 1u) + (unsigned)(key >> 32)) & mask;
        id ^= id >> ((scale + 1) / 2);
    }
    return id;
}

// Graph500's quadrants, 0.57, 0.19, 0.19 and 0.05, in parts of 2^16.
__device__ inline void rmat_edge(
    word_t edge, word_t seed, int scale, word_t vertices, word_t* src, word_t* dst
) {
    unsigned u = 0, v = 0;
    word_t word = 0;
    for (int level = 0; level < scale; ++level) {
        if (level % 4 == 0) word = draw(seed, edge * 8 + level / 4);
        const unsigned part = (unsigned)(word & 0xFFFF);
        word >>= 16;
        u = u << 1 | (part >= 49807);
        v = v << 1 | ((part >= 37356 && part < 49807) || part >= 62259);
    }
    // To fewer ids than 2^scale: some are merged, which these are being random already.
    *src = (permuted(u, seed, scale) * vertices) >> scale;
    *dst = (permuted(v, seed, scale) * vertices) >> scale;
}
"""
RMAT_LOOP = """
word_t u, v;
rmat_edge(first + (word_t)i, seed, scale, vertices, &u, &v);
src = (T)u;
dst = (T)v;
"""

# One pass of label propagation. Labels only decrease, so reading a label while another thread lowers it is
# harmless. A pass that lowers no label has read the final ones.
LOWER = """
const T a = label[s], b = label[d];
if (a != b) {
    const T low = a < b ? a : b, high = a < b ? b : a;
    atomicMin(&label[a < b ? d : s], low);
    atomicMin(&label[high], low);
    changed[0] = 1;
}
"""


Parts = Callable[[], Iterable[tuple[Any, Any]]]


@cache
def _kernel(name: str) -> Any:
    import cupy

    if name == "rmat":
        return cupy.ElementwiseKernel(
            "uint64 first, uint64 seed, int32 scale, uint64 vertices",
            "T src, T dst",
            RMAT_LOOP,
            "benchmark_rmat",
            preamble=RMAT_FUNCTIONS,
        )
    return cupy.ElementwiseKernel(
        "S s, S d", "raw T label, raw int32 changed", LOWER, "benchmark_lower"
    )


def rmat(
    scale: int, edges: int, *, seed: int = 0, first: int = 0, vertices: int | None = None
) -> tuple[Any, Any]:
    """Return the ends of the edges from number `first` on, of Graph500's R-MAT with permuted ids.

    Parameters
    ----------
    scale : int
        2**scale ids, at most 31, so that they are int32.
    edges : int
        Number of edges, starting with `first`.
    seed, first : int
    vertices : int, optional
        Number of ids, at most 2**scale, which is the default.
    """
    import cupy

    if not 1 <= scale <= 31:
        raise UnusableInputError(f"scale {scale}: give 1 to 31, for ids of 32 bits")
    source, target = cupy.empty(edges, "int32"), cupy.empty(edges, "int32")
    _kernel("rmat")(
        np.uint64(first),
        np.uint64(seed),
        np.int32(scale),
        np.uint64(vertices or 1 << scale),
        source,
        target,
    )
    return source, target


def rmat_parts(scale: int, edges: int, *, seed: int, part: int) -> Iterator[tuple[Any, Any]]:
    """Yield the ends of all edges, `part` of them at a time."""
    for first in range(0, edges, part):
        yield rmat(scale, min(part, edges - first), seed=seed, first=first)


def whole(ends: tuple[Any, Any]) -> Parts:
    """Return all edges as one part."""
    return lambda: [ends]


def frame(source: Any, target: Any) -> Any:
    """Return edges as a cuDF frame."""
    import cudf

    return cudf.DataFrame({"src": source, "dst": target})


def empty_frame() -> Any:
    """Return an empty frame of edges, which Dask uses as metadata."""
    import cudf

    return cudf.DataFrame({name: np.empty(0, "int32") for name in ("src", "dst")})


def label_frame(vertices: Any, components: Any) -> Any:
    """Return vertices and components as a cuDF frame."""
    import cudf

    return cudf.DataFrame({"vertex": vertices, "component": components})


def rmat_part(first: int, stop: int, *, scale: int, seed: int) -> Any:
    """Return some of the edges as a cuDF frame, for a partition that is made on its worker."""
    return frame(*rmat(scale, stop - first, seed=seed, first=first))


def grid(power: int) -> tuple[Any, Any, int]:
    """Return a two-dimensional grid of 2**power ids, in the order of its rows, and the number of ids."""
    import cupy

    ids = cupy.arange(1 << power, dtype="int32").reshape(1 << power // 2, -1)
    source = cupy.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    target = cupy.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return source, target, 1 << power


def path(length: int) -> tuple[Any, Any, int]:
    """Return the path 0 - 1 - ... - length-1, and its number of ids."""
    import cupy

    ids = cupy.arange(length, dtype="int32")
    return ids[:-1].copy(), ids[1:].copy(), length


def copies(file: str, source: str, target: str, reach: int) -> tuple[Any, Any, int]:
    """Return disjoint copies of a Parquet graph with about `reach` ids in total, and the number of ids."""
    import cudf
    import cupy

    if not Path(file).exists():
        raise UnusableInputError(f"--graph {file}: there is no such file")
    edges = cudf.read_parquet(file, columns=[source, target])
    ends = [edges[name].to_cupy().astype("int64") for name in (source, target)]
    low = min(int(end.min()) for end in ends)
    size = max(int(end.max()) for end in ends) + 1 - low
    shift = cupy.arange(max(1, round(reach / size)), dtype="int64")[:, None] * size - low
    if len(shift) * size >= 1 << 31:
        raise UnusableInputError(f"--graph {file} has ids that are too far apart: {size:,}")
    return *((end + shift).ravel().astype("int32") for end in ends), len(shift) * size


def with_permuted_ids(source: Any, target: Any, vertices: int, seed: int) -> tuple[Any, Any]:
    """Return the same graph with permuted ids, so that neighbors are far apart."""
    import cupy

    cupy.random.seed(seed)
    names = cupy.random.permutation(vertices).astype("int32")
    return names[source], names[target]


def in_another_order(source: Any, target: Any, seed: int) -> tuple[Any, Any]:
    """Return the same edges in a random order."""
    import cupy

    cupy.random.seed(seed + 1)
    order = cupy.random.permutation(len(source))
    return source[order], target[order]


def random_pairs(pairs: int, ids: int, seed: int) -> tuple[Any, Any]:
    """Return uniformly random pairs of ids below `ids`."""
    import cupy

    random = cupy.random.default_rng(seed)
    source, target = (random.integers(0, ids, pairs).astype("int32") for _ in range(2))
    return source, target


def as_strings(numbers: Any) -> Any:
    """Return numbers below 10**9 as a cuDF column of strings in the same order."""
    import cudf

    return (cudf.Series(numbers.astype("int64")) + STRING_BASE).astype("str")


def as_numbers(strings: Any) -> Any:
    """Return the argument of :func:`as_strings`."""
    return strings.astype("int64").to_cupy() - STRING_BASE


def truth(parts: Parts, vertices: int) -> tuple[Any, Any]:
    """Find components by label propagation, which shares no code with the measured library.

    Parameters
    ----------
    parts : callable
        Returns the edges as pairs of arrays. It is called once per pass, so it may make them again.
    vertices : int
        The largest id plus 1.

    Returns
    -------
    tuple of array
        The ids that have an edge in ascending order, and the smallest id in the component of each.
    """
    import cupy

    label, seen = cupy.arange(vertices, dtype="int32"), cupy.zeros(vertices, "bool")
    for part in parts():
        for end in part:
            seen[end] = True
    for _ in range(PASSES):
        changed = cupy.zeros(1, "int32")
        for source, target in parts():
            _kernel("lower")(source, target, label, changed)
        if not int(changed[0]):
            ids = cupy.flatnonzero(seen)
            return ids.astype("int32"), label[ids]
        label = label[label]
    raise DisagreementError(f"label propagation has not ended after {PASSES} passes")
