"""Other libraries under the limit of ``under-limit``: seconds, or how many edges they can do."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from dask.utils import parse_bytes

from benchmarks.lib import control_group, report
from benchmarks.lib.harness import MESSAGE

NOTES = """\
A peer's time is from the Parquet files to its answer in a file, without imports and the start of Spark.
"own" is the memory of all its processes without files. A peer that does not end tries half of the files,
and so on."""
PROGRAM = Path(__file__).with_name("limited_program.py")
CALLS = {
    "graphframes": ("bfs", "connected_components", "pagerank", "label_propagation"),
    "scipy": ("bfs", "connected_components", "pagerank"),
    "networkit": ("bfs", "connected_components", "pagerank", "label_propagation"),
}
LOOK = 0.05  # seconds between looks at the memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options about peers."""
    parser.add_argument("--peers", nargs="+", choices=CALLS, default=[], help="others to measure")
    parser.add_argument(
        "--python", default=sys.executable, help="the Python that has the peers (default: this one)"
    )
    parser.add_argument(
        "--graphframes", metavar="JAR", help="where GraphFrames' jar is, or set GRAPHFRAMES"
    )
    parser.add_argument(
        "--timeout", type=float, default=360, help="seconds of a peer's call (default 360)"
    )


def measured(options: argparse.Namespace) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the tries of each peer and call: edges, and seconds or the reason why there are none."""
    found = {}
    for peer in options.peers:
        if reason := missing(peer, options):
            print(f"left out {peer}: {reason}", file=sys.stderr)
            continue
        calls = [call for call in CALLS[peer] if call in options.only]
        found[peer] = {call: _tries(peer, call, options) for call in calls}
    return found


def missing(peer: str, options: argparse.Namespace) -> str | None:
    """Return why a peer cannot run, or None."""
    if peer == "graphframes" and not os.access(_jar(options), os.R_OK):
        return "give its jar with --graphframes, or in GRAPHFRAMES"
    command = [options.python, "-c", f"import {peer}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


def table(found: dict[str, Any]) -> str:
    """Return the tries as a table."""
    rows = [
        [
            f"{peer} {call}",
            f"{one['edges']:,}",
            one.get("failed") or f"{one['seconds']:.1f}",
            report.mib(one["own"]),
        ]
        for peer, calls in found.items()
        for call, tries in calls.items()
        for one in tries
    ]
    return report.table(["", "edges", "seconds", "own"], rows)


def _jar(options: argparse.Namespace) -> str:
    return options.graphframes or os.environ.get("GRAPHFRAMES", "")


def _tries(peer: str, call: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Call a peer with all files, and with half of them as long as it does not end."""
    from pyarrow import parquet

    files, tries = sorted(Path(options.edges).glob("*.parquet")), []
    while files:
        edges = sum(parquet.read_metadata(path).num_rows for path in files)
        tries.append({"edges": edges, **_once(peer, call, files, options)})
        if "seconds" in tries[-1]:
            break
        files = files[: len(files) // 2]
    return tries


def _once(peer: str, call: str, files: list[Path], options: argparse.Namespace) -> dict[str, Any]:
    """Call a peer under the limit; return its peak memory, and seconds or why it did not end."""
    for path in files:
        control_group.forget(path)
    limit, parent = parse_bytes(options.limit), options.folder or Path(options.edges).parent
    with tempfile.TemporaryDirectory(prefix="graphflow-peer-", dir=parent) as folder:
        given = {
            "files": [str(path.resolve()) for path in files],
            "folder": folder,
            "result": str(Path(folder, "result.parquet")),
            "threads": options.workers,
            "limit": limit,
            "jar": _jar(options),
        }
        command = [options.python, str(PROGRAM), peer, call, json.dumps(given)]
        out, log = Path(folder, "out"), Path(folder, "log")
        with (
            control_group.limited(limit) as group,
            out.open("wb") as stdout,
            log.open("wb") as stderr,
        ):
            enter = partial(control_group.enter, group)
            process = subprocess.Popen(command, stdout=stdout, stderr=stderr, preexec_fn=enter)
            deadline, own = time.monotonic() + options.timeout, 0
            while process.poll() is None and time.monotonic() < deadline:
                own = max(own, control_group.own(group))
                time.sleep(LOOK)
            late, killed = process.returncode is None, control_group.killed(group)
        if process.wait() == 0:
            return {**json.loads(out.read_text("utf-8").splitlines()[-1]), "own": own}
        text = log.read_text("utf-8", "replace").strip()
    reason = text[-MESSAGE:]
    if late:
        reason = f"more than {options.timeout:g} s"
    elif killed or "OutOfMemoryError" in text or "MemoryError" in text:
        reason = "out of memory"
    return {"failed": reason, "own": own}
