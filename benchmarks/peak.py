"""Measures a contender's peak memory, in a process of its own."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from .contenders import Settings, make


def peak_memory(name: str, settings: Settings) -> int:
    """Return the most bytes that one run has above what was resident with the input loaded."""
    # Spawned, not forked: a fork would begin with this process's memory.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as executor:
        return executor.submit(_measure, name, settings).result()


def _measure(name: str, settings: Settings) -> int:
    contender = make(name, settings.recipe.load(), settings)
    contender.start()
    try:
        contender.warm_up()
        contender.begin_memory()
        contender.run()
        return int(contender.peak_memory())
    finally:
        contender.stop()
