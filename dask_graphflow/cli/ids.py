"""Ids as text on the command line, converted to the dtype of the edges' ids.

The text of an id is what the commands write, or another form of exactly the same value.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from dask_graphflow.graph import dtypes

TRUTH = {"true": True, "false": False}


class IdReader(NamedTuple):
    """How ids of one kind are written."""

    # Returns a value for a text and the dtype of the ids, or raises ValueError.
    read: Callable[[str, Any], Any]
    form: str  # what the text has to be, for error messages


def read_ids(texts: Sequence[str], dtype: Any) -> pd.Series:
    """Return the ids that some texts stand for, as a column that can be compared with ids of a dtype.

    Raises
    ------
    ValueError
        A text is not an id of this dtype. The message says which one, and what is allowed.
    """
    dtype = dtypes.values_dtype(dtype)
    kind = dtypes.kind(dtype)
    if kind == "string" or kind not in READERS:  # ids of other kinds are refused with the edges
        return pd.Series(texts)
    reader = READERS[kind]
    values = []
    for text in texts:
        try:
            values.append(reader.read(text, dtype))
        except (ValueError, pa.ArrowException, OverflowError) as error:
            raise ValueError(
                f"{text!r} is not an id of dtype {dtype}; give {reader.form}"
            ) from error
    if kind in PANDAS:
        return pd.Series(values)  # the call says which of them the dtype cannot hold
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, _arrow(dtype))))


def _arrow(dtype: Any) -> pa.DataType:
    return pa.array(dtypes.empty(dtype)).type


def _truth(text: str, _: Any) -> bool:
    try:
        return TRUTH[text.lower()]
    except KeyError:
        raise ValueError(text) from None


def _integer(text: str, _: Any) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text):  # int() also reads 1_000 and digits of other scripts
        raise ValueError(text)
    return int(text)


def _by_arrow(text: str, dtype: Any) -> Any:
    return pa.array([text]).cast(_arrow(dtype))[0]


def _time(text: str, dtype: Any) -> Any:
    # Arrow reads no times of day, but the moments of a day.
    arrow = _arrow(dtype)
    return pa.array([f"1970-01-01T{text}"]).cast(pa.timestamp(arrow.unit)).cast(arrow)[0]


def _bytes(text: str, _: Any) -> bytes:
    if not re.fullmatch(r"([0-9a-fA-F]{2})*", text):  # fromhex() skips blanks
        raise ValueError(text)
    return bytes.fromhex(text)


def _uuid(text: str, _: Any) -> bytes:
    return uuid.UUID(text).bytes


def _timedelta(text: str, _: Any) -> pd.Timedelta:
    duration = pd.Timedelta(text)
    # pandas takes a number without a unit for nanoseconds, and some words for a missing value.
    if pd.isna(duration) or re.fullmatch(r"\s*[+-]?[0-9.]+\s*", text):
        raise ValueError(text)
    return duration


def _period(text: str, dtype: Any) -> pd.Period:
    period = pd.Period(text, dtype.freq)
    if text == "NaT" or str(period) != text:  # pandas shortens 2024-01-15 to a month
        raise ValueError(text)
    return period


PANDAS = ("integer", "bool", "period", "timedelta")
READERS = {
    "bool": IdReader(_truth, "true or false"),
    "integer": IdReader(_integer, "a whole number such as 42"),
    "date": IdReader(_by_arrow, "a date such as 2024-12-31"),
    "time": IdReader(_time, "a time such as 23:59:59.5, without more digits than the ids have"),
    "datetime": IdReader(
        _by_arrow,
        "a time such as 2024-12-31T23:59:59.5, without a time zone or more digits than the ids have",
    ),
    "datetime with a time zone": IdReader(
        _by_arrow,
        "a time with its distance from UTC, such as 2024-12-31T23:59:59.5Z or 2024-12-31T23:59+01:00, "
        "without more digits than the ids have",
    ),
    "timedelta": IdReader(_timedelta, "a duration with its units, such as 1 days 12:30:00"),
    "decimal": IdReader(_by_arrow, "a decimal number without more digits than the ids have"),
    "binary": IdReader(_bytes, "the bytes as hexadecimal digits, such as ff01"),
    "UUID": IdReader(_uuid, "a UUID such as 00000000-0000-0000-0000-0000000000ff"),
    "period": IdReader(_period, "a period as the commands write it, such as 2024-12 for a month"),
}
