"""Compare this working tree with an earlier commit or another folder: time, memory and results."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.lib import machine, report, side
from benchmarks.lib.edges import (
    GPU,
    GRAPHS,
    HOST,
    NAMED,
    PATH,
    SHORT_PATH,
    SMALL,
    Sizes,
    selected,
    write,
)
from benchmarks.lib.errors import BenchmarkError, ContenderFailedError, UnusableInputError
from benchmarks.lib.harness import JsonProcess, Spread, ratios

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "dask_graphflow"
THIS, BASE = "this", "base"
SMALL_CALLS = ("bfs", "pagerank")

LIMIT = 120  # seconds for one measurement, after which its row fails
LOAD_LIMIT = 300  # seconds to load a graph, including the compilation of kernels

#: Heading, and the factor that the measured number is multiplied by.
MEASURES = {
    "call": ("call, ms", 1e3),
    "supersteps": ("supersteps, ms", 1e3),
    "lazy": ("lazy call, ms", 1e3),
    "build": ("build, ms", 1e3),
    "peak": ("peak, MiB", 2**-20),
}
#: Smaller values get no ratio: bytes that an allocator already had, or no supersteps at all.
LEAST = {"peak": 1 << 20, "supersteps": 1e-6}
SECTIONS = {
    "algorithms, on a persisted graph": ("call", "supersteps"),
    "small calls": ("call", "lazy"),
    "builds, by persist()": ("build", "peak"),
}

NOTES = """\
this / base: median of the ratios of all rounds (min to max); below 1, the working tree is faster or
smaller. The columns before it are the best round of each side. A call runs from the construction of the
lazy frame to the computed frame; supersteps is the sum of the seconds of its trace, of the slowest member.
The peak is above the memory with the edges loaded. "same bits" compares values, dtypes and order of the
computed frames."""


@dataclass(frozen=True)
class Task:
    """One row: a build or an algorithm, on one graph with a number of members."""

    graph: str
    kind: str
    name: str
    members: int
    processes: bool

    @property
    def section(self) -> str:
        """The table that the row belongs to."""
        algorithms, small, builds = SECTIONS
        if self.kind == "build":
            return builds
        return small if self.graph == SMALL else algorithms

    @property
    def where(self) -> str:
        """Number of members and where they run, as shown in the table."""
        if self.members == 1:
            return "1"
        return f"{self.members}, {'processes' if self.processes else 'threads'}"

    def command(self, *, first: bool) -> dict[str, Any]:
        """Return the command that makes a side measure the task once."""
        return {
            "do": self.kind,
            "name": self.name,
            "members": self.members,
            "processes": self.processes,
            "first": first,
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--base", required=True, help="a commit, or a folder with another copy of the repository"
    )
    parser.add_argument("--gpu", action="store_true", help="measure cuDF frames on a GPU")
    parser.add_argument(
        "--scale",
        type=int,
        help=f"2**scale ids of the R-MAT graph; the others grow along "
        f"(default {HOST.scale}, with --gpu {GPU.scale})",
    )
    parser.add_argument("--repeat", type=int, default=7, help="rounds, after one to warm up")
    parser.add_argument(
        "--members", type=int, nargs="+", default=[1], help="shards of the graphs (default 1)"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"graphs ({', '.join(NAMED)}), build, or algorithms ({', '.join(side.CALLS)})",
    )


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    sizes = (GPU if options.gpu else HOST).at(options.scale)
    if sizes.scale < 4 or min(options.repeat, options.workers, *options.members) < 1:
        raise UnusableInputError(
            "give --scale 4 or more, and --repeat, --workers and --members 1 or more"
        )
    selected(options.only)
    rows: list[dict[str, Any]] = []
    # If a time limit ends the command with SIGTERM, the rows measured so far are still shown.
    handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with checkout(options.base) as (folder, commit):
            try:
                measure({THIS: ROOT, BASE: folder}, sizes, options, rows)
                interrupted = False
            except KeyboardInterrupt:
                interrupted = True
    finally:
        signal.signal(signal.SIGTERM, handler)
    results = {
        "benchmark": "compare",
        "base": {"given": options.base, "commit": commit},
        "gpu": options.gpu,
        "scale": sizes.scale,
        "workers": options.workers,
        "interrupted": interrupted,
        "rows": rows,
    }
    text = show(results)
    if interrupted:
        text += "\n\ninterrupted: the rows after these were not measured"
    kind = "gpu" if options.gpu else "host"
    report.show(text, results, f"compare-{kind}-scale{sizes.scale}", options)
    wrong = any(row["failed"] or row["same_bits"] is False for row in rows)
    return 1 if wrong or interrupted else 0


@contextmanager
def checkout(base: str) -> Iterator[tuple[Path, str | None]]:
    """Give the folder of the base and, if it is a commit, its full name.

    A commit is checked out to a temporary git worktree, which is removed at the end.
    """
    folder = Path(base)
    if (folder / PACKAGE / "__init__.py").is_file():
        yield folder.resolve(), None
        return
    try:
        commit = _git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}")
    except BenchmarkError as error:
        raise UnusableInputError(
            f"--base {base} is neither a commit of this repository nor a folder that contains "
            f"{PACKAGE}/: give one of them"
        ) from error
    with tempfile.TemporaryDirectory(prefix="graphflow-base-") as temporary:
        made = Path(temporary) / "tree"
        _git("worktree", "add", "--detach", str(made), commit)
        try:
            yield made, commit
        finally:
            _git("worktree", "remove", "--force", str(made))


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except FileNotFoundError as error:
        raise BenchmarkError("git is not installed; give --base a folder") from error
    except subprocess.CalledProcessError as error:
        raise BenchmarkError(f"git {arguments[0]} failed: {error.stderr.strip()}") from error
    return done.stdout.strip()


def measure(
    trees: Mapping[str, Path],
    sizes: Sizes,
    options: argparse.Namespace,
    rows: list[dict[str, Any]],
) -> None:
    """Measure the tasks graph by graph, and add a row for each."""
    with tempfile.TemporaryDirectory(prefix="graphflow-compare-") as temporary:
        homes = {name: home(Path(temporary) / name, tree) for name, tree in trees.items()}
        for graph, tasks in plan(options).items():
            folder = Path(temporary) / graph
            folder.mkdir()
            graph_files = write(GRAPHS[graph](sizes), folder, sizes.ids)
            with ExitStack() as stack:
                sides = {
                    name: Process(name, where, options, {**graph_files, "tasks": rehearsal(tasks)})
                    for name, where in homes.items()
                }
                for one in sides.values():
                    stack.callback(one.stop)
                rows.extend(rows_of(tasks, sides, options.repeat, sizes.seconds))
            shutil.rmtree(folder)


def home(folder: Path, tree: Path) -> Path:
    """Make the folder that a side's processes start in, and return it.

    It contains only a link to the package, because both sides use the `benchmarks` of the working tree.
    """
    folder.mkdir()
    (folder / PACKAGE).symlink_to(tree / PACKAGE)
    return folder


def rehearsal(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return the commands that compile everything the tasks use; both sides run them at the same time."""
    return [task.command(first=True) for task in tasks if not task.processes]


def rows_of(
    tasks: Sequence[Task], sides: Mapping[str, Process], repeat: int, seconds: float
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one graph."""
    failed = load(sides)
    for task in tasks:
        row: dict[str, Any] = {
            "graph": task.graph,
            "name": task.name,
            "where": task.where,
            "section": task.section,
            "failed": failed,
            "same_bits": None,
        }
        row |= {} if failed else compare(task, sides, repeat, seconds)
        print(_progress(task, row), file=sys.stderr, flush=True)
        yield row


def plan(options: argparse.Namespace) -> dict[str, list[Task]]:
    """Return the tasks of each graph that --only selects."""
    settings = []
    for members in options.members:
        settings.append((members, False))
        # Members in several processes need a GPU each.
        if members > 1 and (not options.gpu or members <= machine.gpu_count()):
            settings.append((members, True))
    graphs, calls = selected(options.only)
    tasks: dict[str, list[Task]] = {}
    for graph in graphs:
        for members, processes in settings:
            if graph == SMALL and members > 1:
                continue
            title = SHORT_PATH if graph == PATH and members > 1 else graph
            names = [name for name in calls if graph != SMALL or name in SMALL_CALLS]
            tasks.setdefault(title, []).extend(
                Task(title, "build" if name in side.BUILDS else "call", name, members, processes)
                for name in names
                # STREAMED does not use a graph, so it runs once on the threads and once on each cluster.
                if name != side.STREAMED or members == 1 or processes
            )
    return {graph: planned for graph, planned in tasks.items() if planned}


class Process(JsonProcess):
    """A process that measures one side, in a folder with a link to the package.

    The graph has the arguments of :meth:`benchmarks.lib.side.Side.load`.
    """

    def __init__(
        self, name: str, home: Path, options: argparse.Namespace, graph: Mapping[str, Any]
    ) -> None:
        settings = json.dumps({"workers": options.workers, "gpu": options.gpu})
        environment = {**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", "benchmarks.lib.side", settings]
        super().__init__(command, home / "log", cwd=home, env=environment)
        self.name, self._home = name, home
        self._graph = {"do": "load", **graph}

    def start(self) -> None:
        """Start the process and send it the graph; :meth:`loaded` waits for it."""
        super().start()
        self.send(self._graph)

    def loaded(self) -> None:
        """Wait until the process has loaded the graph."""
        package = self.receive(LOAD_LIMIT)["package"]
        expected = str((self._home / PACKAGE).resolve())
        if package != expected:
            raise BenchmarkError(f"{self.name} imported {package} instead of {expected}")

    def ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a command; raise ContenderFailedError if there is none in time."""
        if not self.running:
            self.start()
            self.loaded()
        self.send(command)
        return self.receive(LIMIT)


def load(sides: Mapping[str, Process]) -> str | None:
    """Start both sides and load the graph; return the reason if that failed, or None."""
    for step in (Process.start, Process.loaded):  # both sides start at the same time
        for name, one in sides.items():
            try:
                step(one)
            except ContenderFailedError as error:
                return f"{name}: {error}"
    return None


def compare(
    task: Task, sides: Mapping[str, Process], repeat: int, seconds: float
) -> dict[str, Any]:
    """Measure one task on both sides in rounds of alternating order, after a round to warm up.

    A slow task has fewer rounds, but at least one in each order.
    """
    measures: dict[str, dict[str, list[float]]] = {}
    bits = {}
    began = 0.0
    for turn in range(repeat + 1):
        if turn == 1:
            began = time.monotonic()
        for name in sorted(sides, reverse=turn % 2 == 0):
            try:
                answer = sides[name].ask(task.command(first=turn == 0))
            except ContenderFailedError as error:
                return {"failed": f"{name}: {error}"}
            bits[name] = answer.get("bits", bits.get(name))
            for measure, value in answer["measures"].items():
                measures.setdefault(measure, {}).setdefault(name, []).append(value)
        if turn > 1 and time.monotonic() - began > seconds:
            break
    same = None if bits[THIS] is None else bits[THIS] == bits[BASE]
    return {"measures": measures, "same_bits": same}


def _progress(task: Task, row: Mapping[str, Any]) -> str:
    title = f"{task.graph} {task.name} [{task.where}]"
    if row["failed"]:
        return f"{title} failed: {row['failed']}"
    shown = [f"{measure} {_ratio(measure, values)}" for measure, values in row["measures"].items()]
    bits = {True: ", same bits", False: ", OTHER BITS", None: ""}[row["same_bits"]]
    return f"{title}: {', '.join(shown)}{bits}"


def spread(measure: str, values: Mapping[str, Sequence[float]]) -> Spread | None:
    """Return the ratios of the two sides, round by round; None if values are too small to compare."""
    if min(min(values[name]) for name in (THIS, BASE)) < LEAST.get(measure, 0):
        return None
    return ratios(values[THIS], values[BASE])


def _ratio(measure: str, values: Mapping[str, Sequence[float]]) -> str:
    ratio = spread(measure, values)
    return "-" if ratio is None else str(ratio)


def show(results: Mapping[str, Any]) -> str:
    """Format the results as text: a table for each section, failed rows below it, and a summary."""
    base = results["base"]
    named = f" ({base['commit'][:7]})" if base["commit"] else ""
    parts = [
        f"the working tree beside {base['given']}{named}; cores: {results['workers']}",
    ]
    for section, measures in SECTIONS.items():
        rows = [row for row in results["rows"] if row["section"] == section]
        if rows:
            parts.append(f"\n{_section(section, measures, rows)}")
    parts += [f"\n{_summary(results['rows'])}", f"\n{NOTES}"]
    return "\n".join(parts)


def _section(title: str, measures: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    header = [title, "members"]
    for measure in measures:
        header += [f"{MEASURES[measure][0]}: this", "base", "this / base"]
    cells, failed = [], []
    for row in rows:
        name = f"{row['graph']}, {row['name']}"
        if row["failed"]:
            failed.append(f"{name}, {row['where']}  failed: {row['failed']}")
            continue
        line = [name, row["where"]]
        for measure in measures:
            line += _cells(measure, row["measures"].get(measure))
        cells.append([*line, {True: "yes", False: "NO", None: "-"}[row["same_bits"]]])
    return "\n".join([report.table([*header, "same bits"], cells), *failed])


def _cells(measure: str, values: Mapping[str, Sequence[float]] | None) -> list[str]:
    if values is None:
        return ["-"] * 3
    factor = MEASURES[measure][1]
    best = [f"{min(values[name]) * factor:.2f}" for name in (THIS, BASE)]
    return [*best, _ratio(measure, values)]


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the median of each measure over all rows, and the number of rows with the same bits."""
    lines = []
    for measure, (heading, _) in MEASURES.items():
        spreads = [
            ratio
            for row in rows
            if not row["failed"] and measure in row["measures"]
            if (ratio := spread(measure, row["measures"][measure])) is not None
        ]
        if spreads:
            middle = Spread.of([one.median for one in spreads])
            lines.append(f"{heading.partition(',')[0]}: {middle!s} in {len(spreads)} rows")
    compared = [row["same_bits"] for row in rows if row["same_bits"] is not None]
    failed = sum(bool(row["failed"]) for row in rows)
    return "\n".join(
        [
            "medians of the ratios, their median (min to max):",
            *lines,
            f"same bits: {sum(compared)} of {len(compared)} rows; failed: {failed}",
        ]
    )
