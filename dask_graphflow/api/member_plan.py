"""Which members build a graph: as many as the caller asks for, or as the build chooses."""

from __future__ import annotations

import logging
import math
import sys
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.calls.shards import MemberPlan
from dask_graphflow.costs import choose_members
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph.build import Size
from dask_graphflow.graph.memory_model import Part
from dask_graphflow.graph.renumber import is_dense
from dask_graphflow.graph.shares import as_hybrid, members_of
from dask_graphflow.inputs.edges import moves_to_gpu
from dask_graphflow.kernels.gpu import load_cupy
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.showing.tables import size
from dask_graphflow.tasks import memory_limits, placement
from dask_graphflow.tasks.clients import client_in_use
from dask_graphflow.tasks.expr import find_held
from dask_graphflow.tasks.parquet import num_rows, pieces_of, rows_at_most

from .rate_store import pull_rate
from .storage_choice import is_on_disk

READ_COPIES = 2  # least number of copies of a partition that a worker has while it reads one

logger = logging.getLogger(__name__)


def member_plan(
    edges: Any,
    spec: GraphSpec,
    shards: Any,
    hybrid: Any,
    device: Any,
    storage: Any,
) -> MemberPlan:
    """Return which members build a graph of a lazy or held frame, given options of :class:`.Graph`."""
    check_count("shards", shards, least=1, optional=True)
    on_disk, why = is_on_disk(
        storage,
        partial(_rows_to_store, edges, spec),
        in_memory=spec.on_device or hybrid is not None,
        directed=spec.directed,
        weight_bytes=spec.weight_dtype.itemsize if spec.weighted else 0,
    )
    lent = moves_to_gpu(spec.ids, device)
    if on_disk:
        logger.info("The edges of a graph are stored on disk: %s", why or "storage='disk'")
    if hybrid is not None:
        if lent:
            raise OptionError(
                "device='gpu' and hybrid= were both given; leave device= out to divide the graph between "
                "CPUs and GPUs, or leave hybrid= out to run on GPUs only"
            )
        shares, count, workers = members_of(
            as_hybrid(hybrid, spec.on_device), shards, placement.workers()
        )
        return MemberPlan(count, hybrid=shares, rate=pull_rate, workers=workers)
    slots = placement.slots()
    if lent and client_in_use() is None:  # calls run in this process
        load_cupy()
    count = min(shards or len(slots.workers), spec.partitions)
    if not (on_disk or spec.on_device):
        _check_reading(edges, spec, count)
    plan = partial(MemberPlan, device=lent, on_disk=on_disk, why=why)
    if shards is not None or count == 1:
        if shards is None and len(slots.workers) > 1:
            logger.info(
                "A graph gets 1 of %d possible shards: its edges have 1 partition",
                len(slots.workers),
            )
        return plan(count)
    limit = _most_rows(edges, spec)
    if choose_members.never_split(limit, count, slots.threads, device=lent or spec.on_device):
        logger.info(
            "A graph of at most %d edges gets 1 of %d possible shards: more would be slower",
            limit, count,
        )  # fmt: skip
        return plan(1)  # without the tasks of several members
    return plan(count, choose=choose_members.choose)


def _check_reading(edges: Any, spec: GraphSpec, members: int) -> None:
    """Check that workers have room for the partitions of Parquet files that they read at the same time.

    If not, the error suggests a memory limit for the whole graph.
    """
    least = placement.least_room()
    pieces = None if least is None else pieces_of(edges, spec.columns.columns)
    if least is None or pieces is None:
        return
    limit, threads, _ = least
    reading = PROCESS + READ_COPIES * pieces.partition * min(threads, spec.partitions)
    if reading <= memory_limits.end_fraction() * limit:
        return
    ends = [*spec.columns.source, *spec.columns.target]
    bounds = [one for name in ends for one in pieces.bounds.get(name, ())]
    ranges = [(low, high) for low, high in bounds if isinstance(low, int)]
    low, high = min((a for a, _ in ranges), default=0), max((b for _, b in ranges), default=0)
    dense = len(spec.columns.names) == 1 and bool(ranges) and is_dense(low, high, pieces.rows)
    given = pieces.partition * spec.partitions / max(pieces.rows, 1)
    part = Part(
        pieces.rows / members, high - low + 1 if dense else pieces.rows, given / 2,
        spec.weight_dtype.itemsize if spec.weighted else 0, spec.directed, members=members,
        pieces=-(-spec.partitions // members), largest=-(-pieces.rows // spec.partitions),
        integers=bool(ranges), dense=dense,
    )  # fmt: skip
    needed = int(max(reading, PROCESS + part.needed()))
    raise memory_limits.too_low(
        limit,
        needed,
        f"a worker needs about {size(needed)} to build a graph and to use it, and reads partitions of "
        f"{size(pieces.partition)}",
        "use more workers, or smaller partitions",
    )


def shard_count(size: Size, shards: Any) -> tuple[int, str | None]:
    """Return the number of shards of a saved graph, and the reason if it was not given."""
    check_count("shards", shards, least=1, optional=True)
    if shards is not None:
        return int(shards), None
    slots = placement.slots()
    least = None if size.device else placement.least_room()
    room = math.inf if least is None else least[0]
    return choose_members.choose(size, len(slots.workers), slots.threads, room)


def _rows_to_store(edges: Any, spec: GraphSpec) -> float | None:
    """Return about the maximum number of rows of the edges, or None if it is not known yet."""
    rows = _most_rows(edges, spec)
    return rows if math.isfinite(rows) else rows_at_most(edges)


def _most_rows(edges: Any, spec: GraphSpec) -> float:
    """Return an upper bound of the number of rows of the edges; infinite if there is no bound."""
    rows = num_rows(edges)
    if rows is not None:
        return rows
    held = find_held(edges.expr)[1]
    size = placement.count_held_bytes(held)
    # Until a worker has imported dask_cudf, Dask counts only the Python object of a cuDF frame.
    if size is None or size <= len(held) * sys.getsizeof(edges._meta):
        return math.inf
    return size / sum(_least_bytes(edges._meta[column].dtype) for column in spec.columns.columns)


def _least_bytes(dtype: Any) -> int:
    """Return the minimum bytes of a value; a code of a categorical can take one byte."""
    return dtype.itemsize if isinstance(dtype, np.dtype) and dtype.kind != "O" else 1
