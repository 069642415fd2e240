"""Exchange: rounds of messages between the members of a gang.

In each *round*, every member sends one message to every other member and receives one from each, even if it
is only a header. The header carries numbers that are reduced over all members: sums and a maximum. So all
members know after each round how much is left to do, and stop at the same time. Because these numbers
are sent in the messages of the round, they do not need a round of their own.

Member p sends to p + 1, p + 2 and so on, and receives from p - 1, p - 2 and so on, so no two members send
to the same member at a time. The message for p + 2 is packed while the message for p + 1 is in transit. A
member does its local work between sending and receiving (Gemini [1]_).

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.kernels import on_device

from .carriers import carrier, swap
from .channel import Channel
from .outbox import FORMS, Packed
from .peers import Peers, SharedMemory

KINDS = ("all_reduce", "all_to_all", "all_gather", "reduce", "broadcast")
SUMS = 4  # numbers that one header can sum
# Round, kind, form, whether the array is on a device, dtype, entries, bytes; sums and a maximum. Padding
# aligns the array after the header, because NumPy and compiled loops take longer on unaligned arrays.
HEADER = struct.Struct(f"<QBB?6sQQ{SUMS}qd7x")


# An array that is sent outside of a round: dtype, bytes, and whether it is on a device.
LONE = struct.Struct("<6sQB1x")

NOTHING = Packed("nothing", 0, None, np.empty(0, np.uint8))


class Totals(NamedTuple):
    """Numbers of one member, or of all members together."""

    # Up to four numbers that are summed, each an int64. Sums of floats would depend on the number of
    # members; use whole multiples of a power of two instead.
    sums: tuple[int, ...] = ()
    most: float = -math.inf  # a number that is reduced to its maximum


@dataclass
class Traffic:
    """Bytes sent and time spent in some rounds."""

    rounds: int = 0  # number of rounds
    # Bytes by form of box (see :mod:`.outbox`), and the bytes of headers, ``"all_to_all"``,
    # ``"all_gather"`` and ``"lone"``, the arrays outside of rounds.
    sent: dict[str, int] = field(default_factory=dict)
    # Seconds spent on packing boxes; on giving them to the channel; on unpacking received messages,
    # including the caller's work on them; and on waiting for messages.
    packing: float = 0.0
    sending: float = 0.0
    unpacking: float = 0.0
    waiting: float = 0.0


class Exchange:
    """A member's side of the rounds. All members do the same rounds in the same order.

    Parameters
    ----------
    channel : Channel
        Nothing else may use the channel at the same time. Abort it after an error in the exchange.
    device : bool
        Whether columns are stored on this member's device. Received columns then arrive there.
    mixed : bool
        Whether `device` may differ between members. By default it is the same for all.

    Attributes
    ----------
    devices : bool
        Whether any member stores columns on a device.
    superstep_count : int
        Number of supersteps so far, of all algorithms; see :meth:`.GraphView.superstep`.
    resources : Resources
        What this member may use of its process.
    transfer : str
        How arrays get to other members: by "memory" that the devices share, as soon as an operator uses it;
        by "nccl"; through the "host"; or "none" if there is only one member.
    """

    def __init__(self, channel: Channel, *, device: bool = False, mixed: bool = False) -> None:
        self.rank, self.size, self.resources = channel.rank, channel.size, channel.resources
        self._channel = channel
        several = self.size > 1
        self._carrier = carrier(channel, device=device) if several and (device or mixed) else None
        self.devices = device if self._carrier is None else self._carrier.devices
        self.transfer = "none" if not several else "host"
        if self._carrier is not None:
            self.transfer = self._carrier.transfer
        self._device = device
        self._round = self.superstep_count = 0
        self._due: tuple[str, Totals, bool] | None = None
        self._traffic = Traffic()
        self._host: Exchange | None = None

    def shared_memory(self, bounds: Sequence[int], *, able: bool) -> SharedMemory | None:
        """Return the memory that the devices of the members share, if they do. All members call it.

        `bounds` are where the members' ranges of vertices begin, and where the last one ends. `able` says
        whether this member's device has all edges.
        """
        peers = self._peers()
        if peers is None:
            return None
        return SharedMemory(
            peers, bounds, partial(swap, self._channel), self._use_memory, able=able
        )

    def shares_memory(self) -> bool:
        """Return whether the devices of the members can share memory. All members call it."""
        return self._peers() is not None

    def _peers(self) -> Peers | None:
        return None if self._carrier is None else self._carrier.peers(self._channel)

    def _use_memory(self) -> None:
        self.transfer = "memory"

    @property
    def host(self) -> Exchange:
        """The exchange of the same members for columns in host memory."""
        if not self.devices:
            return self
        if self._host is None:
            self._host = Exchange(self._channel)
        return self._host

    def all_reduce(self, sums: Sequence[int] = (), most: float = -math.inf) -> Totals:
        """Return the sums of all members' numbers, at most four, and the maximum of their `most`."""
        self.send("all_reduce", lambda _: NOTHING, Totals(tuple(sums), most))
        return self.receive("all_reduce", lambda *_: None)

    def all_sum(self, number: int) -> int:
        """Return the sum of one number of each member."""
        return self.all_reduce(sums=(number,)).sums[0]

    def all_to_all(self, arrays: Sequence[Any]) -> list[Any]:
        """Send a different array to each member, including this one; return the array from each member.

        The arrays may be changed after the next round. This member's own array is not copied.
        """
        return self._swap("all_to_all", arrays)

    def all_gather(self, array: Any) -> list[Any]:
        """Send the same array to all members; return the array from each member.

        The array may be changed after the next round. This member's own array is not copied.
        """
        return self._swap("all_gather", [array] * self.size)

    def send_to(self, to: int, array: Any) -> None:
        """Send an array to one other member, outside of the rounds. Does not wait.

        The other member calls :meth:`receive_from`. Between two members, arrays and rounds arrive in the
        order in which they were sent. Do not change the array until this member receives something that
        `to` sent afterwards.
        """
        array = array if array.flags.c_contiguous else array.copy()
        raw, carried, dtype = array.view(np.uint8), on_device(array), array.dtype.str.encode()
        header = LONE.pack(dtype, raw.nbytes, carried)
        self._traffic.sent["lone"] = self._traffic.sent.get("lone", 0) + raw.nbytes
        if not carried:
            self._channel.send(to, header, raw)
            return
        assert self._carrier is not None
        # The announcement goes first: NCCL may wait here until the other member receives.
        self._channel.send(to, header, self._carrier.post(to, raw))
        self._carrier.take(to, to, raw[:0], None, False)

    def receive_from(self, source: int) -> Any:
        """Return the next array that another member sent with :meth:`send_to`. The caller owns it."""
        message = self._channel.receive(source)
        dtype, size, carried = LONE.unpack_from(message)
        raw: Any = np.frombuffer(message, np.uint8, offset=LONE.size)
        if carried:
            assert self._carrier is not None
            raw = self._carrier.take(source, source, raw, size, self._device)
        return raw.view(np.dtype(dtype.rstrip(b"\0").decode()))

    def take_traffic(self) -> Traffic:
        """Return the traffic since the last call."""
        traffic, self._traffic = self._traffic, Traffic()
        return traffic

    def send(
        self,
        kind: str,
        packed: Callable[[int], Packed],
        own: Totals,
        *,
        device: bool | None = None,
    ) -> None:
        """Begin a round of a kind of :data:`KINDS`, with this member's totals `own`.

        `packed` returns the box for the member with a rank. The memory of the box may be written to again
        after the next round. By default, arrays are received where this member's columns are stored, on its
        `device` or in host memory.
        """
        if self._due is not None:
            raise GraphflowError(f"a round of {self._due[0]!r} was begun; receive it first")
        self._due = kind, own, self._device if device is None else device
        sent = self._traffic.sent
        numbers = (*own.sums, *(0,) * (SUMS - len(own.sums)), own.most)
        for step in range(1, self.size):
            to = (self.rank + step) % self.size
            began = time.perf_counter()
            form, count, dtype, raw = packed(to)
            packed_at = time.perf_counter()
            self._traffic.packing += packed_at - began
            name = b"" if dtype is None else dtype.str.encode()
            carried, size = on_device(raw), raw.nbytes
            fields = KINDS.index(kind), FORMS.index(form), carried, name, count, size
            header = HEADER.pack(self._round, *fields, *numbers)
            if carried:
                assert self._carrier is not None, "who deals arrays on a device says so"
                raw = self._carrier.post(to, raw)
            self._channel.send(to, header, raw)
            self._traffic.sending += time.perf_counter() - packed_at
            sent["header"] = sent.get("header", 0) + len(header)
            if size:
                by = kind if kind in ("all_to_all", "all_gather") else form
                sent[by] = sent.get(by, 0) + size

    def receive(self, kind: str, unpacked: Callable[[int, Packed], None]) -> Totals:
        """End a round of a kind, and return the totals of all members.

        `unpacked` is called with the rank of a member and the box from it. It may keep or change the box.
        """
        if self._due is None or self._due[0] != kind:
            raise GraphflowError(f"no round of {kind!r} was begun; send first")
        _, own, device = self._due
        sums, most = list(own.sums), own.most
        waited = self._channel.seconds_waited
        for step in range(1, self.size):
            source, to = (self.rank - step) % self.size, (self.rank + step) % self.size
            message = self._channel.receive(source)
            number, index, form, carried, name, count, size, *totals = HEADER.unpack_from(message)
            if (number, KINDS[index]) != (self._round, kind):
                raise GraphflowError(
                    f"member {source} sent round {number}, {KINDS[index]!r}, where member "
                    f"{self.rank} is at round {self._round}, {kind!r}; all members have to do the same "
                    "rounds"
                )
            sums = [ours + theirs for ours, theirs in zip(sums, totals, strict=False)]
            most = max(most, totals[SUMS])
            began = time.perf_counter()
            name = name.rstrip(b"\0").decode()
            raw: Any = np.frombuffer(message, np.uint8, offset=HEADER.size)
            if self._carrier is not None:
                # A box without entries is not read, so no empty array is made for it on the device.
                there = device and FORMS[form] != "nothing"
                raw = self._carrier.take(to, source, raw, size if carried else None, there)
            unpacked(source, Packed(FORMS[form], count, np.dtype(name) if name else None, raw))
            self._traffic.unpacking += time.perf_counter() - began
        self._traffic.waiting += self._channel.seconds_waited - waited
        self._traffic.rounds += 1
        self._round += 1
        self._due = None
        return Totals(tuple(sums), most)

    def _swap(self, kind: str, arrays: Sequence[Any]) -> list[Any]:
        received = list(arrays)

        def packed(to: int) -> Packed:
            array = arrays[to] if arrays[to].flags.c_contiguous else arrays[to].copy()
            return Packed("dense", len(array), array.dtype, array.view(np.uint8))

        def unpacked(source: int, box: Packed) -> None:
            received[source] = box.raw.view(box.dtype)

        # Arrays that describe columns on a device may be in host memory themselves.
        self.send(kind, packed, Totals(), device=on_device(arrays[self.rank]))
        self.receive(kind, unpacked)
        return received
