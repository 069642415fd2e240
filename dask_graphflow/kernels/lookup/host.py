"""Binary search in columns of integers, and of strings as Arrow stores them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner


@inner
def _compare_integers(column, row, values, k):
    ours, given = column[0][row], values[0][k]
    if ours == given:
        return 0
    return -1 if ours < given else 1


@inner
def _compare_bytes(column, row, values, k):
    (offsets, data), (given_offsets, given) = column, values
    i, end = np.intp(offsets[row]), np.intp(offsets[row + 1])
    j, given_end = np.intp(given_offsets[k]), np.intp(given_offsets[k + 1])
    while i < end and j < given_end:
        if data[i] != given[j]:
            return 1 if data[i] > given[j] else -1
        i += 1
        j += 1
    if i < end:
        return 1
    return -1 if j < given_end else 0


def _narrowing(compare: Callable[..., Any], program: str) -> Any:
    """Return the loop for columns whose values a function compares."""

    def narrow(column, values, first, stop):
        for k in range(first.size):
            low, high = first[k], stop[k]
            while low < high:
                middle = (low + high) >> 1
                if compare(column, middle, values, k) < 0:
                    low = middle + 1
                else:
                    high = middle
            # Most values occur once, so the end is searched for in steps that double from 1.
            end, step = low, 1
            while end < stop[k] and compare(column, min(end + step, stop[k]) - 1, values, k) == 0:
                end, step = min(end + step, stop[k]), step << 1
            high = min(end + step, stop[k])
            while end < high:
                middle = (end + high) >> 1
                if compare(column, middle, values, k) == 0:
                    end = middle + 1
                else:
                    high = middle
            first[k], stop[k] = low, end

    return _compiled(narrow, program=program)


_narrow_integers = _narrowing(_compare_integers, "integers")
_narrow_bytes = _narrowing(_compare_bytes, "bytes")


def _merging(compare: Callable[..., Any], program: str) -> Any:
    """Return the loop over a column and values that ascend."""

    def merge(column, values, first, stop, unique):
        row = end = np.int64(0)
        for k in range(first.size):
            row, order = max(row, first[k]), 1
            while row < stop[k]:
                order = compare(column, row, values, k)
                if order >= 0:
                    break
                row += 1
            if row >= stop[k] or order > 0:
                return False
            first[k] = row
            if unique:
                row += 1
                continue
            end = max(end, row + 1)
            while end < stop[k] and compare(column, end, values, k) == 0:
                end += 1
            stop[k] = end
        return True

    return _compiled(merge, program=program)


_merge_integers = _merging(_compare_integers, "merge integers")
_merge_bytes = _merging(_compare_bytes, "merge bytes")


def narrow(
    column: tuple[np.ndarray, ...],
    values: tuple[np.ndarray, ...],
    first: np.ndarray,
    stop: np.ndarray,
) -> None:
    kernel = _narrow_integers if len(column) == 1 else _narrow_bytes
    kernel(tuple(map(_read_only, column)), tuple(map(_read_only, values)), first, stop)


def merge(
    column: tuple[np.ndarray, ...],
    values: tuple[np.ndarray, ...],
    first: np.ndarray,
    stop: np.ndarray,
    *,
    unique: bool,
) -> bool:
    kernel = _merge_integers if len(column) == 1 else _merge_bytes
    column, values = tuple(map(_read_only, column)), tuple(map(_read_only, values))
    return bool(kernel(column, values, first, stop, unique))


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be changed, since some arrays cannot, and the kernels have one type."""
    view = array.view()
    view.flags.writeable = False
    return view
