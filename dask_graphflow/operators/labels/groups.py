"""Communities as groups of neighbors with the same label, and the score of a group for a vertex.

The score of a label for a vertex is the sum of the weights of its edges to that group, less a penalty for
the mass of all vertices with that label. With degrees as masses, this is the gain of modularity; with
vertex counts, it is the gain of the constant Potts model (Traag et al. [1]_).

If edges have directions, the penalty of modularity is ``out * In + in * Out``, where ``out`` and ``in`` are
the degrees of a vertex, and ``Out`` and ``In`` those of all vertices with a label [2]_. It is half of
``mass * Mass - skew * Skew``, where the mass is the sum of both degrees, and the skew is ``out - in``.

Weights and masses are whole numbers whose sums are below 2**62, so scores have the same bits in every
order.

Each member stores the mass of every label, because vertices of other members can have any label. Changes of
masses are sent to all members. Members that share the memory of their devices apply each move to the labels
and masses of all members, so a sweep is one call of a kernel.

.. [1] V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
   communities", Scientific Reports 9, 2019.
.. [2] E. A. Leicht, M. E. J. Newman, "Community Structure in Directed Networks", Physical Review Letters
   100, 2008.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dask_graphflow.kernels import count_true, kernels_for
from dask_graphflow.kernels import groups as groups_kernels
from dask_graphflow.kernels.groups import SharedGroups
from dask_graphflow.operators.access import gather, own_part
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.priorities import priorities
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

from .labels import Labels

CLASSES = 8  # classes of vertices, as in the kernels; the vertices of one class move at a time
WAKE = EdgeOp("wake", target="awake", signal="1 if label[src] != label[dst] else 0", slot="max")


class Groups(Labels):
    """Labels of vertices, which are vertex numbers, and the masses of labels. All members create theirs.

    Parameters
    ----------
    g : GraphView
        Undirected.
    weights : array of int64, or None
        Weights of the edges in ``g.member.local("out")``; 1 each by default.
    mass : array of int64, shape (V_p,)
    skew : array of int64, shape (V_p,), or None
        None if edges have no directions.
    factor : float
        A label of mass L costs a vertex of mass m the score ``factor * m * L``. If it has the skew D and
        the vertex d, ``factor * d * D`` is added.
    room : dict
        Work space of the kernels.
    labels : array of index, shape (V_p,), optional
        By default each vertex has its own number.

    Attributes
    ----------
    labels : array of index, shape (V_p + mirrors,)
    load : array of int64, shape (V,)
        Mass of the vertices of each label, of all members.
    skew_load : array of int64, shape (V,), or None
        Their skew.
    """

    def __init__(
        self,
        g: GraphView,
        weights: Any,
        mass: Any,
        skew: Any,
        factor: float,
        room: dict[Any, Any],
        labels: Any = None,
    ) -> None:
        super().__init__(g, [g.member.local("out").rows._replace(weights=weights)], labels)
        self._mass, self._factor, self.room = mass, factor, room
        self._tables = room
        self.load, self._skew, self.skew_load = (
            g.column(0, "int64", g.member.shard.count),
            None,
            None,
        )
        every = gather(g, self.own)
        _add(self.load, every, gather(g, mass))
        if skew is not None:
            self.skew_load = g.column(0, "int64", g.member.shard.count)
            _add(self.skew_load, every, gather(g, skew))
            self._skew = skew, self.skew_load
        self._rows, self._together = self._sides[0], _share(g, room, skewed=skew is not None)
        if self._together is not None:
            self._rows = g.member.rows("out")._replace(weights=weights)
            slots = g.member.shard.slot_numbers("out", g.member.threads)
            self._names = np.concatenate([g.numbers, slots])

    @property
    def count(self) -> int:
        """Number of groups with mass, of all members."""
        return count_true(self.load > 0)

    def quality(self, total: int) -> float:
        """Return the sum of the scores of all groups, given the weight at both ends of all edges.

        All members call it.
        """
        g, part = self._g, own_part(self._g, len(self.load))
        kernels = groups_kernels.of(self.labels)
        between = kernels.weight_between(self._sides[0], self.labels, threads=g.member.threads)
        between = g.all_sum(between)
        # Every member has all loads, and squares a part of them.
        loads, most = self.load[part].astype("float64"), float(self.load.max())
        squares = loads * loads
        if self.skew_load is not None:
            skews = self.skew_load[part].astype("float64")
            squares -= skews * skews
        squares = g.total(squares, most**2, self.count)
        return total - between - self._factor * squares

    def sweep(self, draw: tuple[Any, int], awake: Any, within: Any = None) -> int:
        """Move vertices to the groups with the best scores, one class after another.

        A single member, and members that share memory, take all classes in one call of a kernel. All
        members call it.

        Parameters
        ----------
        draw : tuple
            The rank of each vertex, and a seed: they draw the vertices into classes.
        awake : array of int32, shape (V_p,)
            Which vertices can move. Without `within`, it is replaced by the neighbors
            of moved vertices, if they are in other groups.
        within : array of index, shape (V_p + mirrors,), optional
            If given, only neighbors with the same value as the vertex count. A vertex moves only while it
            is alone in its group, and does not join such a vertex of its class. So no group loses a vertex
            that connects it.

        Returns
        -------
        int
            Number of vertices that moved, over all members.
        """
        g = self._g
        with g.superstep("pull", 0, 0) as row:
            if row:  # only a trace needs these numbers
                looking = g.frontier(np.flatnonzero(awake))
                row |= {"frontier": len(looking), "edges": looking.leaving}
            if g.member.alone:
                return self._sweep_alone(draw, awake, within)
            if self._together is not None:
                return self._sweep_shared(draw, awake, within)
            return self._sweep_together(draw, awake, within)

    def _sweep_alone(self, draw: tuple[Any, int], awake: Any, within: Any) -> int:
        return self._sweep(self.labels, self.load, draw, awake, within, self._skew)

    def _sweep_shared(self, draw: tuple[Any, int], awake: Any, within: Any) -> int:
        """Copy what the sweep changes to the columns that the members share, sweep, and copy it back."""
        assert self._together is not None
        g, shared, names = self._g, self._together, self._names
        own, skew = slice(g.member.shard.low, g.member.shard.high), self._skew
        columns = shared.awake, shared.labels, shared.load
        looking, labels, load = (column.own[: g.size] for column in columns)
        looking[own], labels[names], load[:] = awake, self.labels, self.load
        if skew is not None:
            skew = skew[0], shared.skew_load.own[: g.size]
            skew[1][:] = self.skew_load
        if within is not None:
            wide, within = within, np.empty_like(labels)
            within[names] = wide
        count = self._sweep(labels, load, draw, looking, within, skew)
        awake[:], self.labels[:], self.load[:] = looking[own], labels[names], load
        if self.skew_load is not None:
            self.skew_load[:] = shared.skew_load.own[: g.size]
        return count

    def _sweep(self, labels: Any, load: Any, draw: Any, awake: Any, within: Any, skew: Any) -> int:
        count: int = groups_kernels.of(awake).sweep(
            self._rows,
            labels,
            (self._mass, load, self._factor),
            draw,
            awake,
            within,
            skew,
            room=self._tables,
            threads=self._g.member.threads,
            shared=self._together,
        )
        return count

    def _sweep_together(self, draw: tuple[Any, int], awake: Any, within: Any) -> int:
        g, movers, count = self._g, [], 0
        vertices, cuts = _classes(np.flatnonzero(awake), *draw)
        for low, high in itertools.pairwise(cuts):
            moved, moved_by_all = self._move(vertices[low:high], within)
            movers.append(moved)
            count += moved_by_all
        if count and within is None:
            awake[:] = 0
            following = g.frontier(np.concatenate(movers).astype(g.index))
            Advance(g.quiet, WAKE, {"awake": awake, "label": self.own}).push(following)
        return count

    def _move(self, vertices: Any, within: Any) -> tuple[Any, int]:
        """Move a class of vertices; return those that moved, and their number over all members."""
        limits = None
        if within is not None:
            own = self._g.numbers[vertices]
            alone = (self.own[vertices] == own) & (self.load[own] == self._mass[vertices])
            closed = np.zeros_like(self.load, "bool")
            closed[gather(self._g, own[alone])] = True
            vertices, limits = vertices[alone], (within, closed)
        best = self.best(vertices, (self._mass, self.load, self._factor), limits, self._skew)
        moves = np.flatnonzero(best != self.own[vertices])
        vertices, best = vertices[moves], best[moves]
        mass, before = self._mass[vertices], self.own[vertices]
        sent = [before, best, -mass, mass]
        if self._skew is not None:
            skew = self._skew[0][vertices]
            sent += [-skew, skew]
        for part in self._g.member.exchange.all_gather(np.concatenate(sent)):  # int64
            labels, mass, *skew = part.reshape(len(sent) // 2, -1)
            _add(self.load, labels, mass)
            if skew:
                _add(self.skew_load, labels, *skew)
        return vertices, self.change(vertices, best)


def _share(g: GraphView, room: dict[Any, Any], *, skewed: bool) -> SharedGroups | None:
    """Return what the members share to sweep together, if they share memory. All members call it.

    The columns are kept in `room`. Coarser graphs, which have fewer vertices, use a part of them.
    """
    memory, name = g.member.shared_memory(), ("shared", g.index)
    if memory is None:
        return None
    if name not in room:
        dtypes = "int32", g.index, "int64", "bool", *["int64"] * skewed
        columns = memory.columns(*((dtype, g.size) for dtype in dtypes))
        if columns:
            columns[3].own[:] = False
        room[name] = columns
    if not room[name]:
        return None
    awake, labels, load, alone, *skew_load = room[name]
    return SharedGroups(memory, awake, labels, load, skew_load[0] if skewed else None, alone)


def _add(sums: Any, labels: Any, values: Any) -> None:
    kernels_for(values).namespace.add.at(sums, labels, values)


def _classes(vertices: Any, ranks: Any, seed: int) -> tuple[Any, list[int]]:
    """Draw vertices into classes; return them sorted by class, and the bounds of the classes."""
    drawn = (priorities(ranks[vertices], seed) & (CLASSES - 1)).astype("uint8")
    cuts = np.cumsum(np.bincount(drawn, minlength=CLASSES)).tolist()
    return vertices[np.argsort(drawn, kind="stable")], [0, *cuts]
