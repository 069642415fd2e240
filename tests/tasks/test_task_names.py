"""The names of the library's tasks: on Dask's dashboard they can be told from other tasks."""

from __future__ import annotations

import pandas as pd
import pytest
from conftest import ENDS
from dask.callbacks import Callback
from dask.utils import key_split

import dask_graphflow as gf

OF_DASK = {"repartitiontofewer"}  # compute() puts the partitions of a result together
FEW = pd.DataFrame({"a": [1, 2, 3, 5], "b": [2, 3, 4, 6]})


def saved(folder):
    gf.Graph(FEW, **ENDS).save(folder / "graph")
    return gf.load_graph(folder / "graph").pagerank()


def read(folder):
    FEW.to_csv(folder / "edges.csv", index=False)
    return gf.pagerank(gf.read_edges(folder / "edges.csv"), **ENDS)


def persisted(folder):
    graph = gf.Graph(FEW, **ENDS).persist()
    assert graph.num_edges == len(FEW)
    return graph.strongly_connected_components()


def with_a_frame(folder):
    graph = gf.Graph(FEW, shards=2, **ENDS)
    return graph.community_metrics(graph.label_propagation())


CALLS = {
    "components": lambda _: gf.connected_components(gf.generate.path(50, npartitions=5)),
    "merges in slices": lambda _: gf.connected_components(
        gf.generate.path(50, npartitions=5), merge_chunks=2
    ),
    "text": lambda _: gf.connected_components(FEW.astype("str"), **ENDS),
    "search in shards": lambda _: gf.Graph(FEW, shards=2, **ENDS).bfs([1]),
    "trace": lambda _: gf.Graph(FEW, shards=2, **ENDS).pagerank(trace=True)[1],
    "path": lambda _: gf.shortest_paths(gf.bfs(FEW, sources=[1], **ENDS), [4]),
    "saved": saved,
    "read": read,
    "persisted": persisted,
    "with a frame": with_a_frame,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_names_of_all_tasks_begin_with_the_name_of_the_library(call, tmp_path):
    names = set()
    with Callback(start=lambda graph: names.update(map(key_split, graph))):
        call(tmp_path).compute(scheduler="threads")
    others = {name for name in names - OF_DASK if not name.startswith("graphflow-")}
    assert names - OF_DASK
    assert not others
