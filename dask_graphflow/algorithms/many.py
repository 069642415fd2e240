"""Edge programs over the members of a gang: :mod:`~dask_graphflow.algorithms._old_fixpoint` in several processes.

Each member advances along its own rows, whose ends are *masters* and *mirrors*
(:mod:`~dask_graphflow.graph.local_rows`). Push goes along the edges that leave its vertices, brings
messages together in masters and mirrors alike, and sends what mirrors have gathered to their masters.
Pull sends the frontier to its mirrors, and goes along the edges that enter its vertices (Gemini [1]_). All
members know after each superstep how many vertices and edges the next frontier has in all, so they choose
the same direction, and stop together.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dask_graphflow.algorithms._old_advance import RULES, Step, advance, superstep
from dask_graphflow.algorithms._old_advance import direction as choose
from dask_graphflow.comm.exchange import Exchange, Totals
from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.graph.build import into
from dask_graphflow.graph.numbering import mirrors
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.vertex_set import VertexSet as Frontier

__all__ = ["Together", "fixpoint_many", "reading_numbers"]

FEW = 64  # a list of up to one vertex in so many is sorted; beyond that reading a bitmap is faster


@dataclass(frozen=True)
class Together:
    """The frontier of all members together, as far as a rule that chooses a direction asks for it."""

    size: int
    active: int
    leaving: int

    def __len__(self) -> int:
        return self.active

    def edges(self, degrees: Any) -> int:
        """Return the edges that leave it; `degrees` were asked for that."""
        return self.leaving


def fixpoint_many(
    op: EdgeOp,
    columns: Mapping[str, Any],
    shard: Shard,
    exchange: Exchange,
    frontier: Any = None,
    *,
    rule: str = "gemini",
    balance: str = "auto",
    max_iter: int | None = None,
    threads: int = 1,
) -> list[dict[str, Any]]:
    """Advance from a frontier to the vertices that change, and from those, until there are none.

    All members call it at once. Whatever their number, the columns end as in one process, and the
    supersteps are the same, where that does not depend on chance: a program that reads at ``src`` the
    column that it writes may see a message in the same superstep, and be done in fewer.

    Parameters
    ----------
    op : EdgeOp
        The edge program. A sum that asks for itself at ``dst`` always pulls: by push it would depend on the
        order of the messages.
    columns : mapping of str to ndarray, shape (V_p,)
        The columns of this member's vertices; that of ``op.target`` is changed in place.
    shard : Shard
    exchange : Exchange
    frontier : ndarray of integers, shape (f,), optional
        Where to begin: vertices of this member, from 0 to V_p - 1, each once, ascending. By default, which
        is then every member's, everywhere.
    rule, balance, max_iter
        As of :func:`~dask_graphflow.algorithms._old_fixpoint.fixpoint`.
    threads : int
        Host threads to use.

    Returns
    -------
    list of dict
        What each superstep did: the members together, but for the seconds, which are this one's.

    Raises
    ------
    ExpressionError
        The program is one of :meth:`.EdgeOp.from_code`, and there are several members.
    UnknownColumnError, WeightError, ExpressionError
        What ``op.bind`` raises.
    """
    weights = shard.out.weights
    op.bind(
        {name: column.dtype for name, column in columns.items()},
        index_dtype=index_dtype(shard.size),
        weight_dtype=None if weights is None else weights.dtype,
    )
    if op.slot == "add" and op.target in op.reads_dst:
        rule = "pull"
    degrees = shard.degrees
    own = None if frontier is None else Frontier(shard.owned, vertices=frontier)
    active, leaving = shard.filled, len(shard.out.ends)
    if own is not None:
        active, leaving = len(own), own.edges(degrees)
    total = exchange.all_reduce(sums=(active, leaving, len(shard.out.ends), 0))
    program = _Program(op, columns, shard, exchange, degrees, balance, threads)
    edges, last = total.sums[2], None
    steps: list[dict[str, Any]] = []
    exchange.take_traffic()  # what it took so far is no superstep's
    while len(steps) != max_iter and total.sums[0]:
        began = time.perf_counter()
        way = rule
        if rule in RULES:
            whole: Any = Together(shard.size, total.sums[0], total.sums[1])
            way = choose(whole, degrees, total=edges, rule=rule, last=last)
            way = "pull" if own is None else way
        count = total.sums[0]
        own, total = program.push(own) if way == "push" else program.pull(own)
        last = Step(way, count, total.sums[3], 0, 0, 0)
        steps.append(superstep(way, count, last.edges, time.perf_counter() - began))
    columns[op.target][:] = program.masters()
    return steps


class _Side:
    """What a member goes along: rows by its own numbers, and columns of masters and mirrors."""

    def __init__(
        self,
        op: EdgeOp,
        columns: Mapping[str, Any],
        shard: Shard,
        exchange: Exchange,
        which: str,
        threads: int,
    ) -> None:
        self.local = local = shard.local(which, threads)
        self.mirrors = mirrors(shard, exchange, which, threads)
        self.columns: dict[str, Any] = {}
        for name in op.columns:
            if name in columns:
                self.columns[name] = np.empty_like(columns[name], shape=local.size)
                self.columns[name][: local.owned] = columns[name]
            else:
                numbers = np.concatenate([shard.numbers, shard.slot_numbers(which, threads)])
                self.columns[name] = numbers.astype(index_dtype(shard.size))
        target = self.columns[op.target]
        target[local.owned :] = _nothing(op.slot, target.dtype)
        self._unknown = {name for name in op.columns if name in columns} - {op.target}

    def tell(self, names: tuple[str, ...]) -> None:
        """Send mirrors those of the columns that they do not know yet. These never change."""
        for name in names:
            if name in self._unknown:
                self._unknown.remove(name)
                self.send(self.columns[name])

    def send(self, column: Any, changed: Any = None) -> list[Any]:
        """Send masters' values, or without a column which masters changed; return the mirrors of those."""
        found = []

        def apply(at: Any, values: Any) -> None:
            if values is not None:
                column[at] = values
            if isinstance(at, slice):
                at = np.arange(at.start, at.stop, like=self.local.slots)
            found.append(at)

        self.mirrors.broadcast(column, changed)
        self.mirrors.receive(apply)
        return found


class _Program:
    """A member's part in an edge program's supersteps."""

    def __init__(
        self,
        op: EdgeOp,
        columns: Mapping[str, Any],
        shard: Shard,
        exchange: Exchange,
        degrees: Any,
        balance: str,
        threads: int,
    ) -> None:
        self._op = op if exchange.size == 1 else _by_number(op, columns)
        self._columns, self._shard, self._exchange = columns, shard, exchange
        self._degrees, self._balance, self._threads = degrees, balance, threads
        self._sides: dict[str, _Side] = {}
        self._last: tuple[str, _Side] | None = None

    def masters(self) -> Any:
        """Return the target of this member's vertices."""
        if self._last is None:
            return self._columns[self._op.target]
        side = self._last[1]
        return side.columns[self._op.target][: side.local.owned]

    def push(self, own: Frontier | None) -> tuple[Frontier, Totals]:
        """Push from a frontier of masters; return the next one, and what all members have to do."""
        op, side, before = self._op, *self._side("push")
        local, column = side.local, side.columns[op.target]
        side.tell(op.reads_dst)
        if op.target in op.reads_dst:
            side.send(column, own.vertices if own is not None and before == "push" else None)
        elif op.slot == "add" and before != "push":
            column[local.owned :] = 0
        found, edges = local.rows.ends[:0], 0
        if own is None or len(own):
            found, edges = self._advance(side, own, "push")
        cut = int((found < local.owned).sum())
        masters, mirrors = found[:cut], found[cut:]
        following = Frontier(local.owned, vertices=masters)
        # Where nobody has told another one anything, this round's vote says all.
        sums = len(masters), following.edges(self._degrees), len(mirrors), edges
        # Of a minimum a mirror remembers what it has sent, and does not send what is no better.
        side.mirrors.reduce(column, mirrors - local.owned, sums)
        if op.slot == "add":
            column[mirrors] = 0
        changed = [masters]

        def apply(at: Any, values: Any) -> None:
            if op.slot == "add":
                column[at] += values
            else:
                old = column[at]
                better = values < old if op.slot == "min" else values > old
                better |= (values != values) & (old == old)  # a NaN wins once, and then stays
                at = at[better]
                column[at] = values[better]
            changed.append(at)

        total = side.mirrors.receive(apply)
        if len(changed) > 1:
            following = Frontier(local.owned, vertices=np.unique(np.concatenate(changed)))
        return following, self._agree(following, edges) if total.sums[2] else total

    def pull(self, own: Frontier | None) -> tuple[Frontier, Totals]:
        """Pull to masters from a frontier of these; the same as :meth:`push`."""
        op, side, _ = self._op, *self._side("pull")
        local = side.local
        side.tell(op.reads_src)
        # Of mirrors that are in no frontier nothing is read: they may keep old values.
        column = side.columns[op.target] if op.target in op.reads_src else None
        active = None
        if own is not None:
            there = side.send(column, own.vertices)
            active = Frontier(local.size, vertices=np.concatenate([own.vertices, *there]))
        elif column is not None:
            side.send(column)
        found, edges = self._advance(side, active, "pull")
        following = Frontier(local.owned, vertices=found)
        return following, self._agree(following, edges)

    def _advance(self, side: _Side, active: Frontier | None, way: str) -> tuple[Any, int]:
        """Advance along this member's rows; return what changed, ascending, and the edges looked at."""
        moved, step = advance(
            self._op,
            side.columns,
            [side.local.rows],
            active,
            direction=way,
            balance=self._balance,
            threads=self._threads,
        )
        if moved.sparse and len(moved) * FEW < moved.size:
            return np.sort(moved.vertices), step.edges
        return Frontier(moved.size, words=moved.words).vertices, step.edges

    def _agree(self, own: Frontier, edges: int) -> Totals:
        return self._exchange.all_reduce(sums=(len(own), own.edges(self._degrees), 0, edges))

    def _side(self, way: str) -> tuple[_Side, str | None]:
        """Return what a step goes along, with the target as it is now, and how the last one went."""
        which = "out" if way == "push" or not self._shard.directed else "into"
        if which not in self._sides:
            if which == "into":
                into(self._shard, self._exchange)
            given = self._op, self._columns, self._shard, self._exchange
            self._sides[which] = _Side(*given, which, self._threads)
        side, before = self._sides[which], None
        if self._last is not None:
            before, other = self._last
            if other is not side:
                side.columns[self._op.target][: side.local.owned] = self.masters()
        self._last = way, side
        return side, before


def _nothing(slot: str, dtype: Any) -> Any:
    """Return a value that every message is better than, or that changes no sum."""
    if slot == "add":
        return 0
    if dtype.kind == "f":
        return np.inf if slot == "min" else -np.inf
    return np.iinfo(dtype).max if slot == "min" else np.iinfo(dtype).min


def _by_number(op: EdgeOp, columns: Mapping[str, Any]) -> EdgeOp:
    """Return a program for rows by a member's own numbers, which means the same.

    What it says of ``src`` and ``dst`` themselves it reads from a column of their numbers among all
    vertices. And it takes all messages: the first one of a row is not that of the smallest neighbour, where
    masters come before mirrors.
    """
    if not isinstance(op.signal, str):
        raise ExpressionError(
            f"{op}: its functions are written in code, and may ask for src and dst themselves, which are "
            "other numbers in each of several workers; write it in expressions, or keep the graph in one"
        )
    return replace(reading_numbers(op, columns)[0], first_hit=False)


def reading_numbers(op: EdgeOp, columns: Mapping[str, Any]) -> tuple[EdgeOp, str]:
    """Return a program that reads the numbers of ``src`` and ``dst`` from a column, and that column's name.

    The name is none of `columns`.
    """
    numbers = "number"
    while numbers in columns:
        numbers += "_"
    named = _Numbers(numbers)
    cond = None if op.cond is None else named.written(op.cond)
    return replace(op, signal=named.written(str(op.signal)), cond=cond), numbers


class _Numbers(ast.NodeTransformer):
    """Writes ``column[src]`` for ``src``, where that is no index."""

    def __init__(self, column: str) -> None:
        self._column = column

    def written(self, text: str) -> str:
        return ast.unparse(self.visit(ast.parse(text, mode="eval")))

    def visit_Subscript(self, tree: ast.Subscript) -> ast.expr:
        return tree

    def visit_Name(self, tree: ast.Name) -> ast.expr:
        if tree.id not in ("src", "dst"):
            return tree
        return ast.Subscript(ast.Name(self._column, ast.Load()), tree, ast.Load())
