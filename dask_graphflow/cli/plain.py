"""Values as numbers, booleans or text, so that every format can hold them.

Nothing is lost: each text stands for exactly one value of its type. :mod:`.ids` reads the texts of ids.
"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphflow.graph.dtypes import is_uuid

__all__ = ["comparable", "finite", "plain", "range_of", "text_of"]

TEXT = pa.large_string()
INFINITE = {float("inf"): "Infinity", float("-inf"): "-Infinity"}


def plain(values: pa.Array) -> pa.Array:
    """Return values as integers, floats without NaN, booleans or text.

    Times are text as in ISO 8601, and those with a time zone are in UTC. Bytes are hexadecimal digits.
    Durations and periods are the texts of pandas. Lists and other nested values are JSON.
    """
    kind, is_a = values.type, pa.types
    if is_a.is_dictionary(kind):
        return plain(values.dictionary_decode())
    if is_a.is_integer(kind) or is_a.is_boolean(kind):
        return values
    if is_a.is_floating(kind):
        values = values.cast(pa.float32()) if is_a.is_float16(kind) else values
        return pc.if_else(pc.is_nan(values), None, values)
    if is_a.is_timestamp(kind):
        zone = None if kind.tz is None else "UTC"
        moments = values.cast(pa.timestamp(kind.unit, zone)).cast(TEXT)
        return pc.replace_substring(moments, " ", "T", max_replacements=1)
    if _is_binary(kind) or is_uuid(kind):
        stored = values.storage if is_uuid(kind) else values
        texts = [None if value is None else value.hex() for value in stored.to_pylist()]
        hexadecimal = pa.array(texts, TEXT)
        if _is_binary(kind):
            return hexadecimal
        return pc.replace_substring_regex(
            hexadecimal, "^(.{8})(.{4})(.{4})(.{4})(.{12})$", r"\1-\2-\3-\4-\5"
        )
    if is_a.is_duration(kind) or isinstance(kind, pa.BaseExtensionType):
        series = pd.Series(values.to_pandas())
        return pa.array(series.astype(str).where(series.notna(), None), TEXT, from_pandas=True)
    if is_a.is_nested(kind):
        texts = [None if one is None else _as_json(one) for one in values.to_pylist()]
        return pa.array(texts, TEXT)
    return values.cast(TEXT)


def text_of(values: pa.Array) -> pa.Array:
    """Return plain values as text. Floats have all digits that they need, and at least one decimal."""
    if not pa.types.is_floating(values.type):
        return values.cast(TEXT)
    # A column of whole floats would otherwise be read as integers.
    return pc.replace_substring_regex(values.cast(TEXT), "^(-?[0-9]+)$", r"\1.0")


def finite(value: Any) -> Any:
    """Return a value as JSON can hold it: NaN as null, and infinite numbers as text."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if isinstance(value, float):
        return None if value != value else INFINITE.get(value, value)
    return value


def _as_json(value: Any) -> str:
    return json.dumps(finite(value), default=str, ensure_ascii=False, allow_nan=False)


def range_of(values: pa.ChunkedArray) -> tuple[Any, Any] | None:
    """Return the smallest and the largest value as plain values, or None if they have no order."""
    kind, is_a = values.type, pa.types
    if is_a.is_nested(kind) or is_a.is_null(kind):
        return None
    stored = comparable(values)
    least_and_most = pc.min_max(stored).values()
    both = pa.array([one.as_py() for one in least_and_most], stored.type)
    if isinstance(kind, pa.BaseExtensionType):
        both = pa.ExtensionArray.from_storage(kind, both.cast(kind.storage_type))
    elif is_a.is_duration(kind):
        both = both.cast(kind)
    low, high = plain(both).to_pylist()
    return low, high


def comparable(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values in the same order, and of a type that Arrow can compare and count."""
    kind, is_a = values.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return comparable(
            pa.chunked_array([one.storage for one in values.chunks], kind.storage_type)
        )
    if is_a.is_dictionary(kind):
        return values.cast(kind.value_type)
    if is_a.is_duration(kind):
        return values.cast(pa.int64())
    if is_a.is_float16(kind):
        return values.cast(pa.float32())
    return values.cast(TEXT) if is_a.is_string_view(kind) else values


def _is_binary(kind: pa.DataType) -> bool:
    is_a = pa.types
    return any(
        test(kind)
        for test in (
            is_a.is_binary,
            is_a.is_large_binary,
            is_a.is_fixed_size_binary,
            is_a.is_binary_view,
        )
    )
