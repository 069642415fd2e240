"""The contenders: this library with threads and with processes, and each peer."""

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
    """Settings of a run of the contenders.

    Attributes
    ----------
    recipe : Recipe
    workers : int
        Number of threads, or of worker processes with one thread each.
    partitions : int
        Number of partitions of this library's input.
    parquet : str or None
        Parquet files that each run reads first; None starts from a frame in memory.
    """

    recipe: Recipe
    workers: int
    partitions: int
    parquet: str | None = None


def make(name: str, graph: Graph, settings: Settings) -> Any:
    """Return the contender with a name, without starting it."""
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
        """Persist the frame, unless there already is one.

        ``dd.from_pandas`` would list the whole index as Python numbers when the frame is first used. That
        takes several times the memory of the input, and would count as time and memory of this library.
        """
        if self.edges is None and self.settings.parquet is None:
            with self._scheduler():
                self.edges = self.settings.recipe.lazy(self.settings.partitions).persist()

    def stop(self) -> None:
        """Release the frame."""
        self.edges = None

    def run(self) -> Labels:
        """Compute the labels once."""
        with self._scheduler():
            begin = time.perf_counter()
            found = self._components(self._input()).compute()
            seconds = time.perf_counter() - begin
        return _labels(seconds, found)

    def warm_up(self) -> None:
        """Import and compile on a small graph, which takes little memory."""
        small = dd.from_pandas(self.graph.small().frame, npartitions=self.settings.partitions)
        with self._scheduler():
            self._components(small).compute()

    def tasks(self) -> int:
        """Return the number of tasks of a run."""
        with self._scheduler():
            return len(self._components(self._input()).optimize().__dask_graph__())

    def begin_memory(self) -> None:
        """Use the current resident memory as the baseline."""
        rss.reset_peak()
        self._baseline = rss.current()

    def peak_memory(self) -> int:
        """Return the peak memory above the baseline, in bytes."""
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
        """Start the workers, and persist the frame on them."""
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
        """Compute the labels once, and fetch them after the timing."""
        from distributed import wait

        forgotten(self._client, self._held)
        begin = time.perf_counter()
        found = self._components(self._input()).persist()
        wait(found)
        seconds = time.perf_counter() - begin
        return _labels(seconds, found.compute())

    def begin_memory(self) -> None:
        """Use the current resident memory of each worker as the baseline."""
        forgotten(self._client, self._held)
        self._client.run(rss.reset_peak)
        self._baselines = self._client.run(rss.current)

    def peak_memory(self) -> int:
        """Return the sum of the workers' peak memory above the baseline, in bytes."""
        peaks = self._client.run(rss.peak)
        return sum(peaks[worker] - base for worker, base in self._baselines.items())

    def _scheduler(self) -> Any:
        return dask.config.set(scheduler="dask.distributed")


@dataclass
class ArrayPeer:
    """Another library, from a frame of edges (its columns as arrays) to an array of labels.

    Ids that cannot be used as int64 array indices are numbered with ``pandas.factorize``, which is timed.
    """

    name: str
    graph: Graph
    settings: Settings
    peer: ModuleType

    def start(self) -> None:
        """Do nothing, because a peer keeps no state between runs."""

    def stop(self) -> None:
        """Do nothing."""

    def run(self) -> Labels:
        """Find the labels once, and name the components by their smallest ids after the timing."""
        begin = time.perf_counter()
        source, target, places, ids = self.graph.codes(_frame(self.graph, self.settings))
        labels = self.peer.run(source, target, places)
        seconds = time.perf_counter() - begin
        return canonical(seconds, labels, ids, self.graph)

    def warm_up(self) -> None:
        """Import the peer and run it on a small graph, which takes little memory."""
        small = self.graph.small()
        source, target, places, _ = small.codes(small.frame)
        self.peer.run(source, target, places)

    def tasks(self) -> None:
        """Return None, because there are no tasks."""

    def begin_memory(self) -> None:
        """Use the current resident memory as the baseline."""
        rss.reset_peak()
        self._baseline = rss.current()

    def peak_memory(self) -> int:
        """Return the peak memory above the baseline, in bytes."""
        return rss.peak() - self._baseline


@dataclass
class Gap:
    """The program of the GAP benchmark. Its time is the build and the fastest trial, as it reports them."""

    graph: Graph
    settings: Settings
    name: str = gap.NAME

    def start(self) -> None:
        """Write the edges to a file that the program reads."""
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
        """Do nothing, because every run is a separate process."""

    def tasks(self) -> None:
        """Return None, because there are no tasks."""

    def begin_memory(self) -> None:
        """Watch the memory of the program in the next run."""
        self._watched = True

    def peak_memory(self) -> int:
        """Return the peak memory of the whole program in bytes, including its edge list."""
        return self._peak


def _frame(graph: Graph, settings: Settings) -> pd.DataFrame:
    if settings.parquet is None:
        return graph.frame
    return pd.read_parquet(settings.parquet, columns=[graph.source, graph.target])


def _labels(seconds: float, found: pd.DataFrame) -> Labels:
    return Labels(seconds, found["vertex"].to_numpy(), found["component"].to_numpy())
