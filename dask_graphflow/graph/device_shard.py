"""A shard on a device whose graph was built on the host.

If a graph is divided between devices and hosts, or its edges are in host memory and calls on it run on
devices, all members build their shards in host memory. The rows
that an algorithm traverses are copied to the device when they are first used, and cached there. Nothing
else is copied, so the device needs room only for these rows. If it has too little room, the edges stay in
host memory and the device reads them over the link. Edges on disk are copied in the same way, to the device
or to host memory. Vertex data must fit in device memory.
"""

from __future__ import annotations

import logging
from typing import Any
from weakref import WeakSet

from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels import lift

from . import stored
from .local_rows import Local
from .shard import Shard

logger = logging.getLogger(__name__)

_all: WeakSet[DeviceShard] = WeakSet()  # all device shards of this process


class DeviceShard(Shard):
    """A view of a shard on the current device.

    The shard on the host caches what is made there; this view caches the device copies.
    """

    def __init__(self, host: Shard) -> None:
        own = host.like, host.bounds, host.rank
        about: dict[str, Any] = {"base": host.base, "ids": host.ids, "placed": host.placed}
        super().__init__(*own, directed=host.directed, **about)
        self._host, self._linked = host, set[str]()
        _all.add(self)

    @property
    def host(self) -> Shard:
        """The shard on the host of which this one is a view."""
        return self._host

    @property
    def on_device(self) -> bool:
        """Whether the shard is on a device."""
        return True

    @property
    def linked(self) -> bool:
        """Whether the device reads some of its edges over the link."""
        return bool(self._linked)

    def here(self, name: str, value: Any) -> Any:
        """Return something that was made from :attr:`host`, copied to the device once.

        The copy is cached while there is room. If there is too little, the cached copies of all graphs
        are dropped first. If the edges still do not fit, the device reads them over the link.
        """
        try:
            return self.kept(name, lambda: lift(value))
        except GraphMemoryError:
            let_go()
        try:
            return self.kept(name, lambda: lift(value))
        except GraphMemoryError:
            linked = self.kept(name, lambda: lift(value, linked=True))
        self._linked.add(name)
        logger.info("The GPU has no room for the edges (%r), and reads them from host memory", name)
        return linked

    def let_go(self) -> None:
        """Drop the cached copies that take device memory; edges read over the link take none."""
        with self._making:
            for name in self._made.keys() - self._linked:
                del self._made[name]

    def local(self, which: str = "out", threads: int = 1) -> Local:
        """Return rows whose ends are the positions of the vertices in this shard."""
        local: Local = self.here(stored.local(which), self.host.local(which, threads))
        return local


def on_this_device(shard: Shard) -> Shard:
    """Return the view of a host shard on the current device. Each call returns the same view."""
    if shard.device_view is None:
        shard.device_view = DeviceShard(shard)
    view: Shard = shard.device_view
    return view


def let_go() -> None:
    """Drop all cached device copies. Arrays that are in use stay alive."""
    for lifted in list(_all):
        lifted.let_go()
