"""Reprs in a terminal and in a notebook: they show what is known, and compute nothing."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import dask
import pytest
from conftest import frame, partitioned

import dask_graphflow as gf
from dask_graphflow.costs import ClusterSpec, Links, Rates
from dask_graphflow.costs.estimate_of_call import Calibration
from dask_graphflow.showing.tables import as_html

KERNELS = ("hooks", "builds", "pulls", "searches", "paths", "labels", "merges")
RATES = Rates((100, 2000), **dict.fromkeys(KERNELS, (4e6, 1.6e6)))
LINKS = Links(c=1e9, moves=math.inf, latency=3e-5, call=0.01, level=0.001, gang=0.05)
EVIL = "<script>alert('&')</script>"


class Table(HTMLParser):
    """The cells of an HTML table, row by row, and its tags."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags = [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows:
            self.rows[-1][-1] += data


def said(thing):
    """Return the rows of a table of two columns, in both forms the same."""
    printed = dict(line.split("  ", 1) for line in repr(thing).splitlines())
    printed = {name: value.strip() for name, value in printed.items()}
    assert dict(Table(thing._repr_html_()).rows) == printed
    return printed


def unread(_):
    raise AssertionError("an edge was read")


def lazy(edges, count=3):
    return partitioned(edges, count).map_partitions(unread, meta=edges.iloc[:0])


# Tables


def test_html_escapes_tags():
    table = Table(as_html([(EVIL, EVIL)], head=(EVIL, "<b>"), note=f"{EVIL}"))
    assert table.tags == {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert table.rows[0] == [EVIL, "<b>"]
    assert table.rows[1][0] == EVIL


# Graphs


def test_a_lazy_graph_says_so_and_reads_no_edge():
    edges = frame([(0, 1), (1, 2)]).assign(w=1.0)
    found = said(gf.Graph(lazy(edges), source="a", target="b", weight="w", directed=False))
    assert found == {
        "Graph": "undirected",
        "source": "'a'",
        "target": "'b'",
        "weight": "'w'",
        "ids": "int64",
        "edge partitions": "3",
        "shards": "1",
        "memory": "host",
        "storage": "in memory: the number of edges is not known before they are read",
        "built": "no; every compute() builds it again, persist() builds it once",
    }


def test_ids_of_several_columns_and_shards():
    edges = frame([(0, 1), (1, 2)]).assign(c="x", d="y")
    graph = gf.Graph(lazy(edges), source=["a", "c"], target=["b", "d"], shards=2)
    found = said(graph)
    assert (found["Graph"], found["weight"], found["shards"]) == ("directed", "none", "2")
    assert (found["source"], found["target"]) == ("'a', 'c'", "'b', 'd'")
    assert found["ids"].startswith("int64, ")
    assert said(gf.Graph(edges, source="a", target="b", hybrid="auto"))["shards"].endswith("hybrid")


@pytest.mark.parametrize("shards", [1, 2])
def test_the_repr_of_a_persisted_graph_says_what_is_known(scheduler, shards):
    edges = partitioned(frame([(0, 1), (1, 2), (2, 2)]), 2)
    lazily = gf.Graph(edges, source="a", target="b", shards=shards)
    graph = lazily.persist()
    found = said(graph)
    assert found["built"].startswith("yes")
    assert "vertices" not in found
    assert (graph.num_vertices, graph.num_edges) == (3, 3)
    with dask.config.set(scheduler=lambda *_, **__: unread(None)):
        found = said(graph)
    assert (found["vertices"], found["edges"]) == ("3", "3")
    # The size of a graph that is not persisted may change when it is built again.
    assert lazily.num_edges == 3
    assert "edges" not in said(lazily)
    assert "edges" not in said(lazily.persist())


# Estimates, rates and links


def test_an_estimate_is_the_same_table_in_a_notebook():
    cluster = [ClusterSpec(3, memory=1 << 30, rates=RATES, links=LINKS)]
    edges = frame([(0, 1), (1, 2)])
    found = said(gf.estimate(edges, "pagerank", cluster, source="a", target="b"))
    assert found["graph"] == "3 vertices, 2 edges"
    assert "MiB" in found["memory per worker"]


def test_a_calibration_has_a_row_for_each_kind():
    kinds = ClusterSpec(2, 4, rates=RATES), ClusterSpec(1, device=True, rates=RATES)
    made = Calibration(kinds, LINKS)
    rows = [["2 x 4 threads", "V = 2,000"], ["1 x GPU", "V = 2,000"]]
    rates = ["2"] * 4  # of 1.6 million, in whole ones
    table = Table(made._repr_html_())
    note = "between two: messages 1 GB/s, forests not sent, a round 30 us"
    assert [row[:2] for row in table.rows[1:]] == rows
    assert table.rows[1][2:] == rates
    assert note in made._repr_html_()
    lines = repr(made).splitlines()
    assert [line.split("  ")[0] for line in lines[1:3]] == ["2 x 4 threads", "1 x GPU"]
    assert lines[3].startswith(note)


def test_shares_of_a_hybrid():
    kinds = gf.Hybrid({"gpu": 0.7, "<cpu>": 0.3}, placement="hubs-on-cpu")
    rows = Table(kinds._repr_html_()).rows
    assert rows == [
        ["shares of the edges", "placement hubs-on-cpu"],
        ["gpu", "70.0%"],
        ["<cpu>", "30.0%"],
    ]
    assert Table(gf.Hybrid([0.5, 0.5])._repr_html_()).rows[2] == ["shard 1", "50.0%"]
    assert Table(gf.Hybrid()._repr_html_()).rows[1] == ["all", "auto: by speed and room"]
    assert eval(repr(kinds), {"Hybrid": gf.Hybrid}) == kinds
