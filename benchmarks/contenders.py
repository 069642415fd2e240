"""What is measured: this library in two ways, and each peer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd

import dask_graphflow as gf

from . import peers, rss
from .forgetting import forgotten, known_tasks
from .inputs import Graph, Recipe, read
from .labels import Census, Labels, canonical
from .peers import gap

THREADS = "graphflow, threads"
PROCESSES = "graphflow, processes"


@dataclass(frozen=True)
class Settings:
    """How the contenders are run.

    Attributes
    ----------
    recipe : Recipe
    workers : int
        Threads, or worker processes with a thread each.
    partitions : int
        Of this library's input.
    parquet : str or None
        Begin each run by reading this, instead of at a frame in memory.
    """

    recipe: Recipe
    workers: int
    partitions: int
    parquet: str | None = None


def make(name: str, graph: Graph, settings: Settings) -> Any:
    """Return a contender by its name, not started."""
    if name == THREADS:
        return Threads(graph, settings)
    if name == PROCESSES:
        return Processes(graph, settings)
    if name == gap.NAME:
        return Gap(graph, settings)
    return ArrayPeer(name, graph, settings, peers.load(name))


@dataclass
class Threads:
    """This library with the threaded scheduler, from a Dask frame to a frame of labels."""

    graph: Graph
    settings: Settings
    options: dict[str, Any] = field(default_factory=dict)
    name: str = THREADS
    edges: Any = None

    def start(self) -> None:
        """Put the frame in place, unless another contender's is there already.

        It is persisted. ``dd.from_pandas`` would list the whole index, as Python numbers, when the
        frame is first used: Dask's time and memory, several times the input, would pass for ours.
        """
        if self.edges is None and self.settings.parquet is None:
            with self._scheduler():
                self.edges = self.settings.recipe.lazy(self.settings.partitions).persist()

    def stop(self) -> None:
        """Let the frame go."""
        self.edges = None

    def run(self) -> Labels:
        """Compute the labels once."""
        with self._scheduler():
            begin = time.perf_counter()
            found = self._components(self._input()).compute()
            seconds = time.perf_counter() - begin
        return _labels(seconds, found)

    def warm_up(self) -> None:
        """Import and compile, with next to no memory."""
        small = dd.from_pandas(self.graph.small().frame, npartitions=self.settings.partitions)
        with self._scheduler():
            self._components(small).compute()

    def tasks(self) -> int:
        """Return the number of tasks that a run takes."""
        with self._scheduler():
            return len(self._components(self._input()).optimize().__dask_graph__())

    def begin_memory(self) -> None:
        """Take what is resident now as the baseline."""
        rss.reset_peak()
        self._baseline = rss.current()

    def peak_memory(self) -> int:
        """Return the most bytes above the baseline."""
        return rss.peak() - self._baseline

    def _scheduler(self) -> Any:
        return dask.config.set(scheduler="threads", num_workers=self.settings.workers)

    def _input(self) -> Any:
        if self.settings.parquet is None:
            return self.edges
        return read(self.settings.parquet, self.graph.source, self.graph.target)

    def _components(self, edges: Any) -> Any:
        return gf.connected_components(
            edges, source=self.graph.source, target=self.graph.target, **self.options
        )


@dataclass
class Processes(Threads):
    """This library on a LocalCluster, from a frame on the workers to labels on the workers."""

    name: str = PROCESSES

    def start(self) -> None:
        """Start the workers and put the frame on them."""
        from distributed import Client, LocalCluster, wait

        self._cluster = LocalCluster(
            n_workers=self.settings.workers, threads_per_worker=1, dashboard_address=":0"
        )
        self._client = Client(self._cluster)
        if self.settings.parquet is None:
            self.edges = self.settings.recipe.lazy(self.settings.partitions).persist()
            wait(self.edges)
        self._held = known_tasks(self._client)

    def stop(self) -> None:
        """End the workers."""
        self.edges = None
        self._client.close()
        self._cluster.close()

    def run(self) -> Labels:
        """Compute the labels once, then fetch them outside the timing."""
        from distributed import wait

        forgotten(self._client, self._held)
        begin = time.perf_counter()
        found = self._components(self._input()).persist()
        wait(found)
        seconds = time.perf_counter() - begin
        return _labels(seconds, found.compute())

    def begin_memory(self) -> None:
        """Take what is resident on each worker now as the baseline."""
        forgotten(self._client, self._held)
        self._client.run(rss.reset_peak)
        self._baselines = self._client.run(rss.current)

    def peak_memory(self) -> int:
        """Return the most bytes above the baseline, all workers together."""
        peaks = self._client.run(rss.peak)
        return sum(peaks[worker] - base for worker, base in self._baselines.items())

    def _scheduler(self) -> Any:
        return dask.config.set(scheduler="dask.distributed")


@dataclass
class ArrayPeer:
    """Another library, from a frame of edges (its columns as arrays) to an array of labels.

    Ids that are no int64 places in an array are numbered with ``pandas.factorize``; that counts.
    """

    name: str
    graph: Graph
    settings: Settings
    peer: ModuleType

    def start(self) -> None:
        """Do nothing: a peer keeps nothing between runs."""

    def stop(self) -> None:
        """Do nothing."""

    def run(self) -> Labels:
        """Find the labels once, then name the components by their smallest ids, not timed."""
        begin = time.perf_counter()
        source, target, places, ids = self.graph.codes(_frame(self.graph, self.settings))
        labels = self.peer.run(source, target, places)
        seconds = time.perf_counter() - begin
        return canonical(seconds, labels, ids, self.graph)

    def warm_up(self) -> None:
        """Import, with next to no memory."""
        small = self.graph.small()
        source, target, places, _ = small.codes(small.frame)
        self.peer.run(source, target, places)

    def tasks(self) -> None:
        """Return None: there are no tasks."""

    def begin_memory(self) -> None:
        """Take what is resident now as the baseline."""
        rss.reset_peak()
        self._baseline = rss.current()

    def peak_memory(self) -> int:
        """Return the most bytes above the baseline."""
        return rss.peak() - self._baseline


@dataclass
class Gap:
    """The GAP benchmark's own program, whose build and fastest trial are what it says they took."""

    graph: Graph
    settings: Settings
    name: str = gap.NAME

    def start(self) -> None:
        """Write the edges where the program reads them."""
        source, target, _, _ = self.graph.codes(self.graph.frame)
        self._vertices = int(max(source.max(), target.max())) + 1
        self._file = gap.EdgeFile(source, target)
        self._watched = False

    def stop(self) -> None:
        """Delete the edges."""
        self._file.close()

    def run(self) -> Census:
        """Run the program once."""
        numbering = 0.0
        if self.graph.bound is None:
            begin = time.perf_counter()
            self.graph.codes(self.graph.frame)
            numbering = time.perf_counter() - begin
        told = gap.run(self._file.path, watch=self._watched)
        self._peak = told.peak
        return Census(numbering + told.seconds, self._vertices, told.components, told.largest)

    def warm_up(self) -> None:
        """Do nothing: every run is a process of its own."""

    def tasks(self) -> None:
        """Return None: there are no tasks."""

    def begin_memory(self) -> None:
        """Watch the program in the run to come."""
        self._watched = True

    def peak_memory(self) -> int:
        """Return the most bytes of the whole program, its edge list among them."""
        return self._peak


def _frame(graph: Graph, settings: Settings) -> pd.DataFrame:
    if settings.parquet is None:
        return graph.frame
    return pd.read_parquet(settings.parquet, columns=[graph.source, graph.target])


def _labels(seconds: float, found: pd.DataFrame) -> Labels:
    return Labels(seconds, found["vertex"].to_numpy(), found["component"].to_numpy())
