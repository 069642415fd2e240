"""Exchange: boxes in the fewest bytes, rounds in the order of the ring, totals; mirrors and masters."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from members import KINDS, SIZES, connecting, each

from dask_graphflow.comm.channel import PeerLost, in_process
from dask_graphflow.comm.exchange import HEADER, Exchange, Totals
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.comm.outbox import Box, Packed, form, pack, unpack
from dask_graphflow.exceptions import GraphflowError

SLOTS = {"min": np.minimum, "max": np.maximum, "add": np.add}
SHARES = [0, 0.01, 0.2, 0.99, 1]
NOTHING = Packed("nothing", 0, None, np.empty(0, "uint8"))


@pytest.fixture(params=KINDS)
def connected(request):
    with connecting(request.param) as connect:
        yield connect


# Boxes


def entries(rng, size, share):
    return np.flatnonzero(rng.random(size) < share)


@pytest.mark.parametrize("dtype", ["int8", "float64", "bool", None])
@pytest.mark.parametrize("size", [0, 1, 9, 70_001])
@pytest.mark.parametrize("share", SHARES)
def test_a_box_tells_which_entries_and_their_values(rng, size, share, dtype):
    column = None if dtype is None else rng.integers(0, 99, size).astype(dtype)
    at = entries(rng, size, share)
    packed = pack(Box(), size, at, column, at)
    assert packed.entries == len(at)
    told, values = unpack(packed, size)
    np.testing.assert_array_equal(np.arange(size) if told is None else told, at)
    if dtype is None:
        assert values is None
    else:
        assert values.dtype == dtype
        np.testing.assert_array_equal(values, column[at])


@pytest.mark.parametrize("width", [0, 1, 4, 8])
@pytest.mark.parametrize("size", [1, 7, 500, 33_000])
def test_a_box_is_in_the_form_of_the_fewest_bytes(rng, size, width):
    column = None if not width else np.zeros(size, f"int{8 * width}")
    for count in {0, 1, size // 33, size // 31, size // 2, size - 1, size}:
        at = np.sort(rng.permutation(size)[:count])
        values = -(-count * width // 8) * 8
        bytes_of = {"pairs": values + 4 * count, "marked": values + -(-size // 8)}
        bytes_of |= {"nothing": 0} if not count else {}
        bytes_of |= {"dense": count * width} if count == size else {}
        packed = pack(Box(), size, at, column, at)
        assert packed.form == form(count, size)
        assert len(packed.raw) == bytes_of[packed.form] == min(bytes_of.values())


# Rounds


class Spy:
    """A channel that records its calls."""

    def __init__(self, channel):
        self.channel, self.events, self.messages = channel, [], []

    def __getattr__(self, name):
        return getattr(self.channel, name)

    def send(self, to, *parts):
        self.events.append(("send", to))
        self.messages.append((to, parts))
        self.channel.send(to, *parts)

    def receive(self, source):
        self.events.append(("receive", source))
        return self.channel.receive(source)


def test_numbers_are_reduced_to_the_same_for_all(connected):
    def member(channel):
        rank, exchange = channel.rank, Exchange(channel)
        own = (rank, 10**15, -rank, True), -float(rank)
        return [exchange.all_reduce(*own), exchange.all_reduce(), exchange.all_reduce(*own)]

    found = each(member, connected(4))
    assert all(totals == found[0] for totals in found)
    totals, nothing, again = found[0]
    assert totals == Totals((6, 4 * 10**15, -6, 4), 0.0)
    assert nothing == Totals()
    assert again == totals


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_all_to_all_delivers_every_array(connected, size):
    def member(channel):
        rank = channel.rank
        arrays = [
            np.arange(rank * to, dtype="int32" if rank % 2 else "float64") for to in range(size)
        ]
        found = Exchange(channel).all_to_all(arrays)
        assert found[rank] is arrays[rank]
        for source, array in enumerate(found):
            assert array.dtype == ("int32" if source % 2 else "float64")
            assert array.flags.aligned
            np.testing.assert_array_equal(array, np.arange(source * rank))

    each(member, connected(size))


def test_a_bitmap_takes_a_bit_for_each_vertex(connected):
    bounds = [0, 64, 64, 4096, 4100]
    flags = np.random.default_rng(1).random(bounds[-1]) < 0.3
    padded = np.packbits(flags, bitorder="little")
    words = np.concatenate([padded, np.zeros(-len(padded) % 8, "uint8")]).view("uint64")

    def member(channel):
        low, high = (-(-bound // 64) for bound in bounds[channel.rank : channel.rank + 2])
        exchange = Exchange(channel)
        whole = np.concatenate(exchange.all_gather(words[low:high]))
        np.testing.assert_array_equal(whole, words)
        return exchange.take_traffic().sent.get("all_gather", 0)

    sent = each(member, connected(4))
    # each partition's V_p / 8 bytes, in whole words, to three others
    assert sent == [3 * 8, 0, 3 * (4096 - 64) // 8, 3 * 8]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_no_two_members_send_to_the_same_member_at_the_same_time(size):
    spies = [Spy(channel) for channel in in_process(size)]
    each(lambda spy: Exchange(spy).all_reduce(), spies)
    schedule = [spy.events for spy in spies]
    for step in range(size - 1):
        now = [events[step] for events in schedule]
        assert sorted(to for _, to in now) == list(range(size))
        assert all(what == "send" for what, _ in now)
        # and each receives in the order that it is sent to
        for rank, (_, to) in enumerate(now):
            assert schedule[to][size - 1 + step] == ("receive", rank)


def test_a_box_is_packed_while_the_previous_one_is_in_transit(connected):
    arrived = threading.Event()

    def member(channel):
        exchange = Exchange(channel)

        def packed(to):
            # What is for 2 can be packed only once 1 has got what was packed for it.
            if (channel.rank, to) == (0, 2):
                assert arrived.wait(10)
            return NOTHING

        def unpacked(source, _):
            if (source, channel.rank) == (0, 1):
                arrived.set()

        exchange.send("all_reduce", packed, Totals())
        exchange.receive("all_reduce", unpacked)

    each(member, connected(3))


@pytest.mark.parametrize("number", [1, 7], ids=["another kind", "another round"])
def test_a_member_at_another_round_is_a_bug(connected, number):
    left, right = connected(2)
    kind = "all_reduce" if number == 7 else "reduce"
    ahead, here = Exchange(right), Exchange(left)
    for round_, exchange in ((number, ahead), (1, here)):
        exchange._round = round_
        exchange.send(kind if exchange is ahead else "all_reduce", lambda _: NOTHING, Totals())
    with pytest.raises(
        GraphflowError, match=f"member 1 sent round {number}, '{kind}', where member 0 is"
    ):
        here.receive("all_reduce", lambda *_: None)


# Mirrors and masters


class Case:
    """Partitions of some vertices, each with mirrors of some of the others', and columns."""

    def __init__(self, size, dtype, seed=3, count=900):
        rng = np.random.default_rng(seed)
        self.bounds = [0, *np.sort(rng.integers(0, count, size - 1)).tolist(), count]
        self.slots, self.columns = [], []
        for low, high in zip(self.bounds, self.bounds[1:], strict=False):
            remote = np.flatnonzero(rng.random(count) < 0.7)
            remote = remote[(remote < low) | (remote >= high)]
            self.slots.append(remote)
            column = rng.integers(-50, 50, high - low + len(remote)) / 4
            self.columns.append(column.astype(dtype))
        self.rng = rng

    def owned(self, rank):
        return self.bounds[rank + 1] - self.bounds[rank]

    def mirrors(self, channel):
        rank = channel.rank
        slot_bounds = np.searchsorted(self.slots[rank], self.bounds)
        return Mirrors(Exchange(channel), self.slots[rank], slot_bounds, self.bounds)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_masters_combine_what_mirrors_gathered(connected, size, slot, dtype):
    case = Case(size, dtype)
    rounds = [[entries(case.rng, len(slots), share) for slots in case.slots] for share in SHARES]
    rounds.append([None] * size)
    whole = np.concatenate([column[: case.owned(i)] for i, column in enumerate(case.columns)])
    for dirty in rounds:
        for rank, of in enumerate(dirty):
            values = case.columns[rank][case.owned(rank) :]
            of = slice(None) if of is None else of
            at = case.slots[rank][of]
            whole[at] = SLOTS[slot](whole[at], values[of])

    def member(channel):
        rank = channel.rank
        column, mirrors = case.columns[rank], case.mirrors(channel)

        def combine(at, values):
            assert values.dtype == dtype
            assert len(np.unique(at)) == len(at)
            column[at] = SLOTS[slot](column[at], values)

        for number, dirty in enumerate(rounds):
            before = column[case.owned(rank) :].copy()
            mirrors.reduce(column, dirty[rank], sums=(number,))
            column[case.owned(rank) :] = 0  # as the next superstep may do at once
            assert mirrors.receive(combine).sums[0] == number * size
            column[case.owned(rank) :] = before
        return column[: case.owned(rank)]

    np.testing.assert_array_equal(np.concatenate(each(member, connected(size))), whole)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["int8", "float64", "bool", None])
def test_mirrors_get_what_changed_at_their_masters(connected, size, dtype):
    case = Case(size, dtype or "int8")
    rounds = [
        [entries(case.rng, case.owned(rank), share) for rank in range(size)]
        for share in (0, 0.005, 0.2, 1)
    ] + [[None] * size]
    whole = np.concatenate([column[: case.owned(i)] for i, column in enumerate(case.columns)])

    def member(channel):
        rank = channel.rank
        column, mirrors = case.columns[rank], case.mirrors(channel)
        owned, slots = case.owned(rank), case.slots[rank]
        for changed in rounds:
            ids = [np.arange(case.owned(q)) if c is None else c for q, c in enumerate(changed)]
            expected = np.isin(
                slots, np.concatenate([c + b for c, b in zip(ids, case.bounds, strict=False)])
            )
            told = np.zeros(len(column), bool)
            column[owned:] = -1

            def apply(at, values, told=told):
                assert not told[at].any()
                told[at] = True
                if dtype is None:
                    assert values is None
                else:
                    column[at] = values

            mirrors.broadcast(column if dtype else None, changed[rank])
            mirrors.receive(apply)
            np.testing.assert_array_equal(told[owned:], expected)
            if dtype:
                unchanged = np.full(1, -1).astype(dtype)
                values = np.where(expected, whole[slots], unchanged)
                np.testing.assert_array_equal(column[owned:], values)

    each(member, connected(size))


@pytest.mark.parametrize("kind", ["reduce", "broadcast"])
def test_fewer_changes_send_fewer_bytes(kind):
    size, case = 3, Case(3, "float32", count=60_000)
    shares = [1, 0.5, 0.1, 0.02, 0.001, 0]
    rounds = [
        [
            entries(case.rng, len(case.slots[q]) if kind == "reduce" else case.owned(q), share)
            for q in range(size)
        ]
        for share in shares
    ]

    def member(channel):
        mirrors = case.mirrors(channel)
        exchange, traffic = mirrors._exchange, []
        exchange.take_traffic()
        for dirty in rounds:
            before = channel.bytes_sent
            getattr(mirrors, kind)(case.columns[channel.rank], dirty[channel.rank])
            mirrors.receive(lambda *_: None)
            traffic.append(exchange.take_traffic())
            assert sum(traffic[-1].sent.values()) == channel.bytes_sent - before
            assert traffic[-1].rounds == 1
        return traffic

    found = each(member, in_process(size))
    forms = ["dense", "marked", "marked", "pairs", "pairs", None]
    for traffic in found:
        assert [next((f for f in one.sent if f != "header"), None) for one in traffic] == forms
        assert all(one.sent["header"] == (size - 1) * HEADER.size for one in traffic)
    totals = [sum(sum(one.sent.values()) for one in step) for step in zip(*found, strict=True)]
    assert totals == sorted(totals, reverse=True)
    whole = totals[0]
    for share, total in zip(shares, totals, strict=True):
        # values; and never more than an index or a bit for each entry besides
        assert share * whole * 0.8 < total < whole * min(2 * share, share + 1 / 32) * 1.1 + 1000


def test_two_boxes_are_used_in_turn():
    case = Case(2, "float64")

    def member(spy):
        mirrors = case.mirrors(spy)
        spy.messages.clear()
        for _ in range(6):
            mirrors.reduce(case.columns[spy.rank])
            mirrors.receive(lambda *_: None)
        return [parts[1].ctypes.data for _, parts in spy.messages]

    for places in each(member, [Spy(channel) for channel in in_process(2)]):
        assert len(set(places)) == 2
        assert places == places[:2] * 3


def test_a_single_member_sends_nothing():
    case = Case(1, "float64")
    (channel,) = in_process(1)
    mirrors = case.mirrors(channel)
    mirrors.reduce(case.columns[0], sums=(7,))
    assert mirrors.receive(lambda *_: pytest.fail("from whom?")) == Totals((7,))
    assert channel.bytes_sent == 0


def test_errors_of_a_channel_reach_the_caller(connected):
    def member(channel):
        exchange = Exchange(channel)
        if channel.rank == 2:
            channel.abort(ConnectionError())
            return
        with pytest.raises(PeerLost):
            exchange.all_reduce()
        channel.abort(ConnectionError())

    each(member, connected(3))
