"""Two GPUs under LocalCUDACluster: the host's labels, forests sent from GPU to GPU, a worker lost."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time

import dask
import dask.dataframe as dd
import numpy as np
import on_workers
import pytest
from conftest import ENDS, cupy_or_skip
from distributed import Client, KilledWorker, wait
from on_workers import PARTS

import dask_graphflow as gf

cupy = cupy_or_skip()
pytest.importorskip("cudf")
dask_cuda = pytest.importorskip("dask_cuda")
GPUS = cupy.cuda.runtime.getDeviceCount()

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = [
    pytest.mark.gpu2,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(GPUS < 2, reason=f"takes two GPUs, and here is {GPUS}"),
]

KINDS = ["int32", "int64", "strings"]


@pytest.fixture(scope="module", params=["tcp", "ucxx"])
def protocol(request):
    if request.param == "ucxx":
        pytest.importorskip("distributed_ucxx")
    return request.param


@contextlib.contextmanager
def started(protocol):
    with (
        dask_cuda.LocalCUDACluster(
            n_workers=2,
            protocol=protocol,
            rmm_pool_size="2GB",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client(protocol):
    with started(protocol) as client:
        yield client


@pytest.fixture
def own_client(protocol):
    """Return the client of a cluster that no other test uses.

    With UCX, Dask often hangs when a second worker of a cluster is killed, also without this library.
    """
    with started(protocol) as client:
        yield client


def edges(kind, pause=0.0):
    meta = on_workers.part(0, kind).iloc[:0]
    return dd.from_map(on_workers.part, range(PARTS), kind=kind, pause=pause, meta=meta)


@functools.cache
def expected(kind):
    """Return the labels that pandas gives on the host."""
    meta = on_workers.host_part(0, kind).iloc[:0]
    pairs = dd.from_map(on_workers.host_part, range(PARTS), kind=kind, meta=meta)
    with dask.config.set(scheduler="sync"):
        return gf.connected_components(pairs, **ENDS).compute()


def same(found, kind):
    assert type(found).__module__.startswith("cudf")
    found, wanted = found.to_pandas(), expected(kind)
    assert list(found) == list(wanted)
    for column in wanted:
        assert kind == "strings" or found[column].dtype == wanted[column].dtype
        np.testing.assert_array_equal(found[column].to_numpy(), wanted[column].to_numpy())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("merge", ["tree", "one-way", "ring"])
def test_the_same_bits_as_pandas_on_the_host(client, kind, merge):
    same(gf.connected_components(edges(kind), **ENDS, merge=merge).compute(), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_edges_on_the_gpus_give_the_same_bits(client, kind):
    held = edges(kind).persist()
    wait(held, timeout=120)
    labels = gf.connected_components(held, **ENDS).persist()
    wait(labels, timeout=120)
    same(labels.compute(), kind)


@pytest.mark.parametrize("persisted", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_members_send_forests_from_gpu_to_gpu(client, kind, persisted):
    held, inputs = edges(kind), "round-robin"
    if persisted:
        held, inputs = held.persist(), "availability"
        wait(held, timeout=120)
    client.run(on_workers.watch)
    client.run(on_workers.watch_members)
    labels = gf.connected_components(held, **ENDS, inputs=inputs).persist()
    wait(labels, timeout=120)
    vertices = len(expected(kind))
    # One member sends its forest, of more than four bytes per vertex, and the other one half of the roots.
    assert sum(client.run(on_workers.sent_by_members).values()) >= 6 * vertices
    assert on_workers.sent_by_all(client) < vertices  # Dask sends no forest
    same(labels.compute(), kind)


@pytest.mark.parametrize("kind", ["int64", "strings"])
def test_a_worker_lost_in_mid_run_leaves_a_right_result_or_one_error_and_a_cluster_that_works(
    own_client, kind
):
    client = own_client
    # Both workers have compiled their kernels.
    same(gf.connected_components(edges(kind), **ENDS).compute(), kind)
    future = client.compute(gf.connected_components(edges(kind, pause=0.25), **ENDS))
    time.sleep(1)
    assert future.status == "pending"
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    try:
        found = future.result(timeout=30)
    except (gf.GraphflowError, KilledWorker):
        pass
    else:
        same(found, kind)
    client.wait_for_workers(2, timeout=60)
    again = client.compute(gf.connected_components(edges(kind), **ENDS))
    same(again.result(timeout=60), kind)
