"""Splink: clusters of records at several thresholds, whose ids stay the same from day to day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask.dataframe as dd
import pandas as pd

from dask_graphflow.api.connected_components import connected_components
from dask_graphflow.api.stable_ids import StableIds, stable_ids
from dask_graphflow.exceptions import EdgeListError, UnknownColumnError
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.showing.arguments import explained

__all__ = ["clusters"]

LEFT, RIGHT = "_l", "_r"  # how Splink ends the names of the columns of a pair


@explained
def clusters(
    predictions: Any,
    thresholds: Sequence[float],
    *,
    records: Any = None,
    unique_id: str | Sequence[str] | None = None,
    previous: StableIds | Any | None = None,
) -> StableIds:
    """Return the clusters of Splink's predictions at several thresholds, with ids that stay the same.

    The clusters at a threshold are the connected components of the pairs that reach it, as in Splink. All
    thresholds are evaluated in one pass over the pairs. The clusters have the ids that :func:`.stable_ids`
    gives them.

    Parameters
    ----------
    predictions : splink.SplinkDataFrame, DuckDB relation or DataFrame
        The result of ``linker.inference.predict()``: pairs of records and their ``match_probability``.
    thresholds : sequence of float
        Smallest match probabilities of pairs that are in one cluster.
    records : splink.SplinkDataFrame, DuckDB relation or DataFrame, optional
        All records. A record that is in no pair is then a cluster of its own; by default, it is left out.
    unique_id : str or sequence of str, optional
        The columns that identify a record, if Splink's settings give them other names. By default
        "unique_id", and before it "source_dataset" if the predictions link several datasets.
    previous : StableIds or DataFrame, optional
        The result of the earlier call, or its frame `memory`, which may have been written to Parquet and
        read again. The clusters of a threshold that was not in the earlier call are new. None by default,
        for the first call.

    Returns
    -------
    StableIds
        A named tuple of three lazy frames:

        ``labels``
            One row per record, sorted by its id: the columns of the id, and one column per threshold, such
            as ``cluster_id_0.9`` (int64).
        ``events``
            What happened to clusters since the earlier call: ``threshold``, and the columns that
            :func:`.stable_ids` describes.
        ``memory``
            What the next call needs as `previous`.

    Raises
    ------
    EdgeListError
        The predictions or records are not a table.
    UnknownColumnError
        The predictions or records do not have the columns of the id.
    OptionError, VertexTypeError, WeightError
        See :func:`.connected_components`.

    Examples
    --------
    >>> import dask
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> predictions = pd.DataFrame(
    ...     {
    ...         "unique_id_l": ["a", "b", "d"],
    ...         "unique_id_r": ["b", "c", "e"],
    ...         "match_probability": [0.99, 0.6, 0.95],
    ...     }
    ... )
    >>> found = gf.integrations.splink.clusters(predictions, [0.5, 0.9])
    >>> labels, events, memory = dask.compute(*found)
    >>> labels
      unique_id  cluster_id_0.5  cluster_id_0.9
    0         a               0               0
    1         b               0               0
    2         c               0               1
    3         d               1               2
    4         e               1               2

    The next day, a better model is less sure of one pair:

    >>> predictions.loc[2, "match_probability"] = 0.7
    >>> new = gf.integrations.splink.clusters(predictions, [0.5, 0.9], previous=memory)
    >>> new.events.compute()
       threshold  event  old  new  old_size  new_size
    0        0.9  split    2    3         2         1
    """
    pairs = _frame(predictions, "predictions")
    if unique_id is None:
        ids = ["source_dataset"] * (f"source_dataset{LEFT}" in _names(pairs)) + ["unique_id"]
    else:
        ids = [unique_id] if isinstance(unique_id, str) else [*unique_id]
    ends = [[f"{name}{end}" for name in ids] for end in (LEFT, RIGHT)]
    components = connected_components(
        _select(pairs, [*ends[0], *ends[1], "match_probability"], "predictions"),
        source=ends[0],
        target=ends[1],
        weight="match_probability",
        thresholds=thresholds,
        vertices=None if records is None else _select(_frame(records, "records"), ids, "records"),
    )
    width, columns = len(ids), [*components.columns]
    labels, events, memory = [], [], []
    for at in range(width, len(columns), width):
        name = columns[at].removeprefix("component_").removesuffix("_0" if width > 1 else "")
        threshold = float(name)
        found = stable_ids(
            components[columns[:width] + columns[at : at + width]], _earlier(previous, threshold)
        )
        labels.append(found.labels.rename(columns={"id": f"cluster_id_{name}"}))
        events.append(_with_threshold(found.events, threshold))
        memory.append(_with_threshold(found.memory, threshold))
    return StableIds(
        dd.map_partitions(_side_by_side, *labels, ids=ids, align_dataframes=False),
        dd.concat(events),
        dd.concat(memory),
    )


def _frame(given: Any, role: str) -> Any:
    """Return the relation or frame with the rows of a SplinkDataFrame, and other tables unchanged."""
    if not hasattr(given, "as_duckdbpyrelation"):
        if not hasattr(given, "columns"):
            raise EdgeListError(
                f"{role} is a {type(given).__name__}; give a SplinkDataFrame, a DuckDB relation or a "
                "DataFrame"
            )
        return given
    local = hasattr(given.db_api, "duckdb_con")
    return given.as_duckdbpyrelation() if local else given.as_pandas_dataframe()


def _names(frame: Any) -> list[str]:
    """Return the names of the columns; the `columns` of a table of PyArrow are their values."""
    return [*(frame.column_names if hasattr(frame, "column_names") else frame.columns)]


def _select(frame: Any, columns: list[str], role: str) -> Any:
    """Return some columns of a frame; raise if it does not have them."""
    have = _names(frame)
    if missing := [name for name in columns if name not in have]:
        raise UnknownColumnError(
            f"{role} does not have the columns {', '.join(map(repr, missing))}, but "
            f"{', '.join(map(repr, have)) or 'none'}; give the result of linker.inference.predict(), and "
            "name the columns that identify a record with unique_id="
        )
    if hasattr(frame, "project"):  # a DuckDB relation, which would export all columns
        frame = frame.project(", ".join(f'"{name}"' for name in columns))
    return as_frame(frame, role, lambda _: columns)[columns]


def _earlier(previous: Any, threshold: float) -> Any:
    """Return what an earlier call remembers of one threshold."""
    if previous is None:
        return None
    memory = as_frame(previous.memory if isinstance(previous, StableIds) else previous, "previous")
    if "threshold" not in memory.columns:
        raise UnknownColumnError(
            f"previous has the columns {', '.join(map(repr, memory.columns)) or 'none'}, and lacks "
            "'threshold'; give the result of an earlier call of this function, or its frame `memory`"
        )
    return memory[memory["threshold"] == threshold].drop(columns="threshold")


def _with_threshold(frame: Any, threshold: float) -> Any:
    """Return a frame with the threshold as its first column."""
    return frame.assign(threshold=threshold)[["threshold", *frame.columns]]


def _side_by_side(*labels: pd.DataFrame, ids: list[str]) -> pd.DataFrame:
    """Return one frame with the clusters of each threshold. The rows of all frames are the same."""
    first, *others = labels
    frame = pd.concat([first, *(one.iloc[:, len(ids) :] for one in others)], axis=1)
    return frame.set_axis([*ids, *frame.columns[len(ids) :]], axis=1)
