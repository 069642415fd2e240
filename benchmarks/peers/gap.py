"""The program ``cc`` of the GAP benchmark suite, written in C++, which times itself.

``--gap-cc`` or the environment variable ``GAP_CC`` gives its path. It reads a text file, which is slow and
not timed: only the "Build Time" and the fastest "Trial Time" that it prints are counted. It does not output
the labels, only the number of components and the sizes of the largest ones.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import rss
from benchmarks.errors import BenchmarkError, UnusableInputError

NAME = "gap"
TRIALS = 3
WATCH_SECONDS = 0.01


@dataclass(frozen=True)
class Told:
    """The output of the program, and its peak resident bytes if they were watched."""

    seconds: float
    components: int
    largest: tuple[int, ...]
    peak: int


def available() -> str | None:
    """Return what is missing, or None."""
    path = os.environ.get("GAP_CC")
    if not path:
        return "give the path of its cc program with --gap-cc, or in GAP_CC"
    return None if os.access(path, os.X_OK) else f"{path} is not a program that can be run"


class EdgeFile:
    """The edge list in the text format that GAP reads, in a temporary folder."""

    def __init__(self, source: Any, target: Any) -> None:
        import pyarrow as pa
        from pyarrow import csv

        if max(source.max(), target.max()) >= 2**31:
            raise UnusableInputError("GAP's ids are 32 bits wide and this graph's do not fit")
        self._folder = tempfile.TemporaryDirectory(prefix="graphflow-gap-")
        self.path = Path(self._folder.name) / "edges.el"
        csv.write_csv(
            pa.table({"source": source, "target": target}),
            self.path,
            csv.WriteOptions(include_header=False, delimiter=" "),
        )

    def close(self) -> None:
        """Delete the file."""
        self._folder.cleanup()


def run(path: Path, *, watch: bool = False) -> Told:
    """Run the program on an edge file."""
    # -s makes the graph undirected, and -a prints the components after the timed part.
    command = [os.environ["GAP_CC"], "-f", str(path), "-s", "-a", "-n", str(TRIALS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = 0
    while watch and process.poll() is None:
        peak = max(peak, rss.peak(process.pid))
        time.sleep(WATCH_SECONDS)
    text = process.communicate()[0]
    if process.returncode:
        raise BenchmarkError(f"{' '.join(command)} ended with {process.returncode}: {text}")
    built = _numbers(r"^Build Time: +([\d.]+)", text)
    trials = _numbers(r"^Trial Time: +([\d.]+)", text)
    count = _numbers(r"^There are (\d+) components", text)
    # The lines below "5 biggest clusters" have the label, a colon, and the size.
    largest = _numbers(r"^\d+:(\d+)$", text)
    return Told(built[0] + min(trials), int(count[0]), tuple(int(size) for size in largest), peak)


def _numbers(pattern: str, text: str) -> list[float]:
    found = re.findall(pattern, text, flags=re.MULTILINE)
    if not found:
        raise BenchmarkError(f"GAP's cc was expected to print {pattern!r}, and printed: {text}")
    return [float(number) for number in found]
