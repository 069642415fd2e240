"""The link: it copies host arrays to a device chunk by chunk, through rings of buffers, while kernels run.

::

    arrays --threads--> pinned buffer i % 3 --copy stream--> device buffer k % n --> the reader's kernels

One thread of the link, the copier, has each chunk staged in pinned memory, in pieces, and queues the copies
of these pieces. The reader takes the chunks from an iterator. Meanwhile:

- A pinned buffer is overwritten only after the copy out of it has ended. The copier waits for that.
- When the reader asks for the next chunk, it records an event. The device buffer of the previous chunk is
  overwritten only after this event. The copy stream waits for the event; no thread does.
- A chunk is in flight from the time it gets a device buffer until the reader asks for the next chunk. There
  are never more chunks in flight than device buffers. Two more pieces may be staged.

(Groute, PPoPP 2017, section 4: pipelined receivers.)
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from dask_graphflow.exceptions import GraphflowError

from .staging import ALIGNMENT, Counters, Stage, narrower, room, views

ARRAYS = 3  # arrays of a chunk; a buffer has room for the alignment between them
PIECE = 1 << 22  # most edges that are staged at a time
LEAST_PINNED = 1 << 12  # bytes; enough for one edge in aligned arrays


@dataclass
class _Slot:
    """A slot of the ring: a buffer on the device, and the event after which it may be overwritten."""

    device: Any
    used: Any


class _Stopped(Exception):  # noqa: N818
    """The copier was told to stop."""


class _Run:
    """State that the copier and the reader of one call share."""

    def __init__(self, buffers: int) -> None:
        # (slot, arrays, event) for each chunk; at the end None, or the error that occurred.
        self.ready: SimpleQueue[Any] = SimpleQueue()
        self.chunks = 0  # number of chunks that the copier put into `ready`
        self._buffers = buffers
        self._in_flight = 0
        self._stopped = False
        self._changed = threading.Condition()

    def take(self) -> int:
        """Wait for a free device buffer; return the number of buffers in use, including this one."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._in_flight < self._buffers)
            if self._stopped:
                raise _Stopped
            self._in_flight += 1
            return self._in_flight

    def release(self) -> None:
        """Give a device buffer back."""
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop the copier from taking more buffers."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


class Link:
    """A pipelined channel from host memory to a device, with a bounded number of buffers.

    The first call that needs the buffers makes them. They are kept for all later calls.

    Parameters
    ----------
    copies : Copies
        From :mod:`~dask_graphflow.kernels.device_copies`; tests have others, for host memory.
    chunk : int
        Most edges in a chunk.
    buffers : int
        Most chunks in flight. With two, one chunk is copied while another is read.
    edge_bytes : int
        Bytes per edge: a buffer has room for `chunk` edges of this size. If edges are wider, a chunk has
        fewer of them.
    piece : int
        Most edges that are staged at a time. A pinned buffer has room for this many.
    threads : int
        Threads that copy to pinned memory.

    Attributes
    ----------
    counters : Counters
        Counts and times so far.
    """

    def __init__(
        self,
        copies: Any,
        *,
        chunk: int,
        buffers: int = 2,
        edge_bytes: int = 16,
        piece: int = PIECE,
        threads: int = 4,
    ) -> None:
        self.counters = Counters()
        self._copies = copies
        self._chunk = chunk
        self._buffers = buffers
        self._slot_bytes = chunk * edge_bytes + (ARRAYS - 1) * ALIGNMENT
        self._piece = min(piece, chunk)
        # No extra room for alignment: large pieces are aligned, and memory comes in powers of two.
        piece_bytes = max(self._piece * edge_bytes, LEAST_PINNED)
        self._stage = Stage(copies, piece_bytes, threads, self.counters)
        self._slots: list[_Slot] = []
        self._turn = threading.Lock()
        self._reader: int | None = None  # identifier of the thread that has the turn
        self._run: _Run | None = None
        self._copier: threading.Thread | None = None
        self._closed = False

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stream(
        self, *arrays: np.ndarray, dtype: Any = None
    ) -> Generator[tuple[Any, ...], None, None]:
        """Iterate over arrays chunk by chunk, on the device.

        Only one call runs at a time. Calls from other threads wait for their turn.

        Parameters
        ----------
        *arrays : array of numbers, shape (m,)
            The source, target and other values of each edge. Do not change them until the iterator ends.
            If all arrays are in pinned memory, they are copied from there without staging.
        dtype : dtype, optional
            Convert wider integers to this type, to copy fewer bytes. Every value is checked first. From the
            first chunk with a value that does not fit, this call copies all values in their own types. The
            part of that chunk that was already processed is then staged and copied twice.

        Yields
        ------
        tuple of arrays on the device, shape (at most `chunk`,)
            The next edges. The reader's kernels must run on the stream that is current when it asks for
            them. The arrays are overwritten after the reader's next step.
        """
        arrays = tuple(np.asanyarray(array) for array in arrays)
        sent = [array.dtype.newbyteorder("=") for array in arrays]
        narrow = sent
        if dtype is not None:
            wanted = np.dtype(dtype).newbyteorder("=")
            narrow = [narrower(own, wanted) for own in sent]
        return self._read(arrays, sent, narrow)

    def close(self) -> None:
        """End a running call, and free the buffers once nothing uses them."""
        self._closed = True
        if self._run is not None:
            self._run.stop()
        if self._copier is not None:
            self._copier.join()
        with self._copies.attached():
            self._copies.stream.synchronize()
            for slot in self._slots:
                slot.used.synchronize()
        self._slots = []
        self._stage.close()

    # The reader's side

    def _read(
        self, arrays: Sequence[np.ndarray], sent: Any, narrow: Any
    ) -> Generator[tuple[Any, ...], None, None]:
        if not len(arrays[0]):
            return
        if self._reader == threading.get_ident():
            raise GraphflowError(
                "this thread already reads from this link; end that iterator first, or use two links"
            )
        with self._turn:
            self._reader = threading.get_ident()
            try:
                copier = self._start(arrays, sent, narrow)
                run = self._run
                assert run is not None
                try:
                    yield from self._hand_over(run)
                finally:
                    run.stop()
                    # The garbage collector may end a forgotten iterator in any thread.
                    if threading.current_thread() is not copier:
                        copier.join()
            finally:
                self._reader = None

    def _start(self, arrays: Sequence[np.ndarray], sent: Any, narrow: Any) -> threading.Thread:
        if self._copier is not None:
            self._copier.join()
        if self._closed:
            raise GraphflowError("the link is closed; make a new one")
        while len(self._slots) < self._buffers:
            buffer = self._copies.device(self._slot_bytes)
            # Treat the new buffer as used: its memory may still be in use on the reader's stream.
            used = self._copies.record(self._copies.current())
            self._slots.append(_Slot(buffer, used))
        self.counters.first_use = self.counters.last_copy = math.nan
        self._run = run = _Run(self._buffers)
        self._copier = copier = threading.Thread(
            target=self._copy, args=(run, arrays, sent, narrow), name="graphflow-link", daemon=True
        )
        copier.start()
        return copier

    def _hand_over(self, run: _Run) -> Iterator[tuple[Any, ...]]:
        while (item := run.ready.get()) is not None:
            if isinstance(item, BaseException):
                try:
                    raise item
                finally:
                    del item  # avoid a reference cycle between the exception and this frame
            slot, chunk, copied = item
            reader = self._copies.current()
            self._copies.wait(reader, copied)
            if math.isnan(self.counters.first_use):
                self.counters.first_use = time.perf_counter()
            try:
                yield chunk
            finally:  # needed even if the reader stops early, because its kernels may still run
                slot.used = self._copies.record(reader)
                run.release()

    # The copier's side

    def _copy(self, run: _Run, arrays: Sequence[np.ndarray], sent: Any, narrow: Any) -> None:
        outcome: BaseException | None = None
        try:
            with self._copies.attached():
                try:
                    self._copy_chunks(run, arrays, sent, narrow)
                finally:
                    # Even after an error, nothing may read the arrays once the iterator has ended.
                    self._copies.stream.synchronize()
            self.counters.last_copy = time.perf_counter()
        except _Stopped:
            outcome = GraphflowError("the link was closed while it was read from; read, then close")
        except BaseException as error:
            outcome = error
        run.ready.put(outcome)

    def _copy_chunks(self, run: _Run, arrays: Sequence[np.ndarray], sent: Any, narrow: Any) -> None:
        direct = all(a.flags.c_contiguous and a.dtype.isnative for a in arrays) and all(
            self._copies.is_pinned(a) for a in arrays
        )
        if direct:
            self._copy_direct(run, arrays, sent)
            return
        start, dtypes = 0, narrow
        while (start := self._copy_staged(run, arrays, dtypes, start)) < len(arrays[0]):
            self.counters.widened += 1
            dtypes = sent

    def _copy_direct(self, run: _Run, arrays: Sequence[np.ndarray], dtypes: Any) -> None:
        """Copy chunks directly from arrays in pinned memory."""
        for first, last in _cuts(0, len(arrays[0]), self._room(dtypes)):
            slot, to = self._take(run, dtypes, last - first)
            self._hand_on(run, slot, to, self._queue(to, [a[first:last] for a in arrays]))

    def _copy_staged(self, run: _Run, arrays: Sequence[np.ndarray], dtypes: Any, start: int) -> int:
        """Copy chunks from edge `start` on; return the first edge of the first chunk that does not fit.

        Return the number of edges if all values fit the dtypes.
        """
        end, room = len(arrays[0]), self._room(dtypes)
        size = min(self._stage.room(dtypes), room, self._piece)
        cuts = (cut for chunk in _cuts(start, end, room) for cut in _cuts(*chunk, size))
        with closing(self._stage.pieces(arrays, dtypes, cuts)) as pieces:
            for piece in pieces:
                at = (piece.start - start) % room  # the piece's offset in its chunk
                first, upto = piece.start - at, at + len(piece.arrays[0])
                if not piece.fits:
                    if at:
                        run.release()
                    return first
                if not at:
                    slot, to = self._take(run, dtypes, min(room, end - first))
                copied = self._queue([array[at:upto] for array in to], piece.arrays)
                piece.buffer.copied = copied
                if upto == len(to[0]):
                    self._hand_on(run, slot, to, copied)
        return end

    def _take(self, run: _Run, dtypes: Any, count: int) -> tuple[_Slot, list[Any]]:
        """Wait for a device buffer; return its slot, and arrays in it that the copy stream may write to."""
        began = time.perf_counter()
        in_flight = run.take()
        self.counters.waiting += time.perf_counter() - began
        self.counters.most_in_flight = max(self.counters.most_in_flight, in_flight)
        slot = self._slots[run.chunks % len(self._slots)]
        self._copies.wait(self._copies.stream, slot.used)
        return slot, views(slot.device, dtypes, count)

    def _queue(self, to: Sequence[Any], part: Sequence[np.ndarray]) -> Any:
        """Queue copies; return an event that marks their end."""
        for array, source in zip(to, part, strict=True):
            self._copies.copy(array, source)
            self.counters.copies += 1
            self.counters.bytes += source.nbytes
        return self._copies.record(self._copies.stream)

    def _hand_on(self, run: _Run, slot: _Slot, chunk: Sequence[Any], copied: Any) -> None:
        run.chunks += 1
        self.counters.chunks += 1
        run.ready.put((slot, tuple(chunk), copied))

    def _room(self, dtypes: Any) -> int:
        """Return how many edges of these dtypes make a chunk."""
        return min(self._chunk, room(self._slot_bytes, dtypes))


def _cuts(start: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of parts of `size`. The last part may be smaller."""
    for low in range(start, stop, size):
        yield low, min(low + size, stop)
