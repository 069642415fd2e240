"""The records that the package writes to its logger."""

from __future__ import annotations

import logging
import re

import pytest
from conftest import ENDS, frame, on_backend, partitioned
from distributed import wait
from members import eventually

import dask_graphflow as gf

EDGES = frame([(i, i + 1) for i in range(40)])


def set_level(level):
    logging.getLogger("dask_graphflow").setLevel(level)


@pytest.fixture
def records(caplog):
    """Return a function that returns all messages so far, as lines."""
    caplog.set_level(logging.DEBUG, logger="dask_graphflow")
    return lambda: "\n".join(caplog.messages)


@pytest.fixture
def forwarding(client):
    """Forward the records of the workers to this process, as docs/howto/progress.md says."""
    client.run(set_level, logging.DEBUG)
    client.forward_logging("dask_graphflow")
    yield client
    client.unforward_logging("dask_graphflow")
    client.run(set_level, logging.NOTSET)


def test_the_package_writes_nothing_unless_the_user_adds_a_handler():
    (handler,) = logging.getLogger("dask_graphflow").handlers
    assert isinstance(handler, logging.NullHandler)


def test_components_say_how_they_are_computed_and_why(client, records):
    edges = on_backend(partitioned(EDGES, 2))
    gf.connected_components(edges, **ENDS)
    assert "computed by separate tasks: no workers hold the edges" in records()
    edges = edges.persist()
    wait(edges)
    gf.connected_components(edges, **ENDS)
    assert "computed in one gang: workers hold the edges" in records()


def test_a_graph_with_fewer_shards_than_workers_says_why(client, records):
    gf.Graph(on_backend(partitioned(EDGES, 1)), **ENDS)
    assert "1 of 2 possible shards: its edges have 1 partition" in records()
    edges = on_backend(partitioned(EDGES, 4)).persist()
    wait(edges)
    gf.Graph(edges, **ENDS)
    assert re.search("at most [0-9]+ edges gets 1 of 2 possible shards: more would be", records())


def test_workers_say_how_many_shards_the_build_chose_and_how_long_it_took(forwarding, records):
    edges = on_backend(partitioned(EDGES, 4)).map_partitions(lambda part: part)  # of unknown length
    gf.Graph(edges, **ENDS).pagerank().compute()
    chosen = "A graph of 41 vertices and 40 edges gets 1 of 2 possible shards: one worker has room"
    assert eventually(lambda: chosen in records())
    assert eventually(lambda: "Shard 0 of 1 was built in" in records())
    assert eventually(lambda: "pagerank: member 0 of 1 took" in records())
