"""Run everything that needs a GPU: the tests, compute-sanitizer and the benchmarks; and write a receipt.

The steps run one after another, each in its own process with a time limit, and the receipt is written
after each step. So the steps can be divided among several calls and machines; ``python3 -m
benchmarks.lib.receipt`` merges the receipts. The exit code is 0 if every step passed, except those that
--skip or --only left out. A step that cannot run here counts as not passed.

With --again, only what failed before is run, as long as the receipt in --out is of the same sources: a
failed test may be mended without a change to what runs on a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import importlib.util
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks.lib import machine as describe
from benchmarks.lib import receipt
from benchmarks.lib.receipt import FAILED, NOT_RUN, PASSED, ROOT
from benchmarks.lib.rows import FRAME_COMPONENTS

SANITIZERS = ("memcheck", "racecheck", "initcheck")
PATIENCE = 20  # seconds that an interrupted step has to write its results so far
STUCK = 240  # seconds after which a test that has not ended shows what its threads do


@dataclass(frozen=True)
class Bench:
    """A call of ``python -m benchmarks``, and the peer that it can measure too."""

    call: tuple[str, ...]
    peer: str = ""


ROWS = (
    "build", "bfs", "sssp", "pagerank", "pagerank, float32", "hits", "eigenvector_centrality",
    "katz_centrality", "betweenness_centrality", "strongly_connected_components", "core_number",
    "triangle_count", "louvain", "leiden",
)  # fmt: skip
CALLS = ("idle gang", "bfs", "pagerank", "gf.connected_components")
BENCHMARKS = {
    "bench-components": Bench(
        ("algorithms", "--gpu", "--scale", "26", "--only", FRAME_COMPONENTS), "cugraph"
    ),
    "bench-algorithms": Bench(("algorithms", "--gpu", "--scale", "22", "--only", *ROWS), "cugraph"),
    "bench-out-of-core": Bench(("out-of-core",)),
    "bench-members": Bench(
        ("members", "--gpu", "--scale", "26", "--only", "rmat", *CALLS), "dask-cugraph"
    ),
}

TWO_GPUS = ("bench-members",)

GROUPS = {
    "sanitizer": SANITIZERS,
    "benchmark": tuple(name for name in BENCHMARKS if name not in TWO_GPUS),
    "two-gpus": ("tests-two-gpus", *TWO_GPUS),
}


@dataclass
class Result:
    """The result of a step."""

    status: str
    counts: dict[str, int] = field(default_factory=dict)
    why: str = ""
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)  # tests, or cases of a sanitizer

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in self.counts.items())
        return "; ".join(part for part in (self.status, counts, self.why) if part)

    def as_json(self) -> dict[str, Any]:
        """Return the entry of the receipt, without empty fields."""
        seconds = None if self.status == NOT_RUN else round(self.seconds)
        entry = {"status": self.status, "counts": self.counts, "why": self.why, "seconds": seconds}
        entry["failed"] = self.failed
        return {name: value for name, value in entry.items() if value or value == 0}


class Steps:
    """The steps, and their common settings.

    Parameters
    ----------
    out : Path
        Folder of the results.

    peers : bool
        Whether to measure cuGraph too.
    limit : float
        Time limit of each step in seconds.
    gpus : int
        Number of GPUs of this machine.
    jobs : int
        Number of processes that share a step's tests, or a sanitizer's cases. Each process uses one GPU;
        GPUs are assigned in turn.
    before : mapping, optional
        Entries of an earlier receipt, by step: of these steps, only what failed is run, if they say what.
    """

    def __init__(
        self,
        out: Path,
        *,
        peers: bool,
        limit: float,
        gpus: int,
        jobs: int = 1,
        before: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.out, self.peers, self.limit = out, peers, limit
        self.gpus, self.jobs, self.before = gpus, jobs, before or {}

    def run(self, name: str) -> Result:
        """Run a step."""
        start = time.monotonic()
        if name in GROUPS["two-gpus"] and self.gpus < 2:
            return Result(NOT_RUN, why=f"takes two GPUs, and here is {self.gpus}")
        before = self.before.get(name, {})
        names = before.get("failed", [])
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            if name in SANITIZERS:
                result = self.sanitizer(name, scratch, names)
            elif name in BENCHMARKS:
                result = self.benchmark(BENCHMARKS[name])
            elif names:
                result = self.again(name, names, scratch)
            elif name == "tests-two-gpus":
                result = self.two_gpus(scratch)
            else:
                result = self.tests(scratch)
        result.seconds = time.monotonic() - start
        return completed(before, result) if names else result

    def tests(self, scratch: Path) -> Result:
        """Run all tests with cuDF and CuPy, except those that need two GPUs."""
        # Slow tests use other paths through the same kernels, or types that the host compiles for.
        marks = "not gpu2 and (gpu or not slow)"
        if self.jobs == 1:
            return self.pytest(marks, ["tests"], scratch)
        # A test that runs alone waits until all other processes are between two tests. All these waits
        # take longer than a second call.
        share = ["-n", str(self.jobs), "--dist", "worksteal"]
        shared = self.pytest(f"({marks}) and not alone", ["tests"], scratch, share)
        return together([shared, self.pytest(f"({marks}) and alone", marked("alone"), scratch)])

    def pytest(
        self, marks: str, files: Sequence[str], scratch: Path, options: Sequence[str] = ()
    ) -> Result:
        """Run pytest once."""
        report = scratch / "report.xml"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "--backend", "cudf", "-m", marks, *options]
        # pytest-benchmark warns about pytest-xdist, and in our tests a warning is an error.
        command += ["-p", "no:benchmark", "-o", f"faulthandler_timeout={STUCK}"]
        code = call([*command, f"--junit-xml={report}", *files], self.limit)
        return judge_tests(code, report)

    def two_gpus(self, scratch: Path) -> Result:
        """Run the test files that need two GPUs in parallel; a skipped test counts as not passed."""

        def part(file: str) -> Result:
            folder = scratch / Path(file).stem
            folder.mkdir()
            return self.pytest("gpu2", [file], folder)

        with ThreadPoolExecutor() as pool:
            result = together(list(pool.map(part, marked("gpu2"))))
        if result.status == PASSED and result.counts["skipped"]:
            result.status, result.why = FAILED, "some were skipped: pytest's summary says why"
        return result

    def again(self, name: str, names: Sequence[str], scratch: Path) -> Result:
        """Run some tests of a step, even cases that a whole run leaves out beside others."""
        options = ["--combinations", "all"]
        if name == "tests" and self.jobs > 1:
            options += ["-n", str(min(self.jobs, len(names)))]
        return self.pytest("", names, scratch, options)

    def sanitizer(self, tool: str, scratch: Path, names: Sequence[str] = ()) -> Result:
        """Run a small case of every kernel, or some cases, under one of compute-sanitizer's tools."""
        program = find_sanitizer()
        if program is None:
            return Result(NOT_RUN, why="compute-sanitizer is not there; it comes with CUDA")
        command = [program, "--tool", tool, "--error-exitcode", "86"]
        # CuPy probes which features the driver has, and the failed probes are not errors.
        command += ["--report-api-errors", "no"]
        if tool == "racecheck":
            # CuPy's kernels are not part of this library, and checking its sort takes many minutes.
            command += ["--kernel-name-exclude", "kns=cub,kns=cupy_"]

        jobs = min(self.jobs, len(names) or self.jobs)

        def part(number: int) -> Result:
            log, wrong = scratch / f"log-{number}", scratch / f"wrong-{number}"
            program = [sys.executable, "tests/sanitize.py", str(number), str(jobs), str(wrong)]
            program += names
            device = {"CUDA_VISIBLE_DEVICES": visible_devices(self.gpus)[number % self.gpus]}
            code = call([*command, "--log-file", str(log), *program], self.limit, device)
            text = log.read_text("utf-8", "replace") if log.exists() else ""
            print(text[-20_000:])
            return judge_sanitizer(code, text, wrong)

        with ThreadPoolExecutor(jobs) as pool:
            parts = list(pool.map(part, range(jobs)))
        return worst(parts)

    def benchmark(self, bench: Bench) -> Result:
        """Run a benchmark, which stores its results in the folder of the receipt."""
        peers = ["--peers", bench.peer] if self.peers and bench.peer else []
        command = [sys.executable, "-m", "benchmarks", *bench.call, *peers]
        code = call([*command, "--out", str(self.out)], self.limit)
        return Result(PASSED) if code == 0 else Result(FAILED, why=ended(code))


def marked(mark: str) -> tuple[str, ...]:
    """Return the test files that use a marker."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    pattern = re.compile(rf"\bpytest\.mark\.{mark}\b")
    return tuple(
        file.relative_to(ROOT).as_posix() for file in files if pattern.search(file.read_text())
    )


def completed(before: Mapping[str, Any], result: Result) -> Result:
    """Return the result of a step of which what had failed before was run again."""
    counts, again = before["counts"], len(before["failed"])
    added = {
        name: counts[name] + result.counts[name] for name in ("passed", "skipped") & counts.keys()
    }
    why = f"{again} that failed before were run again"
    why = "; ".join(filter(None, (result.why, why)))
    return replace(result, counts=result.counts | added, why=why)


def together(parts: Sequence[Result]) -> Result:
    """Return the combined result of several runs of pytest, which passed if each of them did."""
    counts = Counter[str]()
    for part in parts:
        counts.update(part.counts)  # adds them up
    failed = [part.why for part in parts if part.status != PASSED]
    known = all(part.failed for part in parts if part.status != PASSED)
    names = [name for part in parts for name in part.failed if known]
    status = FAILED if failed else PASSED
    return Result(status, dict(counts), ", ".join(failed), failed=names)


def worst(parts: Sequence[Result]) -> Result:
    """Return the combined result of the parts of a sanitizer's run, which passed if each of them did."""
    failed = [part for part in parts if part.status != PASSED]
    errors = sum(part.counts.get("errors", 0) for part in parts)
    counts = {"kernels": kernels(), "errors": errors}
    known = all(part.failed for part in failed)
    names = [name for part in failed for name in part.failed if known]
    return Result(FAILED, counts, failed[0].why, failed=names) if failed else Result(PASSED, counts)


def visible_devices(gpus: int) -> list[str]:
    """Return the names of the GPUs, as used in CUDA_VISIBLE_DEVICES."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return named.split(",") if named else [str(number) for number in range(gpus)]


def call(
    command: Sequence[str], limit: float, environment: Mapping[str, str] | None = None
) -> int | None:
    """Run a command in the root of the repository; return its exit code, or None after a timeout."""
    print("+", *(Path(part).name if Path(part).is_absolute() else part for part in command))
    sys.stdout.flush()
    # Use the code in this repository, even if another version is installed.
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        start_new_session=True,  # so that its workers can be ended with it
    )
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            print("It does not heed an interrupt, and is killed")
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ended(code: int | None) -> str:
    """Return a text that says how a command ended."""
    return "ran past the time limit" if code is None else f"ended with exit code {code}"


def judge_tests(code: int | None, report: Path) -> Result:
    """Return the result in pytest's report; it is a failure if no test passed."""
    if not report.exists():
        return Result(FAILED, why=f"pytest {ended(code)} and left no report")
    cases = list(ElementTree.parse(report).iter("testcase"))
    bad = [
        case for case in cases if case.find("failure") is not None or case.find("error") is not None
    ]
    skipped = sum(case.find("skipped") is not None for case in cases)
    passed = len(cases) - len(bad) - skipped
    counts = {"passed": passed, "failed": len(bad), "skipped": skipped}
    if code == 0 and not bad and counts["passed"]:
        return Result(PASSED, counts)
    # The tests are functions of modules.
    names = [
        f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}" for case in bad
    ]
    why = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return Result(
        FAILED,
        counts,
        why if code == 1 and why else f"pytest {ended(code)}; {why}".strip("; "),
        failed=names if code == 1 else [],  # otherwise, some may not have been run
    )


def judge_sanitizer(code: int | None, log: str, wrong: Path) -> Result:
    """Return the result in a log. A log without a summary is a failure, whatever the exit code.

    The program lists the cases that failed in the file `wrong`.
    """
    summaries = re.findall(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)", log)
    if not summaries:
        return Result(FAILED, why=f"compute-sanitizer {ended(code)} and gave no summary")
    errors = sum(int(number) for summary in summaries for number in summary if number)
    counts = {"errors": errors}
    if code == 0 and not errors:
        return Result(PASSED, counts)
    # Which cases the sanitizer's errors are of is not known.
    names = wrong.read_text().split() if code == 1 and not errors and wrong.exists() else []
    why = "" if errors else f"tests/sanitize.py {ended(code)}"
    return Result(FAILED, counts, why, failed=names)


def kernels() -> int:
    """Return the number of kernels; tests/sanitize.py launches all of them."""
    from dask_graphflow.kernels.sources import KERNELS

    return sum(map(len, KERNELS.values()))


def find_sanitizer() -> str | None:
    """Return the path of compute-sanitizer, from PATH or the folder of CUDA."""
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
    folders = [
        Path(home) / folder for home in homes if home for folder in ("bin", "compute-sanitizer")
    ]
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)])
    return shutil.which("compute-sanitizer", path=path)


def machine() -> dict[str, Any]:
    """Return what a reader of the receipt needs to know about the machine, without any paths."""
    listed = describe.gpus()
    if listed is None or importlib.util.find_spec("cupy") is None:
        raise SystemExit(
            "This takes a CUDA GPU and CuPy, and found none: run nvidia-smi to see the GPUs, and "
            'pip install -e ".[cuda13,test]" (or [cuda12], as nvidia-smi says)'
        )
    return {
        "device": listed["devices"][0]["name"],
        "gpus": len(visible_devices(len(listed["devices"]))),
        "driver": listed["driver"],
        "python": platform.python_version(),
        "packages": describe.versions(),
    }


def default_jobs() -> int:
    """Return the default number of processes that share a step; more than one needs pytest-xdist."""
    if importlib.util.find_spec("xdist") is None:
        return 1
    return max(1, min(24, (os.cpu_count() or 1) * 3 // 4))


def chosen(skip: Sequence[str], only: Sequence[str]) -> list[str]:
    """Return the steps to run, in order."""
    left_out = {step for name in skip for step in GROUPS.get(name, (name,))}
    wanted = {step for name in only for step in GROUPS.get(name, (name,))} or {*receipt.REQUIRED}
    return [step for step in receipt.REQUIRED if step in wanted - left_out]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    names = sorted({*GROUPS, *receipt.REQUIRED})
    parser.add_argument(
        "--out", type=Path, default=receipt.PATH.parent, help="where results and the receipt go"
    )
    for option, text in (("--skip", "leave a step out"), ("--only", "run this step")):
        parser.add_argument(
            option, action="append", default=[], choices=names, metavar="STEP",
            help=f"{text}; repeatable; steps and groups of them: {', '.join(names)}",
        )  # fmt: skip

    parser.add_argument("--peers", action="store_true", help="measure cuGraph beside us")
    parser.add_argument(
        "--again", action="store_true",
        help="of steps that failed in the receipt in --out, run only the tests or cases that failed",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=float, default=540, help="seconds for each step (default 540)"
    )
    parser.add_argument(
        "--jobs", type=int, default=default_jobs(), metavar="N",
        help="processes that share a step (default %(default)s: three for four cores, at most 24; "
        "1 without pytest-xdist)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the steps and return the exit code."""
    out = options.out.resolve()
    where = out / receipt.PATH.name
    try:
        earlier = receipt.read(where)
    except receipt.ReceiptError as error:
        print(error, file=sys.stderr)
        return 1

    about, now = machine(), receipt.sources()
    print(json.dumps(about))
    wanted = chosen(options.skip, options.only)
    how = {"peers": options.peers, "limit": options.limit, "jobs": options.jobs}
    before = {}
    if options.again and earlier is not None and not receipt.changed(earlier, now):
        steps_before = receipt.latest(earlier).items()
        before = {name: step for name, (step, _) in steps_before if step["status"] == FAILED}
    steps = Steps(out, gpus=about["gpus"], before=before, **how)
    results = {
        name: Result(NOT_RUN, why="not reached" if name in wanted else "left out by an option")
        for name in receipt.REQUIRED
    }
    this_run = {"date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), "machine": about}
    for name in wanted:
        print(f"\n=== {name}", flush=True)
        results[name] = steps.run(name)
        print(f"=== {name}: {results[name]}", flush=True)
        this_run["steps"] = {step: result.as_json() for step, result in results.items()}
        mine = {"sources": now, "runs": [this_run]}
        receipt.write(receipt.merge([*([earlier] if earlier else []), mine], now), where)

    print("\nSummary")
    for name, result in results.items():
        print(f"  {name:<18} {result.seconds:5.0f} s  {result}")
    if receipt.sources() != now:
        print("The kernels were changed meanwhile: the receipt is of those at the start")
        return 1
    return 0 if wanted and all(results[name].status == PASSED for name in wanted) else 1
