"""Frames that a caller gives."""

from __future__ import annotations

import itertools
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from pyarrow import types

from dask_graphflow.exceptions import EdgeListError
from dask_graphflow.graph import dtypes, edgelist
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.graph.frames import empty_like
from dask_graphflow.scheduling.expr import Held

NOT_TAKEN = (types.is_string_view, types.is_binary_view, types.is_run_end_encoded)


def as_dask(frame: Any, role: str, *ids: Any, library: str = "pandas") -> Any:
    """Return a frame as a Dask DataFrame or :class:`.Held`; raise if it is not a frame.

    A frame in memory becomes one partition. `library` is that of the frame that the caller gave.
    """
    frame = as_frame(frame, role)
    if isinstance(frame, dd.DataFrame):
        return frame
    if isinstance(frame, pd.DataFrame):
        for column in _flat(ids, [*frame.columns]):
            # Names that are wrong or stand for several columns get their own error later.
            if edgelist.is_name(column) and [*frame.columns].count(column) == 1:
                dtypes.check_objects(frame[column], role, library)
        frame = _with_rows(frame)
    elif type(frame).__module__.partition(".")[0] != "cudf" or not hasattr(frame, "columns"):
        raise EdgeListError(
            f"{role} is a {type(frame).__module__}.{type(frame).__name__}; give a DataFrame of Dask, "
            "pandas or cuDF, or one of a library that exports Arrow data, such as polars"
        )
    held = Held(frame)
    if isinstance(frame, pd.DataFrame) and "string" in map(dtypes.kind, frame.dtypes):
        # Let Dask convert text to its own type. from_pandas would look at every value of the index, and a
        # frame that is passed as an argument would be hashed.
        return dd.from_map(_Partition(held), [0], meta=empty_like(frame), label="graphflow-held")
    return held


def _with_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without the dtypes of which pandas cannot take rows."""
    columns = [at for at, dtype in enumerate(frame.dtypes) if _cannot_take(dtype)]
    if not columns:
        return frame
    frame = frame.copy(deep=False)
    for at in columns:
        frame.isetitem(at, dtypes.values_of(frame.iloc[:, at]))
    return frame


def _cannot_take(dtype: Any) -> bool:
    """Say whether pandas, or Arrow, cannot take rows of a dtype: other byte orders, views and runs."""
    if isinstance(dtype, pd.ArrowDtype):
        return any(test(dtype.pyarrow_dtype) for test in NOT_TAKEN)
    return isinstance(dtype, np.dtype) and not dtype.isnative


class _Partition:
    """A held frame as a function of the partition number."""

    def __init__(self, held: Held) -> None:
        self.held = held

    def __call__(self, partition: int) -> Any:
        return self.held()

    def __dask_tokenize__(self) -> Any:
        return self.held.__dask_tokenize__()


def _flat(columns: Any, have: list[Any]) -> list[Any]:
    listed = (
        entry if isinstance(entry, list | tuple) and entry not in have else [entry]
        for entry in columns
    )
    return list(itertools.chain.from_iterable(listed))
