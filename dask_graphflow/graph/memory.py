"""Estimates of the bytes of memory that a worker needs, from the sizes of a graph."""

from __future__ import annotations

from typing import NamedTuple

from dask_graphflow.kernels import disk, index_dtype

from .blocks import BLOCK
from .make_rows import ENTRY, MOST, PIECE, SCRATCH, rows_bytes

OFFSET = 8
KEY = 8  # bytes of the sort key of a row entry, or of both ends of an edge from another member
BLOCKS = 8  # number of blocks in which a device makes rows, with two copies of a block's keys
BLOCK_ENTRY = 32  # bytes per entry of a block of rows on disk while array code reads it
COPIES = 1  # most copies of the rows that the four usual calls make
TABLE = 28  # bytes per distinct id in the hash tables of :mod:`.host_distinct`, and in their result
BUFFER = 16  # bytes per id of the buffers of :mod:`.host_distinct`, which deals some ids at a time
SORTED = 60  # bytes per id while ids are sorted
FACTORIZED = 24  # bytes per id, beside a copy of it, while pandas numbers ids that are not integers
DEALT = 24  # bytes per edge of a piece while it is dealt to members, or to ranges of rows
GIANT = 3.2  # bytes per vertex on a device: bits, counts, lists of edges outside the largest tree


def index_bytes(vertices: int) -> int:
    """Return the bytes of one vertex index."""
    return 4 if index_dtype(vertices) == "int32" else 8


def components_bytes(
    vertices: int, chunk: int, *, members: int = 1, device: bool = False, id_bytes: int = 8
) -> int:
    """Return the bytes that a worker needs for connected components.

    They consist of a forest, which stores a parent and a mark per vertex; with several workers, of another
    forest that is merged into it; and of a partition of edges.

    Parameters
    ----------
    vertices, chunk, members : int
        V, the number of edges per partition, and the number of workers.
    device : bool
        Whether the forest is on a GPU, where the vertices of the largest tree are marked.
    id_bytes : int
        Bytes of one end of an edge.
    """
    forest = vertices * (index_bytes(vertices) + 1)
    giant = int(GIANT * vertices) if device else 0
    return forest * min(members, 2) + giant + 2 * id_bytes * chunk


def graph_bytes(
    vertices: int,
    edges: int,
    scratch: int,
    copies: int,
    *,
    edge: int = 0,
    listed: float = 0.0,
    share: float = 1.0,
    remote: float = 0.0,
    directed: bool = True,
    weight_bytes: int = 0,
    id_bytes: int = 8,
    device: bool = False,
    built: bool = False,
) -> int:
    """Return the peak memory, in bytes, that a worker needs for its part of a graph and an algorithm.

    Rows take an offset per vertex, and an index (and a weight) per entry. An undirected edge has two
    entries. A directed graph stores rows for both directions. The peak is reached either while rows are
    built, with keys to sort them, or while the algorithm runs. Unless `built` is set, the input edges are
    counted the whole time, because the caller may keep them.

    Parameters
    ----------
    vertices, edges : int
        V and E.
    scratch : int
        Bytes per vertex that the algorithm keeps, including the result.
    copies : int
        Copies of the rows that the algorithm makes.
    edge : int
        Further bytes per edge that the algorithm keeps.
    listed : float
        Bytes of all rows that the algorithm lists.
    share : float
        The worker's fraction of the vertices and edges.
    remote : float
        Number of vertices of other workers that it reads; see :func:`.model.remote`.
    directed : bool
    weight_bytes, id_bytes : int
        Bytes of a weight, and of an end of an edge as it is read.
    device : bool
        Whether the graph is on a GPU, where rows are made block by block.
    built : bool
        Whether the rows of leaving edges exist already; then these and the input edges are not counted.
    """
    entries, index = edges * (1 if directed else 2) * share, index_bytes(vertices)
    rows = OFFSET * vertices * share + (index + weight_bytes) * entries
    directions = 2 if directed else 1
    given = (2 * id_bytes + weight_bytes) * edges * share
    keys = (KEY + weight_bytes) * entries * (2 / BLOCKS if device else 1)
    # The other direction is made from the first, after writing out the other end of each edge.
    building = keys + rows * directions + (index * entries if directed else 0)
    running = rows * (directions + copies) + scratch * (vertices * share + remote)
    running += (edge * edges + listed) * share
    return int(running - rows if built else given + max(building, running))


def build_bytes(edges: float, *, directed: bool, weight_bytes: int) -> float:
    """Return the bytes that the build of a graph in memory takes at most, whatever its ids are.

    These are the ends of each edge as they are read, and the entries of the rows while they are sorted.
    """
    entries = 1 if directed else 2
    return edges * (2 * KEY + weight_bytes + entries * 2 * (4 + weight_bytes))


class OnDisk(NamedTuple):
    """What a worker needs for its part of a graph on disk.

    Attributes
    ----------
    memory, files : int
        Peak memory and peak size of the files, in bytes.
    """

    memory: int
    files: int


def graph_bytes_on_disk(
    vertices: int,
    edges: int,
    scratch: int,
    copies: int,
    *,
    edge: int,
    listed: float,
    share: float,
    remote: float,
    directed: bool,
    weight_bytes: int,
    id_bytes: int,
    read: int,
    pages: int,
    built: bool,
) -> OnDisk:
    """Return what a worker needs for its part of a graph on disk and an algorithm.

    Memory is needed for what belongs to vertices, for the partitions that are being read, for a range of
    vertices while its rows are made (:mod:`.make_rows`), and for mapped pages. Files are needed for the
    edges as they are read, for their ends as numbers, for these ends in ranges, which are deleted while
    rows are written, for the rows with their offsets, and for degrees.

    Parameters
    ----------
    vertices, edges, scratch, copies, listed, share, remote, directed, weight_bytes, id_bytes, built
        See :func:`graph_bytes`.
    edge : int
        Bytes of memory per entry of the rows that the algorithm needs.
    read : int
        Number of edges in the partitions that the worker reads at a time.
    pages : int
        Bytes that mapped pages may take.
    """
    index, directions = index_bytes(vertices), 2 if directed else 1
    entries = edges * (1 if directed else 2)
    given, ends = 2 * id_bytes + weight_bytes, 2 * index + weight_bytes
    rows = OFFSET * vertices + (index + weight_bytes) * entries
    files = OFFSET * vertices + rows * (directions + copies)
    if not built:
        read_ends = given + (0 if id_bytes == index else ends)
        files = max(files, read_ends * edges + ends * entries)
    # These do not depend on the share, except for small graphs.
    one_range = 0 if built else ENTRY * min(entries, max(pages / ENTRY, entries / MOST))
    buffers = max(BLOCK_ENTRY * min(entries, BLOCK), one_range, 0 if built else given * read)
    own = scratch * vertices + edge * entries + listed
    needed = min(pages, files) + buffers + scratch * remote + own * share
    return OnDisk(int(needed), int((files - rows * built) * share))


class Part(NamedTuple):
    """What a member of a build reads of a graph, and the memory that its steps take.

    Attributes
    ----------
    edges, vertices : float
        Number of edges that the member reads, and of vertices of the whole graph.
    id_bytes : float
        Bytes of an end of an edge as it is read.
    weight_bytes : int
    pieces, largest : int
        Number of pieces that the member reads, and the number of edges of the largest one.
    members : int
    directed, on_disk : bool
    integers, dense : bool
        Whether ids are integers, and whether they are close together.
    same : bool
        Whether the ids themselves are the numbers of the vertices.
    kept : bool
        Whether the frame of the edges stays in memory after the build.
    """

    edges: float
    vertices: float
    id_bytes: float
    weight_bytes: int
    pieces: int
    largest: int
    members: int
    directed: bool
    on_disk: bool
    integers: bool
    dense: bool
    same: bool
    kept: bool

    @property
    def given(self) -> float:
        """Bytes of the pieces in memory."""
        return 0 if self.on_disk else self.edges * (2 * self.id_bytes + self.weight_bytes)

    @property
    def number_bytes(self) -> int:
        """Bytes of the number of a vertex."""
        return index_bytes(int(self.vertices))

    @property
    def numbers(self) -> float:
        """Bytes of the numbers of the ends in memory, beside the pieces."""
        return 0 if self.on_disk or self.same else 2 * self.number_bytes * self.edges

    @property
    def ids(self) -> float:
        """Bytes of the ids of the member's vertices."""
        return 0 if self.dense else self.id_bytes * self.vertices / self.members

    @property
    def entries(self) -> float:
        """Number of entries of the member's rows."""
        return self.edges * (1 if self.directed else 2)

    def numbering(self) -> float:
        """Return the bytes that numbering takes at most, beside the pieces."""
        if self.dense:
            return self.numbers
        ends = 2 * self.edges
        if self.members == 1 and not self.on_disk:
            return max(
                self._distinct(ends), self.number_bytes * ends + self._sorting(), 2 * self.numbers
            )
        found = min(ends, self.pieces * self.vertices)
        piece = found * self.id_bytes + self._distinct(2 * self.largest)
        union = max(
            found * self.id_bytes + self._distinct(found),
            self.number_bytes * found + self._sorting(),
        )
        return self.numbers + max(piece, union)

    def _distinct(self, ids: float) -> float:
        """Return the bytes that a copy of ids takes, and their numbers while these are given."""
        if self.integers:
            from dask_graphflow.kernels import host_distinct  # imports Numba

            tables = TABLE * min(ids, self.vertices) + BUFFER * min(ids, host_distinct.ROUND)
            return ids * (self.id_bytes + index_bytes(int(ids))) + tables
        return ids * (self.id_bytes + FACTORIZED)

    def _sorting(self) -> float:
        return (SORTED + self.id_bytes) * self.vertices

    def making(self) -> float:
        """Return the bytes that dealing the numbered edges, and making rows of them, takes at most."""
        vertices, alone = self.vertices / self.members, self.members == 1
        if self.on_disk:
            one_range = ENTRY * min(self.entries, max(disk.budget() / ENTRY, self.entries / MOST))
            return max(DEALT * min(self.largest, PIECE), one_range)
        width = self.number_bytes + self.weight_bytes
        made = rows_bytes(self.entries, vertices, self.vertices, self.weight_bytes)
        # An undirected edge goes to the owners of both its ends. The numbers are freed meanwhile.
        arrived = self.edges * (1 if self.directed else 2 - 1 / self.members)
        dealt = 0 if alone else (self.number_bytes + width) * arrived
        return max(made + dealt - (0 if alone else self.numbers), dealt + DEALT * self.largest)

    def running(self) -> float:
        """Return the bytes that the graph and one of the four usual calls take."""
        vertices = self.vertices / self.members
        columns = self.ids + SCRATCH * vertices
        if self.on_disk:
            return columns + BLOCK_ENTRY * min(self.entries, BLOCK) + disk.LEAST_PAGES
        rows = OFFSET * vertices + (self.number_bytes + self.weight_bytes) * self.entries
        return columns + rows * ((2 if self.directed else 1) + COPIES)

    def needed(self) -> float:
        """Return the bytes that the build takes at most, and then the graph and a usual call."""
        making = self.ids + self.numbers + self.making()
        building = self.given + max(self.numbering(), making)
        return max(building, self.running() + self.given * self.kept)
