"""Arrays in files, which may be larger than memory.

Such an array is mapped into memory. Linux reads a page of the file when it is first used, several pages
ahead if reads are in order, and drops pages when memory is short [1]_. Kernels use these arrays like any
other.

A program that watches the memory of a process, such as a worker of Dask, counts every page that the process
has used since it mapped the file. So a thread lets go of all pages of all files as soon as they exceed a
budget. What is used again is mapped again: from Linux's cache, without reading the file, if it is still
there.

.. [1] Z. Lin, M. Kahng, K. Sabrin, D. H. Chau, H. Lee, U. Kang, "MMap: Fast Billion-Scale Graph
   Computation on a PC via Memory Mapping", IEEE BigData 2014.
"""

from __future__ import annotations

import gc
import itertools
import math
import mmap
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakSet, finalize

import numpy as np

from dask_graphflow.exceptions import OutputError

from .memory import PROCESS, machine_bytes

NO_RESERVE = 0x4000  # Linux's MAP_NORESERVE, which Python names from version 3.13 on
LEAST = 1 << 16  # bytes; smaller arrays are in memory
PART = 4  # mapped pages may take 1/4 of the memory limit, less what the process itself takes
LEAST_BUDGET = 1 << 26  # bytes of mapped pages
FULL = 0.7  # a process that needs more than this part of its limit leaves less to mapped pages
LEAST_PAGES = 1 << 24  # bytes that they may always take
SEEK = 1 << 15  # bytes that can be read in order while one more piece is read: 11 us, at 2.3 GB/s
AHEAD = 1 << 24  # bytes of a file in which entries are asked for before they are taken
WRITTEN = 1 << 23  # bytes that are written at a time
LOOK = 0.02  # seconds between looks at the mapped pages
AROUND = 21  # with a page from its cache, Linux maps what it read together, up to 2**21 bytes


class MappedFile(mmap.mmap):
    """A file that is mapped into memory.

    Attributes
    ----------
    folder : str
        The folder for arrays that are made from those in this file.
    again : callable, or None
        Maps the same file once more; None if this is the second mapping.
    by_page : MappedFile, or None
        The second mapping, once :func:`read_by_page` made it.
    """

    folder: str
    again: Callable[[], MappedFile] | None = None
    by_page: MappedFile | None = None


def opened(path: str, folder: str) -> MappedFile:
    """Map a file into memory, for reading.

    The mapping is private and writable, because Numba would compile all kernels again for read-only arrays.
    What is written to it is lost.
    """
    with open(path, "rb") as file:
        if sys.platform != "linux":
            return _mapped(file.fileno(), 0, folder, access=mmap.ACCESS_COPY)
        # Linux would otherwise refuse to map files that are larger than its memory.
        flags, use = mmap.MAP_PRIVATE | NO_RESERVE, mmap.PROT_READ | mmap.PROT_WRITE
        return _mapped(file.fileno(), 0, folder, flags=flags, prot=use)


def empty(shape: Any, dtype: Any, folder: str) -> np.ndarray:
    """Return a new array in a file without a name, which ends with the array and with the process.

    Raises
    ------
    OutputError
        The folder cannot be written to, or lacks room.
    """
    size, dtype = math.prod(np.atleast_1d(shape).tolist()), np.dtype(dtype)
    nbytes = size * dtype.itemsize
    if nbytes < LEAST or not nbytes:
        return np.empty(shape, dtype)

    def make() -> MappedFile:
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file.fileno(), nbytes, folder)
            return _mapped(file.fileno(), nbytes, folder)

    try:
        mapped = _again_without_garbage(make)
    except OSError as error:
        raise _not_written(folder, nbytes, error) from error
    return np.frombuffer(mapped, dtype, size).reshape(shape)


def _again_without_garbage(write: Callable[[], Any]) -> Any:
    """Write to a disk; if that fails, try again without the files that only garbage refers to."""
    try:
        return write()
    except OSError:
        gc.collect()
        return write()


def write(file: Any, data: Any, *, steadily: bool) -> None:
    """Write bytes to an open file of the operating system.

    Parameters
    ----------
    file : file object without a buffer
    data : bytes-like
    steadily : bool
        Whether Linux starts to write each piece to the disk at once, and forgets it then. It would
        otherwise keep so many pages that others are forgotten before they were used.
    """
    left = memoryview(data).cast("B")
    while len(left):
        left = left[file.write(left[:WRITTEN]) :]
        if steadily and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Spool:
    """Arrays that are written to a file without a name, one after another.

    Writing a long array by pieces takes less time than writing to a mapped file, whose pages Linux would
    first have to map one by one.

    Parameters
    ----------
    folder : str
    steadily : bool
        See :func:`write`. False by default.
    """

    def __init__(self, folder: str, *, steadily: bool = False) -> None:
        self._folder, self._steadily = folder, steadily
        try:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed when read
        except OSError as error:
            raise _not_written(folder, 0, error) from error
        self._written: list[tuple[np.dtype[Any], int]] = []

    def append(self, array: np.ndarray) -> None:
        """Write an array behind those before it; raise `OutputError` if there is no room."""
        data, begin = np.ascontiguousarray(array).data, self._file.tell()

        def append() -> None:
            self._file.seek(begin)
            write(self._file, data, steadily=self._steadily)

        self._written.append((array.dtype, len(array)))
        try:
            if len(array):
                _again_without_garbage(append)
        except OSError as error:
            self._file.close()
            raise _not_written(self._folder, array.nbytes, error) from error

    def read_all(self) -> list[np.ndarray]:
        """Return all arrays, in memory, and delete the file."""
        with self._file:
            self._file.seek(0)
            return [np.fromfile(self._file, dtype, size) for dtype, size in self._written]

    def parts(self) -> list[np.ndarray]:
        """Return all arrays, which have the same dtype, as views of one array in the file."""
        if not self._written:
            self._file.close()
            return []
        return np.split(self.joined(), np.cumsum([size for _, size in self._written])[:-1])

    def joined(self) -> np.ndarray:
        """Return all arrays, which have the same dtype, as one array in the file."""
        dtype, size = self._written[0][0], sum(size for _, size in self._written)
        with self._file:
            if not size:
                return np.empty(0, dtype)
            mapped = _mapped(self._file.fileno(), size * dtype.itemsize, self._folder)
        return np.frombuffer(mapped, dtype, size)


def _not_written(folder: str, nbytes: int, error: OSError) -> OutputError:
    return OutputError(
        f"{f'{nbytes:,} bytes' if nbytes else 'a file'} of a graph on disk cannot be written to {folder}: "
        f"{error}. Such a graph needs room there for its edges and for what algorithms derive from them. "
        "Free some space, or choose another folder, by local_directory= of the cluster or by "
        "dask.config.set(temporary_directory=...)"
    )


def _reserve(file: int, nbytes: int, folder: str) -> None:
    """Give a file its size, and its room on the disk: a later write to memory could not report a lack."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, nbytes)
        return
    free = shutil.disk_usage(folder).free
    if free < nbytes:
        raise OSError(f"{free:,} bytes are free")
    os.ftruncate(file, nbytes)


def stored(array: np.ndarray, folder: str | None) -> np.ndarray:
    """Return a copy of an array in a file of a folder, or the array itself if there is no folder."""
    if folder is None:
        return array
    if array.nbytes < LEAST or not array.nbytes:
        return array.copy()
    spool = Spool(folder)
    spool.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    return spool.joined().view(array.dtype).reshape(array.shape)


def file_of(array: Any) -> MappedFile | None:
    """Return the file that an array is in; None if it is in memory."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    file = base.obj if isinstance(base, memoryview) else base
    return file if isinstance(file, MappedFile) else None


def folder_of(array: Any) -> str | None:
    """Return the folder for arrays that are made from this one; None if it is in memory."""
    file = file_of(array)
    return None if file is None else file.folder


def place_of(array: np.ndarray, file: MappedFile) -> int:
    """Return the byte of a file at which an array begins."""
    return int(array.ctypes.data - np.frombuffer(file, np.uint8, 1).ctypes.data)


def read_by_page(array: np.ndarray) -> np.ndarray:
    """Return an array in a file through another mapping, of which Linux reads only the pages that are used.

    Through the first mapping, Linux also reads what is around a page: up to 8 MB on fast disks.
    """
    file = file_of(array)
    if file is None or file.again is None or not hasattr(file, "madvise"):
        return array
    if file.by_page is None:
        other = file.again()
        other.madvise(mmap.MADV_RANDOM)
        file.by_page = other
    return np.frombuffer(file.by_page, array.dtype, array.size, place_of(array, file))


def take(array: Any, at: Any) -> Any:
    """Return the entries of an array at ascending indices.

    If the array is in a file, only the pages with these entries are read. Linux is asked for them before
    they are used, and pages that are near each other are asked for as one piece.
    """
    array = read_by_page(array)
    file = file_of(array)
    if file is None or not hasattr(file, "madvise"):
        return array[at]
    place, size, taken = place_of(array, file), array.itemsize, np.empty(len(at), array.dtype)
    low = 0
    while low < len(at):
        high = int(np.searchsorted(at, at[low] + AHEAD // size))
        part = at[low:high]
        cuts = [0, *(np.flatnonzero(np.diff(part) > SEEK // size) + 1).tolist(), len(part)]
        for first, stop in itertools.pairwise(cuts):
            begin = (place + int(part[first]) * size) // mmap.PAGESIZE * mmap.PAGESIZE
            file.madvise(mmap.MADV_WILLNEED, begin, place + int(part[stop - 1] + 1) * size - begin)
        taken[low:high] = array[part]
        low = high
    return taken


def beside(array: np.ndarray, shape: Any, dtype: Any) -> np.ndarray:
    """Return a new array on disk if another one is, and in memory if that is."""
    folder = folder_of(array)
    return np.empty(shape, dtype) if folder is None else empty(shape, dtype, folder)


# The mapped pages

_files: WeakSet[MappedFile] = WeakSet()
_lock = threading.Lock()
_state: dict[str, Any] = {"limit": None, "watching": False}


def budget() -> int:
    """Return the bytes that mapped pages may take, which are also right for other buffers."""
    return part_of(memory())


def part_of(memory: int) -> int:
    """Return the part of some bytes of memory that mapped pages may take."""
    return max(LEAST_BUDGET, (memory - PROCESS) // PART)


def memory() -> int:
    """Return the bytes that this process may use: its limit, or the memory of the machine."""
    return _state["limit"] or machine_bytes()


def limit(memory: float) -> None:
    """Set the bytes that this process may use, of which mapped pages may take a part."""
    if math.isfinite(memory):
        _state["limit"] = int(memory)


def _mapped(descriptor: int, size: int, folder: str, **how: Any) -> MappedFile:
    file, own = MappedFile(descriptor, size, **how), os.dup(descriptor)
    finalize(file, os.close, own)
    file.again = lambda: _watched(MappedFile(own, size, **how), folder)
    return _watched(file, folder)


def _watched(file: MappedFile, folder: str) -> MappedFile:
    file.folder = folder
    with _lock:
        _files.add(file)
        if not _state["watching"] and _memory_in_use() is not None:
            _state["watching"] = True
            threading.Thread(target=_watch, name="graphflow-mapped-files", daemon=True).start()
    return file


def _watch() -> None:
    """Let go of the pages of all files whenever they exceed the budget, until there is no file."""
    _, others = _memory_in_use() or (0, 0)  # mapped pages of libraries
    while True:
        time.sleep(LOOK)
        with _lock:
            files = list(_files)
            if not files:
                _state["watching"] = False
                return
        del files
        resident, mapped = _memory_in_use() or (0, 0)
        if mapped - others > _room(resident - mapped):
            let_go()


def room() -> int:
    """Return the bytes that mapped pages may take now."""
    resident, mapped = _memory_in_use() or (0, 0)
    return _room(resident - mapped)


def let_go() -> None:
    """Let go of the pages of all files: before more memory is needed, or because there are too many."""
    with _lock:
        files = list(_files)
    for file in files:
        if hasattr(file, "madvise"):
            file.madvise(mmap.MADV_DONTNEED)


def _room(own: int) -> int:
    return min(budget(), _left(own))


def _left(own: int) -> int:
    """Return the bytes that the process leaves to mapped pages if it uses some bytes itself."""
    return max(LEAST_PAGES, int(FULL * memory()) - own)


def _memory_in_use() -> tuple[int, int] | None:
    """Return the bytes of this process's memory, and those of mapped files among them; None if unknown."""
    try:
        _, resident, mapped, *_ = Path("/proc/self/statm").read_bytes().split()
    except OSError:
        return None
    return int(resident) * mmap.PAGESIZE, int(mapped) * mmap.PAGESIZE
