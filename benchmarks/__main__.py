"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from benchmarks.commands import (
    algorithms,
    checking,
    compare,
    estimates,
    first_calls,
    from_a_table,
    hybrid,
    launches,
    members,
    networkx_backend,
    on_disk,
    on_gpu,
    out_of_core,
    pages,
    under_limit,
)
from benchmarks.lib.errors import BenchmarkError

COMMANDS = (
    algorithms,
    members,
    out_of_core,
    hybrid,
    launches,
    first_calls,
    compare,
    estimates,
    networkx_backend,
    on_disk,
    from_a_table,
    under_limit,
    checking,
)

TOOLS = (on_gpu, pages)  # which store what they find in their own way


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for module in (*COMMANDS, *TOOLS):
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        about = str(module.__doc__)
        command = commands.add_parser(name, help=about.partition("\n")[0], description=about)
        module.add_arguments(command)
        if module in COMMANDS:
            _add_shared(command)
        command.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    # Peers that use OpenMP read this when they are first imported or started.
    workers = getattr(options, "workers", None)
    if workers is not None:
        os.environ["OMP_NUM_THREADS"] = str(workers if isinstance(workers, int) else max(workers))
    try:
        return int(options.run(options))
    except BenchmarkError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


def _add_shared(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("workers") is None:  # some benchmarks define their own --workers
        parser.add_argument("--workers", type=int, default=2, help="cores to use (default 2)")
    parser.add_argument(
        "--json",
        metavar="PATH",
        help="store the results in this file; 'auto' names one in benchmarks/results",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="store the results in a file in this folder"
    )


if __name__ == "__main__":
    raise SystemExit(main())
