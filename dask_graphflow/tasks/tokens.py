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

from dask_graphflow.graph.search_ids import arrays_of

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
    if kind is pd.DataFrame and (columns := _describe_columns(value)) is not None:
        index = value.index.start, value.index.stop, value.index.step
        names = describe([value.columns.nlevels, *value.columns.names])
        return "frame", index, names, *zip(map(describe, value.columns), columns, strict=True)
    if kind is FunctionType or isinstance(value, type):
        return _named(value) or tokenize(value, ensure_deterministic=True)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return describe(kind), *map(describe, value)
    if dataclasses.is_dataclass(value):
        fields = (describe(getattr(value, one.name)) for one in dataclasses.fields(value))
        return describe(kind), *fields
    return tokenize(value, ensure_deterministic=True)


def _describe_columns(frame: pd.DataFrame) -> list[Any] | None:
    """Return what identifies the columns, or None.

    The index must be a range without a name, and all columns must be arrays, or stored in arrays.
    """
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        return None
    columns = []
    for at in range(len(frame.columns)):
        column = frame.iloc[:, at]
        if isinstance(column.dtype, np.dtype):
            columns.append(describe(column.to_numpy()))
            continue
        if not (arrays := arrays_of(column)):
            return None
        if len(arrays) == 2:  # strings may be a part of longer arrays
            offsets, data = arrays
            arrays = offsets - offsets[0], data[offsets[0] : offsets[-1]]
        columns.append(("column", repr(column.dtype), *map(describe, arrays)))
    return columns


def _named(value: Any) -> tuple[str, str] | None:
    """Return the module and name of a function or class that can be found by them, as pickle does."""
    module, name = value.__module__, value.__qualname__
    if module == "__main__":  # another process has another one
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is value else None
