"""Peers: members whose devices see each other's memory.

An operator of such members runs many supersteps in one launch per device: kernels write to the columns of
other members, and wait for each other without their hosts. All members have to be on one machine, each with
a device of its own. Where memory cannot be shared, operators send messages instead, with the same result.
"""

from __future__ import annotations

import importlib
import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any

from .channel import PeerLost

logger = logging.getLogger(__name__)

Swap = Callable[[Any], list[Any]]
"""Sends an object to all members, and returns the object of each member."""


class Peers:
    """The shared memory of the members of a gang, on each of their devices.

    All members make theirs, and take columns, at once. They are kept for later runs of the same members.
    `why_not` says why this member cannot use the memory of the others; it is empty if no reason is known.
    """

    def __init__(self, rank: int, size: int, swap: Swap, why_not: str = "") -> None:
        self.rank, self.size = rank, size
        self._device = importlib.import_module("dask_graphflow.kernels.device_peers")
        self.stop = self._device.Stop()
        self._arenas: list[tuple[Any, list[Any]]] = []  # and who uses each: at most one lease
        most = self._device.MEMBERS
        if size > most:
            why_not = f"there are {size} members, and {most} can share memory"
        self.mail = self._make(self._device.BLOCK, swap, why_not)
        if self.shared:
            logger.info("The kernels of %d GPUs use each other's memory", size)

    @property
    def shared(self) -> bool:
        """Whether memory can be shared at all."""
        return self.mail is not None

    def columns(
        self, columns: Sequence[tuple[Any, int]], swap: Swap, *, able: bool
    ) -> list[Any] | None:
        """Return columns with some dtypes and numbers of entries, the same for all members.

        Their entries are arbitrary. Return None if a member is not able to use them, or has too little
        memory.
        """
        sizes = [self._device.np.dtype(dtype).itemsize * count for dtype, count in columns]
        size = self._device.starts(sizes)[-1]
        free = {at for at, (_, lease) in enumerate(self._arenas) if not lease}
        self._device.wait()  # what this member has queued may still use memory that others have freed
        offers = swap(free if able else None)
        if None in offers:
            logger.info("Members send messages: a GPU has no room for the edges of its member")
            return None
        common = set.intersection(*offers)
        fits = [at for at in sorted(common) if self._arenas[at][0].size >= size]
        if fits:
            arena, lease = self._arenas[min(fits, key=lambda at: self._arenas[at][0].size)]
        else:
            # Arenas that nobody uses are too small, and their memory may be needed. A member frees its own
            # memory when the others have closed it.
            for at in sorted(common):
                self._arenas[at][0].close()
            swap(None)
            self._arenas = [one for at, one in enumerate(self._arenas) if at not in common]
            arena, lease = self._make(size, swap), []
            if arena is None:
                return None
            self._arenas.append((arena, lease))
        made: list[Any] = arena.columns(columns, _Lease(lease))
        return made

    def describe(self, bounds: Sequence[int]) -> Any:
        """Return what kernels need of the members: the struct ``Gang`` in gang.cuh."""
        return self._device.gang(self.rank, self.size, bounds, self.mail, self.stop)

    def mirrors(self, *arguments: Any) -> Any:
        """Return :class:`.device_peers.SharedMirrors`."""
        return self._device.SharedMirrors(*arguments)

    def align(self, memory: SharedMemory) -> None:
        """Begin to wait on the device; see :func:`.device_peers.align`."""
        self._device.align(memory)

    def drop(self) -> None:
        """End kernels that wait for other members. The memory is not used again."""
        self.stop.set()

    def close(self) -> None:
        """Close the memory of the other members, once no thread of this member starts kernels any more.

        This waits for the kernels that run. The own memory is freed when no array uses it. CUDA keeps it
        until the others have closed it, too.
        """
        arenas = [self.mail, *(arena for arena, _ in self._arenas)]
        self.mail, self._arenas = None, []
        for arena in arenas:
            if arena is not None:
                arena.close()

    def _make(self, size: int, swap: Swap, why_not: str = "") -> Any:
        """Return memory of all members, or None if a member cannot share it."""
        arena = None
        try:
            if not why_not:
                arena = self._device.Arena(size)
        except (self._device.CannotShare, MemoryError) as error:
            why_not = str(error)
        try:
            why_not = self._open(arena, why_not, swap)
        except BaseException:  # the run is over
            if arena is not None:
                arena.close()
            raise
        if not why_not:
            return arena
        if arena is not None:
            arena.close()
        logger.info("GPUs do not share memory, so members send messages: %s", why_not)
        return None

    def _open(self, arena: Any, why_not: str, swap: Swap) -> str:
        """Open the memory of the other members. Return why that is impossible for any member."""
        handles = swap(None if arena is None else arena.handle)
        if arena is not None and None not in handles:
            try:
                arena.open(handles, self.rank)
            except self._device.CannotShare as error:
                why_not = str(error)
        return next(filter(None, swap(why_not)), "")


class _Lease:
    """Marks an arena as used for as long as it exists."""

    def __init__(self, users: list[Any]) -> None:
        self._users = users
        users.append(id(self))

    def __del__(self) -> None:
        self._users.clear()


class SharedMemory:
    """The memory that the members of one graph share on their devices, for the kernels of an operator.

    It calls `used` when it has given an operator columns.

    Attributes
    ----------
    most : int
        The largest number of vertices that a member owns.
    gang : array of one struct
        What kernels need of the members: ``Gang`` in gang.cuh.
    """

    def __init__(
        self,
        peers: Peers,
        bounds: Sequence[int],
        swap: Swap,
        used: Callable[[], None],
        *,
        able: bool,
    ) -> None:
        self._peers, self._swap, self._used, self._able = peers, swap, used, able
        self.most = max(high - low for low, high in itertools.pairwise(bounds))
        self.gang = peers.describe(bounds)

    def swap(self, own: Any) -> list[Any]:
        """Send an object to all members, and return the object of each member."""
        return self._swap(own)

    def mirrors(self, which: Sequence[Any], own: int, begins: Sequence[int]) -> Any:
        """Return what writes to mirrors of own entries; see :class:`.device_peers.SharedMirrors`."""
        return self._peers.mirrors(self, which, own, begins)

    def align(self) -> None:
        """Let this member's next kernels wait until all members have done what they queued before."""
        self._peers.align(self)

    def columns(self, *columns: tuple[Any, int]) -> list[Any] | None:
        """Return columns with some dtypes and numbers of entries. All members ask for the same ones.

        The entries are arbitrary. Return None if a member has too little memory.
        """
        made = self._peers.columns(columns, self._swap, able=self._able)
        if made is not None:
            self._used()
        return made

    def check(self, failed: Any) -> None:
        """Raise an error if a kernel ended because the members gave up."""
        if failed:
            raise PeerLost((self._peers.rank + 1) % self._peers.size)
