"""Time of each level of tasks of a components call, compared with an empty graph of the same shape."""

from __future__ import annotations

import argparse
import gc
import re
from collections import Counter
from collections.abc import Callable
from statistics import median
from time import perf_counter, time
from typing import Any
from uuid import uuid4

import dask_graphflow as gf

from . import machine, report
from .forgetting import forgotten, known_tasks
from .splits import cluster, loaded

TOKEN = re.compile("[0-9a-f]{32}")
FAR = 1_000_003  # distance between ids, so that they have to be numbered
NOTES = """\
Milliseconds, medians over the rounds. "plan" is the time until the lazy result is there. A level begins
with its first task and ends with its last one; both are counted from the moment the tasks are submitted.
"empty" is a task graph with the same tasks, dependencies and places, in which no task does anything."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--gpu", action="store_true", help="measure cuDF frames, one worker per GPU"
    )
    parser.add_argument(
        "--processes", type=int, default=2, help="number of Dask workers, or of GPUs (default 2)"
    )
    parser.add_argument("--scale", type=int, default=16, help="R-MAT graph of 2**scale ids")
    parser.add_argument("--repeat", type=int, default=9, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print a table for each call and store the results."""
    kept = {}
    with cluster(options) as client:
        frame = gf.generate.rmat(options.scale).compute(scheduler="threads")
        edges = loaded(frame, client, gpu=options.gpu)
        far = loaded(frame * FAR, client, gpu=options.gpu)
        calls = {
            "by default": lambda: gf.connected_components(edges, source="src", target="dst"),
            "renumber=False": lambda: gf.connected_components(
                edges, source="src", target="dst", renumber=False
            ),
            "by default, ids far apart": lambda: gf.connected_components(
                far, source="src", target="dst"
            ),
        }
        rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in calls}
        for turn in range(options.repeat + 1):
            for name, call in calls.items():
                found = measured(call, client)
                if turn:
                    rounds[name].append(found)
    for name, found in rounds.items():
        kept[name] = summed_up(found)
        show(name, kept[name])
    print(f"{NOTES}\n{report.machine_line(machine.describe())}")
    kind = "gpus" if options.gpu else "workers"
    path = report.keep(
        options.json, f"levels-{options.processes}-{kind}", {"scale": options.scale, "calls": kept}
    )
    if path is not None:
        print(f"kept in {path}")
    return 0


def measured(call: Callable[[], Any], client: Any) -> dict[str, Any]:
    """Return the seconds of the plan, of the levels of its tasks, and of the levels of empty tasks."""
    held = known_tasks(client)
    began = perf_counter()
    lazy = call()
    plan = perf_counter() - began
    optimized = lazy.optimize()
    tasks, keys = dict(optimized.__dask_graph__()), optimized.__dask_keys__()
    found: dict[str, Any] = {"plan": plan}
    for side, (graph, wanted) in {"call": (tasks, keys), "empty": empty(tasks, keys)}.items():
        gc.collect()
        found[side] = timeline(graph, wanted, client)
        forgotten(client, held)
    return found


def empty(tasks: dict[Any, Any], keys: list[Any]) -> tuple[dict[Any, Any], list[Any]]:
    """Return an empty task graph of the same shape and its output keys; persisted data are kept."""
    from dask._task_spec import Task, TaskRef

    token = uuid4().hex
    names = {
        key: key if hasattr(task, "status") else (TOKEN.sub(token, key[0]), *key[1:])
        for key, task in tasks.items()
    }
    hollow = {
        names[key]: task
        if hasattr(task, "status")
        else Task(names[key], nothing, *(TaskRef(names[one]) for one in task.dependencies))
        for key, task in tasks.items()
    }
    return hollow, [names[key] for key in keys]


def nothing(*_: Any) -> None:
    """Do nothing with what other tasks returned."""


def timeline(tasks: dict[Any, Any], keys: list[Any], client: Any) -> dict[str, Any]:
    """Return when each level started and ended, and when the client knew that all tasks were done."""
    from distributed import wait

    client.get_task_stream(count=0)  # the first request starts the recording
    began = time()
    futures = client.get(tasks, keys, sync=False)
    wait(futures)
    ended = time()
    levels: dict[str, list[float]] = {}
    for record in client.get_task_stream(start=began):
        for step in record["startstops"]:
            level = levels.setdefault(stage(record["key"]), [step["start"], step["stop"]])
            level[:] = min(level[0], step["start"]), max(level[1], step["stop"])
    return {
        "whole": ended - began,
        "levels": {name: [at - began for at in level] for name, level in levels.items()},
        "tasks": Counter(stage(key) for key, task in tasks.items() if not hasattr(task, "status")),
    }


def stage(key: Any) -> str:
    """Return the name of a task's level, without its token and the worker that it is pinned to."""
    name = str(key[0] if isinstance(key, tuple) else key)
    return TOKEN.split(name.partition("-graphflow-at-")[0])[0].strip("-")


def summed_up(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of rounds in milliseconds for each level, in the order in which levels end."""
    first = rounds[0]["call"]
    levels = []
    for name in first["levels"]:
        row: dict[str, Any] = {"level": name, "tasks": first["tasks"][name]}
        for side in ("call", "empty"):
            own = [one[side]["levels"][name] for one in rounds if name in one[side]["levels"]]
            row[side] = [median(each) * 1e3 for each in zip(*own, strict=True)]
        levels.append(row)
    levels.sort(key=lambda row: row["call"][1])
    return {
        "plan": median(one["plan"] for one in rounds) * 1e3,
        "call": median(one["call"]["whole"] for one in rounds) * 1e3,
        "empty": median(one["empty"]["whole"] for one in rounds) * 1e3,
        "levels": levels,
    }


def show(name: str, found: dict[str, Any]) -> None:
    """Print the table of one call."""
    rows = [
        [row["level"], str(row["tasks"])]
        + [f"{at:.1f}" for side in ("call", "empty") for at in row[side]]
        for row in found["levels"]
    ]
    header = ["level", "tasks", "begins", "ends", "empty begins", "empty ends"]
    print(
        f"\n{name}: plan {found['plan']:.1f}, call {found['call']:.1f}, empty {found['empty']:.1f}"
    )
    print(report.table(header, rows))
