"""The calls of the soak test, their correct answers, and the outcomes of calls."""

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
from dask_graphflow.tasks import gang

PATIENCE = 90.0  # seconds after which a call counts as hanging
SHARDS = 4  # maximum number of shards, and number of partitions of the edges
VERTICES, EDGES, TAIL = 1 << 14, 20_000, 500  # edges per partition; a path, for many supersteps
# Messages of Dask if a result is requested again after its inputs were lost and then failed. Dask takes the
# result for an actor, or has no exception to show.
LOST = ("Worker holding Actor was lost", "'NoneType' object has no attribute 'with_traceback'")

ENDS: dict[str, Any] = {"source": "src", "target": "dst", "weight": "km", "directed": False}
HOPS = gf.EdgeOp("hops", target="hop", signal="hop[src] + 1", slot="min")
SUMS = pd.DataFrame({"rank": np.array([], "int64"), "total": np.array([], "int64")})


def edges(parts: int = SHARDS) -> Any:
    """Return a power-law graph with a path attached to vertex 0, or only some of its partitions."""
    return dd.from_map(_part, range(parts))


def _part(i: int) -> pd.DataFrame:
    rng = np.random.default_rng(i)
    source, target = (VERTICES * rng.random((2, EDGES)) ** 3).astype("int64")
    path = np.arange(TAIL * i // SHARDS, TAIL * (i + 1) // SHARDS) + VERTICES
    before = np.where(path == VERTICES, 0, path - 1)
    ends = np.concatenate([source, before]), np.concatenate([target, path])
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "km": rng.integers(1, 9, len(ends[0]))})


def _sums(channel: Channel, part: pd.DataFrame, rank: int, steps: int, pause: float) -> Any:
    """Add up the values of all members, `steps` times."""
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
    """Return the correct answers, computed in this process on a graph with one shard."""
    with dask.config.set(scheduler="threads"):
        graph = gf.Graph(edges(), **ENDS, shards=1).persist()
        asked = {name: question(graph) for name, question in QUESTIONS.items()}
        return {name: lazy.compute().reset_index(drop=True) for name, lazy in asked.items()}


class Findings:
    """The outcomes of the calls of all callers.

    Attributes
    ----------
    now : str
        Name of the current storm, or that it is over.
    """

    def __init__(self) -> None:
        self.now = ""
        self.counts: Counter[str] = Counter()
        self.errors: list[dict[str, str]] = []
        self.slowest = 0.0
        self._lock = threading.Lock()

    def note(self, what: str, seconds: float = 0.0) -> None:
        """Count an outcome."""
        with self._lock:
            self.counts[what] += 1
            self.slowest = max(self.slowest, seconds)

    def fail(self, what: str, call: str, told: str) -> None:
        """Store the message of a call that failed."""
        self.errors.append({"what": what, "when": self.now, "call": call, "told": told})


def call_on(
    address: str, rng: Random, stop: float, truth: dict[str, pd.DataFrame], findings: Findings
) -> None:
    """Make one call after another, as a client, until it is time to stop."""
    from distributed import Client

    with Client(address, set_as_default=False) as client, client.as_current():
        caller = Caller(client, rng, truth, findings)
        while time.monotonic() < stop:
            caller.call(rng.choice(list(truth)), rng.choice(["all", "part", "persist", "cancel"]))


class Caller:
    """A caller that knows the correct answers.

    Parameters
    ----------
    client : Client
        The current client.
    rng : Random
    truth : dict of str to DataFrame
    findings : Findings
    shards : tuple of int
        Numbers of shards to choose from for graphs.
    """

    def __init__(
        self,
        client: Any,
        rng: Random,
        truth: dict[str, pd.DataFrame],
        findings: Findings,
        shards: tuple[int, ...] = (2, 3, SHARDS),
    ) -> None:
        self._client, self._rng, self._truth, self._findings = client, rng, truth, findings
        self._shards = shards
        self._graph: gf.Graph | None = None

    def call(self, name: str, how: str) -> None:
        """Make a call, and record its outcome."""
        from distributed import CancelledError

        began = time.monotonic()
        told = ""
        try:
            what = self._asked(name, how)
        except WorkerLostError as error:
            what, told = "WorkerLostError", str(error)
        except CancelledError as error:
            what, told = "lost data", str(error)
        except TimeoutError:
            what, told = "hung", str(self._client.run_on_scheduler(_whereabouts))
        except Exception as error:
            what, told = "failed", repr(error)
            what = "lost data" if any(text in told for text in LOST) else what
        if what not in ("right", "cancelled"):
            self._findings.fail(what, f"{name}, {how}", told)
            self._graph = None  # the persisted graph may have failed permanently
            gc.collect()  # its future has the error, whose traceback refers to the future
        self._findings.note(what, time.monotonic() - began)

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
        # Use a new key, because a key that a client has canceled stays canceled for this client.
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
    """Return whether a frame is the correct one, or some consecutive rows of it."""
    key = truth.columns[0]
    begin = 0 if whole or not len(answer) else int(truth[key].searchsorted(answer[key].iloc[0]))
    part = truth if whole else truth.iloc[begin : begin + len(answer)]
    return bool(answer.reset_index(drop=True).equals(part.reset_index(drop=True)))


def _whereabouts(dask_scheduler: Any) -> Any:
    """Return the state and the worker of all tasks of gangs."""
    return {
        str(task.key): (task.state, task.processing_on and task.processing_on.address)
        for task in dask_scheduler.tasks.values()
        if "-gang-" in str(task.key)
    }
