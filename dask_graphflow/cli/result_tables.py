"""Rows of a result as text: CSV, JSON lines, or a table for a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphflow.exceptions import OutputError
from dask_graphflow.showing.tables import as_text, counted

from .plain import INFINITE, TEXT, finite, plain, text_of

SHOWN = 20
encode = json.JSONEncoder(ensure_ascii=False).encode


def write_rows(rows: Any, sink: Any, format: str, *, tabs: bool = False) -> None:
    """Write rows as CSV or JSON lines to a stream of bytes."""
    lines = _json_lines
    if format == "csv":
        separator = "\t" if tabs else ","
        lines = partial(_csv_lines, separator=separator)
        header = pd.DataFrame(columns=rows.schema.names).to_csv(index=False, sep=separator)
        sink.write(header.encode())
    for batch in rows:
        if batch.num_rows:
            sink.write(lines(batch))


def _csv_lines(batch: pa.RecordBatch, separator: str) -> memoryview:
    if batch.num_columns == 1 and batch.column(0).null_count:
        raise OutputError(
            f"the column {batch.schema.names[0]!r} has a null and is the only one, and readers skip its "
            "empty line in CSV; write JSON lines or Parquet, or one more column"
        )
    parts: list[Any] = []
    for column in batch.columns:
        parts += [separator, _csv_cells(plain(column), separator)]
    return _join([*parts[1:], "\n"], null="")


def _csv_cells(values: pa.Array, separator: str) -> pa.Array:
    """Return the cells of a column, with quotes around those texts that need them.

    An empty text needs them, since it would otherwise be read as a missing value.
    """
    texts = text_of(values)
    if values.type != TEXT:
        return texts
    special = pc.match_substring_regex(texts, f'^$|[{separator}"\\r\\n]')
    if not pc.any(special).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    quote = pa.scalar('"', TEXT)
    quoted = pc.binary_join_element_wise(quote, doubled, quote, pa.scalar("", TEXT))
    return pc.if_else(special, quoted, texts)


def _json_lines(batch: pa.RecordBatch) -> memoryview:
    parts: list[Any] = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        parts += ["," if parts else "{", encode(name), ":", _json_cells(column)]
    return _join([*parts, "}\n"], null="null")


def _json_cells(column: pa.Array) -> pa.Array:
    values = plain(column)
    if pa.types.is_nested(column.type):
        return values
    texts = text_of(values)
    if values.type == TEXT:
        return pa.array(
            [None if text is None else encode(text) for text in texts.to_pylist()], TEXT
        )
    if pa.types.is_floating(values.type):
        for value, text in INFINITE.items():
            texts = pc.if_else(pc.equal(values, value), pa.scalar(encode(text), TEXT), texts)
    return texts


def _join(parts: Sequence[Any], null: str) -> memoryview:
    """Return the bytes of all rows, which are columns of text and texts in between."""
    columns = [pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts]
    lines = pc.binary_join_element_wise(
        *columns, pa.scalar("", TEXT), null_handling="replace", null_replacement=null
    )
    length = pc.sum(pc.binary_length(lines)).as_py()
    return memoryview(lines.buffers()[2])[:length]


def first_rows(rows: Any) -> str:
    """Return the first rows as a table."""
    batch = next((b for b in rows if b.num_rows), pa.RecordBatch.from_pylist([], rows.schema))
    shown = batch.slice(0, SHOWN)
    columns = [map(_cell, plain(column).to_pylist()) for column in shown.columns]
    cells = [batch.schema.names, *zip(*columns, strict=True)]
    more = rows.count - shown.num_rows
    note = f"\n... {counted(more, 'more row')}; -o FILE writes all" if more > 0 else ""
    return as_text(cells) + note


def summary_text(told: dict[str, Any]) -> str:
    """Return names and values as a table; whole numbers have thousands separators."""
    return as_text([(name, _tell(value)) for name, value in told.items()])


def summary_json(told: dict[str, Any]) -> str:
    """Return names and values as one JSON object."""
    return json.dumps(finite(told), indent=1, default=str, allow_nan=False)


def _tell(value: Any) -> str:
    if isinstance(value, dict):
        distinct = f"{value['distinct']:,} distinct, " if "distinct" in value else ""
        return f"{distinct}{_cell(value['min'])} to {_cell(value['max'])}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _cell(value: Any) -> str:
    if value is None:
        return "<NA>"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
