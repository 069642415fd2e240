"""Measure a contender's peak memory in a separate process."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from .contenders import Settings, make


def peak_memory(name: str, settings: Settings) -> int:
    """Return the peak memory of one run in bytes, above the resident memory with the input loaded."""
    # Spawn the process, because a fork would start with the memory of this one.
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
