"""The link in plain memory: which data arrive, what waits for what, and how the link ends."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import math
import threading
import time
from contextlib import closing
from unittest import mock

import numpy as np
import pytest
from host_copies import Caller, Copies, Event, Stream
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.kernels import staging
from dask_graphflow.kernels.link import Link
from dask_graphflow.kernels.narrowing import narrow


def edges(count, *, low=0, high=1 << 20, seed=1):
    return np.random.default_rng(seed).integers(low, high, (2, count))


def pinned(copies, array):
    room = copies.pinned(array.nbytes).view(array.dtype)
    room[:] = array
    return room


def received(chunks):
    """Return the chunks of a stream, as one list of arrays for each array that was sent."""
    copied = [tuple(part.copy() for part in chunk) for chunk in chunks]
    return [list(column) for column in zip(*copied, strict=True)]


def assert_received(chunks, sent):
    """Compare the chunks of a stream with the arrays that were sent."""
    for column, array in zip(chunks, sent, strict=True):
        np.testing.assert_array_equal(np.concatenate(column), array)


def copiers():
    return [t for t in threading.enumerate() if t.name.startswith("graphflow-link")]


class Slowed(Copies):
    """Slow copies, and readers that continue while their kernels run."""

    def __init__(self, *, copying=0.0, reader=None):
        super().__init__()
        self.copying = copying
        self.reader = reader or Caller()

    def copy(self, to, source):
        self.stream.queue(time.sleep, self.copying)
        super().copy(to, source)

    def current(self):
        return self.reader


@pytest.mark.parametrize("staged", [True, False], ids=["pageable", "pinned"])
@pytest.mark.parametrize("buffers", [1, 2, 3, 8])
@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 64, 129])
def test_every_edge_arrives_in_order(count, chunk, buffers, staged):
    copies = Copies()
    source, target = sent = edges(count)
    if not staged:
        source, target = (pinned(copies, side) for side in sent)
    with Link(copies, chunk=chunk, buffers=buffers) as link:
        chunks = received(link.stream(source, target))
    assert link.counters.chunks == math.ceil(count / chunk)
    assert link.counters.copies == 2 * link.counters.chunks
    assert link.counters.bytes == sent.nbytes
    assert link.counters.most_in_flight <= buffers
    assert all(len(part) == chunk for column in chunks for part in column[:-1])
    assert_received(chunks, sent if count else [])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_arrays_arrive_as_they_were_sent(data):
    count = data.draw(st.integers(0, 200), "count")
    ids = st.integers(-(2**63), 2**63 - 1) if data.draw(st.booleans()) else st.integers(-9, 9)
    sent = [
        np.array(data.draw(st.lists(ids, min_size=count, max_size=count)), "int64")[
            :: data.draw(st.sampled_from([1, -1]))
        ]
        for _ in range(2)
    ]
    if data.draw(st.booleans(), "level"):
        sent.append(np.arange(count, dtype="int8"))
    dtype = data.draw(st.sampled_from([None, "int32", "uint16", "int8"]), "dtype")
    with (
        mock.patch.object(staging, "SHARE", data.draw(st.integers(1, 40))),
        Link(
            Copies(),
            chunk=data.draw(st.integers(3, 50)),
            buffers=data.draw(st.integers(1, 4)),
            edge_bytes=data.draw(st.sampled_from([8, 16, 40])),
            piece=data.draw(st.integers(3, 50)),
            threads=data.draw(st.integers(1, 3)),
        ) as link,
    ):
        for _ in range(2):
            assert_received(received(link.stream(*sent, dtype=dtype)), sent if count else [])


class Reader:
    """A kernel of the reader, which checks that a chunk does not change while the reader uses it."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.torn = []
        self.done = 0

    def __call__(self, position, chunk, expected):
        for _ in range(3):
            if not all(map(np.array_equal, chunk, expected)):
                self.torn.append(position)
            time.sleep(self.seconds / 3)
        self.done += 1


def read_slowly(copies, reader, *, buffers, chunk=50, piece=50, count=600, staged=True):
    """Let the reader look at every chunk."""
    sent = edges(count)
    arrays = sent if staged else [pinned(copies, side) for side in sent]
    with Link(copies, chunk=chunk, buffers=buffers, piece=piece) as link:
        for position, views in enumerate(link.stream(*arrays)):
            at = slice(position * chunk, (position + 1) * chunk)
            copies.reader.queue(reader, position, views, [side[at] for side in sent])
        copies.reader.synchronize()
    assert reader.done == math.ceil(count / chunk)
    assert link.counters.most_in_flight <= buffers


@pytest.mark.parametrize(
    ("staged", "piece"),
    [(True, 50), (True, 12), (False, 50)],
    ids=["pageable", "in pieces", "pinned"],
)
@pytest.mark.parametrize("copying", [0, 0.004])
@pytest.mark.parametrize("reading", [0, 0.006])
@pytest.mark.parametrize("asynchronous", [True, False])
@pytest.mark.parametrize("buffers", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_chunk_does_not_change_while_its_reader_uses_it(
    buffers, asynchronous, reading, copying, staged, piece
):
    copies = Slowed(copying=copying / (50 / piece), reader=Stream() if asynchronous else None)
    reader = Reader(reading)
    read_slowly(copies, reader, buffers=buffers, staged=staged, piece=piece)
    assert not reader.torn


class ForgetsTheReader(Slowed):
    """The copy stream does not wait until the reader is done with a device buffer."""

    def wait(self, stream, event):
        if stream is not self.stream:
            super().wait(stream, event)


class ForgetsTheCopy(Slowed):
    """The reader's stream does not wait until a chunk is there."""

    def wait(self, stream, event):
        if stream is self.stream:
            super().wait(stream, event)


class UnheardEvent(Event):
    def synchronize(self):
        if threading.current_thread().name != "graphflow-link":
            super().synchronize()


class ForgetsThePinnedBuffer(Slowed):
    """The copier does not wait until the data in a pinned buffer are copied."""

    def record(self, stream):
        event = UnheardEvent()
        stream.queue(event.set)
        return event


@pytest.mark.parametrize(
    ("broken", "copying", "reading"),
    [
        (ForgetsTheReader, 0, 0.02),
        (ForgetsTheCopy, 0.02, 0),
        (ForgetsThePinnedBuffer, 0.02, 0),
    ],
)
def test_each_of_the_three_waits_is_needed(broken, copying, reading):
    reader = Reader(reading)
    # In so many pieces that each pinned buffer is used several times within a chunk.
    read_slowly(broken(copying=copying, reader=Stream()), reader, buffers=2, piece=5, count=150)
    assert reader.torn


@pytest.mark.parametrize("buffers", [1, 2, 5])
def test_no_more_chunks_are_in_flight_than_there_are_buffers(buffers):
    begun, read, ahead = itertools.count(1), [], []

    class Watched(Copies):
        def copy(self, to, source):
            self.stream.queue(lambda: ahead.append(next(begun) - len(read)))
            super().copy(to, source)

    with Link(Watched(), chunk=10, buffers=buffers) as link:
        for chunk in link.stream(edges(200)[0]):
            time.sleep(0.004)
            read.append(chunk)
    assert len(ahead) == 20
    assert max(ahead) == buffers
    assert link.counters.most_in_flight == buffers


@pytest.mark.parametrize("buffers", [2, 3])
def test_copying_overlaps_computing(buffers):
    seconds, count = 0.02, 12
    with Link(Slowed(copying=seconds), chunk=10, buffers=buffers) as link:
        began = time.perf_counter()
        for _ in link.stream(edges(10 * count)[0]):
            time.sleep(seconds)
        wall = time.perf_counter() - began
    assert wall < 0.8 * 2 * seconds * count
    assert link.counters.first_use < link.counters.last_copy
    assert link.counters.waiting > 0


LIMITS = np.iinfo("int32")


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (-7, True),
        (LIMITS.max, True),
        (LIMITS.min, True),
        (LIMITS.max + 1, False),
        (LIMITS.min - 1, False),
        (2**32 + 5, False),  # would wrap to a small id
        (2**63 - 1, False),
        (-(2**63), False),
    ],
)
@pytest.mark.parametrize("at", [0, 9, 10, 49, 50, 77, 99, 101, 129])
@pytest.mark.parametrize(("piece", "buffers"), [(50, 2), (10, 1), (10, 3)])
def test_ids_are_narrowed_only_while_all_fit(value, fits, at, piece, buffers):
    sent = edges(130)
    sent[1, at] = value
    with Link(Copies(), chunk=50, piece=piece, buffers=buffers) as link:
        chunks = received(link.stream(*sent, dtype="int32"))
        counters = dataclasses.replace(link.counters)
        again = received(link.stream(*edges(130), dtype="int32"))
    assert_received(chunks, sent)
    assert_received(again, edges(130))
    for column in chunks:
        assert [str(part.dtype) for part in column] == [
            "int32" if fits or position < at // 50 else "int64" for position in range(3)
        ]
    assert (counters.widened, counters.chunks) == (not fits, 3)
    assert counters.most_in_flight <= buffers
    if piece == 50:  # with smaller pieces, a part of the chunk is sent twice
        narrow = 130 if fits else at // 50 * 50
        assert counters.bytes == 2 * (4 * narrow + 8 * (130 - narrow))


@pytest.mark.parametrize("to", ["int32", "uint16", "int8", "uint8"])
@pytest.mark.parametrize("own", ["int64", "uint64", "uint32", ">i8"])
def test_integers_are_narrowed_if_each_fits(own, to):
    here, there = np.iinfo(own), np.iinfo(to)
    ends = (here.min, here.max, there.min, there.max, there.min - 1, there.max + 1, 2**32)
    for value in (value for value in ends if here.min <= value <= here.max):
        # In both halves, in a whole vector and in the remainder.
        for at in (0, 38):
            sent = np.arange(39).astype(own)
            sent[at] = value
            for source in (sent, np.repeat(sent, 2)[::2]):
                found = np.zeros(39, to)
                assert narrow(source, found) is (there.min <= value <= there.max)
                if there.min <= value <= there.max:
                    np.testing.assert_array_equal(found, sent)


def test_unsigned_ids_that_do_not_fit_keep_their_dtype():
    sent = np.array([5, 2**63 + 5, 7], "uint64")
    with Link(Copies(), chunk=2) as link:
        ((first, second),) = received(link.stream(sent, dtype="int32"))
    assert np.concatenate([first, second]).tolist() == sent.tolist()
    assert first.dtype == "uint64"


def test_wide_chunks_are_cut_to_the_room_there_is():
    sent = edges(1000)
    sent[1, 250] = 2**40
    with Link(Copies(), chunk=200, edge_bytes=8) as link:
        chunks = received(link.stream(*sent, dtype="int32"))
    assert [len(part) for part in chunks[0][:2]] == [200, 116]  # (200 * 8 + 512 - 256) / 16
    assert_received(chunks, sent)


def test_pieces_are_converted_by_several_threads(monkeypatch):
    monkeypatch.setattr(staging, "SHARE", 10)
    names, all_three = set(), threading.Barrier(3, timeout=5)
    convert = staging._convert

    def watched(*part):
        names.add(threading.current_thread().name)
        all_three.wait()
        return convert(*part)

    monkeypatch.setattr(staging, "_convert", watched)
    sent = edges(90)
    with Link(Copies(), chunk=90, threads=3) as link:
        chunks = received(link.stream(*sent))
    np.testing.assert_array_equal([chunks[0][0], chunks[1][0]], sent)
    assert len(names) == 3


def test_columns_of_other_layouts_and_types_arrive():
    table = np.arange(60).reshape(20, 3)
    sent = [
        table[:, 1],  # strided, as a column of a frame made from a table is
        table[::-1, 2],
        np.arange(20, dtype=">i4"),
        np.linspace(0, 1, 20, dtype="float32"),
        np.arange(20) % 2 == 0,
    ]
    sent[0].flags.writeable = False
    with Link(Copies(), chunk=6, edge_bytes=128) as link:
        chunks = received(link.stream(*sent, dtype="int32"))
    assert_received(chunks, sent)
    assert [str(c[0].dtype) for c in chunks] == ["int32", "int32", "int32", "float32", "bool"]


def test_pinned_input_is_not_staged():
    copies = Copies()
    source = pinned(copies, np.arange(35))
    with (
        Link(copies, chunk=10) as link,
        mock.patch.object(copies, "pinned", side_effect=AssertionError),
    ):
        chunks = received(link.stream(source, source[::1], dtype="int32"))
        with pytest.raises(AssertionError):  # not in one piece: the device cannot copy it
            list(link.stream(source[::2]))
    assert link.counters.staging == 0
    assert chunks[0][0].dtype == "int64"
    np.testing.assert_array_equal(np.concatenate(chunks[1]), np.arange(35))


def test_buffers_are_made_once_for_all_calls():
    made = []

    class Counted(Copies):
        def device(self, size):
            made.append(("device", size))
            return super().device(size)

        def pinned(self, size):
            made.append(("pinned", size))
            return super().pinned(size)

    with Link(Counted(), chunk=8, buffers=3) as link:
        assert not made
        for count in (0, 5, 100, 1, 64, 65) * 5:
            sent = edges(count, seed=count)
            assert_received(received(link.stream(*sent)), sent if count else [])
        assert link.counters.chunks == 5 * (1 + 13 + 1 + 8 + 9)
    assert [kind for kind, _ in sorted(made)] == ["device"] * 3 + ["pinned"] * staging.BUFFERS
    assert len(set(made)) == 2


def test_pinned_memory_does_not_grow_with_the_chunk():
    pinned_bytes = {}

    class Counted(Copies):
        def pinned(self, size):
            pinned_bytes[key] = pinned_bytes.get(key, 0) + size
            return super().pinned(size)

    for key in [(10_000, 10_000), (10_000, 1000), (1000, 10_000)]:
        with Link(Counted(), chunk=key[0], piece=key[1]) as link:
            received(link.stream(*edges(50_000)))
    assert pinned_bytes[10_000, 1000] < pinned_bytes[10_000, 10_000] / 5
    assert pinned_bytes[1000, 10_000] == pinned_bytes[10_000, 1000]


def test_a_piece_is_staged_while_the_previous_one_is_copied(monkeypatch):
    """No thread waits for threads that have more work on a piece."""
    monkeypatch.setattr(staging, "SHARE", 10)
    both, convert = threading.Barrier(2, timeout=5), staging._convert

    def met(source, to):
        both.wait()
        return convert(source, to)

    monkeypatch.setattr(staging, "_convert", met)
    with Link(Copies(), chunk=10, threads=2) as link:  # one share per piece
        (chunks,) = received(link.stream(np.arange(40)))
    np.testing.assert_array_equal(np.concatenate(chunks), np.arange(40))


class FailsAt30(Copies):
    def copy(self, to, source):
        if source[0] >= 30:
            raise ZeroDivisionError
        super().copy(to, source)


class FailsLater(Copies):
    def copy(self, to, source):
        self.stream.queue(lambda: 1 // 0)


@pytest.mark.parametrize("failing", [FailsAt30, FailsLater, "staging"])
def test_errors_reach_the_reader(failing, monkeypatch):
    copies = Copies() if failing == "staging" else failing()
    seen = []
    with Link(copies, chunk=10) as link, monkeypatch.context() as patch:
        if failing == "staging":
            patch.setattr(staging, "_convert", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError), closing(link.stream(np.arange(100))) as chunks:
            seen.extend(chunk[0].copy() for chunk in chunks)
        assert not copiers()
        if failing is FailsAt30:
            assert np.concatenate(seen).tolist() == list(range(30))
            assert [c[0].tolist() for c in link.stream(np.arange(5))] == [[0, 1, 2, 3, 4]]


def test_when_staging_fails_all_its_threads_have_ended(monkeypatch):
    monkeypatch.setattr(staging, "SHARE", 10)
    ended = []

    def convert(source, to):
        if not source[0][0]:
            raise ZeroDivisionError
        time.sleep(0.02)
        ended.append(len(to[0]))
        return True

    monkeypatch.setattr(staging, "_convert", convert)
    with Link(Copies(), chunk=30, threads=3) as link:
        with pytest.raises(ZeroDivisionError):
            list(link.stream(np.arange(60)))
        assert ended == [10] * 5  # also of the piece that was begun in the meantime


@pytest.mark.parametrize("asynchronous", [True, False])
@pytest.mark.parametrize("how", ["raise", "close", "forget"])
@pytest.mark.parametrize("after", [1, pytest.param(2, marks=pytest.mark.slow), 6])
def test_an_interrupted_stream_leaves_nothing_behind(how, after, asynchronous):
    """No thread is left, no buffer is still written to, and the link works."""
    copies = Slowed(copying=0.002, reader=Stream() if asynchronous else None)
    reader, sent = Reader(0.006), edges(200)

    with Link(copies, chunk=10) as link:
        chunks = link.stream(*sent)
        for position in range(after):  # the last kernel may still run when the stream ends
            views = next(chunks)
            at = slice(position * 10, position * 10 + 10)
            copies.reader.queue(reader, position, views, sent[:, at])
        if how == "close":
            chunks.close()
        elif how == "raise":
            with pytest.raises(KeyError):
                chunks.throw(KeyError)
        del chunks
        gc.collect()
        assert not copiers()
        held = [slot.device.copy() for slot in link._slots]
        time.sleep(0.01)
        assert all(map(np.array_equal, held, [slot.device for slot in link._slots]))
        for position, views in enumerate(link.stream(*sent)):
            at = slice(position * 10, position * 10 + 10)
            copies.reader.queue(reader, position, views, sent[:, at])
        copies.reader.synchronize()
        assert (reader.done, reader.torn) == (after + 20, [])


def test_an_unused_iterator_starts_nothing():
    with Link(Copies(), chunk=10) as link:
        link.stream(np.arange(100))
        assert not copiers()
        assert [len(chunk[0]) for chunk in link.stream(np.arange(5))] == [5]


def test_the_input_is_the_callers_again_when_the_iterator_ends():
    copies = Slowed(copying=0.01, reader=Stream())
    source = pinned(copies, np.arange(30))
    found = []
    with Link(copies, chunk=10, buffers=3) as link:
        for (chunk,) in link.stream(source):
            copies.reader.queue(lambda part: found.extend(part.tolist()), chunk)
        source[:] = -1
        copies.reader.synchronize()
    assert found == list(range(30))


def test_closing_ends_a_stream_in_mid_run():
    link = Link(Copies(), chunk=10)
    chunks = link.stream(np.arange(100))
    assert next(chunks)[0].tolist() == list(range(10))
    link.close()
    assert not copiers()
    with pytest.raises(GraphflowError, match="closed while it was read"):
        list(chunks)
    with pytest.raises(GraphflowError, match="the link is closed"):
        list(link.stream(np.arange(100)))
    link.close()


def test_threads_take_turns():
    sent = [np.arange(1000) + 1000 * i for i in range(4)]
    found = [None] * 4
    with Link(Copies(), chunk=10) as link:

        def read(i):
            found[i] = received(link.stream(sent[i]))[0]

        threads = [threading.Thread(target=read, args=[i]) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert_received(found, sent)


def test_a_thread_that_already_reads_is_told_so():
    with Link(Copies(), chunk=10) as link:
        for _ in link.stream(np.arange(30)):
            with pytest.raises(GraphflowError, match="already reads"):
                next(link.stream(np.arange(30)))
