"""The programs of the GAP benchmark suite, which time themselves.

``--gap`` or the environment variable ``GAP`` gives the folder of the programs. They read a file, which is
not timed: only the "Build Time" and the fastest "Trial Time" that they print are counted. They do not
output their results.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchmarkError

from .edges import Edges, Timed

NAME = "gap"
TRIALS = 3
PROGRAMS = ("bfs", "converter", "pr", "sssp")
DELTA = 2  # bucket width, the fastest of 1, 2, 4, ... for weights from 1 to 255 at scale 20


def available(folder: str | None) -> str | None:
    """Return what is missing, or None."""
    folder = folder or os.environ.get("GAP")
    if not folder:
        return "give the folder of its programs with --gap, or in GAP"
    os.environ["GAP"] = folder
    missing = [name for name in PROGRAMS if not os.access(Path(folder) / name, os.X_OK)]
    return f"{folder} has no program {missing[0]}" if missing else None


class Side:
    """The contender."""

    def __init__(self, edges: Edges, workers: int) -> None:
        import pyarrow as pa
        from pyarrow import csv

        self._folder = tempfile.TemporaryDirectory(prefix="graphflow-gap-")
        self._path = Path(self._folder.name)
        columns = {"source": edges.source, "target": edges.target}
        kinds = {"el": columns, "wel": columns | {"weight": edges.weight.astype("int64")}}
        for kind, table in kinds.items():
            how = csv.WriteOptions(include_header=False, delimiter=" ")
            csv.write_csv(pa.table(table), self._path / f"edges.{kind}", how)
        self._built: set[str] = set()

    def close(self) -> None:
        """Delete the files."""
        self._folder.cleanup()

    def phases(self, phase: str) -> dict[str, Callable[..., Timed]]:
        """Return the functions to time, by name."""
        return {NAME: getattr(self, f"_{phase}")}

    def _run(self, program: str, *arguments: Any) -> str:
        command = [str(Path(os.environ["GAP"]) / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or "Verification:           FAIL" in done.stdout:
            raise BenchmarkError(f"{' '.join(command)}: {done.stdout[-500:]} {done.stderr[-500:]}")
        return done.stdout

    def _build(self) -> Timed:
        out = self._run(
            "converter", "-f", self._path / "edges.el", "-s", "-b", self._path / "edges.sg"
        )
        self._built.add("sg")
        return Timed(min(_numbers("Build Time", out)))

    def _graph(self, kind: str) -> Path:
        if kind not in self._built:
            source, more = ("edges.el", ()) if kind == "sg" else ("edges.wel", ("-w",))
            to = self._path / f"edges.{kind}"
            self._run("converter", "-f", self._path / source, "-s", *more, "-b", to)
            self._built.add(kind)
        return self._path / f"edges.{kind}"

    def best(self, program: str, *arguments: Any, kind: str = "sg") -> float:
        """Return the seconds of a program's fastest trial on the graph, with or without weights."""
        out = self._run(program, "-f", self._graph(kind), *arguments, "-n", TRIALS)
        return min(_numbers("Trial Time", out))

    def _bfs(self, start: int) -> Timed:
        return Timed(self.best("bfs", "-r", start))

    def _pagerank(self, iterations: int) -> Timed:
        return Timed(self.best("pr", "-i", iterations, "-t", 0))

    def _sssp(self, start: int) -> Timed:
        return Timed(self.best("sssp", "-r", start, "-d", DELTA, kind="wsg"))


def _numbers(what: str, text: str) -> list[float]:
    found = re.findall(rf"^{what}: +([\d.]+)", text, flags=re.MULTILINE)
    if not found:
        raise BenchmarkError(f"GAP was expected to print {what!r}, and printed: {text[-500:]}")
    return [float(number) for number in found]
