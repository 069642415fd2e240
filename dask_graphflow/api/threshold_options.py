"""The options of connected components that depend on a frame: thresholds, and whether ids are dense."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphflow.declarations.option import Flag
from dask_graphflow.exceptions import OptionError, WeightError
from dask_graphflow.graph import dtypes
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.showing.values import shown


def sort_thresholds(
    have: Sequence[Any], weight: Any, threshold: float | None, thresholds: Sequence[float] | None
) -> list[float]:
    """Return the thresholds in ascending order, or raise if they do not fit the weight.

    Each one is an int or a float that equals the given value exactly. `have` are the columns of the frame,
    and `weight` is one of them or None.
    """
    if threshold is not None and thresholds is not None:
        raise OptionError("threshold= and thresholds= were both given; give one of them")
    given = [threshold] if threshold is not None else _list_thresholds(thresholds)
    if thresholds is not None and not given:
        raise OptionError("thresholds=[] is empty; give at least one, or leave it out")
    limits = [_exact(value) for value in given]
    if len(set(limits)) < len(limits):
        raise OptionError(
            f"thresholds={limits!r} has a threshold more than once; give each of them once"
        )
    if given and weight is None:
        raise WeightError(
            f"threshold {given[0]!r} needs a weight to be compared with; name its column with weight=. "
            f"The frame has {', '.join(map(repr, have))}"
        )
    if weight is not None and not given:
        raise WeightError(
            f"weight={weight!r} does nothing without threshold= or thresholds=; add one, or leave the "
            "weight out"
        )
    return sorted(limits)


def _list_thresholds(thresholds: Any) -> list[Any]:
    """Return the thresholds as a list, or raise if they are not a list or an array."""
    try:
        return [] if thresholds is None else list(thresholds)
    except TypeError as error:
        raise OptionError(
            f"thresholds={shown(thresholds)}; give a list of numbers, or a single one as threshold="
        ) from error


def _exact(threshold: Any) -> float:
    """Return a threshold as an int or a float of the same value, or raise if that is not possible."""
    value = threshold.item() if isinstance(threshold, np.number) else threshold
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise OptionError(
            f"threshold {threshold!r} is not a number that a weight can be compared with; give an int "
            "or a float, other than NaN"
        )
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise OptionError(
            "a threshold is an integer outside the range of a float; give float('inf') for one that "
            "no finite weight reaches, or float('-inf') for one that every weight reaches"
        )
    return value


def check_dense(columns: EdgeColumns, renumber: bool) -> None:
    """Raise if `renumber` is False and the ids are not integers."""
    Flag().check("renumber", renumber, None)
    if not renumber and not (len(columns.dtypes) == 1 and dtypes.is_integer(columns.dtypes[0])):
        raise OptionError(
            f"renumber=False is for ids that are one column of integers; source={columns.source!r} has "
            f"dtype {', '.join(map(str, columns.dtypes))}. Leave it out"
        )
