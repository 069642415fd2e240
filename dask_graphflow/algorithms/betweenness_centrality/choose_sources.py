"""The sources from which shortest paths start: all vertices, a random sample, or given vertices."""

from __future__ import annotations

from typing import Any

from dask_graphflow.exceptions import OptionError
from dask_graphflow.operators.priorities import sample_places
from dask_graphflow.operators.view import GraphView


def places_of_sources(g: GraphView, k: int | None, sources: Any, seed: int) -> tuple[Any, int]:
    """Return the place of each owned vertex among the sources, and their number.

    All members call it; see :func:`.sample_places`. It raises :class:`.OptionError` if both `k` and sources
    are given.
    """
    if sources is not None and k is not None:
        raise OptionError(
            f"k={k!r} cannot be used with sources, which are the sample. Leave out one of the two"
        )
    return sample_places(g, k, seed, sources)
