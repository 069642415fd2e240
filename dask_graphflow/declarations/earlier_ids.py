"""A column of ids in an earlier result, of which few are looked up in the graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.graph import frames
from dask_graphflow.graph.numbering import names_of
from dask_graphflow.operators.view import GraphView

from .answer import LabelColumn


class EarlierIds(NamedTuple):
    """The ids that an earlier result has for the vertices of a single member.

    To look up all ids would take as long as a search. An algorithm that changes a few of them only compares
    some with vertices, and returns the others as they are.
    """

    # Array of int64, shape (V,). The row of each vertex in `ids`; -1 if it has none.
    rows: np.ndarray
    ids: Any  # DataFrame. Ids, which can be null, with the columns and dtypes of the result.

    def equal(self, g: GraphView, at: Any, numbers: Any) -> np.ndarray:
        """Return whether the ids of the vertices at some positions are those of some vertices."""
        same, rows = np.zeros(len(at), bool), self.rows[at]
        there = np.flatnonzero(rows >= 0)
        if len(there):
            given = self.ids.take(rows[there]).reset_index(drop=True)
            own = names_of(g.member.shard, g.member.exchange, numbers[there])
            equal = [
                (given[name] == part).to_numpy(bool, na_value=False)
                for name, part in zip(given, own, strict=True)
            ]
            same[there] = np.all(equal, axis=0)
        return same

    def replaced(self, g: GraphView, at: Any, numbers: Any) -> LabelColumn:
        """Return a column of a result, with other vertices at some positions."""
        if not len(at):
            return LabelColumn(self.rows, self.ids)
        named = names_of(g.member.shard, g.member.exchange, numbers)
        none = np.zeros(len(at), bool)
        columns = zip(self.ids, named, strict=True)
        new = {name: frames.with_nulls(part, none) for name, part in columns}
        ids = frames.stack([self.ids, frames.build(type(self.ids), new)])
        rows = self.rows.copy()
        rows[at] = len(self.ids) + np.arange(len(at))
        return LabelColumn(rows, ids)
