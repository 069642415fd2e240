"""Run a command whose result is a frame: compute it, write it, and say what was written."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from .engine import Engine
from .output import Output
from .result_tables import first_rows, summary_json, summary_text


def run(
    frame_of: Callable[[Output], Any],
    *,
    output: str | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool = False,
    workers: int = 0,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> None:
    """Write the lazy frame that a function returns, and print a summary or, without a file, the rows."""
    started = time.perf_counter()
    with (
        Output(output, overwrite=overwrite) as out,
        Engine(workers, threads, memory_limit, show_progress=not quiet) as engine,
    ):
        (parts,) = engine.compute(out.parts(frame_of(out)))
        rows = out.publish(parts)
        if out.is_stdout:
            if as_json or output is not None:
                out.print(rows, "jsonl" if as_json else "csv")
            else:
                click.echo(first_rows(rows))
            return
        if quiet:
            return
        told = rows.summary()
        told["seconds"] = round(time.perf_counter() - started, 2)
        if (peak := engine.peak_memory()) is not None:
            told["peak memory in MiB"] = peak >> 20
        told["output"] = output
    click.echo(summary_json(told) if as_json else summary_text(told))
