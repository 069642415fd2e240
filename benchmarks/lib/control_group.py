"""A control group of Linux, which limits the memory of processes and of the files that they read."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
FIRST = (GROUPS / "memory").is_dir()  # version 1 has a folder per resource


@contextmanager
def limited(limit: int) -> Iterator[Path]:
    """Make a control group with a limit of memory in bytes, and end its processes at the end."""
    group = GROUPS / ("memory" if FIRST else "") / f"graphflow-{os.getpid()}"
    group.mkdir()
    name = "memory.limit_in_bytes" if FIRST else "memory.max"
    (group / name).write_text(str(limit), encoding="ascii")
    try:
        yield group
    finally:
        while found := members(group):
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        group.rmdir()


@contextmanager
def within(limit: int) -> Iterator[None]:
    """Put this process into a control group, and take it out again."""
    with limited(limit) as group:
        enter(group)
        try:
            yield
        finally:
            enter(group.parent)


def enter(group: Path) -> None:
    """Put this process into a control group."""
    (group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")


def members(group: Path) -> list[int]:
    """Return the ids of a group's processes."""
    return [int(pid) for pid in (group / "cgroup.procs").read_text(encoding="ascii").split()]


def own(group: Path) -> int:
    """Return the current bytes of the memory of a group's processes, without files."""
    lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
    return int(dict(line.split() for line in lines)["rss" if FIRST else "anon"])


def killed(group: Path) -> bool:
    """Return whether Linux has killed a process of a group because of the limit."""
    events = group / ("memory.oom_control" if FIRST else "memory.events")
    return "oom_kill 0" not in events.read_text(encoding="ascii").splitlines()


def forget(path: Path) -> None:
    """Let Linux remove a file from its cache."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
