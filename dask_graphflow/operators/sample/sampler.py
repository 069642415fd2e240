"""Random choices among the edges that leave vertices.

A choice depends only on a key and on the row of a vertex, in which edges are in the order of the ids. It is
therefore the same for every partitioning, number of members and threads, and on the host and a device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph import stored
from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import check_room, disk, kernels_for
from dask_graphflow.kernels import sample as sample_kernels
from dask_graphflow.operators.access import by_rank, places_of, send_rows
from dask_graphflow.operators.view import GraphView

# Number of candidates per walk in the first round of a step, and the maximum in any round.
FIRST, MOST = 4, 1024
EDGE_BYTES = 16  # bytes of two indices per sampled edge


class Sampler:
    """Draws edges that leave owned vertices. All members create theirs.

    Parameters
    ----------
    weighted : bool
        Whether edges are drawn in proportion to their weights. An edge with weight 0 is never drawn.

    Attributes
    ----------
    rows : Rows
        Rows of owned vertices, by position. Ends are vertex numbers.
    sums : array of int64, or None
        Cumulative weights of each row; see :meth:`.SampleKernels.cumulate`.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN. All members raise it.
    """

    def __init__(self, g: GraphView, *, weighted: bool) -> None:
        self._g = g
        self.rows = g.member.rows("out")._replace(first=0)
        shard = g.member.shard
        if shard.placed is not None:  # ends are places, but in the order of their numbers
            host = shard.host
            ends = host.kept(
                stored.NUMBERS_OF_ENDS, lambda: host.numbers_at(host.out.ends, g.member.threads)
            )
            self.rows = self.rows._replace(ends=shard.here(stored.NUMBERS_OF_ENDS, ends))
        self._kernels = sample_kernels.of(self.rows.ends)
        self.sums = None
        if weighted and g.weighted:
            assert g.weighted_degrees is not None  # raises if a weight is not allowed
            self.sums = shard.kept(
                stored.SUMS_OF_WEIGHTS,
                lambda: self._kernels.cumulate(self.rows, threads=g.member.threads),
            )

    def find(self, numbers: Any) -> tuple[Any, Any]:
        """Return the rank of the member that owns each vertex, and its position there."""
        shard, places = self._g.member.shard, places_of(self._g, numbers)
        if self._g.member.alone:
            return np.zeros_like(places), places
        owners = shard.owners(places)
        return owners, places - np.asarray(shard.bounds, like=places)[owners]

    def send_to_owners(self, numbers: Any, *columns: Any) -> list[Any]:
        """Send rows to the owners of some vertices. All members call it.

        Returns the positions of the vertices that this member receives, followed by the other columns.
        """
        owners, positions = self.find(numbers)
        send = send_rows(self._g.member.exchange, owners)
        return [send(column) for column in (positions, *columns)]

    def edges(
        self, vertices: Any, keys: Any, count: int, *, replace: bool = False
    ) -> tuple[Any, Any]:
        """Return random edges that leave owned vertices.

        Parameters
        ----------
        vertices : array of integers, shape (f,)
            Positions; any of them can repeat.
        keys : array of int64, shape (f,)
        count : int
            Number of edges to draw for each vertex; -1 takes all edges.
        replace : bool
            Whether an edge can be drawn several times. If not, a vertex gets at most its number of edges.

        Returns
        -------
        items : array of int64, shape (e,)
            Index of the vertex of each edge in `vertices`, ascending.
        targets : array of index, shape (e,)
            Number of the vertex at its other end.
        """
        degrees = self._g.degrees[vertices]
        drawn = degrees if count < 0 else np.minimum(degrees, count)
        if replace and count > 0:
            drawn = (degrees > 0) * count
        check_room(
            kernels_for(drawn),
            EDGE_BYTES * float(drawn.sum(dtype="float64")),
            "a sample of edges",
            "Give smaller fanouts, or fewer seeds at a time",
        )
        first = offsets_of(drawn)
        edges, items = self._kernels.pick_edges(
            self.rows,
            vertices,
            keys.view("uint64"),
            count,
            replace,
            first,
            threads=self._g.member.threads,
        )
        return items, disk.read_by_page(self.rows.ends)[edges]

    def walks(
        self,
        starts: Any,
        keys: Any,
        length: int,
        bias: np.ndarray,
        *,
        first: int = 0,
        before: Any = None,
    ) -> Any:
        """Return random walks; only for a graph with one member. See :meth:`.SampleKernels.walk`."""
        assert self._g.member.alone, "walks of several members go on step by step"
        return self._kernels.walk(
            self.rows, self.sums, starts, keys.view("uint64"), length, bias, first=first,
            before=before, threads=self._g.member.threads,
        )  # fmt: skip

    def next_vertices(
        self, vertices: Any, before: Any, keys: Any, step: int, bias: np.ndarray
    ) -> Any:
        """Return the next vertex of each walk that is at an owned vertex. All members call it.

        A candidate may depend on whether the previous vertex has an edge to it. The owner of the previous
        vertex answers this. Each round proposes twice as many candidates per walk as the previous round, so
        there are few rounds.

        Parameters
        ----------
        vertices : array of integers, shape (w,)
            Positions.
        before : array of index, shape (w,)
            Number of the previous vertex of each walk, or -1.
        keys : array of int64, shape (w,)
        step : int
        bias : ndarray of float64, shape (4,)
            See :meth:`.SampleKernels.walk`.

        Returns
        -------
        array of index, shape (w,)
            Numbers; -1 at the end of a walk.
        """
        following, attempts = np.empty_like(before), np.zeros_like(keys)
        left, slots = np.arange(len(following), like=keys), FIRST
        while True:
            made = attempts[left]
            tests, decided = self._kernels.propose(
                self.rows, self.sums, vertices[left], before[left], keys[left].view("uint64"), step,
                bias, made, slots, threads=self._g.member.threads,
            )  # fmt: skip
            if step == 1 or bias[2] == bias[3]:  # no candidate needs a test
                return decided
            attempts[left] = made
            passed = self._test_candidates(tests, before[left], bias)
            if len(left):
                row, first = np.arange(len(left), like=left), np.argmax(passed, axis=1)
                decided = np.where(passed[row, first], tests[row, first], decided)
            following[left] = decided
            left = left[decided == self._kernels.OPEN]
            if not self._g.all_sum(len(left)):
                return following
            slots = min(2 * slots, MOST)

    def _test_candidates(self, tests: Any, before: Any, bias: np.ndarray) -> Any:
        """Return which candidates a walk may take: array of bool, shape (w, slots)."""
        at = np.flatnonzero(tests >= 0)
        passed = np.zeros_like(tests, "bool", shape=(tests.size,))
        passed[at] = self._test_edges(before[at // tests.shape[1]], tests.ravel()[at])
        passed[at] ^= not bias[2] > bias[3]
        return passed.reshape(tests.shape)

    def _test_edges(self, numbers: Any, others: Any) -> Any:
        """Return whether vertices of any member have edges to others. All members call it."""
        exchange = self._g.member.exchange
        owners, positions = self.find(numbers)
        pieces = by_rank(exchange, owners)
        asked = exchange.all_to_all([positions[piece] for piece in pieces])
        about = exchange.all_to_all([others[piece] for piece in pieces])
        answers = [
            self._kernels.connected(self.rows, *pair, threads=self._g.member.threads)
            for pair in zip(asked, about, strict=True)
        ]
        received = np.concatenate(exchange.all_to_all([answer.view("uint8") for answer in answers]))
        connected = np.empty_like(received)
        connected[np.concatenate(pieces)] = received
        return connected.view("bool")
