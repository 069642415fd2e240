"""Forests over TCP: copied where they are if the receiver can read them there, sent as arrays if not."""

from __future__ import annotations

import logging
import multiprocessing
import types
import weakref

import dask.dataframe as dd
import numpy as np
import on_workers
import pandas as pd
import pytest
from conftest import BACKEND, cupy_or_skip, on_backend
from distributed.protocol import deserialize, serialize

import dask_graphflow as gf
from dask_graphflow.components import serialization
from dask_graphflow.components.forest import Forest
from dask_graphflow.scheduling import device_readers

HERE, THERE = "tcp://10.0.0.1:1000", "tcp://10.0.0.2:1000"


@pytest.fixture
def forest():
    found = Forest(np.zeros(0), base=5, size=4)
    found.hook(np.array([5, 7]), np.array([6, 8]))
    return found


class Memory(list):
    """Arrays that stay alive as long as they are referred to."""


class Elsewhere:
    """Memory that this process shares, as by :mod:`.kernels.device_ipc`; numbers stand for addresses."""

    class CannotShare(Exception):  # noqa: N818
        """This memory is of the wrong kind."""

    def __init__(self, shares):
        self.shares, self.held = shares, []

    def share(self, arrays):
        """Return the number of a copy of arrays, and what must be kept."""
        if not self.shares:
            raise self.CannotShare
        memory = Memory(array.copy() for array in arrays)
        self.held.append(weakref.ref(memory))
        return len(self.held) - 1, memory

    def copied(self, number):
        """Return copies of the arrays of that number."""
        return self.held[number]()


def _offer_to_readers(monkeypatch, *, shares):
    """Have all workers of the first host read what this process shares, if it can share."""
    memory = Elsewhere(shares)
    monkeypatch.setattr(device_readers, "_readers", frozenset({"10.0.0.1"}))
    monkeypatch.setattr(serialization, "LARGE", 0)
    monkeypatch.setattr(serialization, "on_device", lambda _: True)
    monkeypatch.setattr(serialization, "_device_ipc", lambda: memory)


def _sent_to(recipient, forest):
    """Return the message that a forest is sent as."""
    context = None if recipient is None else {"recipient": {"address": recipient}}
    return serialize(forest, serializers=("dask", "error"), context=context)


@pytest.mark.parametrize(
    ("recipient", "shares", "sent"),
    [(HERE, True, False), (HERE, False, True), (THERE, True, True), (None, True, True)],
    ids=["can read it", "wrong kind of memory", "another host", "unknown receiver"],
)
def test_a_forest_is_sent_as_arrays_only_if_the_receiver_cannot_read_them(
    monkeypatch, forest, caplog, recipient, shares, sent
):
    caplog.set_level(logging.INFO)
    _offer_to_readers(monkeypatch, shares=shares)
    header, frames = _sent_to(recipient, forest)
    assert bool(frames) == sent
    assert ("through host memory" in caplog.text) == (not shares)
    again = deserialize(header, frames)
    assert (again.base, again.parent.tolist()) == (5, [0, 0, 2, 2])


def test_a_sent_forest_can_be_read_although_the_forest_changes(monkeypatch, forest):
    _offer_to_readers(monkeypatch, shares=True)
    messages = []
    for _ in range(2):
        messages.append(_sent_to(HERE, forest))
        forest.hook(np.array([7]), np.array([5]))
        forest.compress()
    assert [deserialize(*each).parent.tolist() for each in messages] == [[0, 0, 2, 2], [0] * 4]


def test_only_hosts_of_which_all_workers_can_read_an_array_count(monkeypatch):
    monkeypatch.setattr(device_readers, "_readers", frozenset())
    own, beside, far, farther = (f"tcp://10.0.0.{i}:1" for i in (1, 1, 2, 2))
    beside, farther = beside + "1", farther + "1"
    read = {beside: {own}, far: {own, beside}, farther: {beside}, own: {beside}}
    device_readers._note(read, types.SimpleNamespace(address=own))
    assert device_readers.can_read("tcp://10.0.0.1:7")
    assert not device_readers.can_read("tcp://10.0.0.2:7")


def _copy(shared, put):
    """Copy arrays in another process, and tell what is in them."""
    from dask_graphflow.kernels import device_ipc

    put([array.get().tolist() for array in device_ipc.copied(shared)])


@pytest.mark.gpu
@pytest.mark.parametrize("pool", ["MemoryPool", "MemoryAsyncPool"])
def test_another_process_copies_arrays_from_the_middle_of_a_pool(pool):
    cupy = cupy_or_skip()
    from dask_graphflow.kernels import device_ipc

    spawning = multiprocessing.get_context("spawn")
    with cupy.cuda.using_allocator(getattr(cupy.cuda, pool)().malloc):
        whole = cupy.arange(1_000_000)
        parts = [whole[3:7], whole[-2:].astype("int8"), whole[:0], whole[5:]]
        shared, memory = device_ipc.share(parts)
        wanted = [part.get().tolist() for part in parts]
        whole[:] = 0  # what was shared is a copy
        here, there = spawning.Pipe()
        other = spawning.Process(target=_copy, args=(shared, there.send))
        other.start()
        there.close()  # or a process that ends before it sends anything would leave us waiting
        assert here.recv() == wanted
        other.join()
        del memory


def _is_read_by_others(dask_worker):
    return device_readers.can_read(dask_worker.address)


@pytest.mark.gpu
def test_workers_of_one_machine_copy_forests_from_each_other(client):
    if BACKEND.name != "cudf":
        pytest.skip("takes frames on a GPU")
    rng = np.random.default_rng(1)  # many ids, since small arrays are not shared
    pairs = pd.DataFrame(rng.integers(0, 12_000_000, (20_000, 2)), columns=["a", "b"])
    wanted = gf.connected_components(pairs, source="a", target="b").compute()
    edges = on_backend(dd.from_pandas(pairs, npartitions=4))
    client.run(on_workers.watch)
    options = {"inputs": "round-robin", "renumber": False}  # nothing but forests is sent
    found = gf.connected_components(edges, source="a", target="b", **options).compute()
    assert all(client.run(_is_read_by_others).values())
    pd.testing.assert_frame_equal(found.to_pandas().reset_index(drop=True), wanted)
    device, host, copied = on_workers.sent_by_all(client)
    assert device == host == 0
    assert copied >= 40_000_000  # four bytes for each of ten million vertices
