"""Signals that ask a command to end. It removes its unfinished files first, as after Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Ended(KeyboardInterrupt):
    """A signal asked this process to end.

    Attributes
    ----------
    code : int
        The exit code, as a shell reports the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def raised() -> Iterator[None]:
    """Raise :class:`Ended` in this thread on the first of these signals, and ignore further ones.

    A signal that is ignored already stays ignored, as SIGHUP under nohup.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [one for one in SIGNALS if signal.getsignal(one) is signal.SIG_DFL]

    def end(number: int, _: FrameType | None) -> None:
        # timeout and batch systems send a signal twice: to the process and to its group.
        for one in taken:
            signal.signal(one, signal.SIG_IGN)
        raise Ended(number)

    for one in taken:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)
