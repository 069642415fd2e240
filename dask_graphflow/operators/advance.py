"""Advance: edges leave a frontier, carry messages, and vertices that change are the next frontier.

:func:`advance` is one superstep of an edge program over the ranges of vertices that this process
has. Push goes along the edges that leave the frontier; pull asks of every vertex that takes messages
which of its neighbours are in it (Gemini [1]_). Both change the same column to the same values, and give
the same frontier.

:func:`direction` chooses between them by the edges that leave the frontier.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
.. [2] S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple

from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels import kernels_of
from dask_graphflow.kernels.edge_op import BoundOp, EdgeOp
from dask_graphflow.showing.suggestions import nearest

from .frontier import Frontier

__all__ = [
    "DIRECTIONS",
    "RULES",
    "Step",
    "advance",
    "check_way",
    "direction",
    "superstep",
    "telling",
]

DIRECTIONS = ("push", "pull")
DENSE = 20  # Gemini pulls once 1/20 of the edges leave the frontier
# Beamer pulls from 1/15 of the edges not yet explored on, until the frontier is 1/18 of the vertices. Ours
# is that V / 18 edges must leave it too. Where a search ends slowly, as on a grid, small frontiers are a
# large part of the little that is left, but a pull passes over a bitmap of all vertices, which members send
# each other. There it took 4 to 10 times as long as a push. The two are even somewhere from V / 110 edges
# (random ends, a million vertices) to V / 4 (near ones, 20,000): docs/internals/benchmarks.md.
ALPHA, BETA = 15, 18
RULES = ("gemini", "beamer")
WAYS = (*RULES, *DIRECTIONS)


class Step(NamedTuple):
    """What an advance did, for the trace.

    Attributes
    ----------
    direction : {"push", "pull"}
        How it went.
    frontier : int
        Vertices that it began from.
    edges : int
        Edges looked at.
    chunks, steals : int
        Mini-chunks of work, and how many of them a thread took over from another.
    appends : int
        Times that a batch of vertices was appended to the next frontier.
    """

    direction: str
    frontier: int
    edges: int
    chunks: int
    steals: int
    appends: int


Tell = Callable[[dict[str, Any]], None]

_tell: ContextVar[Tell | None] = ContextVar("tell", default=None)


@contextmanager
def telling(tell: Tell | None) -> Iterator[None]:
    """Have `tell` called as each superstep of this thread ends, with its row, which it may add to."""
    before = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(before)


def superstep(direction: str, frontier: int, edges: int, seconds: float) -> dict[str, Any]:
    """Return what one superstep did, as a row of the trace; to be called as it ends."""
    row = {"direction": direction, "frontier": frontier, "edges": edges, "seconds": seconds}
    if (tell := _tell.get()) is not None:
        tell(row)
    return row


def check_way(direction: object) -> None:
    """Raise unless a caller's `direction` is a rule that chooses between the two, or one of them."""
    if direction not in WAYS:
        raise OptionError(
            f"direction={direction!r}; give {', '.join(map(repr, WAYS))}{nearest(direction, WAYS)}"
        )


def direction(
    frontier: Frontier,
    degrees: Any,
    *,
    total: int,
    rule: str = "gemini",
    last: Step | None = None,
    unexplored: int | None = None,
) -> str:
    """Choose how to advance.

    Parameters
    ----------
    frontier : Frontier
        Where to begin.
    degrees : ndarray of integers, shape (V,)
        How many edges leave each vertex.
    total : int
        The number of edges.
    rule : {"gemini", "beamer"}
        "gemini" pulls where more than 1/20 of the edges leave the frontier. "beamer" [2]_ begins to
        pull where that is more than 1/15 of the edges of vertices not reached so far, and goes on until
        the frontier shrinks and is at most 1/18 of the vertices; but it pulls only where more edges
        leave the frontier than 1/18 of the number of vertices.
    last : Step, optional
        The step before, for "beamer".
    unexplored : int, optional
        The edges that leave vertices not reached so far, for "beamer"; by default `total`.

    Returns
    -------
    {"push", "pull"}

    Raises
    ------
    OptionError
        A rule that does not exist.
    """
    if rule not in RULES:
        raise OptionError(_unknown("rule", rule, RULES))
    if rule == "gemini":
        return "pull" if frontier.edges(degrees) * DENSE > total else "push"
    leaving = frontier.edges(degrees)
    if leaving * BETA <= frontier.size:
        return "push"
    if last is not None and last.direction == "pull":
        shrinks = len(frontier) < last.frontier and len(frontier) * BETA <= frontier.size
        return "push" if shrinks else "pull"
    left = total if unexplored is None else unexplored
    return "pull" if leaving * ALPHA > left else "push"


def advance(
    op: EdgeOp,
    columns: Mapping[str, Any],
    rows: Sequence[Any],
    frontier: Frontier | None,
    *,
    direction: str,
    balance: str = "auto",
    threads: int = 1,
) -> tuple[Frontier, Step]:
    """Send an edge program's messages along the edges that leave a frontier.

    Parameters
    ----------
    op : EdgeOp
        The edge program.
    columns : mapping of str to ndarray, shape (V,)
        The vertex columns. That of ``op.target`` is changed in place.
    rows : sequence of Rows
        The edges of this process, a range of vertices each: by the vertices that they leave to push, by
        those that they enter to pull. Rows may be compressed.
    frontier : Frontier or None
        Where to begin; None for all vertices.
    direction : {"push", "pull"}
        Which way to go.
    balance : str
        How edges are shared out: "auto", or a policy of :mod:`.device_advance`, of which the host has
        "thread" and "all_edges". The results are the same.
    threads : int
        Host threads to use.

    Returns
    -------
    frontier : Frontier
        The vertices whose value changed.
    step : Step
        What was done.

    Raises
    ------
    OptionError
        A direction or a policy that does not exist.
    UnknownColumnError, WeightError, ExpressionError
        What ``op.bind`` raises.
    """
    if direction not in DIRECTIONS:
        raise OptionError(_unknown("direction", direction, DIRECTIONS))
    ends = rows[0].ends
    weights = rows[0].weights
    dtypes = tuple((name, column.dtype) for name, column in columns.items())
    bound = _bound(op, dtypes, ends.dtype, None if weights is None else weights.dtype)
    arrays = tuple(columns[name] for name in op.columns)
    size = len(arrays[0])
    kernels, own_rows = kernels_of("advance", ends), kernels_of("rows", ends).own_rows
    how: dict[str, Any] = {"threads": threads, "balance": balance}
    changed = kernels.new_words(size)
    done = []
    for part in rows:
        if direction == "pull":
            words = None if frontier is None else frontier.words
            moved = kernels.pull(bound, part, arrays, words, changed=changed, **how)
        else:
            own = None if frontier is None else own_rows(part, frontier.vertices)
            moved = kernels.push(bound, part, arrays, own, changed=changed, **how)
        done.append(moved)
    count = size if frontier is None else len(frontier)
    totals = (sum(numbers) for numbers in zip(*(moved[1:5] for moved in done), strict=True))
    step = Step(direction, count, *totals)
    listed = done[0].changed if direction == "push" and len(rows) == 1 else None
    return Frontier(size, vertices=listed, words=changed), step


@lru_cache(maxsize=64)
def _bound(op: EdgeOp, dtypes: tuple[Any, ...], index_dtype: Any, weight_dtype: Any) -> BoundOp:
    """Return a program with its types: reading its expressions takes as long as a small superstep."""
    return op.bind(dict(dtypes), index_dtype=index_dtype, weight_dtype=weight_dtype)


def _unknown(what: str, given: object, allowed: Sequence[str]) -> str:
    names = ", ".join(map(repr, allowed))
    return f"{what}={given!r}; allowed are {names}{nearest(given, allowed)}"
