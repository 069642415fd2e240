"""How many rows of paths the members have memory for."""

from __future__ import annotations

import numpy as np

from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels.memory import free_bytes
from dask_graphflow.operators.view import GraphView

ROW_BYTES = 96  # bytes of a row of the result, and of the arrays from which it is made
UNKNOWN = 1 << 40  # bytes that are assumed to be free if the system does not say it


def rows_that_fit(g: GraphView) -> int:
    """Return the number of rows of a result that all members together have memory for.

    All members call it. Members can share the memory of one machine.
    """
    exchange, resources = g.member.exchange, g.member.exchange.resources
    free = (free_bytes(kernels_for(np.empty(0))) or UNKNOWN) / exchange.size
    if resources.memory_limit:
        free = min(free, resources.memory_limit * resources.pause - resources.used())
    least = -exchange.all_reduce(most=-max(free, 0.0)).most
    return int(least * exchange.size) // ROW_BYTES


def too_many(found: str, least: int, width: int, advice: str) -> GraphMemoryError:
    """Return the error for more than `least` cycles or paths of `width` rows, which `found` describes."""
    needed = least * width * ROW_BYTES
    return GraphMemoryError(
        f"there are more than {least:,} {found}, and more than that do not fit in memory.{advice}",
        needed=needed,
        available=needed,
    )
