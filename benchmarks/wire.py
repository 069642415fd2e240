"""Bytes that the members of a gang send each other in each superstep of a breadth-first search."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from typing import Any

import dask
import numpy as np

import dask_graphflow as gf
from dask_graphflow.algorithms.bfs import bfs
from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import HEADER, Exchange, Totals
from dask_graphflow.graph import generate
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.vertex_ids import named
from dask_graphflow.kernels import index_dtype
from dask_graphflow.operators.view import GraphView
from dask_graphflow.scheduling import gang

from . import machine, report
from .errors import UnusableInputError

MEMBERS = (2, 4)
FEW = 24  # up to this many supersteps, a table has one row for each
COLUMNS = ("dirty", "dense", "sparse", "selective", "headers", "default")

NOTES = f"""\
Bytes of all members together. dirty: mirrors with a new predecessor; each tells its owner once in all.
dense: every box whole in every superstep; sparse: always index and value of what is dirty; selective:
what is sent, in the form of fewest bytes by box. These push. headers: {HEADER.size} bytes a message, which
come on top. default: what is sent by direction="beamer", which pulls where that looks at fewer edges:
the frontier is sent then, as a bitmap of all vertices."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="of the R-MAT graph (default 20)")
    parser.add_argument("--side", type=int, default=1024, help="of the square grid (default 1024)")


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.scale < 4 or options.side < 2:
        raise UnusableInputError("give --scale 4 or more and --side 2 or more")
    results = measure(options.scale, options.side, options.workers)
    print(show(results))
    kept = report.keep(options.json, f"wire-scale{options.scale}", results)
    if kept is not None:
        print(f"\nkept in {kept}")
    return 0


def measure(scale: int, side: int, workers: int) -> dict[str, Any]:
    """Search both graphs with each number of members."""
    parts = max(MEMBERS)
    graphs = {
        f"R-MAT scale {scale}": generate.rmat(scale, npartitions=parts),
        f"grid {side} x {side}": generate.grid(side, side, npartitions=parts),
    }
    found = []
    with dask.config.set(scheduler="threads", num_workers=workers):
        for title, edges in graphs.items():
            start = int(edges["src"].head(1).iloc[0])
            for members in MEMBERS:
                supersteps = searched(edges, start, members)
                found.append({"graph": title, "members": members, "supersteps": supersteps})
    return {"benchmark": "wire", "searches": found}


def searched(edges: Any, start: int, members: int) -> list[dict[str, Any]]:
    """Search a graph with this number of members; return what they sent in each superstep."""
    graph = gf.Graph(edges, source="src", target="dst", directed=False, shards=members).persist()
    given = named([start], graph._shards.spec.ids)
    pushed, default = (
        dask.compute(*gang.run(graph._shards.built, _search, None, given, rule, name="wire"))
        for rule in ("push", "beamer")
    )
    rows = []
    for own, others in zip(zip(*pushed, strict=True), zip(*default, strict=True), strict=True):
        row = dict(sum(own, Counter()))
        told = sum(others, Counter())
        row["default"] = told["selective"] + told["bitmap"]
        row["pulls"] = told["bitmap"] > 0
        rows.append({key: row.get(key, 0) for key in (*COLUMNS, "pulls")})
    return rows


def _search(
    channel: Channel, shard: Shard, rank: int, sources: Any, rule: str
) -> list[Counter[str]]:
    """Search as a member; return what it sent in each superstep."""
    exchange = Watched(channel)
    g = GraphView(shard, exchange, gang.threads())
    own = g.find(sources)
    exchange.noted.clear()  # finding vertices also takes rounds
    bfs(g, own, direction=rule)
    exchange.end_superstep()
    boxes = np.diff(shard.local().slot_bounds).tolist()
    width = np.dtype(index_dtype(shard.size)).itemsize  # of a predecessor
    rows = []
    for dirty, sent in exchange.noted[1:]:  # the first entry is from before the first superstep
        headers, bitmap = sent.pop("header"), sent.pop("all_gather", 0)
        rows.append(
            Counter(
                dirty=sum(dirty.values()),
                dense=width * sum(boxes),
                sparse=sum(pairs(count, boxes[to], width) for to, count in dirty.items()),
                selective=sum(sent.values()),
                headers=headers,
                bitmap=bitmap,
            )
        )
    return rows


def pairs(count: int, size: int, width: int) -> int:
    """Return the bytes of `count` pairs of an index below `size` and a value of `width` bytes."""
    return -(-count * width // 8) * 8 + count * np.dtype(index_dtype(size)).itemsize


class Watched(Exchange):
    """An exchange that records the changed mirrors of each superstep, and the bytes that are sent."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self.noted: list[tuple[dict[int, int], dict[str, int]]] = []
        self._dirty: dict[int, int] = {}

    def send(self, kind: str, packed: Callable[[int], Any], own: Totals, **options: Any) -> None:
        """Begin a round; rounds of two kinds also begin a superstep."""
        if kind in ("reduce", "all_gather"):
            self.end_superstep()

        def noted(to: int) -> Any:
            box = packed(to)
            if kind == "reduce":
                self._dirty[to] = box.entries
            return box

        super().send(kind, noted, own, **options)

    def end_superstep(self) -> None:
        """Store the records since the end of the last superstep."""
        self.noted.append((self._dirty, self.take_traffic().sent))
        self._dirty = {}


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    parts = [report.machine_line(machine.describe())]
    for search in results["searches"]:
        steps = search["supersteps"]
        whole = {key: sum(step[key] for step in steps) for key in COLUMNS}
        shown = enumerate(steps if len(steps) <= FEW else [], 1)
        rows = [_row(str(at), step, "pull" if step["pulls"] else "push") for at, step in shown]
        rows.append(_row("mean", {key: round(whole[key] / len(steps)) for key in COLUMNS}))
        rows.append(_row(f"all {len(steps):,}", whole))
        title = f"{search['graph']}, {search['members']} members"
        parts.append(f"\n{title}\n\n{report.table(['superstep', *COLUMNS, ''], rows)}")
    return "\n".join([*parts, "\n" + NOTES])


def _row(name: str, numbers: dict[str, Any], way: str = "") -> list[str]:
    return [name, *(f"{numbers[key]:,}" for key in COLUMNS), way]
