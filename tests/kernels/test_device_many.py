"""A graph of several shards on devices gives the same as a graph of one shard on the host.

Here all members share one GPU, and so they send arrays through the host. test_two_gpu_gangs tests two GPUs
and what is sent between them.
"""

from __future__ import annotations

from functools import partial

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip, partitioned
from shapes import ALSO_ASKED, ASKED, HOPS, KINDS, NEVER, graph, power_law

import dask_graphflow as gf
from dask_graphflow.comm.outbox import Box, form, pack, unpack
from dask_graphflow.kernels.policies import POLICIES

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()
cudf = pytest.importorskip("cudf")


def on_device(pieces):
    return pieces.map_partitions(cudf.from_pandas, meta=cudf.from_pandas(pieces._meta))


def plain(frame):
    """Return a frame's columns as lists; cuDF has other dtypes for what may be null."""
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    return {
        name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_results_are_those_of_the_host(rng, kind, directed):
    edges = KINDS[kind](power_law(rng))
    start = edges.a.iloc[[0, 700]].tolist()
    pieces = partitioned(edges, 4)
    calls = [*ASKED.items(), *(MORE.items() if kind == "dense" else ())]
    with dask.config.set(scheduler="threads"):
        one = graph(pieces, 1, directed)
        many = graph(on_device(pieces), 3, directed)
        assert (many.num_vertices, many.num_edges) == (one.num_vertices, one.num_edges)
        for name, ask in calls:
            found = ask(many, start).compute()
            assert type(found).__module__.startswith("cudf")
            assert plain(found) == plain(ask(one, start).compute()), name


def hops(g, start, **how):
    level = pd.DataFrame({"vertex": start, "level": 0})
    return g.run(HOPS, columns={"level": np.int32(NEVER)}, start=level, **how)


RECEIVED = gf.EdgeOp("received", target="sum", signal="share[src] * 2", slot="add")
# The calls that test_programs.py, test_bfs.py and test_pagerank.py make with members on the host.
MORE = {
    **{
        f"bfs, {limit} steps by {way}": partial(gf.Graph.bfs, depth_limit=limit, direction=way)
        for way in ("beamer", "gemini", "push", "pull")
        for limit in (1, 3, None)
    },
    **{
        f"sssp within {cutoff}": partial(gf.Graph.sssp, cutoff=cutoff)
        for cutoff in (0, 0.75, np.float32(2), np.inf)
    },
    **{
        f"pagerank in {precision}": lambda g, start, precision=precision: g.pagerank(
            tol=None, max_iter=20, precision=precision
        )
        for precision in ("float64", "float32")
    },
    "pagerank that never restarts": lambda g, start: g.pagerank(alpha=1, tol=None, max_iter=3),
    **{f"hops by {way}": partial(hops, direction=way) for way in ("gemini", "push", "pull")},
    **{
        f"hops by {balance}": lambda g, start, balance=balance: hops(
            g,
            start,
            direction="pull" if balance == "all_edges" else "beamer",
            balance=balance if g.on_device else "auto",
        )
        for balance in POLICIES
    },
    **ALSO_ASKED,
    "sums": lambda g, start: g.run(RECEIVED, columns={"sum": 0, "share": 3}, max_iter=1),
}


@pytest.mark.parametrize(
    ("weight", "asked", "error"),
    [
        (-1.0, lambda g: g.sssp([0]), gf.exceptions.WeightError),
        (-1.0, lambda g: g.pagerank(), gf.exceptions.WeightError),
        (1.0, lambda g: g.pagerank(tol=1e-12, max_iter=3), gf.exceptions.ConvergenceError),
    ],
    ids=["negative for paths", "negative for ranks", "too few iterations"],
)
def test_an_error_of_a_member_is_an_error_of_the_call(rng, weight, asked, error):
    edges = power_law(rng)
    edges.loc[edges.index[-1], "w"] = weight
    with dask.config.set(scheduler="threads"):
        many = graph(on_device(partitioned(edges, 4)), 3, True)
        with pytest.raises(error):
            asked(many).compute()


@pytest.mark.parametrize("dtype", [None, "int32", "float64", "bool"])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_a_box_on_a_device_has_the_bytes_of_one_on_the_host(rng, dtype, size):
    column = None if dtype is None else rng.integers(0, 2, size + 3).astype(dtype)
    for count in {0, 1, size // 40, size // 3, size - 1, size}:
        at = np.sort(rng.choice(size, count, replace=False)).astype("int32")
        host = pack(Box(), size, at, column, at + 3)
        where = cupy.asarray(at)
        there = None if column is None else cupy.asarray(column)
        device = pack(Box(), size, where, there, where + 3)
        assert device[:3] == host[:3]
        assert host.form == form(count, size)
        width = 0 if column is None else count * column.itemsize
        # The bytes between arrays belong to none of them.
        for low, high in [(0, width), (-(-width // 8) * 8, None)]:
            assert device.raw[low:high].tolist() == host.raw[low:high].tolist()
        if count:
            found, values = unpack(device, size)
            assert (list(range(size)) if found is None else found.tolist()) == at.tolist()
            assert values is None or values.tolist() == column[at + 3].tolist()
