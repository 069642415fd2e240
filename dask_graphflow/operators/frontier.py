"""The frontier of a superstep: a set of vertices, of one member or of all.

A :class:`VertexSet` is made from a list of vertices or a bitmap of all vertices. It is converted to the
other form when that is needed: push uses the list, pull the bitmap. A set is immutable.
"""

from __future__ import annotations

from typing import Any

from dask_graphflow.kernels import advance as advance_kernels
from dask_graphflow.kernels import index_dtype

SMALL = 1 << 15  # maximum number of edges, over all members, that leave a small frontier


class VertexSet:
    """A set of vertices.

    Parameters
    ----------
    size : int
        Number of vertices in the graph.
    vertices : ndarray of integers, shape (f,), optional
        The vertices in the set, each once. Either this or `words` is required.
    words : ndarray of uint64, shape (ceil(size / 64),), optional
        The set as a bitmap: vertex v is bit ``v % 64`` of word ``v // 64``.
    count : int, optional
        Number of vertices in the bitmap, if known.
    edges : tuple of (array, int), optional
        The degrees of all vertices, and the sum of the degrees of those in the set, if known.

    Examples
    --------
    >>> import numpy as np
    >>> frontier = VertexSet(100, vertices=np.array([2, 64]))
    >>> len(frontier), frontier.words.tolist()
    (2, [4, 1])
    >>> VertexSet(100, words=frontier.words).vertices.tolist()
    [2, 64]
    """

    __slots__ = ("_count", "_edges", "_vertices", "_words", "size")

    def __init__(
        self,
        size: int,
        *,
        vertices: Any = None,
        words: Any = None,
        count: int | None = None,
        edges: tuple[Any, int] | None = None,
    ) -> None:
        self.size = size
        self._vertices, self._words = vertices, words
        self._count = count if vertices is None else len(vertices)
        self._edges = edges  # the degrees last passed, and their sum

    def __len__(self) -> int:
        if self._count is None:
            self._count, _ = advance_kernels.of(self._words).tally(self._words)
        return self._count

    @property
    def sparse(self) -> bool:
        """Whether the list already exists."""
        return self._vertices is not None

    @property
    def vertices(self) -> Any:
        """The vertices as a list; ascending if it was made from the bitmap."""
        if self._vertices is None:
            self._vertices = advance_kernels.of(self._words).from_words(
                self._words, index_dtype(self.size), self._count
            )
        return self._vertices

    @property
    def words(self) -> Any:
        """The vertices as a bitmap."""
        if self._words is None:
            self._words = advance_kernels.of(self._vertices).to_words(self._vertices, self.size)
        return self._words

    def edges(self, degrees: Any) -> int:
        """Return the sum of the vertices' degrees, given the degrees of all vertices of the graph."""
        if self._edges is None or self._edges[0] is not degrees:
            if self._vertices is None:
                kernels = advance_kernels.of(self._words)
                self._count, total = kernels.tally(self._words, degrees)
            else:
                kernels = advance_kernels.of(self._vertices)
                total = kernels.sum_degrees(self._vertices, degrees)
            self._edges = degrees, total
        return self._edges[1]

    def known_edges(self, degrees: Any) -> int | None:
        """Return what :meth:`edges` returns if no kernel has to compute it; None otherwise."""
        return self._edges[1] if self._edges is not None and self._edges[0] is degrees else None


class Frontier:
    """A set of vertices over all members; each vertex is listed by its owner.

    Its length is the number of vertices over all members.

    Parameters
    ----------
    own : VertexSet, or None
        This member's vertices in the set; None for all vertices.
    count, leaving : int
        Number of vertices over all members, and number of edges that leave them.
    """

    __slots__ = ("_count", "leaving", "own")

    def __init__(self, own: VertexSet | None, count: int, leaving: int) -> None:
        self.own, self._count, self.leaving = own, count, leaving

    @classmethod
    def of(cls, vertices: Any, size: int, count: int, leaving: int) -> Frontier:
        """Return the frontier of this member's vertices, of `size`, and of those of the other members."""
        return cls(VertexSet(size, vertices=vertices), count, leaving)

    def __len__(self) -> int:
        return self._count

    @property
    def small(self) -> bool:
        """Whether so few edges leave it that a superstep takes as long as its round of messages."""
        return self.leaving <= SMALL

    @property
    def vertices(self) -> Any:
        """Positions of this member's vertices in the set."""
        assert self.own is not None, "a frontier of all vertices has no list"
        return self.own.vertices
