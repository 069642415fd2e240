"""A throttled process gets about its share of the time, and all of it afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest
from throttle import throttled

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="stops processes by signals")

SECONDS, PATIENCE = 0.6, 20


@pytest.fixture
def busy():
    """Return a process that uses all the time it gets."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield psutil.Process(process.pid)
        process.kill()


def used(process):
    """Yield the share of a core that a process has had from now on, for longer and longer."""
    since, before = time.monotonic(), sum(process.cpu_times()[:2])
    while time.monotonic() < since + PATIENCE:
        time.sleep(SECONDS)
        yield (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - since)


@pytest.mark.parametrize("share", [0.1, 0.25])
def test_a_process_has_its_share_at_most(busy, share):
    with throttled(busy.pid, share):
        # Where the machine is busy, a turn may be long; the process is then stopped for longer, too.
        assert any(0 < one < 2 * share for one in used(busy))
    assert next(used(busy)) > 0


def test_a_throttled_process_continues_after_an_error(busy):
    with pytest.raises(KeyError), throttled(busy.pid, 0.01):
        raise KeyError
    assert busy.status() != psutil.STATUS_STOPPED
    assert next(used(busy)) > 0
