"""The view of a graph that an algorithm gets: one member's part, and the communication between members.

An algorithm is written once, for a member of a gang. A graph in one process is a gang with one member: it
has no mirrors, and its rounds send nothing.

A *column* is an array with one entry per vertex that this member owns. An algorithm only sees owned
vertices, by their positions 0 to V_p - 1. Mirrors of other members' vertices are internal to the operators.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange, Totals
from dask_graphflow.exceptions import GraphflowError, WeightError
from dask_graphflow.graph import build, derived, numbering, stored, vertex_numbers
from dask_graphflow.graph.blocks import blocks
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import advance as advance_kernels
from dask_graphflow.kernels import (
    all_true,
    count_true,
    empty_on,
    index_dtype,
    is_on_disk,
    kernels_for,
)
from dask_graphflow.kernels import pull as pull_kernels
from dask_graphflow.kernels import scores as scores_kernels
from dask_graphflow.kernels.fixed_point import units

from .frontier import Frontier, VertexSet
from .member import Member

Tell = Callable[[dict[str, Any]], None]


class GraphView:
    """One member's view of a graph.

    Parameters
    ----------
    shard : Shard
        This member's part of the graph.
    exchange : Exchange
        The exchange that connects all members.
    threads : int
        Host threads to use.
    tell : callable, optional
        Takes the row of each superstep when it ends.
    reverse : bool
        Whether every edge is reversed.

    Attributes
    ----------
    size : int
        V, the number of vertex numbers over all members. Some may not belong to a vertex; see
        :attr:`exists`.
    owned : int
        V_p, the number of vertex numbers of this member, and of entries in a column.
    index : numpy.dtype
        dtype of vertex numbers: int32, or int64 from 2**31 numbers on.
    directed : bool
        Whether an edge leads only from its source to its target.
    member : Member
        Rows, mirrors and messages, which only operators use.
    """

    def __init__(
        self,
        shard: Shard,
        exchange: Exchange,
        threads: int = 1,
        tell: Tell | None = None,
        *,
        reverse: bool = False,
    ) -> None:
        self.member = Member(shard, exchange, threads, reverse and shard.directed)
        self.size, self.owned, self.directed = shard.size, shard.owned, shard.directed
        self.index, self._tell = np.dtype(index_dtype(shard.size)), tell
        self._degrees: Any = None
        self._vertices: int | None = None
        self._ranks: Any = None
        self._like = empty_on(shard.on_device)

    @property
    def T(self) -> GraphView:  # noqa: N802
        """The same graph with every edge reversed. No edge is copied."""
        if not self.directed:
            return self
        m = self.member
        return GraphView(m.shard, m.exchange, m.threads, self._tell, reverse=not m.reverse)

    @property
    def simple(self) -> GraphView:
        """The same graph without self-loops, parallel edges and weights. All members call it.

        Its rows are made once, and cached with the graph.
        """
        return self._derived(derived.simple)

    @property
    def lightest(self) -> GraphView:
        """The same weighted graph without self-loops, and with the lightest of parallel edges.

        All members call it. Its rows are made once, and cached with the graph.
        """
        return self._derived(derived.lightest)

    @property
    def undirected(self) -> GraphView:
        """The same graph without the directions of the edges. All members call it.

        In a directed graph, a pair of opposite edges becomes two parallel edges. The rows are made once,
        and cached with the graph.
        """
        if not self.directed:
            return self
        return self._derived(derived.undirected)

    @property
    def quiet(self) -> GraphView:
        """The same graph, without a record of its supersteps."""
        view = self.view_of(self.member.shard)
        view._tell = None
        return view

    def view_of(self, shard: Shard, exchange: Exchange | None = None) -> GraphView:
        """Return the view of another graph with the same members. All members call it."""
        m = self.member
        return GraphView(shard, exchange or m.exchange, m.threads, self._tell, reverse=m.reverse)

    def _derived(self, make: Callable[[Shard, Exchange, int], Shard]) -> GraphView:
        return self.view_of(make(self.member.shard, self.member.exchange, self.member.threads))

    # Columns

    def column(self, fill: Any, dtype: Any, size: int | None = None) -> Any:
        """Return an array with V_p entries by default, all with one value, in the memory of the graph."""
        shape = self.owned if size is None else size
        return np.full_like(self._like, fill, dtype, shape=shape)

    @property
    def exists(self) -> Any:
        """Which positions are vertices: array of bool, shape (V_p,). It must not be changed."""
        return numbering.occurs(self.member.shard, self.member.exchange)

    @property
    def numbers(self) -> Any:
        """Number of each owned vertex among all: array of index, shape (V_p,); ascending in the ids."""
        return self.member.shard.numbers

    @property
    def ranks(self) -> Any:
        """Rank of each owned vertex among the sorted ids of all: array of index, shape (V_p,).

        Unlike :attr:`numbers`, ranks leave out numbers that belong to no vertex, so they are the same for
        every type of ids. Positions that are not vertices have an arbitrary rank. All members call it. Do
        not change the array.
        """
        m = self.member
        if self.count == m.shard.count:  # each number belongs to a vertex
            return m.shard.numbers
        if self._ranks is None:
            self._ranks = self.keep(
                "ranks", lambda: vertex_numbers.number(m.shard, m.exchange, m.threads).own
            )
        return self._ranks

    @property
    def degrees(self) -> Any:
        """Number of edges that leave each owned vertex: array of int64, shape (V_p,)."""
        if self._degrees is None:
            m = self.member
            self._degrees = (
                build.entering_degrees(m.shard, m.exchange)
                if m.side("out") == "into"
                else m.shard.degrees
            )
        return self._degrees

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.member.shard.out.weights is not None

    @property
    def weighted_degrees(self) -> Any:
        """Sum of the weights of the edges that leave each owned vertex: array of float64, shape (V_p,).

        Without weights, it is the number of edges. All members call it. Do not change the array.

        Raises
        ------
        WeightError
            A weight is negative, infinite or NaN. All members raise it.
        """
        if not self.weighted:
            return self.degrees.astype("float64")
        host, side = self.member.shard.host, self.member.side("out")
        rows = host.out if side == "out" else build.into(host, self.member.exchange)

        def totals() -> Any:
            valid = all(
                all_true((block.weights >= 0) & (block.weights < np.inf))
                for _, block in blocks(rows)
            )
            return pull_kernels.of(rows.ends).row_totals(rows) if valid else None

        name = stored.weighted_degrees(side)
        own = host.kept(name, totals)
        if self.all_sum(own is None):
            raise WeightError(
                "a weight is negative, infinite or NaN; this algorithm needs finite weights of at least 0. "
                "Remove these edges, or give weight=None"
            )
        return self.member.shard.here(name, own)

    @property
    def count(self) -> int:
        """Number of vertices of all members. All members call it."""
        if self._vertices is None:
            self._vertices = numbering.vertex_count(self.member.shard, self.member.exchange)
        return self._vertices

    @property
    def edges(self) -> int:
        """Number of edges of all members; an undirected edge counts at both ends."""
        return self.edges_and_storage()[0]

    def edges_and_storage(self) -> tuple[int, bool]:
        """Return the number of edges of all members, and whether any are on disk. All members call it."""
        ends = self.member.shard.out.ends
        edges, on_disk = self.all_reduce(sums=(len(ends), is_on_disk(ends))).sums
        return edges, bool(on_disk)

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what `make` returns. It is made once, and cached with the graph. All members call it."""
        return numbering.kept_by_all(self.member.shard, self.member.exchange, name, make)

    # Reductions over all members

    def all_reduce(self, sums: Sequence[int] = (), most: float = -np.inf) -> Totals:
        """Return sums and a maximum over all members; see :meth:`.Exchange.all_reduce`."""
        if self.member.alone:
            return Totals(tuple(sums), most)
        return self.member.exchange.all_reduce(sums, most)

    def all_sum(self, number: int) -> int:
        """Return the sum of one number of each member."""
        return number if self.member.alone else self.member.exchange.all_sum(number)

    def count_true(self, marks: Any) -> int:
        """Return the number of entries of a column of bool that are true, over all members."""
        return self.all_sum(count_true(marks))

    def all_weights(self, test: Callable[[Any], Any]) -> bool:
        """Return whether `test`, which takes an array of weights, holds for all weights of all members."""
        return not self.all_sum(not all_true(test(self.member.shard.host.out.weights)))

    def largest(self, values: Any) -> float:
        """Return the largest value of a column over all members; a member without values counts as 0."""
        return self.all_reduce(most=float(values.max()) if len(values) else 0.0).most

    def total(self, values: Any, bound: float, count: int | None = None) -> float:
        """Return the sum of a column over all members, with the same bits for every partitioning.

        Parameters
        ----------
        values : array of float64, shape (V_p,)
        bound : float
            Upper bound of the magnitudes of all values.
        count : int, optional
            Maximum number of nonzero values over all members; by default the number of vertices.

        Raises
        ------
        GraphflowError
            A value exceeds `bound`, or `bound` is infinite or NaN. All members raise it.
        """
        if not bound:
            return 0.0
        count = self.count if count is None else count
        kernels = scores_kernels.of(values)
        sums = kernels.total(values, bound, count, threads=self.member.threads)
        high, low, wrong = self.all_reduce(sums=sums).sums
        if wrong or not math.isfinite(bound):
            raise GraphflowError(
                f"values to add up exceed their bound, which is {bound:g}; give the largest magnitude of "
                "the values as a finite bound"
            )
        coarse, fine = units(bound, count)
        return high * coarse + low * fine

    def frontier(self, vertices: Any) -> Frontier:
        """Return the frontier to which each member contributes its vertices, by position and each once.

        All members call it.
        """
        own = VertexSet(self.owned, vertices=vertices)
        return Frontier(own, *self.all_reduce(sums=(len(own), own.edges(self.degrees))).sums)

    def everyone(self) -> Frontier:
        """Return the frontier of all vertices."""
        sums = self.member.shard.filled, len(self.member.shard.out.ends)
        return Frontier(None, *self.all_reduce(sums).sums)

    def positions(self, marks: Any) -> Any:
        """Return the positions at which a column of bool is true: array of index, in any order."""
        return advance_kernels.of(marks).listed(marks, self.index)

    def find(self, ids: Any, *, unique: bool = True, known: bool = True) -> Any:
        """Return the positions of the vertices in a frame or an array of ids, the same for all members.

        All members call it, and raise :class:`.UnknownVertexError` if an id is not in the graph and has to
        be `known`. With `unique`, each position occurs once, ascending. Otherwise there is one entry per
        id, and -1 for other members' vertices and ids that are not in the graph.
        """
        shard, exchange = self.member.shard, self.member.exchange
        return numbering.numbers_of(shard, exchange, ids, unique=unique, known=known)

    @property
    def empty_ids(self) -> Any:
        """An empty frame with the columns and dtypes of the ids."""
        return self.member.shard.like

    def show(self, numbers: Any) -> str:
        """Return the ids of a few vertices, as a message shows them. All members call it."""
        return numbering.shown_vertices(self.member.shard, self.member.exchange, numbers)

    def places(self, ids: Any) -> Any:
        """Return the places of the vertices in a frame of ids, one per row, the same for all members.

        The place of a vertex is its index among those of all members, as in :meth:`.Member.rows`. All
        members call it, and raise :class:`.UnknownVertexError` if an id is not in the graph.
        """
        at = self.find(ids, unique=False)
        return self.elementwise_max(np.where(at < 0, -1, at + self.member.shard.low))

    def elementwise_sum(self, values: Any) -> Any:
        """Return the sum of each entry over all members, for an array of int64."""
        return sum(self.member.exchange.all_gather(values))

    def elementwise_max(self, values: Any) -> Any:
        """Return the largest value of each entry over all members, for an array of int64."""
        if self.member.exchange.size == 1:
            return values
        kernels = kernels_for(values)
        every = self.member.exchange.all_gather(kernels.to_host(values))
        return kernels.namespace.asarray(np.max(every, axis=0))

    # Supersteps

    @contextmanager
    def superstep(self, direction: str, frontier: int, edges: int) -> Iterator[dict[str, Any]]:
        """Record a superstep when it ends: its direction, frontier, edges and seconds.

        Yields the row, in which the caller can set numbers that are only known at the end. If it sets
        "times", as many supersteps are recorded, each with its part of the seconds. If the row is cleared,
        or an error is raised, nothing is recorded.
        """
        self.member.exchange.superstep_count += 1
        if self._tell is None:
            yield {}
            return
        self.member.exchange.take_traffic()  # discard earlier traffic, which is not part of the superstep
        began = time.perf_counter()
        row: dict[str, Any] = {
            "direction": direction,
            "frontier": int(frontier),
            "edges": int(edges),
        }
        yield row
        if row:
            # The work of the device is part of the time.
            kernels_for(self._like).wait()
            seconds, times = time.perf_counter() - began, row.pop("times", 1)
            for _ in range(times):
                self._note(dict(row), seconds / times)

    def fused(self, directions: Sequence[str], sizes: Any, edges: Any, seconds: float) -> None:
        """Record several supersteps that ran in one call; each has a direction, a frontier and edges."""
        self.member.exchange.superstep_count += len(sizes)
        if self._tell is not None:
            for direction, count, leaving in zip(directions, sizes, edges, strict=True):
                row = {"direction": direction, "frontier": int(count), "edges": int(leaving)}
                self._note(row, seconds / len(sizes))

    def _note(self, row: dict[str, Any], seconds: float) -> None:
        assert self._tell is not None
        traffic = self.member.exchange.take_traffic()
        communicate = traffic.packing + traffic.sending + traffic.unpacking
        row |= {
            "seconds": seconds,
            "compute": seconds - communicate - traffic.waiting,
            "communicate": communicate,
            "wait": traffic.waiting,
            "bytes": sum(traffic.sent.values()),
        }
        self._tell(row)
