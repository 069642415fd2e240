"""The option `previous`: the result of the same call on the graph from which an update made this one.

The attrs of a result say which graph and which call it is of, and how many rows it has. They stay with a
frame that is computed, persisted, or written to Parquet and read again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dask_graphflow.exceptions import UsageError
from dask_graphflow.graph import dtypes, frames, renumber, vertex_ids
from dask_graphflow.graph.align_ids import align
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.access import move_to

from .option import Check
from .spec import GraphSpec

logger = logging.getLogger(__name__)

PREVIOUS = "previous"  # name of the option
KEY = "dask_graphflow"  # name in the attrs of a frame
IDS = ("id", "id or null")  # the dtypes of columns of ids


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
class Earlier(Check):
    """An earlier result, as a frame whose attrs can say which graph and which call it is of."""

    reads_frame: ClassVar[bool] = True

    def expect(
        self,
        frame: Any,
        token: ResultToken,
        columns: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Callable[..., Any]:
        """Return what resolves the frame in a member, as :meth:`.Check.resolve` does.

        The token is that of the same call on the graph from which an update made this one. The dtypes of
        all columns of the result, and all options, are given.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Previous(Earlier):
    """The result of the same call on the graph from which an update made this one, as a frame.

    The algorithm gets a dict of columns, each with one value per vertex of the member. `fills` has the
    columns that it needs, and the value of a vertex without a row. Ids that can be null become vertex
    numbers, and -1 for null.

    If an algorithm uses an earlier result only when it is `alone`, a single member with all edges in host
    memory whose ids are integers close together, it gets None otherwise. To join other ids would take as
    long as a search. It also gets None if one of the options `without` is set.
    """

    fills: Mapping[str, Any]
    alone: bool = False
    without: Sequence[str] = ()
    kind: ClassVar[str] = "earlier result"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the frame. :meth:`Expected.check` checks it, once the other options are known."""
        return value

    def expect(
        self,
        frame: Any,
        token: ResultToken,
        columns: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Callable[..., Any]:
        """Return what resolves the frame; raise if it is known now that it is another result."""
        needed = {name: columns[name] for name in self.fills}
        used = all(options[name] is None or options[name] is False for name in self.without)
        expected = Expected(token, needed, self.fills, self.alone, used)
        expected.check(frame)
        return expected.resolve


@dataclass(frozen=True)
class Expected:
    """The result that a call takes as `previous`."""

    token: ResultToken
    dtypes: Mapping[
        str, Any
    ]  # of the columns that the algorithm needs, as the result declares them
    fills: Mapping[str, Any]  # the value of a vertex without a row, in these columns
    alone: bool  # whether only a single member uses it; see :class:`Previous`
    used: bool  # whether the algorithm uses it with the other options

    def check(self, frame: Any) -> None:
        """Raise if a frame is not the result, as far as it can be known before the call is carried out."""
        if self.token.version is None:
            raise UsageError(
                f"{self._call} was called on a graph that update() did not make, so there is no earlier "
                "version of it; call it on the graph that Graph.update returned, or leave previous out"
            )
        known = frame._meta  # of a lazy frame: empty, maybe without the attrs of the partitions
        if len(known) or KEY in getattr(known, "attrs", {}):
            self._rows(known)

    def resolve(self, g: Any, sent: Sequence[Any]) -> dict[str, Any] | None:
        """Return the columns that the algorithm needs, for this member's vertices, if it uses them.

        All members call it, with the same partitions of the frame.
        """
        parts = [part for part in sent if len(part)] or sent[:1]
        rows = {self._rows(part) for part in parts}
        frame, like = frames.stack(parts), g.empty_ids
        if rows != {len(frame)}:
            raise self._changed(f"has {len(frame):,} rows instead of {max(rows):,}")
        if not self.used or (self.alone and not _alone(g)):
            logger.debug("%s computes the result from scratch in this case", self._call)
            return None
        frame = frame.copy(deep=False)
        frame.attrs = {}  # pandas would copy them with each column
        ids = frame.iloc[:, : len(like.columns)]
        if len(ids) and not ids.dtypes.equals(like.dtypes):
            ids = vertex_ids.named(ids, like, PREVIOUS)
        aligned = align(g.member.shard, g.member.exchange, ids)
        if aligned is None:
            raise self._changed("has other ids")
        chosen, at = aligned
        columns = {}
        for name, fill in self.fills.items():
            values = self._values(g, frame, name)[chosen]
            if isinstance(at, slice):  # all vertices in order
                columns[name] = move_to(g.column(0, values.dtype, 0), values).copy()
            else:
                columns[name] = g.column(fill, values.dtype)
                columns[name][at] = move_to(columns[name], values)
        return columns

    def _values(self, g: Any, frame: Any, name: str) -> Any:
        """Return the values of a column, with vertex numbers for ids."""
        if self.dtypes[name] not in IDS:
            return frames.values(frame[name])
        shard, names = g.member.shard, vertex_names(name, len(g.empty_ids.columns))
        if not {*names} <= {*frame.columns}:
            raise self._changed(f"has no column {names[0]!r}")
        column, find = frame[names[0]], self._search
        if shard.ids is None and dtypes.is_integer(column.dtype):
            find = self._subtract
        known = kernels_for(column).to_pandas(column.notna()).to_numpy()
        numbers = find(g, frame[names], known) if known.any() else np.full(len(known), -1)
        if (known & (numbers < 0)).any():
            raise self._changed(f"has other ids in {names[0]!r}")
        return numbers.astype(g.index, copy=False)

    @staticmethod
    def _subtract(g: Any, ids: Any, known: Any) -> Any:
        """Return the numbers of known ids that are integers close together, and -1 for others."""
        column, shard = ids.iloc[:, 0], g.member.shard
        values = column.to_numpy(getattr(column.dtype, "numpy_dtype", column.dtype), na_value=0)
        numbers = values.astype(np.int64, copy=False) - shard.base
        return np.where(known & (numbers < shard.size), numbers, -1)

    @staticmethod
    def _search(g: Any, ids: Any, known: Any) -> Any:
        """Return the numbers of known ids, each of which is searched for once, and -1 for others."""
        ids = vertex_ids.named(ids.loc[known], g.empty_ids, PREVIOUS)
        codes, ids = renumber.factorize(ids)
        places = g.find(ids, unique=False, known=False)
        places = g.elementwise_max(np.where(places < 0, -1, places + g.member.shard.low))
        numbers = np.full(len(known), -1)
        numbers[known] = move_to(numbers, places)[kernels_for(codes).to_host(codes)]
        return numbers

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
                "frame after pandas 2.1 or Dask wrote it to Parquet and read it again. Other formats, and "
                "some operations, drop the attrs. Leave previous out if you only have such a frame"
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
            if dtype not in IDS and (name not in frame.columns or frame[name].dtype != dtype):
                raise self._changed(f"has no column {name!r} of dtype {dtype}")
        return int(rows)

    def _changed(self, how: str) -> UsageError:
        return UsageError(
            f"previous was changed since {self.token.algorithm} returned it: it {how}. Give all rows and "
            "columns of the result as they were, in any order of the rows, or leave previous out"
        )


def _alone(g: Any) -> bool:
    """Return whether a member is alone, with its edges in host memory, and knows numbers without a join."""
    return g.member.alone_in_memory and g.member.shard.ids is None
