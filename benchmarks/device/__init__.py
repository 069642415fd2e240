"""Compare the library on GPUs with cuGraph, and with the limits of the memory and the link.

The parts are ``components``, ``algorithms``, ``scores``, ``two``, ``members`` and ``out-of-core``. CuPy,
RMM, cuDF, dask-cuda and cuGraph are imported when a part that needs them runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import report
from benchmarks.errors import UnusableInputError

from . import (
    algorithms,
    components,
    members,
    needs,
    out_of_core,
    scores,
    two,
)

PARTS = {
    "components": components,
    "algorithms": algorithms,
    "scores": scores,
    "two": two,
    "members": members,
    "out-of-core": out_of_core,
}


def add_arguments(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Add this benchmark's options, and return the parsers that get the shared options."""
    parts = parser.add_subparsers(dest="part", required=True)
    made = []
    for name, module in PARTS.items():
        part = parts.add_parser(name, help=module.__doc__, description=module.__doc__)
        module.add_arguments(part)
        part.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")
        part.add_argument("--seed", type=int, default=0, help="which random graph (default 0)")
        part.add_argument(
            "--out",
            metavar="DIR",
            help="keep the results in this folder, as --json auto names them",
        )
        made.append(part)
    return made


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.repeat < 1:
        raise UnusableInputError(f"--repeat {options.repeat}: give 1 or more")
    where, folder = options.json, report.RESULTS
    if options.out is not None:
        if where not in (None, "auto"):
            raise UnusableInputError("--out DIR names the file itself; leave out --json PATH")
        where, folder = "auto", Path(options.out)
    needs.check("cupy", "rmm", "cudf")
    module = PARTS[options.part]
    results = module.measure(options)
    print(module.show(results))
    kept = report.keep(where, f"device-{options.part}-{module.short(options)}", results, folder)
    if kept is not None:
        print(f"\nkept in {kept}")
    return 0
