"""Random calls of two members, one of which is killed, frozen or canceled at a random time.

Each round follows from its number. A call must end in the answer of one process, bit for bit, or in a
WorkerLostError. Nothing hangs, members that must end do so at once, and the next call gives the answer. The
members are on two hosts' workers, or on two GPUs, whose kernels then wait for each other.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed

import dask_graphflow as gf
from dask_graphflow.exceptions import WorkerLostError

from .cases import CLOSING

PATIENCE = 60.0  # seconds after which a call counts as hanging
ENDED = 2.0  # seconds in which a canceled or failed call leaves its workers
THAWED = 1.0  # most seconds that a member stays frozen, if it is not killed then
GROWTH = 1.25  # device memory that grows by more than this factor from round to round is a leak
SETTINGS = {
    "distributed.deploy.lost-worker-timeout": "60s",
    "distributed.scheduler.allowed-failures": 10,
    "distributed.worker.profile.enabled": False,
}
ENDS: dict[str, Any] = {"source": "a", "target": "b", "weight": "w", "directed": False}
CALLS: dict[str, Any] = {
    "bfs": lambda graph: graph.bfs([0]),
    "core_number": lambda graph: graph.core_number(),
    "sssp": lambda graph: graph.sssp([0]),
    "pagerank": lambda graph: graph.pagerank(tol=None, max_iter=100),
    "connected_components": lambda graph: graph.connected_components(),
}
# For each kind of member: vertices of the path, and vertices and edges of the rest.
SIZES = {"host": (1_000, 20_000, 100_000), "gpu": (20_000, 1 << 19, 1 << 22)}
# A killed worker takes seconds to come back, so the other rounds are more frequent.
HARMS = {"cancel": 3, "freeze": 2, "kill": 2, "freeze and kill": 1}


@dataclass(frozen=True)
class Round:
    """What happens in a round."""

    call: str
    harm: str  # see HARMS
    member: int
    after: float  # seconds from the beginning of the call to the harm
    frozen: float  # seconds

    def __str__(self) -> str:
        frozen = f" for {self.frozen:.1f} s" if self.harm.startswith("freeze") else ""
        return f"{self.call}, {self.harm} member {self.member} after {self.after:.2f} s{frozen}"


def round_of(number: int) -> Round:
    """Return the round with a number."""
    rng = Random(f"gangs {number}")
    return Round(
        call=rng.choice(list(CALLS)),
        harm=rng.choices(list(HARMS), list(HARMS.values()))[0],
        member=rng.randrange(2),
        after=rng.choice([0.02, 0.1, 0.5, 1.0]) * rng.random(),
        frozen=THAWED * rng.random(),
    )


def edges(kind: str) -> pd.DataFrame:
    """Return a power-law graph with a path at vertex 0, for many supersteps, and weights."""
    path, vertices, count = SIZES[kind]
    rng = np.random.default_rng(1)
    ends = (vertices * rng.random((2, count)) ** 3).astype("int64")
    far = np.arange(path) + vertices
    source = np.concatenate([ends[0], np.where(far == vertices, 0, far - 1)])
    target = np.concatenate([ends[1], far])
    return pd.DataFrame({"a": source, "b": target, "w": rng.integers(1, 9, len(source)) / 4})


class Gangs:
    """A cluster with two workers, a persisted graph with a member on each, and the answers."""

    def __init__(self, kind: str, cluster: Any, client: Any) -> None:
        self._kind, self._cluster, self._client = kind, cluster, client
        self._frame = edges(kind)
        with dask.config.set(scheduler="threads"):
            one = gf.Graph(self._edges(), **ENDS, shards=1).persist()
            self._truth = {name: _plain(call(one).compute()) for name, call in CALLS.items()}
        self._graph: Any = None
        self.memory: list[int] = []
        self.renewed = 0  # times that a worker did not come back, and all were started anew

    def play(self, number: int) -> tuple[str, str]:
        """Play a round. Return how its call ended, and what is wrong, if anything."""
        what = round_of(number)
        ended, fault = self._harmed(what)
        if ended not in ("right", "canceled"):
            self._graph = None  # its future may keep an error
        gc.collect()
        began = time.monotonic()
        fault = fault or self._next(what.call)
        ended += f", then right after {time.monotonic() - began:.1f} s" if not fault else ""
        self.memory.append(sum(self._client.run(_memory, self._kind).values()))
        return ended, fault

    def _harmed(self, what: Round) -> tuple[str, str]:
        """Harm a member while a call runs. Return how the call ended, and what is wrong."""
        try:
            graph = self._persisted()
            future = self._asked(what.call, graph)
            time.sleep(what.after)
            fault = self._harm(what, future)
            if what.harm == "cancel" or fault:
                return "canceled" if what.harm == "cancel" else "left over", fault
            answer = future.result(timeout=PATIENCE)
        except WorkerLostError:
            return "WorkerLostError", ""
        except TimeoutError:
            return "hung", f"no end after {PATIENCE:g} s"
        except Exception as error:
            return "failed", f"{type(error).__name__}: {error}"
        return "right", self._check(what.call, answer)

    def _next(self, call: str) -> str:
        """Make the same call again, undisturbed, and return what is wrong."""
        try:
            self._complete()
            future = self._asked(call, self._persisted())
            return self._check(call, future.result(timeout=PATIENCE))
        except Exception as error:
            return f"the next call failed: {type(error).__name__}: {error}"

    def _asked(self, call: str, graph: Any) -> Any:
        # A new key, because a key that a client has canceled stays canceled for this client.
        return self._client.compute(delayed(_plain, pure=False)(CALLS[call](graph)))

    def _check(self, call: str, answer: Any) -> str:
        truth = self._truth[call]  # cuDF has other dtypes for what may be null
        return "" if answer.astype(truth.dtypes).equals(truth) else "the answer is wrong"

    def _complete(self) -> None:
        """Wait for both workers. On a busy machine, Dask's nanny can fail to start a worker again."""
        try:
            self._client.wait_for_workers(2, timeout=PATIENCE / 2)
        except TimeoutError:
            self.renewed += 1
            self._graph = None
            self._cluster.scale(0)
            self._cluster.scale(2)
            self._client.wait_for_workers(2, timeout=PATIENCE)

    def _edges(self) -> Any:
        frame = dd.from_pandas(self._frame, npartitions=4)
        if self._kind == "host":
            return frame
        import cudf

        return frame.map_partitions(cudf.from_pandas, meta=cudf.from_pandas(frame._meta))

    def _persisted(self) -> Any:
        from distributed import wait

        if self._graph is None:
            self._complete()
            self._graph = gf.Graph(self._edges(), **ENDS, shards=2).persist()
            wait(self._graph.degrees().persist(), timeout=PATIENCE)
        return self._graph

    def _harm(self, what: Round, future: Any) -> str:
        """Harm a member, and return what is wrong if those that must end do not."""
        if what.harm == "cancel":
            future.cancel()
            return self._left(None)
        nannies = [nanny for _, nanny in sorted(self._cluster.workers.items()) if nanny.pid]
        harmed = nannies.pop(what.member % len(nannies))
        others = [nanny.worker_address for nanny in nannies]
        before = {one for some in self._running(others).values() for one in some}
        pid = harmed.pid
        with contextlib.suppress(ProcessLookupError):
            if what.harm != "kill":
                os.kill(pid, signal.SIGSTOP)
                time.sleep(what.frozen)
            os.kill(pid, signal.SIGCONT if what.harm == "freeze" else signal.SIGKILL)
        return "" if what.harm == "freeze" else self._left(before, others)

    def _left(self, members: set[str] | None, workers: list[str] | None = None) -> str:
        """Return what is wrong if some members, by default any, still run after a while."""
        began = time.monotonic()
        while True:
            running = {one for some in self._running(workers).values() for one in some}
            left = running if members is None else running & members
            if not left:
                return ""
            if time.monotonic() - began > ENDED:
                return f"{len(left)} members still run after {ENDED:g} s"
            time.sleep(0.02)

    def _running(self, workers: list[str] | None) -> dict[str, list[str]]:
        found: dict[str, list[str]] = self._client.run(_running, workers=workers)
        return found


@contextlib.contextmanager
def gangs(kind: str) -> Iterator[Gangs]:
    """Start two workers of a kind, "host" or "gpu", and yield what plays rounds on them."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": 2, "dashboard_address": ":0"}
    if kind == "gpu":
        from dask_cuda import LocalCUDACluster as LocalCluster
    else:
        options |= {"threads_per_worker": 1}
    logging.disable()  # because Dask logs each loss
    with dask.config.set(SETTINGS):
        cluster = LocalCluster(silence_logs=logging.CRITICAL, **options)
        client = Client(cluster)
        try:
            yield Gangs(kind, cluster, client)
        finally:
            for one in (client, cluster):
                with contextlib.suppress(Exception):
                    one.close(timeout=CLOSING)
            logging.disable(logging.NOTSET)


def grown(memory: list[int]) -> str:
    """Return what is wrong if memory grew from the first third of the rounds to the last."""
    third = len(memory) // 3
    if third < 3:
        return ""
    before, after = (float(np.median(some)) for some in (memory[:third], memory[-third:]))
    return (
        "" if after <= GROWTH * before else f"memory grew from {before:,.0f} to {after:,.0f} bytes"
    )


def _plain(answer: Any) -> pd.DataFrame:
    """Return an answer as a frame of pandas, by vertex."""
    frame = answer.to_pandas() if hasattr(answer, "to_pandas") else answer
    return frame.sort_values("vertex", ignore_index=True)


def _running(dask_worker: Any) -> list[str]:
    from dask_graphflow.tasks.membership import Membership

    plugin = dask_worker.plugins.get(Membership.name)
    return [] if plugin is None else list(plugin._members)


def _memory(kind: str) -> int:
    """Return the memory in use: of the device, or of this process."""
    if kind == "gpu":
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
        free, total = cupy.cuda.runtime.memGetInfo()
        return int(total - free)
    from benchmarks.lib import rss

    return rss.current()
