"""Mixed calls while workers are killed and futures canceled; every answer is checked."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import dask

from benchmarks.lib import rss

from .calls import PATIENCE, Caller, Findings, call_on, oracle

CALLERS = 3  # clients, each in a thread
STORMS = 3
LEFT = 10.0  # seconds after which remaining data counts as left over
GROWTH = 1.1  # memory that grows by more than this factor from one storm to the next is a leak

SETTINGS = {
    "scheduler": "dask.distributed",  # every caller sets this, at different times
    # A killed worker takes seconds to come back, and must not count as lost.
    "distributed.deploy.lost-worker-timeout": "1h",
    # Dask keeps logs and profiles of up to an hour, which would look like a leak.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.log-length": 100,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.system-monitor.log-length": 100,
}

ALLOWED = ("right", "cancelled", "killed", "WorkerLostError", "lost data")
FAULTS = ("wrong", "failed", "hung")


def soak(
    minutes: float, seed: int = 0, workers: int = 3, kill_every: float = 3.0
) -> dict[str, Any]:
    """Run the storms, and check the state of the cluster after each."""
    from distributed import Client, LocalCluster

    truth, findings = oracle(), Findings()
    left: list[str] = []
    memory: list[dict[str, int]] = []
    spared = None
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        # No client is the default. The scheduler is in this process, and would assign futures to it.
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):
        for storm in range(STORMS):
            findings.now = f"storm {storm + 1}"
            stop = time.monotonic() + minutes * 60 / STORMS
            with ThreadPoolExecutor(CALLERS) as pool:
                callers = [
                    pool.submit(
                        call_on,
                        cluster.scheduler_address,
                        Random(f"{seed} {storm} {caller}"),
                        stop,
                        truth,
                        findings,
                    )
                    for caller in range(CALLERS)
                ]
                kill(cluster, Random(f"{seed} {storm}"), stop, kill_every, spared, findings)
            for caller in callers:
                caller.result()
            client.wait_for_workers(workers, timeout=PATIENCE)
            findings.now += ", at rest"
            # Use each algorithm on all workers once more, while nothing is killed.
            caller = Caller(client, Random(0), truth, findings, (workers,))
            for name in truth:
                caller.call(name, "all")
            del caller
            left += what_is_left(client)
            if spared is None:
                spared = next(iter(cluster.workers))
            else:
                memory.append(in_memory(client, cluster.workers[spared].pid))
    return {
        "counts": {name: findings.counts[name] for name in (*ALLOWED, *FAULTS)},
        "slowest_seconds": findings.slowest,
        "left": left,
        "memory_bytes": memory,
        "errors": findings.errors,
    }


def kill(
    cluster: Any, rng: Random, stop: float, every: float, spared: Any, findings: Findings
) -> None:
    """Kill workers at random times, but never a spared one."""
    while (pause := every * (0.5 + rng.random())) < stop - time.monotonic():
        time.sleep(pause)
        alive = [
            nanny.pid
            for name, nanny in list(cluster.workers.items())
            if name != spared and nanny.status.name == "running" and nanny.pid is not None
        ]
        at_once = len(alive) if spared is None and rng.random() < 0.1 else 1
        for pid in rng.sample(alive, min(at_once, len(alive))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                findings.note("killed")


def what_is_left(client: Any) -> list[str]:
    """Return the data of gangs that scheduler and workers still have, after time to release it."""
    patience = time.monotonic() + LEFT
    while True:
        left = client.run_on_scheduler(_on_scheduler)
        for own in client.run(_on_worker).values():
            left += own
        if not left or time.monotonic() > patience:
            return left
        time.sleep(0.1)


def _on_scheduler(dask_scheduler: Any) -> list[str]:
    from dask_graphflow.tasks.rendezvous import Rendezvous

    plugin = dask_scheduler.plugins[Rendezvous.name]
    runs = [f"run {gang}" for gang in (*plugin._runs, *(run.gang for run in plugin._turns))]
    return runs + [f"task {key}" for key in dask_scheduler.tasks if "-gang-" in str(key)]


def _on_worker(dask_worker: Any) -> list[str]:
    from dask_graphflow.tasks.membership import Membership

    names = [thread.name for thread in threading.enumerate()]
    return [
        *(f"member {one.key}" for one in dask_worker.plugins[Membership.name]._members.values()),
        *(f"result {key}" for key in dask_worker.data if "-gang-" in str(key)),
        *(f"seceded {task.key}" for task in dask_worker.state.long_running),
        *(f"thread {name}" for name in names if name.startswith("graphflow")),
    ]


def in_memory(client: Any, worker: int) -> dict[str, int]:
    """Return the memory at rest of this process, which runs the scheduler, and of one worker."""
    rss.reset_peak()
    client.run(rss.reset_peak)
    return {"scheduler and callers": rss.current(), "a worker": rss.current(worker)}


def faults(results: dict[str, Any]) -> list[str]:
    """Return the faults that were found."""
    findings = [f"{results['counts'][name]} {name}" for name in FAULTS if results["counts"][name]]
    findings += [f"{len(results['left'])} left"] if results["left"] else []
    *_, before, after = results["memory_bytes"]
    return findings + [f"{name} grew" for name in before if after[name] > GROWTH * before[name]]
