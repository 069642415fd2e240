"""Tokens of this library's expressions and programs, by which Dask names tasks.

Dask's own ``tokenize`` pickles each function and class twice. In a small call, that takes longer than the
algorithm. Here, a function or class of a module is described by its name, as its pickle would be.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import pandas as pd
from dask.base import tokenize

PLAIN = "biufmM"  # kinds of dtypes whose values are all in their bytes
SIMPLE = (str, int, float, bytes, type(None))


def token_of(*values: Any) -> str:
    """Return a token that equal values have in all processes, and different values do not share.

    Examples
    --------
    >>> token_of(max, 1) == token_of(max, 1), token_of(1) == token_of("1")
    (True, False)
    """
    return hashlib.md5(repr(describe(values)).encode(), usedforsecurity=False).hexdigest()


def describe(value: Any) -> Any:
    """Return what identifies a value, made of tuples, text and numbers."""
    kind = type(value)
    if kind in SIMPLE or kind is bool:
        return value
    if kind in (tuple, list):
        return kind.__name__, *map(describe, value)
    if not isinstance(value, type) and hasattr(value, "__dask_tokenize__"):
        return describe(value.__dask_tokenize__())
    if kind is partial:
        return "partial", describe(value.func), describe(value.args), describe(value.keywords)
    if kind is MethodType:
        return "method", describe(value.__self__), value.__name__
    if kind is dict:
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]))
        return "dict", *((describe(key), describe(one)) for key, one in pairs)
    if isinstance(value, np.dtype) and value.kind in PLAIN:
        return "dtype", value.str
    if kind is np.ndarray and value.dtype.kind in PLAIN and value.flags.c_contiguous:
        bits = hashlib.sha1(value, usedforsecurity=False).hexdigest()
        return "array", value.dtype.str, value.shape, bits
    if kind is pd.DataFrame and (arrays := _arrays_of(value)) is not None:
        index = value.index.start, value.index.stop, value.index.step
        names = describe([value.columns.nlevels, *value.columns.names])
        columns = zip(map(describe, value.columns), map(describe, arrays), strict=True)
        return "frame", index, names, *columns
    if kind is FunctionType or isinstance(value, type):
        return _named(value) or tokenize(value, ensure_deterministic=True)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return describe(kind), *map(describe, value)
    if dataclasses.is_dataclass(value):
        fields = (describe(getattr(value, one.name)) for one in dataclasses.fields(value))
        return describe(kind), *fields
    return tokenize(value, ensure_deterministic=True)


def _arrays_of(frame: pd.DataFrame) -> list[np.ndarray] | None:
    """Return the columns, if all are NumPy arrays and the index is a range without a name; or None."""
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        return None
    columns = [frame.iloc[:, at] for at in range(len(frame.columns))]
    plain = all(isinstance(column.dtype, np.dtype) for column in columns)
    return [column.to_numpy() for column in columns] if plain else None


def _named(value: Any) -> tuple[str, str] | None:
    """Return the module and name of a function or class that can be found by them, as pickle does."""
    module, name = value.__module__, value.__qualname__
    if module == "__main__":  # another process has another one
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is value else None
