"""Random kills, freezes and memory limits of workers that compute on a graph on disk, one cluster per case.

Each case follows from its number. It makes one call while its workers are killed (SIGKILL) or
frozen (SIGSTOP), or are short of memory. The call must return the answer of one process, bit for bit, or
raise an error of this library whose advice leads to that answer.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import re
import signal
import threading
import time
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_graphflow as gf

PATIENCE = 200.0  # seconds after which a call counts as hanging
CLOSING = 10.0  # seconds
FOLLOWED = 5  # maximum number of times that advice is followed
PARTS = 6
SMALL, LARGE = (50_000, 20_000), (800_000, 1_000_000)  # edges per partition, and vertices
MEMORY = r"memory_limit='(\d+)MB'"  # the advice to use another limit
GOOD = ("right", "right after the advice")
SETTINGS = {
    "distributed.deploy.lost-worker-timeout": "30s",
    "distributed.scheduler.worker-ttl": "30s",  # a frozen worker counts as lost after this time
    "graphflow.gang.timeout": "20s",
}
ENDS: dict[str, Any] = {"source": "a", "target": "b"}
QUESTIONS = {
    "bfs": lambda graph: graph.bfs([0]),
    "pagerank": lambda graph: graph.pagerank(),
    "core_number": lambda graph: graph.core_number(),
    "connected_components": lambda graph: graph.connected_components(),
    "label_propagation": lambda graph: graph.label_propagation(max_iter=5),
    "degrees": lambda graph: graph.degrees(),
}


@dataclass(frozen=True)
class Case:
    """What happens in a case."""

    kind: str  # {"kill", "freeze", "limit"}
    workers: int
    question: str
    persisted: bool
    size: tuple[int, int]  # the edges per partition and the number of vertices
    limit: int  # the memory limit of each worker in bytes; 0 for none
    pauses: tuple[float, ...]  # the seconds before each kill or freeze
    frozen: float  # how many seconds a freeze lasts

    def __str__(self) -> str:
        if self.kind == "limit":
            what = f"{self.limit // 10**6} MB each"
        else:
            what = "after " + ", ".join(f"{pause:.1f}" for pause in self.pauses) + " s"
            what += f", for {self.frozen:g} s" if self.kind == "freeze" else ""
        graph = "persisted graph" if self.persisted else "lazy graph"
        return f"{self.kind} {what}; {self.workers} worker(s); {self.question} of a {graph}"


def case_of(number: int) -> Case:
    """Return the case with a number."""
    rng = Random(f"0 {number}")
    kind = rng.choice(["kill", "freeze", "limit"])
    return Case(
        kind=kind,
        workers=rng.choice([1, 2]),
        question=rng.choice(list(QUESTIONS)),
        persisted=rng.random() < 0.5,
        size=LARGE if kind == "limit" else SMALL,
        limit=rng.randrange(240, 700, 20) * 10**6 if kind == "limit" else 0,
        pauses=tuple(rng.uniform(0.2, 4) for _ in range(rng.randint(1, 5))),
        frozen=rng.choice([1.0, 4.0, 45.0]),
    )


def outcome_of(case: Case) -> tuple[str, list[str]]:
    """Return how a case ended, and the errors on the way."""
    truth, limit, told = _truth(case.question, case.size), case.limit, []
    for _ in range(FOLLOWED):
        with _cluster(case.workers, limit) as (cluster, client):
            error = _harmed(case, cluster, client, truth)
            if error and "cluster.scale" in error:
                cluster.scale(0)
                cluster.scale(case.workers)
                client.wait_for_workers(case.workers, timeout=PATIENCE)
            enough = re.search(MEMORY, error)
            if error.startswith("WorkerLostError") and enough is None:
                told.append(error)
                error = _error(case, client, truth)
                enough = re.search(MEMORY, error)
        if not error:
            return GOOD[bool(told)], told
        told.append(error)
        if enough is None:
            break
        limit = int(enough[1]) * 10**6
    return "fault", told


def _harmed(case: Case, cluster: Any, client: Any, truth: pd.DataFrame) -> str:
    """Call while workers are killed or frozen; return the error."""
    stop = threading.Event()
    harm = threading.Thread(target=_harm, args=(case, cluster, stop))
    harm.start()
    try:
        return _error(case, client, truth)
    finally:
        stop.set()
        harm.join()


def _error(case: Case, client: Any, truth: pd.DataFrame) -> str:
    """Call; return the error, or an empty text if the answer is right."""
    gc.collect()  # a persisted graph is in the traceback of the last error
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        return "" if _answer(case, client).equals(truth) else "the answer is wrong"
    except TimeoutError:
        return f"no answer after {PATIENCE:g} s"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _answer(case: Case, client: Any) -> pd.DataFrame:
    graph = gf.Graph(_edges(case.size, 0.3), **ENDS, shards=case.workers, storage="disk")
    result = QUESTIONS[case.question](graph.persist() if case.persisted else graph)
    future = client.compute(result)
    try:
        answer: pd.DataFrame = future.result(timeout=PATIENCE)
    finally:
        future.release()  # its exception's traceback refers to it
    return answer.reset_index(drop=True)


@cache
def _truth(question: str, size: tuple[int, int]) -> pd.DataFrame:
    with dask.config.set(scheduler="threads"):
        graph = gf.Graph(_edges(size, 0.0), **ENDS, shards=1, storage="memory")
        answer: pd.DataFrame = QUESTIONS[question](graph).compute()
    return answer.reset_index(drop=True)


def _edges(size: tuple[int, int], pause: float) -> Any:
    return dd.from_map(_part, range(PARTS), size=size, pause=pause, meta=_part(0, (1, 1), 0))


def _part(i: int, size: tuple[int, int], pause: float) -> pd.DataFrame:
    time.sleep(pause)
    pairs = np.random.default_rng(i).integers(0, size[1], (size[0], 2))
    return pd.DataFrame(pairs, columns=["a", "b"])


@contextlib.contextmanager
def _cluster(workers: int, limit: int) -> Any:
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    logging.disable()  # because Dask logs each loss
    with dask.config.set(SETTINGS):
        cluster = LocalCluster(n_workers=workers, memory_limit=limit, **options)
        client = Client(cluster)
        try:
            yield cluster, client
        finally:
            # Dask cannot close each cluster that has lost workers: some raise an error, others never end.
            for one in (client, cluster):
                with contextlib.suppress(Exception):
                    one.close(timeout=CLOSING)
            logging.disable(logging.NOTSET)


def _harm(case: Case, cluster: Any, stop: threading.Event) -> None:
    """Kill or freeze workers until the call has ended."""
    rng = Random(str(case))
    for pause in case.pauses if case.kind != "limit" else ():
        if stop.wait(pause):
            return
        alive = [nanny.pid for nanny in list(cluster.workers.values()) if nanny.pid is not None]
        for pid in rng.sample(alive, min(1, len(alive))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if case.kind == "kill" else signal.SIGSTOP)
                if case.kind == "freeze":
                    stop.wait(case.frozen)
                    os.kill(pid, signal.SIGCONT)
