"""Advance on the device changes what it changes on the host, by every policy. These tests need a GPU."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from conftest import GRAPHS, cupy_or_skip
from shapes import HOPS, NEVER, PATHS, power_law_pairs

from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels.advance import host as host_advance
from dask_graphflow.kernels.rows import host as host_rows
from dask_graphflow.programs.edge_op import EdgeOp

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()

from dask_graphflow.kernels.advance import device as device_advance  # noqa: E402
from dask_graphflow.kernels.common import device  # noqa: E402
from dask_graphflow.kernels.policies import POLICIES, STAGES  # noqa: E402
from dask_graphflow.kernels.sources import THREADS  # noqa: E402

# The column that is read at src is not the one that is written, so a single step has one result.
# By name: the signal, the slot, the dtypes of the columns, of which the first is the target, and options.
WRITTEN = {
    "next level": (
        "same[src] + 1",
        "min",
        {"level": "int32", "same": "int32"},
        {"cond": "level[dst] > 450", "first_hit": True},
    ),
    "least": ("old[src] + weight", "min", {"cost": "float64", "old": "float64"}),
    "least, in float32": ("old[src] + weight", "min", {"cost": "float32", "old": "float32"}),
    "least, in int64": (
        "old[src] - dst",
        "min",
        {"cost": "int64", "old": "int32"},
        {"cond": "dst % 3 != 1"},
    ),
    "most": ("old[src] * 2", "max", {"cost": "int64", "old": "int64"}),
    "most, in float64": ("old[src] * 0.5 - weight", "max", {"cost": "float64", "old": "float64"}),
    "sum": ("old[src] + 1", "add", {"cost": "int64", "old": "int32"}),
    "sum, in int32": ("1 if marked[src] else 2", "add", {"cost": "int32", "marked": "bool"}),
    "bits": (
        "old[src] << left | old[src] >> 3",
        "or",
        {"seen": "uint64", "old": "uint64"},
        {"params": {"left": np.uint64(55)}},
    ),
    "bits, in int32": ("~old[src] << 20 ^ old[src]", "or", {"seen": "int32", "old": "int32"}),
    "smallest neighbour": ("src", "min", {"cost": "int32"}, {"first_hit": True}),
}
PROGRAMS = {
    name: (
        EdgeOp(f"p{i}", target=next(iter(dtypes)), signal=signal, slot=slot, **dict(*more)),
        dtypes,
    )
    for i, (name, (signal, slot, dtypes, *more)) in enumerate(WRITTEN.items())
}


def power_law(count=700, edges=6000):
    return power_law_pairs(count, edges)


SHAPES = {
    **{name: pairs for name, pairs in GRAPHS.items() if pairs},
    "power law": power_law(),
    "long star": [(0, i) for i in range(1, 4000)] + [(i, 0) for i in range(1, 4000, 3)],
}


@pytest.fixture(params=PROGRAMS, ids=str)
def program(request):
    return PROGRAMS[request.param]


class Case:
    """A graph with weights, its rows on the host and on the device."""

    def __init__(self, pairs):
        source, target = np.array(pairs, "int32").T.copy()
        self.count = int(max(source.max(), target.max())) + 1
        self.weight = (np.random.default_rng(2).integers(0, 9, len(pairs)) / 4).astype("float32")
        self.out = host_rows.rows(source, target, self.weight, count=self.count)
        self.into = host_rows.rows(target, source, self.weight, count=self.count)

    def bind(self, op, dtypes):
        return op.bind(dtypes, index_dtype=self.out.ends.dtype, weight_dtype="float32")

    def columns(self, op, dtypes):
        """Return columns to start from."""
        rng = np.random.default_rng(8)
        made = {}
        for name, dtype in dtypes.items():
            made[name] = rng.integers(0, 2 if dtype == "bool" else 900, self.count).astype(dtype)
            if np.dtype(dtype).kind == "f":
                special = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], self.count)
                made[name] = np.where(rng.random(self.count) < 0.1, special, made[name])
                made[name] = made[name].astype(dtype)
        if "same" in made:
            made["same"][:] = 3
        return (*(made[name] for name in op.columns), *op.params.values())

    def frontier(self):
        return np.arange(0, self.count, 2)


def there(rows):
    """Return rows on the device."""
    arrays = (None if array is None else cupy.asarray(array) for array in rows[:3])
    return host_rows.Rows(*arrays, rows.first)


def on_device(columns):
    # The values of parameters stay on the host.
    return tuple(cupy.asarray(column) if column.ndim else column for column in columns)


def assert_same_columns(mine, other, shape):
    for got, wanted in zip(mine, other, strict=True):
        np.testing.assert_array_equal(device.to_host(got), wanted, err_msg=shape)


@pytest.mark.parametrize("everyone", [False, True], ids=["frontier", "everyone"])
@pytest.mark.parametrize("balance", POLICIES)
def test_push_makes_the_same_changes_as_on_the_host(program, balance, everyone):
    if balance == "all_edges" and not everyone:
        pytest.skip("takes no frontier")
    op, dtypes = program
    for shape, pairs in SHAPES.items():
        case = Case(pairs)
        bound, columns = case.bind(op, dtypes), case.columns(op, dtypes)
        mine = on_device(columns)
        frontier = np.arange(case.count) if everyone else case.frontier()
        wanted = host_advance.push(bound.host_program, case.out, columns, frontier)
        given = None if everyone else cupy.asarray(frontier)
        words = device_advance.new_words(case.count)
        moved = device_advance.push(
            bound.device_program, there(case.out), mine, given, changed=words, balance=balance
        )
        assert_same_columns(mine, columns, shape)
        listed = device.to_host(moved.changed)
        assert listed.dtype == case.out.ends.dtype
        assert sorted(listed.tolist()) == sorted(wanted.changed.tolist()), shape
        bits = host_advance.to_words(listed, case.count)
        np.testing.assert_array_equal(device.to_host(words), bits, err_msg=shape)
        assert moved.edges == wanted.edges, shape
        if moved.work is not None:
            assert int(moved.work.sum()) == moved.edges
        assert balance in ("auto", moved.balance)


@pytest.mark.parametrize("everyone", [False, True], ids=["frontier", "everyone"])
@pytest.mark.parametrize("balance", POLICIES)
def test_pull_makes_the_same_changes_as_on_the_host(program, balance, everyone):
    op, dtypes = program
    for shape, pairs in SHAPES.items():
        case = Case(pairs)
        bound, columns = case.bind(op, dtypes), case.columns(op, dtypes)
        mine = on_device(columns)
        words = None if everyone else host_advance.to_words(case.frontier(), case.count)
        wanted = host_advance.pull(bound.host_program, case.into, columns, words)
        given = None if words is None else cupy.asarray(words)
        moved = device_advance.pull(
            bound.device_program, there(case.into), mine, given, balance=balance
        )
        assert_same_columns(mine, columns, shape)
        bits = device.to_host(moved.changed)
        np.testing.assert_array_equal(bits, wanted.changed, err_msg=shape)
        if not op.first_hit or balance == "thread":
            assert moved.edges == wanted.edges, shape
        assert moved.edges <= len(case.into.ends)


# What each policy does, and how it can be observed.


def star(leaves=20_000):
    return Case([(0, i) for i in range(1, leaves + 1)])


def pulled(case, op, column, **options):
    """Pull along all edges into a column, the only one of a program; return what the pull reports."""
    program = case.bind(op, {op.target: column.dtype.name}).device_program
    return device_advance.pull(program, there(case.into), (cupy.asarray(column),), **options)


def counted(case, balance, frontier=None, **options):
    """Return what a push reports that sums along the edges of a frontier."""
    op, dtypes = PROGRAMS["sum"]
    bound, columns = case.bind(op, dtypes), on_device(case.columns(op, dtypes))
    given = None if frontier is None else cupy.asarray(frontier)
    moved = device_advance.push(
        bound.device_program, there(case.out), columns, given, balance=balance, **options
    )
    return moved, device.to_host(columns[op.columns.index("cost")])


@pytest.mark.parametrize("thresholds", [(32, 512), (4, 20), (1, 2)])
def test_twc_counts_rows_by_their_degrees_and_without_thresholds_is_thread(thresholds):
    case = Case(power_law())
    sizes = np.diff(case.out.offsets)
    low, high = thresholds
    moved, sums = counted(case, "twc", thresholds=thresholds)
    assert moved.bins == (
        (sizes < low).sum(),
        ((sizes >= low) & (sizes < high)).sum(),
        (sizes >= high).sum(),
    )
    plain, wanted = counted(case, "thread")
    walked, same = counted(case, "twc", thresholds=(2**62, 2**62))
    assert walked.bins == (case.count, 0, 0)
    assert walked.edges == plain.edges == moved.edges
    np.testing.assert_array_equal(same, wanted)
    np.testing.assert_array_equal(sums, wanted)


@pytest.mark.parametrize("balance", ["lb", "lb_cull", "all_edges"])
def test_blocks_have_equal_shares_of_a_star(balance):
    everyone = None if balance == "all_edges" else np.arange(20_001)
    moved, _ = counted(star(), balance, everyone)
    work = device.to_host(moved.work)
    assert len(work) > 8
    assert work.sum() == 20_000
    assert work.max() <= 1.05 * work.mean()
    skewed, _ = counted(star(), "thread")
    assert device.to_host(skewed.work).max() == 20_000


def test_tiles_add_up():
    case = Case(power_law(5000, 9000))
    frontier = np.arange(0, case.count, 3)
    tiles = {balance: counted(case, balance, frontier)[0].chunks for balance in POLICIES[:-2]}
    blocks = -(-len(frontier) // THREADS)
    assert tiles["lb_light"] == tiles["lb_light_cull"] == tiles["twc"] == blocks
    assert tiles["thread"] == -(-len(frontier) // 32)
    moved, _ = counted(case, "lb", frontier)
    assert tiles["lb"] == tiles["lb_cull"] == len(moved.work)  # no row has more edges than a tile


def test_auto_chooses_by_the_frontier(monkeypatch):
    case = star(1000)
    assert counted(case, "auto")[0].balance == "all_edges"
    assert counted(case, "auto", np.arange(9))[0].balance == "lb_light"
    monkeypatch.setattr(device_advance, "LIGHT", 1000)
    assert counted(case, "auto", np.arange(9))[0].balance == "lb"
    assert counted(case, "auto", np.arange(1, 9))[0].balance == "lb_light"
    assert pulled(case, HOPS, np.zeros(case.count, "int32")).balance == "twc"
    assert pulled(case, PATHS, np.zeros(case.count)).balance == "all_edges"


def test_all_edges_looks_at_every_edge():
    case = Case(power_law())
    assert counted(case, "all_edges")[0].edges == len(case.out.ends)
    with pytest.raises(OptionError, match=r"balance='all_edges' with a frontier; .*frontier=None"):
        counted(case, "all_edges", np.arange(3))


def allocated(work):
    """Return what a function returns, and the sizes in bytes of what CuPy allocates for it."""
    allocate, sizes = cupy.cuda.get_allocator(), []

    def noting(size):
        sizes.append(size)
        return allocate(size)

    # Not a memory hook: CuPy's pool calls hooks, and importing cuDF replaces the pool by RMM.
    with cupy.cuda.using_allocator(noting):
        return work(), sizes


@pytest.mark.parametrize("balance", ["lb", "lb_light"])
def test_culling_at_once_allocates_no_unfiltered_frontier(balance):
    # Every edge lists its vertex: 300 times each.
    case = Case([(i, 300 + j) for i in range(300) for j in range(300)])
    frontier = np.arange(300)
    op, dtypes = PROGRAMS["sum"]
    bound, columns = case.bind(op, dtypes), on_device(case.columns(op, dtypes))
    rows, frontier = there(case.out), cupy.asarray(frontier)
    largest = {}
    for name in (balance, f"{balance}_cull"):
        moved, sizes = allocated(
            partial(
                device_advance.push, bound.device_program, rows, columns, frontier, balance=name
            )
        )
        assert len(moved.changed) == 300
        largest[name] = max(sizes)
    unfiltered = 90_000 * case.out.ends.itemsize
    assert largest[balance] >= unfiltered
    assert largest[f"{balance}_cull"] < unfiltered / 10


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_each_stage_of_the_filter_leaves_out_vertices_that_were_there(stage, dtype, rng):
    size = 5000
    vertices = np.repeat(rng.permutation(size)[:900], 5).astype(dtype)
    vertices = np.concatenate([vertices, vertices])
    words = device_advance.new_words(size)
    kept, _ = device_advance.uniquify(cupy.asarray(vertices), words, stages=[stage])
    kept = device.to_host(kept)
    assert kept.dtype == dtype
    assert set(kept.tolist()) == set(vertices.tolist())
    assert len(kept) <= len(vertices)
    if stage == "exact":
        assert len(kept) == 900
    if stage in ("block", "warp"):  # equal entries are adjacent
        assert len(kept) < len(vertices) / 2
    np.testing.assert_array_equal(
        device.to_host(words), host_advance.to_words(np.unique(vertices), size)
    )
    again, _ = device_advance.uniquify(cupy.asarray(vertices), words, stages=[stage])
    assert (len(again) == 0) == (stage in ("bitmask", "exact"))


def test_without_stages_nothing_is_left_out_and_with_all_stages_no_vertex_is_listed_twice(rng):
    vertices = rng.integers(0, 700, 10_000).astype("int32")
    for stages, wanted in ((), vertices), (tuple(STAGES), np.unique(vertices)):
        words = device_advance.new_words(700)
        kept, _ = device_advance.uniquify(cupy.asarray(vertices), words, stages=stages)
        assert sorted(device.to_host(kept).tolist()) == sorted(wanted.tolist())


@pytest.mark.parametrize("stages", [(), ("warp",), ("bitmask", "block")])
@pytest.mark.parametrize("balance", ["lb", "lb_cull"])
def test_a_push_may_list_a_vertex_twice_if_it_is_not_filtered_exactly(balance, stages):
    case = Case([(i, 300 + j % 7) for i in range(300) for j in range(300)])
    words = device_advance.new_words(case.count)
    moved, _ = counted(case, balance, np.arange(300), stages=stages, changed=words)
    listed = device.to_host(moved.changed)
    assert set(listed.tolist()) == set(range(300, 307))
    assert device_advance.tally(words)[0] == 7
    assert len(listed) > 7 or stages


@pytest.mark.parametrize("way", ["push", "pull"])
def test_the_host_waits_once_for_all_it_needs(monkeypatch, way):
    waits, read = [], device_advance.read
    monkeypatch.setattr(
        device_advance, "read", lambda array: waits.append(read(array)) or waits[-1]
    )
    case = Case(power_law())
    op, dtypes = PROGRAMS["sum"]
    bound, columns = case.bind(op, dtypes), on_device(case.columns(op, dtypes))
    frontier, sizes = case.frontier(), np.diff(case.out.offsets)
    degrees = cupy.asarray(sizes)
    if way == "push":
        how = {"leaving": int(sizes[frontier].sum()), "degrees": degrees}
        given = bound.device_program, there(case.out), columns, cupy.asarray(frontier)
        changed = device.to_host(device_advance.push(*given, **how).changed)
        moved = device_advance.push(*given, **how)
    else:
        given = bound.device_program, there(case.into), columns
        moved = device_advance.pull(*given, degrees=degrees)
        changed = np.flatnonzero(np.diff(case.into.offsets))
    assert (moved.found, moved.leaving) == (len(changed), sizes[changed].sum())
    assert len(waits) == (2 if way == "push" else 1)


def test_a_warp_appends_at_once():
    vertices = cupy.arange(32 * 500, dtype="int32")
    kept, appends = device_advance.uniquify(vertices, device_advance.new_words(len(vertices)))
    assert (len(kept), appends) == (32 * 500, 500)
    moved, _ = counted(star(), "lb_light", np.zeros(1, "int32"))
    # By the advance and by the filter, each about a 32nd.
    assert 20_000 / 16 <= moved.appends <= 20_000 / 16 + 64


@pytest.mark.parametrize("balance", POLICIES)
def test_a_pull_stops_at_the_first_hit(balance):
    size = 1_000_000  # so many that no GPU has a warp for every 32 edges
    case = Case(np.stack([np.tile(np.arange(size), 2), np.repeat([size, size + 1], size)], axis=1))
    level = np.full(case.count, NEVER, np.int32)
    level[:size] = 0
    moved = pulled(case, HOPS, level, balance=balance, thresholds=(32, 512))
    assert device_advance.tally(moved.changed)[0] == 2
    assert moved.edges < len(case.into.ends)
    if balance == "thread":
        assert moved.edges == 2


def test_a_push_does_not_list_vertices_again_that_it_was_given_as_changed():
    case = star(1000)
    for balance in ("lb", "lb_light_cull"):
        words = device_advance.to_words(cupy.arange(1, 500), case.count)
        moved, _ = counted(case, balance, np.arange(1), changed=words)
        assert sorted(device.to_host(moved.changed).tolist()) == list(range(500, 1001))


def test_without_edges_nothing_changes():
    case = Case([(0, 1), (2, 1)])
    for balance, frontier in itertools.product(POLICIES[:-2], ([], [1])):
        moved, _ = counted(case, balance, np.array(frontier, "int32"))
        assert (len(moved.changed), moved.edges) == (0, 0)
    empty = host_rows.rows(np.zeros(0, "int32"), np.zeros(0, "int32"), count=5)
    case.into = case.out = empty
    for balance in POLICIES:
        assert pulled(case, HOPS, np.zeros(5, "int32"), balance=balance).edges == 0


def test_names_that_do_not_exist_are_refused_with_those_that_do():
    case = Case([(0, 1)])
    with pytest.raises(OptionError, match=r"balance='lb_lite'; allowed are 'thread', .*'lb_light'"):
        counted(case, "lb_lite")
    with pytest.raises(OptionError, match=r"balance='twcc'; .*did you mean 'twc'"):
        pulled(case, HOPS, np.zeros(2, "int32"), balance="twcc")
    with pytest.raises(OptionError, match="a stage='hash'; allowed are 'bitmask', 'block'"):
        device_advance.uniquify(cupy.zeros(1, "int32"), cupy.zeros(1, "uint64"), stages=["hash"])
