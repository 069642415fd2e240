"""Hub-first rows: each vertex repeatedly sums the contributions of its neighbors, along all edges.

The values to sum are in a *wide* column. It first has one entry per owned vertex that exists, hubs first so
that they stay in the caches, and then one entry per vertex of other members that is read here. Without
hubs, a single member on the host uses the rows of the graph in their order, without numbers that have no
vertex. With hubs, it can begin along these rows, and sort them when that pays.

If a member reads most vertices of the others, as on a power-law graph with few members, its column has an
entry for each of their vertices. Then no member stores which vertices are read, and each member sends all
its entries. Otherwise, a column has mirrors of the vertices that its member reads.

The rows are made once per direction, and cached with the graph. Both directions have the vertices in the
same order.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.comm.peers import SharedMemory
from dask_graphflow.graph import stored
from dask_graphflow.graph.build import Edges, edges_of, entered, entering
from dask_graphflow.graph.hubs import has_hubs, inverse
from dask_graphflow.graph.make_rows import make_rows
from dask_graphflow.graph.numbering import kept_by_all, marked, occurs, swap
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import count_true, index_dtype, is_on_disk
from dask_graphflow.kernels import pull as pull_kernels
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels import scores as scores_kernels
from dask_graphflow.kernels.fixed_point import CHANGES
from dask_graphflow.operators.access import update_mirrors
from dask_graphflow.operators.shared_columns import largest_of_all
from dask_graphflow.operators.view import GraphView

MOST = 2  # if at least 1/2 of the other members' vertices are read, all of them are sent
# Iterations along unsorted rows after which a graph's rows are sorted by hubs: sorting took as long as 20
# iterations save for 1 million edges, and 34 for 4 million.
PAYS = 32


class HubRows:
    """One member's hub-first rows of the edges that enter its vertices, and sums along them.

    Parameters
    ----------
    g : GraphView
        For ``g.T``, rows of the edges that leave the vertices. All members create theirs at once.
    sorts : bool, default True
        Whether the rows have to be sorted. Otherwise a single member sorts them after :data:`PAYS`
        iterations, which are counted in ``layout.pulled``.

    Attributes
    ----------
    count, edges : int
        Number of vertices of all members that exist, and of edges.
    layout : Layout
        The rows and columns of this member.
    rows : Rows
        Those of the layout, with weights as the kernels read them.
    totals : RunningTotals
        The totals of an iteration, which :meth:`add_up` begins.
    """

    def __init__(self, g: GraphView, *, sorts: bool = True) -> None:
        unsorted = None if sorts else _unsorted_layout(g)
        self._g, self.layout = g, _layout(g) if unsorted is None else unsorted
        self.rows = pull_kernels.of(self.layout.names).readable(self.layout.rows)
        self.totals = scores_kernels.of(self.layout.names).new_totals()
        self._mirrors = None if g.member.alone else self.layout.mirrors(g.member.exchange)
        self._publication: Any = None
        own = len(self.layout.names), len(self.layout.rows.ends)
        self.count, self.edges = g.all_reduce(sums=own).sums

    @property
    def leaving(self) -> Any:
        """Number of edges that leave each owned vertex: array of int64, shape (V_p,)."""
        kept = self.layout.leaving
        return self._g.member.shard.degrees if kept is None else kept

    def take(self, values: Any) -> Any:
        """Return a copy of the entries of existing vertices in a column, in the order of the rows."""
        return values.copy() if self._as_they_are else values[self.layout.names]

    def by_vertex(self, column: Any) -> Any:
        """Return a copy of a column in the order of positions; the inverse of :meth:`take`."""
        if self._as_they_are:
            return column.copy()
        values = self._g.column(0, column.dtype)
        values[self.layout.names] = column
        return values

    @property
    def _as_they_are(self) -> bool:
        """Whether the rows are those of the graph, in the order of positions."""
        return self.layout.pulled is not None and len(self.layout.names) == len(self.layout.has)

    def new_wide(self, dtype: Any) -> Any:
        """Return a wide column of zeros, which :meth:`send` takes. All members call it."""
        g, layout = self._g, self.layout
        memory, rank = g.member.shared_memory(), g.member.exchange.rank
        shared = None if memory is None else _share(memory, layout, rank, dtype)
        if shared is None:
            return g.column(0, dtype, layout.size)
        wide, self._publication = shared
        wide[:] = 0
        return wide

    def send(self, wide: Any, *, changes: bool = True) -> None:
        """Send the entries of a wide column to the members that read them. All members call it.

        The column begins with the values in the order of :meth:`take`; the other entries are set. With
        `changes`, the same messages add up the changes among the totals, over all members. A device has to
        compute these first, while otherwise this method does not wait for it.
        """
        if self._mirrors is None:
            return
        if self._publication is not None:
            self._publication.send()
        elif not changes:
            update_mirrors(self._mirrors, wide)
        if not changes:
            return
        totals = self.totals.read()
        sums = totals[CHANGES].tolist()
        if self._publication is None:
            totals[CHANGES] = update_mirrors(self._mirrors, wide, sums=sums).sums
        else:
            totals[CHANGES] = self._g.all_reduce(sums).sums
        self.totals.write(totals)

    def add_up(self, wide: Any, sums: Any) -> None:
        """Begin an iteration: set the sums of all rows, of weight times value as a whole number.

        Sums are in the order of :meth:`take`. On a device, they must be 0 before.
        """
        kernels = pull_kernels.of(wide)
        kernels.sum_contributions(
            self.rows, wide, sums, self.totals, threads=self._g.member.threads
        )

    def send_batch(self, wide: Any) -> None:
        """Send the entries of several wide columns; see :meth:`send`. All members call it.

        `wide` has the shape (``layout.size``, b).
        """
        exchange, layout = self._g.member.exchange, self.layout
        if self._mirrors is None:
            return
        own = wide[: len(layout.names)]
        pieces = [own if read is None else own[read] for read in layout.mirrored]
        pieces[exchange.rank] = own[:0]
        received = exchange.all_to_all([piece.ravel() for piece in pieces])
        mirrors = wide[layout.size - layout.slot_bounds[-1] :]
        for values, ends in zip(received, itertools.pairwise(layout.slot_bounds), strict=True):
            mirrors[slice(*ends)] = values.reshape(-1, wide.shape[1])

    def add_up_batch(self, wide: Any, sums: Any) -> None:
        """Set the sums of all rows for several columns; see :meth:`add_up`.

        `wide` is float64, and `sums` has the shape (n, b).
        """
        kernels = pull_kernels.of(wide)
        kernels.sum_batch(self.rows, wide, sums, threads=self._g.member.threads)


class Layout(NamedTuple):
    """The rows of a member, and the layout of its wide columns."""

    # Rows of the member's existing vertices, in the order of `names`. Ends are indices in a wide column.
    rows: Any
    names: Any  # array of integers, shape (n,). Positions of these vertices.
    size: int  # number of entries in a wide column
    # Array of int64, shape (V_p,), or None. Number of edges that leave each owned vertex. None for edges on
    # disk, which have it in their rows.
    leaving: Any | None
    has: Any  # array of bool, shape (V_p,). Which owned vertices exist.
    # See :class:`.Mirrors`.
    mirrored: list[Any]
    slot_bounds: list[int]
    bounds: list[int]
    # Array of int64, shape (1,), or None. Number of iterations along unsorted rows.
    pulled: Any = None

    def mirrors(self, exchange: Exchange) -> Mirrors:
        """Return the :class:`.Mirrors` that update the entries of other members' vertices."""
        return Mirrors(exchange, None, self.slot_bounds, self.bounds, self.mirrored)


def _share(memory: SharedMemory, layout: Layout, rank: int, dtype: Any) -> tuple[Any, Any] | None:
    """Return a wide column that members share, and what sends its entries; None without room."""
    low, high = layout.bounds[rank : rank + 2]
    begins = [high - low + bound for bound in layout.slot_bounds[:-1]]
    most, there = largest_of_all(memory, rank, layout.size, begins)
    columns = memory.columns((dtype, most))
    if columns is None:
        return None
    (column,) = columns
    mirrors = memory.mirrors(layout.mirrored, high - low, there)
    return column.own[: layout.size], mirrors.publication(column)


def _layout(g: GraphView) -> Layout:
    """Return a member's layout, which is made once and cached. All members call it at the same point."""
    shard, exchange = g.member.shard, g.member.exchange
    side = g.member.side("into")
    name = stored.hub_rows(side)

    def make() -> Layout:
        return _make_layout(shard.host, exchange, g.member.threads, side)

    host: Layout = kept_by_all(shard.host, exchange, name, make)
    shard.host.drop(stored.unsorted_rows(side))
    layout: Layout = shard.here(name, host)
    return layout


def _unsorted_layout(g: GraphView) -> Layout | None:
    """Return a layout along the rows of the graph, which is cached, while it does not pay to sort them."""
    shard, exchange, side = g.member.shard, g.member.exchange, g.member.side("into")
    if not g.member.alone or shard.on_device or shard.has(stored.hub_rows(side)):
        return None

    def make() -> Layout | None:
        if not shard.has(stored.OUT) or is_on_disk(shard.out.ends):
            return None
        rows, has = _rows(shard, exchange, g.member.threads, side), occurs(shard, exchange)
        return _in_order(rows, shard.degrees, has, g.member.threads)

    layout: Layout | None = shard.kept(stored.unsorted_rows(side), make)
    return None if layout is None or layout.pulled[0] >= PAYS else layout


def _in_order(rows: Any, leaving: Any, has: Any, threads: int) -> Layout | None:
    """Return the layout of a single member's rows in their order, without those that have no vertex.

    None for such rows on disk.
    """
    count = count_true(has)
    names, pulled = np.flatnonzero(has).astype(index_dtype(count)), np.zeros(1, np.int64)
    if count < len(has):
        if is_on_disk(rows.ends):
            return None
        place = np.cumsum(has, dtype=names.dtype) - names.dtype.type(1)
        ends = rows_kernels.of(place).renamed(rows.ends, place, threads=threads)
        rows = rows._replace(offsets=rows.offsets[np.append(names, len(has))], ends=ends)
    return Layout(rows, names, count, leaving, has, [None], [0, 0], [0, count], pulled)


def _make_layout(shard: Shard, exchange: Exchange, threads: int, side: str) -> Layout:
    # A device sorts edges by their final labels. On a host, it is faster to reorder rows by vertex, even if
    # they have to be made first: no bucket is too large for the cache.
    plain: Any = None if shard.on_device else _rows(shard, exchange, threads, side)
    if plain is None:
        source, target, weight = (
            entering(shard, exchange) if side == "into" else edges_of(shard.out, threads)
        )
        near = target - shard.low
    else:
        source, near = plain.ends, None
    kernels, alone = rows_kernels.of(source), exchange.size == 1
    # Rows on disk stay in the order of vertices, in which they can be read. Nothing needs to be counted.
    ordered = plain is not None and is_on_disk(source) and shard.has(stored.OUT)
    leaving: Any = None
    read: Any = None
    if not alone and ordered:
        read = marked(plain.ends, shard.size)
    elif not alone:
        read = kernels.degrees(source, count=shard.size, threads=threads)
    if ordered:
        has = occurs(shard, exchange)
    elif shard.has(stored.OUT):
        leaving, has = np.diff(shard.out.offsets), occurs(shard, exchange)
    else:
        ranges = itertools.pairwise(shard.bounds)
        counts = exchange.all_to_all([read[low:high] for low, high in ranges])
        leaving = sum(counts[1:], start=counts[0])
        exists = leaving > 0
        exists[np.flatnonzero(np.diff(plain.offsets)) if near is None else near] = True
        has = shard.kept(stored.OCCURS, lambda: exists)  # needed when the rows are gone
    hubs, count = not is_on_disk(source) and has_hubs(leaving), count_true(has)
    if alone and plain is not None and not hubs:
        unsorted = _in_order(plain, leaving, has, threads)
        if unsorted is not None:
            return unsorted
    weighed = has.view("int8") if ordered else leaving * (2 * hubs) + has
    labels = kernels.degree_labels(weighed)
    del weighed

    place: Any
    places: dict[str, Any]
    if alone:
        place, places = labels, {"mirrored": [None], "slot_bounds": [0, 0], "bounds": [0, count]}
    else:
        others = count_true(read[: shard.low] > 0) + count_true(read[shard.high :] > 0)
        every, elsewhere = exchange.all_reduce(sums=(count, others)).sums
        if elsewhere * MOST >= every * (exchange.size - 1):
            place, places = _full_column(shard, exchange, labels, count)
        else:
            place, places = _mirror_column(shard, exchange, labels, read, hubs)
    del read  # up to 8 bytes per vertex of all members
    size = places["bounds"][exchange.rank + 1] - places["bounds"][exchange.rank]
    size += places["slot_bounds"][-1]
    if plain is None:
        ends = labels[near], place[source], weight
        resources = exchange.resources
        rows = make_rows(*ends, first=0, count=count, columns=size, resources=resources)
    else:
        rows = kernels.relabelled(plain, labels, places=place, count=count, threads=threads)
    return Layout(rows, inverse(labels)[:count], size, leaving, has, **places)


def _rows(shard: Shard, exchange: Exchange, threads: int, side: str) -> Any:
    """Return the rows of the edges that enter or leave the range's vertices, numbered from 0."""
    name = stored.unsorted_rows(side)
    unsorted = shard.made(name) if shard.has(name) else None
    if unsorted is not None and len(unsorted.names) == shard.owned:
        return unsorted.rows
    rows = entered(shard, exchange) if side == "into" else shard.out
    if isinstance(rows, Edges):
        ends = rows.target - shard.low, rows.source, rows.weight
        size: dict[str, Any] = {"count": shard.owned, "columns": shard.size}
        rows = make_rows(*ends, **size, resources=exchange.resources)
    return rows._replace(first=0)


def _full_column(
    shard: Shard, exchange: Exchange, labels: Any, count: int
) -> tuple[Any, dict[str, Any]]:
    """Return the index of each vertex in a column of all vertices, and how such columns are exchanged."""
    every = exchange.all_gather(labels)
    counts = swap(exchange, [count] * exchange.size)
    sizes = [0 if q == exchange.rank else size for q, size in enumerate(counts)]
    slot_bounds = list(itertools.accumulate(sizes, initial=0))
    place = np.empty_like(labels, index_dtype(count + slot_bounds[-1]), shape=shard.size)
    for q, (low, high) in enumerate(itertools.pairwise(shard.bounds)):
        place[low:high] = every[q]
        if q != exchange.rank:
            place[low:high] += count + slot_bounds[q]
    bounds = list(itertools.accumulate(counts, initial=0))
    return place, {
        "mirrored": [None] * exchange.size,
        "slot_bounds": slot_bounds,
        "bounds": bounds,
    }


def _mirror_column(
    shard: Shard, exchange: Exchange, labels: Any, read: Any, hubs: bool
) -> tuple[Any, dict[str, Any]]:
    """Return the index of each vertex that is read in a column of mirrors, and how these are exchanged."""
    place = np.empty_like(labels, "int64", shape=shard.size)
    slots, slot_bounds = [], [0]
    for q, (low, high) in enumerate(itertools.pairwise(shard.bounds)):
        if q == exchange.rank:
            place[low:high], mirrors = labels, labels[:0]
        else:
            mirrors = np.flatnonzero(read[low:high])
            if hubs:
                by_reads = rows_kernels.of(labels).degree_labels(read[low:high][mirrors])
                mirrors[by_reads] = mirrors.copy()
            first = shard.owned + slot_bounds[-1]
            place[mirrors + low] = np.arange(first, first + len(mirrors), like=mirrors)
        slots.append(mirrors + low)
        slot_bounds.append(slot_bounds[-1] + len(mirrors))
    sent = Mirrors(exchange, np.concatenate(slots), slot_bounds, shard.bounds)
    size = shard.owned + slot_bounds[-1]
    return place.astype(index_dtype(size)), {
        "mirrored": [labels[mine] for mine in sent.mirrored],
        "slot_bounds": slot_bounds,
        "bounds": shard.bounds,
    }
