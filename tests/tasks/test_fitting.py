"""Components within the workers' memory limit: read in pieces that fit, or refused at once."""

from __future__ import annotations

import gc
import pickle
import re

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ENDS, partitioned
from dask.utils import parse_bytes
from distributed import Client, LocalCluster

import dask_graphflow as gf
from dask_graphflow.calls.components import fit_chains
from dask_graphflow.calls.components.fit_chains import COPIES
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.operators.forests.shared_forest import Shared, Start
from dask_graphflow.tasks import memory_limits, placement
from dask_graphflow.tasks.parquet import pieces_of

GROUP = 1000  # rows of a row group, of 16 bytes each
VERTICES = 5000
FOREST = 5 * VERTICES


@pytest.fixture
def edges(tmp_path, rng):
    pairs = pd.DataFrame(rng.integers(0, VERTICES, (20 * GROUP, 2)), columns=["a", "b"])
    for i in range(2):
        table = pa.table(pairs.iloc[i * 10 * GROUP : (i + 1) * 10 * GROUP])
        path = tmp_path / f"{i}.parquet"
        pq.write_table(table, path, row_group_size=GROUP, use_dictionary=False)
    return tmp_path


@pytest.fixture
def limited(monkeypatch):
    """Return a function that sets the memory limit and the number of threads of the workers."""
    for module in (memory_limits, fit_chains):
        monkeypatch.setattr(module, "PROCESS", 0)

    def limit(limit, threads=1):
        monkeypatch.setattr(placement, "least_room", lambda: (limit, threads, 1))

    return limit


def read(path, **options):
    return gf.connected_components(dd.read_parquet(path, **options), **ENDS)


def chunks(labels):
    (reduction,) = labels.expr.dependencies()
    return sum(len(chain.chunks) for chain in reduction.operand("chains"))


def advised(error):
    return parse_bytes(re.search(r"memory_limit='(\w+)'", str(error))[1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("together", [1, 4, 10])
def test_files_are_read_in_row_groups_that_fit(edges, limited, together, threads):
    group = pieces_of(dd.read_parquet(edges), ["a", "b"]).row_group
    room = FOREST + together * group * COPIES * threads
    expected = read(edges).compute()
    assert chunks(read(edges)) == 2
    limited(int(room / memory_limits.pause_fraction()) + 1, threads)
    labels = read(edges)
    assert chunks(labels) == 2 * -(-10 // together)
    pd.testing.assert_frame_equal(
        labels.compute().reset_index(drop=True), expected.reset_index(drop=True)
    )


@pytest.mark.parametrize(
    "options",
    [{"inputs": [None, None]}, {"filesystem": "arrow"}, {}],
    ids=["chunks are placed", "files are read whole", "row groups are too large"],
)
def test_a_call_that_does_not_fit_is_refused_with_a_sufficient_limit(edges, limited, options):
    how = {"inputs": options["inputs"]} if "inputs" in options else {}

    def call():
        readers = {name: value for name, value in options.items() if name not in how}
        return gf.connected_components(dd.read_parquet(edges, **readers), **ENDS, **how)

    limited(10_000)
    with pytest.raises(GraphMemoryError, match=r"which is 9\.8 KiB") as refused:
        call()
    assert advised(refused.value) == refused.value.needed
    limited(advised(refused.value))
    assert chunks(call()) == 2


def test_a_memory_limit_below_the_need_of_a_worker_is_refused_at_the_call(monkeypatch):
    edges = partitioned(pd.DataFrame({"a": [1, 2], "b": [2, 3]}), 2)
    monkeypatch.setattr(placement, "least_room", lambda: (100_000_000, 1, 2))
    with pytest.raises(GraphMemoryError, match="loaded this library") as refused:
        gf.connected_components(edges, **ENDS)
    monkeypatch.setattr(placement, "least_room", lambda: (advised(refused.value), 1, 2))
    assert len(gf.connected_components(edges, **ENDS).compute()) == 3


def test_chains_that_were_written_to_disk_share_a_forest_again():
    shared = Shared(["a forest"])
    written = [pickle.dumps(shared) for _ in range(2)]
    assert all(pickle.loads(one) is shared for one in written)
    del shared
    gc.collect()
    copies = [pickle.loads(one) for one in written]
    # A lost holder may have found fewer ids when one of them was written than when the other was written.
    assert copies[0] is not copies[1]
    assert [copy.held for copy in copies] == [["a forest"]] * 2


def test_a_worker_that_begins_late_fetches_no_forest():
    start = Start()
    start.shared.held = ["a forest"]
    written = pickle.dumps(start)
    assert pickle.loads(written).shared is start.shared
    del start
    gc.collect()
    assert pickle.loads(written).shared.held is None


@pytest.mark.slow
def test_files_larger_than_the_memory_limit(tmp_path):
    rng, rows = np.random.default_rng(0), 10_000_000
    for i in range(4):
        sides = {name: rng.integers(0, 1_000_000, rows) for name in "ab"}
        table = pa.table(sides)
        pq.write_table(table, tmp_path / f"{i}.parquet", compression=None, use_dictionary=False)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="500MB", dashboard_address=":0"
        ) as one,
        Client(one),
    ):
        assert read(tmp_path).component.max().compute() == 0
