"""The files of a saved graph: one Arrow IPC file per range of vertices, each with one record batch.

A file has one row per vertex number of its range, in the order of the numbers, and these columns:

- ``vertex``, or ``vertex_0`` and so on: the id, unless it follows from the number.
- ``exists``: 1 for a vertex, and 0 for a number without one; only if the range has such numbers.
- ``out``: the list of edges that leave the vertex, each with the field ``end``, which is the number of the
  vertex at the other end, and the field ``weight`` if the graph has weights.
- ``into``: the list of edges that enter it, if the graph is directed.

Arrow stores the offsets, the ends and the weights of all lists of a column as one array each, so these are
the arrays of :class:`.Rows`. A local file is mapped into memory, and its arrays are used without a copy.
The mapping is private and writable, because Numba would compile all kernels again for read-only arrays.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphflow.exceptions import InputFileError, OutputError
from dask_graphflow.kernels import disk, joined, kernels_for
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.scheduling import placement

from . import frames
from .dtypes import kind
from .storage import GRAINS, Folder, Manifest, Range, check_file


class Contents(NamedTuple):
    """The contents of a range of vertices, in host memory.

    Attributes
    ----------
    ids : DataFrame of pandas, or None
    exists : array of bool, or None
        None if all numbers are vertices.
    rows : dict of str to Rows
        The rows "out" and, in a directed graph, "into".
    """

    ids: Any
    exists: np.ndarray | None
    rows: dict[str, Rows]

    @property
    def size(self) -> int:
        """Number of vertex numbers in the range."""
        return len(self.rows["out"].offsets) - 1

    def part(self, low: int, high: int) -> Contents:
        """Return the contents of the vertices `low` to ``high - 1``, as counted in this range."""
        if (low, high) == (0, self.size):
            return self  # without reading any of the pages
        rows = {}
        for side, whole in self.rows.items():
            offsets = whole.offsets[low : high + 1]
            edges = slice(int(offsets[0]), int(offsets[-1]))
            if edges.start:
                offsets = offsets - edges.start
            weights = None if whole.weights is None else whole.weights[edges]
            rows[side] = Rows(offsets, whole.ends[edges], weights, whole.first + low)
        ids = None if self.ids is None else self.ids.iloc[low:high]
        return Contents(ids, None if self.exists is None else self.exists[low:high], rows)


def write_range(folder: Folder, first: int, contents: Contents) -> Range:
    """Write the file of a range of vertices, which has the number `first` of its first vertex."""
    columns = {} if contents.ids is None else _id_arrays(contents.ids)
    if contents.exists is not None and not contents.exists.all():
        columns["exists"] = pa.array(contents.exists.view("uint8"))
    for side, rows in contents.rows.items():
        values = {"end": rows.ends} | ({} if rows.weights is None else {"weight": rows.weights})
        edges = pa.StructArray.from_arrays([*map(pa.array, values.values())], [*values])
        columns[side] = pa.LargeListArray.from_arrays(pa.array(rows.offsets), edges)
    stop = first + contents.size
    name = f"vertices-{first}-{stop}.arrow"
    return Range(name, write_batch(folder, name, pa.record_batch(columns)), first, stop)


def write_batch(folder: Folder, name: str, batch: pa.RecordBatch) -> int:
    """Write an Arrow IPC file of one record batch, and return its size in bytes."""
    path = folder.at(name)
    try:
        with folder.fs.open(path, "wb") as file:
            steadily = folder.is_local and batch.nbytes > disk.budget()
            into = _Steady(file.fileno()) if steadily else file
            with pa.ipc.new_file(into, batch.schema) as writer:
                writer.write_batch(batch)
        return int(folder.fs.size(path))
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error}. A graph needs a folder with room for its files. Delete "
            "the folder, which is incomplete, and save the graph again where there is room"
        ) from error


class _Steady(io.FileIO):
    """A local file that Linux does not keep in its cache while it is written; see :func:`.disk.write`."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._plain = io.FileIO(descriptor, "wb", closefd=False)

    def write(self, data: Any) -> int:
        disk.write(self._plain, data, steadily=True)
        return memoryview(data).nbytes


def read_ranges(
    folder: Folder, ranges: Sequence[Range], low: int, high: int, dtypes: Sequence[Any]
) -> Contents:
    """Return the contents of the vertices `low` to ``high - 1``.

    They are not copied if they are in one local file.

    Parameters
    ----------
    folder : Folder
    ranges : sequence of Range
        All ranges of the graph.
    low, high : int
    dtypes : sequence of dtype
        The dtypes of the ids; empty if the files do not contain the ids.
    """
    parts = []
    for one in ranges:
        start, stop = max(low, one.first), min(high, one.stop)
        if start < stop:
            contents = _File(folder, one).contents(dtypes)
            parts.append(contents.part(start - one.first, stop - one.first))
    return _joined(parts or [_File(folder, ranges[0]).contents(dtypes).part(0, 0)])


def _joined(parts: list[Contents]) -> Contents:
    """Return the contents of adjacent ranges as those of one range. One part is not copied."""
    first, *others = parts
    if not others:
        return first
    exists = None
    if any(part.exists is not None for part in parts):
        exists = np.concatenate(
            [np.ones(part.size, bool) if part.exists is None else part.exists for part in parts]
        )
    ids = None if first.ids is None else frames.stack([part.ids for part in parts])
    rows = {side: _joined_rows([part.rows[side] for part in parts]) for side in first.rows}
    return Contents(ids, exists, rows)


def _joined_rows(parts: list[Rows]) -> Rows:
    first, shift, offsets = parts[0], 0, [parts[0].offsets[:1]]
    for part in parts:
        offsets.append(part.offsets[1:] + shift)
        shift += len(part.ends)
    weights = None
    if first.weights is not None:
        weights = joined([part.weights for part in parts])
    ends = joined([part.ends for part in parts])
    return Rows(np.concatenate(offsets), ends, weights, first.first)


class _File:
    """The file of a range, mapped into memory or read."""

    def __init__(self, folder: Folder, one: Range) -> None:
        self.first, path = one.first, folder.at(one.file)
        check_file(folder, one, folder.fs.size(path) if folder.fs.exists(path) else None)
        self._memory = (
            disk.opened(path, placement.disk_folder())
            if folder.is_local
            else _read(folder, path, one.size)
        )
        buffer = pa.py_buffer(self._memory)
        self._start = buffer.address
        self.batch = _opened(path, buffer).get_batch(0)

    def contents(self, dtypes: Sequence[Any]) -> Contents:
        columns = dict(zip(self.batch.schema.names, self.batch.columns, strict=True))
        ids = {
            name: self._series(columns.pop(name), dtype)
            for name, dtype in zip(list(columns), dtypes, strict=False)
        }
        exists = columns.pop("exists", None)
        rows = {}
        for side, lists in columns.items():
            fields = [field.name for field in lists.type.value_type]
            values = {name: self._array(lists.values.field(name)) for name in fields}
            offsets = self._array(lists.offsets)
            rows[side] = Rows(offsets, values["end"], values.get("weight"), self.first)
        return Contents(
            pd.DataFrame(ids, copy=False) if ids else None,
            None if exists is None else self._array(exists).view(bool),
            rows,
        )

    def _array(self, array: pa.Array, dtype: Any = None) -> np.ndarray:
        """Return the numbers of an Arrow array as a writable array in the same memory."""
        dtype = np.dtype(dtype or array.type.to_pandas_dtype())
        if not len(array):
            return np.empty(0, dtype)
        begin = array.buffers()[1].address - self._start + array.offset * dtype.itemsize
        return np.frombuffer(self._memory, dtype, len(array), begin)

    def _series(self, array: pa.Array, dtype: Any) -> Any:
        """Return ids as a series; numbers and text stay in the memory of the file."""
        if hasattr(dtype, "__from_arrow__"):
            return pd.Series(dtype.__from_arrow__(array), copy=False)
        if dtype.kind in "iumM":
            return pd.Series(self._array(array, dtype), copy=False)
        return pd.Series(array.to_numpy(zero_copy_only=False), dtype=dtype)


def _opened(path: str, source: Any) -> pa.RecordBatchFileReader:
    """Return the reader of an Arrow IPC file in memory, or of an open file."""
    try:
        return pa.ipc.open_file(source)
    except pa.ArrowException as error:
        raise InputFileError(
            f"{path} is not the file of a saved graph: {error}. Files of the folder must not be changed. "
            "Copy the folder again, or save the graph again"
        ) from error


def _read(folder: Folder, path: str, size: int) -> np.ndarray:
    """Read a file into writable memory."""
    memory, at = np.empty(size, np.uint8), 0
    with folder.fs.open(path, "rb") as file:
        while count := file.readinto(memory[at:].data):
            at += count
    return memory[:at]


def _id_arrays(ids: pd.DataFrame) -> dict[str, pa.Array]:
    table = pa.Table.from_pandas(ids, preserve_index=False).combine_chunks()
    return {
        name: column.chunk(0) if column.num_chunks else pa.array([], column.type)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def dtype_names(like: Any) -> list[str]:
    """Return pandas' name of the dtype of each column of ids, from which :func:`id_dtypes` makes it."""
    on_host = kernels_for(like).to_pandas(like).dtypes
    return [_dtype_name(dtype, like[column].dtype) for column, dtype in on_host.items()]


def _dtype_name(dtype: Any, own: Any) -> str:
    """Return the name of a dtype of ids on the host; `own` is the dtype in the memory of the graph."""
    name = str(dtype)
    if name == "object":
        return "decimal128[pyarrow]" if kind(own) == "decimal" else "str"
    python = name == "string" and dtype.storage == "python"
    return "string[python]" if python else name


def id_dtypes(folder: Folder, manifest: Manifest) -> list[Any]:
    """Return the dtypes of the ids, by their names and by the types of the columns of the files."""
    names = manifest.id_dtypes
    if manifest.first_id is not None:
        return [pd.api.types.pandas_dtype(name) for name in names]
    path = folder.at(manifest.ranges[0].file)
    with folder.fs.open(path, "rb") as file:
        schema = _opened(path, file).schema
    return [
        pd.ArrowDtype(field.type)
        if name.endswith("[pyarrow]")  # pandas cannot read the names of all of Arrow's types
        else pd.api.types.pandas_dtype(name)
        for name, field in zip(names, schema, strict=False)
    ]


def write_grains(folder: Folder, edges: np.ndarray) -> None:
    """Write the number of edge ends of each grain."""
    write_batch(folder, GRAINS, pa.record_batch({"edges": edges}))


def read_grains(folder: Folder) -> np.ndarray:
    """Return the number of edge ends of each grain."""
    path = folder.at(GRAINS)
    with folder.fs.open(path, "rb") as file:
        edges: np.ndarray = _opened(path, file).read_all()["edges"].to_numpy()
    return edges
