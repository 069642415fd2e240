"""A look at persisted ids before a call is planned, so that dense integers need no numbering.

The shape of a task graph must not depend on the data. Numbering therefore takes six levels of tasks, which
do nothing if the ids are dense integers. If all edges are in the workers' memory, asking the workers for
the range of the ids takes less time than these levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from dask_graphflow.graph.dtypes import is_integer
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.renumber import is_dense
from dask_graphflow.kernels import kernels_for, on_device
from dask_graphflow.scheduling import placement
from dask_graphflow.scheduling.expr import Resident

# By whether edges are on a device: bytes per worker that are read faster than the levels run, in 30 ms on a
# core and 5 ms on a GPU.
MOST_BYTES = {False: 1 << 28, True: 1 << 34}
PATIENCE = 0.25  # seconds to wait for the workers, which may be busy with something else
PRIORITY = 100


def look(
    frames: Sequence[Resident | Any], columns: Sequence[EdgeColumns], homes: Sequence[str | None]
) -> list[Any]:
    """Ask the workers for the ranges of ids, one task per worker.

    Parameters
    ----------
    frames : sequence
        All frames of a call.
    columns : sequence of EdgeColumns
        How to read each frame.
    homes : sequence of str or None
        The address of the worker that stores each partition, for all frames in order.

    Returns
    -------
    list of Future
        Empty if a look would take too long, or would not find dense integers.
    """
    client = placement.client_in_use()
    if client is None or not all(isinstance(frame, Resident) for frame in frames):
        return []
    if len(columns[0].names) > 1 or not is_integer(columns[0].dtypes[0]):
        return []
    partitions = [
        (position, future) for position, frame in enumerate(frames) for future in frame.futures
    ]
    held = placement.held_bytes([future for _, future in partitions])
    device = on_device(frames[0].meta)
    if held is None or None in homes or held > MOST_BYTES[device] * len(set(homes)):
        return []
    asked = []
    for home in dict.fromkeys(homes):
        own = itertools.compress(partitions, (each == home for each in homes))
        positions, futures = zip(*own, strict=True)
        own_columns = [columns[position] for position in positions]
        asked.append(client.submit(id_range, own_columns, *futures, pure=False, priority=PRIORITY))
    return asked


def are_dense(asked: Sequence[Any]) -> bool:
    """Return whether the ids on the workers that were asked are dense. False if a worker did not answer."""
    if not asked:
        return False
    from distributed import wait

    try:
        wait(asked, timeout=PATIENCE)
    except TimeoutError:
        return False
    answers = asked[0].client.gather(asked, errors="skip")
    if len(answers) < len(asked):
        return False  # the call itself raises an error if something is wrong with the ids
    ranges = [one for one in answers if one[2]]
    lows, highs, rows = zip(*ranges, strict=True) if ranges else ([0], [0], [0])
    return is_dense(min(lows), max(highs), sum(rows))


def id_range(columns: Sequence[EdgeColumns], *partitions: Any) -> tuple[int, int, int]:
    """Return the smallest and the largest id of some partitions, and their number of edges."""
    low, high, rows = 0, 0, 0
    for own_columns, partition in zip(columns, partitions, strict=True):
        source, target, _ = own_columns.ends(partition)
        if not len(source):
            continue
        kernels = kernels_for(partition)
        ends = [kernels.asarray(side.only) for side in (source, target)]
        bounds = kernels.bounds(*ends)
        if bounds[0] < 0 and ends[0].dtype.kind == "u":
            bounds = 0, 2**64 - 1  # unsigned ids past int64 look negative to kernels on a GPU
        low, high = (min(low, bounds[0]), max(high, bounds[1])) if rows else bounds
        rows += len(source)
    return low, high, rows
