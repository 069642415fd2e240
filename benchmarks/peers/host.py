"""The peers on the host: libraries in separate processes, and the programs of the GAP benchmark suite."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lib.errors import ContenderFailedError, UnusableInputError
from benchmarks.lib.graphs import DIRECTED, WEIGHTED, Inputs
from benchmarks.lib.harness import ENOUGH, JsonProcess, Outcome
from benchmarks.lib.rows import BUILD, ITERATIONS, SAMPLED, Row

CUGRAPH = "cugraph"
PROGRAM = Path(__file__).with_name("program.py")
# Bucket widths for weights from 1 to 255. On a graph, the fastest one is used; 2 is best for R-MAT, and 128
# for roads.
DELTAS = (2, 16, 128)


class Peer:
    """A library in a separate process, which can use another Python; see ``program.py``."""

    def __init__(
        self, name: str, folder: Path, inputs: Inputs, options: argparse.Namespace
    ) -> None:
        self.name, self.version = name, ""
        self.folder = folder
        self._inputs, self._seconds = inputs, options.timeout
        command = [options.python, str(PROGRAM), name, str(folder), str(options.workers)]
        self._process = JsonProcess(command, folder / f"{name}.log")
        self._can: list[str] = []

    def missing(self) -> str | None:
        """Start the process; return the reason if it does not start, or None."""
        try:
            self._start()
        except (ContenderFailedError, OSError) as error:
            return str(error)
        return None

    def contenders(self, row: Row) -> dict[str, Callable[[], Outcome]]:
        """Return the work of a row, if the library has the algorithm."""
        if row.algorithm not in self._can:
            return {}
        self._inputs.write(row.graph, str(self.folder))
        return {self.name: partial(self.run, row)}

    def run(self, row: Row) -> Outcome:
        """Run an algorithm; see :attr:`.Row.trials`."""
        answer = self.answer(row, from_edges=row.from_frame, wanted=row.rule is not None)
        return Outcome(answer["seconds"], answer["path"] and np.load(answer["path"]))

    def answer(self, row: Row, *, from_edges: bool, wanted: bool) -> dict[str, Any]:
        """Return the answer of the process, with the path of the result if it is wanted."""
        if not self._process.running:  # it was ended after a timeout
            self._start()
        request = {
            "algorithm": row.algorithm, "graph": row.graph, "options": row.theirs(self._inputs),
            "wanted": wanted, "from_edges": from_edges,
            "trials": 1 if from_edges else row.trials, "enough": ENOUGH,
        }  # fmt: skip
        self._process.send(request)
        return self._process.receive(self._seconds)

    def close(self) -> None:
        """End the process."""
        self._process.stop(patience=0)

    def _start(self) -> None:
        self._process.start()
        hello = self._process.receive(self._seconds)
        self.version, self._can = hello["version"], hello["can"]


class Gap:
    """The programs of GAP, in C++, which time themselves.

    Only the "Build Time" and the fastest "Trial Time" that they print count. Reading a file does not count.
    They do not print their answers, and draw the sources of betweenness centrality themselves.
    """

    #: The program of each algorithm, and its arguments.
    PROGRAMS: dict[str, tuple[str, ...]] = {  # noqa: RUF012
        BUILD: ("converter",),
        "connected_components": ("cc",),
        "bfs": ("bfs", "-r", "{source}"),
        "sssp": ("sssp", "-r", "{source}", "-d", "{delta}"),
        "pagerank": ("pr", "-i", str(ITERATIONS), "-t", "0"),
        "betweenness_centrality": ("bc", "-i", str(SAMPLED["betweenness_centrality"])),
        "triangle_count": ("tc",),
    }

    def __init__(
        self, name: str, folder: Path, inputs: Inputs, options: argparse.Namespace
    ) -> None:
        self.name, self.version = name, "own"
        self._inputs, self._folder = inputs, folder
        self._programs = Path(options.gap or os.environ.get("GAP", ""))
        self._deltas: dict[str, int] = {}  # the fastest bucket width of each graph

    def missing(self) -> str | None:
        """Return what is missing, or None."""
        if not os.access(self._programs / "converter", os.X_OK):
            return "give the folder of its programs with --gap, or in GAP"
        return None

    def contenders(self, row: Row) -> dict[str, Callable[[], Outcome]]:
        """Return the work of a row, if there is a program for it."""
        if row.algorithm not in self.PROGRAMS:
            return {}
        return {self.name: partial(self.run, row)}

    def run(self, row: Row) -> Outcome:
        """Run a program on a graph that was built, or the build; see :attr:`.Row.trials`."""
        text, built = self._file(row.graph)
        seconds = 0.0
        if row.algorithm == BUILD or row.from_frame or not built.exists():
            seconds = self._build(text, built, directed=row.graph in DIRECTED)
        if row.algorithm == BUILD:
            return Outcome(seconds)
        delta = 0
        if row.algorithm == "sssp":
            if row.graph not in self._deltas:
                self._deltas[row.graph] = min(DELTAS, key=lambda one: self._trial(row, built, one))
            delta = self._deltas[row.graph]
        best = self._trial(row, built, delta)
        return Outcome(seconds * row.from_frame + best)

    def _trial(self, row: Row, built: Path, delta: int) -> float:
        """Return the seconds of the fastest run of a program."""
        source = row.vertices(self._inputs)[0] if row.column == "distance" else 0
        program, *arguments = self.PROGRAMS[row.algorithm]
        given = [one.format(source=source, delta=delta) for one in arguments]
        return min(self._times("Trial Time", program, "-f", built, *given, "-n", row.trials))

    def close(self) -> None:
        """Do nothing, because the folder is deleted by its owner."""

    def _file(self, graph: str) -> tuple[Path, Path]:
        """Return the text file with the edges of a graph, which GAP reads, and the file for its build."""
        weighted = graph in WEIGHTED
        text = self._folder / f"{graph}.{'wel' if weighted else 'el'}"
        if not text.exists():
            import pyarrow as pa
            from pyarrow import csv

            columns = {
                name: column.astype("int64") for name, column in self._inputs.columns(graph).items()
            }
            csv.write_csv(
                pa.table(columns), text, csv.WriteOptions(include_header=False, delimiter=" ")
            )
        return text, text.with_suffix(".wsg" if weighted else ".sg")

    def _build(self, text: Path, built: Path, *, directed: bool) -> float:
        more = ["-w"] if text.suffix == ".wel" else []
        more += [] if directed else ["-s"]
        return min(self._times("Build Time", "converter", "-f", text, *more, "-b", built))

    def _times(self, heading: str, program: str, *arguments: Any) -> list[float]:
        command = [str(self._programs / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        times = re.findall(rf"^{heading}: +([\d.]+)", done.stdout, flags=re.MULTILINE)
        if done.returncode or not times:
            raise ContenderFailedError(f"{program}: {done.stdout[-200:]} {done.stderr[-200:]}")
        return [float(number) for number in times]


PEERS: dict[str, type[Peer] | type[Gap]] = {
    "networkit": Peer,
    "igraph": Peer,
    "scipy": Peer,
    "networkx": Peer,
    "gap": Gap,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of all benchmarks that compare this library with peers."""
    parser.add_argument(
        "--peers", nargs="+", choices=[*PEERS, CUGRAPH], default=[], metavar="PEER",
        help=f"others to measure: {', '.join(PEERS)}; with --gpu, {CUGRAPH}",
    )  # fmt: skip
    parser.add_argument(
        "--python", default=sys.executable, help="the Python that has the peers (default: this one)"
    )
    parser.add_argument("--gap", metavar="FOLDER", help="where GAP's programs are, or set GAP")
    parser.add_argument("--gpu", action="store_true", help="measure cuDF frames")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds of a peer's turn (default 120)"
    )


def started(options: argparse.Namespace, inputs: Any, stack: ExitStack) -> list[Peer | Gap]:
    """Return the peers on the host that can run, and print the reasons of the others."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="graphflow-peers-"))
    peers = []
    for name in options.peers:
        if name not in PEERS:
            raise UnusableInputError(f"--peers {name} needs --gpu")
        peer = PEERS[name](name, Path(folder), inputs, options)
        stack.callback(peer.close)
        if reason := peer.missing():
            print(f"left out {name}: {reason}", file=sys.stderr)
        else:
            peers.append(peer)
    return peers
