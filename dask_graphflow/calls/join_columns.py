"""Results with further columns of the edges.

Neither the build of a graph nor an algorithm knows these columns. An algorithm answers with the ends of
edges as it always does, and Dask joins the answer with the frame of the edges. So parallel edges are rows
of their own, also if the graph merged them. The joined rows are sorted by their place in the answer, by
weight, and by their place in the frame, so their order does not depend on how Dask joined them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import and_
from typing import Any

import numpy as np

from dask_graphflow.declarations.algorithm import Algorithm
from dask_graphflow.exceptions import OptionError, UnknownColumnError
from dask_graphflow.graph import frames
from dask_graphflow.graph.edgelist import as_columns, check_distinct, vertex_names
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown
from dask_graphflow.tasks.expr import Empty, Mapped, collection

from .further_columns import ENDS, FURTHER, PARTITION, ROW, numbered
from .shards import Shards

# The most pairs of a partition of an answer that the edges are compared with before they move.
FEW = 1 << 17
MANY = "many"
PART, PLACE = "partition_of_answer", "row_of_answer"  # the place of an edge in the answer


def ask_with(
    shards: Shards, declared: Algorithm, columns: Any, returned: Mapping[str, Any]
) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return the columns that a call has to ask for, and a function that adds further ones to its answer.

    `returned` are the columns of the result without the further ones; see :class:`.Call`. In the answer,
    the ends of an edge must be different from those of all other edges, unless the algorithm lists other
    columns beside them.
    """
    spec, further = shards.spec, shards.further
    if further is None:
        raise UnknownColumnError(f"columns={shown(columns)}, but {_why_none(shards)}")
    names = as_columns(columns, "columns", further.names)
    asked = {name: dtype for name, dtype in returned.items() if name != "weight"}
    of_answer = {end: vertex_names(end, spec.id_width) for end in ENDS}
    of_rows = {end: numbered(end, spec.id_width) for end in ENDS}
    if further.turned:
        of_rows = dict(zip(ENDS, reversed(of_rows.values()), strict=True))
    beside = [name for name in asked if name not in ENDS]
    pairs = [
        pair
        for name in returned
        for pair in zip(of_rows.get(name, [name]), of_answer.get(name, [name]), strict=True)
    ]
    _check_names(names, further.names, [name for _, name in pairs])
    pairs += [(f"{FURTHER}_{further.names.index(name)}", name) for name in names]
    place = partial(
        _place_rows,
        ends=[tuple(zip(of_rows[end], of_answer[end], strict=True)) for end in ENDS],
        beside=beside,
        both_ways=not spec.directed or (declared.result.rows == "listed" and not declared.directed),
    )
    finish = partial(
        _sort_rows,
        names=pairs,
        weight=returned.get("weight"),
        lightest=declared.parallel == "lightest",
    )
    needed = [*of_rows["source"], *of_rows["target"], *(own for own, _ in pairs), PARTITION, ROW]
    edges = partial(further.rows, [name for name in dict.fromkeys(needed) if name not in beside])
    return asked, partial(_join, edges, place, finish)


def _why_none(shards: Shards) -> str:
    """Return why a graph keeps no further columns, and what to do."""
    if shards.folder is not None:
        return (
            "a saved graph has only the ids and weights of its edges. Build the graph from the edges, with "
            "Graph(edges, columns=[...]), or merge the result with them"
        )
    if shards.earlier is not None:
        return (
            "a graph that update() made has only the ids and weights of its edges. Build the graph from "
            "all edges, with Graph(edges, columns=[...]), or merge the result with them"
        )
    return (
        "this graph keeps only the ids and weights of its edges. Name the columns where the graph is built "
        "too, with Graph(edges, columns=[...])"
    )


def _check_names(names: Sequence[Any], kept: Sequence[Any], own: Sequence[Any]) -> None:
    """Raise unless a graph keeps the columns `names`, and the result has no other column of such a name."""
    check_distinct(names, "columns")
    for name in names:
        if name not in kept:
            raise UnknownColumnError(
                f"columns={shown(name)}, but the graph keeps {', '.join(map(repr, kept))}. Name the column "
                f"where the graph is built too, with Graph(edges, columns=[...]){nearest(name, kept)}"
            )
        if name in own:
            raise OptionError(
                f"columns={shown(name)}, but the result has a column {name!r} of its own. Leave it out, or "
                "rename the column of the edges"
            )


def _join(read: Callable[[], Any], place: Any, finish: Any, answer: Any) -> Any:
    """Return the lazy result for an answer."""
    if isinstance(answer, tuple):  # with a trace
        return _join(read, place, finish, answer[0]), *answer[1:]
    places = _map(answer, place)
    parts = places.npartitions
    ids = [name for end in place.keywords["ends"] for name, _ in end]
    few = _map(places, partial(_pairs_of, ids=ids)).repartition(npartitions=1)
    edges = _map(read(), partial(_edges_among, ids=ids), few)
    if parts < edges.npartitions:
        edges = edges.repartition(npartitions=parts)
    joined = edges.merge(places, on=ids, how="inner", shuffle_method="tasks")
    if parts > 1:
        joined = joined.set_index(PART, divisions=[*range(parts + 1)], shuffle_method="tasks")
    return _map(joined, finish)


def _map(frame: Any, function: Callable[..., Any], *beside: Any) -> Any:
    """Return a lazy frame after a function of each partition and its number; see :class:`.Mapped`."""
    made = function(frame._meta, 0, *(one._meta for one in beside))
    return collection(Mapped(frame.expr, function, Empty.of(made), *(one.expr for one in beside)))


def _pairs_of(places: Any, _: int, *, ids: list[str]) -> Any:
    """Return the ends of edges in a partition, each pair once; only the first one if there are many."""
    pairs = places[ids].drop_duplicates()
    many = len(pairs) > FEW
    return (pairs.iloc[:1] if many else pairs).assign(**{MANY: many})


def _edges_among(edges: Any, _: int, pairs: Any, *, ids: list[str]) -> Any:
    """Return the edges both of whose ends are ends of the pairs; all of them if pairs were left out."""
    if pairs[MANY].any():
        return edges
    return edges[reduce(and_, [edges[name].isin(pairs[name]) for name in ids])]


def _place_rows(
    answer: Any,
    partition: int,
    *,
    ends: Sequence[Sequence[tuple[str, str]]],
    beside: Sequence[str],
    both_ways: bool,
) -> Any:
    """Return the ends of edges in a partition of an answer with their places in it.

    `ends` are the names of both ends, in the rows of the edges and in the answer. If `both_ways`, each edge
    is also there from its target to its source.
    """
    source, target = ({own: answer[name] for own, name in end} for end in ends)
    places: dict[str, Any] = {name: answer[name] for name in beside}
    places[PART] = np.full(len(answer), partition, "int32")
    places[PLACE] = np.arange(len(answer))
    kind = type(answer)
    along = frames.build(kind, source | target | places)
    if not both_ways:
        return along
    both = zip((*source, *target), (*target.values(), *source.values()), strict=True)
    back = frames.build(kind, dict(both) | places)
    parts = zip(source.values(), target.values(), strict=True)
    is_loop = reduce(and_, [a == b for a, b in parts])
    return frames.stack([along, back[~is_loop]])


def _sort_rows(
    joined: Any, _: int, *, names: Sequence[tuple[str, Any]], weight: Any, lightest: bool
) -> Any:
    """Return a partition of the result: its rows in order, with the `names` of its columns.

    `weight` is the dtype of the weights; None if the result has none. With `lightest`, each edge of the
    answer has one row.
    """
    order = [PLACE, *(["weight"] if weight is not None else []), PARTITION, ROW]
    rows = joined.sort_values(order)
    if lightest:
        rows = rows.drop_duplicates(PLACE)
    rows = rows.reset_index(drop=True)
    columns = {public: rows[name] for name, public in names}
    if weight is not None:
        columns["weight"] = columns["weight"].astype(weight)
    return frames.build(type(joined), columns)
