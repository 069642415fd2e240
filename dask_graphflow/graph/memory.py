"""Memory: the bytes that a worker needs, from the sizes of a graph."""

from __future__ import annotations

from dask_graphflow.kernels import index_dtype

__all__ = ["components_bytes", "graph_bytes", "index_bytes"]

OFFSET = 8
KEY = 8  # what an entry of a row is sorted by, or both ends of an edge that another member sent
BLOCKS = 8  # a device makes rows in so many, with two copies of a block's keys
GIANT = 3.2  # bytes a vertex on a device: bits, counts and lists of edges outside the largest tree


def index_bytes(vertices: int) -> int:
    """Return the bytes of an index of a vertex."""
    return 4 if index_dtype(vertices) == "int32" else 8


def components_bytes(
    vertices: int, chunk: int, *, members: int = 1, device: bool = False, id_bytes: int = 8
) -> int:
    """Return the bytes that a worker needs for connected components.

    A forest: a parent and a mark a vertex; another one that is merged into it, where there are several
    workers; and a chunk of edges.

    Parameters
    ----------
    vertices, chunk, members : int
        V, edges of a partition, and workers.
    device : bool
        Whether it lies on a GPU, where the largest tree's vertices are marked.
    id_bytes : int
        Of an end of an edge.
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
    share: float = 1.0,
    remote: float = 0.0,
    directed: bool = True,
    weight_bytes: int = 0,
    id_bytes: int = 8,
    device: bool = False,
    built: bool = False,
) -> int:
    """Return the bytes that a worker needs for its part of a graph and an algorithm, at the most.

    Rows have an offset a vertex and an index (and a weight) an edge; without direction an edge has two
    entries. With direction, what goes both ways has rows of both. The most is needed either while they
    are built, with keys to sort them by, or while the algorithm runs. The edges as they are given are
    counted all the while, for who gave them may keep them.

    Parameters
    ----------
    vertices, edges : int
        V and E.
    scratch : int
        Bytes per vertex of what the algorithm keeps, with the result.
    copies : int
        Copies of the rows that the algorithm makes.
    share : float
        The worker's part of both.
    remote : float
        Vertices of others that it reads: see :func:`.model.remote`.
    directed : bool
    weight_bytes, id_bytes : int
        Of a weight, and of an end of an edge as it is read.
    device : bool
        Whether it lies on a GPU, where rows are made block by block.
    built : bool
        Whether rows of what leaves the vertices are there already; they are not counted then.
    """
    entries, index = edges * (1 if directed else 2) * share, index_bytes(vertices)
    rows = OFFSET * vertices * share + (index + weight_bytes) * entries
    ways = 2 if directed else 1
    given = (2 * id_bytes + weight_bytes) * edges * share
    keys = (KEY + weight_bytes) * entries * (2 / BLOCKS if device else 1)
    # The other way is made of the first, with the other end of each edge written out.
    building = keys + rows * ways + (index * entries if directed else 0)
    running = rows * (ways + copies) + scratch * (vertices * share + remote)
    return int(running - rows if built else given + max(building, running))
