"""Links: the connections between the members of a gang, kept for further runs on the same shards.

Joining through Dask's scheduler and connecting take longer than many runs. Members that still have the
connections of an earlier run agree over these connections, which takes 50 us: member 0 names the run, and
all begin when all others have said yes. Anything unusual ends the connections, and the members join through
the scheduler. This happens if a member has no links that are idle, a connection is broken, member 0 names
another run, a member is late, or it must have its worker to itself and another run has that.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from .channel import Channel

logger = logging.getLogger(__name__)

PATIENCE = 0.05  # seconds to wait for the other members, before joining through the scheduler

Key = tuple[tuple[Any, ...], int]
"""The shards of all members, and the rank of this one."""


class MemberLinks:
    """The connections of a member to all others, for one run after another.

    `members` is the number of members on this worker, and `channel` that of the first run.
    """

    def __init__(self, shards: Sequence[Any], members: int, channel: Channel) -> None:
        self.key: Key = tuple(shards), channel.rank
        self.members = members
        self._peers, self._encrypted = channel.peers, channel.encrypted

    def lead(self, run: bytes) -> Channel | None:
        """Name the run, as member 0. Return a channel once all others have agreed, otherwise None."""
        deadline = time.monotonic() + PATIENCE
        try:
            for peer in self._peers.values():
                peer.send([memoryview(run)])
            for peer in self._peers.values():
                peer.receive(max(0.0, deadline - time.monotonic()))
            for peer in self._peers.values():
                peer.send([memoryview(b"go")])
        except OSError:
            self.close()
            return None
        return self.channel()

    def follow(self) -> bytes | None:
        """Return the name of the next run, as member 0 says it, or None."""
        try:
            return bytes(self._peers[0].receive(PATIENCE))
        except OSError:
            self.close()
            return None

    def agree(self) -> Channel | None:
        """Say yes to the run that member 0 has named. Return a channel if all others do too."""
        try:
            self._peers[0].send([memoryview(b"yes")])
            self._peers[0].receive(PATIENCE)
        except OSError:
            self.close()
            return None
        return self.channel()

    def channel(self) -> Channel:
        """Return a channel for the next run, to which all members have agreed."""
        return Channel(self.key[1], self._peers, encrypted=self._encrypted)

    def broken(self) -> bool:
        """Say whether a connection is known to be broken."""
        try:
            for peer in self._peers.values():
                peer.check()
        except OSError:
            return True
        return False

    def close(self) -> None:
        """Close all connections, from any thread."""
        for peer in self._peers.values():
            peer.abort()
        for peer in self._peers.values():
            peer.close()


class KeptLinks:
    """The links that a process keeps: at most one set that is idle, per member."""

    def __init__(self) -> None:
        self._idle: dict[Key, MemberLinks] = {}
        # Those on which member 0 has named a run whose member is not here yet.
        self._named: dict[tuple[Key, bytes], MemberLinks] = {}
        self._followed: set[Key] = set()  # a thread waits to hear the name of the next run
        self._changed = threading.Condition()

    def take(
        self, shards: Sequence[Any], rank: int, run: str, ready: Callable[[], bool]
    ) -> tuple[MemberLinks, Channel] | None:
        """Agree on a run with the other members. Return the links that it uses, and a channel.

        Return None if the run has to be joined in another way. Waits at most some :data:`PATIENCE`. Before
        this member agrees, `ready` says, without waiting, whether it can begin.
        """
        key = tuple(shards), rank
        name = run.encode()
        links = self._find_named(key, name) if rank else self._pop(key)
        if links is None:
            return None
        if not ready():
            links.close()
            return None
        channel = links.agree() if rank else links.lead(name)
        if channel is None:
            logger.info(
                "Member %d of %s connects anew: the members did not agree on kept links", rank, run
            )
            return None
        return links, channel

    def keep(self, links: MemberLinks, channel: Channel, wanted: Callable[[], bool]) -> None:
        """Leave a gang, as :meth:`.Channel.close` does, and keep its connections for another run.

        They are closed unless they are `wanted`: this member's shard is still in memory.
        """
        if not channel.leave():
            return
        with self._changed:
            old = self._remove(self._named, lambda _, links: links.broken())
            if wanted() and links.key not in self._idle:
                self._idle[links.key] = links
                self._changed.notify_all()
            else:
                old.append(links)
        for one in old:
            one.close()

    def drop(self, shard: Any) -> None:
        """Close the links of members with this shard."""
        with self._changed:
            old = self._remove(self._idle, lambda key, _: key[0][key[1]] == shard)
        for links in old:
            links.close()

    def close(self) -> None:
        """Close all links."""
        with self._changed:
            old = [*self._idle.values(), *self._named.values()]
            self._idle, self._named = {}, {}
        for links in old:
            links.close()

    def _pop(self, key: Key) -> MemberLinks | None:
        with self._changed:
            return self._idle.pop(key, None)

    def _find_named(self, key: Key, run: bytes) -> MemberLinks | None:
        """Return the links on which member 0 has named this run, or None."""
        with self._changed:
            self._changed.wait_for(
                lambda: (key, run) in self._named or key not in self._followed, PATIENCE
            )
            links = self._named.pop((key, run), None)
            if links is not None or key in self._followed:
                return links
            links = self._idle.pop(key, None)
            if links is None:
                return None
            self._followed.add(key)
        named = links.follow()
        with self._changed:
            self._followed.discard(key)
            if named is not None and named != run:
                self._named[key, named] = links
            self._changed.notify_all()
        return links if named == run else None

    def _remove(
        self, kept: dict[Any, MemberLinks], condition: Callable[[Any, MemberLinks], bool]
    ) -> list[MemberLinks]:
        return [kept.pop(key) for key, links in list(kept.items()) if condition(key, links)]
