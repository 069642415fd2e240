"""Generators of edge lists: a power-law graph, a grid and a path.

Every generator is lazy. The graph depends only on the arguments, and not on the number of partitions or on
the workers that generate them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.values import shown

__all__ = ["QUADRANTS", "grid", "path", "rmat"]

#: Graph500's probabilities A, B, C, D that an edge falls into each quadrant of the adjacency matrix.
QUADRANTS = (0.57, 0.19, 0.19, 0.05)

#: Default number of edges per partition: 64 MiB for two int64 columns.
PARTITION_EDGES = 1 << 22

# Edges are drawn one tile at a time, so that a tile's random words and ids stay in the cache.
TILE_EDGES = 1 << 14
MAX_SCALE = 32
MAX_PARTITIONS = 1_000_000
SCRAMBLE_ROUNDS = 4

Ids = npt.NDArray[np.uint32]
Scramble = Sequence[tuple[np.uint32, np.uint32]]


@explained
def rmat(
    scale: int,
    *,
    edge_factor: int = 16,
    seed: int = 0,
    npartitions: int | None = None,
    dtype: npt.DTypeLike = "int64",
) -> Any:
    """Return the edges of a power-law graph: Graph500 R-MAT with permuted ids.

    The graph has ``2**scale`` ids and ``edge_factor * 2**scale`` edges, including the duplicates and
    self-loops that R-MAT draws. The ids are permuted, so an id says nothing about its degree. The same
    arguments give the same edges in the same order, for every `npartitions`.

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of ids, 1 to 32.
    edge_factor : int, default 16
        Number of edges per id.
    seed : int, default 0
        Seed of the random generator.
    npartitions : int, optional
        Number of partitions. By default a partition holds about 4 million edges.
    dtype : dtype, default "int64"
        Integer type of the ids.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``src`` and ``dst``, of `dtype`. Lazy.

    Raises
    ------
    OptionError
        A number is out of its range, or `dtype` cannot hold the ids.

    Notes
    -----
    The probability of each quadrant, at each level, is that of Graph500, (0.57, 0.19, 0.19, 0.05), with an
    error of at most 1e-4: two levels are drawn together from one random 16-bit number. See [1]_ for R-MAT.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004.

    Examples
    --------
    >>> from dask_graphflow import generate
    >>> edges = generate.rmat(10, npartitions=4)
    >>> len(edges)
    16384
    """
    scale = _whole("scale", scale, least=1, most=MAX_SCALE)
    edges = _whole("edge_factor", edge_factor, least=1) << scale
    seed = _whole("seed", seed, least=0, most=2**128 - 1)
    return _lazy_frame(
        _rmat_edges, edges, npartitions, dtype, vertices=1 << scale, scale=scale, seed=seed
    )


@explained
def grid(
    rows: int, columns: int, *, npartitions: int | None = None, dtype: npt.DTypeLike = "int64"
) -> Any:
    """Return the edges of a two-dimensional grid: sparse and of large diameter, like a road network.

    Vertex ``r * columns + c`` has edges to its right neighbor and to the neighbor below. Edges are
    ordered by the row of the smaller id.

    Parameters
    ----------
    rows, columns : int
        Number of rows and of columns of vertices.
    npartitions : int, optional
        Number of partitions. By default a partition holds about 4 million edges.
    dtype : dtype, default "int64"
        Integer type of the ids.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``src`` and ``dst``, of `dtype`, with ``src < dst``. Lazy.

    Raises
    ------
    OptionError
        A number is below 1, or `dtype` cannot hold the ids.

    Examples
    --------
    >>> from dask_graphflow import generate
    >>> generate.grid(2, 3).compute().to_numpy().tolist()
    [[0, 1], [1, 2], [0, 3], [1, 4], [2, 5], [3, 4], [4, 5]]
    """
    rows = _whole("rows", rows, least=1)
    columns = _whole("columns", columns, least=1)
    edges = rows * (columns - 1) + (rows - 1) * columns
    return _lazy_frame(
        _grid_edges, edges, npartitions, dtype, vertices=rows * columns, width=columns
    )


@explained
def path(n: int, *, npartitions: int | None = None, dtype: npt.DTypeLike = "int64") -> Any:
    """Return the edges of the path 0 - 1 - ... - (n - 1), which has the largest possible diameter.

    Parameters
    ----------
    n : int
        Number of vertices.
    npartitions : int, optional
        Number of partitions. By default a partition holds about 4 million edges.
    dtype : dtype, default "int64"
        Integer type of the ids.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``src`` and ``dst``, of `dtype`. Lazy.

    Raises
    ------
    OptionError
        A number is below 1, or `dtype` cannot hold the ids.

    Examples
    --------
    >>> from dask_graphflow import generate
    >>> generate.path(4).compute().to_numpy().tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    return grid(1, _whole("n", n, least=1), npartitions=npartitions, dtype=dtype)


class EdgeRun(NamedTuple):
    """The edges of a partition, by their numbers."""

    start: int
    stop: int

    @property
    def rows(self) -> int:
        """Number of edges; see :func:`.rows_at_most`."""
        return self.stop - self.start


def _lazy_frame(
    make: Callable[..., pd.DataFrame],
    edges: int,
    npartitions: int | None,
    dtype: npt.DTypeLike,
    *,
    vertices: int,
    **graph: int,
) -> Any:
    """Cut the edges into even runs, one per partition; ``make(run, ...)`` makes a run."""
    if edges > MAX_PARTITIONS * PARTITION_EDGES:
        raise OptionError(
            f"the graph would have {shown(edges)} edges; give numbers for at most "
            f"{MAX_PARTITIONS * PARTITION_EDGES:,}"
        )
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"dtype={shown(dtype)} is not a dtype of NumPy; give an integer type, e.g. int64"
        ) from error
    if kind.kind not in "iu" or np.iinfo(kind).max < vertices - 1:
        raise OptionError(
            f"dtype {kind} cannot hold ids up to {vertices - 1}; take a wider integer, e.g. int64"
        )
    if npartitions is None:
        npartitions = max(1, -(-edges // PARTITION_EDGES))
    count = _whole("npartitions", npartitions, least=1, most=MAX_PARTITIONS)
    bounds = [edges * run // count for run in range(count + 1)]
    runs = list(itertools.starmap(EdgeRun, itertools.pairwise(bounds)))
    meta = _frame(0, np.empty((2, 0), kind))
    return dd.from_map(make, runs, dtype=kind, meta=meta, label="graphflow-generate", **graph)


def _frame(start: int, ends: npt.NDArray[Any]) -> pd.DataFrame:
    """Wrap an array with rows `src` and `dst` as edges `start` onwards, without a copy."""
    index = pd.RangeIndex(start, start + ends.shape[1])
    return pd.DataFrame(ends.T, index=index, columns=["src", "dst"], copy=False)


def _grid_edges(run: EdgeRun, *, width: int, dtype: np.dtype[Any]) -> pd.DataFrame:
    start, stop = run
    # For each row of the grid: first the edges along the row, then the edges to the row below.
    row, place = np.divmod(np.arange(start, stop), 2 * width - 1)
    down = place >= width - 1
    ends = np.empty((2, stop - start), dtype)
    ends[0] = row * width + place - down * (width - 1)
    ends[1] = ends[0] + np.where(down, width, 1)
    return _frame(start, ends)


def _rmat_edges(run: EdgeRun, *, scale: int, seed: int, dtype: np.dtype[Any]) -> pd.DataFrame:
    start, stop = run
    draws, keys = np.random.SeedSequence(seed).spawn(2)
    scramble = _scramble_keys(keys, scale)
    table = _quadrant_table()
    levels = -(-scale // 2)
    # Philox is counter-based: it can be set to any tile of the one stream from which the graph is
    # drawn. A run of edges is therefore the same on every worker. A step of the counter gives four
    # 64-bit words, or sixteen 16-bit words.
    first = start // TILE_EDGES
    stream = np.random.Philox(draws).advance(first * levels * TILE_EDGES // 16)

    ends = np.empty((2, stop - start), dtype)
    pairs = np.empty(TILE_EDGES, np.uint64)
    for tile in range(first, -(-stop // TILE_EDGES)):
        words = stream.random_raw(levels * TILE_EDGES // 4).view(np.uint16)
        _draw_pairs(words.reshape(levels, TILE_EDGES), table, out=pairs)
        offset = tile * TILE_EDGES
        here = slice(max(start - offset, 0), min(stop - offset, TILE_EDGES))
        there = slice(here.start + offset - start, here.stop + offset - start)
        ends[0, there] = _scramble_ids((pairs >> 32).astype(np.uint32), scramble, scale)[here]
        ends[1, there] = _scramble_ids(pairs.astype(np.uint32), scramble, scale)[here]
    return _frame(start, ends)


def _quadrant_table() -> npt.NDArray[np.uint64]:
    """Map a 16-bit number to two levels of R-MAT: two bits of src (at 32) and two of dst."""
    upper, lower = np.divmod(np.arange(16), 4)
    chance = np.array(QUADRANTS)
    cuts = np.rint(np.cumsum(chance[upper] * chance[lower]) * 65536).astype(int)
    src = (upper & 2) | (lower >> 1)
    dst = (upper << 1 & 2) | (lower & 1)
    return np.repeat((src << 32 | dst).astype(np.uint64), np.diff(cuts, prepend=0))


def _draw_pairs(
    words: npt.NDArray[np.uint16], table: npt.NDArray[np.uint64], *, out: npt.NDArray[np.uint64]
) -> None:
    """Walk down the levels, two per row of `words`: src in the high half, dst in the low half."""
    bits = np.empty_like(out)
    out[:] = 0
    for row in words:
        # "clip" never clips here; it only makes take() skip its bounds check.
        np.take(table, row, out=bits, mode="clip")
        np.left_shift(out, 2, out=out)
        np.bitwise_or(out, bits, out=out)


def _scramble_keys(seed: np.random.SeedSequence, scale: int) -> Scramble:
    words = seed.generate_state(2 * SCRAMBLE_ROUNDS, np.uint32).reshape(-1, 2)
    return [(factor | np.uint32(1), shift) for factor, shift in words]


def _scramble_ids(ids: Ids, keys: Scramble, scale: int) -> Ids:
    """Permute the ids 0 to 2**scale - 1 without a table of them.

    Each step is invertible modulo ``2**scale``: multiplication by an odd number, addition of a number, and
    xor with the number's own high bits. The whole map is therefore one-to-one. An R-MAT with an odd scale
    is drawn with one level too many; the first mask drops it.
    """
    mask = np.uint32((1 << scale) - 1)
    half = np.uint32(-(-scale // 2))
    for factor, shift in keys:
        ids = (ids * factor + shift) & mask
        ids ^= ids >> half
    return ids


def _whole(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """Check that an argument is a whole number in its range."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        unbounded = most is None or (number < least and most >= 2**63)
        allowed = f"at least {least}" if unbounded else f"{least} to {most}"
        raise OptionError(f"{name}={shown(value)}: give a whole number, {allowed}")
    return number
