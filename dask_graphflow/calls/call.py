"""A call: how it is checked and sent to the members of a gang, and how each member carries it out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.declarations.algorithm import DECLARED
from dask_graphflow.declarations.answer import Answer
from dask_graphflow.declarations.option import Flag
from dask_graphflow.declarations.previous import PREVIOUS, ResultToken
from dask_graphflow.exceptions import GraphMemoryError, WeightError
from dask_graphflow.graph import stored
from dask_graphflow.graph.device_shard import on_this_device
from dask_graphflow.graph.shard import Shard
from dask_graphflow.inputs.hold_frame import as_dask
from dask_graphflow.kernels import is_on_disk, no_room_on_device
from dask_graphflow.operators.access import check_host_room
from dask_graphflow.operators.view import GraphView
from dask_graphflow.tasks import partitions
from dask_graphflow.tasks.progress import Progress, listener
from dask_graphflow.tasks.tokens import token_of

from .empty_frames import empty_result
from .join_columns import ask_with
from .results import result_frames, steps_frame
from .shards import Shards

logger = logging.getLogger(__name__)

MOST_PARTS = 32
PARTITIONS_PER_PART = 8  # partitions of the edges per partition of the result
ELSEWHERE = "keep the edges on disk (Graph(..., storage='disk')), "


@dataclass(frozen=True)
class Call:
    """A call of an algorithm on a graph. Each member gets it, and carries it out."""

    name: str  # name of the Dask task
    # The algorithm. Each member calls it with its :class:`.GraphView` and the call's arguments, and it
    # returns an :class:`.Answer`.
    work: Callable[..., Answer]
    # Mapping of str to dtype. All columns of the result. "id" stands for vertex ids, and "id or null" for
    # vertex ids that can be null.
    columns: Mapping[str, Any]
    # {"vertices", "edges", "pairs", "listed"}. The meaning of each row of the result; see :class:`.Result`.
    # "pairs": the ends of edges, where parallel edges have one row.
    rows: str = "vertices"
    incoming: bool = False  # whether `work` uses only the edges that enter vertices
    trace: bool = False  # whether to return a frame with one row per superstep too
    token: ResultToken | None = None  # what the frames of the result say about it in their attrs
    # The first member reports each superstep to it.
    progress: Progress = field(default_factory=partial(Progress, None))

    def send(self, shards: Shards, *arguments: Any, frames: Mapping[str, Any] | None = None) -> Any:
        """Send the call to the members of a graph, and return its result as a lazy frame.

        The algorithm gets the picklable `arguments`, after a dict of lists of partitions if there are
        `frames`, which all members read. With a trace, it returns a pair of frames; the second one has one
        row per superstep.
        """
        shards.settle()
        meta, by_member = empty_result(shards.spec, self.columns), shards.by_member
        parts = min(MOST_PARTS, -(-shards.spec.partitions // PARTITIONS_PER_PART))
        parts = max(1, parts // shards.count)
        loop = partial(self.carry_out, parts=parts, by_member=by_member)
        run = partial(shards.run, name=self.name, incoming=self.incoming, frames=frames)
        if parts == 1 and not self.trace:
            return self.progress.of(run(loop, meta, *arguments))
        idle = [meta.frame] * parts
        if self.trace:
            idle.append(steps_frame([], 0 if by_member else None))
        results = self.progress.of(run(loop, None, *arguments, idle=idle))
        rows = partitions.frames(results, range(parts), meta)
        return (rows, partitions.frames(results, [parts], idle[-1])) if self.trace else rows

    def carry_out(
        self,
        channel: Channel,
        shard: Shard,
        rank: int,
        *arguments: Any,
        parts: int,
        by_member: bool,
    ) -> Any:
        """Carry out the call as a member of a gang, and return the frames of the member's rows.

        The result is split into `parts` frames, as many on all members. The trace is the last one, and says
        with `by_member` how the member spent the time. A single frame is not in a list.
        """
        channel.resources.relieve()
        began, mixed = time.perf_counter(), shard.placed is not None
        if shard.for_device or (mixed and channel.resources.gpu):
            shard = on_this_device(shard)
        exchange = Exchange(channel, device=shard.on_device, mixed=mixed)
        threads = channel.resources.threads
        steps: list[dict[str, Any]] = []
        with self.progress.listening() if rank == 0 else nullcontext() as tell:

            def note(row: dict[str, Any]) -> None:
                if self.trace:
                    steps.append(row)
                if tell is not None:
                    tell(row)

            noting = self.trace or tell is not None
            g = GraphView(shard, exchange, threads, note if noting else None)
            with _memory_errors_explained(shard):
                answer = self.work(g, *arguments)
        frames = result_frames(
            shard, exchange, answer, self.columns, rows=self.rows, parts=parts, threads=threads
        )
        if self.token is not None:
            attrs = self.token.attrs(exchange.all_sum(sum(map(len, frames))))
            for frame in frames:
                frame.attrs = attrs
        seconds = time.perf_counter() - began
        logger.debug("%s: member %d of %d took %.3g s", self.name, rank, exchange.size, seconds)
        if self.trace:
            member = rank if by_member else None
            frames.append(
                steps_frame(steps, member, linked=shard.linked, transfer=exchange.transfer)
            )
        return frames if parts > 1 or self.trace else frames[0]


def ask(
    shards: Shards,
    run: Callable[..., Answer],
    /,
    *,
    trace: bool = False,
    progress: Any = False,
    columns: Any = None,
    **options: Any,
) -> Any:
    """Check the options of an algorithm, and return its result on a graph as a lazy frame."""
    declared, spec = DECLARED[run.__name__], shards.spec
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
    values = options | {
        name: as_dask(options[name], name) for name, check in checks.items() if check.reads_frame
    }
    sent = options | {name: check.check(name, values[name], spec) for name, check in checks.items()}
    resolve = {
        name: check.resolving(sent, spec) for name, check in checks.items() if check.names_vertices
    }
    result, token = declared.result.of_call(sent), None
    returned = result.all_columns(spec, sent, weighted=declared.weights != "ignored")
    rows, join = result.rows, None
    if columns is not None:
        returned, join = ask_with(shards, declared, columns, returned)
        rows = "pairs" if rows == "edges" else rows
    if declared.previous is not None:
        others = {name: value for name, value in sent.items() if name != PREVIOUS}
        token = ResultToken(shards.version, f"{declared.name}-{token_of(others)}")
        if PREVIOUS in checks:
            earlier = token._replace(version=shards.earlier)
            resolve[PREVIOUS] = declared.previous.expect(sent[PREVIOUS], earlier, returned, sent)
    name = declared.name.replace("_", "-")
    call = Call(
        name,
        partial(_answer, run=run, resolve=resolve, edge_bytes=declared.edge_bytes),
        returned,
        rows=rows,
        incoming=declared.incoming and not resolve,
        trace=Flag().check("trace", trace, spec),
        progress=Progress(listener(progress, name)),
        token=token,
    )
    frames = {name: sent.pop(name) for name, check in checks.items() if check.reads_frame}
    answer = call.send(shards, sent, frames=frames)
    return answer if join is None else join(answer)


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
    if not shard.on_device and shard.has(stored.OUT) and is_on_disk(ends := shard.out.ends):
        check_host_room(
            g,
            edge_bytes[g.weighted] * len(ends),
            f"{run.__name__} of a graph whose edges are on disk",
            "It needs memory for every edge, unlike most functions. Use workers or a machine with more "
            "memory, or more workers, each of which has fewer edges",
        )
    options = {name: value for part in sent for name, value in part.items()}
    return run(g, **options | {name: find(g, options[name]) for name, find in resolve.items()})


@contextmanager
def _memory_errors_explained(shard: Shard) -> Iterator[None]:
    """Convert a memory error into one that says what helps."""
    try:
        yield
    except GraphMemoryError:
        raise
    except MemoryError as error:
        if shard.host is not shard:
            raise no_room_on_device() from error
        movable = shard.has(stored.OUT) and not is_on_disk(shard.out.ends)
        raise GraphMemoryError(
            f"the call needs more memory than is available ({error}). Give smaller values for options that "
            f"enlarge the result, {ELSEWHERE if movable else ''}or use a machine with more memory",
            needed=0,
            available=None,
        ) from error
