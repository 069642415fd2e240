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
TABLE = 76  # bytes per distinct id in hash tables, and while what is in the tables is sorted
HASHED = 8  # bytes per id, at most, of the block that :mod:`.distinct.host` deals to parts
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
    """Return the bytes that a worker needs for connected components, with `chunk` edges per partition.

    They consist of a forest, which stores a parent and a mark per vertex; with several workers, of another
    forest that is merged into it; and of a partition of edges. A forest on a GPU also marks the vertices of
    the largest tree.
    """
    forest = vertices * (index_bytes(vertices) + 1)
    giant = int(GIANT * vertices) if device else 0
    return forest * min(members, 2) + giant + 2 * id_bytes * chunk


def build_bytes(edges: float, *, directed: bool, weight_bytes: int) -> float:
    """Return the bytes that the build of a graph in memory takes at most, whatever its ids are.

    These are the ends of each edge as they are read, and the entries of the rows while they are sorted.
    """
    entries = 1 if directed else 2
    return edges * (2 * KEY + weight_bytes + entries * 2 * (4 + weight_bytes))


class Part(NamedTuple):
    """A member's part of a graph, and the memory that a build and a call take of its worker."""

    # Number of edges that the member reads, and of vertices of the whole graph.
    edges: float
    vertices: float
    id_bytes: float  # bytes of an end of an edge as it is read
    weight_bytes: int
    directed: bool
    # Number of pieces that the member reads, and the number of edges of the largest one.
    pieces: int = 1
    largest: int = 0
    members: int = 1
    on_disk: bool = False
    # Whether ids are integers, and whether they are close together.
    integers: bool = True
    dense: bool = True
    same: bool = False  # whether the ids themselves are the numbers of the vertices
    kept: bool = False  # whether the frame of the edges stays in memory after the build
    # Whether the graph is on a GPU, where rows are made block by block, and whether the rows of leaving
    # edges exist already.
    device: bool = False
    built: bool = False
    # The member's fraction of the vertices; the same for all members by default.
    share: float | None = None
    # Bytes per vertex and copies of the rows that an algorithm keeps. By default, most of the four usual
    # calls.
    scratch: int = SCRATCH
    copies: int = COPIES
    # Further bytes per edge (on disk, per entry) that it keeps, and bytes of all rows that it lists.
    edge: float = 0.0
    listed: float = 0.0
    remote: float = 0.0  # number of vertices of other members that the member reads
    read: int = 0  # number of edges that the worker reads at a time, if the graph is on disk
    pages: int | None = None  # bytes that mapped pages of files may take

    @property
    def fraction(self) -> float:
        """The member's fraction of the vertices."""
        return 1 / self.members if self.share is None else self.share

    @property
    def piece_bytes(self) -> float:
        """Bytes of the pieces in memory."""
        return 0 if self.on_disk else self.edge_bytes * self.edges

    @property
    def edge_bytes(self) -> float:
        """Bytes of an edge as it is read."""
        return 2 * self.id_bytes + self.weight_bytes

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
        return 0 if self.dense else self.id_bytes * self.vertices * self.fraction

    @property
    def entries(self) -> float:
        """Number of entries of the member's rows."""
        return self.edges * (1 if self.directed else 2)

    @property
    def rows(self) -> float:
        """Bytes of the member's rows in one direction."""
        entry = self.number_bytes + self.weight_bytes
        return OFFSET * self.vertices * self.fraction + entry * self.entries

    @property
    def copied(self) -> int:
        """Number of times that the rows are kept. A directed graph has rows for both directions."""
        return (2 if self.directed else 1) + self.copies

    def numbering(self) -> float:
        """Return the bytes that numbering takes at most, beside the pieces."""
        if self.dense or self.device:
            return self.numbers
        ends = 2 * self.edges
        if self.members == 1 and not self.on_disk:
            copy = HASHED if self.integers else self.number_bytes
            return max(self._distinct(ends), copy * ends + self._sorting(), 2 * self.numbers)
        found = min(ends, self.pieces * self.vertices)
        piece = found * self.id_bytes + self._distinct(2 * self.largest)
        union = max(
            found * self.id_bytes + self._distinct(found),
            self.number_bytes * found + self._sorting(),
        )
        return self.numbers + max(piece, union)

    def _distinct(self, ids: float) -> float:
        """Return the bytes that a copy of ids takes, and their numbers while these are given."""
        different = min(ids, self.vertices)
        integers = HASHED + index_bytes(int(different))
        return ids * (integers if self.integers else self.id_bytes + FACTORIZED) + TABLE * different

    def _sorting(self) -> float:
        return (SORTED + self.id_bytes) * self.vertices

    def making(self) -> float:
        """Return the bytes that dealing the numbered edges, and making rows of them, takes at most."""
        alone = self.members == 1
        if self.on_disk:
            most = (self.pages or disk.budget()) / ENTRY
            one_range = ENTRY * min(self.entries, max(most, self.entries / MOST))
            return max(DEALT * min(self.largest, PIECE), one_range)
        width = self.number_bytes + self.weight_bytes
        if self.device:
            made = self.rows + (KEY + self.weight_bytes) * self.entries * 2 / BLOCKS
        else:
            own = self.vertices * self.fraction
            made = rows_bytes(self.entries, own, self.vertices, self.weight_bytes)
        # An undirected edge goes to the owners of both its ends. The numbers are freed meanwhile.
        arrived = self.edges * (1 if self.directed else 2 - self.fraction)
        dealt = 0 if alone else (self.number_bytes + width) * arrived
        return max(made + dealt - (0 if alone else self.numbers), dealt + DEALT * self.largest)

    def running(self) -> float:
        """Return the bytes that the graph and a call take."""
        vertices = self.vertices * self.fraction
        columns = self.ids + self.scratch * (vertices + self.remote) + self.listed * self.fraction
        if self.on_disk:
            pages = disk.LEAST_PAGES if self.pages is None else min(self.pages, self.files())
            buffers = max(BLOCK_ENTRY * min(self.entries, BLOCK), self.edge_bytes * self.read)
            return columns + self.edge * self.entries + buffers + pages
        return columns + self.edge * self.edges + self.rows * self.copied

    def files(self) -> float:
        """Return the bytes of all files of a graph on disk: rows, degrees, and edges while rows are made.

        The edges are written as they are read, by their numbers, and again in ranges of their ends.
        """
        written = OFFSET * self.vertices * self.fraction + self.rows * self.copied
        if self.built:
            return written - self.rows
        ends = 2 * self.number_bytes + self.weight_bytes
        read = self.edge_bytes + (0 if self.id_bytes == self.number_bytes else ends)
        return max(written, read * self.edges + ends * self.entries)

    def needed(self) -> float:
        """Return the bytes that the build takes at most, and then the graph and a call."""
        if self.built:
            return self.running() - (0 if self.on_disk else self.rows)
        making = self.ids + self.numbers + self.making()
        building = self.piece_bytes + max(self.numbering(), making)
        return max(building, self.running() + self.piece_bytes * self.kept)
