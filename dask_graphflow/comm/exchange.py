"""Exchange: what the members of a gang tell each other in a superstep.

It goes in *rounds*. In each, every member sends one message to every other one and receives one from each,
if only a header. A header carries a *vote*, so that all members know after each round what all of them
together have left to do, and stop at the same time.

Member p sends to p + 1, p + 2 and so on, and receives from p - 1, p - 2 and so on: no two send to the same
one at a time. What is for p + 2 is packed while what is for p + 1 travels. Itself it serves last: by what a
caller does between sending and receiving (Gemini [1]_).

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.kernels import on_device

from .carriers import carrier
from .channel import Channel
from .outbox import FORMS, Packed

__all__ = ["IDLE", "Exchange", "Traffic", "Vote"]

KINDS = ("agree", "deal", "bitmap", "gather", "scatter")
# Round, kind, form, whether from a device, dtype, entries, bytes; a vote. Padded, so that the arrays after
# it begin where a cache line's words do: on others NumPy and compiled loops take longer.
HEADER = struct.Struct("<QBB?6sQQqqqdd7x")


class Vote(NamedTuple):
    """What a member adds to a round, and what all of them together did.

    Attributes
    ----------
    active, edges : int
        By convention its active vertices, and the edges of its frontier. They are summed, as int64.
    whole : int
        Any other whole number to be summed, as int64.
    real : float
        A number to be summed. The sum is the same for every order of the members.
    most : float
        A number of which the greatest is wanted.
    """

    active: int = 0
    edges: int = 0
    whole: int = 0
    real: float = 0.0
    most: float = -math.inf


IDLE = Vote()


def _total(votes: Sequence[Vote]) -> Vote:
    active, edges, whole, real, most = zip(*votes, strict=True)
    return Vote(sum(active), sum(edges), sum(whole), math.fsum(real), max(most))


@dataclass
class Traffic:
    """What some rounds sent, and what took how long.

    Attributes
    ----------
    rounds : int
    sent : dict of str to int
        Bytes by form of box (see :mod:`.outbox`), of headers, and of what was dealt or shared as a bitmap.
    packing, sending, unpacking, waiting : float
        Seconds: filling boxes; giving them to the channel; handing over what was received, and what
        the caller did with it; waiting for messages.
    """

    rounds: int = 0
    sent: dict[str, int] = field(default_factory=dict)
    packing: float = 0.0
    sending: float = 0.0
    unpacking: float = 0.0
    waiting: float = 0.0


class Exchange:
    """A member's side of the rounds. All members do the same ones in the same order.

    Parameters
    ----------
    channel : Channel
        Others do not use it meanwhile. It raises what went wrong, and is to be aborted after errors here.
    device : bool
        Whether columns lie on devices; they arrive there then.
    mixed : bool
        Whether `device` may be another one for other members; else it is the same for all.

    Attributes
    ----------
    devices : bool
        Whether columns lie on a device for any member.
    """

    def __init__(self, channel: Channel, *, device: bool = False, mixed: bool = False) -> None:
        self.rank, self.size = channel.rank, channel.size
        self._channel = channel
        several = self.size > 1
        self._carrier = carrier(channel, device=device) if several and (device or mixed) else None
        self.devices = device if self._carrier is None else self._carrier.devices
        self._device = device
        self._round = 0
        self._due: tuple[str, Vote, bool] | None = None
        self._traffic = Traffic()

    def agree(self, vote: Vote) -> Vote:
        """Return what the votes of all members come to."""
        self.send("agree", lambda _: Packed("nothing", 0, None, np.empty(0, np.uint8)), vote)
        return self.receive("agree", lambda *_: None)

    def deal(self, arrays: Sequence[Any], vote: Vote = IDLE) -> tuple[list[Any], Vote]:
        """Send each member an array of its own.

        Parameters
        ----------
        arrays : sequence of ndarray, shape (any,)
            For each member, this one included. They may be changed after the next round.
        vote : Vote

        Returns
        -------
        list of ndarray
            From each member; that from itself is not copied.
        Vote
        """
        return self._swap("deal", arrays, vote)

    def bitmap(self, words: Any, vote: Vote = IDLE) -> tuple[Any, Vote]:
        """Put a bitmap of all vertices together from those that the members have of their own.

        Parameters
        ----------
        words : ndarray of uint64, shape (ceil(V_p / 64),)
            Of a range that begins at a multiple of 64. It may be changed after the next round.
        vote : Vote

        Returns
        -------
        ndarray of uint64, shape (ceil(V / 64),)
        Vote
        """
        parts, total = self._swap("bitmap", [words] * self.size, vote)
        return np.concatenate(parts), total

    def take_traffic(self) -> Traffic:
        """Return what was sent since this was last asked."""
        traffic, self._traffic = self._traffic, Traffic()
        return traffic

    def send(
        self,
        kind: str,
        packed: Callable[[int], Packed],
        vote: Vote,
        *,
        device: bool | None = None,
    ) -> None:
        """Begin a round.

        Parameters
        ----------
        kind : str
            One of :data:`KINDS`.
        packed : callable
            Packs for a member. What it returns may be written to again after the next round.
        vote : Vote
        device : bool, optional
            Whether what is received is to lie on this member's device; by default as columns do.
        """
        if self._due is not None:
            raise GraphflowError(f"a round of {self._due[0]!r} was begun; receive it first")
        self._due = kind, vote, self._device if device is None else device
        sent = self._traffic.sent
        for step in range(1, self.size):
            to = (self.rank + step) % self.size
            began = time.perf_counter()
            form, count, dtype, raw = packed(to)
            packed_at = time.perf_counter()
            self._traffic.packing += packed_at - began
            name = b"" if dtype is None else dtype.str.encode()
            carried, size = on_device(raw), raw.nbytes
            what = KINDS.index(kind), FORMS.index(form), carried, name, count, size
            header = HEADER.pack(self._round, *what, *vote)
            if carried:
                assert self._carrier is not None, "who deals arrays on a device says so"
                raw = self._carrier.post(to, raw)
            self._channel.send(to, header, raw)
            self._traffic.sending += time.perf_counter() - packed_at
            sent["header"] = sent.get("header", 0) + len(header)
            if size:
                by = kind if kind in ("deal", "bitmap") else form
                sent[by] = sent.get(by, 0) + size

    def receive(self, kind: str, unpacked: Callable[[int, Packed], None]) -> Vote:
        """End a round.

        Parameters
        ----------
        kind : str
            What it was begun as.
        unpacked : callable
            Takes a member and what it sent, which is nobody else's.

        Returns
        -------
        Vote
            All members' together.
        """
        if self._due is None or self._due[0] != kind:
            raise GraphflowError(f"no round of {kind!r} was begun; send first")
        _, vote, device = self._due
        votes = [vote]
        waited = self._channel.seconds_waited
        for step in range(1, self.size):
            source, to = (self.rank - step) % self.size, (self.rank + step) % self.size
            message = self._channel.receive(source)
            number, what, form, carried, name, count, size, *told = HEADER.unpack_from(message)
            if (number, KINDS[what]) != (self._round, kind):
                raise GraphflowError(
                    f"member {source} sent round {number}, {KINDS[what]!r}, where member {self.rank} is at "
                    f"round {self._round}, {kind!r}; all members have to do the same rounds"
                )
            votes.append(Vote(*told))
            began = time.perf_counter()
            name = name.rstrip(b"\0").decode()
            raw: Any = np.frombuffer(message, np.uint8, offset=HEADER.size)
            if self._carrier is not None:
                raw = self._carrier.take(to, source, raw, size if carried else None, device)
            unpacked(source, Packed(FORMS[form], count, np.dtype(name) if name else None, raw))
            self._traffic.unpacking += time.perf_counter() - began
        self._traffic.waiting += self._channel.seconds_waited - waited
        self._traffic.rounds += 1
        self._round += 1
        self._due = None
        return _total(votes)

    def _swap(self, kind: str, arrays: Sequence[Any], vote: Vote) -> tuple[list[Any], Vote]:
        found = list(arrays)

        def packed(to: int) -> Packed:
            array = arrays[to] if arrays[to].flags.c_contiguous else arrays[to].copy()
            return Packed("dense", len(array), array.dtype, array.view(np.uint8))

        def unpacked(source: int, box: Packed) -> None:
            found[source] = box.raw.view(box.dtype)

        # Some of what is dealt is about what lies on a device, and lies on the host.
        self.send(kind, packed, vote, device=on_device(arrays[self.rank]))
        return found, self.receive(kind, unpacked)
