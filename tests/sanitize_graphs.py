"""Cases for compute-sanitizer: rows of graphs, advance, searches, shortest paths and ranks."""

from __future__ import annotations

import contextlib
from itertools import product
from unittest import mock

import numpy as np
from sanitize_cases import (
    VERTICES,
    ends_at,
    hub_rows,
    kernels_of,
    launches,
    random_edges,
    whole_matrix,
)
from scipy import sparse

from dask_graphflow.kernels import host_pull
from dask_graphflow.kernels.csr import Reached, Rows
from dask_graphflow.kernels.fixed_point import CHANGES, SUM, units
from dask_graphflow.kernels.policies import KERNELS as POLICIES
from dask_graphflow.programs.edge_op import EdgeOp, with_after
from dask_graphflow.programs.typed import After
from dask_graphflow.programs.vertex_expressions import VertexReader
from dask_graphflow.programs.vertex_program import compiled


def inner_edges(kernels, ids):
    """Return edges whose ends are all vertices, on the host and as arrays of the kernels'."""
    source, target = random_edges(ids)
    inside = (np.minimum(source, target) >= 0) & (np.maximum(source, target) < VERTICES)
    source, target = source[inside], target[inside]
    return source, target, *ends_at(kernels, source, target)


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
    rows = kernels_of(kernels, "rows")
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
    deal, search, rows = (kernels_of(kernels, name) for name in ("partition", "search", "rows"))
    source, target, *ends = inner_edges(kernels, ids)
    xp, grains = kernels.namespace, -(-VERTICES // 64)
    owner = np.sort(np.arange(grains) % 3).astype("int16")
    numbers = xp.arange(len(source))
    chosen = next(deal.parted([numbers], *ends, xp.asarray(owner), 3, shift=6))
    for member, found in enumerate(chosen):
        wanted = (owner[source >> 6] == member) | (owner[target >> 6] == member)
        np.testing.assert_array_equal(kernels.to_host(found), np.flatnonzero(wanted))
    counts = kernels.to_host(deal.count_grains(ends[0], grains, shift=6))
    np.testing.assert_array_equal(counts, np.bincount(source >> 6, minlength=grains))

    owned = VERTICES // 2 // 64 * 64  # the entries after these are mirrors
    own = xp.asarray(np.flatnonzero(source < owned))
    made = rows.rows(ends[0][own], ends[1][own], count=owned, columns=VERTICES)
    made = made._replace(ends=made.ends.astype(ids))
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
    rows = kernels_of(kernels, "rows")
    source, target, *ends = inner_edges(kernels, ids)
    weight = np.arange(len(source)).astype("float32" if parents == "int32" else "float64")
    made = rows.rows(*ends, kernels.namespace.asarray(weight), count=VERTICES)
    made = made._replace(ends=made.ends.astype(ids))
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
    advance = kernels_of(kernels, "advance")
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


@launches("gather_degrees", "uniquify")
def advanced(kernels, parents, ids):
    """A sum and a minimum by every policy; the minimum has conditions and may stop early."""
    rows, advance = kernels_of(kernels, "rows"), kernels_of(kernels, "advance")
    source, target, *ends = inner_edges(kernels, ids)
    out, into = (rows.rows(*pair, count=VERTICES) for pair in (ends, ends[::-1]))
    out, into = (made._replace(ends=made.ends.astype(ids)) for made in (out, into))
    add = EdgeOp("add", target="sum", signal=f"{parents}(src)", slot="add")
    taken = {"cond": "dst % 5 > 0", "first_hit": True}
    least = EdgeOp("least", target="low", signal=f"{parents}(src)", slot="min", **taken)
    frontier = np.arange(0, VERTICES, 3).astype(ids)
    sent = source % 3 == 0
    sums = np.zeros(VERTICES, "int64")
    np.add.at(sums, target[sent], source[sent])
    lows = np.full(VERTICES, 2**30)
    sent &= target % 5 > 0
    np.minimum.at(lows, target[sent], source[sent])
    given = kernels.namespace.asarray(frontier)
    words = advance.to_words(given, VERTICES)
    sizes = np.bincount(source, minlength=VERTICES)[:2000]  # the others are mirrors
    degrees = kernels.namespace.asarray(sizes)
    on_host = kernels.__name__.endswith(".host")
    for balance in ("",) if on_host else POLICIES:
        how = {} if on_host else {"balance": balance, "thresholds": (4, 16)}
        for op, start, wanted in ((add, 0, sums), (least, 2**30, lows)):
            bound = op.bind({op.target: parents}, index_dtype=ids)
            program = bound.host_program if on_host else bound.device_program
            wanted = wanted.astype(parents)
            column = kernels.namespace.full(VERTICES, start, parents)
            moved = advance.pull(program, into, (column,), words, degrees=degrees, **how)
            changed, owned = moved.changed, np.flatnonzero(wanted[: len(degrees)] != start)
            if not on_host:
                assert moved.found == (wanted != start).sum()
                assert (moved.owned, moved.leaving) == (len(owned), sizes[owned].sum())
            np.testing.assert_array_equal(kernels.to_host(column), wanted)
            if balance != "all_edges":
                column = kernels.namespace.full(VERTICES, start, parents)
                moved = advance.push(program, out, (column,), given, degrees=degrees, **how)
                listed = moved.changed
                if not on_host:
                    assert (moved.owned, moved.leaving) == (len(owned), sizes[owned].sum())
                np.testing.assert_array_equal(kernels.to_host(column), wanted)
                assert set(kernels.to_host(listed).tolist()) == set(np.flatnonzero(wanted != start))
            assert advance.tally(changed)[0] == (wanted != start).sum()


@launches()  # advance_run, advance_after and advance_after_words are compiled for each edge program
def pushed_on(kernels, parents, ids):
    """Levels in one call: with a copy of the column that messages read, and until `after` ends them."""
    rows, advance = kernels_of(kernels, "rows"), kernels_of(kernels, "advance")
    source, target, *ends = (side[::4] for side in inner_edges(kernels, ids))  # few enough
    out = rows.rows(*ends, count=VERTICES)
    out = out._replace(ends=out.ends.astype(ids))
    whole = sparse.csr_array((np.ones(len(source)), (source, target)), (VERTICES, VERTICES))
    start = int(np.diff(whole.indptr).argmax())
    levels = sparse.csgraph.dijkstra(whole, indices=start, unweighted=True)
    levels = np.where(np.isfinite(levels), levels, 2**30).astype(parents)
    stop = After(
        ("when",), ("when",), "{when} = step\nreturn step < 7", "{when} = step; return step < 7;"
    )
    into = rows.rows(*ends[::-1], count=VERTICES)
    into = into._replace(ends=into.ends.astype(ids))
    degrees = out.offsets[1:] - out.offsets[:-1]
    size = int(degrees[start])
    first = kernels.namespace.array([start], ids)
    for reads, after in product(("low", "copy"), (None, stop)):
        signal = f"{reads}[src] + {parents}(1)"
        op = EdgeOp("hops", target="low", signal=signal, slot="min")
        op = op if after is None else with_after(op, after)
        bound = op.bind({"low": parents, "copy": parents, "when": "int64"}, index_dtype=ids)
        low = kernels.namespace.full(VERTICES, 2**30, parents)
        low[start] = 0
        columns = {"low": low, "copy": low.copy(), "when": kernels.namespace.zeros(VERTICES, int)}
        given = tuple(columns[name] for name in op.columns)
        program = bound.host_program if kernels.__name__.endswith(".host") else bound.device_program
        before = None if reads == "low" else columns["copy"]
        run = advance.Run(program, out, given, before)
        following, leaving, done = run.push((), first, size, 2, VERTICES, (0, 0, False))
        assert (len(following), leaving) == (0, 0)
        assert done[0].tolist() == [1, size]
        last = 5 if after else levels[levels < 2**30].max()
        if reads == "low":  # a vertex can change twice
            if not after:
                np.testing.assert_array_equal(kernels.to_host(low), levels)
            continue
        wanted = np.where(levels > last, 2**30, levels)
        np.testing.assert_array_equal(kernels.to_host(low), wanted)
        np.testing.assert_array_equal(done[:, 0], np.bincount(levels[levels < last + (not after)]))
        if after:  # the first two supersteps were before the call
            reached = (wanted > 0) & (wanted < 2**30)
            when = np.where(reached, wanted + 2, 0)
            np.testing.assert_array_equal(kernels.to_host(columns["when"]), when)
            listed = kernels.namespace.arange(0, VERTICES, 3).astype(ids)
            kept, leaving = advance.after(program, given, listed, 6, degrees)
            assert sorted(kernels.to_host(kept).tolist()) == list(range(0, VERTICES, 3))
            assert leaving == int(degrees[::3].sum())
            assert len(advance.after(program, given, listed, 7, degrees)[0]) == 0
            words = advance.to_words(listed, VERTICES)
            for step, counts in (6, (len(listed), leaving)), (7, (0, 0)):
                assert advance.after_words(program, given, words, step, degrees) == counts
                assert advance.tally(words)[0] == counts[0]
            for way, step in product(("push", "pull"), (6, 7)):
                columns["low"][:] = columns["copy"]
                move, side = getattr(advance, way), out if way == "push" else into
                moved = move(program, side, given, degrees=degrees, step=step)
                found = moved.changed
                found = advance.from_words(found, np.dtype(ids)) if way == "pull" else found
                further = np.flatnonzero((levels == last + 1) & (step < 7))
                np.testing.assert_array_equal(np.sort(kernels.to_host(found)), further)
                assert moved.leaving == int(kernels.to_host(degrees)[further].sum())


@launches()  # the kernels of vertices.cuh are compiled for each set of expressions
def computed_per_vertex(kernels, parents, ids):
    """Two columns that read each other, and reductions over some of the vertices."""
    vertices = kernels_of(kernels, "vertices")
    rng = np.random.default_rng(4)
    whole = rng.integers(-9, 9, VERTICES).astype(parents)
    real = rng.normal(size=VERTICES).astype("float32" if ids == "int32" else "float64")
    exists = rng.random(VERTICES) < 0.7
    dtypes = {"whole": whole.dtype.name, "real": real.dtype.name}

    def read(text):
        return VertexReader("value", text, dtypes, {"one": parents})

    def given(reads):
        return [
            np.dtype(parents).type(1) if kind == "parameter" else there[value[0]]
            for kind, value in reads
        ]

    there = {"whole": kernels.namespace.array(whole), "real": kernels.namespace.array(real)}
    there_exists = kernels.namespace.asarray(exists)
    for name, wanted in (("whole", whole), ("real", real)):
        dtype = wanted.dtype
        program, reads = compiled((read(name).begin(),))
        found = vertices.largest(program, given(reads), there_exists, dtype)
        assert found.tolist() == [wanted[exists].max()]
        none = kernels.namespace.zeros_like(there_exists)
        assert len(vertices.largest(program, given(reads), none, dtype)) == 0
    program, reads = compiled((read("int64(whole)").begin(),))
    total = vertices.integer_total(program, given(reads), there_exists)
    assert total == int(whole[exists].sum()) % 2**64
    program, reads = compiled(
        (read("float64(real) / 0.0 if whole == 3 else float64(real)").begin(),)
    )
    total = vertices.FloatTotal(program, given(reads), there_exists)
    assert total.wrong == int((exists & (whole == 3)).sum())
    program, reads = compiled((read("float64(real)").begin(),))
    total = vertices.FloatTotal(program, given(reads), there_exists)
    assert (total.wrong, total.largest) == (0, abs(real[exists]).max())
    exponent = int(np.frexp(total.largest)[1])
    high, low = total.parts(exponent, VERTICES)
    coarse, fine = units(1.0, VERTICES)
    np.testing.assert_allclose(
        (high * coarse + low * fine) * 2.0**exponent, real[exists].astype(float).sum(), rtol=1e-12
    )
    trees = read(f"{parents}(real * 4.0) + one").begin(), read(f"{real.dtype}(whole)").begin()
    program, reads = compiled(trees, assigns=True)
    vertices.assign(program, given(reads), [there["whole"], there["real"]])
    wanted = (real * real.dtype.type(4)).astype(parents) + 1
    np.testing.assert_array_equal(kernels.to_host(there["whole"]), wanted)
    np.testing.assert_array_equal(kernels.to_host(there["real"]), whole.astype(real.dtype))


@launches("bfs_pull", "bfs_pull_rest", "bfs_push", "bfs_run", "set_words", "gather_degrees")
def searched(kernels, parents, ids):
    """Levels by push, by pull and in one launch, from a vertex with few edges and from one with most."""
    search, words = kernels_of(kernels, "search"), kernels_of(kernels, "advance")
    out, into = hub_rows(kernels, ids, "float64")
    ones = whole_matrix(kernels, out)
    ones.data[:] = 1
    degrees = out.offsets[1:] - out.offsets[:-1]
    for start, way in product((9, 5), ("push", "pull", "near")):
        wanted = sparse.csgraph.dijkstra(ones, indices=start)
        level = kernels.namespace.full(VERTICES, -1, "int32")
        before = kernels.namespace.full(VERTICES, np.iinfo(ids).max, ids)
        level[start], before[start] = 0, -1
        frontier = kernels.namespace.asarray(np.array([start], ids))
        seen, depth = words.to_words(frontier, VERTICES), 0
        while len(frontier):
            depth += 1
            state = Reached(seen, before, level), depth
            if way == "near":
                how = {"levels": VERTICES, "dense": (0, 0, False)}
                frontier, _, sizes, _ = search.bfs_near(out, frontier, *state, **how)
                depth += len(sizes) - 1
            elif way == "push":
                frontier = search.bfs_push(out, frontier, *state)
                search.mark_seen(seen, frontier)
            else:
                following = words.new_words(VERTICES)
                given = words.to_words(frontier, VERTICES), following
                count, leaving = search.bfs_pull(into, *given, *state, degrees)
                assert (count, leaving) == words.tally(following, degrees)
                frontier = words.from_words(following, np.dtype(ids))
        found = kernels.to_host(level)
        np.testing.assert_array_equal(found, np.where(np.isfinite(wanted), wanted, -1))
        least = np.full(VERTICES, np.iinfo(ids).max)
        owners = np.repeat(np.arange(VERTICES), np.diff(ones.indptr))
        tight = (found[owners] >= 0) & (found[owners] + 1 == found[ones.indices])
        np.minimum.at(least, ones.indices[tight], owners[tight])
        least[start] = -1
        np.testing.assert_array_equal(kernels.to_host(before), least)


def contributions(matrix, source):
    """Return what each vertex contributes to the shortest paths from a source, as floats."""
    level = sparse.csgraph.dijkstra(matrix, indices=source, unweighted=True)
    paths, through = (level == 0).astype(float), np.zeros(VERTICES)
    levels = [level == depth for depth in range(int(level[np.isfinite(level)].max()) + 1)]
    for here in levels[1:]:
        paths[here] = (matrix.T @ (paths * (level == level[here][0] - 1)))[here]
    for depth, here in reversed([*enumerate(levels)][1:-1]):
        told = np.zeros(VERTICES)
        behind = levels[depth + 1]
        told[behind] = (1 + through[behind]) / paths[behind]
        through[here] = ((matrix @ told) * paths)[here]
    return through, np.isfinite(level)


@launches("join_components")
def spanned(kernels, parents, ids):
    """A minimum spanning forest of edges of few weights, in two parts, and of a path in many rounds."""
    spanning, there = kernels_of(kernels, "spanning"), kernels.namespace.array
    source, target, *_ = inner_edges(kernels, ids)
    source, target = source[source != target], target[source != target]
    few = np.random.default_rng(2).integers(0, 9, len(source))
    path = np.arange(VERTICES, dtype=ids)
    graphs = (source, target, few), (path[:-1], path[1:], path[:0:-1])
    for source, target, key in graphs:
        key = key.astype(f"u{parents}")
        component = np.arange(VERTICES, dtype=ids)
        taken = kernels.namespace.zeros(len(source), bool)
        for part in (key < 4, key >= 4):
            at = np.flatnonzero(part & (component[source] != component[target]))
            ends = component[source[at]], component[target[at]]
            joined = there(component)
            spanning.join_components(joined, *map(there, (*ends, key[at], at)), taken)
            component = kernels.to_host(joined)
        order = np.lexsort((np.arange(len(key)), key))
        ranks = np.empty(len(key))
        ranks[order] = np.arange(1, len(key) + 1)
        # Of parallel edges, in both directions, the first one counts.
        low, high = np.minimum(source, target), np.maximum(source, target)
        firsts = np.lexsort((ranks, high, low))
        new = np.append(True, (np.diff(low[firsts]) != 0) | (np.diff(high[firsts]) != 0))
        firsts = firsts[new]
        whole = sparse.csr_array((ranks[firsts], (low[firsts], high[firsts])), (VERTICES, VERTICES))
        wanted = sparse.csgraph.minimum_spanning_tree(whole)
        assert sorted(ranks[kernels.to_host(taken)]) == sorted(wanted.data)
        count, labels = sparse.csgraph.connected_components(whole, directed=False)
        assert len(set(zip(labels.tolist(), component.tolist(), strict=True))) == count


@launches("search")
def led_through(kernels, parents, ids):
    """A vertex with a row of several pieces, as a source or behind one; some sources share a launch."""
    out, into = hub_rows(kernels, ids, "float64")
    ones, sources = whole_matrix(kernels, out), np.array([9, 5, 3, 7])
    ones.data[:] = 1
    for endpoints in (False, True):
        scores = kernels.namespace.zeros(VERTICES)
        wanted = np.zeros(VERTICES)
        for source in sources:
            through, reached = contributions(ones, source)
            wanted += through + endpoints * reached
            wanted[source] += endpoints * (reached.sum() - 2)
        kernels_of(kernels, "searches").add_dependencies(
            out, into, kernels.namespace.asarray(sources), scores, endpoints=endpoints
        )
        np.testing.assert_allclose(kernels.to_host(scores), wanted, rtol=1e-12)
    found = kernels_of(kernels, "searches").levels(out, kernels.namespace.asarray(sources))
    distance = sparse.csgraph.dijkstra(ones, indices=sources, unweighted=True)
    distance[np.isinf(distance)] = -1
    np.testing.assert_array_equal(kernels.to_host(found), distance)
    if not hasattr(kernels_of(kernels, "searches"), "paths"):
        return
    counted = kernels_of(kernels, "searches").paths(out, into, kernels.namespace.asarray(sources))
    for source, row, (level, sigma, power, _) in zip(sources, distance, counted, strict=True):
        np.testing.assert_array_equal(np.maximum(kernels.to_host(level), -1), row)
        near, edges = level == 1, ones[[source]].toarray()[0]
        # Only vertices that were reached have a number of paths.
        paths = np.ldexp(*(kernels.to_host(column[near]) for column in (sigma, power)))
        np.testing.assert_array_equal(paths, edges[row == 1])


@launches(
    "sum_contributions",
    "sum_weighted",
    "row_totals",
    "shares",
    "apply_sums",
    "sum_batch",
    "sum_weighted_batch",
    "apply_batch",
)
def ranked(kernels, parents, ids):
    pagerank, scores = kernels_of(kernels, "pull"), kernels_of(kernels, "scores")
    there, rng = kernels.namespace.asarray, np.random.default_rng(4)
    for precision in ("float32", "float64"):
        _, into = hub_rows(kernels, ids, "float32" if parents == "int32" else "float64")
        given = (2.0**40 * rng.random(VERTICES)).astype(precision)
        owners = np.repeat(np.arange(VERTICES), np.diff(kernels.to_host(into.offsets)))
        near = given[kernels.to_host(into.ends)].astype("float64")
        for one, terms in (
            (into._replace(weights=None), near),
            (into, near * kernels.to_host(into.weights)),
        ):
            wanted = np.zeros(VERTICES, "int64")
            np.add.at(wanted, owners, terms.astype("int64"))
            sums, totals = kernels.namespace.zeros(VERTICES, "int64"), scores.RunningTotals()
            pagerank.sum_contributions(one, there(given), sums, totals)
            np.testing.assert_array_equal(kernels.to_host(sums), wanted)
            assert totals.read()[SUM] == wanted.sum()
            for width in (1, 5, 16):
                told = np.stack([given.astype("float64")] * width, axis=1)
                several = kernels.namespace.zeros((VERTICES, width), "int64")
                pagerank.sum_batch(one, there(told), several)
                for column in kernels.to_host(several).T:
                    np.testing.assert_array_equal(column, wanted)
        parts = {name: kernels.to_host(getattr(into, name)) for name in ("offsets", "weights")}
        totals = host_pull.row_totals(into._replace(**parts))
        np.testing.assert_allclose(
            totals, np.bincount(owners, parts["weights"], VERTICES), rtol=1e-12
        )
        np.testing.assert_array_equal(kernels.to_host(pagerank.row_totals(into)), totals)
        rank, contribution = (kernels.namespace.zeros(VERTICES, precision) for _ in range(2))
        shares = there(rng.integers(0, 2, VERTICES).astype(precision))
        part = 2.0**-12  # a rank; they are to sum to 1 at most
        restart = there(np.array([part]))
        for leaving in (rng.integers(0, 3, VERTICES), 1e-300 * rng.integers(0, 3, VERTICES)):
            share = kernels.namespace.empty(VERTICES, precision)
            counts = pagerank.shares(there(leaving), 1e-20, share)
            ends = np.count_nonzero(leaving == 0)
            fits = leaving.dtype.kind == "i"
            assert counts == (0 if fits else VERTICES - ends, ends)
            with np.errstate(divide="ignore"):
                wanted = np.where(leaving > 0, 2.0**62 / leaving if fits else np.nan, 0)
            np.testing.assert_array_equal(kernels.to_host(share), wanted.astype(precision))
        totals = scores.RunningTotals()
        pagerank.apply_sums(
            sums * 0, rank, shares, contribution, restart, None, 0.75, 1 / 3, totals
        )
        assert (totals.read()[CHANGES] / pagerank.CHANGE).tolist() == [
            part / 2 * VERTICES,
            part / 2 * (VERTICES - float(shares.sum())),
        ]
        np.testing.assert_array_equal(
            kernels.to_host(contribution), kernels.to_host(shares) * rank.dtype.type(part / 2)
        )
        several, told = (kernels.namespace.zeros((VERTICES, 5), "float64") for _ in range(2))
        at, base = np.array([-1, 7, 0, -1, VERTICES - 1]), np.array([1, 0.5, 0.25, 1, 1])
        wide = shares.astype("float64")
        nothing = kernels.namespace.zeros((VERTICES, 5), "int64")
        totals = pagerank.apply_batch(nothing, several, wide, told, there(at), base, 0.85)
        wanted = np.zeros((VERTICES, 5))
        wanted[at, range(5)] = base * (at >= 0)
        np.testing.assert_array_equal(kernels.to_host(several), wanted)
        owned = kernels.to_host(wide)[:, None]
        np.testing.assert_array_equal(kernels.to_host(told), wanted * owned)
        sinks = wanted * (owned == 0)
        np.testing.assert_array_equal(
            totals / pagerank.CHANGE, [wanted.sum(axis=0), sinks.sum(axis=0)]
        )


@launches("total", "combine", "scale")
def scored(kernels, parents, ids):
    """New scores from sums, divided by their norm or their total, and the sum of any values."""
    scores, there = kernels_of(kernels, "scores"), kernels.namespace.asarray
    whole = np.random.default_rng(4).integers(0, 2**40, VERTICES)
    high, low, wrong = scores.total(there(whole / 2.0), 2.0**39, VERTICES)
    coarse, fine = units(2.0**39, VERTICES)
    assert (high * coarse + low * fine, wrong) == (whole.sum() / 2, 0)
    for precision in ("float32", "float64"):
        for sums in (whole, whole / 1.0):
            old, new, wide = (kernels.namespace.ones(VERTICES, "float64") for _ in range(3))
            totals, squares = scores.RunningTotals(), units(2.0**82, VERTICES)
            scores.combine(there(sums.copy()), old, 3.0, 2.0, new, squares, totals)
            wanted = 3 + 2.0 * whole
            np.testing.assert_array_equal(kernels.to_host(new), wanted)
            wide = wide.astype(precision)
            scores.scale(new, old, wide, squares, 7.0, 0.0, 1.0, VERTICES, totals)
            wanted /= np.linalg.norm(wanted)
            np.testing.assert_allclose(kernels.to_host(old), wanted, rtol=1e-13)
            unit = 2.0 ** (np.frexp(7 * wanted.max())[1] - 61)
            np.testing.assert_allclose(kernels.to_host(wide), wanted / unit, rtol=1e-6)
            high, low = totals.read()[CHANGES].tolist()
            coarse, fine = units(1.0, VERTICES)
            np.testing.assert_allclose(high * coarse + low * fine, (1 - wanted).sum(), rtol=1e-12)
        totals.write(np.array([int(whole.sum()), *[0] * 6]))
        scores.scale(there(whole.copy()), old, wide, squares, 0.0, 1.0, 1.0, VERTICES, totals)
        np.testing.assert_array_equal(kernels.to_host(old), whole / whole.sum())


@launches(
    "light_first",
    "relax",
    "relax_on",
    "offer_distances",
    "take_mirrors",
    "measure_piles",
    "least_distance",
    "offer_nearer",
    "bfs_push_weightless",
    "bfs_run_weightless",
    "weigh",
)
def relaxed(kernels, parents, ids):
    """Shortest paths, many of them along edges with the weight 0."""
    sssp = kernels_of(kernels, "buckets")
    out, _ = hub_rows(kernels, ids, "float32" if parents == "int32" else "float64")
    if hasattr(sssp, "weigh"):
        weights = kernels.to_host(out.weights)
        assert sssp.weigh(out.weights) == (0, weights.mean(dtype="float64"))
    owners = np.repeat(np.arange(VERTICES), np.diff(kernels.to_host(out.offsets)))
    ends, weights = kernels.to_host(out.ends), kernels.to_host(out.weights).astype("float64")
    wanted = np.full(VERTICES, np.inf)
    sources = np.array([5, 9])
    wanted[sources] = 0
    for _ in range(VERTICES):
        old = wanted.copy()
        np.minimum.at(wanted, ends, wanted[owners] + weights)
        if (old == wanted).all():
            break
    distance = np.full(VERTICES, np.inf)
    distance[sources[0]] = 0
    distance, sources = kernels.namespace.asarray(distance), kernels.namespace.asarray(sources)
    buckets = sssp.Buckets(sssp.light_first(out, 0.75), distance, sources[:1], 0.75)
    for _ in range(2):  # the second source is offered once the first one has reached all it can
        while buckets.relax(np.inf, 0):
            pass
        buckets.offer(sources[1:], kernels.namespace.zeros(1))
    np.testing.assert_array_equal(kernels.to_host(distance), wanted)
    before = kernels.to_host(sssp.predecessors(out, distance, sources))
    reached = np.isfinite(wanted)
    reached[[5, 9]] = False
    np.testing.assert_array_equal(before != np.iinfo(before.dtype).max, reached)
    tight = set(
        zip(
            *(side[wanted[owners] + weights == wanted[ends]] for side in (owners, ends)),
            strict=True,
        )
    )
    assert tight.issuperset((int(before[v]), v) for v in np.flatnonzero(reached))
    # A member that owns the first half of the vertices, and mirrors the others.
    owned, edges = VERTICES // 2, int(out.offsets[VERTICES // 2])
    own = out._replace(
        offsets=out.offsets[: owned + 1], ends=out.ends[:edges], weights=out.weights[:edges]
    )
    distance[:] = np.inf
    distance[sources[:1]] = 0
    buckets = sssp.Buckets(sssp.light_first(own, 0.75), distance, sources[:1], 0.75)
    while buckets.relax(np.inf, 0):
        pass
    mirrors, found = buckets.take_mirrors()
    there = kernels.to_host(distance)[owned:]
    np.testing.assert_array_equal(kernels.to_host(mirrors), np.flatnonzero(np.isfinite(there)))
    np.testing.assert_array_equal(kernels.to_host(found), there[np.isfinite(there)])
    assert 0 <= buckets.lowest_of(found) <= there.min()


@launches("light_first", "relax_on", "offer_distances", "measure_piles", "least_distance")
def settled_again(kernels, parents, ids):
    """Shortest paths along heavy edges, with more settled vertices between two offers than vertices."""
    sssp, xp = kernels_of(kernels, "buckets"), kernels.namespace
    # From i to i + 1 and, at more than twice the distance, to i + 2; and far from the source to 0.
    steps = np.arange(80)
    source = len(steps)
    owners = np.concatenate([steps[:-1], steps[:-2], [source]])
    ends = np.concatenate([steps[1:], steps[2:], [0]]).astype(parents)
    weights = np.concatenate([np.full(79, 2.0), np.full(78, 5.0), [1000.0]])
    order = np.argsort(owners, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners))])
    rows = Rows(*(xp.asarray(array) for array in (offsets, ends[order], weights[order])), 0)
    distance = xp.full(source + 1, np.inf)
    distance[source] = 0
    buckets = sssp.Buckets(sssp.light_first(rows, 1.0), distance, xp.asarray([source]), 1.0)
    for nearest in (1000.0, 500.0, 0.0):
        while buckets.relax(np.inf, 0):
            pass
        np.testing.assert_array_equal(kernels.to_host(distance)[:source], nearest + 2 * steps)
        if nearest:
            sooner = 500.0 if nearest > 500 else 0.0
            buckets.offer(xp.asarray([0]), xp.asarray([sooner]))


def in_blocks(rows):
    """Make rows of few edges on the device in as many blocks as for many edges."""
    if rows.__name__.endswith("host_rows"):
        return contextlib.nullcontext()
    return mock.patch.object(rows, "SMALLEST", 1)
