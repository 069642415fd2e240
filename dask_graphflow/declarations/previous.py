"""The option `previous`: the result of the same call on the graph from which an update made this one.

The attrs of a result say which graph and which call it is of, and how many rows it has. They stay with a
frame that is computed, persisted, or written to Parquet and read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dask_graphflow.exceptions import UsageError
from dask_graphflow.graph import frames, vertex_ids
from dask_graphflow.graph.align_ids import align
from dask_graphflow.operators.access import move_to

from .option import Check
from .spec import GraphSpec

PREVIOUS = "previous"  # name of the option
KEY = "dask_graphflow"  # name in the attrs of a frame


class ResultToken(NamedTuple):
    """Which result a frame is."""

    version: str | None  # token of the version of the graph; None if there is no such version
    call: str  # name of the algorithm, and a token of the options

    def attrs(self, rows: int) -> dict[str, Any]:
        """Return the attrs of the frames of a result, which has so many rows in all."""
        return {KEY: {**self._asdict(), "rows": rows}}

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self.call.partition("-")[0]


@dataclass(frozen=True)
class Previous(Check):
    """The result of the same call on the graph from which an update made this one, as a frame.

    The algorithm gets a dict of columns, each with one value per vertex of the member. `fills` has the
    columns that it needs, all of them numbers, and the value of a vertex without a row.
    """

    fills: Mapping[str, Any]
    reads_frame: ClassVar[bool] = True
    kind: ClassVar[str] = "earlier result"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the frame. :meth:`Expected.check` checks it, once the other options are known."""
        return value

    def expect(self, token: ResultToken, columns: Mapping[str, Any]) -> Expected:
        """Return the check of the frame in a call, given the dtypes of the columns of its result."""
        return Expected(token, {name: np.dtype(columns[name]) for name in self.fills}, self.fills)


@dataclass(frozen=True)
class Expected:
    """The result that a call takes as `previous`."""

    token: ResultToken
    dtypes: Mapping[str, np.dtype[Any]]  # of the columns that the algorithm needs
    fills: Mapping[str, Any]  # the value of a vertex without a row, in these columns

    def check(self, frame: Any) -> None:
        """Raise if a frame is not the result, as far as it can be known before the call is carried out."""
        if self.token.version is None:
            raise UsageError(
                f"{self._call} was called on a graph that update() did not make, so there is no earlier "
                "version of it; call it on the graph that Graph.update returned, or leave previous out"
            )
        known = (
            frame._meta
        )  # of a lazy frame, it is empty, and may lack the attrs of the partitions
        if len(known) or KEY in getattr(known, "attrs", {}):
            self._rows(known)

    def resolve(self, g: Any, sent: Sequence[Any]) -> dict[str, Any]:
        """Return the columns that the algorithm needs, for this member's vertices.

        All members call it, with the same partitions of the frame.
        """
        parts = [part for part in sent if len(part)] or sent[:1]
        rows = {self._rows(part) for part in parts}
        frame, like = frames.stack(parts), g.empty_ids
        if rows != {len(frame)}:
            raise self._changed(f"has {len(frame):,} rows instead of {max(rows):,}")
        columns = {name: g.column(fill, self.dtypes[name]) for name, fill in self.fills.items()}
        if not len(frame):
            return columns
        ids = vertex_ids.named(frame.iloc[:, : len(like.columns)], like, PREVIOUS)
        aligned = align(g.member.shard, g.member.exchange, ids)
        if aligned is None:
            raise self._changed("has other ids")
        chosen, at = aligned
        for name, column in columns.items():
            column[at] = move_to(column, frames.values(frame[name])[chosen])
        return columns

    @property
    def _call(self) -> str:
        return f"{self.token.algorithm}(previous=...)"

    def _rows(self, frame: Any) -> int:
        """Return how many rows the whole result has; raise if a frame is not a part of the expected one."""
        attrs = getattr(frame, "attrs", {}).get(KEY)
        if not isinstance(attrs, Mapping) or {*attrs} != {*self.token._fields, "rows"}:
            raise UsageError(
                "previous does not say which result it is, because its attrs are missing. Give the frame "
                f"that {self.token.algorithm} returned for the graph that update() was called on, or that "
                "frame after pandas or Dask wrote it to Parquet and read it again. Other formats, and some "
                "operations, drop the attrs. Leave previous out if you only have such a frame"
            )
        rows, found = attrs["rows"], ResultToken(attrs["version"], attrs["call"])
        if found.call != self.token.call:
            other = found.algorithm == self.token.algorithm
            raise UsageError(
                f"previous is a result of {found.algorithm}{' with other options' * other}; give the "
                f"result of the same call of {self.token.algorithm} on the graph that update() was called "
                "on, or leave previous out"
            )
        if found.version != self.token.version:
            raise UsageError(
                f"previous is a result of {found.algorithm} on another graph; give its result on the graph "
                "that update() was called on, which is one version earlier, or leave previous out"
            )
        for name, dtype in self.dtypes.items():
            if name not in frame.columns or frame[name].dtype != dtype:
                raise self._changed(f"has no column {name!r} of dtype {dtype}")
        return int(rows)

    def _changed(self, how: str) -> UsageError:
        return UsageError(
            f"previous was changed since {self.token.algorithm} returned it: it {how}. Give all rows and "
            "columns of the result as they were, in any order of the rows, or leave previous out"
        )
