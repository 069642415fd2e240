"""Reading the file of a range of vertices: nothing in it is used before it was checked.

A checksum shows that bytes are those that were written. Whoever changes a file can also change its
checksum, and version 1 of the format has none. So all numbers that are used as indices are checked as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import InputFileError
from dask_graphflow.graph.dtypes import empty
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.kernels import disk
from dask_graphflow.kernels.csr import Rows

from .checksums import Version, first_wrong
from .folders import Folder, check_file
from .manifest import Manifest, Range, StoredFile

TOKEN = "token"  # the entry of a file's metadata that has the token of its graph


class Contents(NamedTuple):
    """The contents of a range of vertices, in host memory."""

    ids: Any  # DataFrame of pandas, or None
    exists: np.ndarray | None  # array of bool, or None. None if all numbers are vertices.
    rows: dict[str, Rows]  # the rows "out" and, in a directed graph, "into"

    @property
    def size(self) -> int:
        """Number of vertex numbers in the range."""
        return len(self.rows["out"].offsets) - 1

    def part(self, low: int, high: int) -> Contents:
        """Return the contents of the vertices `low` to ``high - 1``, as counted in this range."""
        if (low, high) == (0, self.size):
            return self  # without reading any of the pages
        rows = {side: whole.part(low, high) for side, whole in self.rows.items()}
        ids = None if self.ids is None else self.ids.iloc[low:high]
        return Contents(ids, None if self.exists is None else self.exists[low:high], rows)


class StoredRange:
    """The file of a range, mapped into memory or read.

    The dtypes are those of the ids; there are none if the file does not contain the ids.
    """

    def __init__(
        self,
        folder: Folder,
        manifest: Manifest,
        one: Range,
        dtypes: Sequence[Any],
        resources: Resources,
    ) -> None:
        self._threads = resources.threads
        self._range, self._numbers, self._dtypes = one, manifest.numbers, dtypes
        self._path = path = folder.at(one.file)
        check_file(folder, one, folder.fs.size(path) if folder.fs.exists(path) else None)
        # Files elsewhere are read as a whole each time, so they are checked each time.
        against = manifest.numbers, tuple(one.checksums)
        self._version = Version(path, against) if folder.is_local else None
        self._memory = (
            disk.opened(path, resources.folder()) if folder.is_local else read(folder, one)
        )
        buffer = pa.py_buffer(self._memory)
        self._start = buffer.address
        self._batch = only_batch(path, buffer, manifest)
        names = vertex_names("vertex", len(dtypes)) if dtypes else []
        self._others = self._columns(manifest, names)
        self._ids = self._batch.select(names)

    def contents(self, low: int, high: int, *, again: bool = False) -> Contents:
        """Return the vertices `low` to ``high - 1``, as counted in this range.

        They are checked unless this process has checked them before in this version of the file. With
        `again`, they are always checked.
        """
        whole = Contents(None, self._exists(), self._rows())
        checked = self._version is not None and self._version.is_checked(low, high)
        if again or not checked:
            self._check(whole, low, high)
        part = whole.part(low, high)
        if not self._dtypes:
            return part
        columns = zip(self._ids.schema.names, self._ids.columns, self._dtypes, strict=True)
        ids = {name: self._series(column, dtype) for name, column, dtype in columns}
        return part._replace(ids=pd.DataFrame(ids, copy=False).iloc[low:high])

    # Arrow's arrays as those of NumPy and pandas

    def _exists(self) -> np.ndarray | None:
        exists = self._others.get("exists")
        return None if exists is None else self._array(exists).view(bool)

    def _rows(self) -> dict[str, Rows]:
        rows = {}
        for side, lists in self._others.items():
            if side != "exists":
                edges = {one.name: lists.values.field(one.name) for one in lists.type.value_type}
                arrays = {name: self._array(array) for name, array in edges.items()}
                offsets = self._array(lists.offsets)
                rows[side] = Rows(offsets, arrays["end"], arrays.get("weight"), self._range.first)
        return rows

    def _array(self, array: pa.Array, dtype: Any = None) -> np.ndarray:
        """Return the numbers of an Arrow array as a writable array in the same memory."""
        dtype = np.dtype(dtype or array.type.to_pandas_dtype())
        if not len(array):
            return np.empty(0, dtype)
        begin = array.buffers()[1].address - self._start + array.offset * dtype.itemsize
        if not 0 <= begin <= len(self._memory) - len(array) * dtype.itemsize:
            raise self._damaged("its arrays are compressed")
        return np.frombuffer(self._memory, dtype, len(array), begin)

    def _series(self, array: pa.Array, dtype: Any) -> Any:
        """Return ids as a series; numbers and text stay in the memory of the file."""
        if hasattr(dtype, "__from_arrow__"):
            return pd.Series(dtype.__from_arrow__(array), copy=False)
        if isinstance(dtype, np.dtype) and dtype.kind in "iumM":
            return pd.Series(self._array(array, dtype), copy=False)
        return array.to_pandas().astype(dtype)

    # Checks

    def _damaged(self, problem: str) -> InputFileError:
        return damaged(self._path, problem)

    def _columns(self, manifest: Manifest, ids: list[str]) -> dict[str, pa.Array]:
        """Return the columns other than ids; raise unless the manifest announces all rows and columns."""
        batch, one, schema = self._batch, self._range, self._batch.schema
        if len(batch) != one.stop - one.first:
            raise self._damaged(f"it has {len(batch):,} rows instead of {one.stop - one.first:,}")
        exists = ["exists"] if "exists" in schema.names else []
        names = [*exists, *(["out", "into"] if manifest.directed else ["out"])]
        if schema.names != [*ids, *names]:
            raise self._damaged(f"it has the columns {', '.join(schema.names)}")
        lists = _types_of_lists(manifest.weight_dtype)
        wrong = [
            name for name, dtype in zip(ids, self._dtypes, strict=True)
            if not is_type_of(schema.field(name).type, dtype)
        ]  # fmt: skip
        wrong += [
            name for name in names
            if schema.field(name).type not in ([pa.uint8()] if name == "exists" else lists)
        ]  # fmt: skip
        if wrong:
            raise self._damaged(f"its column {wrong[0]} has type {schema.field(wrong[0]).type}")
        columns = {name: batch[name] for name in names}
        edges = [columns[name].values for name in names if name != "exists"]
        fields = [part.field(i) for part in edges for i in range(part.type.num_fields)]
        if any(array.null_count for array in [*batch.columns, *edges, *fields]):
            raise self._damaged("it has nulls")
        return columns

    def _check(self, whole: Contents, low: int, high: int) -> None:
        """Raise unless the vertices `low` to ``high - 1`` can be used; remember them then."""
        for rows in whole.rows.values():
            self._check_offsets(rows, low, high)
        part = whole.part(low, high)
        if self._range.checksums:
            self._check_bytes(whole, part, low, high)
        try:
            self._ids.validate(full=True)
        except pa.ArrowException as error:
            raise self._damaged(str(error)) from error
        for rows in part.rows.values():
            # A negative number is a large one without its sign.
            if len(rows.ends) and rows.ends.view(f"u{rows.ends.itemsize}").max() >= self._numbers:
                raise self._damaged("an edge ends at a vertex that does not exist")
        if part.exists is not None and part.exists.view("uint8").max(initial=0) > 1:
            raise self._damaged("the column exists has numbers other than 0 and 1")
        if self._version is not None:
            self._version.remember(low, high)

    def _check_offsets(self, rows: Rows, low: int, high: int) -> None:
        """Raise unless the edges of each row follow those of the row before, and all edges are in rows."""
        offsets, last = rows.offsets[low : high + 1], len(rows.offsets) - 1
        first, stop = int(offsets[0]), int(offsets[-1])
        if (offsets[1:] < offsets[:-1]).any() or first < 0 or stop > len(rows.ends):
            raise self._damaged("the offsets of its edges do not ascend")
        if (low == 0 and first != 0) or (high == last and stop != len(rows.ends)):
            raise self._damaged("the offsets of its edges do not cover all edges")

    def _check_bytes(self, whole: Contents, part: Contents, low: int, high: int) -> None:
        """Raise unless all bytes that describe the file, its ids and a part of its arrays were saved so."""
        arrays = [rows.offsets[low : high + 1] for rows in whole.rows.values()]
        values = [array for rows in part.rows.values() for array in (rows.ends, rows.weights)]
        arrays += [array for array in (*values, part.exists) if array is not None]
        spans = [(array.ctypes.data, array.nbytes) for array in arrays if array.nbytes]
        spans += _spans(self._ids)
        body = _spans(self._batch)
        end = self._start + self._range.size
        first = min((begin for begin, _ in body), default=end)
        last = max((begin + size for begin, size in body), default=end)
        spans += [(self._start, first - self._start), (last, end - last)]
        used = [(begin - self._start, begin - self._start + size) for begin, size in spans]
        wrong = first_wrong(self._memory, self._range.checksums, used, self._threads)
        if wrong is not None:
            raise self._damaged(f"its bytes from {wrong:,} on do not have their checksum")


def _spans(batch: pa.RecordBatch) -> list[tuple[int, int]]:
    """Return the address and the size in bytes of each buffer of a batch."""
    buffers = [one for column in batch.columns for one in column.buffers()]
    return [(one.address, one.size) for one in buffers if one is not None and one.size]


def _types_of_lists(weight: str | None) -> list[pa.DataType]:
    """Return the types that the lists of edges can have."""
    weights = [] if weight is None else [("weight", pa.from_numpy_dtype(weight))]
    ends = pa.int32(), pa.int64()
    return [pa.large_list(pa.struct([("end", end), *weights])) for end in ends]


def is_type_of(stored: pa.DataType, dtype: Any) -> bool:
    """Say whether values of a dtype of pandas are stored with a type of Arrow."""
    try:
        # The only objects that are saved are text.
        is_object = pd.api.types.is_object_dtype(dtype)
        own = pa.string() if is_object else pa.array(empty(dtype)).type
    except (TypeError, ValueError, NotImplementedError, pa.ArrowException):
        return False
    text = pa.string(), pa.large_string()  # versions of pandas differ
    return bool(stored == own or (stored in text and own in text))


def damaged(path: str, problem: str) -> InputFileError:
    """Return the error for a file that is not as it was saved."""
    return InputFileError(
        f"{path} is damaged, or was changed after it was saved: {problem}. Files of a saved graph must not "
        "be changed. Copy the folder again, or save the graph again"
    )


def only_batch(path: str, memory: Any, manifest: Manifest) -> pa.RecordBatch:
    """Return the record batch of an Arrow IPC file of a graph in memory."""
    try:
        reader = pa.ipc.open_file(memory)
        token = (_check_names(reader.schema).metadata or {}).get(TOKEN.encode())
        count = reader.num_record_batches
        batch = reader.get_batch(0) if count == 1 else pa.RecordBatch.from_pylist([])
        batch.validate()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _not_arrow(path, error) from error
    if manifest.summed and token != manifest.token.encode():
        raise InputFileError(
            f"{path} is a file of another graph than the manifest that was loaded: the folder was replaced "
            "since, or it mixes files of two graphs. Call load_graph again, or copy the whole folder again"
        )
    if count != 1:
        raise damaged(path, f"it has {count:,} record batches instead of one")
    return batch


def schema_of(folder: Folder, one: Range) -> pa.Schema:
    """Return the schema of a file, without reading the rest of it."""
    path = folder.at(one.file)
    try:
        opened = folder.fs.open(path, "rb")
    except OSError as error:
        raise _gone(path, error) from error
    try:
        with opened as file:
            return _check_names(pa.ipc.open_file(file).schema)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _not_arrow(path, error) from error


def _check_names(schema: pa.Schema) -> pa.Schema:
    """Return a schema. Raise ValueError if a name is not UTF-8, which Arrow notices when names are read."""
    _ = schema.names
    return schema


def _not_arrow(path: str, error: Exception) -> InputFileError:
    return InputFileError(
        f"{path} is not the file of a saved graph: {error}. Files of the folder must not be changed. "
        "Copy the folder again, or save the graph again"
    )


def _gone(path: str, error: OSError) -> InputFileError:
    return InputFileError(
        f"{path} cannot be read: {error}. A loaded graph needs its files until the result is computed or "
        "persisted. Load the graph again from where it is now"
    )


def read(folder: Folder, one: StoredFile) -> np.ndarray:
    """Read a file into writable memory."""
    memory, at = np.empty(one.size, np.uint8), 0
    try:
        with folder.fs.open(folder.at(one.file), "rb") as file:
            while at < one.size and (count := file.readinto(memory[at:].data)):
                at += count
    except OSError as error:
        raise _gone(folder.at(one.file), error) from error
    if at < one.size:
        raise damaged(folder.at(one.file), f"it ends after {at:,} of {one.size:,} bytes")
    return memory
