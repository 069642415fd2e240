"""Free the files and the memory of a call that failed because it lacked room.

Dask's local schedulers leave a failed call in a cycle: the exception refers to the frames of the call, one
of which refers to the exception. The arrays of the call, and their files, would therefore stay until Python
happens to collect garbage. Without them, a smaller call may have the room that it needs.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from types import FrameType
from typing import Any

from dask.callbacks import Callback

from dask_graphflow.exceptions import OutputError


class _Freeing(Callback):  # type: ignore[misc]
    """Drops the results of a failed call, and the local variables of the functions that it ran."""

    def _finish(self, dsk: Any, state: dict[str, Any], errored: bool) -> None:
        error = sys.exc_info()[1]
        if errored and isinstance(error, OutputError | MemoryError):
            state["cache"] = {}
            clear_frames(error)


_freeing = _Freeing()


def watch() -> None:
    """Let calls with Dask's local schedulers free what they hold if they fail for lack of room."""
    Callback.active.add(_freeing._callback)


def clear_frames(error: BaseException | None) -> None:
    """Drop the local variables of the functions that an error, and those that led to it, passed through.

    The functions that called them count too, even if they caught the error, as Dask's own do. Functions
    that still run keep their variables.
    """
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            _clear(frame)
        error = error.__cause__ or error.__context__


def _clear(frame: FrameType | None) -> None:
    with suppress(RuntimeError):  # the function still runs, and so do those that called it
        while frame is not None:
            frame.clear()
            frame = frame.f_back
