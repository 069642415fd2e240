"""One member's part of an advance: an edge program along its own rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dask_graphflow.kernels import advance as advance_kernels
from dask_graphflow.kernels import is_on_disk, on_device
from dask_graphflow.operators.frontier import Frontier, VertexSet
from dask_graphflow.programs.edge_op import BoundOp, EdgeOp, without_values


class LocalAdvance:
    """An edge program on columns and rows that stay the same for many advances.

    The column of ``op.target`` is changed in place, and needs an entry for every vertex that receives
    messages. The rows have outgoing edges for pushes, and incoming edges for pulls.
    """

    def __init__(self, op: EdgeOp, columns: Mapping[str, Any], rows: Any) -> None:
        dtypes = tuple((name, column.dtype) for name, column in columns.items())
        weight_dtype = None if rows.weights is None else rows.weights.dtype
        typed = bind(without_values(op), dtypes, rows.ends.dtype, weight_dtype)
        self._program = typed.device_program if on_device(rows.ends) else typed.host_program
        self._columns = tuple(columns[name] for name in op.columns)
        self._size, self._rows = len(columns[op.target]), rows
        self._kernels = advance_kernels.of(rows.ends)
        self._run: Any = None

    def step(
        self,
        params: Mapping[str, Any],
        frontier: VertexSet | None,
        direction: str,
        balance: str,
        threads: int,
        degrees: Any = None,
        superstep: int | None = None,
    ) -> tuple[VertexSet, Any]:
        """Send the messages with these values of the program's parameters.

        On a device, the kernel adds up the `degrees` of the vertices that change, and the set that is
        returned knows the sum. They are the numbers of edges that leave owned vertices. With the number of
        the superstep, what the program does with vertices that changed is also done. The second item is
        what the kernel returned.
        """
        arrays = (*self._columns, *params.values())
        options: dict[str, Any] = {"threads": threads, "balance": balance, "degrees": degrees}
        options["step"] = superstep
        if direction == "pull":
            words = None if frontier is None else frontier.words
            moved = self._kernels.pull(self._program, self._rows, arrays, words, **options)
            which: dict[str, Any] = {"words": moved.changed, "count": moved.found}
        else:
            vertices = None if frontier is None else frontier.vertices
            if frontier is not None:
                options["leaving"] = frontier.known_edges(degrees)
            moved = self._kernels.push(self._program, self._rows, arrays, vertices, **options)
            which = {"vertices": moved.changed, "words": moved.words}
        edges = None if degrees is None or moved.leaving is None else (degrees, moved.leaving)
        return VertexSet(self._size, **which, edges=edges), moved

    def is_small(self, edges: int) -> bool:
        """Return whether so few edges leave a frontier that :meth:`run` takes several supersteps.

        Rows on disk are read faster if each superstep asks for all of its rows at once.
        """
        return bool(edges <= self._kernels.SMALL_FRONTIER) and not is_on_disk(self._rows.ends)

    def run(
        self,
        params: Mapping[str, Any],
        frontier: Frontier,
        first: int,
        most: int,
        dense: tuple[int, int, bool],
        before: Any,
        shared: Any = None,
    ) -> tuple[Any, tuple[int, int], Any]:
        """Push several small supersteps in one call; see :class:`.advance.Run`."""
        if self._run is None:
            columns = self._columns, before, shared
            self._run = self._kernels.new_run(self._program, self._rows, *columns)
        sizes = len(frontier), frontier.leaving
        done: tuple[Any, tuple[int, int], Any] = self._run.push(
            tuple(params.values()), frontier.vertices, sizes, first, most, dense
        )
        return done

    def deliver(
        self, memory: Any, positions: Any, slots: Any, target: Any, marks: Any, neutral: Any
    ) -> None:
        """Send what mirrors have gathered to the owners; see :func:`.kernels.advance.deliver`."""
        advance_kernels.deliver(self._program, memory, positions, slots, target, marks, neutral)

    def after(
        self, params: Mapping[str, Any], changed: VertexSet, step: int, degrees: Any
    ) -> VertexSet:
        """Do what the program does with owned vertices that changed; return the next frontier."""
        arrays, size = (*self._columns, *params.values()), len(degrees)
        if not changed.sparse:
            words = changed.words.copy()
            count, leaving = self._kernels.after_words(self._program, arrays, words, step, degrees)
            return VertexSet(size, words=words, count=count, edges=(degrees, leaving))
        vertices = changed.vertices.astype(self._rows.ends.dtype, copy=False)
        kept, leaving = self._kernels.after(self._program, arrays, vertices, step, degrees)
        return VertexSet(size, vertices=kept, edges=(degrees, leaving))


@lru_cache(maxsize=64)
def bind(op: EdgeOp, dtypes: tuple[Any, ...], index_dtype: Any, weight_dtype: Any) -> BoundOp:
    """Bind a program to dtypes. This is cached, because it takes as long as a small superstep."""
    return op.bind(dict(dtypes), index_dtype=index_dtype, weight_dtype=weight_dtype)


def nothing(slot: str, dtype: Any) -> Any:
    """Return the neutral value: every message beats it or, for sums and bits, it changes nothing."""
    if slot in ("add", "or"):
        return 0
    if dtype.kind == "b":
        return slot == "min"
    if dtype.kind == "f":
        return np.inf if slot == "min" else -np.inf
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if slot == "min" else limits.min)
