"""Output of results: tables for the terminal, and JSON files."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.lib import machine
from benchmarks.lib.harness import Spread, ratios

RESULTS = Path(__file__).parents[1] / "results"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format rows under a header; the first column is left-aligned, the others are right-aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    lines = []
    for row in (header, rule, *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def comparison(
    seconds: Mapping[str, Sequence[float]],
    base: str,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    failures: Mapping[str, str] | None = None,
) -> str:
    """Return the table of one question: the times of the contenders, and their ratios to `base`.

    A ratio above 1 means that a contender is slower than `base`. Further columns have a heading, and a cell
    for each contender. Reasons of the contenders that failed are listed below the table.
    """
    rows = []
    for name, rounds in seconds.items():
        times = Spread.of(rounds)
        row = [name, *(f"{one * 1e3:.2f}" for one in (times.least, times.median, times.most))]
        row.append(str(ratios(rounds, seconds[base])) if base in seconds and name != base else "-")
        rows.append([*row, *(cells.get(name, "-") for cells in (columns or {}).values())])
    parts = [table(["", "min ms", "median", "max", f"/ {base}", *(columns or {})], rows)]
    parts += [f"{name} failed: {reason}" for name, reason in (failures or {}).items()]
    return "\n".join(parts)


def mib(number: float) -> str:
    """Format a number of bytes in MiB."""
    return f"{number / 2**20:.0f} MiB"


def machine_line(about: Mapping[str, Any]) -> str:
    """Return the machine's description in one line."""
    packages = about["packages"]
    software = ", ".join(f"{name} {packages[name]}" for name in packages)
    memory = f", {about['memory_bytes'] / 2**30:.0f} GiB"
    gpus = f"{gpu_line(about['gpus'])}; " if about.get("gpus") else ""
    return (
        f"{gpus}{about['cpu']}, {about['cores']} cores{memory}; Python {about['python']}, {software}; "
        f"commit {about['commit'] or 'unknown'}; {about['date']}"
    )


def gpu_line(gpus: Mapping[str, Any]) -> str:
    """Return the description of the GPUs in one line."""
    kinds = {(one["name"], one["memory_mib"]) for one in gpus["devices"]}
    names = " and ".join(f"{name}, {memory:,} MiB" for name, memory in sorted(kinds))
    link = f", linked by {', '.join(gpus['nvlink'])}" if gpus["nvlink"] else ""
    return f"{len(gpus['devices'])} x {names}{link}, driver {gpus['driver']}"


def show(text: str, results: Mapping[str, Any], name: str, options: argparse.Namespace) -> None:
    """Print a text and the machine's description, and write the results to the file that options give."""
    print(f"{text}\n\n{machine_line(machine.describe())}")
    where = options.json or ("auto" if options.out else None)
    path = keep(where, name, results, Path(options.out or RESULTS))
    if path is not None:
        print(f"kept in {path}")


def keep(
    where: str | None, name: str, results: Mapping[str, Any], folder: Path = RESULTS
) -> Path | None:
    """Write results and the machine's description as JSON, if an option says where."""
    if where is None:
        return None
    about = machine.describe()
    if where == "auto":
        stamp = str(about["date"])[:19].replace(":", "").replace("-", "")
        path = folder / f"{name}-{stamp}.json"
    else:
        path = Path(where)
    path.parent.mkdir(parents=True, exist_ok=True)
    # An interrupted run must not leave half a file.
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps({"machine": about, **results}, indent=2) + "\n", "utf-8")
    os.replace(partial, path)
    return path
