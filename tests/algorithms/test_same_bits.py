"""No bit of any result depends on partitions, members, threads, types of ids or placement."""

from __future__ import annotations

import dask
import pandas as pd
import pytest
from conftest import fewer, host_only
from shapes import ALSO_ASKED, ASKED, KINDS, power_law, same

import dask_graphflow as gf

CALLS = [*ASKED.values(), *ALSO_ASKED.values()]


@pytest.mark.parametrize(
    ("kind", "members", "directed"),
    [
        ("dense", 1, True),
        ("far apart", 3, False),
        ("strings", 3, True),
        pytest.param("dense", 2, False, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("third", range(3))
def test_members_threads_partitions_and_the_order_of_edges_change_no_bit(
    built, members, rng, kind, directed, third
):
    edges = KINDS[kind](power_law(rng))
    sources = edges.a.iloc[[0, 700]].tolist()
    plain = built(edges, shards=1, partitions=1, directed=directed)
    split = built(edges.sample(frac=1, random_state=1), partitions=9, directed=directed)
    assert (split.num_vertices, split.num_edges) == (plain.num_vertices, plain.num_edges)
    for call in CALLS[third::3]:
        wanted = call(plain, sources).compute()
        with dask.config.set(num_workers=fewer(3, 1) * members):
            same(call(split, sources).compute(), wanted)


@pytest.mark.parametrize(
    ("members", "directed"), [(3, True), pytest.param(1, False, marks=pytest.mark.slow)]
)
def test_ids_of_text_change_no_bit(built, rng, directed):
    edges, name = power_law(rng), "v{:03d}".format
    sources = edges.a.iloc[[0, 700]].tolist()
    plain = built(edges, directed=directed)
    text = built(edges.assign(a=edges.a.map(name), b=edges.b.map(name)), directed=directed)
    for call in CALLS:
        if call is ALSO_ASKED["vectors"]:  # random vectors depend on the ids themselves
            continue
        wanted = call(plain, sources).compute()
        found = call(text, [name(source) for source in sources]).compute()
        for column in found:
            if pd.api.types.is_string_dtype(found[column]):
                wanted[column] = wanted[column].map(lambda i: name(int(i)), na_action="ignore")
        same(found.astype(wanted.dtypes), wanted)


@pytest.mark.parametrize(
    ("placement", "members", "directed"),
    [
        ("random", 3, True),
        ("hubs-on-cpu", 3, False),
        pytest.param("leaves-on-cpu", 3, True, marks=pytest.mark.slow),
    ],
)
def test_shares_and_placement_change_no_bit(built, rng, placement, directed):
    host_only("hybrid graphs take edges in host memory")
    edges = power_law(rng)
    sources = edges.a.iloc[[0, 700]].tolist()
    hybrid = gf.Hybrid([0.2, 0.5, 0.3], placement)
    plain = built(edges, shards=1, directed=directed)
    placed = built(edges, shards=None, hybrid=hybrid, directed=directed)
    for call in CALLS:
        same(call(placed, sources).compute(), call(plain, sources).compute())
