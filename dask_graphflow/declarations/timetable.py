"""Options for edges that depart and arrive at given times, in a frame that all members read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph import frames, vertex_ids
from dask_graphflow.graph.edgelist import is_name
from dask_graphflow.graph.times import COLUMNS, Times
from dask_graphflow.kernels import move_to
from dask_graphflow.operators.timed_edges import TimedEdges, number_edges
from dask_graphflow.operators.view import GraphView
from dask_graphflow.showing.tables import counted

from .answer import LabelColumn, LabelTypes
from .option import Check
from .spec import GraphSpec


@dataclass(frozen=True)
class TimeColumn(Check):
    """The name of a column of the timetable."""

    kind: ClassVar[str] = "column"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the name."""
        if value is None or not is_name(value):
            raise OptionError(
                f"{name} is a {type(value).__name__}; give the name of a column of the edges"
            )
        return value


@dataclass(frozen=True)
class Instant(Check):
    """A time, which :meth:`.Timetable.resolving` converts to the type of the other times."""

    kind: ClassVar[str] = "time"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the time."""
        return value


class Connections(NamedTuple):
    """The edges of a timetable, whose times are integers."""

    edges: TimedEdges
    start: int | None  # when the search starts; None if there are no edges that could say it
    times: Times

    def reversed(self) -> Connections:
        """Return the edges with their directions and time reversed; `~` turns the order of times around."""
        sources, targets, departures, arrivals = self.edges
        edges = TimedEdges(targets, sources, ~arrivals, ~departures)
        return self._replace(edges=edges, start=None if self.start is None else ~self.start)

    def first_departure(self) -> int | None:
        """Return when the first edge departs; None if there are no edges."""
        departures = self.edges.departures
        return int(departures.min()) if len(departures) else None

    def column(self, g: GraphView, values: Any, known: Any) -> Any:
        """Return times by vertex number as a column of an answer. Only those that are `known` matter."""
        numbers = move_to(values, g.numbers)
        if self.times.dtype == "int64":
            return move_to(g.numbers, values[numbers])
        series = self.times.series(np.where(known, values, 0))
        return LabelColumn(g.numbers, vertex_ids.brought(series.to_frame("time"), g.empty_ids))


@dataclass(frozen=True)
class Timetable(Check):
    """A frame with edges and their times, which the algorithm gets as :class:`Connections`.

    The first columns are the ids of the sources, then those of the targets. Other options name the columns
    with times, :data:`.COLUMNS`, and the time at which the search starts.
    """

    names_vertices: ClassVar[bool] = True
    reads_frame: ClassVar[bool] = True
    kind: ClassVar[str] = "frame"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the frame."""
        if len(value.columns) <= 2 * spec.id_width:
            raise OptionError(
                f"{name} has {counted(len(value.columns), 'column')}; give a DataFrame whose first "
                f"{2 * spec.id_width} columns are the ids of the source and of the target of each edge, "
                "followed by the columns with times"
            )
        return value

    def resolving(self, options: Mapping[str, Any], spec: GraphSpec) -> Callable[..., Any]:
        """Return what reads the edges in a member; raise if the columns of times are invalid."""
        times, start = times_of(options), options["start"]
        return partial(_read, times=times, start=None if start is None else times.instant(start))


def time_type(options: Mapping[str, Any]) -> Any:
    """Return the type of a column of times, as a result declares it, for checked options."""
    dtype = times_of(options).dtype
    return dtype if dtype == "int64" else LabelTypes((dtype,))


def times_of(options: Mapping[str, Any]) -> Times:
    """Return the times of the timetable among checked options."""
    if options["timetable"] is None:
        raise OptionError(
            "timetable=None; a Graph does not keep the times of its edges. Give the frame of the edges, "
            "whose first columns are the ids of the source and of the target"
        )
    return Times.of(options["timetable"]._meta, {name: options[name] for name in COLUMNS})


def _read(g: Any, sent: Sequence[Any], *, times: Times, start: int | None) -> Connections:
    """Return the edges in the partitions of a frame. All members call it with the same ones."""
    departures, arrivals = times.read(sent)
    like = g.empty_ids
    width, frame = len(like.columns), frames.stack(sent)
    sides = [frame.iloc[:, :width], frame.iloc[:, width : 2 * width]]
    if len(frame):
        sides = [vertex_ids.named(ids, like, "timetable") for ids in sides]
        edges = number_edges(g, sides, departures, arrivals)
    else:
        none = np.zeros(0, g.index)
        edges = TimedEdges(none, none, departures, arrivals)
    return Connections(edges, start, times)
