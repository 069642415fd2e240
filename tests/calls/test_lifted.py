"""Which arrays of a shard are copied to a device, stay on the host, or are dropped: without a device."""

from __future__ import annotations

import sys
import types
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from dask_graphflow import kernels
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.graph import device_shard
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import common
from dask_graphflow.kernels.csr import Rows


class Copy(NamedTuple):
    """An array that stands for one in other memory."""

    where: str
    size: int


class Device:
    """A device with room for a number of bytes."""

    def __init__(self, room):
        self.room, self.lifts = room, []

    def lift(self, value, *, linked=False):
        self.lifts.append((len(value), linked))
        if linked:
            return Copy("host", len(value))
        if len(value) > self.room:
            raise GraphMemoryError("no room", needed=len(value), available=self.room)
        self.room -= len(value)
        return Copy("device", len(value))


@pytest.fixture
def device(monkeypatch):
    device = Device(100)
    monkeypatch.setattr(device_shard, "lift", device.lift)
    return device


@pytest.fixture
def shard():
    made = Shard(pd.DataFrame({"a": np.empty(0, "int64")}), [0, 4096], 0, directed=True)
    return device_shard.on_this_device(made)


def array(size):
    return np.zeros(size, np.uint8)


def test_a_copy_is_made_once(shard, device):
    assert [shard.here("one", array(60)) for _ in range(2)] == [Copy("device", 60)] * 2
    assert device.lifts == [(60, False)]
    assert not shard.linked


def test_without_room_other_copies_are_dropped_first(shard, device, monkeypatch):
    shard.here("one", array(60))

    def let_go(before=device_shard.let_go):
        before()
        device.room = 100

    monkeypatch.setattr(device_shard, "let_go", let_go)
    assert shard.here("two", array(70)) == Copy("device", 70)
    assert not shard.has("one")
    assert not shard.linked


def test_edges_without_room_even_then_are_read_over_the_link_and_kept(shard, device):
    for _ in range(2):
        assert [shard.here(name, array(120)) for name in "ab"] == [Copy("host", 120)] * 2
    # Each was tried twice and linked once: linking one does not make another one be linked again.
    assert device.lifts == [(120, False), (120, False), (120, True)] * 2
    assert shard.linked
    shard.here("small", array(10))
    device_shard.let_go()
    assert shard.has("a")
    assert not shard.has("small")


def test_only_the_edges_of_rows_are_linked(monkeypatch):
    def there(name):
        return lambda array: Copy(name, len(array))

    namespace = types.SimpleNamespace(asarray=there("device"))
    for package, name, stub in (
        (common, "device", types.SimpleNamespace(namespace=namespace)),
        (kernels, "device_copies", types.SimpleNamespace(linked=there("host"))),
    ):
        monkeypatch.setattr(package, name, stub, raising=False)
        monkeypatch.setitem(sys.modules, f"{package.__name__}.{name}", stub)
    rows = Rows(array(5), array(9), array(9), 0)
    found, sizes, what = kernels.lift((rows, [array(3)], "text"), linked=True)
    assert found == Rows(Copy("device", 5), Copy("host", 9), Copy("host", 9), 0)
    assert (sizes, what) == ([Copy("device", 3)], "text")
    assert kernels.lift(rows._replace(weights=None), linked=True).weights is None
    assert kernels.lift(rows).ends == Copy("device", 9)
