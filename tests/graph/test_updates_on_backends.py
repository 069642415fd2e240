"""Updates, and results that follow them, on the backend of --backend: what a build and a call return."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import frame
from shapes import WAYS, at_random

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("backend")

IDS = {"integers": int, "far apart": lambda k: int(k) * 10**12, "text": "v{:03}".format}
REACH = 200


def named(table, ids):
    return table.assign(a=table.a.map(IDS[ids]), b=table.b.map(IDS[ids]))


def drawn(rng, count):
    edges = pd.DataFrame(rng.integers(0, REACH, (count, 2)), columns=["a", "b"])
    return edges.assign(w=rng.integers(1, 9, count) / 4)


def calls(start):
    """Return the calls that take the result of the same call on the graph before an update."""
    names = ("triangle_count", "clustering", "connected_components", "leiden")
    asked = {name: partial(_call, name) for name in names}
    asked["pagerank"] = partial(_call, "pagerank", tol=1e-12, max_iter=1000)
    return asked | {name: partial(_call, name, sources=[start]) for name in ("bfs", "sssp")}


def _call(name, graph, **options):
    return getattr(graph, name)(**options)


@WAYS
@pytest.mark.parametrize("ids", IDS)
def test_updated_graphs_and_results_that_follow(built, members, ids, directed):
    rng, table = np.random.default_rng(5), drawn(np.random.default_rng(4), 400)
    how = {"directed": directed, "multi": "sum"}
    graph = built(named(table, ids), **how)
    plain = gf.Graph(named(table, ids), source="a", target="b", weight="w", shards=1, **how)
    asked = calls(named(table, ids).a.iloc[0])
    earlier = {name: call(graph).compute() for name, call in asked.items()}
    on_one = {name: call(plain).compute() for name, call in asked.items()}
    for step in range(3):
        gone, new = table.sample(9, random_state=step), drawn(rng, 12)
        pairs = set(zip(gone.a, gone.b, strict=True))
        if not directed:
            pairs |= {pair[::-1] for pair in pairs}
        stay = [pair not in pairs for pair in zip(table.a, table.b, strict=True)]
        table = pd.concat([table[stay], new], ignore_index=True)
        batch = {"insert": named(new, ids), "delete": named(gone, ids)}
        graph, plain = (one.update(**batch).persist() for one in (graph, plain))
        vertices = graph.vertices().compute()
        scratch = built(named(table, ids), vertices=vertices, **how)
        for content in ("vertices", "edges"):
            same(*(getattr(one, content)().compute() for one in (graph, scratch)))
        for name, call in asked.items():
            lazy = call(graph, previous=earlier[name])
            found, expected = lazy.compute(), call(scratch).compute()
            if name == "leiden":  # it starts from the communities before
                expected = call(plain, previous=on_one[name]).compute()
                on_one[name] = expected
            if name == "pagerank":
                same(found, expected, rtol=0, atol=1e-10)
            else:
                same(found, expected)
            earlier[name] = lazy.persist() if step else found


def same(found, expected, **close):
    found, expected = (one.reset_index(drop=True) for one in (found, expected))
    close = close or {"check_exact": True}
    pd.testing.assert_frame_equal(found, expected, **close)


def test_a_graph_of_one_gpu_or_more_is_updated_after_it_was_saved(built, tmp_path):
    pairs = at_random(80, 200)
    built(pairs[:150]).save(tmp_path / "graph")
    new = gf.load_graph(tmp_path / "graph").update(insert=frame(pairs[150:]))
    same(new.edges().compute(), built(pairs).edges().compute())
