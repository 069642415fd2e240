"""The next version of a graph."""

from __future__ import annotations

from typing import Any, Literal, Self

from dask_graphflow.calls.shards import Shards
from dask_graphflow.declarations.option import Choice
from dask_graphflow.exceptions import UsageError
from dask_graphflow.inputs.batch import batch_edges, batch_vertices
from dask_graphflow.showing.arguments import explained

from .types import Edges


class GraphUpdates:
    """The method that makes the next version of a graph."""

    _shards: Shards

    @explained
    def update(
        self,
        insert: Edges | None = None,
        delete: Edges | None = None,
        *,
        vertices: Any = None,
        missing: Literal["raise", "ignore"] = "raise",
    ) -> Self:
        """Return the graph after some edges are deleted and others inserted."""
        from dask_graphflow.calls.updating import next_version

        Choice(("raise", "ignore")).check("missing", missing, None)
        shards = self._shards
        if shards.plan.hybrid is not None:
            raise UsageError(
                "update() of a graph that was built with hybrid=, which divides it between CPUs and GPUs; "
                "only graphs without hybrid= can be updated. Build the graph again from all edges"
            )
        batch = {}
        if insert is not None:
            batch["insert"], *nodes = batch_edges(insert, shards.spec, "insert")
            if nodes:
                batch["nodes"] = nodes[0]
        if delete is not None:
            batch["delete"] = batch_edges(delete, shards.spec, "delete")[0]
        if vertices is not None:
            batch["vertices"] = batch_vertices(vertices, shards.spec)
        skips = missing == "ignore"
        return self._with(next_version(shards, batch, skip_missing=skips))

    def _with(self, shards: Shards) -> Self:
        raise NotImplementedError
