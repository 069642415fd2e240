"""A shard on a device whose graph was built on the host.

Where a graph is shared out between devices and hosts, all members build it on the host, alike. What an
algorithm goes along, and nothing else, is then copied to the device, when it is first asked for, and kept
there: so a device needs room for that alone. Where it has none, edges stay in memory of the host that the
device reads over the link; what there is of vertices has to lie there.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels import lift

from .local_rows import Local
from .shard import Shard

__all__ = ["DeviceShard", "let_go", "on_this_device"]

_all: WeakSet[DeviceShard] = WeakSet()  # of this process


class DeviceShard(Shard):
    """A view of a shard on the current device.

    Parameters
    ----------
    host : Shard
        It keeps what is made of it, and this one the copies.
    """

    def __init__(self, host: Shard) -> None:
        own = host.like, host.bounds, host.rank
        about: dict[str, Any] = {"base": host.base, "ids": host.ids, "placed": host.placed}
        super().__init__(*own, directed=host.directed, **about)
        self._host, self._linked = host, set[str]()
        _all.add(self)

    @property
    def host(self) -> Shard:
        """The shard that this one was lifted from."""
        return self._host

    @property
    def on_device(self) -> bool:
        """Whether it lies on a device."""
        return True

    @property
    def linked(self) -> bool:
        """Whether the device reads edges of it over the link."""
        return bool(self._linked)

    def here(self, name: str, value: Any) -> Any:
        """Return what was made of :attr:`host`, copied to the device once.

        It is kept there while there is room: where there is none, what other algorithms go along, of
        this graph and of others, is let go of first. Edges that there is no room for even then are read
        over the link.
        """
        try:
            return self.kept(name, lambda: lift(value))
        except GraphMemoryError:
            let_go()
        try:
            return self.kept(name, lambda: lift(value))
        except GraphMemoryError:
            found = self.kept(name, lambda: lift(value, linked=True))
        self._linked.add(name)
        return found

    def let_go(self) -> None:
        """Keep no copies any more that take room on a device; edges read over the link take none."""
        with self._making:
            for name in self._made.keys() - self._linked:
                del self._made[name]

    def local(self, which: str = "out", threads: int = 1) -> Local:
        """Return rows by the numbers that vertices have in this shard."""
        found: Local = self.here(f"local {which}", self.host.local(which, threads))
        return found


def on_this_device(shard: Shard) -> Shard:
    """Return the view of a shard on the current device. Each call returns the same view.

    Parameters
    ----------
    shard : Shard
        A shard whose graph was built on the host.
    """
    if shard.device_view is None:
        shard.device_view = DeviceShard(shard)
    view: Shard = shard.device_view
    return view


def let_go() -> None:
    """Drop all cached device copies. Arrays that are in use stay alive."""
    for lifted in list(_all):
        lifted.let_go()
