"""Current and peak resident memory of a process."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys
from pathlib import Path


def current(pid: int | None = None) -> int:
    """Return the current resident bytes, or the peak if the system does not report them."""
    return _status("VmRSS", pid)


def peak(pid: int | None = None) -> int:
    """Return the peak of the resident bytes since the start or the last reset."""
    return _status("VmHWM", pid)


def reset_peak() -> None:
    """Return free memory to the system, and reset the peak to the current resident memory.

    Otherwise, memory that an earlier step has freed and the allocator has kept would be reused without
    being counted. If the system cannot reset the peak, it still counts from the start of the process.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # only glibc has malloc_trim
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
    return 0  # a process that is ending no longer has any memory
