"""Names of tasks: they are shown on a dashboard, and say where a task must run."""

from __future__ import annotations

import uuid
from typing import Any

MARK = "-graphflow-at-"
GANG = "-gang-"
STAYS = "-graphflow-stays"


def named(stage: str, token: str) -> str:
    """Return the name of the tasks of a stage. A dashboard shows it without the token.

    Examples
    --------
    >>> named("hook", "0a1b2c")
    'graphflow-hook-0a1b2c'
    """
    return f"graphflow-{stage}-{token}"


def unique(stage: str) -> str:
    """Return the name of a task that runs each time, even if an equal one has run before."""
    return named(stage, uuid.uuid4().hex)


def pinned(stage: str, worker: str | None) -> str:
    """Return a stage's name that contains the worker on which it must run.

    Examples
    --------
    >>> pinned("hook", None)
    'hook'
    >>> pinned("hook", "tcp://10.0.0.1:8786")
    'hook-graphflow-at-tcp://10.0.0.1:8786'
    """
    return stage if worker is None else f"{stage}{MARK}{worker}"


def pinned_to(key: Any) -> str | None:
    """Return the worker that is named in a task's key, or None.

    Examples
    --------
    >>> pinned_to(("graphflow-hook-graphflow-at-tcp://10.0.0.1:8786-0a1b2c", 0, 3))
    'tcp://10.0.0.1:8786'
    """
    _, mark, rest = str(key[0] if isinstance(key, tuple) else key).partition(MARK)
    return rest.rpartition("-")[0] if mark else None


def staying(stage: str) -> str:
    """Return the name of a stage whose results must not be sent to another worker.

    Examples
    --------
    >>> staying("read")
    'read-graphflow-stays'
    """
    return stage + STAYS


def stays(key: Any) -> bool:
    """Say whether the result of a task must not be sent to another worker.

    Examples
    --------
    >>> stays(("graphflow-read-graphflow-stays-0a1b2c", 3)), stays(("graphflow-read-0a1b2c", 3))
    (True, False)
    """
    return isinstance(key, tuple) and isinstance(key[0], str) and STAYS in key[0]


def gang(title: str, token: str) -> str:
    """Return the name of a gang's members; the rank of each is the rest of its key.

    Examples
    --------
    >>> gang("bfs", "0a1b2c")
    'graphflow-bfs-gang-0a1b2c'
    """
    return named(f"{title}-gang", token)


def ready_name(gang: str) -> str:
    """Return the name of the tasks that say that the shards of a gang are there.

    Examples
    --------
    >>> ready_name(gang("bfs", "0a1b2c"))
    'graphflow-bfs-ready-0a1b2c'
    """
    title, _, token = gang.rpartition(GANG)
    return f"{title}-ready-{token}"
