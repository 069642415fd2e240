"""Connected components on the host: a team of threads hooks and compresses in one call."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels import is_on_disk
from dask_graphflow.kernels.common.host import compress_range, unite
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_atomics import fetch_add, prefetch
from dask_graphflow.kernels.host_teams import OWN, begin, end, enter, together

VOTERS = 1 << 10  # about the number of vertices whose trees are counted to find a large one
AHEAD = 16  # rows whose edges are asked for before they are read
JOINED = 1 << 16  # rows per member at least: with fewer, a thread starts too late to help
CHUNK = 1 << 11  # rows that a member of a team takes at a time
SAMPLE = 16  # the last edge of one row in 16 is hooked, unless no tree has SOME of the vertices
SOME, MOST = 0.05, 0.98  # parts of the vertices
# Where a team has the next row that no member has taken, the largest tree, the step, and the votes.
NEXT, TREE, STEP, VOTES = OWN, OWN + 8, OWN + 9, OWN + 16
# The steps; after each, all trees are compressed.
SMALLEST, SOME_LAST, LAST, ALL, DONE = 1, 3, 5, 7, 9


@_inner
def _join_smallest(offsets, ends, parent, start, stop):
    """Point each vertex at its first neighbor, or at that one's parent, if it is smaller.

    No other thread writes these entries. The trees within the range stay flat.
    """
    for vertex in range(start, stop):
        if vertex + AHEAD < stop:
            prefetch(ends, np.intp(offsets[vertex + AHEAD]))
        edge, least = offsets[vertex], parent.dtype.type(vertex)
        if edge < offsets[vertex + 1]:
            least = min(least, ends[edge])
        parent[vertex] = parent[least] if start <= least < vertex else least


@_inner
def _join_edges(offsets, ends, parent, tree, most, step, start, stop):
    """Hook up to `most` edges from the end of every `step`-th row, unless its parent is `tree`."""
    for row in range(start, stop, step):
        if row + AHEAD * step < stop:
            prefetch(ends, np.intp(offsets[row + AHEAD * step + 1] - 1))
        if parent[row] != tree:
            last = offsets[row + 1]
            for edge in range(max(offsets[row], last - most), last):
                a = parent[row]
                b = parent[ends[edge]]
                if a != b:
                    unite(parent, a, b)


@_inner
def _vote(parent, team):
    """Return the parent of most of about :data:`VOTERS` vertices, and the part of them that have it.

    Votes are counted by the last bits of the parents, because Numba takes two seconds to compile a sort.
    The winner is the parent that more than half of the voters in the fullest bucket have.
    """
    step, bits, best, tree, lead, most = 1 + parent.size // VOTERS, VOTERS - 1, 0, 0, 0, 0
    for bucket in range(VOTES, VOTES + VOTERS):
        team[bucket] = 0
    for vertex in range(0, parent.size, step):
        bucket = VOTES + (parent[vertex] & bits)
        team[bucket] += 1
        if team[bucket] > team[VOTES + best]:
            best = bucket - VOTES
    for vertex in range(0, parent.size, step):
        if parent[vertex] & bits == best:
            if lead == 0:
                tree = parent[vertex]
            lead += 1 if parent[vertex] == tree else -1
    for vertex in range(0, parent.size, step):
        most += parent[vertex] == tree
    return tree, most * step / parent.size


@_inner
def _choose_step(parent, samples, team):
    """Set the next step, and the largest tree before each that hooks edges."""
    step = team[STEP] + 1
    if step in (SOME_LAST, LAST, ALL):
        team[TREE], votes = _vote(parent, team)
        # A sample cannot grow the largest tree, or it has nearly all vertices.
        if step == SOME_LAST and (not samples or votes < SOME):
            step = LAST
        if step == LAST and (not samples or votes > MOST):
            step = ALL
    team[STEP], team[NEXT] = step, 0


@_compiled
def _join_rows(offsets, ends, parent, how, team, part):
    """Point each vertex at the smallest vertex of its component: a few edges per row, then the rest."""
    me, met = enter(team, part)
    if me < 0:
        return
    rows, (samples, both, chunk) = parent.size, how
    while True:
        if me == 0:
            _choose_step(parent, samples, team)
        begin(team, me, met)
        step = team[STEP]
        if step == DONE:
            return
        hooks = step in (SOME_LAST, LAST, ALL)
        size = CHUNK if hooks else chunk
        skipped, most = (team[TREE] if both else -1, ends.size) if step == ALL else (-1, 1)
        every = SAMPLE if step == SOME_LAST else 1
        start = fetch_add(team, np.intp(NEXT), np.int64(size))
        while start < rows:
            stop = min(start + size, rows)
            if hooks:
                _join_edges(offsets, ends, parent, skipped, most, every, start, stop)
            elif step == SMALLEST:
                _join_smallest(offsets, ends, parent, start, stop)
            else:
                compress_range(parent, start, stop)
            start = fetch_add(team, np.intp(NEXT), np.int64(size))
        _, met = end(team, me)


def join_rows(rows, *, both=True, threads=1, forests=None):
    parent = np.empty(len(rows.offsets) - 1, rows.ends.dtype)
    # On disk, another pass over the rows takes longer than the edges that it saves.
    samples = not is_on_disk(rows.ends)
    if len(rows.ends):
        members = min(threads, len(parent) // JOINED + 1)
        # Trees within a range stay flat, so a single member takes all rows at once.
        chunk = len(parent) if members == 1 else len(parent) // (8 * members) + 1
        how = samples, both, chunk
        together(_join_rows, members, rows.offsets, rows.ends, parent, how, own=16 + VOTERS)
    else:
        parent[:] = np.arange(len(parent))
    return parent
