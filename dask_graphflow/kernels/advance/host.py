"""Advance on the host: run any edge program on the edges of a frontier, by push or by pull.

:func:`kernels` compiles the two loops around the functions of an edge program. *Push* reads the rows of a
sparse frontier and combines each message into its target atomically. *Pull* reads the rows of the vertices
that receive messages, and checks for each neighbor whether it is in the frontier. Each vertex is written by
only one thread, so pull needs no atomics for values.

Both return the vertices that changed. Columns are read in place. A program that reads the column it writes
at ``src`` may therefore see a message of the same superstep. If that matters, as it does for sums, the
program must read one column and write another.

A small superstep takes less time than the call of its kernel. :class:`Run` pushes several of them in one
call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels.advance import Moved
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import uncached as _uncached
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_atomics import (
    count_ones,
    fetch_add,
    fetch_or,
    scratch,
    swap,
    trailing_zeros,
    weight_at,
)
from dask_graphflow.kernels.host_threads import (
    MINI_CHUNK,
    TURN,
    even_turns,
    frontier_turns,
    put,
    run,
    stolen,
    take,
    turns,
)
from dask_graphflow.kernels.policies import HOST_POLICIES, check
from dask_graphflow.kernels.program import HostProgram
from dask_graphflow.kernels.read_ahead import in_order, portions

BATCH = 256  # vertices appended to the next frontier at a time
EDGES = 1 << 13  # edges per thread of a push; fewer edges take less time than waking a thread
SMALL_FRONTIER = EDGES  # maximum edges that leave a frontier in a call of many supersteps
SPAN = 1 << 14  # maximum supersteps per call


class Loops(NamedTuple):
    """The compiled loops of an edge program."""

    push: Callable[..., Any]
    pull: Callable[..., Any]
    run: Callable[..., Any]
    after: Callable[..., Any]
    after_words: Callable[..., Any]


@cache
def kernels(program: HostProgram) -> Loops:
    """Return the compiled loops for an edge program.

    Loops are cached on disk only for programs written as text. There is no way to tell what the functions
    of other programs read.
    """
    (signal, cond, combine, after), text, target, first_hit, _ = program
    compiled = partial(_compiled, program=f"{target}, {first_hit}\n{text}") if text else _uncached
    compiled = partial(compiled, error_model="numpy")
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)

    @compiled
    def push_rows(rows, columns, frontier, queued, following, tail, ranges, part):
        offsets, ends, weights, first = rows
        values = columns[target]
        batch = scratch(BATCH, following.dtype)
        waiting = edges = appends = 0
        # Take fewer vertices from a small frontier, so that one thread does not get all of its hubs.
        size = min(MINI_CHUNK, 1 + frontier.size // MINI_CHUNK)
        start, stop = take(ranges, part, size)
        while start < stop:
            for i in range(start, stop):
                row = np.uint64(frontier[i])
                src = first + row
                edges += offsets[row + one] - offsets[row]
                for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + one])):
                    dst = ends[k]
                    if not cond(columns, dst):
                        continue
                    at = np.uint64(dst)
                    message = signal(columns, src, dst, weight_at(weights, k))
                    old = values[at]
                    new = combine(old, message)
                    won = False
                    # A NaN is final. It needs a separate test, because it is not equal to itself.
                    while new != old and old == old and not won:
                        won = swap(values, np.intp(at), old, new)
                        if not won:
                            old = values[at]
                            new = combine(old, message)
                    bit = one << (at & low)
                    # Read the bit first: most vertices that change again are already in the list.
                    if (
                        won
                        and not queued[at >> six] & bit
                        and not fetch_or(queued, np.intp(at >> six), bit) & bit
                    ):
                        batch[waiting] = dst
                        waiting += 1
                        if waiting == BATCH:
                            place = fetch_add(tail, np.intp(0), np.int64(BATCH))
                            put(following, place, batch, BATCH)
                            waiting = 0
                            appends += 1
            start, stop = take(ranges, part, size)
        if waiting:
            place = fetch_add(tail, np.intp(0), np.int64(waiting))
            put(following, place, batch, waiting)
            appends += 1
        return edges, appends

    @compiled
    def pull_rows(rows, columns, frontier, everyone, changed, ranges, part):
        offsets, ends, weights, first = rows
        values = columns[target]
        edges = np.int64(0)
        start, stop = take(ranges, part, MINI_CHUNK)
        while start < stop:
            for i in range(np.uint64(start), np.uint64(stop)):
                row = np.uint64(i)
                dst = first + row
                if not cond(columns, dst):
                    continue
                at = np.uint64(dst)
                old = values[at]
                new = old
                k, end = np.uint64(offsets[row]), np.uint64(offsets[row + one])
                edges += np.int64(end - k)
                while k < end:
                    src = ends[k]
                    near = np.uint64(src)
                    if everyone or (frontier[near >> six] >> (near & low)) & one:
                        message = signal(columns, src, dst, weight_at(weights, k))
                        new = combine(new, message)
                        if first_hit:
                            edges -= np.int64(end - k - one)
                            break
                        # A NaN is final, so the row needs no more messages. As a branch, this test also
                        # replaces the one in `combine`, which makes the loop 1.4 times as slow.
                        if message != message:
                            break
                    k += one
                if new != old and old == old:  # a NaN is final
                    values[at] = new
                    # If a range of rows begins within a word, its threads can share words.
                    fetch_or(changed, np.intp(at >> six), one << (at & low))
            start, stop = take(ranges, part, MINI_CHUNK)
        return edges

    @compiled
    def after_rows(columns, vertices, kept, degrees, step):
        count = leaving = 0
        for vertex in vertices:
            if after(columns, vertex, step):
                kept[count] = vertex
                count += 1
                leaving += degrees[np.uint64(vertex)]
        return count, leaving

    @compiled
    def after_words(columns, words, degrees, step):
        count = leaving = 0
        for i in range(words.size):
            word = words[i]
            while word:
                bit = trailing_zeros(word)
                word &= word - one
                vertex = (np.uint64(i) << six) | bit
                if after(columns, vertex, step):
                    count += 1
                    leaving += degrees[vertex]
                else:
                    words[i] &= ~(one << bit)
        return count, leaving

    @compiled
    def run_rows(rows, columns, before, frontier, edges, queued, lists, limits, trace):
        offsets, values = rows[0], columns[target]
        first, most, dense, left, shrinking = limits
        ranges, tail = scratch(TURN, np.int64), scratch(1, np.int64)
        ranges[:] = 0
        step = 0
        while frontier.size and step < most and edges <= SMALL_FRONTIER and edges * dense <= left:
            trace[step, 0], trace[step, 1] = frontier.size, edges
            if shrinking:
                left -= edges
            ranges[0], ranges[1], tail[0] = 0, frontier.size, 0
            following = lists[step & 1]
            push_rows(rows, columns, frontier, queued, following, tail, ranges, 0)
            step += 1
            edges = np.int64(0)
            count = 0
            for vertex in following[: tail[0]]:
                at = np.uint64(vertex)
                queued[at >> six] = np.uint64(0)
                before[at] = values[at]
                if after(columns, vertex, first + step):
                    following[count] = vertex
                    count += 1
                    edges += offsets[at + one] - offsets[at]
            frontier = following[:count]
        return step, frontier.size, edges

    return Loops(push_rows, pull_rows, run_rows, after_rows, after_words)


def push(
    program,
    rows,
    columns,
    frontier=None,
    *,
    changed=None,
    threads=1,
    balance="auto",
    leaving=None,
    degrees=None,
    step=None,
):
    check(balance, HOST_POLICIES, frontier=frontier is not None)
    # Convert the frontier to the dtype of the ends, so that a program is compiled for one dtype only.
    dtype = rows.ends.dtype
    if frontier is None:
        frontier = np.arange(len(rows.offsets) - 1, dtype=dtype)
    frontier = in_order(rows, frontier.astype(dtype, copy=False))
    push_rows = kernels(program).push
    size = len(columns[program.target])
    queued = new_words(size) if changed is None else changed
    costs = gather_degrees(rows.offsets, frontier)
    following = np.empty(min(size, int(costs[-1])), dtype)
    tail = np.zeros(1, np.int64)
    threads = min(threads, 1 + int(costs[-1]) // EDGES)
    ranges = turns([0, len(frontier)]) if threads == 1 else frontier_turns(costs, threads)
    given = columns, frontier, queued, following, tail
    counts = []
    for read, part in portions(_read(program, rows), frontier, ranges):
        if threads == 1:  # skip the work sharing, which takes longer than a small superstep
            counts.append((*push_rows(read, *given, part, 0), int(part[2]), 0))
        else:
            done = zip(*run(push_rows, part, read, *given), strict=True)
            counts.append((*map(sum, done), *stolen(part)))
    edges, appends, chunks, steals = map(sum, zip(*counts, strict=True))
    following = following[: tail[0]]
    if step is None:
        return Moved(following, edges, chunks, appends, words=queued, steals=steals)
    assert degrees is not None
    following, leaving = after(program, columns, following, step, degrees)
    return Moved(following, edges, chunks, appends, leaving=leaving, steals=steals)


def pull(
    program,
    rows,
    columns,
    frontier=None,
    *,
    changed=None,
    threads=1,
    balance="auto",
    degrees=None,
    step=None,
):
    check(balance, HOST_POLICIES)
    pull_rows = kernels(program).pull
    if changed is None:
        changed = new_words(len(columns[program.target]))
    ranges = even_turns(len(rows.offsets) - 1, threads, rows.offsets)
    everyone = frontier is None
    words = changed if frontier is None else frontier
    edges = run(pull_rows, ranges, _read(program, rows), columns, words, everyone, changed)
    chunks, steals = stolen(ranges)
    moved = Moved(changed, sum(edges), chunks, steals=steals)
    if step is None:
        return moved
    count, leaving = after_words(program, columns, changed, step, degrees)
    return moved._replace(found=count, leaving=leaving)


class HostRun:
    def __init__(self, program, rows, columns, before=None, shared=None):
        target = columns[program.target]
        self._loop, self._rows = kernels(program).run, _read(program, rows)
        self._columns, self._before = columns, target if before is None else before
        self._queued = new_words(len(target))
        self._lists = np.empty((2, min(len(target), SMALL_FRONTIER)), rows.ends.dtype)
        self._trace = np.empty((SPAN, 2), np.int64)

    def push(self, params, frontier, sizes, first, most, dense):
        frontier = frontier.astype(self._rows.ends.dtype, copy=False)
        steps, count, leaving = self._loop(
            self._rows,
            (*self._columns, *params),
            self._before,
            frontier,
            sizes[1],
            self._queued,
            self._lists,
            (first, min(most, SPAN), *dense),
            self._trace,
        )
        if steps:
            frontier = self._lists[(steps - 1) % 2, :count].copy()
        return frontier, (count, leaving), self._trace[:steps].copy()


def after(program, columns, vertices, step, degrees):
    kept = np.empty_like(vertices)
    count, leaving = kernels(program).after(columns, vertices, kept, degrees, step)
    return kept[:count], leaving


def after_words(program, columns, words, step, degrees):
    count, leaving = kernels(program).after_words(columns, words, degrees, step)
    return count, leaving


def _read(program: HostProgram, rows: Rows) -> Rows:
    """Return rows with weights only if the program reads them, so that no others are compiled for."""
    return rows if program.weighted else Rows(rows.offsets, rows.ends, None, rows.first)


def gather_degrees(offsets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the running total of edges before each of `rows`, followed by the total of all rows."""
    costs = np.empty(len(rows) + 1, np.int64)
    _gather_degrees(offsets, rows, costs)
    return costs


@_compiled
def _gather_degrees(offsets, rows, costs):
    costs[0] = 0
    for i in range(rows.size):
        row = np.uint64(rows[i])
        costs[i + 1] = costs[i] + offsets[row + np.uint64(1)] - offsets[row]


@_compiled
def _to_words(vertices, words):
    for vertex in vertices:
        at = np.uint64(vertex)
        words[at >> np.uint64(6)] |= np.uint64(1) << (at & np.uint64(63))


@_compiled
def _count_words(words):
    count = np.int64(0)
    for word in words:
        count += np.int64(count_ones(word))
    return count


@_compiled
def _sum_words(words, values):
    total = np.int64(0)
    for i in range(words.size):
        word = words[i]
        while word:
            total += np.int64(values[(np.uint64(i) << np.uint64(6)) | trailing_zeros(word)])
            word &= word - np.uint64(1)
    return total


@_compiled
def _from_words(words, vertices):
    count = 0
    for i in range(words.size):
        word = words[i]
        while word:
            vertices[count] = (i << 6) | np.int64(trailing_zeros(word))
            count += 1
            word &= word - np.uint64(1)


def new_words(size: int) -> np.ndarray:
    """Return an empty bitmap of `size` bits, in 64-bit words."""
    return np.zeros(-(-size // 64), np.uint64)


def to_words(vertices, size):
    words = new_words(size)
    _to_words(vertices, words)
    return words


def listed(marks, dtype):
    return np.flatnonzero(marks).astype(dtype, copy=False)


def from_words(words, dtype, count=None):
    vertices = np.empty(int(_count_words(words)) if count is None else count, dtype)
    _from_words(words, vertices)
    return vertices


def tally(words, degrees=None):
    total = 0 if degrees is None else int(_sum_words(words, degrees))
    return int(_count_words(words)), total


def sum_degrees(vertices, degrees):
    return int(degrees[vertices].sum())


new_run = HostRun
