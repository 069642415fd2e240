"""Cases for compute-sanitizer: searches, spanning forests and shortest paths."""

from __future__ import annotations

from itertools import product

import numpy as np
from sanitize_cases import VERTICES, hub_rows, inner_edges, launches, load_kernels, whole_matrix
from scipy import sparse

from dask_graphflow.kernels.csr import Reached, Rows
from dask_graphflow.kernels.search import LevelPlan, PullRule


@launches("bfs_pull", "bfs_pull_rest", "bfs_push", "bfs_run", "set_words", "gather_degrees")
def searched(kernels, parents, ids):
    """Levels by push, by pull and in one launch, from a vertex with few edges and from one with most."""
    search, words = load_kernels(kernels, "search"), load_kernels(kernels, "advance")
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
                plan = LevelPlan(
                    VERTICES, len(out.ends), False, PullRule(0, 0, False, -1, -1), None
                )
                given = (out, None, degrees), frontier, *state, plan
                frontier, _, sizes, *_ = search.bfs_levels(*given)
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
    spanning, there = load_kernels(kernels, "spanning"), kernels.namespace.array
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
        load_kernels(kernels, "searches").add_dependencies(
            out, into, kernels.namespace.asarray(sources), scores, endpoints=endpoints
        )
        np.testing.assert_allclose(kernels.to_host(scores), wanted, rtol=1e-12)
    found = load_kernels(kernels, "searches").levels(out, kernels.namespace.asarray(sources))
    distance = sparse.csgraph.dijkstra(ones, indices=sources, unweighted=True)
    distance[np.isinf(distance)] = -1
    np.testing.assert_array_equal(kernels.to_host(found), distance)
    if not hasattr(load_kernels(kernels, "searches"), "paths"):
        return
    several = load_kernels(kernels, "searches").paths(out, into, kernels.namespace.asarray(sources))
    counted = (columns for some in several for columns in zip(*some, strict=True))
    for source, row, (level, sigma, power, _) in zip(sources, distance, counted, strict=True):
        np.testing.assert_array_equal(np.maximum(kernels.to_host(level), -1), row)
        near, edges = level == 1, ones[[source]].toarray()[0]
        # Only vertices that were reached have a number of paths.
        paths = np.ldexp(*(kernels.to_host(column[near]) for column in (sigma, power)))
        np.testing.assert_array_equal(paths, edges[row == 1])


@launches(
    "light_first",
    "relax",
    "relax_on",
    "offer_distances",
    "take_mirrors",
    "measure_piles",
    "least_distance",
    "offer_nearer",
    "bfs_push",
    "bfs_run",
    "weigh",
)
def relaxed(kernels, parents, ids):
    """Shortest paths, many of them along edges with the weight 0."""
    sssp = load_kernels(kernels, "buckets")
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
    buckets = sssp.new_buckets(sssp.light_first(out, 0.75), distance, sources[:1], 0.75)
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
    buckets = sssp.new_buckets(sssp.light_first(own, 0.75), distance, sources[:1], 0.75)
    while buckets.relax(np.inf, 0):
        pass
    mirrors, found = buckets.take_mirrors()
    there = kernels.to_host(distance)[owned:]
    np.testing.assert_array_equal(kernels.to_host(mirrors), np.flatnonzero(np.isfinite(there)))
    np.testing.assert_array_equal(kernels.to_host(found), there[np.isfinite(there)])
    assert 0 <= buckets.lowest_of(found) <= there.min()


@launches("light_first", "relax_on", "offer_distances", "measure_piles")
def settled_again(kernels, parents, ids):
    """Shortest paths along heavy edges, with more settled vertices between two offers than vertices."""
    sssp, xp = load_kernels(kernels, "buckets"), kernels.namespace
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
    buckets = sssp.new_buckets(sssp.light_first(rows, 1.0), distance, xp.asarray([source]), 1.0)
    for nearest in (1000.0, 500.0, 0.0):
        while buckets.relax(np.inf, 0):
            pass
        np.testing.assert_array_equal(kernels.to_host(distance)[:source], nearest + 2 * steps)
        if nearest:
            sooner = 500.0 if nearest > 500 else 0.0
            buckets.offer(xp.asarray([0]), xp.asarray([sooner]))
