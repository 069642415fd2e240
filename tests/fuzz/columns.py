"""Columns of every type that users may have, and the exact values that they contain."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9
WIDTHS = ("8", "16", "32", "64")

INTEGERS = tuple(f"{sign}int{width}" for sign in ("", "u") for width in WIDTHS)
NULLABLE = tuple(name.replace("i", "I").replace("u", "U") for name in INTEGERS)
ARROW_INTEGERS = tuple(f"{name}[pyarrow]" for name in INTEGERS)

FAMILIES: dict[str, tuple[str, ...]] = {
    "integers": (
        *INTEGERS,
        *NULLABLE,
        *ARROW_INTEGERS,
        "category",
        "float64",
        "object",
        "decimal",
        "sparse",
        "dictionary",
    ),
    "text": ("str", "object", "string[python]", "string[pyarrow]", "large_string", "string_view",
             "category", "dictionary"),
    "times": (
        *(f"datetime64[{unit}]" for unit in NS),
        "datetime64[ns, UTC]",
        "datetime64[us, Europe/Berlin]",
        "timestamp[us][pyarrow]",
        "timestamp[ns][pyarrow]",
        "date32[day][pyarrow]",
        "dates",
    ),
}  # fmt: skip
ODD = ("bool", "timedelta64[ns]", "uuid", "lists", "structs", "complex128")
FAMILIES |= {form: (form,) for form in ODD}
"""The forms that the ids of a family may have. Ids of one family are comparable."""

ACCEPTED = {
    *INTEGERS,
    *NULLABLE,
    *ARROW_INTEGERS,
    *FAMILIES["text"][:5],
    "category",
    *(f"datetime64[{unit}]" for unit in NS),
    "datetime64[ns, UTC]",
    "timestamp[us][pyarrow]",
}
"""Forms in which a call must not be refused if every partition has the announced one."""

NUMBERS = (*INTEGERS, *NULLABLE, *ARROW_INTEGERS, "float32", "float64", "Float32", "Float64",
           "float[pyarrow]", "double[pyarrow]", "decimal", "object", "bool")  # fmt: skip
"""The forms that weights may have."""


class Unfit(Exception):
    """The values cannot be represented in this form."""


def pool(family: str, rng: Random) -> list[Any]:
    """Return the distinct ids that a graph may have, in ascending order."""
    count = rng.choice([1, 2, 5, 9, 14])
    if family == "integers":
        base = rng.choice([0, 0, 1, -5, 100, 120, 250, -128, 32_760, 2**31 - 6, 2**32 - 4, 2**53 - 3,
                           2**63 - 20, 2**63 - 4, 2**64 - 14, -(2**63)])  # fmt: skip
        step = rng.choice([1, 1, 1, 2, 7, 2**20, 2**33, 2**40 + 7])
        found = {base + step * i + rng.choice([0, 0, 0, 1]) for i in range(count)}
        return sorted(value for value in found if -(2**63) <= value < 2**64)
    if family == "text":
        letters = [
            "",
            "a",
            "A",
            "aa",
            "b",
            "10",
            "9",
            " ",
            "é",
            "z" * 40,
            "😀",
            "\x00",
            "None",
            "nan",
        ]
        return sorted(rng.sample(letters, min(count, len(letters))))
    if family == "times":
        unit = rng.choice([1, 1000, 10**6, 10**9, DAY])
        base = rng.choice(
            [0, 1_700_000_000 * 10**9 // DAY * DAY, -(10**9) * DAY // 10**5 // DAY * DAY]
        )
        return sorted({base + unit * i * rng.choice([1, 1, 86_400]) for i in range(count)})
    return [False, True] if rng.random() < 0.3 else list(range(count))


def make(values: Sequence[Any], form: str) -> pd.Series:
    """Return values as a series of this form; None stands for a missing value.

    Raises
    ------
    Unfit
        The form cannot represent these values exactly.
    """
    try:
        made = _make(list(values), form)
        same = exact(made) == list(values)
    except (TypeError, ValueError, OverflowError, RuntimeWarning, pa.ArrowException) as error:
        raise Unfit(f"{form}: {error}") from error
    if not same:
        raise Unfit(form)
    return made


def _make(values: list[Any], form: str) -> pd.Series:
    missing = any(value is None for value in values)
    if missing and form in (*INTEGERS, "bool", "sparse"):
        raise Unfit(form)
    if form.startswith(("datetime64", "timestamp", "date32", "dates", "timedelta64")):
        return _times(values, form)
    if form.startswith("uint") and any(value < 0 for value in values if value is not None):
        raise Unfit(form)
    numbers = all(isinstance(value, int | Fraction) for value in values if value is not None)
    if form == "category":
        plain = pd.Series(values, dtype="object") if missing or not numbers else pd.Series(values)
        return (plain if numbers else plain.astype("str")).astype("category")
    if form in ("large_string", "string_view"):
        return pd.Series(values, dtype=pd.ArrowDtype(getattr(pa, form)()))
    if form == "dictionary":
        kind = pa.int64() if numbers else pa.string()
        return pd.Series(values, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), kind)))
    if form == "decimal":
        listed = [None if value is None else decimal.Decimal(int(value)) for value in values]
        return pd.Series(listed, dtype=pd.ArrowDtype(pa.decimal128(38, 0)))
    if form == "sparse":
        return pd.Series(values, dtype=pd.SparseDtype("int64", 0))
    if form == "uuid":
        import uuid

        return pd.Series([uuid.UUID(int=int(value)) for value in values], dtype="object")
    if form == "lists":
        return pd.Series(
            [[int(value)] for value in values], dtype=pd.ArrowDtype(pa.list_(pa.int64()))
        )
    if form == "structs":
        kind = pa.struct([("x", pa.int64())])
        return pd.Series([{"x": int(value)} for value in values], dtype=pd.ArrowDtype(kind))
    if form in ("float32", "float64"):
        floats = [np.nan if value is None else float(value) for value in values]
        return pd.Series(floats, dtype="float64").astype(form)
    if form.lower().startswith(("float", "double")):
        return pd.Series([None if value is None else float(value) for value in values], dtype=form)
    if form == "object":
        return pd.Series([int(v) if isinstance(v, Fraction) else v for v in values], dtype=form)
    if numbers and form != "bool":
        if any(isinstance(value, Fraction) and value.denominator > 1 for value in values):
            raise Unfit(form)
        values = [None if value is None else int(value) for value in values]
    return pd.Series(values, dtype=form)


def _times(values: list[Any], form: str) -> pd.Series:
    if form == "dates":
        days = [
            None if value is None else dt.date(1970, 1, 1) + dt.timedelta(value // DAY)
            for value in values
        ]
        return pd.Series(days, dtype="object")
    unit = (
        "D"
        if form.startswith("date32")
        else form.partition("[")[2].partition("]")[0].partition(",")[0]
    )
    size = DAY if unit == "D" else NS[unit]
    counts = np.array([0 if value is None else value // size for value in values], "int64")
    kind = "m8" if form.startswith("timedelta") else "M8"
    times = counts.view("int64").astype(f"{kind}[{unit}]")
    times[[value is None for value in values]] = "NaT"
    if unit == "D":
        return pd.Series(times.astype("M8[s]")).astype(form)
    series = pd.Series(times)
    if ", " in form:
        return series.dt.tz_localize("UTC").astype(form)
    return series if series.dtype == form else series.astype(form)


def exact(series: Any) -> list[Any]:
    """Return the values of a series as exact Python values; None stands for a missing value."""
    return [_exact(value) for value in series.tolist()]


def _exact(value: Any) -> Any:
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        if value != value:
            return None
        infinite = value in (float("inf"), float("-inf"))
        return float(value) if infinite else _whole(Fraction(float(value)))
    if isinstance(value, decimal.Decimal):
        return _whole(Fraction(value))
    if isinstance(value, pd.Timestamp | pd.Timedelta):
        return int(value.asm8.astype("int64")) * NS[value.unit]
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days * DAY
    if isinstance(value, dict):
        return int(value["x"])
    if isinstance(value, list | np.ndarray):
        return int(value[0])
    return int(value) if hasattr(value, "hex") and hasattr(value, "int") else value


def _whole(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value
