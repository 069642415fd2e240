"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence

from benchmarks import commands
from benchmarks.lib.errors import BenchmarkError

TOOLS = ("on_gpu", "pages")  # which store what they find in their own way
COMMANDS = [
    importlib.import_module(f"{commands.__name__}.{found.name}")
    for found in pkgutil.iter_modules(commands.__path__)
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parsers = parser.add_subparsers(dest="command", required=True)
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        about = str(module.__doc__)
        command = parsers.add_parser(
            name.replace("_", "-"), help=about.partition("\n")[0], description=about
        )
        module.add_arguments(command)
        if name not in TOOLS:
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
