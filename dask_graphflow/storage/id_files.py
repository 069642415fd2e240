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
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import VertexTypeError
from dask_graphflow.graph import frames, partition
from dask_graphflow.graph.dtypes import ID_KINDS, kind, text_dtype
from dask_graphflow.kernels import disk, joined, kernels_for
from dask_graphflow.kernels.csr import Rows

from .checksums import Summed, first_wrong
from .folders import Folder, not_written
from .manifest import GRAINS, Manifest, Range, StoredFile
from .stored_range import (
    TOKEN,
    Contents,
    StoredRange,
    damaged,
    is_type_of,
    only_batch,
    read,
    schema_of,
)


def write_range(folder: Folder, token: str, first: int, contents: Contents) -> Range:
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
    one = write_batch(folder, token, name, pa.record_batch(columns))
    return Range(one.file, one.size, one.checksums, first, stop)


def write_batch(folder: Folder, token: str, name: str, batch: pa.RecordBatch) -> StoredFile:
    """Write an Arrow IPC file of one record batch, with the token of its graph."""
    path, batch = folder.at(name), batch.replace_schema_metadata({TOKEN: token})
    try:
        with folder.fs.open(path, "wb") as file:
            steadily = folder.is_local and batch.nbytes > disk.budget()
            into = Summed(_Steady(file.fileno()).write if steadily else file.write)
            with pa.ipc.new_file(into, batch.schema) as writer:
                writer.write_batch(batch)
        return StoredFile(name, int(folder.fs.size(path)), into.checksums)
    except OSError as error:
        raise not_written(path, error) from error


class _Steady(io.FileIO):
    """A local file that Linux does not keep in its cache while it is written; see :func:`.disk.write`."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._plain = io.FileIO(descriptor, "wb", closefd=False)

    def write(self, data: Any) -> int:
        disk.write(self._plain, data, steadily=True)
        return memoryview(data).nbytes


def read_ranges(
    folder: Folder, manifest: Manifest, low: int, high: int, dtypes: Sequence[Any], own: Resources
) -> Contents:
    """Return the contents of the vertices `low` to ``high - 1``.

    They are not copied if they are in one local file. `dtypes` are those of the ids; empty if the files do
    not contain the ids.
    """
    parts = []
    for one in manifest.ranges:
        start, stop = max(low, one.first) - one.first, min(high, one.stop) - one.first
        if start < stop:
            parts.append(StoredRange(folder, manifest, one, dtypes, own).contents(start, stop))
    if not parts:
        empty = StoredRange(folder, manifest, manifest.ranges[0], dtypes, own)
        parts.append(empty.contents(0, 0))
    return _join(parts)


def _join(parts: list[Contents]) -> Contents:
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
    rows = {side: _join_rows([part.rows[side] for part in parts]) for side in first.rows}
    return Contents(ids, exists, rows)


def _join_rows(parts: list[Rows]) -> Rows:
    first, shift, offsets = parts[0], 0, [parts[0].offsets[:1]]
    for part in parts:
        offsets.append(part.offsets[1:] + shift)
        shift += len(part.ends)
    weights = None
    if first.weights is not None:
        weights = joined([part.weights for part in parts])
    ends = joined([part.ends for part in parts])
    return Rows(np.concatenate(offsets), ends, weights, first.first)


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
    schema = schema_of(folder, manifest.ranges[0])
    types = [field.type for field in schema][: len(names)]
    dtypes = [_dtype(name, stored) for name, stored in zip(names, types, strict=False)]
    if len(dtypes) < len(names) or any(kind(dtype) not in ID_KINDS for dtype in dtypes):
        path = folder.at(manifest.ranges[0].file)
        raise damaged(path, f"ids of dtype {', '.join(names)} cannot have the types {types}")
    return dtypes


def _dtype(name: str, stored: pa.DataType) -> Any:
    """Return the dtype of ids with a name and a type of Arrow; None if there is none."""
    if name.endswith("[pyarrow]"):  # pandas cannot read the names of all of Arrow's types
        return pd.ArrowDtype(stored)
    try:
        dtype = _dtype_named(name)
    except (TypeError, ValueError, LookupError, NotImplementedError):
        return None
    return dtype if is_type_of(stored, dtype) else None


def _dtype_named(name: str) -> Any:
    """Return the dtype with a name; for text, the same one in all versions of pandas that have it."""
    if name == "str":
        return text_dtype()
    return pd.StringDtype("pyarrow") if name == "string" else pd.api.types.pandas_dtype(name)


def check_ids(ids: Any) -> None:
    """Raise unless the dtypes of ids are the same after they were saved and loaded."""
    on_host = kernels_for(ids).to_pandas(ids)
    for name, column in zip(dtype_names(ids), on_host.columns, strict=True):
        part = on_host[column]
        if part.dtype == object or _loaded_dtype(name, part) == part.dtype:
            continue
        advice = (
            "Use ids of another type, for example with .map(str), and build the graph from them"
        )
        if isinstance(part.dtype, pd.DatetimeTZDtype):
            advice = "Convert the ids with .dt.tz_convert('UTC'), and build the graph from them"
        raise VertexTypeError(
            f"ids have dtype {part.dtype}, which cannot be saved; pandas must be able to make the dtype "
            f"from its name. {advice}"
        )


def _loaded_dtype(name: str, ids: pd.Series) -> Any:
    try:
        return _dtype(name, pa.array(ids).type)
    except (TypeError, ValueError, NotImplementedError, pa.ArrowException):
        return None


def write_grains(folder: Folder, token: str, edges: np.ndarray) -> StoredFile:
    """Write the number of edge ends of each grain."""
    return write_batch(folder, token, GRAINS, pa.record_batch({"edges": edges}))


def read_grains(folder: Folder, manifest: Manifest) -> np.ndarray:
    """Return the number of edge ends of each grain."""
    one = manifest.grains
    path, memory = folder.at(one.file), read(folder, one)
    batch = only_batch(path, pa.py_buffer(memory), manifest)
    if one.checksums and first_wrong(memory, one.checksums, [(0, one.size)], 1) is not None:
        raise damaged(path, "its bytes do not have their checksums")
    if batch.schema.names != ["edges"] or batch.schema.types != [pa.int64()]:
        raise damaged(path, f"it has the columns {', '.join(batch.schema.names)}")
    if batch["edges"].null_count or len(batch) != -(-manifest.numbers // partition.GRAIN):
        raise damaged(path, f"it has {len(batch):,} rows for {manifest.numbers:,} vertices")
    edges: np.ndarray = batch["edges"].to_numpy()
    least = manifest.edges * (1 + manifest.directed)  # an undirected loop has one end
    if edges.min(initial=0) < 0 or not least <= sum(edges.tolist()) <= 2 * manifest.edges:
        raise damaged(path, f"its numbers are not those of {manifest.edges:,} edges")
    return edges


def by_grain(rows: Mapping[str, Rows]) -> np.ndarray:
    """Return the number of edge ends of each grain of the vertices of some rows."""
    counts = []
    for side in rows.values():
        bounds = np.append(side.offsets[: -1 : partition.GRAIN], side.offsets[-1])
        counts.append(np.diff(bounds))
    edges: np.ndarray = np.sum(counts, axis=0)
    return edges


def verify(folder: Folder, manifest: Manifest, own: Resources) -> None:
    """Read all files of a graph, and raise unless they are those that were saved and fit together."""
    dtypes = id_dtypes(folder, manifest) if manifest.first_id is None else []
    vertices, sides, grains = 0, Counter[str](), []
    for one in manifest.ranges:
        stored = StoredRange(folder, manifest, one, dtypes, own)
        contents = stored.contents(0, one.stop - one.first, again=True)
        exists = contents.exists
        vertices += contents.size if exists is None else int(np.count_nonzero(exists))
        sides.update({side: len(rows.ends) for side, rows in contents.rows.items()})
        grains.append(by_grain(contents.rows))
    most = manifest.edges * (1 if manifest.directed else 2)
    if vertices != manifest.vertices:
        raise damaged(folder.path, f"it has {vertices:,} vertices instead of {manifest.vertices:,}")
    if not all(manifest.edges <= count <= most for count in sides.values()):
        raise damaged(folder.path, f"its edges are not the {manifest.edges:,} of its manifest")
    if not np.array_equal(np.concatenate(grains), read_grains(folder, manifest)):
        raise damaged(folder.at(GRAINS), "its numbers are not those of the edges")
