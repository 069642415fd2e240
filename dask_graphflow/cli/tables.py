"""Rows of a result as text: CSV, JSON lines, or a table for a terminal."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from dask_graphflow.showing.tables import as_text, counted

SHOWN = 20


def write_rows(rows: Any, sink: Any, format: str, *, tabs: bool = False) -> None:
    """Write rows as CSV or JSON lines to a stream of bytes."""
    if format == "jsonl":
        for batch in rows:
            if batch.num_rows:
                text = batch.to_pandas(types_mapper=_nullable).to_json(orient="records", lines=True)
                sink.write(text.encode())
        return
    separator = "\t" if tabs else ","
    header = pd.DataFrame(columns=rows.schema.names).to_csv(index=False, sep=separator)
    sink.write(header.encode())
    # Arrow quotes either all texts or none. Most ids need no quotes and are easier to read without them.
    # An empty text needs them, since it would otherwise be read as a missing id.
    special = f'^$|[{separator}"\\r\\n]'
    texts = [
        f.name
        for f in rows.schema
        if pa.types.is_large_string(f.type) or pa.types.is_string(f.type)
    ]
    for batch in rows:
        quoted = any(pc.any(pc.match_substring_regex(batch[t], special)).as_py() for t in texts)
        style = "needed" if quoted else "none"
        options = pa_csv.WriteOptions(
            include_header=False, delimiter=separator, quoting_style=style
        )
        buffer = io.BytesIO()
        pa_csv.write_csv(batch, buffer, options)
        sink.write(buffer.getbuffer())


def first_rows(rows: Any) -> str:
    """Return the first rows as a table."""
    batch = next((b for b in rows if b.num_rows), pa.RecordBatch.from_pylist([], rows.schema))
    frame = batch.slice(0, SHOWN).to_pandas(types_mapper=_nullable)
    cells = [
        list(frame.columns),
        *([_cell(v) for v in row] for row in frame.itertuples(index=False)),
    ]
    more = rows.count - len(frame)
    note = f"\n... {counted(more, 'more row')}; -o FILE writes all" if more > 0 else ""
    return as_text(cells) + note


def summary_text(told: dict[str, Any]) -> str:
    """Return names and values as a table; whole numbers have thousands separators."""
    return as_text([(name, _told(value)) for name, value in told.items()])


def summary_json(told: dict[str, Any]) -> str:
    """Return names and values as one JSON object."""
    return json.dumps(told, indent=1, default=str)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        distinct = f"{value['distinct']:,} distinct, " if "distinct" in value else ""
        return f"{distinct}{_cell(value['min'])} to {_cell(value['max'])}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _nullable(kind: pa.DataType) -> Any:
    """Return a dtype of pandas that holds integers with nulls exactly."""
    return pd.ArrowDtype(kind) if pa.types.is_integer(kind) else None
