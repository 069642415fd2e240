"""First calls in new processes, with nothing compiled and with cached kernels, beside other libraries."""

from __future__ import annotations

import argparse
import pickle
import resource
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.lib import first_call, report
from benchmarks.lib.errors import ContenderFailedError
from benchmarks.lib.first_call import DASK
from benchmarks.lib.graphs import DIRECTED, Inputs
from benchmarks.lib.harness import in_process
from benchmarks.lib.required import ORIENTED, edges_for, options_for
from benchmarks.lib.rows import ROWS, Row
from benchmarks.peers import host

NOTES = f"""\
CPU seconds of all threads, medians. A call takes an edge list in memory, builds the graph and returns a
computed frame. "nothing compiled" is the first call in a process with an empty cache, in which Numba
compiled as many functions as "kernels" says, each tuple of types counted. "cached" is the first call in
the next process, and "second" the second call there, both without imports. "process" is a whole process
with cached kernels and with one call: Python, imports and the call; the peers' columns are whole processes,
too, and so is "{DASK}", which adds 1 to the edges. Peers begin with arrays, and their answers are not
compared here (`benchmarks algorithms` compares them)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--scale", type=int, nargs="+", default=[6, 13, 16],
        help="R-MAT graphs of 2**scale ids, and 16 times as many edges (default: 10**3 to 10**6)",
    )  # fmt: skip
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these functions only")
    host.add_arguments(parser)
    parser.set_defaults(repeat=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print tables and store the results."""
    scales, texts = {}, []
    for scale in options.scale:
        inputs = Inputs.of(scale, 0)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            peers = {peer.name: peer for peer in host.started(options, inputs, stack)}
            times = {
                name: measured(name, inputs, folder, peers, options)
                for name in options.only or names()
            }
        scales[scale] = {"edges": len(inputs.source), "calls": times}
        texts.append(f"{len(inputs.source):,} edges\n{table(times)}")
    about = {"threads": options.workers, "scales": scales}
    report.show("\n\n".join([*texts, NOTES]), about, "first-calls", options)
    return 0


def names() -> list[str]:
    """Return the names of all functions that are measured."""
    from dask_graphflow.algorithms import ALGORITHMS

    return [DASK, "estimate", *sorted(ALGORITHMS)]


def table(times: dict[str, list[dict[str, Any]]]) -> str:
    """Return the table of the medians."""
    peers = sorted({peer for rounds in times.values() for peer in rounds[0]["peers"]})
    rows = []
    for name, rounds in times.items():
        first, cached = ([one[which] for one in rounds] for which in ("first", "cached"))
        seconds = [[one["cpu"] for one in first], [one["cpu"] for one in cached]]
        seconds += [[one["second"] for one in cached], [process(one) for one in cached]]
        seconds += [
            [one["peers"][peer] for one in rounds if peer in one["peers"]] for peer in peers
        ]
        cells = [f"{median(one):.3f}" if one else "-" for one in seconds]
        rows.append([name, cells[0], str(len(first[0]["kernels"])), *cells[1:]])
    header = ["function", "nothing compiled", "kernels", "cached", "second", "process", *peers]
    return report.table(header, rows)


def process(times: dict[str, float]) -> float:
    """Return the CPU seconds of a process with one call."""
    return sum(times[part] for part in ("python", "import dask", "import", "cpu"))


def measured(
    name: str, inputs: Inputs, folder: Path, peers: dict[str, Any], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the times of rounds: of a process that compiles, of the next one, and of peers."""
    row = ROWS.get(name)
    arguments = name, str(written(name, row, inputs, folder)), str(options.workers)
    rounds = []
    for _ in range(options.repeat):
        with tempfile.TemporaryDirectory() as empty:
            # The other folder is where the rates of the machine would be stored.
            caches = {"NUMBA_CACHE_DIR": empty, "XDG_CACHE_HOME": empty}
            first = in_process(first_call.main, *arguments, "listen", **caches)
            cached = in_process(first_call.main, *arguments, "", **caches)
        others = {
            peer: seconds for peer in peers if (seconds := _peer(peers[peer], row)) is not None
        }
        rounds.append({"first": first, "cached": cached, "peers": others})
    return rounds


def written(name: str, row: Row | None, inputs: Inputs, folder: Path) -> Path:
    """Write the edges and the options of a function, and return the file."""
    from dask_graphflow.algorithms import ALGORITHMS

    if row is not None:
        graph, given = row.graph, row.ours(inputs)
    else:
        import pandas as pd

        weighted = name in ALGORITHMS and ALGORITHMS[name].weights == "required"
        graph = "acyclic" if name in ORIENTED else "weighted" if weighted else "undirected"
        given = options_for(pd.Series(range(inputs.vertices))).get(name, {})
    columns = inputs.columns(graph)
    if row is None and name in ORIENTED:
        ends = edges_for(name, pd.DataFrame({"src": columns["source"], "dst": columns["target"]}))
        columns = {"source": ends["src"].to_numpy(), "target": ends["dst"].to_numpy()}
    if "weight" in columns:
        given["weight"] = "weight"
    if graph in DIRECTED and name in ALGORITHMS:
        given["directed"] = True
    if name == "estimate":
        given["algorithm"] = "pagerank"
    path = folder / "call.pickle"
    path.write_bytes(pickle.dumps((columns, given)))
    return path


def _peer(peer: host.Peer, row: Row | None) -> float | None:
    """Return the CPU seconds of a process in which a peer builds a graph and answers once."""
    if row is None or not peer.contenders(row):
        return None
    peer.close()
    before = _cpu_of_children()
    if peer.missing():
        return None
    try:
        peer.answer(row, from_edges=True, wanted=False)
    except ContenderFailedError:
        return None
    peer.close()
    return _cpu_of_children() - before


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
