"""Cases for compute-sanitizer: two members that share memory. Here, both use the same device in turn.

A member does not wait for one that has told before, so the members meet in turn as well.
"""

from __future__ import annotations

import itertools
from functools import partial
from types import SimpleNamespace

import numpy as np
from sanitize_cases import VERTICES, hub_rows, launches, load_kernels
from sanitize_groups import both_ways, one_sweep, owners_of

from dask_graphflow.kernels.buckets import LISTS, SharedBuckets
from dask_graphflow.kernels.csr import Reached, Rows
from dask_graphflow.kernels.groups import SharedGroups
from dask_graphflow.kernels.search import SharedSearch
from dask_graphflow.programs.edge_op import EdgeOp


def in_turn(kernels, bounds):
    """Return what each member shares, and the mail of each."""
    from dask_graphflow.kernels import device_peers

    mail = kernels.namespace.zeros((2, 1024), "int64")
    met = kernels.namespace.zeros(2, "int64")
    stop = device_peers.Stop()
    memories = []
    for rank in range(2):
        gang = device_peers.gang(rank, 2, bounds)
        gang["mail"][:2] = [member.data.ptr for member in mail]
        gang["meetings"], gang["stopped"] = met[rank:].data.ptr, stop.pointer
        kept = {"met": met, "stop": stop}  # the device uses it by its address
        memories.append(SimpleNamespace(gang=gang, check=lambda failed: None, **kept))
    return memories, mail


def shared(kernels, *columns):
    """Return columns of two members: arrays, each with its rows for one member."""
    from dask_graphflow.kernels import device_peers

    pointers = [
        np.array([own.data.ptr for own in column] + [0] * 14, "uint64") for column in columns
    ]
    return [
        [
            device_peers.Column(column[rank], at)
            for column, at in zip(columns, pointers, strict=True)
        ]
        for rank in range(2)
    ]


@launches("bfs_push_to_all", "meet")
def searched_by_two(kernels, parents, ids):
    """A level that both members push to the vertices of both."""
    search, xp = load_kernels(kernels, "search"), kernels.namespace
    if not hasattr(search, "bfs_push_to_all"):  # members on the host send messages
        return
    out, _ = hub_rows(kernels, ids)
    low = VERTICES // 2 // 64 * 64
    bounds, most = [0, low, VERTICES], VERTICES - low
    memories, mail = in_turn(kernels, bounds)
    never = np.iinfo(ids).max
    columns = shared(
        kernels,
        xp.zeros((2, most), ids),
        xp.full((2, most), never, ids),
        xp.full((2, most), -1, "int32"),
        xp.zeros((2, most), "int64"),
        xp.zeros((2, -(-VERTICES // 64)), "uint64"),
    )
    members, offsets = [], kernels.to_host(out.offsets)
    for rank, (begin, end) in enumerate(itertools.pairwise(bounds)):
        first, last = int(offsets[begin]), int(offsets[end])
        rows = Rows(out.offsets[begin : end + 1] - first, out.ends[first:last], None, 0)
        columns[rank][3].own[: end - begin] = rows.offsets[1:] - rows.offsets[:-1]
        members.append((rows, SharedSearch(memories[rank], *columns[rank])))
    mail[0].view("uint32")[3] = 1  # the second member has met the first one, and found nothing
    totals = []
    for rank, (rows, both) in enumerate(members):
        frontier = xp.arange(0, len(rows.offsets) - 1, 40).astype(ids)
        both.end, both._last = len(frontier), frontier
        both.lists.own[: both.end] = frontier
        mail[rank][0] += both.end
        state = Reached(xp.zeros(-(-most // 64), "uint64"), both.predecessors.own, both.levels.own)
        totals.append(search.bfs_push_to_all(rows, frontier, state, 1, shared=both)[1])
    matrix_rows = np.repeat(np.arange(VERTICES), np.diff(offsets))
    fronts = np.concatenate([np.arange(0, low, 40), low + np.arange(0, VERTICES - low, 40)])
    ends = kernels.to_host(out.ends)
    used = np.isin(matrix_rows, fronts)
    wanted = np.full(VERTICES, never)
    np.minimum.at(wanted, ends[used], matrix_rows[used])
    found = [kernels.to_host(both.predecessors.own) for _, both in members]
    np.testing.assert_array_equal(np.concatenate([found[0][:low], found[1]]), wanted)
    reached = np.flatnonzero(wanted != never)
    assert totals[1] == (len(reached), int(np.diff(offsets)[reached].sum()))


@launches("spread")
def spread_by_two(kernels, parents, ids):
    """Each member writes the bitmap of its vertices to both members."""
    if kernels.__name__.endswith(".host"):  # members on the host send messages
        return
    from dask_graphflow.kernels import device_peers

    xp, words = kernels.namespace, 40
    memories, _ = in_turn(kernels, [0, 64 * words, 2 * 64 * words - 5])
    every = xp.zeros((2, 2 * words), "uint64")
    columns = shared(kernels, every)
    for rank in range(2):
        own = xp.arange(words, dtype="uint64") + words * rank
        device_peers.spread(memories[rank].gang, own, columns[rank][0])
    np.testing.assert_array_equal(kernels.to_host(every), [np.arange(2 * words)] * 2)


@launches("publish", "meet")
def published_by_two(kernels, parents, ids):
    """Each member sends entries to the other one: all of its own, and those that the other one reads."""
    if kernels.__name__.endswith(".host"):  # members on the host send messages
        return
    from dask_graphflow.kernels import device_peers

    xp, owned = kernels.namespace, 700
    for precision in ("float32", "float64"):
        memories, mail = in_turn(kernels, [0, owned, 2 * owned])
        wide = xp.zeros((2, 2 * owned), precision)
        wide[:, :owned] = xp.arange(1, 2 * owned + 1).reshape(2, owned)
        columns = shared(kernels, wide)
        mail[0].view("uint32")[3] = 2  # the second member has met the first one twice
        some = xp.arange(0, owned, 3).astype(ids)[::-1].copy()
        for rank, which in enumerate((None, some)):
            whiches: list = [None, None]
            whiches[1 - rank] = which
            (column,) = columns[rank]
            device_peers.SharedMirrors(memories[rank], whiches, owned, [owned] * 2).send(column)
        found = kernels.to_host(wide)
        np.testing.assert_array_equal(found[1, owned:], np.arange(1, owned + 1))
        wanted = np.zeros(owned)
        wanted[: len(some)] = owned + 1 + kernels.to_host(some)
        np.testing.assert_array_equal(found[0, owned:], wanted)


@launches("peel_all")
def given_up_in_a_meeting(kernels, parents, ids):
    """A member gives up in a meeting, and its kernel looks only after the next one, which is complete."""
    peel, xp = load_kernels(kernels, "peel"), kernels.namespace
    if not hasattr(peel, "peel_all"):  # members on the host send messages
        return
    out, _ = hub_rows(kernels, ids)
    low = VERTICES // 2 // 64 * 64
    (memory, _), mail = in_turn(kernels, [0, low, VERTICES])
    (counts, lists), _ = shared(
        kernels, xp.ones((2, VERTICES - low), "int64"), xp.zeros((2, VERTICES - low), ids)
    )
    last, outcomes = int(out.offsets[low]), []
    rows = Rows(out.offsets[: low + 1], out.ends[:last], None, 0)
    mail[0].view("uint32")[3] = 1 << 20  # the second member has met the first one in every meeting
    memory.met[0] = 62  # in every 64th meeting, a member looks whether to give up
    memory.stop.set()
    memory.check = outcomes.append
    core = xp.full(low, -1, "int32")
    peel.peel_all(rows, counts, core, lists, memory=memory)
    assert outcomes == [1]
    assert (kernels.to_host(core) == -1).all()


OWNED = 1000, 900  # vertices of two members, of which one has no whole number of words
MIRRORED = (
    np.arange(3, 1000, 7),
    np.arange(0, 900, 2),
)  # the vertices of each that the other one mirrors
SIZES = OWNED[0] + len(MIRRORED[1]), OWNED[1] + len(MIRRORED[0])
FIRST_BITS = 1 << np.arange(64, dtype="uint64")


def words_of(marks):
    """Return a bitmap in words, whose size is that of the larger member."""
    bits = np.zeros((-(-max(SIZES) // 64), 64), bool)
    bits.flat[: len(marks)] = marks
    return (bits * FIRST_BITS).sum(axis=1, dtype="uint64")


def unmarked(words, size):
    return np.unpackbits(words.view("uint8"), bitorder="little")[:size].astype(bool)


@launches("publish", "publish_marks", "take_changes", "meet")
def published_to_mirrors(kernels, parents, ids):
    """Entries that changed, and marks, of two members that mirror some vertices of each other."""
    if kernels.__name__.endswith(".host"):  # members on the host send messages
        return
    from dask_graphflow.kernels.device_peers import SharedMirrors

    xp, rng = kernels.namespace, np.random.default_rng(3)
    memories, mail = in_turn(kernels, [0, OWNED[0], sum(OWNED)])
    for dtype in (parents, "bool"):
        # The second member has met the first one as often as asked.
        mail[0].view("uint32")[3] = 100
        wide, marks = xp.zeros((2, max(SIZES)), dtype), xp.zeros((2, len(words_of([]))), "uint64")
        columns = shared(kernels, wide, marks)
        new = [rng.integers(0, 2, owned).astype(dtype) for owned in OWNED]
        old = [
            np.where(rng.random(owned) < 0.5, some, 0)
            for owned, some in zip(OWNED, new, strict=True)
        ]
        marked = [rng.random(owned) < 0.3 for owned in OWNED]
        for rank in range(2):
            wide[rank, : OWNED[rank]] = xp.asarray(old[rank].astype(dtype))
            marks[rank] = xp.asarray(words_of(marked[rank]))
        for rank, (column, front) in enumerate(columns):
            which = [xp.asarray(MIRRORED[rank].astype(ids)) for _ in range(2)]
            which[rank] = which[rank][:0]
            mirrors = SharedMirrors(memories[rank], which, OWNED[rank], OWNED)
            mirrors.update(xp.asarray(new[rank]), column, front.own[: -(-OWNED[rank] // 64)].copy())
            mirrors.send_marks(front)
            floats = shared(kernels, xp.full((2, max(SIZES)), rank, "float32"))
            mirrors.publication(floats[rank][0]).send()
            assert float(floats[1 - rank][0].own.sum()) == rank * max(SIZES)
        for rank, other in ((0, 1), (1, 0)):
            sent = marked[other] | (old[other] != new[other])
            wanted = np.where(sent, new[other], 0)[MIRRORED[other]]
            wanted = np.concatenate([new[rank], wanted])
            np.testing.assert_array_equal(kernels.to_host(wide[rank, : SIZES[rank]]), wanted)
            wanted = np.concatenate([marked[rank], marked[other][MIRRORED[other]]])
            found = unmarked(kernels.to_host(marks[rank]), SIZES[rank])
            np.testing.assert_array_equal(found, wanted)


@launches()  # advance_deliver is compiled for each edge program
def delivered_to_owners(kernels, parents, ids):
    """What the mirrors of two members have gathered, with every slot."""
    if kernels.__name__.endswith(".host"):
        return
    advance, xp, rng = load_kernels(kernels, "advance"), kernels.namespace, np.random.default_rng(4)
    memories, _ = in_turn(kernels, [0, OWNED[0], sum(OWNED)])
    slots = [MIRRORED[1] + OWNED[0], MIRRORED[0]]
    combine = {"min": np.minimum, "max": np.maximum, "add": np.add, "or": np.bitwise_or}
    for slot, dtype in (
        *((slot, parents) for slot in combine),
        ("min", "float32"),
        ("max", "float64"),
    ):
        op = EdgeOp("sent", target="value", signal="value[src]", slot=slot)
        program = op.bind({"value": dtype}, index_dtype="int32").device_program
        before = rng.integers(0, 50, (2, max(SIZES))).astype(dtype)
        wide, marks = xp.asarray(before), xp.zeros((2, len(words_of([]))), "uint64")
        columns = shared(kernels, wide, marks)
        wanted = before.copy()
        changed = [rng.random(size) < 0.6 for size in SIZES]
        marked = [part[:owned].copy() for part, owned in zip(changed, OWNED, strict=True)]
        for rank, other in ((0, 1), (1, 0)):
            sent = np.flatnonzero(changed[rank][OWNED[rank] :])
            at, values = MIRRORED[other][sent], before[rank, OWNED[rank] + sent]
            new = combine[slot](wanted[other, at], values)
            marked[other][at] |= (new != wanted[other, at]) | (slot == "add")
            wanted[other, at], wanted[rank, OWNED[rank] + sent] = new, 7
        for rank, (target, marked_there) in enumerate(columns):
            positions = rng.permutation(np.flatnonzero(changed[rank])).astype("int32")
            there = xp.asarray(positions), xp.asarray(slots[rank].astype(ids))
            advance.deliver(program, memories[rank], *there, target, marked_there, 7)
        np.testing.assert_array_equal(kernels.to_host(wide), wanted)
        for rank, part in enumerate(marked):
            found = unmarked(kernels.to_host(marks[rank]), OWNED[rank])
            np.testing.assert_array_equal(found, part)


@launches("relax", "relax_on", "measure_piles", "publish", "offer_nearer", "meet")
def relaxed_by_two(kernels, parents, ids):
    """A near pile that both members relax, and predecessors at its vertices, of which one has all."""
    sssp, xp = load_kernels(kernels, "buckets"), kernels.namespace
    if not hasattr(sssp, "shared_predecessors"):  # members on the host send messages
        return
    from dask_graphflow.kernels.device_peers import MEMBERS, NOTHING, SharedMirrors

    out, _ = hub_rows(kernels, ids, "float64")
    out = out._replace(weights=out.weights + 0.25)
    low = VERTICES // 2 // 64 * 64
    bounds, most, never = [0, low, VERTICES], VERTICES - low, np.iinfo(ids).max
    memories, mail = in_turn(kernels, bounds)
    for memory in memories:
        memory.mirrors = partial(SharedMirrors, memory)
    # The second member has met the first one, and found nothing.
    mail[0].view("uint32")[3] = 1000
    mail[0][1 + MEMBERS // 2 :][: 2 * MEMBERS * 8].reshape(2, MEMBERS, 8)[:, 1, -1] = NOTHING
    columns = shared(
        kernels,
        xp.full((2, VERTICES), np.inf),
        xp.full((2, VERTICES), never, ids),
        xp.zeros((2, most), "uint32"),
        xp.zeros((2, -(-most // 32)), "uint32"),
        xp.zeros((2, LISTS * most), ids),
        xp.zeros((2, LISTS), "uint64"),
        xp.zeros((2, 2 * most), "int64"),
    )
    sources, (offsets, ends, weights) = [5, 9, 700], map(kernels.to_host, out[:3])
    owners = np.repeat(np.arange(VERTICES), np.diff(offsets))
    used = np.isin(owners, sources)
    owners, ends, weights = owners[used], ends[used], weights[used]
    distance, parent = np.full(VERTICES, np.inf), np.full(VERTICES, never)
    distance[sources] = 0
    np.minimum.at(distance, ends, weights)
    tight = weights == distance[ends]
    np.minimum.at(parent, ends[tight], owners[tight])
    members = []
    for rank, (begin, end) in enumerate(itertools.pairwise(bounds)):
        both = SharedBuckets(memories[rank], *columns[rank])
        own = both.own(both.distance)
        first, last = int(offsets[begin]), int(offsets[end])
        edges = out.ends[first:last], out.weights[first:last]
        light = sssp.light_first(Rows(out.offsets[begin : end + 1] - first, *edges, begin), 4.0)
        at = xp.asarray(np.array([] if rank else sources, ids))
        own[at] = 0
        members.append((light.rows, both, sssp.new_buckets(light, own, at, 4.0, shared=both)))
    for _, both, buckets in members:
        buckets._limits["longest"] = -1  # no pile is small, so members do not wait for each other
        for vertices in (0, len(sources)):
            assert buckets.relax(np.inf, 1 << 62)
            assert buckets.counts["vertices"] == vertices
        part = slice(*bounds[both.memory.gang["rank"] :][:2])
        found = kernels.to_host(both.own(both.distance))
        np.testing.assert_array_equal(found, distance[part])
    near = [buckets._now["near"] for *_, buckets in members]
    assert near[0] == near[1]
    reached = np.isfinite(distance)
    reached[sources] = False
    assert near[0]["count"] == reached.sum()
    mail[0].view("uint32")[3] = 1000  # again, since the second member has written what it has told
    rows, both, _ = members[0]
    found = kernels.to_host(sssp.shared_predecessors(rows, both))
    np.testing.assert_array_equal(found, parent[:low])
    found = kernels.to_host(members[1][1].own(members[1][1].predecessors))
    np.testing.assert_array_equal(found, parent[low:])


@launches("sweep")
def swept_by_two(kernels, parents, ids):
    """Sweeps and a refinement of two members that share memory, with weights and skews.

    Members meet many times in a sweep. So only one of them has awake vertices in each sweep. The other one
    takes no part: it has met the first one before, and told nothing.
    """
    if kernels.__name__.endswith(".host"):  # members on the host send messages
        return
    sweep, xp, to_host = load_kernels(kernels, "groups").sweep, kernels.namespace, kernels.to_host
    whole, matrix = both_ways(kernels, ids)
    offsets, ends = to_host(whole.offsets), to_host(whole.ends)
    bounds, mass = [0, VERTICES // 2 // 64 * 64, VERTICES], matrix.sum(axis=1)
    skew = np.random.default_rng(5).integers(-9, 10, VERTICES) * mass // 9
    ranks, factor, rooms = np.random.default_rng(4).permutation(VERTICES), 1 / mass.sum(), ({}, {})
    memories, mail = in_turn(kernels, bounds)
    dtypes = "int32", ids, "int64", "int64", "bool"
    columns = shared(kernels, *(xp.zeros((2, VERTICES), dtype) for dtype in dtypes))
    labels, load, turns = np.arange(VERTICES), mass.copy(), skew.copy()
    for seed in range(6):
        rank, refined = seed % 2, seed > 3
        low, high = bounds[rank : rank + 2]
        if refined and not rank:
            within, labels, load, turns = labels, np.arange(VERTICES), mass.copy(), skew.copy()
        looking = np.arange(low, high)[mass[low:high] > 0]
        mail[:, 9:], mail[rank].view("uint32")[3 - rank] = 0, 1 << 20
        for q, (awake, *own, _) in enumerate(columns):
            for column, values in zip(own, (labels, load, turns), strict=True):
                column.own[:] = xp.asarray(values)
            awake.own[:] = xp.asarray((q == rank) & np.isin(np.arange(VERTICES), looking))
        part = slice(int(offsets[low]), int(offsets[high]))
        begins = whole.offsets[low : high + 1] - part.start
        rows = Rows(begins, whole.ends[part], whole.weights[part], low)
        awake, *own, _ = (column.own for column in columns[rank])
        moved = sweep(
            rows,
            own[0],
            (xp.asarray(mass[low:high]), own[1], factor),
            (xp.asarray(ranks[low:high]), seed),
            awake,
            xp.asarray(within.astype(ids)) if refined else None,
            (xp.asarray(skew[low:high]), own[2]),
            room=rooms[rank],
            shared=SharedGroups(memories[rank], *columns[rank]),
        )
        wanted = one_sweep(
            matrix, labels, (mass, load, factor), looking, (ranks, seed),
            within if refined else None, (skew, turns),
        )  # fmt: skip
        assert moved == len(wanted) > 0
        for _, *own, alone in columns:
            for column, values in zip(own, (labels, load, turns), strict=True):
                np.testing.assert_array_equal(to_host(column.own), values)
            assert not to_host(alone.own).any()
        if refined:
            continue
        owners = owners_of(offsets)
        woken = np.unique(ends[np.isin(owners, wanted) & (labels[owners] != labels[ends])])
        found = [
            to_host(awake.own)[slice(*bounds[q:][:2])] for q, (awake, *_) in enumerate(columns)
        ]
        np.testing.assert_array_equal(np.flatnonzero(np.concatenate(found)), woken)
