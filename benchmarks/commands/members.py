"""Compare graphs on several members, as threads, as processes or on GPUs, with one member."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.lib import gpu, report, side
from benchmarks.lib.edges import (
    GPU,
    GRAPHS,
    HOST,
    NAMED,
    PARTITIONS,
    Sizes,
    selected,
    write,
)
from benchmarks.lib.errors import DisagreementError, UnusableInputError
from benchmarks.lib.harness import Outcome, Spread, take_turns, timed
from benchmarks.peers import cugraph

ONE = "one member"
BUILDS = ("undirected", "directed")
CALLS = (side.IDLE, *side.CALLS, *side.OTHERS)
BUILT_FOR = {call: build for call, (build, _) in (side.TRACED | side.OTHERS).items()}
NOTES = """\
Times go from a persisted graph to the computed frame, or to the frame on the workers of a cluster; a build
starts from persisted edges. "as built" is a graph with as many members as the build chooses. A ratio below
1 means that several members are faster. "supersteps": milliseconds of the slowest member, from the trace.
The members of an idle gang return an empty frame.
All contenders take turns, after one round to warm up, and return the same bits."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--members", type=int, default=2, help="number of members (default 2)")
    parser.add_argument("--gpu", action="store_true", help="measure cuDF frames, a GPU per worker")
    parser.add_argument("--scale", type=int, help="scale of the graphs, as in compare")
    parser.add_argument("--protocol", default="tcp", help="with --gpu: tcp (default) or ucxx")
    parser.add_argument(
        "--peers", nargs="+", choices=[cugraph.SEVERAL], default=[], metavar="PEER",
        help=f"with --gpu: {cugraph.SEVERAL}",
    )  # fmt: skip
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME",
        help=f"graphs ({', '.join(NAMED)}), build, or calls ({', '.join(CALLS)})",
    )  # fmt: skip
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the tables and store the results."""
    if options.members < 2 or options.repeat < 1:
        raise UnusableInputError("give --members 2 or more, and --repeat 1 or more")
    if options.peers and not options.gpu:
        raise UnusableInputError("--peers needs --gpu")
    graphs, calls = selected(options.only, CALLS)
    sizes = (GPU if options.gpu else HOST).at(options.scale)
    if options.gpu:
        gpu.check("cupy", "cudf", "dask_cudf", "dask_cuda", *(["cugraph"] if options.peers else []))
    rows = []
    with ExitStack() as stack:
        # With GPUs, each member needs its own, so there are no members in threads.
        count = options.members
        here = side.Side(
            count, on_gpu=options.gpu, stack=stack, size=count, pool=0.4, protocol=options.protocol
        )
        for name in graphs:
            with tempfile.TemporaryDirectory(prefix="graphflow-members-") as folder:
                files = _files(name, calls, sizes, Path(folder), on_gpu=options.gpu)
                here.load(**files, tasks=[])
                for call in calls:
                    rows.append(
                        {"graph": name, "call": call, **measure(call, here, files, options)}
                    )
                    print(show(rows[-1]), flush=True)
    results = {
        "benchmark": "members",
        "members": options.members,
        "gpu": options.gpu,
        "protocol": options.protocol,
        "edges": gpu.RMAT_FACTOR << sizes.scale,  # of R-MAT graphs
        "rows": rows,
    }
    where = f"-gpus-{options.protocol}" if options.gpu else ""
    name = f"members-{options.members}{where}-scale{sizes.scale}"
    report.show(f"\n{NOTES}", results, name, options)
    return 0


def _files(
    name: str, calls: Sequence[str], sizes: Sizes, folder: Path, *, on_gpu: bool
) -> dict[str, Any]:
    """Return what :meth:`.Side.load` takes. GPUs make the edges of large R-MAT graphs themselves."""
    if not on_gpu or name != "rmat":
        return write(GRAPHS[name](sizes), folder, sizes.ids)
    weighted = "weighted" in {BUILT_FOR.get(call, call) for call in calls}
    edges = {"scale": sizes.scale, "parts": PARTITIONS, "weighted": weighted}
    return {"few": edges, "files": edges, "start": gpu.HUB}


def measure(call: str, here: side.Side, files: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Time one call of all contenders in turn."""
    count, threads, processes = options.members, "threads", "processes"
    places: dict[str, tuple[int | None, bool]] = {
        ONE: (1, options.gpu),
        f"{count} members, {threads}": (count, False),
        f"{count} members, {processes}": (count, True),
        f"as built, {processes}": (None, True),
    }
    if options.gpu:
        del places[f"{count} members, {threads}"]
    if call in side.OTHERS:
        del places[f"as built, {processes}"]
    if call == side.STREAMED:  # it has no graph, so members do not matter
        places = {ONE: (1, options.gpu), f"{count} workers": (count, True)}
    supersteps: dict[str, list[float]] = {name: [] for name in places}
    contenders = {
        name: _work(call, here, members, supersteps[name], processes=own)
        for name, (members, own) in places.items()
    }
    if options.peers and call in (*BUILDS, "bfs", "pagerank", side.STREAMED):
        contenders[cugraph.SEVERAL] = _peer(call, here, files, options)
    bits: dict[str, str] = {}

    def check(name: str, answer: Any) -> None:
        if answer is not None and bits.setdefault(call, answer) != answer:
            raise DisagreementError(f"{call}: {name} returned other bits than {ONE}")

    seconds = take_turns(contenders, options.repeat, check, failures := dict[str, str]())
    return {"seconds": seconds, "supersteps": supersteps, "failures": failures}


def _work(
    call: str, here: side.Side, members: int | None, supersteps: list[float], *, processes: bool
) -> Callable[[], Outcome]:
    turns = iter(range(1_000_000))

    def work() -> Outcome:
        first = next(turns) == 0
        options: dict[str, Any] = {"processes": processes, "first": first}
        if call in side.BUILDS:
            answer = here.build(call, members, **options)["measures"]
            return Outcome(answer.get("build", 0.0))
        answer = here.call(call, members, fetch=False, **options)
        if first:
            return Outcome(0.0, answer["bits"])
        if "supersteps" in answer["measures"]:
            supersteps.append(answer["measures"]["supersteps"])
        return Outcome(answer["measures"]["call"])

    return work


def _peer(
    call: str, here: side.Side, files: Any, options: argparse.Namespace
) -> Callable[[], Outcome]:
    client = here.client(options.members)
    edges = here.edges(client)
    made: list[Callable[[], Any]] = []

    def work() -> Outcome:
        with client.as_current(), gpu.peer_errors():
            if not made:
                here.rest(client)
                cugraph.start_on_workers()
                name = "build" if call in BUILDS else call
                made.append(cugraph.on_workers(name, edges, files["start"], side.ITERATIONS))
                here.hold(client)  # the graph of the peer stays on the workers
            return Outcome(timed(made[0]).seconds)

    return work


def show(row: dict[str, Any]) -> str:
    """Format the measurements of one call as text."""
    steps = {
        name: f"{Spread.of(seconds).median * 1e3:.2f}"
        for name, seconds in row["supersteps"].items()
        if seconds
    }
    table = report.comparison(row["seconds"], ONE, {"supersteps": steps}, row["failures"])
    return f"\n{row['graph']}, {row['call']}\n{table}"
