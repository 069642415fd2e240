"""What is asked, what the answers are, and what becomes of a call."""

from __future__ import annotations

import gc
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed

import dask_graphflow as gf
from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import WorkerLostError
from dask_graphflow.scheduling import gang

PATIENCE = 90.0  # seconds until a call is taken to hang
SHARDS = 4  # at most; and parts of the edges
VERTICES, EDGES, TAIL = 1 << 14, 20_000, 500  # and edges in each part; a path, for many supersteps
# What Dask says where a result is asked for again, and what it was made of was lost and then failed: it
# takes the result for an actor, or has no exception to show.
LOST = ("Worker holding Actor was lost", "'NoneType' object has no attribute 'with_traceback'")

ENDS: dict[str, Any] = {"source": "src", "target": "dst", "weight": "km", "directed": False}
HOPS = gf.EdgeOp("hops", target="hop", signal="hop[src] + 1", slot="min")
SUMS = pd.DataFrame({"rank": np.array([], "int64"), "total": np.array([], "int64")})


def edges(parts: int = SHARDS) -> Any:
    """Return a power-law graph on whose vertex 0 a path hangs, or some parts of it."""
    return dd.from_map(_part, range(parts))


def _part(i: int) -> pd.DataFrame:
    rng = np.random.default_rng(i)
    source, target = (VERTICES * rng.random((2, EDGES)) ** 3).astype("int64")
    path = np.arange(TAIL * i // SHARDS, TAIL * (i + 1) // SHARDS) + VERTICES
    before = np.where(path == VERTICES, 0, path - 1)
    ends = np.concatenate([source, before]), np.concatenate([target, path])
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "km": rng.integers(1, 9, len(ends[0]))})


def _sums(channel: Channel, part: pd.DataFrame, rank: int, steps: int, pause: float) -> Any:
    """Add up what all members have, so many times over."""
    exchange = Exchange(channel)
    total = 0
    for _ in range(steps):
        time.sleep(pause)
        total = exchange.all_reduce(sums=(int(part["km"].sum()),)).sums[0]
    return pd.DataFrame({"rank": [rank], "total": [total]})


def _gang(size: int, steps: int, pause: float, alone: bool, graph: gf.Graph) -> Any:
    return gang.run(edges(size), _sums, SUMS, steps, pause, name="sums", alone=alone)


def _hops(graph: gf.Graph) -> Any:
    start = pd.DataFrame({"vertex": [VERTICES + TAIL - 1], "hop": [0]})
    return graph.run(HOPS, columns={"hop": VERTICES}, start=start)


QUESTIONS: dict[str, Callable[[gf.Graph], Any]] = {
    **{f"bfs {at}": lambda graph, at=at: graph.bfs([VERTICES + at]) for at in range(0, TAIL, 99)},
    **{f"sssp {at}": lambda graph, at=at: graph.sssp([VERTICES + at]) for at in range(0, TAIL, 99)},
    **{f"pagerank {a}": lambda graph, a=a: graph.pagerank(alpha=a) for a in (0.5, 0.8, 0.9)},
    "components": lambda graph: graph.connected_components(),
    "edge program": _hops,
    "gang of 2": partial(_gang, 2, 100, 0.005, False),
    "gang of 3": partial(_gang, 3, 20, 0.01, True),
    "gang of 4": partial(_gang, 4, 1, 0.0, False),
}


def oracle() -> dict[str, pd.DataFrame]:
    """Return the answers, found in this process alone, of a graph of one shard."""
    with dask.config.set(scheduler="threads"):
        graph = gf.Graph(edges(), **ENDS, shards=1).persist()
        asked = {name: question(graph) for name, question in QUESTIONS.items()}
        return {name: found.compute().reset_index(drop=True) for name, found in asked.items()}


class Findings:
    """What became of the calls, of all callers.

    Attributes
    ----------
    now : str
        Which storm it is, or that it is over.
    """

    def __init__(self) -> None:
        self.now = ""
        self.counts: Counter[str] = Counter()
        self.errors: list[dict[str, str]] = []
        self.slowest = 0.0
        self._lock = threading.Lock()

    def note(self, what: str, seconds: float = 0.0) -> None:
        """Count what happened."""
        with self._lock:
            self.counts[what] += 1
            self.slowest = max(self.slowest, seconds)

    def fail(self, what: str, call: str, told: str) -> None:
        """Keep what was told where there was no answer."""
        self.errors.append({"what": what, "when": self.now, "call": call, "told": told})


def call_on(
    address: str, rng: Random, stop: float, truth: dict[str, pd.DataFrame], found: Findings
) -> None:
    """Ask one thing after another, as a client, until it is time to stop."""
    from distributed import Client

    with Client(address, set_as_default=False) as client, client.as_current():
        caller = Caller(client, rng, truth, found)
        while time.monotonic() < stop:
            caller.call(rng.choice(list(truth)), rng.choice(["all", "part", "persist", "cancel"]))


class Caller:
    """Who asks, and knows the answers.

    Parameters
    ----------
    client : Client
        The current one.
    rng : Random
    truth : dict of str to DataFrame
    found : Findings
    shards : tuple of int
        Of graphs, one of these numbers.
    """

    def __init__(
        self,
        client: Any,
        rng: Random,
        truth: dict[str, pd.DataFrame],
        found: Findings,
        shards: tuple[int, ...] = (2, 3, SHARDS),
    ) -> None:
        self._client, self._rng, self._truth, self._found = client, rng, truth, found
        self._shards = shards
        self._graph: gf.Graph | None = None

    def call(self, name: str, how: str) -> None:
        """Ask something, and note what comes of it."""
        from distributed import CancelledError, KilledWorker

        began = time.monotonic()
        told = ""
        try:
            what = self._asked(name, how)
        except (WorkerLostError, KilledWorker) as error:
            what, told = type(error).__name__, str(error)
        except CancelledError as error:
            what, told = "lost data", str(error)
        except TimeoutError:
            what, told = "hung", str(self._client.run_on_scheduler(_whereabouts))
        except Exception as error:
            what, told = "failed", repr(error)
            what = "lost data" if any(text in told for text in LOST) else what
        if what not in ("right", "cancelled"):
            self._found.fail(what, f"{name}, {how}", told)
            self._graph = None  # what is persisted may have failed for good
            gc.collect()  # its future has the error, whose traceback refers to the future
        self._found.note(what, time.monotonic() - began)

    def _asked(self, name: str, how: str) -> str:
        from distributed import wait

        rng, client = self._rng, self._client
        if self._graph is None or rng.random() < 0.2:
            graph = gf.Graph(edges(), **ENDS, shards=rng.choice(self._shards))
            self._graph = graph.persist() if rng.random() < 0.5 else graph
        result = QUESTIONS[name](self._graph)
        if how == "persist":
            result = client.persist(result)
            wait(result, timeout=PATIENCE)
        elif how == "part":
            result = result.partitions[rng.randrange(result.npartitions)]
        # By a key of its own: what a client has cancelled is cancelled to it when it asks again, too.
        future = client.compute(delayed(_same, pure=False)(result))
        if how == "cancel":
            time.sleep(rng.random() / 2)
            if not future.done():
                future.cancel()
                return "cancelled"
        answer = future.result(timeout=PATIENCE)
        return "right" if is_answer(answer, self._truth[name], whole=how != "part") else "wrong"


def _same(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def is_answer(answer: pd.DataFrame, truth: pd.DataFrame, *, whole: bool) -> bool:
    """Say whether a frame is the true one, or some of its rows one after the other."""
    key = truth.columns[0]
    begin = 0 if whole or not len(answer) else int(truth[key].searchsorted(answer[key].iloc[0]))
    part = truth if whole else truth.iloc[begin : begin + len(answer)]
    return bool(answer.reset_index(drop=True).equals(part.reset_index(drop=True)))


def _whereabouts(dask_scheduler: Any) -> Any:
    """Return what the scheduler knows of the gangs' tasks."""
    return {
        str(task.key): (task.state, task.processing_on and task.processing_on.address)
        for task in dask_scheduler.tasks.values()
        if "-gang-" in str(task.key)
    }
