"""Declare an algorithm: one function of a graph, from which every way to call it is made at import.

``python3 dev.py generate`` writes the type stubs of the public functions and methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import check_room, is_on_disk, kernels_for
from dask_graphflow.operators.view import GraphView
from dask_graphflow.scheduling import placement
from dask_graphflow.scheduling.progress import Progress, listener

from .answer import Answer
from .call import Call
from .options import Flag, Option, options_of
from .shards import Shards
from .spec import GraphSpec

Columns = Mapping[str, Any]
ColumnsOf = Callable[[GraphSpec, Mapping[str, Any]], Columns]


class Listed(dict[str, Any]):
    """All columns of a result, if an option decides that the algorithm lists its rows."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and its declaration.

    Attributes
    ----------
    run : callable
        The function. It takes the graph's view and the options.
    columns : mapping, or callable
        The columns after ``vertex``, or after the columns of an edge, with their dtypes, or a function that
        returns them for a graph's specification and the checked options. "id" stands for vertex ids, and
        "id or null" for vertex ids that can be null. If rows are "listed", these are all columns. A
        function that returns :class:`Listed` columns makes the rows of its call listed.
    options : mapping of str to Option
        The options, as the signature of `run` declares them.
    weights : {"ignored", "optional", "required"}
        Whether the algorithm uses the weights of the edges.
    directed : bool
        Whether edges of a frame are directed by default.
    incoming : bool
        Whether the algorithm uses only the edges that enter vertices, as long as no option names vertices.
    supersteps : bool
        Whether the algorithm works in supersteps, which `trace` and `progress` report.
    rows : {"vertices", "edges", "listed"}
        "vertices": the result has one row per vertex, with the column ``vertex``. "edges": it has one row
        per edge, with the columns ``source``, ``target`` and, if edges have weights that the algorithm does
        not ignore, ``weight``. "listed": it has the rows that the algorithm lists; see :class:`.Answer`.
    edge_bytes : tuple of 2 int
        Bytes of memory per entry of the rows, which the algorithm needs even if the edges are on disk:
        without weights, and with weights.
    """

    run: Callable[..., Answer]
    columns: Columns | ColumnsOf
    options: Mapping[str, Option]
    weights: str
    directed: bool
    incoming: bool
    supersteps: bool
    rows: str
    edge_bytes: tuple[int, int]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.run.__name__


ALGORITHMS: dict[str, Algorithm] = {}


def algorithm(
    *,
    columns: Columns | ColumnsOf,
    weights: str = "ignored",
    directed: bool = True,
    incoming: bool = False,
    supersteps: bool = True,
    rows: str = "vertices",
    edge_bytes: tuple[int, int] = (0, 0),
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Return a decorator that declares an algorithm; see :class:`Algorithm` for the parameters."""

    def declare(run: Callable[..., Answer]) -> Callable[..., Answer]:
        ALGORITHMS[run.__name__] = Algorithm(
            run, columns, options_of(run), weights, directed, incoming, supersteps, rows, edge_bytes
        )
        return run

    return declare


def ask(
    shards: Shards,
    run: Callable[..., Answer],
    /,
    *,
    trace: bool = False,
    progress: Any = False,
    **options: Any,
) -> Any:
    """Check the options of an algorithm, and return its result on a graph as a lazy frame."""
    declared, spec = ALGORITHMS[run.__name__], shards.spec
    if declared.weights == "required" and not spec.weighted:
        raise WeightError(
            f"{declared.name} needs the weights of the edges; name their column where the edges are given, "
            f"as in {declared.name}(edges, weight=...) or Graph(edges, weight=...), or use an algorithm "
            "without weights, such as bfs, which counts edges"
        )
    # An optional option that is None is not checked.
    checks = {
        name: option.check
        for name, option in declared.options.items()
        if not (option.check.optional and options[name] is None)
    }
    sent = options | {
        name: check.check(name, options[name], spec) for name, check in checks.items()
    }
    resolve = {name: check.resolve for name, check in checks.items() if check.names_vertices}
    columns = declared.columns(spec, sent) if callable(declared.columns) else declared.columns
    rows = "listed" if isinstance(columns, Listed) else declared.rows
    weighted = rows == "edges" and declared.weights != "ignored"
    name = declared.name.replace("_", "-")
    call = Call(
        name,
        partial(_answer, run=run, resolve=resolve, edge_bytes=declared.edge_bytes),
        {**spec.row_columns(rows, weighted=weighted), **columns},
        rows=rows,
        incoming=declared.incoming and not resolve,
        trace=Flag().check("trace", trace, spec),
        progress=Progress(listener(progress, name)),
    )
    frames = {name: sent.pop(name) for name, check in checks.items() if check.reads_frame}
    return call.send(shards, sent, frames=frames)


def _answer(
    g: GraphView,
    *sent: dict[str, Any],
    run: Callable[..., Answer],
    resolve: Mapping[str, Callable[..., Any]],
    edge_bytes: tuple[int, int],
) -> Answer:
    """Turn the ids in the options into positions, and run the algorithm.

    There are two dicts of options if some of them are frames.
    """
    shard = g.member.shard  # a GPU says itself if it lacks memory
    if not shard.on_device and shard.has("out") and is_on_disk(ends := shard.out.ends):
        check_room(
            kernels_for(ends),
            edge_bytes[g.weighted] * len(ends),
            f"{run.__name__} of a graph whose edges are on disk",
            "It needs memory for every edge, unlike most functions. Use workers or a machine with more "
            "memory, or more workers, each of which has fewer edges",
            limit=placement.task_memory(False),
        )
    options = {name: value for part in sent for name, value in part.items()}
    return run(g, **options | {name: find(g, options[name]) for name, find in resolve.items()})
