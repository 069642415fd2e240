"""The receipt: which steps passed on which GPU, and with which kernels.

``python -m benchmarks on-gpu`` writes it. ``python3 dev.py receipt`` and ``release`` read it before there
is an environment, so this module uses only the standard library. Merge the receipts of several machines,
or of several calls, into the repository's own with::

    python3 -m benchmarks.lib.receipt RECEIPT...

A receipt is a JSON object with two keys. ``sources`` has the SHA-256 of the code of each file that runs on
a GPU or loads code that does. ``runs`` is a list of runs with ``date``, ``machine`` and ``steps``. The last
run of a step counts. Comments, docstrings and blank lines are not part of the hash, so prose can be
improved without a GPU.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import io
import json
import os
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "benchmarks" / "results" / "gpu-receipt.json"
FOLDERS = Path("dask_graphflow") / "kernels", Path("dask_graphflow") / "programs"
# All files in these folders count, including new ones, except those listed here. The listed files do not
# change what a GPU computes; gpu.py only checks whether there is one.
NOT_ON_GPU = (
    "__init__.py",
    "compiling.py",
    "disk.py",
    "gpu.py",
    "host.py",
    "host_alternatives.py",
    "host_atomics.py",
    "host_between.py",
    "host_distances.py",
    "host_heap.py",
    "host_landmarks.py",
    "host_operations.py",
    "host_teams.py",
    "host_threads.py",
    "jit.py",
    "memory.py",
    "narrowing.py",
    "precompiled.py",
    "read_ahead.py",
)

REQUIRED = (
    "tests",
    "memcheck",
    "racecheck",
    "initcheck",
    "bench-components",
    "bench-algorithms",
    "bench-out-of-core",
    "tests-two-gpus",
    "bench-members",
)
"""The steps that a release requires."""

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"

HOW = (
    "run `python -m benchmarks on-gpu` on a machine with two CUDA GPUs (CONTRIBUTING.md, On a GPU, "
    "says how, and how to do it in parts), and commit benchmarks/results/gpu-receipt.json"
)


class ReceiptError(Exception):
    """A receipt cannot be used; the message says which one, why, and what to do."""


def sources(root: Path = ROOT) -> dict[str, str]:
    """Return the hashes of all files that a receipt covers, by path in the repository."""
    files = [file for folder in FOLDERS for file in (root / folder).glob("**/*.*") if _counts(file)]
    return {file.relative_to(root).as_posix(): code_hash(file) for file in sorted(files)}


def _counts(file: Path) -> bool:
    return file.suffix in (".cu", ".cuh", ".py") and file.name not in NOT_ON_GPU


def code_hash(file: Path) -> str:
    """Return the SHA-256 of a file's code, without comments, docstrings and blank lines."""
    return _text_hash(file.read_text("utf-8"), file.suffix)


@cache
def _text_hash(text: str, suffix: str) -> str:
    code = python_code(text) if suffix == ".py" else cuda_code(text)
    lines = (line.rstrip() for line in code.splitlines())
    return hashlib.sha256("\n".join(filter(None, lines)).encode()).hexdigest()


def python_code(text: str) -> str:
    """Return Python source without comments, and without statements that are only a string."""
    # Edit the text instead of unparsing the syntax tree, which would depend on the version of Python.
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=last):
                lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines)


def cuda_code(text: str) -> str:
    """Return CUDA source without comments."""
    string_or_comment = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return string_or_comment.sub(lambda part: part[0] if part[0][0] == '"' else " ", text)


def changed(receipt: Mapping[str, Any], now: Mapping[str, str]) -> list[str]:
    """Return the files that were changed, added or removed since they were tested."""
    then = receipt["sources"]
    return sorted(name for name in {*then, *now} if then.get(name) != now.get(name))


def read(path: Path = PATH) -> dict[str, Any] | None:
    """Return a receipt, or None if the file does not exist."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    try:
        receipt = json.loads(text)
        receipt["sources"].items()
        for run in receipt["runs"]:
            _ = run["date"], run["machine"].items()
            _ = [step["status"] for step in run["steps"].values()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReceiptError(
            f"{path.name} is not a receipt of on-gpu ({error!r}); take it from the last "
            f"commit, or delete it and {HOW}"
        ) from error
    return dict(receipt)


def write(receipt: Mapping[str, Any], path: Path = PATH) -> None:
    """Write a receipt atomically, so that an interrupted run does not leave half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(receipt, indent=2) + "\n", "utf-8")
    os.replace(partial, path)


def latest(receipt: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the last result of each step that was run, with its run."""
    results = {}
    for run in sorted(receipt["runs"], key=lambda run: str(run["date"])):
        for name, step in run["steps"].items():
            if step["status"] != NOT_RUN:
                results[name] = (step, run)
    return results


def merge(receipts: Iterable[Mapping[str, Any]], now: Mapping[str, str]) -> dict[str, Any]:
    """Return one receipt with all runs of the sources `now`.

    Runs of other sources are dropped, and so are runs whose steps were all run again later.
    """
    alike = [receipt for receipt in receipts if not changed(receipt, now)]
    runs = []
    for run in (run for receipt in alike for run in receipt["runs"]):
        if run not in runs:
            runs.append(run)
    runs.sort(key=lambda run: str(run["date"]))
    together = {"sources": dict(now), "runs": runs}
    counting = [run for _, run in latest(together).values()]
    # Always keep the newest run, because it says why its other steps were not run.
    together["runs"] = [run for run in runs if run in counting or run is runs[-1]]
    return together


def headline(receipt: Mapping[str, Any] | None, now: Mapping[str, str]) -> str:
    """Return a line that says whether the kernels are the ones last tested on a GPU."""
    results = latest(receipt) if receipt else {}
    if receipt is None or not results:
        return "kernels: never tested on a GPU"
    newest = max((run for _, run in results.values()), key=lambda run: str(run["date"]))
    where = f"{newest['machine'].get('device', 'an unknown device')} on {newest['date'][:10]}"
    if differing := changed(receipt, now):
        return f"kernels: changed since they were tested on {where} ({', '.join(differing)})"
    failed = sorted(name for name, (step, _) in results.items() if step["status"] != PASSED)
    line = f"kernels: the ones last tested on {where}"
    return f"{line}, where these steps failed: {', '.join(failed)}" if failed else line


def problems(receipt: Mapping[str, Any] | None, now: Mapping[str, str]) -> list[str]:
    """Return the problems that prevent a release; empty if there are none."""
    if receipt is None:
        return ["the kernels were never tested on a GPU: there is no receipt"]
    if differing := changed(receipt, now):
        return [f"not as it was tested: {name}" for name in differing]
    results = latest(receipt)
    missing = []
    for name in REQUIRED:
        if name not in results:
            why = [run["steps"][name].get("why") for run in receipt["runs"] if name in run["steps"]]
            missing.append(f"{name}: not run" + (f" ({why[-1]})" if why and why[-1] else ""))
            continue
        step, _ = results[name]
        if step["status"] != PASSED:
            missing.append(
                f"{name}: {step['status']}" + (f" ({w})" if (w := step.get("why")) else "")
            )
    return missing


def table(receipt: Mapping[str, Any]) -> str:
    """Format the last result of every required step."""
    results, lines = latest(receipt), []
    for name in dict.fromkeys([*REQUIRED, *results]):
        step, run = results.get(name, ({"status": NOT_RUN}, {}))
        counts = ", ".join(f"{count} {what}" for what, count in step.get("counts", {}).items())
        where = f"{run['machine'].get('device', '?')}, {run['date']}" if run else ""
        parts = [part for part in (counts, step.get("why"), where) if part]
        lines.append(f"  {name:<18} {step['status']:<8} {'; '.join(parts)}".rstrip())
    return "\n".join(lines)


def check_release(path: Path = PATH, root: Path = ROOT) -> int:
    """Print whether the kernels are ready for a release, and return the exit code."""
    now = sources(root)
    try:
        receipt = read(path)
    except ReceiptError as error:
        print(error)
        return 1
    print(headline(receipt, now))
    if found := problems(receipt, now):
        print("No release:", *found, sep="\n  ")
        print(f"What to do: {HOW}.")
        return 1
    print("Every step passed")
    return 0


def show(path: Path = PATH, root: Path = ROOT) -> int:
    """Print a line on the state of the kernels. Untested kernels are not an error."""
    try:
        print(headline(read(path), sources(root)))
    except ReceiptError as error:
        print(f"kernels: unknown: {error}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Merge receipts into the repository's own."""
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.lib.receipt", description="Merge receipts of several runs."
    )
    parser.add_argument("receipts", nargs="+", type=Path, metavar="RECEIPT")
    parser.add_argument("--into", type=Path, default=PATH, help="the receipt to add them to")
    options = parser.parse_args(arguments)
    now, found = sources(), []
    try:
        for path in options.receipts:
            receipt = read(path)
            if receipt is None:
                raise ReceiptError(f"{path}: no such file; give receipts that on_gpu wrote")
            if differing := changed(receipt, now):
                raise ReceiptError(
                    f"{path} is of other sources ({', '.join(differing)}); test those that are here"
                )
            found.append(receipt)
        earlier = read(options.into)
    except ReceiptError as error:
        print(error)
        return 1
    together = merge([*([earlier] if earlier else []), *found], now)
    write(together, options.into)
    print(table(together))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
