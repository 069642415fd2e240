"""Frames that a caller gives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from pyarrow import types

from dask_graphflow.exceptions import EdgeListError
from dask_graphflow.graph import dtypes
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.graph.frames import empty_like
from dask_graphflow.tasks.expr import Held

NOT_TAKEN = (types.is_string_view, types.is_binary_view, types.is_run_end_encoded)


def as_dask(frame: Any, role: str, *ids: Any, library: str = "pandas") -> Any:
    """Return a frame of any library as :func:`hold` does; raise if it is not a frame."""
    return hold(as_frame(frame, role), role, ids, library)


def hold(frame: Any, role: str, ids: Sequence[Any], library: str) -> Any:
    """Return a frame of Dask, pandas or cuDF as a Dask DataFrame or :class:`.Held`.

    A frame in memory becomes one partition. `role` is what the caller calls the frame, and `library` that
    of the frame that the caller gave. Wrong names of columns with ids get their own error later.
    """
    if isinstance(frame, dd.DataFrame):
        return frame
    if isinstance(frame, pd.DataFrame):
        have, types = list(frame.columns), list(frame.dtypes)
        for column in ids:
            if have.count(column) == 1 and not _is_plain(types[have.index(column)]):
                dtypes.check_objects(frame[column], role, library)
        if wrong := [at for at, dtype in enumerate(types) if _cannot_take(dtype)]:
            frame = frame.copy(deep=False)
            for at in wrong:
                frame.isetitem(at, dtypes.values_of(frame.iloc[:, at]))
                types[at] = frame.dtypes.iloc[at]
        text = [at for at, dtype in enumerate(types) if dtypes.kind(dtype) == "string"]
        if not all(_is_stored_by_arrow(types[at]) for at in text):
            # Let Dask convert text to its own type. from_pandas would look at every value of the index, and
            # a frame that is passed as an argument would be hashed.
            read, meta = _Partition(Held(frame)), empty_like(frame)
            return dd.from_map(read, [0], meta=meta, label="graphflow-held")
        if text:
            frame = _with_text_of_dask(frame, text)
    elif type(frame).__module__.partition(".")[0] != "cudf" or not hasattr(frame, "columns"):
        raise EdgeListError(
            f"{role} is a {type(frame).__module__}.{type(frame).__name__}; give a DataFrame of Dask, "
            "pandas or cuDF, or one of a library that exports Arrow data, such as polars"
        )
    return Held(frame)


def _is_stored_by_arrow(dtype: Any) -> bool:
    """Say whether pandas stores text of a dtype as Dask's text is stored."""
    return isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"


def _with_text_of_dask(frame: pd.DataFrame, text: list[int]) -> pd.DataFrame:
    """Return a frame whose columns of text have Dask's dtype, without a copy of the texts."""
    made, configured = frame.copy(deep=False), dask.config.get("dataframe.convert-string", None)
    for at in text:
        column = frame.iloc[:, at]
        if (dtype := _find_text_of_dask(column.dtype, configured)) != column.dtype:
            made.isetitem(at, column.astype(dtype).array)
    return made


@lru_cache(maxsize=16)
def _find_text_of_dask(dtype: Any, _: Any) -> Any:
    """Return the dtype that Dask gives text of a dtype; it depends on Dask's configuration."""
    text = pd.DataFrame({"text": pd.Series([], dtype=dtype)})
    return dd.from_pandas(text, npartitions=1)._meta["text"].dtype


def _is_plain(dtype: Any) -> bool:
    """Say whether a dtype of NumPy holds no Python objects."""
    return isinstance(dtype, np.dtype) and dtype.kind != "O"


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
