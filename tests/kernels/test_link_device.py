"""The link on a GPU: chunks arrive whole while kernels run. These tests need a GPU."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
import test_link
from conftest import cupy_or_skip
from test_link import copiers, edges

from dask_graphflow.kernels.link import Link

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()

from dask_graphflow.kernels.device_copies import Copies  # noqa: E402

SPIN = cupy.RawKernel(
    r"""
    extern "C" __global__ void spin(unsigned long long nanoseconds) {
        unsigned long long start, now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
        do {
            asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        } while (now - start < nanoseconds);
    }
    """,
    "spin",
)


def spin(seconds):
    """Keep the current stream busy; the host does not wait."""
    SPIN((1,), (1,), (np.uint64(seconds * 1e9),))


@pytest.fixture(autouse=True, scope="module")
def _warm():
    spin(0)
    for dtype in ("int32", "int64"):
        out = cupy.zeros((2, 2), "int64")
        out[1, 0] = cupy.ones(9, dtype).sum(dtype="int64")
    cupy.cuda.Device().synchronize()


@pytest.fixture(autouse=True)
def _pool():
    """Keep the reader from waiting. cuDF removes the memory pool, and without a pool each free waits."""
    with cupy.cuda.using_allocator(cupy.cuda.MemoryPool().malloc):
        yield


@pytest.fixture(params=["null", "own"])
def stream(request):
    """Have the reader's kernels run on the legacy default stream, and on one of their own."""
    if request.param == "null":
        yield cupy.cuda.Stream.null
    else:
        with cupy.cuda.Stream(non_blocking=True) as own:
            yield own


def pinned(array):
    """Return a copy of an array in pinned memory."""
    return test_link.pinned(Copies(), array.ravel()).reshape(array.shape)


@pytest.mark.parametrize("staged", [True, False], ids=["pageable", "pinned"])
@pytest.mark.parametrize("dtype", [None, "int32"])
@pytest.mark.parametrize("buffers", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 12_345])
def test_every_edge_arrives_in_order(count, buffers, dtype, staged):
    sent, level = edges(count), np.arange(count).astype("int8")
    if count and not staged:
        sent, level = pinned(sent), pinned(level)
    with Link(Copies(), chunk=1000, buffers=buffers, edge_bytes=17) as link:
        chunks = [[part.copy() for part in c] for c in link.stream(*sent, level, dtype=dtype)]
    assert len(chunks) == link.counters.chunks == math.ceil(count / 1000)
    for column, array in zip(zip(*chunks, strict=True), [*sent, level], strict=False):
        assert all(isinstance(part, cupy.ndarray) for part in column)
        np.testing.assert_array_equal(cupy.asnumpy(cupy.concatenate(column)), array)
        narrow = dtype and staged and array.dtype == "int64"
        assert column[0].dtype == (dtype if narrow else array.dtype)
    assert link.counters.most_in_flight <= buffers


SLOW = 0.003  # seconds of a kernel, in which a chunk of this size is copied many times over
CHUNK = 20_000


def sums_seen(copies, sent, *, buffers, slow=SLOW, **options):
    """Return the sums of each chunk as slow kernels see them, queued without waiting for any."""
    count = math.ceil(sent.shape[1] / CHUNK)
    seen = cupy.zeros((count, 2), "int64")
    with Link(copies, chunk=CHUNK, buffers=buffers, **options) as link:
        for position, chunk in enumerate(link.stream(*sent)):
            spin(slow)
            for side, part in enumerate(chunk):
                seen[position, side] = part.sum(dtype="int64")
        found = cupy.asnumpy(seen)
    assert link.counters.most_in_flight <= buffers
    return found


def sums(sent):
    bounds = range(0, sent.shape[1], CHUNK)
    return np.array([sent[:, i : i + CHUNK].sum(axis=1) for i in bounds])


@pytest.mark.parametrize("staged", [True, False], ids=["pageable", "pinned"])
@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_a_chunk_does_not_change_while_its_kernel_runs(buffers, staged, stream):
    sent = edges(30 * CHUNK + 7)
    found = sums_seen(Copies(), sent if staged else pinned(sent), buffers=buffers)
    np.testing.assert_array_equal(found, sums(sent))


class ForgetsTheReader(Copies):
    def wait(self, stream, event):
        if stream is not self.stream:
            super().wait(stream, event)


def test_without_the_readers_event_a_chunk_is_overwritten(stream):
    sent = edges(30 * CHUNK)
    found = sums_seen(ForgetsTheReader(), pinned(sent), buffers=2)
    assert (found != sums(sent)).any()


@pytest.mark.parametrize(("kind", "whole"), [(Copies, True), (ForgetsTheReader, False)])
def test_buffers_made_of_memory_that_a_kernel_still_reads_wait_for_it(kind, whole):
    """An allocator reuses memory in the order of its stream, which the copy stream does not know."""
    sent = pinned(edges(4 * CHUNK))
    with cupy.cuda.using_allocator(cupy.cuda.MemoryPool().malloc):
        link = Link(kind(), chunk=CHUNK, buffers=1)
        before = cupy.ones(link._slot_bytes // 8, "int64")
        expected, address = len(before), before.data.ptr
        # Called once before, so that the pool has all memory that the stream takes.
        seen = before.sum()
        spin(0.05)
        seen[...] = before.sum()
        del before
        with link:
            for position, _ in enumerate(link.stream(*sent)):
                if not position:
                    assert link._slots[0].device.data.ptr == address
            assert (int(seen) == expected) is whole


def test_the_first_kernel_starts_before_the_last_copy_ends(stream):
    copied = []

    class Timed(Copies):
        def record(self, stream):
            if stream is not self.stream:
                return super().record(stream)
            copied.append(cupy.cuda.Event())
            copied[-1].record(stream)
            return copied[-1]

    started = cupy.cuda.Event()
    with Link(Timed(), chunk=CHUNK) as link:
        for position, _ in enumerate(link.stream(*edges(20 * CHUNK))):
            if not position:
                started.record(cupy.cuda.get_current_stream())
            spin(SLOW)
    cupy.cuda.Device().synchronize()
    assert len(copied) == 20
    assert cupy.cuda.get_elapsed_time(started, copied[-1]) > 0
    assert cupy.cuda.get_elapsed_time(copied[0], started) >= 0


@pytest.mark.alone
@pytest.mark.parametrize("staged", [True, False], ids=["pageable", "pinned"])
def test_copying_overlaps_computing(staged):
    chunk, count = 1 << 21, 16
    sent = edges(chunk * count)
    arrays = sent if staged else pinned(sent)

    def best(computing, *, copying):
        found = math.inf
        for _ in range(5):
            cupy.cuda.Device().synchronize()
            began = time.perf_counter()
            for _ in link.stream(*arrays) if copying else range(count):
                if computing:
                    spin(computing)
            cupy.cuda.Device().synchronize()
            found = min(found, time.perf_counter() - began)
        return found

    with Link(Copies(), chunk=chunk) as link:
        copy = best(0, copying=True)
        compute = best(copy / count, copying=False)
        both = best(copy / count, copying=True)
    report = f"copying {copy:.4f} s, computing {compute:.4f} s, both {both:.4f} s"
    print(f"{'pageable' if staged else 'pinned'}: {report}")  # noqa: T201
    assert both < 0.8 * (copy + compute), report


def test_a_stream_of_many_times_the_ring_takes_the_ring_alone():
    sent = edges(1 << 22)
    pool = cupy.cuda.MemoryPool()
    with cupy.cuda.using_allocator(pool.malloc):
        total = cupy.zeros(2, "int64")
        used = []
        with Link(Copies(), chunk=1 << 15, buffers=2) as link:
            for source, target in link.stream(*sent):
                used.append(pool.used_bytes())
                total[0] += source.sum(dtype="int64")
                total[1] += target.sum(dtype="int64")
            ring = 2 * link._slot_bytes
            assert sent.nbytes > 60 * ring
            assert max(used) <= ring + 4096
        np.testing.assert_array_equal(cupy.asnumpy(total), sent.sum(axis=1))
        del source, target
        assert pool.used_bytes() <= 512


@pytest.mark.parametrize("how", ["break", "raise"])
def test_an_interrupted_stream_leaves_nothing_behind(how, stream):
    first, second = pinned(edges(20 * CHUNK)), edges(20 * CHUNK, seed=2)
    seen = cupy.zeros((), "int64")

    def read():
        for chunk in link.stream(*first):
            spin(0.02)
            seen[...] = chunk[0].sum(dtype="int64")
            if how == "break":
                break
            raise KeyError

    with Link(Copies(), chunk=CHUNK) as link:
        if how == "raise":
            with pytest.raises(KeyError):
                read()
        else:
            read()
        assert not copiers()
        first[:] = -1
        for position, (source, target) in enumerate(link.stream(*second)):
            at = slice(position * CHUNK, (position + 1) * CHUNK)
            assert int(source.sum()) == second[0, at].sum()
            assert int(target.sum()) == second[1, at].sum()
    assert int(seen) == edges(20 * CHUNK)[0, :CHUNK].sum()
    assert not copiers()


def test_an_error_of_the_device_reaches_the_reader():
    class Broken(Copies):
        def copy(self, to, source):
            super().copy(to[1:], source)

    with Link(Broken(), chunk=CHUNK) as link, pytest.raises(ValueError, match="hape"):
        list(link.stream(*edges(5 * CHUNK)))
    assert not copiers()


@pytest.mark.gpu2
@pytest.mark.skipif(cupy.cuda.runtime.getDeviceCount() < 2, reason="takes two GPUs")
def test_the_copier_works_on_the_readers_device():
    sent = edges(10 * CHUNK)
    with cupy.cuda.Device(1):
        found = sums_seen(Copies(), sent, buffers=2)
    np.testing.assert_array_equal(found, sums(sent))
