"""Ties: let the scheduler know that the members of a gang need each other.

The members' tasks do not depend on each other, and only some of them may be wanted: one partition of a
result, or those that are still in use. The others still have to run, now and if a part is lost later. A tie
is a task that depends on all members, is wanted, and never runs. So the scheduler keeps the tasks of the
members and of what they are made from, but no results. A tie ends when no part of its gang is in use.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from .failing import WAITING, free_key, send_now
from .gang_expr import depend_on, roster_of

WANTS = "graphflow-gangs"  # the name of the ties' client, which is not a process
HOLDS = "graphflow-held"  # the name of a client that wants what members find on their workers
PAUSE = 0.02  # seconds between looks for ties that may end


class Ties:
    """The ties of a scheduler's gangs. The scheduler itself keeps them, as what their client wants."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._looking = False

    def tie(self, member: Any) -> list[Any]:
        """Return the tasks of all members of a gang, given one. Tie them, and have all of them run."""
        tasks, spec, roster = self._scheduler.tasks, member.run_spec, roster_of(member.run_spec)
        assert roster is not None
        specs = [roster.task(rank, spec) for rank in range(len(roster.shards))]
        # A shard that was released meanwhile is unknown. The run then ends with an error.
        members = [
            self._known(one, member.priority)
            for one in specs
            if one.key in tasks or one.dependencies <= tasks.keys()
        ]
        spec = depend_on([task.key for task in members], _tie(member.key))
        tie = self._known(spec, member.priority)
        # Without a client that wants it, Client.cancel would forget the tie, and with it the members.
        self._scheduler.client_desires_keys([tie.key], client=WANTS)
        asyncio.get_running_loop().call_soon(self._begin, members)
        return members

    def transition(self, key: Any, finish: str) -> None:
        """When a task changes, end the tie of a failed member, and ties that are no longer needed."""
        tie = self._scheduler.tasks.get(_tie(key)) if isinstance(key, tuple) else None
        if tie is not None:
            self._hold(key, finish)
        # What follows is not done now, because Dask is processing transitions.
        if tie is not None and finish == "erred":
            asyncio.get_running_loop().call_soon(self._fail, key)
        elif tie is not None and finish == "memory" and _has_ended(tie):
            asyncio.get_running_loop().call_soon(self._report, tie)
        elif finish in ("released", "forgotten"):
            self._look_later()

    def _hold(self, key: Any, finish: str) -> None:
        """Keep the results that a member needs from other tasks, where they are, until all have ended."""
        local = _local(self._scheduler.tasks.get(key))
        if local and finish == "waiting":
            self._scheduler.client_desires_keys(local, client=HOLDS)
        elif local and finish == "memory":
            self._look_later()

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_later(PAUSE, self._look)

    def _known(self, spec: Any, priority: Any) -> Any:
        """Return the state of a task. The scheduler gets to know the task if necessary."""
        tasks = self._scheduler.tasks
        task = tasks.get(spec.key)
        if task is None:
            task = self._scheduler.new_task(spec.key, spec, "released")
            task.priority = priority
            for key in spec.dependencies:
                task.add_dependency(tasks[key])
        return task

    def _begin(self, members: list[Any]) -> None:
        """Make the scheduler run members whose results are not wanted, because the others need them."""
        if any(task.state in WAITING for task in members):
            self._transitions(members, ("released",), "waiting")

    def _report(self, tie: Any) -> None:
        """Send at once that a gang has ended, to clients and to the workers of tasks that use its parts.

        Dask has just sent the news of another member, and would wait before it sends more.
        """
        scheduler = self._scheduler
        for member in tie.dependencies:
            for client in member.who_wants or ():
                send_now(scheduler.client_comms.get(client.client_key))
            for worker in {user.processing_on for user in member.dependents or ()} - {None}:
                send_now(scheduler.stream_comms.get(worker.address))

    def _fail(self, key: Any) -> None:
        """Let the other members fail with the error of one, and end the tie."""
        tie, failed = (self._scheduler.tasks.get(one) for one in (_tie(key), key))
        if tie is None or failed is None:
            return
        others = [task for task in tie.dependencies if task.state in WAITING]
        for task in others:
            task.exception_blame = failed.exception_blame
        running = [(task.processing_on, task.key) for task in others]
        self._transitions(others, WAITING, "erred")
        for worker, other in running:
            free_key(self._scheduler, worker, other, _stimulus())
        self._end(tie)

    def _look(self) -> None:
        """End the ties of gangs of which no part is in use, and free what ended gangs have used."""
        self._looking = False
        client = self._scheduler.clients.get(WANTS)
        for tie in list(client.wants_what) if client is not None else ():
            if not any(task.state in WAITING for task in tie.dependencies):
                self._free(tie)
            if not any(_in_use(task, tie) for task in tie.dependencies):
                self._end(tie)

    def _free(self, tie: Any) -> None:
        local = _local(next(iter(tie.dependencies), None))
        if local:
            self._scheduler.client_releases_keys(local, client=HOLDS, stimulus_id=_stimulus())

    def _end(self, tie: Any) -> None:
        self._free(tie)
        self._scheduler.client_releases_keys([tie.key], client=WANTS, stimulus_id=_stimulus())

    def _transitions(self, tasks: list[Any], states: tuple[str, ...], finish: str) -> None:
        keys = {task.key: finish for task in tasks if task.state in states}
        self._scheduler.transitions(keys, stimulus_id=_stimulus())


def _has_ended(tie: Any) -> bool:
    return all(member.state == "memory" for member in tie.dependencies)


def _in_use(member: Any, tie: Any) -> bool:
    return bool(member.state != "released" or member.who_wants or member.dependents != {tie})


def _local(member: Any) -> list[Any] | None:
    """Return the keys of the results that the members of a gang find on their workers."""
    roster = None if member is None else roster_of(member.run_spec)
    return None if roster is None else roster.local


def _tie(member: Any) -> str:
    return f"{member[0]}-tie"


def _stimulus() -> str:
    return f"graphflow-tie-{time.time()}"
