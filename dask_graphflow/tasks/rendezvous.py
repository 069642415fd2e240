"""The rendezvous of a gang's members: the scheduler tracks which members of a run are present.

A run is *gathering* until all its members have joined, then *going* until all have ended. Whether a missing
member will join is not recorded here, but follows from the state of its task. Dask itself runs the task
again if a worker or its result is lost. There are three rules:

* If a member of a run fails or is lost, the run is over for the other members: they are told to run
  again, and join anew. If the member was cancelled, Dask also cancels the others. If it failed, they fail
  with the same error (:mod:`.ties`).
* If a run is gathering and the missing member has ended before, that member is made to run again.
* If a run is gathering and a missing member cannot join, or workers were lost too often, all members that
  have joined raise :class:`~dask_graphflow.exceptions.WorkerLostError`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from distributed import SchedulerPlugin
from distributed.stealing import fast_tasks

from .failing import AGAIN, WAITING, give_advice, send_now
from .gang_expr import roster_of
from .names import pinned_to, ready_name, stays
from .ties import Ties

logger = logging.getLogger(__name__)

LOSSES = 3  # after this many losses a run is given up, as a task is (:mod:`.losses`)
GRACE = 2.0  # seconds for the scheduler to learn of a worker's death after another worker has
DEPTH = 5  # maximum number of steps from a shard back to the partitions that it is made from
WALK = 10_000  # maximum number of tasks that are checked on the way
LOOKS = 4  # number of checks per timeout of what a run is waiting for
LOOK = f"Look at the workers' logs and memory, {AGAIN}"


@dataclass
class _Arrival:
    id: str  # unique for each run of the member's task
    worker: str
    address: tuple[str, int, str]  # host, port, and the name of the process


@dataclass(eq=False)
class _GangRun:
    gang: str
    size: int
    timeout: float
    alone: bool
    going: bool = False
    members: dict[int, _Arrival] = field(default_factory=dict)  # by rank, until they end
    losses: set[str] = field(default_factory=set)  # workers, and members whose connections broke
    watched: bool = False
    stuck: int = 0  # consecutive checks that found a missing member unable to join

    @property
    def complete(self) -> bool:
        return len(self.members) == self.size

    @property
    def workers(self) -> list[str]:
        return [member.worker for member in self.members.values()]


class Rendezvous(SchedulerPlugin):  # type: ignore[misc]
    """Places members, brings them together, and tells them when a run is over."""

    name = "graphflow-rendezvous"
    idempotent = True

    async def start(self, scheduler: Any) -> None:
        """Register the handlers of messages from members."""
        self._scheduler = scheduler
        self._ties = Ties(scheduler)
        self._runs: dict[str, _GangRun] = {}
        self._turns: list[_GangRun] = []  # complete runs that are not going yet
        self._timers: set[asyncio.TimerHandle] = set()
        scheduler.stream_handlers["graphflow-gang-join"] = self._join
        scheduler.stream_handlers["graphflow-gang-broken"] = self._broken

    async def close(self) -> None:
        """Cancel all timers."""
        for timer in self._timers:
            timer.cancel()

    def update_graph(self, scheduler: Any, *, tasks: Any, **_: Any) -> None:
        """Tie the members of the gangs in a new graph to each other, and place them."""
        new = [task for key in tasks if (task := scheduler.tasks[key]).state == "released"]
        members = {task.key[0]: task for task in new if roster_of(task.run_spec) is not None}
        for one in members.values():
            _place(scheduler, self._ties.tie(one))
        _keep_together(scheduler, new)

    def transition(self, key: Any, start: str, finish: str, *_: Any, **__: Any) -> None:
        """Update a run when the state of a member's task changes."""
        self._ties.transition(key, finish)
        if finish == "released" and stays(key):
            self._move(self._scheduler.tasks[key])
        run = self._runs.get(key[0]) if isinstance(key, tuple) and key else None
        if run is None:
            if start == "processing" and finish not in ("memory", "erred"):
                self._lost(key)
            return
        member = run.members.pop(key[1], None) if start == "processing" else None
        if member is not None and finish not in ("memory", "erred"):
            # Dask removes a lost worker from its list before it handles the worker's tasks.
            if member.worker not in self._scheduler.workers:
                run.losses.add(member.worker)
                if run.going:
                    logger.warning("%s runs again: worker %s was lost", run.gang, member.worker)
                _place(self._scheduler, [task for task in self._tasks(run) if task is not None])
            if run.going:
                self._over(run)
        self._later(0, self._look_after, run)  # not now, because Dask is processing transitions

    def _move(self, task: Any) -> None:
        """Choose another worker for tasks that were held to the worker of this task, if it is lost."""
        held, tasks = task.worker_restrictions, self._scheduler.tasks
        if not held or not held.isdisjoint(self._scheduler.workers):
            return
        for user in task.dependents:
            user.worker_restrictions = None
            rosters = [roster_of(one.run_spec) for one in user.dependents]
            for roster in filter(None, rosters):
                members = (tasks.get((roster.name, rank)) for rank in range(len(roster.shards)))
                _place(self._scheduler, [one for one in members if one is not None])
            _keep_together(self._scheduler, user.dependencies)

    def _lost(self, key: Any) -> None:
        """Have the other members run again if this task is a member of a run on kept links.

        A member that waits for this one on its device does not notice that the connection is broken.
        Members that have joined through the scheduler meanwhile go on.
        """
        task = self._scheduler.tasks.get(key)
        roster = None if task is None else roster_of(task.run_spec)
        if roster is None:
            return
        run = self._runs.get(roster.name)
        if run is None and task.waiters:  # the gang is still wanted
            logger.warning("%s runs again: member %d was lost", *key)
        for rank in set(range(len(roster.shards))) - {key[1], *(run.members if run else ())}:
            other = self._scheduler.tasks.get((roster.name, rank))
            if other is not None and other.processing_on is not None:
                at = other.processing_on.address
                self._send(at, op="graphflow-gang-lost", gang=roster.name)

    def _tasks(self, run: _GangRun) -> list[Any]:
        return [self._scheduler.tasks.get((run.gang, rank)) for rank in range(run.size)]

    def _runs_on(self, worker: str, gang: str, rank: int) -> bool:
        task = self._scheduler.tasks.get((gang, rank))
        return bool(task and task.processing_on and task.processing_on.address == worker)

    def _join(
        self,
        worker: str,
        member: str,
        gang: str,
        rank: int,
        address: tuple[str, int, str],
        **details: Any,
    ) -> None:
        if not self._runs_on(worker, gang, rank):
            self._tell(worker, member)  # it was cancelled, or now runs on another worker
            return
        run = self._runs.get(gang)
        if run is None:
            run = self._runs[gang] = _GangRun(gang, **details)
        if run.going:  # the member's result was lost while the other members were still running
            self._over(run)
        run.members[rank] = _Arrival(member, worker, address)
        self._look_after(run)

    def _broken(
        self, worker: str, member: str, gang: str, rank: int, lost: int, late: bool, **details: Any
    ) -> None:
        run = self._runs.get(gang)
        if run is None and self._runs_on(worker, gang, rank):
            # The members had begun by themselves, on kept links. Those that notice report the same loss.
            run = self._runs[gang] = _GangRun(gang, **details, losses={"links"})
            self._later(GRACE, self._lost, (gang, rank))
            logger.warning(
                "%s runs again: member %d lost the connection to member %d", gang, rank, lost
            )
        if run is None or not _has(run, member):
            self._tell(worker, member)
        elif late:
            host, port, _ = run.members[lost].address if lost in run.members else ("?", "?", "")
            self._fail(
                run,
                f"its members could not connect to each other within {run.timeout:g} s: {worker} has "
                f"had no answer from {host}, port {port}; let workers connect on any port",
            )
        else:
            self._later(GRACE, self._still_broken, run, member, lost)

    def _still_broken(self, run: _GangRun, member: str, lost: int) -> None:
        if not (run.going and _has(run, member)):
            return
        peer = self._tasks(run)[lost]
        if peer is not None and peer.state == "memory":
            self._fail(run, f"member {lost} has ended, and another one waits for it")
            return
        run.losses.add(member)
        logger.warning("%s runs again: the connection to member %d was lost", run.gang, lost)
        self._over(run)

    def _look_after(self, run: _GangRun) -> None:
        """Take the next step for a run: gather its members, start it, or forget it."""
        if self._runs.get(run.gang) is not run:
            return
        tasks = self._tasks(run)
        if run.members and not run.going:
            self._gather(run, tasks)
        if not run.members:
            run.going = False
            if not any(task is not None and task.state in WAITING for task in tasks):
                self._runs.pop(run.gang, None)
        self._grant()

    def _gather(self, run: _GangRun, tasks: list[Any]) -> None:
        if len(run.losses) >= LOSSES:
            self._fail(
                run,
                f"workers, or connections between them, were lost {LOSSES} times",
                give_advice(self._scheduler, run.losses),
            )
            return
        if run.complete:
            run.stuck = 0
            if run not in self._turns:
                self._turns.append(run)
            return
        for rank, task in enumerate(tasks):
            why_not = None if rank in run.members else _recall(self._scheduler, task)
            if why_not is not None:
                self._fail(run, f"member {rank} cannot run again, because it {why_not}")
                return
        if not run.watched:
            run.watched = True
            self._later(run.timeout / LOOKS, self._watch, run)

    def _watch(self, run: _GangRun) -> None:
        run.watched = False
        if self._runs.get(run.gang) is not run or run.going or run.complete or not run.members:
            run.stuck = 0
            return
        tasks = enumerate(self._tasks(run))
        stuck = [
            rank for rank, task in tasks if rank not in run.members and _stuck(task, run.timeout)
        ]
        run.stuck = run.stuck + 1 if stuck else 0
        if run.stuck >= LOOKS:
            self._fail(
                run,
                f"for {run.timeout:g} s, member {stuck[0]} had no worker, or a worker that is silent",
            )
        self._look_after(run)

    def _grant(self) -> None:
        """Start the runs whose turn it is; one that must be alone waits for those before it."""
        taken = {at for run in self._runs.values() if run.going and run.alone for at in run.workers}
        # A member may have left in the meantime. When the last one joins, the run is added again.
        self._turns = [run for run in self._turns if run.complete and not run.going]
        for run in list(self._turns):
            wanted = set(run.workers) if run.alone else set()
            if not wanted & taken:
                self._turns.remove(run)
                self._go(run)
            taken |= wanted

    def _go(self, run: _GangRun) -> None:
        run.going = True
        workers = run.workers
        secret = secrets.token_bytes(32)
        addresses = [run.members[rank].address for rank in range(run.size)]
        for member in run.members.values():
            self._send(
                member.worker,
                op="graphflow-gang-start",
                member=member.id,
                secret=secret,
                addresses=addresses,
                members=workers.count(member.worker),
            )

    def _over(self, run: _GangRun, lost: str | None = None) -> None:
        """Tell all members to run again, or to raise."""
        run.going = False
        members, run.members = run.members, {}
        for member in members.values():
            self._tell(member.worker, member.id, lost)

    def _fail(self, run: _GangRun, reason: str, todo: str = LOOK) -> None:
        self._over(run, f"{run.gang} was given up: {reason}. {todo}")

    def _tell(self, worker: str, member: str, lost: str | None = None) -> None:
        self._send(worker, op="graphflow-gang-over", member=member, lost=lost)

    def _send(self, worker: str, **message: Any) -> None:
        if worker in self._scheduler.stream_comms:
            self._scheduler.worker_send(worker, message)
            send_now(self._scheduler.stream_comms[worker])

    def _later(self, seconds: float, function: Callable[..., None], *arguments: Any) -> None:
        def call() -> None:
            self._timers.discard(timer)
            function(*arguments)

        timer = asyncio.get_running_loop().call_later(seconds, call)
        self._timers.add(timer)


def _has(run: _GangRun, member: str) -> bool:
    return any(one.id == member for one in run.members.values())


def _recall(scheduler: Any, task: Any) -> str | None:
    """Make sure that the task of a missing member runs; return the reason if it cannot."""
    if task is not None and task.state == "erred":
        return f"has failed: {task.exception_text}"
    for state, then in (("memory", "released"), ("released", "waiting")):
        # If another task waits for the result, the first transition already causes the second.
        if task is not None and task.state == state:
            scheduler.transitions({task.key: then}, stimulus_id=f"graphflow-recall-{time.time()}")
    if task is None or task.state == "forgotten":
        return "is no longer known to the scheduler"
    return None


def _stuck(task: Any, timeout: float) -> bool:
    """Say whether a task, or one that it waits for, has no worker or a silent worker."""
    seen, left = {task}, [task]
    while left:
        task = left.pop()
        worker = task.processing_on
        if task.state == "no-worker" or (worker and time.time() - worker.last_seen > timeout):
            return True
        more = set(task.waiting_on or ()) - seen
        seen |= more
        left += more
    return False


def _place(scheduler: Any, members: list[Any]) -> None:
    """Restrict each member, and the tasks that make its shard, to a worker: if possible, to the shard's.

    Members are spread over the workers. The restrictions are loose: if the worker is lost, the tasks run on
    another one. Tasks that the user has restricted are not changed. If a shard is made by a pinned task
    (:mod:`.pins`), the member gets that worker, whatever else runs there.
    """
    load = dict.fromkeys(scheduler.running, 0)
    if not load:
        return
    room = math.ceil(len(members) / len(load))
    homes = {task: _homes(scheduler, task) for task in members if _is_free(task)}
    for task in sorted(homes, key=lambda task: (not homes[task], task.key[1])):
        pinned = _find_pinned(scheduler, task) & load.keys()
        has_room = {at: size for at, size in homes[task].items() if load[at] < room}
        most = max(has_room.values(), default=0)
        at_home = pinned or [at for at, size in has_room.items() if size == most]
        worker = min(at_home or load, key=lambda at: (load[at], len(at.processing), at.address))
        load[worker] += 1
        made = [
            _shard(scheduler, task),
            scheduler.tasks.get((ready_name(task.key[0]), task.key[1])),
        ]
        roster = roster_of(task.run_spec)
        if roster is not None and roster.local is not None:
            made = []  # any worker may make what the members find there
        to_come = [one for one in made if one is not None and not one.who_has and _is_free(one)]
        for held in (task, *to_come):
            held.worker_restrictions = {worker.address}
            held.loose_restrictions = True


def _keep_together(scheduler: Any, tasks: Iterable[Any]) -> None:
    """Hold tasks whose results must not be sent to the worker of the task that uses them.

    Dask would spread them, because it counts no memory for results on disk, and would send many of them at
    once, in memory.
    """
    for task in tasks:
        for user in task.dependents if stays(task.key) and scheduler.running else ():
            if not _is_free(user):
                continue
            if not user.worker_restrictions:
                idlest = min(scheduler.running, key=lambda at: (len(at.processing), at.address))
                user.worker_restrictions = {idlest.address}
            for held in (task, user):
                held.worker_restrictions = user.worker_restrictions
                held.loose_restrictions = True
                fast_tasks.add(held.prefix.name)  # other workers steal no tasks that are fast


def _is_free(task: Any) -> bool:
    return task.loose_restrictions or not (
        task.worker_restrictions or task.host_restrictions or task.resource_restrictions
    )


def _homes(scheduler: Any, task: Any) -> dict[Any, int]:
    """Return the bytes that each worker holds of a member's shard, or of the data from which it is made.

    A worker to which such a task is restricted counts too.
    """
    workers, held = scheduler.workers, Counter[Any]()
    left = [(_shard(scheduler, task), DEPTH)]
    for _ in range(WALK):
        if not left:
            break
        one, depth = left.pop()
        placed = [workers[at] for at in one.worker_restrictions or () if at in workers]
        there = one.who_has or placed
        for worker in there:
            held[worker] += max(one.nbytes, 1)
        if not there and depth:
            left += [(source, depth - 1) for source in one.dependencies]
    return {worker: size for worker, size in held.items() if worker in scheduler.running}


def _find_pinned(scheduler: Any, task: Any) -> set[Any]:
    """Return the workers to which a member's shard is pinned."""
    named = pinned_to(_shard(scheduler, task).key)
    return {scheduler.workers[named]} if named in scheduler.workers else set()


def _shard(scheduler: Any, member: Any) -> Any:
    """Return the task that makes a member's shard."""
    roster = roster_of(member.run_spec)
    assert roster is not None
    return scheduler.tasks[roster.shards[member.key[1]]]
