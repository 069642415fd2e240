"""Sums of whole numbers by label, for one member or for all."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dask_graphflow.kernels import kernels_for

from .view import GraphView

__all__ = ["own_sums", "sums_by_label"]


def own_sums(labels: Any, values: Any, count: int) -> Any:
    """Return the sum of this member's values of each label: array of int64, shape (count,).

    The parameters are those of :func:`sums_by_label`.
    """
    if not len(labels):  # CuPy's bincount rejects empty input
        return np.zeros_like(labels, "int64", shape=count)
    if values is None:
        return np.bincount(labels, minlength=count).astype("int64")
    sums = np.zeros_like(values, shape=count)
    kernels_for(values).namespace.add.at(sums, labels, values)
    return sums


def sums_by_label(g: GraphView, labels: Any, values: Any, count: int) -> Any:
    """Return this member's part of the sums over all members. All members call it.

    Parameters
    ----------
    g : GraphView
    labels : array of integers, shape (f,)
        Label of each value, from 0 to `count` - 1.
    values : array of int64, shape (f,), or None
        Values; 1 each by default.
    count : int
        Number of labels. The first members get the sums of the first labels.

    Returns
    -------
    array of int64
        The sums of this member's labels, which begin at ``count * rank // members``.
    """
    sums = own_sums(labels, values, count)
    cuts = [count * rank // g.exchange.size for rank in range(g.exchange.size + 1)]
    return sum(g.exchange.all_to_all([sums[a:b] for a, b in itertools.pairwise(cuts)]))
