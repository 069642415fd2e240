"""Options that name vertices by their ids: checks at the call, and positions in the members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import EdgeListError, OptionError
from dask_graphflow.graph import dtypes, frames, vertex_ids
from dask_graphflow.graph.align_ids import align, first_ids
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.kernels import kernels_for, move_to
from dask_graphflow.showing.tables import counted

from .option import Check
from .spec import GraphSpec


@dataclass(frozen=True)
class VertexIds(Check):
    """Ids of vertices, which the algorithm gets as its own vertices: ascending, and each once."""

    names_vertices: ClassVar[bool] = True
    kind: ClassVar[str] = "ids"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the ids as a frame, or integers as an array, with the dtypes of the graph's ids."""
        plain = vertex_ids.plain_integers(value, spec.columns.dtypes)
        return vertex_ids.named(value, spec.ids, name) if plain is None else plain

    def resolve(self, g: Any, sent: Any) -> Any:
        """Return this member's vertices among them."""
        return g.find(sent)


@dataclass(frozen=True)
class VertexPairs(Check):
    """Pairs of ids in a frame, which the algorithm gets as the places of their vertices."""

    names_vertices: ClassVar[bool] = True
    kind: ClassVar[str] = "pairs"

    def check(self, name: str, value: Any, spec: GraphSpec) -> tuple[Any, Any]:
        """Return the ids of both columns as frames, with the dtypes of the graph's ids."""
        width = spec.id_width
        value = as_frame(value, name)
        if not hasattr(value, "columns") or len(value.columns) < 2 * width:
            has = (
                f"has {counted(len(value.columns), 'column')}" if hasattr(value, "columns") else ""
            )
            raise OptionError(
                f"{name} {has or f'is a {type(value).__name__}'}; give a DataFrame whose first "
                f"{2 * width} columns are the ids of the first and of the second vertex, such as "
                f"pd.DataFrame({name}) for a list of pairs"
            )
        sides = value.iloc[:, :width], value.iloc[:, width : 2 * width]
        first, second = (vertex_ids.named(side, spec.ids, name) for side in sides)
        return first, second

    def resolve(self, g: Any, sent: Any) -> Any:
        """Return the places of the vertices: two arrays of int64, with one entry per pair."""
        return tuple(g.places(ids) for ids in sent)


def only(vertices: Any, among: Any) -> Any:
    """Return which of some positions are among the vertices of an option, or all if it is None."""
    if vertices is None:
        return among
    chosen = np.zeros_like(among)
    chosen[vertices] = among[vertices]
    return chosen


@dataclass(frozen=True)
class VertexWeights(Check):
    """Weights of some vertices, which the algorithm gets as an array over its own vertices."""

    names_vertices: ClassVar[bool] = True
    kind: ClassVar[str] = "table"

    def check(self, name: str, value: Any, spec: GraphSpec) -> tuple[Any, Any]:
        """Return the ids as a frame, and their fractions of the sum of the weights."""
        if isinstance(value, dict):
            value = pd.Series(value)
        value = as_frame(value, name)
        if hasattr(value, "to_pandas") and not hasattr(value, "columns"):
            value = value.to_pandas()
        if hasattr(value, "columns"):
            width = spec.id_width
            if len(value.columns) != width + 1:
                raise OptionError(
                    f"{name} has {counted(len(value.columns), 'column')}; give the id in "
                    f"{counted(width, 'column')}, then the weights in one more, and no others"
                )
            ids = vertex_ids.named(value.iloc[:, :width], spec.ids, name)
            parts = value.iloc[:, width]
        elif isinstance(value, pd.Series):
            ids, parts = vertex_ids.named(list(value.index), spec.ids, name), value
        else:
            raise OptionError(
                f"{name} is a {type(value).__name__}; give a dict, a Series or a DataFrame"
            )
        weights = _weights(parts, name)
        # The sum of large weights must not overflow. Powers of 2 change no bit of the fractions.
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])
        return ids, weights / weights.sum()

    def resolve(self, g: Any, sent: Any) -> Any:
        """Return the weights of this member's vertices: float64, 0 for those that were not named."""
        ids, weights = sent
        at = g.find(ids, unique=False)
        library, own, column = kernels_for(at).namespace, at >= 0, g.column(0, "float64")
        library.add.at(column, at[own], library.asarray(weights)[own])
        return column


def _weights(parts: Any, name: str) -> np.ndarray:
    """Return the weights of an option as float64; raise unless they are at least 0, and one is above 0."""
    if dtypes.number_dtype(parts.dtype) is None:
        raise OptionError(f"{name} has weights of dtype {parts.dtype}; give a number for each id")
    weights: np.ndarray = dtypes.numbers_of(parts).to_numpy("float64", na_value=np.nan)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights > 0).any()):
        raise OptionError(
            f"{name} has weights that are negative, infinite, null or all 0; give weights of at "
            "least 0, and at least one above 0"
        )
    return weights


@dataclass(frozen=True)
class EarlierRanks(Check):
    """A frame with the id and the rank of each vertex, which can be of another version of the graph.

    The algorithm gets an array over its own vertices: float64, NaN for a vertex without a row. Ids that are
    not in the graph are left out.
    """

    names_vertices: ClassVar[bool] = True
    reads_frame: ClassVar[bool] = True
    kind: ClassVar[str] = "table"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the frame."""
        width = spec.id_width
        if len(value.columns) != width + 1:
            raise OptionError(
                f"{name} has {counted(len(value.columns), 'column')}; give the id in "
                f"{counted(width, 'column')}, then the rank in one more, and no others"
            )
        return value

    def resolve(self, g: Any, sent: Any) -> Any:
        """Return the rank of each of this member's vertices."""
        frame, like, column = frames.stack(sent), g.empty_ids, g.column(np.nan, "float64")
        if not len(frame):
            return column
        width = len(like.columns)
        ranks = _weights(frames.to_pandas(frame.iloc[:, width]), "previous")
        ids = first_ids(frame, like, "previous")
        aligned = align(g.member.shard, g.member.exchange, ids)
        column[aligned.at] = move_to(column, ranks)[aligned.rows]
        if not aligned.once:
            raise EdgeListError(
                "previous has several rows for a vertex; give a frame with one row per vertex, such as an "
                "earlier result of pagerank"
            )
        return column
