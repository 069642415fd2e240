"""The memory that building a graph takes: its estimate holds, and the limit in an error suffices."""

from __future__ import annotations

import json
import subprocess
import sys

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, columns_are_shared
from distributed import Client, LocalCluster
from test_fitting import advised

import dask_graphflow as gf
from dask_graphflow.exceptions import GraphMemoryError

pytestmark = [pytest.mark.usefixtures("host_memory"), columns_are_shared]

SPARE = 8_000_000  # bytes that the interpreter may take meanwhile

# Linux can reset and report the largest memory of a process.
MEASURED = """
import gc, json, sys
from dataclasses import replace
import dask, dask.dataframe as dd, numpy as np, pandas as pd
import dask_graphflow as gf
from dask_graphflow.graph import room
from dask_graphflow.comm.resources import Resources, give_back

dask.config.set(scheduler="sync")
Resources.relieve = lambda self: give_back()  # as on a worker near its limit
estimates, check, start = [], room.Room.check, room.Room.__init__

def start_with_a_limit(self, resources, *rest, **options):
    start(self, replace(resources, memory_limit=1 << 50), *rest, **options)

def noted(self, step, takes, *, vertices=None, spilled=0):
    if vertices is not None:
        part = self._part(1.0, vertices)
        estimates.append(max(part.numbering(), part.ids + part.numbers + part.making()))
    check(self, step, takes, vertices=vertices, spilled=spilled)

room.Room.check, room.Room.__init__ = noted, start_with_a_limit

def most(field="VmHWM"):
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith(field)]
    return int(line.split()[1]) * 1024

def build(edges, members, **options):
    frame = dd.from_pandas(edges, npartitions=4)
    graph = gf.Graph(frame, source="a", target="b", shards=members, storage="memory", **options)
    gc.collect()
    give_back()
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = most("VmRSS")
    estimates.clear()
    graph = graph.persist()
    return most() - before, sum(estimates)

def edges(kind, count):
    pairs = np.random.default_rng(0).integers(0, count // 5, (2, count))
    pairs = {"near": pairs, "from 1": pairs + 1}.get(kind, pairs * 1_000_003)
    frame = pd.DataFrame({"a": pairs[0], "b": pairs[1], "w": np.ones(count)})
    if kind == "text":
        frame[["a", "b"]] = frame[["a", "b"]].astype("str")
    return frame

kind, members, options = json.loads(sys.argv[1])
build(edges(kind, 100_000), members, **options)  # compiles
print(json.dumps(build(edges(kind, 1_000_000), members, **options)))
"""

SHAPES = {
    "integers close together": ("near", 1, {}),
    "undirected, with weights": ("from 1", 1, {"directed": False, "weight": "w"}),
    "integers far apart": ("far", 1, {}),
    "text": ("text", 1, {}),
    "two members": ("near", 2, {"weight": "w"}),
    "two members, far apart, undirected": ("far", 2, {"directed": False}),
    "two members, text": ("text", 2, {}),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports the largest memory")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_build_takes_at_most_what_is_estimated_and_not_much_less(shape):
    # Threads of an earlier build in the same process would have memory to use again.
    code = [sys.executable, "-c", MEASURED, json.dumps(SHAPES[shape])]
    ended = subprocess.run(code, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    took, estimated = json.loads(ended.stdout)
    assert took <= estimated + SPARE
    assert estimated <= 2.5 * took + SPARE


def part(i, factor):
    pairs = np.random.default_rng(i).integers(0, 500_000, (5_000_000, 2)) * factor
    return pd.DataFrame(pairs, columns=["a", "b"])


def sizes(limit, factor, **options):
    """Return the number of edges of a graph, and of vertices, on a worker with a memory limit."""
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit=limit, dashboard_address=":0"
        ) as one,
        Client(one),
    ):
        edges = dd.from_map(part, [0, 1], factor=factor, meta=part(0, 1).iloc[:0])
        graph = gf.Graph(edges, **ENDS, storage="memory", **options).persist()
        return graph.num_edges, len(graph.degrees())


@pytest.mark.parametrize(
    "factor", [1, pytest.param(1_000_003, marks=pytest.mark.slow)], ids=["near", "far"]
)
def test_a_limit_that_is_too_low_is_an_error_whose_suggestion_suffices(factor):
    with pytest.raises(GraphMemoryError, match="to build a graph and to use it") as refused:
        sizes(430_000_000, factor, directed=False)
    assert sizes(advised(refused.value), factor, directed=False) == (10_000_000, 500_000)
