"""Processes that are slowed down: workers of two speeds on one machine."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

TURN = 0.015  # seconds of one turn, in which a process runs once and is stopped once


@contextlib.contextmanager
def throttled(pid, share):
    """Let a process run for about this share of the time, in short turns; at the end, let it run freely."""
    done = threading.Event()
    turns = threading.Thread(target=_turns, args=(pid, share, done), name=f"throttle-{pid}")
    turns.start()
    try:
        yield
    finally:
        done.set()
        turns.join()


def _turns(pid, share, done):
    with contextlib.suppress(ProcessLookupError):  # it has ended
        try:
            since = time.monotonic()
            while not done.wait(TURN * share):
                ran = time.monotonic() - since
                os.kill(pid, signal.SIGSTOP)
                # A share of the time that it ran, not of the time that it should have run.
                done.wait(ran * (1 - share) / share)
                os.kill(pid, signal.SIGCONT)
                since = time.monotonic()
        finally:
            os.kill(pid, signal.SIGCONT)
