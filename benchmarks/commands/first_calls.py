"""First calls of all functions, each in a new process with an empty cache of compiled kernels."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time
from typing import Any

from benchmarks.lib import report
from benchmarks.lib.harness import in_process
from benchmarks.lib.required import edges_for, options_for

NOTES = """\
Seconds, medians. A call takes an edge list in memory, builds the graph and returns a computed frame.
"first" is the first call in a new process with an empty cache, after the import of the library, and "CPU"
the CPU time of all threads meanwhile. In "compiling" of these seconds, Numba compiled as many functions as
"kernels" says, each tuple of types counted. "cached" is the first call in another new process, and "second"
the second call there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=12, help="R-MAT graph of 2**scale ids")
    parser.add_argument("--repeat", type=int, default=1, help="rounds, each with empty caches")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these functions only")


def run(options: argparse.Namespace) -> int:
    """Measure, print a table and store the results."""
    times = {
        name: [measured(name, options) for _ in range(options.repeat)]
        for name in options.only or names()
    }
    about = {"scale": options.scale, "threads": options.workers, "calls": times}
    report.show(f"{table(times)}\n\n{NOTES}", about, "first-calls", options)
    return 0


def names() -> list[str]:
    """Return the names of all functions that are measured."""
    from dask_graphflow.algorithms import ALGORITHMS

    return ["estimate", *sorted(ALGORITHMS)]


def table(times: dict[str, list[dict[str, Any]]]) -> str:
    """Return the table of the medians."""
    rows = []
    for name, rounds in times.items():
        first, cached = ([one[which] for one in rounds] for which in ("first", "cached"))
        seconds = [median(one[part] for one in first) for part in ("call", "cpu", "compiling")]
        seconds += [median(one[part] for one in cached) for part in ("call", "second")]
        cells = [f"{value:.2f}" for value in seconds]
        rows.append([name, *cells[:3], str(len(first[0]["kernels"])), *cells[3:]])
    return report.table(
        ["function", "first", "CPU", "compiling", "kernels", "cached", "second"], rows
    )


def measured(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the times of first calls in a process that compiles, and in the next process."""
    asked = name, str(options.scale), str(options.workers)
    with tempfile.TemporaryDirectory() as folder:
        # The other folder is where the rates of the machine would be stored.
        caches = {"NUMBA_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}
        return {which: in_process(main, *asked, **caches) for which in ("first", "cached")}


def main(name: str, scale: str, threads: str) -> None:
    """Make a call twice in this process, and print the times."""
    import dask
    import dask.dataframe as dd

    import dask_graphflow as gf
    from dask_graphflow.algorithms import ALGORITHMS

    frame = gf.generate.rmat(int(scale)).compute(scheduler="sync").reset_index(drop=True)
    frame["weight"] = (frame.src + frame.dst) % 16 + 1.0
    frame = edges_for(name, frame)
    edges = dd.from_pandas(frame, npartitions=4)
    given = {"source": "src", "target": "dst"}
    if name == "estimate":
        given["algorithm"] = "pagerank"
    elif ALGORITHMS[name].weights == "required":
        given["weight"] = "weight"
    vertices = frame[["src", "dst"]].stack().drop_duplicates()
    given |= options_for(vertices).get(name, {})

    def call() -> None:
        made = getattr(gf, name)(edges, **given)
        if name != "estimate":
            made.compute()

    with dask.config.set(num_workers=int(threads)):
        begin, cpu = perf_counter(), process_time()
        with _listening() as compiled:  # this imports Numba, as the call would
            call()
        times = {"call": perf_counter() - begin, "cpu": process_time() - cpu, **compiled()}
        begin = perf_counter()
        call()
        times["second"] = perf_counter() - begin
    print(json.dumps(times))


@contextmanager
def _listening() -> Iterator[Callable[[], dict[str, Any]]]:
    """Record the compile time of each kernel in seconds, without the kernels that it calls."""
    from numba.core.event import Listener, install_listener

    class Compiled(Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self._begun: list[float] = []
            self._within: list[float] = [0.0]
            self._kernels: dict[str, float] = {}

        def on_start(self, event: Any) -> None:
            self._begun.append(perf_counter())
            self._within.append(0.0)

        def on_end(self, event: Any) -> None:
            whole = perf_counter() - self._begun.pop()
            own = whole - self._within.pop()
            self._within[-1] += whole
            function = event.data["dispatcher"].py_func
            kernel = f"{function.__module__}.{function.__qualname__}{event.data['args']}"
            self._kernels[kernel] = self._kernels.get(kernel, 0.0) + own

        def times(self) -> dict[str, Any]:
            return {"compiling": self._within[0], "kernels": self._kernels}

    listener = Compiled()
    with install_listener("numba:compile", listener):
        yield listener.times
