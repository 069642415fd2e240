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
from dask_graphflow.graph.align_ids import align, first_ids
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.kernels import move_to
from dask_graphflow.showing.tables import counted

from .earlier_ids import EarlierIds
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
    columns that it needs, and the value of a vertex without a row. Only if it is `alone`, it can need ids:
    they become vertex numbers, or :class:`.EarlierIds` if they are `kept`.

    An algorithm that is `alone` uses an earlier result only on a single member on the host, and if ids that
    become numbers are integers. To look up other ids takes as long as to find components. It then also has
    to `pay` to align the result, which has so many rows, with the vertices. No algorithm uses it if one of
    the options `without` is set. Otherwise it gets None.
    """

    fills: Mapping[str, Any]
    kept: Sequence[str] = ()
    alone: bool = False
    pays: Callable[[Any, int], bool] | None = None
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
        needed = {name: columns[name] for name in (*self.fills, *self.kept)}
        used = all(options[name] is None or options[name] is False for name in self.without)
        expected = Expected(self, token, needed, used)
        expected.check(frame)
        return expected.resolve


@dataclass(frozen=True)
class Expected:
    """The result that a call takes as `previous`."""

    rule: Previous
    token: ResultToken
    dtypes: Mapping[str, Any]  # of the needed columns, as the result declares them
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
        rows, parts = {self._rows(part) for part in parts}, [_without_attrs(one) for one in parts]
        frame = parts[0] if len(parts) == 1 else frames.stack(parts)
        if rows != {len(frame)}:
            raise self._changed(f"has {counted(len(frame), 'row')} instead of {max(rows):,}")
        if not self.used or (self.rule.alone and not self._pays(g, len(frame))):
            logger.debug("%s computes the result from scratch in this case", self._call)
            return None
        ids = first_ids(frame, g.empty_ids, PREVIOUS)
        chosen, at, known, once = align(g.member.shard, g.member.exchange, ids)
        if not (known and once):
            raise self._changed("has other ids")
        columns: dict[str, Any] = {}
        for name in self.rule.kept:
            row_of = np.full(g.owned, -1)
            row_of[at] = np.arange(len(frame))[chosen]
            columns[name] = EarlierIds(row_of, self._ids(g, frame, name))
        for name, fill in self.rule.fills.items():
            values = self._values(g, frame, name)[chosen]
            if isinstance(at, slice):  # all vertices in order
                columns[name] = move_to(g.column(0, values.dtype, 0), values)
            else:
                columns[name] = g.column(fill, values.dtype)
                columns[name][at] = move_to(columns[name], values)
        return columns

    def _pays(self, g: Any, rows: int) -> bool:
        """Return whether a result of an algorithm that is alone is worth its alignment."""
        if g.member.shard.on_device or not g.member.alone:
            return False
        if self.rule.pays is not None and not self.rule.pays(g, rows):
            return False
        numbered = any(self.dtypes[name] in IDS for name in self.rule.fills)
        types = g.empty_ids.dtypes
        return not numbered or (len(types) == 1 and frames.are_integers(types))

    def _columns_of(self, g: Any, frame: Any, name: str) -> Any:
        """Return the columns of ids that have a name."""
        names = vertex_names(name, len(g.empty_ids.columns))
        if not {*names} <= {*frame.columns}:
            raise self._changed(f"has no column {names[0]!r}")
        return frames.build(type(frame), {name: frame[name] for name in names})  # not a copy

    def _ids(self, g: Any, frame: Any, name: str) -> Any:
        """Return ids, some of them null, with the dtypes that the result has."""
        own = g.empty_ids
        ids = vertex_ids.brought(self._columns_of(g, frame, name), own)
        dtypes = [frames.with_nulls(own[name], np.zeros(0, bool)).dtype for name in own]
        if [*ids.dtypes] == dtypes:
            return ids
        try:
            return ids.astype(dict(zip(ids, dtypes, strict=True)))
        except (TypeError, ValueError) as error:
            raise self._changed(f"has other ids in {ids.columns[0]!r}") from error

    def _values(self, g: Any, frame: Any, name: str) -> Any:
        """Return a copy of the values of a column, with vertex numbers for ids."""
        if self.dtypes[name] not in IDS:
            return frames.values(frame[name]).copy()
        ids = self._columns_of(g, frame, name)
        find = self._subtract if g.member.shard.ids is None else self._search
        if (numbers := find(g, ids)) is None:
            raise self._changed(f"has other ids in {ids.columns[0]!r}")
        return numbers.astype(g.index, copy=False)

    @staticmethod
    def _subtract(g: Any, ids: Any) -> Any | None:
        """Return the numbers of ids that are integers close together; None if one is out of their range."""
        shard, column = g.member.shard, ids.iloc[:, 0]
        plain = frames.are_integers([column.dtype])  # without nulls
        if not dtypes.is_integer(column.dtype) or (not plain and column.isna().any()):
            return None
        values = frames.values(column)
        if len(values) and not shard.base <= values.min() <= values.max() < shard.base + shard.size:
            return None
        return values.astype("int64") - shard.base if shard.base else values.astype(g.index)

    @staticmethod
    def _search(g: Any, ids: Any) -> Any | None:
        """Return the numbers of ids, each of which is looked up once; None if one is not in the graph."""
        if not ids.dtypes.equals(g.empty_ids.dtypes):
            ids = vertex_ids.named(ids, g.empty_ids, PREVIOUS)
        # If a group is named after its first member, the distinct ids ascend.
        codes, ids = renumber.factorize(ids)
        chosen, at, known, once = align(g.member.shard, g.member.exchange, ids)
        if not (known and once):
            return None
        numbers = np.empty(len(ids), np.int64)
        numbers[chosen] = np.arange(g.owned)[at]
        return numbers[codes]

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
        types = dict(zip(frame.columns, frame.dtypes, strict=True))
        for name, dtype in self.dtypes.items():
            if dtype not in IDS and types.get(name) != dtype:
                raise self._changed(f"has no column {name!r} of dtype {dtype}")
        return int(rows)

    def _changed(self, how: str) -> UsageError:
        return UsageError(
            f"previous was changed since {self.token.algorithm} returned it: it {how}. Give all rows and "
            "columns of the result as they were, in any order of the rows, or leave previous out"
        )


def _without_attrs(frame: Any) -> Any:
    """Return a frame without attrs, which pandas would copy with each column."""
    frame = frame.copy(deep=False)
    frame.attrs = {}
    return frame
