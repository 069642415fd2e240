"""The shards of a graph: every call builds them until they are persisted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd
from dask.base import tokenize
from dask.delayed import Delayed, delayed

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.graph.build import Choose, Recipe, build
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.room import Plan
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shares import Hybrid, Rate
from dask_graphflow.tasks import clients, gang, gang_build
from dask_graphflow.tasks.expr import Empty, Resident, bind, bind_known
from dask_graphflow.tasks.gang_expr import Gang, Reads, as_delayed
from dask_graphflow.tasks.names import named
from dask_graphflow.tasks.reading import read_edges, read_vertices
from dask_graphflow.tasks.tokens import token_of
from dask_graphflow.tasks.with_frames import with_frames, with_held_frames

from .further_columns import FurtherColumns

if TYPE_CHECKING:
    from dask_graphflow.storage.folders import Folder

Derive = Callable[[Shard, Exchange, int], Shard]


@dataclass(frozen=True)
class MemberPlan:
    """Which members build the shards of a graph."""

    count: int  # number of members; with `choose`, the maximum
    # Chooses the number of members in the build; see :data:`.build.Choose`.
    choose: Choose | None = None
    hybrid: Hybrid | None = None  # the share of each member, for workers with and without a GPU
    rate: Rate | None = None  # measures the speed of a member of a hybrid; see :data:`.shares.Rate`
    # Address of the worker of each member of a hybrid, on a cluster.
    workers: Sequence[str] | None = None
    # Whether calls run on the members' devices although the edges are in host memory.
    device: bool = False
    on_disk: bool = False  # whether the members store the edges in files
    why: str = ""  # why the edges are stored there, if this was not the caller's choice

    @property
    def on_devices(self) -> bool:
        """Whether calls run on the devices of some members although the edges are in host memory."""
        return self.device or self.hybrid is not None


@dataclass(frozen=True)
class Saved:
    """The folder in which a graph was saved, and its updates since."""

    folder: Folder
    version: str  # the token of the version that was saved
    # The token of the version after each update, and its batch; see :func:`.updating.next_version`.
    updates: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def followed_by(self, version: str, batch: Mapping[str, Any]) -> Saved:
        """Return this with another update, which made a version."""
        return Saved(self.folder, self.version, (*self.updates, (version, batch)))


class Shards:
    """The shards of a graph, which are lazy until they are persisted.

    `frames` are that of the edges and those of further vertices, and how to read each.

    Attributes
    ----------
    count : int
        Number of shards. If the build chooses it, this is the maximum until :meth:`settle` has the choice.
    reason : str or None
        Why the build chose this number of shards, once it is known.
    sizes : dict of str to int
        The numbers of vertices and edges, if they were asked for after the shards were persisted, or if the
        graph was saved.
    folder : str or None
        The folder of the saved graph from which the shards are loaded; None if they are built.
    version : str
        A token of what the graph is made from: equal tokens mean equal graphs.
    earlier : str or None
        The version from which an update made this one; None if no update made it.
    persisted : bool
        Whether the shards are persisted, or are being built for that.
    saved : Saved or None
        Where the graph was saved, and how it was updated since.
    further : FurtherColumns or None
        The columns of the edges that the graph keeps beside its rows.
    """

    def __init__(
        self, spec: GraphSpec, frames: Sequence[tuple[Any, EdgeColumns]], plan: MemberPlan
    ) -> None:
        self.spec, self.plan, self.count = spec, plan, plan.count
        self.reason: str | None = None
        self.sizes: dict[str, int] = {}
        self.folder: str | None = None
        self.version = token_of(*frames, spec.directed, spec.multi)
        self.earlier: str | None = None
        self.saved: Saved | None = None
        self.persisted = False
        self.further: FurtherColumns | None = None
        self._base: Shards | None = None  # the shards from which an update makes these
        self._derive: tuple[Derive, ...] = ()  # steps from the shards to those of a derived graph
        self._memory_plan = None if spec.on_device else self._plan_memory(frames)
        read: Callable[..., Any] = partial(read_edges, plan=self._memory_plan)
        inputs = []
        for frame, columns in frames:
            inputs.append((frame, columns.columns, partial(read, columns=columns)))
            read = partial(read_vertices, like=spec.ids, on_disk=plan.on_disk)
        self._only_edges = len(frames) == 1
        # Returns what the members read to build the shards; None once the shards are persisted.
        self._deal_reads: Callable[..., Reads] | None = partial(
            gang_build.deal_reads, inputs, plan.count, workers=plan.workers, stay=plan.on_disk
        )
        self._choice: Delayed | None = None  # the number and the reason, until they are known

    def _plan_memory(self, frames: Sequence[tuple[Any, EdgeColumns]]) -> Plan:
        edges = frames[0][0] if frames else None
        kept = isinstance(edges, dd.DataFrame) and Resident.of(edges.expr) is not None
        spec, plan = self.spec, self.plan
        return Plan(spec.partitions, plan.count, spec.directed, plan.on_disk, kept)

    @cached_property
    def built(self) -> list[Delayed]:
        """The shards, each as a lazy object or, once persisted, as the future of one."""
        return as_delayed(self._building)

    @cached_property
    def _building(self) -> Gang:
        """The gang that builds the shards, as an expression: calls use it without optimizing it twice."""
        assert self._deal_reads is not None
        alone = self.spec.on_device
        return gang.expression(
            self._deal_reads(alone=alone), self._build_loop(), None, name="build", alone=alone
        )

    @property
    def by_member(self) -> bool:
        """Whether a trace says which member it is of: there can be several."""
        return self.plan.count > 1 or self.plan.hybrid is not None

    def persist(self) -> Shards:
        """Start to build the shards and keep them; return the persisted shards."""
        kept = object.__new__(Shards)
        kept.__dict__.update(self.__dict__, built=clients.persist(self.built))
        kept.sizes = dict(self.sizes)
        # The frames would stay in memory otherwise, and the graph from which an update makes this one.
        kept.persisted, kept._deal_reads, kept._base = True, None, None
        kept.further = None if self.further is None else self.further.persist()
        kept.__dict__.pop("_building", None)
        if self.plan.choose is not None:
            kept._choice = clients.persist(_chosen(kept.built[0]))
        return kept

    @classmethod
    def loaded(
        cls,
        spec: GraphSpec,
        built: list[Delayed],
        sizes: dict[str, int],
        folder: str,
        on_disk: bool,
        version: str,
    ) -> Shards:
        """Return the shards of a saved graph, each of which a lazy object loads."""
        shards = cls(spec, [], MemberPlan(len(built), on_disk=on_disk))
        shards.built, shards.sizes = built, sizes
        shards.folder, shards.version = folder, version
        return shards

    def derived(self, spec: GraphSpec, derive: Derive) -> Shards:
        """Return the shards of a derived graph, which each call makes from these shards.

        These shards memoize what `derive` returns, a function of :mod:`~dask_graphflow.graph.derived`, so a
        persisted graph makes it only once.
        """
        made = object.__new__(Shards)
        made.__dict__.update(self.__dict__, spec=spec, sizes={}, earlier=None, saved=None)
        made.version = token_of(self.version, derive)
        made._derive = (*self._derive, derive)
        return made

    def updated(self, loop: gang.Loop, frames: Mapping[str, Any]) -> Shards:
        """Return the shards of the next version of the graph, which `loop` makes from these shards.

        All members read the `frames`, and `loop` runs on all of them; see :func:`.with_frames`.
        """
        self.settle()
        if self._derive:
            loop = partial(_derive_and_run, derive=self._derive, loop=loop)
        carried, loop = self._with_frames(frames, loop, on_all=True)
        made = object.__new__(Shards)
        made.__dict__.update(
            self.__dict__, sizes={}, folder=None, persisted=False, further=None, _base=self
        )
        made.version, made.earlier = token_of(self.version, loop, frames), self.version
        made._derive, made._only_edges, made._deal_reads, made._choice = (), False, None, None
        made.__dict__.pop("built", None)
        alone = self.spec.on_device
        made._building = gang.expression(carried, loop, None, name="update", alone=alone)
        return made

    def settle(self) -> None:
        """Drop the persisted shards without vertices, once their build has chosen the others.

        This does not wait for the build. Until it has ended, algorithms have an idle task per such shard.
        """
        chosen = None if self._choice is None else clients.result_if_done(self._choice)
        if chosen is not None:
            self.count, self.reason = chosen
            self.built, self._choice = self.built[: self.count], None

    def known_count(self) -> int | None:
        """Return the number of shards, or None if the build chooses it and has not ended."""
        self.settle()
        return None if self.plan.choose is not None and self.reason is None else self.count

    def size(self, name: str, loop: gang.Loop) -> int:
        """Return the number of vertices or edges, which `loop` counts. Waits for the result."""
        if name in self.sizes:
            return self.sizes[name]
        counted = self.run(loop, None, name=f"num-{name}")[0]
        number = int(clients.wait_for(counted, f"num_{name}"))
        if self.persisted:
            self.sizes[name] = number
        return number

    def run(
        self,
        loop: gang.Loop,
        meta: Any,
        *arguments: Any,
        name: str,
        incoming: bool = False,
        frames: Mapping[str, Any] | None = None,
        idle: Any = None,
    ) -> Any:
        """Return, lazily, the result of a gang that runs on the shards; see :func:`.gang.run`.

        If `loop` uses only `incoming` edges, several shards that are not persisted are built with only
        these. All members read the `frames`; see :func:`.with_frames`. By default, `idle`, the result of a
        member without a shard, is `meta`.
        """
        bind(self._futures())
        self.settle()
        if self._derive:
            loop = partial(_derive_and_run, derive=self._derive, loop=loop)
        if self.plan.choose is None or self.reason is not None:
            idle = None  # every member has a shard
        elif idle is None and meta is not None:
            idle = Empty.of(meta).frame
        alone = self.spec.on_device or self.plan.on_devices
        shards: Any
        if incoming and self._deal_reads is not None and self._can_build_incoming():
            shards, build = self._deal_reads(alone=alone), self._build_loop(turned=True)
            loop = partial(_build_and_run, build=build, loop=loop, idle=idle)
        elif frames:
            shards, loop = self._with_frames(frames, loop)
        else:
            shards = self._made
        return gang.run(shards, loop, meta, *arguments, name=name, alone=alone, idle=idle)

    @property
    def _made(self) -> Any:
        """The shards, as :func:`.gang.run` takes them; those of a new graph are made in the same run."""
        return self.built if self.persisted or self.folder else self._building

    def _with_frames(
        self, frames: Mapping[str, Any], loop: gang.Loop, *, on_all: bool = False
    ) -> tuple[Any, gang.Loop]:
        """Return the shards and a loop that takes them and the frames, which all members read."""
        alone = with_held_frames(frames, loop) if self.count == 1 else None
        if alone is not None:
            return self._made, alone
        return with_frames(self.built, frames, loop, on_all=on_all)

    def _can_build_incoming(self) -> bool:
        """Return whether a call can build only the edges that enter vertices."""
        spec = self.spec
        plain = spec.directed and not spec.weighted and spec.multi == "keep"
        plain = plain and not self._derive and not self.plan.on_disk
        return plain and self.count > 1 and self._only_edges

    def _build_loop(self, *, turned: bool = False) -> gang.Loop:
        spec, plan = self.spec, self.plan
        recipe = Recipe(
            spec.directed, spec.multi, turned=turned, hybrid=plan.hybrid, rate=plan.rate,
            choose=plan.choose, for_device=plan.device, on_disk=plan.on_disk,
            plan=self._memory_plan,
        )  # fmt: skip
        return partial(build, recipe=recipe)

    def _futures(self) -> list[Any]:
        """Return the futures of persisted shards: these, or the ones that an update reads.

        The list is empty if no cluster stores them.
        """
        if self._base is not None:
            return self._base._futures()
        kept = [*self.built, self._choice] if self.persisted else []
        kept += [] if self.further is None else self.further.built
        values = [value for one in kept if one is not None for value in one.dask.values()]
        return [value for value in values if hasattr(value, "add_done_callback")]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        bind_known(self._futures())


def _build_and_run(
    channel: Channel,
    pieces: Any,
    rank: int,
    *arguments: Any,
    build: gang.Loop,
    loop: gang.Loop,
    idle: Any,
) -> Any:
    """Build a graph as a member of a gang, and run an algorithm on it in the same run."""
    shard = build(channel, pieces, rank)
    if rank >= shard.members:
        return idle
    channel.narrow(shard.members)
    return loop(channel, shard, rank, *arguments)


def _derive_and_run(
    channel: Channel,
    shard: Shard,
    rank: int,
    *arguments: Any,
    derive: tuple[Derive, ...],
    loop: gang.Loop,
) -> Any:
    """Make the shard of a derived graph as a member of a gang, and run an algorithm on it."""
    exchange = Exchange(channel, device=shard.on_device)
    for step in derive:
        shard = step(shard, exchange, channel.resources.threads)
    return loop(channel, shard, rank, *arguments)


def _chosen(shard: Delayed) -> Delayed:
    """Return, lazily, the number of shards that the build chose, and the reason."""
    task: Delayed = delayed(_choice)(shard, dask_key_name=named("choice", tokenize(shard)))
    return task


def _choice(shard: Shard) -> tuple[int, str]:
    """Return the number of shards, and the reason."""
    return shard.members, shard.choice
