"""The cost model, fitted to one and two workers, and compared with the times of more workers."""

from __future__ import annotations

import argparse
import itertools
import math
import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import dask.dataframe as dd

import dask_graphflow as gf
from dask_graphflow.api.components import tasks_of
from dask_graphflow.costs import links, model, store
from dask_graphflow.costs.microbenchmarks import forest_seconds
from dask_graphflow.costs.model import Scaling
from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph import generate
from dask_graphflow.graph.memory import index_bytes
from dask_graphflow.scheduling import placement, trees

from . import machine, report
from .errors import DisagreementError, UnusableInputError
from .members import Side

ITERATIONS = 20
RANK = 4  # bytes per vertex and iteration that are sent to another member
TINY = 8  # scale of a graph so small that its time is the overhead of a call
FITTED = (1, 2)
NEAR = 0.25
LARGEST = 24  # largest scale at which the time of a forest is measured
# Other users of the machine only add to the time, so the minimum of many turns shows what it can do.
STATISTICS: dict[str, Callable[[list[float]], float]] = {"median": statistics.median, "least": min}
PHASES = ("components", "build", f"pagerank, {ITERATIONS} iterations")

NOTES = """\
Seconds from persisted edges to persisted components, and to a persisted graph, and from that to persisted
ranks (float32): the median and the least of all turns of all rounds; each round starts each cluster afresh,
one after the other. Predicted: the same calls of a tiny graph, and what each task of them takes where there
are more; what a forest takes whatever its edges, merges and messages by their rates, each measured on one
worker and on two; and the rest, which is shared out, with the contention that two showed (of a build, with
what dealing edges took them, each to the members that have an end of it), up to the cores that there are.
What all workers do takes as much longer as there are more of them than cores."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="2**scale ids (default 20)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2, 4], help="sizes of clusters, with 1 and 2"
    )
    parser.add_argument(
        "--foretell", type=int, nargs="+", default=[], help="sizes to predict and not to measure"
    )
    parser.add_argument("--threads", type=int, default=1, help="of a worker (default 1)")
    parser.add_argument("--partitions", type=int, default=4, help="of a worker (default 4)")
    parser.add_argument("--rounds", type=int, default=3, help="times that clusters are started")
    parser.add_argument("--repeat", type=int, default=3, help="turns on each, after one")
    parser.add_argument("--gpu", action="store_true", help="workers have a GPU each (dask-cuda)")
    parser.add_argument("--protocol", default="tcp", help="Dask's, with --gpu: tcp or ucxx")


def run(options: argparse.Namespace) -> int:
    """Measure, fit, predict, print the results and store them."""
    numbers = options.scale, options.edge_factor, options.threads, options.partitions
    if min(*numbers, options.rounds, options.repeat, *options.workers, *options.foretell) < 1:
        raise UnusableInputError("give whole numbers, 1 or more")
    if not set(FITTED) <= set(options.workers):
        raise UnusableInputError("the model is fitted on 1 and 2: name both in --workers")
    results = measure(options)
    print(show(results))
    where = "gpu" if options.gpu else "cpu"
    kept = report.keep(options.json, f"costs-{where}-scale{options.scale}", results)
    if kept is not None:
        print(f"\nkept in {kept}")
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time all clusters, then fit and predict."""
    sizes = sorted(set(options.workers))
    taken: dict[str, dict[int, list[float]]] = {
        name: {size: [] for size in sizes} for phase in PHASES for name in (phase, f"tiny {phase}")
    }
    found: dict[str, Any] = {}
    joined: dict[int, Any] = {}
    constants: dict[str, Any] = {}
    for _ in range(options.rounds):
        for size in sizes:
            with cluster(size, options) as client:
                for scale, prefix in ((TINY, "tiny "), (options.scale, "")):
                    side = Workers(f"{size} workers", size, options.threads, client)
                    side.device = options.gpu
                    side.load(edges_of(client, scale, options))
                    for phase, seconds, answer in side.phases(options.repeat):
                        taken[prefix + phase][size] += seconds
                        if found.setdefault(prefix + phase, answer) != answer:
                            raise DisagreementError(
                                f"{phase}: {size} workers found {answer}, not {found[phase]}"
                            )
                    side.clear()
                if size == 1 and not constants:
                    given = options.gpu, options.threads
                    rates = client.submit(store.rates, *given, fresh=True, pure=False).result()
                    own = client.submit(
                        forest_seconds, *given, pure=False, scale=min(options.scale, LARGEST)
                    )
                    constants = {
                        "rates": rates.as_dict(),
                        "merge": rates.rate("merges", 1 << options.scale),
                        "forest": own.result(),
                    }
                if size in FITTED and size not in joined:
                    joined[size] = links.measure_links(client, device=options.gpu)
    vertices = 1 << options.scale
    cores = math.inf if options.gpu else cores_here() / options.threads
    given = vertices, options, joined[2], constants["merge"], constants["forest"], cores
    return {
        "benchmark": "costs",
        "gpu": options.gpu,
        "graph": f"R-MAT scale {options.scale}, edge factor {options.edge_factor}",
        "threads": options.threads,
        "workers_with_cores": None if options.gpu else cores,
        "links": {size: finite(asdict(one)) for size, one in joined.items()},
        **constants,
        "seconds": taken,
        "predicted": {
            name: predict(taken, *given, statistic) for name, statistic in STATISTICS.items()
        },
    }


def finite(numbers: dict[str, float]) -> dict[str, float | None]:
    """Return numbers that JSON can store. A single worker has no link, so its speed is infinite."""
    return {name: value if math.isfinite(value) else None for name, value in numbers.items()}


def cores_here() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def cluster(size: int, options: argparse.Namespace) -> Iterator[Any]:
    """Start a cluster of `size` workers."""
    if options.gpu:
        from .device import needs, two

        needs.check("cupy", "cudf", "dask_cudf", "dask_cuda")
        with two.cluster(size, options.protocol, peer=False) as client:
            yield client
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=size, threads_per_worker=options.threads, dashboard_address=":0"
        ) as workers,
        Client(workers) as client,
    ):
        yield client


def edges_of(client: Any, scale: int, options: argparse.Namespace) -> Any:
    """Return a persisted edge list that is distributed evenly over the workers."""
    from distributed import wait

    workers = sorted(client.nthreads())
    count, parts = options.edge_factor << scale, len(workers) * options.partitions
    bounds = [count * part // parts for part in range(parts + 1)]
    whole = generate.rmat(scale, edge_factor=options.edge_factor, npartitions=parts)
    make, meta = partial(_part, whole), whole._meta
    if options.gpu:
        from .device import graphs

        make, meta = partial(graphs.rmat_part, scale=scale, seed=0), graphs.empty_frame()
    futures = []
    for at, ends in enumerate(itertools.pairwise(bounds)):
        given = ends if options.gpu else (at,)
        home = [workers[at // options.partitions]]
        futures.append(client.submit(make, *given, workers=home, pure=False))
    edges = dd.from_delayed(futures, meta=meta, verify_meta=False).persist()
    wait(edges)
    return edges


def _part(frame: Any, at: int) -> Any:
    return frame.partitions[at].compute(scheduler="synchronous")


class Workers(Side):
    """The workers of a cluster, and a graph that is persisted on them."""

    device = False

    def phases(self, repeat: int) -> Iterator[tuple[str, list[float], Any]]:
        """Yield each phase, the seconds of its turns, and a value to compare its results by."""
        yield (
            PHASES[0],
            *self.turns(repeat, self._labels, lambda one: int(one.component.sum().compute())),
        )
        yield PHASES[1], *self.turns(repeat, self._built, lambda one: one.num_edges)
        self.keep()
        yield (
            PHASES[2],
            *self.turns(repeat, self._ranks, lambda one: float(one.pagerank.max().compute())),
        )

    def turns(
        self, repeat: int, work: Callable[[], Any], tell: Callable[[Any], Any]
    ) -> tuple[list[float], Any]:
        """Repeat some work, after an untimed turn; return the seconds and a value of the result."""
        taken: list[float] = []
        answer = None
        for turn in range(repeat + 1):
            with self._timing() as timed:
                found = work()
                seconds = timed()
                if turn:
                    taken.append(seconds)
                else:
                    answer = tell(found)
                del found
        return taken, answer

    def _labels(self) -> Any:
        labels = gf.connected_components(self._edges, source="src", target="dst")
        return self._rested(self._waited(labels.persist()))

    def _built(self) -> Any:
        graph = self._graph().persist()
        self._waited(graph._shards.built)
        return self._rested(graph)

    def _ranks(self) -> Any:
        ranks = self._kept.pagerank(tol=None, max_iter=ITERATIONS, precision="float32")
        return self._rested(self._waited(ranks.persist()))

    def _rested(self, result: Any) -> Any:
        if self.device:
            from .device import clock

            self.client.run(clock.wait)  # a task may end before its device is done
        return result


def _tasks(size: int, options: argparse.Namespace) -> int:
    """Return the number of tasks of a components call on `size` workers, without hooks."""
    workers = [str(number) for number in range(size)]
    slots = placement.slots_of(dict.fromkeys(workers, 1 if options.gpu else options.threads))
    homes = [worker for worker in workers for _ in range(options.partitions)]
    return tasks_of(trees.chains("availability", homes, slots), len(homes), slots)


def predict(
    taken: dict[str, dict[int, list[float]]],
    vertices: int,
    options: argparse.Namespace,
    between: links.Links,
    merge: float,
    forest: float,
    cores: float,
    statistic: Callable[[list[float]], float],
) -> dict[str, Any]:
    """Return for each phase the constants fitted to one and two workers, and the predicted seconds."""
    edges, index = options.edge_factor << options.scale, index_bytes(vertices)
    tasks = {size: _tasks(size, options) for size in {*taken[PHASES[0]], *options.foretell}}
    degree = 2 * edges / vertices

    def crowd(size: int) -> float:
        return max(size / cores, 1.0)  # members per core

    def merging(size: int) -> float:
        each = vertices / merge + vertices * (index + 1) / between.moves
        return trees.depth(trees.tree(size)) * each + vertices * forest * crowd(size)

    def dealing(size: int) -> float:
        sent = 2 * 2 * index * edges / size * (1 - 1 / size)
        return sent / between.c * crowd(size) if size > 1 else 0.0

    def telling(size: int) -> float:
        if size == 1:
            return 0.0
        sent = model.remote(vertices, degree, size) * RANK
        latency = between.latency * (size - 2)  # the tiny call includes the latency of two
        return ITERATIONS * (sent / between.c + latency) * crowd(size)

    found: dict[str, Any] = {}
    for phase, more in zip(PHASES, (merging, dealing, telling), strict=True):
        tiny = {size: statistic(taken[f"tiny {phase}"][size]) for size in FITTED}
        measured = {size: statistic(taken[phase][size]) for size in taken[phase]}
        sizes = sorted({*measured, *options.foretell})

        # A components call grows with its tasks. Other calls hardly do: a gang has one task per member.
        each = (tiny[2] - tiny[1]) / (tasks[2] - tasks[1]) if phase == PHASES[0] else 0.0

        def beside(
            size: int,
            tiny: dict[int, float] = tiny,
            more: Callable[[int], float] = more,
            each: float = max(each, 0.0),
        ) -> float:
            call = tiny[min(size, 2)] + each * max(tasks[size] - tasks[2], 0)
            return call * crowd(size) + more(size)

        fit: Callable[..., Scaling | Dealt] = Dealt.fit if phase == PHASES[1] else model.fit
        try:
            shared = fit(measured, beside, most=cores)
        except OptionError:  # the work that is not shared is predicted to exceed the total
            found[phase] = None
            continue
        found[phase] = {
            "scaling": asdict(shared) | {"most": None if options.gpu else cores},
            "beside": {size: beside(size) for size in sizes},
            "seconds": {size: beside(size) + shared.seconds(size) for size in sizes},
        }
    return found


@dataclass(frozen=True)
class Dealt:
    """The time in which several members make rows.

    The edges are assigned to members first. A member then makes the rows of the edges with an end on it.

    Attributes
    ----------
    alone : float
        Seconds to make the rows of all edges on one worker.
    dealing : float
        Seconds to assign all edges to members, which a single worker does not have to do.
    most : float
        Number of workers that there are cores for.
    """

    alone: float
    dealing: float
    most: float = math.inf

    @classmethod
    def fit(cls, measured: dict[int, float], beside: Callable[[int], float], most: float) -> Dealt:
        """Fit the constants to the times of one worker and of two."""
        alone, both = (measured[size] - beside(size) for size in FITTED)
        if alone <= 0:
            raise OptionError(f"of {measured[1]} seconds {beside(1)} are not shared out")
        return cls(alone, max(2 * both / max(2 / most, 1.0) - 1.5 * alone, 0.0), most)

    def seconds(self, workers: int) -> float:
        """Return the seconds on this number of workers."""
        # Each of n members owns an end of 1 - (1 - 1/n)^2 = (2 - 1/n) / n of the edges.
        dealing = self.dealing if workers > 1 else 0.0
        each = (self.alone * (2 - 1 / workers) + dealing) / workers
        return each * max(workers / self.most, 1.0)


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    header = ["", "workers"]
    for name in STATISTICS:
        header += [f"{name} ms", "predicted", "/ measured", "within 25 %"]
    rows = []
    for phase in PHASES:
        taken = results["seconds"][phase]
        fits = [results["predicted"][name][phase] for name in STATISTICS]
        sizes = sorted({*taken}.union(*(fit["seconds"] for fit in fits if fit)))
        for size in sizes:
            row = [phase, str(size)]
            for statistic, fit in zip(STATISTICS.values(), fits, strict=True):
                measured = statistic(taken[size]) if size in taken else None
                predicted = fit and fit["seconds"][size]
                row += compared(size, measured, predicted)
            rows.append(row)
    kind = "with a GPU" if results["gpu"] else f"of {results['threads']} thread(s)"
    cores = results["workers_with_cores"]
    room = "" if cores is None else f"; cores for {cores:g} of them"
    fits = results["predicted"]["median"]
    lost = ", ".join(
        f"{phase} {fits[phase]['scaling']['contention']:.2f}"
        for phase in PHASES
        if fits[phase] and "contention" in fits[phase]["scaling"]
    )
    return f"""\
{results["graph"]}, edges without direction; workers {kind}{room}
{report.machine_line(machine.describe())}

{report.table(header, rows)}

contention, by medians: {lost}
{NOTES}"""


def compared(size: int, measured: float | None, predicted: float | None) -> list[str]:
    """Return the measured and the predicted time, their ratio and the verdict."""
    found = "-" if measured is None else f"{measured * 1e3:.1f}"
    said = "no fit" if predicted is None else f"{predicted * 1e3:.1f}"
    if measured is None or predicted is None:
        return [found, said, "-", "-"]
    return [found, said, f"{predicted / measured:.2f}", verdict(size, predicted / measured)]


def verdict(size: int, ratio: float) -> str:
    """Return the verdict on a ratio of predicted to measured time."""
    if size in FITTED:
        return "fitted"
    return "yes" if abs(ratio - 1) <= NEAR else "MISS"
