"""Hashes of vertex ids, which depend on nothing but the values of the ids."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd

from . import dtypes

EXACT = decimal.Context(prec=dtypes.MOST_DIGITS)


def hash_ids(ids: pd.DataFrame) -> np.ndarray:
    """Return a hash of each id in a frame in host memory: array of uint64.

    It depends on nothing but the values, because hashes are saved, and compared between graphs. It does not
    depend on the width of integers, the unit of dates or the digits of decimals.
    """
    keys = dtypes.sortable(ids)
    total = np.zeros(len(keys), "uint64")
    for name in keys.columns:
        own = pd.util.hash_array(_hashable(keys[name]), categorize=False)
        total = pd.util.hash_array(total + own) if len(keys.columns) > 1 else own
    return total


def _hashable(column: pd.Series) -> np.ndarray:
    """Return values as 64-bit integers, text or bytes."""
    kind = dtypes.kind(column.dtype)
    if kind in ("integer", "bool"):
        plain = dtypes.plain(column.dtype)
        return column.to_numpy(plain).astype("uint64" if plain.kind == "u" else "int64")
    values = column.astype(object)
    if kind == "decimal":
        values = values.map(EXACT.normalize)
    return (values if kind in ("string", "binary", "UUID") else values.map(str)).to_numpy(object)
