"""Resident memory of a process, now and at its highest."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys
from pathlib import Path


def current(pid: int | None = None) -> int:
    """Return the resident bytes now; where the system does not tell, the highest so far."""
    return _status("VmRSS", pid)


def peak(pid: int | None = None) -> int:
    """Return the highest number of resident bytes since the start or the last reset."""
    return _status("VmHWM", pid)


def reset_peak() -> None:
    """Begin the highest anew at what is resident now, with free memory given back to the system.

    What an earlier step has freed and the allocator has kept would otherwise be used again without
    being counted. Where the system cannot begin anew, the highest goes on to count from the start.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def _status(field: str, pid: int | None) -> int:
    try:
        lines = Path(f"/proc/{pid or 'self'}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        if pid is not None:
            return 0  # the process has ended
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    for line in lines:
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0  # a process that is just ending has no memory any more
