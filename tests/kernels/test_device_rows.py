"""Rows made on the device are those made on the host, bit for bit. These tests need a GPU."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import GRAPHS, cupy_or_skip
from shapes import SUMS, summed_edges

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels.rows import host as host_rows

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()

from dask_graphflow.kernels.common import device  # noqa: E402
from dask_graphflow.kernels.partition import device as device_partition  # noqa: E402
from dask_graphflow.kernels.rows import device as device_rows  # noqa: E402

DTYPES = ["int32", "int64", "float32", "float64"]
SHAPES = {
    **GRAPHS,
    "hubs": [(int(7 * abs(i % 97 - 48) ** 0.5), i % 911) for i in range(5000)],
    "one row": [(7, i * i % 1009) for i in range(3000)],
}


@pytest.fixture(params=SHAPES, ids=str)
def edges(request):
    pairs = np.array(SHAPES[request.param], np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


@pytest.fixture(params=[None, 1], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    """Make the rows of small graphs in as many blocks as those of large graphs."""
    if request.param:
        monkeypatch.setattr(device_rows, "SMALLEST", request.param)
        monkeypatch.setattr(device_rows, "BINS", 64)


def count_of(edges):
    return int(max(side.max(initial=-1) for side in edges)) + 1


def weights_of(edges, dtype="float64"):
    # Not all sums of these are the same in every order.
    return (np.random.default_rng(3).integers(1, 50, len(edges[0])) / 7).astype(dtype)


def there(array):
    return None if array is None else cupy.asarray(array)


def same(got, wanted):
    """Compare rows, dtypes too."""
    for name, mine, other in zip(wanted._fields, got, wanted, strict=True):
        if name == "first":
            assert mine == other
        elif other is None:
            assert mine is None
        else:
            assert mine.dtype == other.dtype, name
            np.testing.assert_array_equal(device.to_host(mine), other, err_msg=name)


def both(source, target, weight=None, labels=None, **options):
    """Return the rows that the device and the host make."""
    made = device_rows.rows(
        there(source), there(target), there(weight), labels=there(labels), **options
    )
    return made, host_rows.rows(source, target, weight, labels=labels, **options)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("multi", host_rows.POLICIES)
@pytest.mark.parametrize("undirected", [False, True], ids=["directed", "undirected"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_rows_are_those_of_the_host(edges, dtype, undirected, multi):
    source, target = (side.astype(dtype) for side in edges)
    how = {"count": count_of(edges), "undirected": undirected, "multi": multi}
    same(*both(source, target, **how))
    for weights in DTYPES:
        same(*both(source, target, weights_of(edges, weights), **how))


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(("weight", "fits"), SUMS)
def test_a_sum_of_integers_fits_or_is_refused(weight, fits):
    *edges, how = summed_edges(weight)
    if fits:
        same(*both(*edges, **how))
    else:
        with pytest.raises(WeightError, match="does not fit int64"):
            device_rows.rows(*map(there, edges), **how)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("parts", [2, 5])
def test_ranges_of_rows_are_those_of_the_host(edges, parts):
    count = count_of(edges)
    bounds = [count * i // parts for i in range(parts + 1)]
    for first, stop in itertools.pairwise(bounds):
        how = {"first": first, "count": stop - first, "columns": count, "undirected": True}
        same(*both(*edges, weights_of(edges), **how))


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("undirected", [False, True], ids=["directed", "undirected"])
def test_rows_of_labels_are_those_of_the_host(edges, undirected):
    count, weight = count_of(edges), weights_of(edges)
    degrees = host_rows.degrees(edges[0], count=count)
    labels = host_rows.degree_labels(degrees)
    found = device_rows.degree_labels(there(degrees))
    assert found.dtype == labels.dtype
    np.testing.assert_array_equal(device.to_host(found), labels)
    for first in {0, count // 2}:
        how = {"first": first, "count": count - first}
        same(*both(*edges, weight, labels, columns=count, undirected=undirected, **how))
        plain = both(*edges, weight, count=count, undirected=undirected)
        mine = device_rows.relabelled(plain[0], found, **how)
        same(mine, host_rows.relabelled(plain[1], labels, **how))
        places = labels[::-1].astype(plain[1].ends.dtype)
        mine = device_rows.relabelled(plain[0], found, places=there(places), **how)
        same(mine, host_rows.relabelled(plain[1], labels, places=places, **how))


def test_rows_and_columns_that_do_not_fit_into_a_key_together_are_made_in_more_blocks(rng):
    source, target = rng.integers(0, 5000, 2000), rng.integers(0, 1 << 54, 2000)
    rows = device_rows.rows(there(source), there(target), count=5000, columns=1 << 54)
    order = np.lexsort((target, source))
    sizes = np.diff(device.to_host(rows.offsets))
    np.testing.assert_array_equal(sizes, np.bincount(source, minlength=5000))
    np.testing.assert_array_equal(device.to_host(rows.ends), target[order])


def test_degrees_are_those_of_the_host(edges, monkeypatch):
    monkeypatch.setattr(device_rows, "COUNTED", 1000)
    count = count_of(edges)
    for dtype, first in itertools.product(["int32", "int64"], {0, count // 3}):
        ids = edges[0].astype(dtype)
        got = device_rows.degrees(there(ids), first=first, count=count - first)
        wanted = host_rows.degrees(ids, first=first, count=count - first)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(device.to_host(got), wanted)


def test_building_a_directed_graph_needs_less_extra_memory_than_its_edge_list():
    class Held(cupy.cuda.MemoryHook):
        name = "held"
        now = most = 0

        def malloc_postprocess(self, *, mem_size, **_):
            self.now += mem_size
            self.most = max(self.most, self.now)

        def free_postprocess(self, *, mem_size, **_):
            self.now -= mem_size

    rng = np.random.default_rng(4)
    count = 1 << 25
    # Cubes of random numbers, so that there are hubs.
    source, target = (
        cupy.asarray((rng.random(count) ** 3 * (count >> 4)).astype("int32")) for _ in range(2)
    )
    # The test's own pool: hooks belong to a pool, and importing cuDF makes CuPy allocate by RMM.
    with cupy.cuda.using_allocator(cupy.cuda.MemoryPool().malloc), Held() as held:
        rows = device_rows.rows(source, target, count=count >> 4)
    assert len(rows.ends) == count
    assert 0 < held.most <= source.nbytes + target.nbytes


def test_a_launch_with_less_shared_memory_allows_a_later_one_with_more():
    ids = np.random.default_rng(5).integers(0, 30_000, 5000)
    for grains in (3000, 5, 30_000, 40, 3000):
        taken = ids[ids < grains]
        found = device_partition.count_grains(cupy.asarray(taken), grains, shift=0)
        np.testing.assert_array_equal(found, np.bincount(taken, minlength=grains))


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("part", [0, 0.1, 0.6, 1])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_edges_between_marked_vertices_are_those_of_the_host(edges, index, part, named, later):
    size, rng = count_of(edges), np.random.default_rng(5)
    rows = host_rows.rows(*edges, count=size, undirected=True)
    inside, chosen = rng.random((2, size)) < part
    which = np.flatnonzero(chosen).astype(index)
    names = which + which.dtype.type(5) if named else None
    wanted = host_rows.between(rows, which, inside, names=names, later=later)
    moved = rows._replace(offsets=there(rows.offsets), ends=there(rows.ends))
    found = device_rows.between(moved, there(which), there(inside), names=there(names), later=later)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(cupy.asnumpy(mine), other, strict=True)
