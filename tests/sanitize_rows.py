"""Cases for compute-sanitizer: rows of graphs, and sets of vertices as bitmaps."""

from __future__ import annotations

import contextlib
from unittest import mock

import numpy as np
from sanitize_cases import VERTICES, inner_edges, launches, load_kernels, make_rows, vertex_edges
from scipy import sparse

from dask_graphflow.kernels.csr import Reached


def check_rows(kernels, rows, source, target, weight):
    """Compare rows with a list of edges; where several are one, their weights are sums."""
    matrix = sparse.coo_array((weight, (source, target)), (VERTICES, VERTICES)).tocsr()
    offsets, ends, weights = (kernels.to_host(array) for array in rows[:3])
    if len(ends) == matrix.nnz:
        np.testing.assert_array_equal(offsets, matrix.indptr)
        np.testing.assert_array_equal(ends, matrix.indices)
        np.testing.assert_array_equal(weights, matrix.data)
        return
    order = np.lexsort((target, source))
    np.testing.assert_array_equal(np.diff(offsets), np.bincount(source, minlength=VERTICES))
    np.testing.assert_array_equal(ends, target[order])
    np.testing.assert_array_equal(weights, weight[order])


@launches(
    "row_bins",
    "count_selected",
    "select",
    "count_heads",
    "write_rows",
    "write_weights",
    "count_ids",
)
def rows_made(kernels, parents, ids):
    """Rows with narrow ends and wide ones, in several blocks."""
    rows = load_kernels(kernels, "rows")
    source, target, *ends = inner_edges(kernels, ids)
    columns = VERTICES if parents == "int32" else 1 << 40
    both = np.concatenate([source, target[source != target]])
    others = np.concatenate([target, source[source != target]])
    for dtype in ("int32", "int64", "float32", "float64"):
        weight = np.random.default_rng(1).integers(1, 9, len(source)).astype(dtype)
        given = kernels.namespace.asarray(weight)
        how = {"count": VERTICES, "columns": columns}
        with in_blocks(rows):
            kept = rows.rows(*ends, given, **how)
            summed = rows.rows(*ends, given, **how, undirected=True, multi="sum")
            plain = rows.rows(*ends, **how, first=0)
        check_rows(kernels, kept, source, target, weight)
        doubled = np.concatenate([weight, weight[source != target]])
        check_rows(kernels, summed, both, others, doubled)
        np.testing.assert_array_equal(kernels.to_host(plain.ends), kernels.to_host(kept.ends))
    counts = rows.degrees(ends[0], count=VERTICES)
    np.testing.assert_array_equal(kernels.to_host(counts), np.bincount(source, minlength=VERTICES))


@launches("choose", "count_grains", "part_found", "take_offers")
def shared_out(kernels, parents, ids):
    """Edges dealt to members, and a superstep of a search over two of them."""
    deal, search = (load_kernels(kernels, name) for name in ("partition", "search"))
    source, target, *ends = inner_edges(kernels, ids)
    xp, grains = kernels.namespace, -(-VERTICES // 64)
    owner = np.sort(np.arange(grains) % 3).astype("int16")
    numbers = xp.arange(len(source))
    chosen = next(deal.parted([numbers], *ends, xp.asarray(owner), 3, shift=6))
    for member, found in enumerate(chosen):
        wanted = (owner[source >> 6] == member) | (owner[target >> 6] == member)
        np.testing.assert_array_equal(kernels.to_host(found), np.flatnonzero(wanted))
    without = next(deal.parted([numbers], *ends, xp.asarray(owner), 3, shift=6, but=1))
    assert [len(found) for found in without] == [len(chosen[0]), 0, len(chosen[2])]
    counts = kernels.to_host(deal.count_grains(ends[0], grains, shift=6))
    np.testing.assert_array_equal(counts, np.bincount(source >> 6, minlength=grains))

    owned = VERTICES // 2 // 64 * 64  # the entries after these are mirrors
    own = source < owned
    made = make_rows(kernels, ids, source[own], target[own], count=owned, columns=VERTICES)
    degrees = np.diff(made.offsets)
    seen = xp.zeros(-(-VERTICES // 64), "uint64")
    predecessor = xp.full(VERTICES, np.iinfo(ids).max, ids)
    level = xp.full(VERTICES, -1, "int32")
    state = Reached(seen, predecessor, level), 1, degrees
    frontier = xp.arange(owned).astype(ids)
    found, edges, mirrors = search.reach(
        made, frontier, *state, edges=len(made.ends), low=5, threads=1
    )
    reached = np.unique(target[source < owned])
    everything = np.concatenate([kernels.to_host(found), kernels.to_host(mirrors)])
    np.testing.assert_array_equal(np.sort(everything), reached)
    assert edges == int(kernels.to_host(degrees)[reached[reached < owned]].sum())
    others = np.setdiff1d(np.arange(owned), reached)[:1000].astype(ids)
    fresh, _ = search.take_offers(made, xp.asarray(others), xp.asarray(others), *state)
    np.testing.assert_array_equal(np.sort(kernels.to_host(fresh)), others)


@launches("relabel", "owners")
def rows_changed(kernels, parents, ids):
    rows = load_kernels(kernels, "rows")
    source, target = vertex_edges(ids)
    weight = np.arange(len(source)).astype("float32" if parents == "int32" else "float64")
    made = make_rows(kernels, ids, source, target, weight)
    labels = np.arange(VERTICES)[::-1].astype(ids)
    renamed = rows.relabelled(made, kernels.namespace.asarray(labels.copy()))
    # Ascending by id is descending by these labels.
    back = [kernels.to_host(array) for array in renamed[:3]]
    owners = np.repeat(np.arange(VERTICES), np.diff(back[0]))
    order = np.lexsort((weight, labels[target], source))
    sizes = np.bincount(labels[source], minlength=VERTICES)
    np.testing.assert_array_equal(np.diff(back[0]), sizes)
    where = np.lexsort((back[2], back[1], labels[owners]))
    np.testing.assert_array_equal(back[1][where], labels[target][order])
    np.testing.assert_array_equal(back[2][where], weight[order])
    found = rows.owners(made, ids)
    np.testing.assert_array_equal(kernels.to_host(found), np.sort(source))


@launches(
    "set_words", "count_ones", "write_words", "tally", "sum_degrees", "list_marked", "count_true"
)
def words_made(kernels, parents, ids):
    advance = load_kernels(kernels, "advance")
    for size in (1, 64, VERTICES):
        vertices = np.flatnonzero(np.random.default_rng(size).random(size) < 0.5).astype(ids)
        listed = kernels.namespace.asarray(vertices)
        marks = kernels.namespace.zeros(size, bool)
        marks[listed] = True
        found = kernels.to_host(advance.listed(marks, np.dtype(ids)))
        np.testing.assert_array_equal(np.sort(found), vertices)
        assert found.dtype == ids
        assert kernels.count_true(marks) == len(vertices)
        assert kernels.count_true(marks[1:]) == (vertices > 0).sum()
        words, degrees = advance.to_words(listed, size), kernels.namespace.arange(size) % 7
        leaving = int((vertices % 7).sum())
        assert advance.tally(words, degrees) == (len(vertices), leaving)
        assert advance.tally(words)[0] == len(vertices)
        assert advance.sum_degrees(listed, degrees) == leaving
        for count in (None, len(vertices)):
            found = advance.from_words(words, np.dtype(ids), count)
            np.testing.assert_array_equal(kernels.to_host(found), vertices)


def in_blocks(rows):
    """Make rows of few edges on the device in as many blocks as for many edges."""
    if rows.__name__.endswith("rows.host"):
        return contextlib.nullcontext()
    return mock.patch.object(rows, "SMALLEST", 1)
