"""Gangs on clusters of all kinds: with TLS, in one process, started or enlarged later."""

from __future__ import annotations

import ssl

import pytest
from conftest import two_workers
from distributed import Client, Security
from gangs import META, expected, found, frame, nothing_left, total, where
from members import certified as certified_in

from dask_graphflow.comm.memory import MemoryConnection
from dask_graphflow.tasks import gang

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")


def test_a_worker_in_the_process_of_its_client():
    with two_workers(processes=False) as cluster, Client(cluster):
        assert found(gang.run(frame(3), total, META).compute()) == expected(3)
        assert gang.run(frame(3), by_memory, META).compute().total.tolist() == [2, 2, 2]


def test_only_members_of_one_process_send_messages_in_memory(client):
    assert gang.run(frame(2), by_memory, META).compute().total.tolist() == [0, 0]
    assert sorted(gang.run(frame(3), by_memory, META).compute().total) == [0, 1, 1]


def by_memory(channel, shard, rank):
    """Return how many other members are connected in memory."""
    part = total(channel, shard, rank)
    peers = channel.peers.values()
    return part.assign(total=sum(isinstance(peer, MemoryConnection) for peer in peers))


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    key, certificate = certified_in(tmp_path_factory.mktemp("tls"))
    roles = {
        f"tls_{role}_{what}": path
        for role in ("client", "scheduler", "worker")
        for what, path in (("key", key), ("cert", certificate))
    }
    return Security(tls_ca_file=certificate, require_encryption=True, **roles)


def test_on_a_cluster_with_tls_members_talk_by_tls(certified):
    with (
        two_workers(security=certified, protocol="tls://") as cluster,
        Client(cluster, security=certified),
    ):
        assert gang.run(frame(2), encrypted, META).compute().total.tolist() == [1, 1]


def encrypted(channel, shard, rank):
    part = total(channel, shard, rank)
    (peer,) = channel.peers.values()
    return part.assign(total=sum(isinstance(part, ssl.SSLSocket) for part in vars(peer).values()))


@pytest.mark.slow
def test_a_worker_that_joins_later(mortal):
    assert found(gang.run(frame(2), total, META).compute()) == expected(2)
    mortal.cluster.scale(3)
    mortal.wait_for_workers(3, timeout=30)
    ports = gang.run(frame(3), where, META).compute().total
    assert len(set(ports)) == 3


@pytest.mark.slow
def test_a_graph_made_before_there_is_a_cluster():
    result = gang.run(frame(2), total, META)
    with two_workers() as cluster, Client(cluster) as client:
        assert found(client.compute(result).result(timeout=30)) == expected(2)
        assert nothing_left(client)
