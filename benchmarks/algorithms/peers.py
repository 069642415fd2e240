"""The peers: libraries in separate processes, and the programs of GAP."""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.errors import BenchmarkError, ContenderFailedError
from benchmarks.graphs import gap
from benchmarks.graphs.edges import Edges, Timed

from .inputs import Inputs
from .rows import SOURCES, Row

PROGRAM = Path(__file__).with_name("peer.py")


class Peer:
    """A library in a separate process, which can use another Python; see ``peer.py``."""

    def __init__(self, name: str, folder: str, inputs: Inputs, options: argparse.Namespace) -> None:
        self.name, self.version = name, ""
        self._inputs, self._seconds = inputs, options.timeout
        self._command = [options.python, str(PROGRAM), name, folder, str(options.workers)]
        self._process: subprocess.Popen[str] | None = None
        self._can: list[str] = []

    def missing(self) -> str | None:
        """Start the process; return the reason if it does not start, or None."""
        try:
            self._start()
        except (ContenderFailedError, OSError) as error:
            return str(error)
        return None

    def can(self, algorithm: str) -> bool:
        """Return whether the library has the algorithm."""
        return algorithm in self._can

    def run(self, row: Row) -> Timed:
        """Run an algorithm once."""
        if self._process is None:  # the process was ended after a timeout
            self._start()
        assert self._process is not None
        request = {
            "algorithm": row.algorithm,
            "graph": row.graph,
            "options": row.theirs(self._inputs),
            "wanted": row.agrees is not None,
        }
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = self._answer()
        if "failed" in answer:
            raise ContenderFailedError(answer["failed"])
        found = answer["found"] and np.load(answer["found"])
        return Timed(answer["seconds"], found)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> None:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._process = subprocess.Popen(self._command, text=True, **pipes)
        hello = self._answer()
        self.version, self._can = hello["version"], hello["can"]

    def _answer(self) -> dict[str, Any]:
        """Return the next line of the process, and end the process after a timeout."""
        process = self._process
        assert process is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(self._seconds):
                self.close()
                raise ContenderFailedError(f"took longer than {self._seconds:g} s")
        line = process.stdout.readline()
        if not line:
            last = process.stderr.read().strip().splitlines()[-1:] or ["it ended"]
            self.close()
            raise ContenderFailedError(last[0])
        return dict(json.loads(line))


class Gap:
    """The programs of GAP, which time themselves."""

    PROGRAMS = {"betweenness_centrality": "bc", "triangle_count": "tc"}  # noqa: RUF012

    def __init__(self, name: str, folder: str, inputs: Inputs, options: argparse.Namespace) -> None:
        self.name, self.version = name, "own"
        self._inputs, self._workers, self._folder = inputs, options.workers, options.gap
        self._side: gap.Side | None = None

    def missing(self) -> str | None:
        """Return what is missing, or None."""
        return gap.available(self._folder)

    def can(self, algorithm: str) -> bool:
        """Return whether there is such a program."""
        program = self.PROGRAMS.get(algorithm)
        return bool(program) and os.access(Path(os.environ["GAP"]) / str(program), os.X_OK)

    def run(self, row: Row) -> Timed:
        """Run a program once, from sources that it draws itself."""
        if self._side is None:
            frame = self._inputs.frame("undirected")
            edges = Edges.of(frame.rename(columns={"source": "src", "target": "dst"}), 0)
            self._side = gap.Side(edges, self._workers)
        count = SOURCES.get(row.algorithm)
        more = ("-i", count) if count else ()
        try:
            return Timed(self._side.best(self.PROGRAMS[row.algorithm], *more))
        except BenchmarkError as error:
            raise ContenderFailedError(str(error)) from error

    def close(self) -> None:
        """Delete the files."""
        if self._side is not None:
            self._side.close()


PEERS: dict[str, type[Peer] | type[Gap]] = {
    "networkit": Peer,
    "igraph": Peer,
    "scipy": Peer,
    "gap": Gap,
}
