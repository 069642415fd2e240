"""Write the tables of measured times in README and on two pages, and draw their picture.

They come from the stored results. A test fails if one of them is out of date.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.commands.first_calls import process
from benchmarks.commands.under_limit import BUILD, PROCESS
from benchmarks.lib import picture
from benchmarks.lib.markdown import NAMES, code, count, duration, size, table, times
from benchmarks.lib.ours import FRAME, LOOP
from benchmarks.lib.receipt import ROOT
from benchmarks.lib.rows import FRAME_COMPONENTS
from benchmarks.lib.stored import CUGRAPH, FROM_0, GPU, TABLE, Measured, newest, questions, stored

DOCS = ROOT / "docs"
DOCUMENTS = (
    ROOT / "README.md",
    DOCS / "start" / "why.md",
    DOCS / "internals" / "benchmarks.md",
)
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(\n<!-- end of table -->)", re.DOTALL)

HOST = "algorithms-scale20-*.json"
FAR_APART = TABLE.format(ids="far-apart")
GPU_LARGE = "algorithms-gpu-scale26-*.json"
BY_CUGRAPH = {
    "connected_components": FRAME_COMPONENTS,
    "pagerank": "pagerank, float32",  # cuGraph's precision
}
PEERS = ("gap", "scipy", "networkit", "networkx")
BY_PROCESS = ("scipy", "networkit", "igraph")
GRAPHS = {"cit_hepph": "citations", "road_ny": "roads", "grid4096": "grid"}
# The rows of README's table: the results and the question on the host, and the results on a GPU.
SPEED = (
    ("components of a table", FROM_0, "connected_components", GPU),
    ("PageRank of a table, ids far apart", FAR_APART, "pagerank", None),
    ("building an undirected graph", HOST, "build", GPU_LARGE),
    ("breadth-first search of a graph", HOST, "bfs", GPU_LARGE),
    ("PageRank, 20 iterations", HOST, "pagerank", GPU_LARGE),
    ("shortest paths", HOST, "sssp", GPU_LARGE),
)

# Tables


def speed() -> str:
    """Return README's table: how many times as long each other library takes."""
    rows, used = [], list[Measured]()
    for title, host, question, gpu in SPEED:
        row = [title]
        for peer in (*PEERS, CUGRAPH):
            asked = BY_CUGRAPH.get(question, question) if peer == CUGRAPH else question
            pattern = gpu if peer == CUGRAPH else host
            one = newest(pattern, asked, peer) if pattern else None
            row.append(times(one.slower(peer)) if one else "")
            used += [one] if one else []
        rows.append(row)
    header = ["", *(NAMES[peer] for peer in PEERS), f"{NAMES[CUGRAPH]}, one GPU"]
    edges, days = dict[str, list[int]](), [one.day[:10] for one in used]
    for one in used:
        edges.setdefault(one.place, []).append(one.edges)
    sizes = [
        f"{' to '.join(dict.fromkeys(map(count, (min(some), max(some)))))} edges on {place}"
        for place, some in edges.items()
    ]
    return f"{table(header, rows, [])}\n\nMeasured until {max(days)}: {', '.join(sizes)}."


def from_a_table() -> str:
    """Return the time and the peak memory from a table to an answer."""
    peers, rows, used = PEERS[1:], [], []
    for question in ("connected_components", "pagerank"):
        for ids, pattern in (("from 0", FROM_0), ("far apart", FAR_APART)):
            found = [newest(pattern, question, peer) for peer in peers]
            one = next(one for one in found if one)
            slower = [
                times(a.slower(peer)) if a else "" for a, peer in zip(found, peers, strict=True)
            ]
            peaks = [size(a.peaks[peer]) if a else "" for a, peer in zip(found, peers, strict=True)]
            rows.append([f"`{question}`, ids {ids}", duration(one.median(LOOP)), *slower])
            rows.append(["... peak memory", size(one.peaks[LOOP]), *peaks])
            used.append(one)
    return table(["", "here", *(NAMES[peer] for peer in peers)], rows, used)


def built() -> str:
    """Return the times of algorithms on a graph of scale 20 that is built."""
    found = questions(stored(HOST)[0])["scale20"]
    rows = [
        [
            code(name),
            duration(one.median(LOOP)),
            *(times(one.slower(peer)) if peer in one.seconds else "" for peer in PEERS[:3]),
        ]
        for name, one in found.items()
    ]
    return table(["", "here", *(NAMES[peer] for peer in PEERS[:3])], rows, [found["build"]])


def every() -> str:
    """Return each algorithm's time on three graphs, and the fastest peer: the worst losses first."""
    graphs: dict[str, dict[str, Measured]] = {}
    for results in stored("algorithms-scale16-*.json"):  # the newest one of each row counts
        for graph, rows in questions(results).items():
            graphs[graph] = rows | graphs.get(graph, {})
    names = dict.fromkeys(name for rows in graphs.values() for name in rows)
    lines = []
    for name in names:
        found = [fastest(rows[name]) for rows in graphs.values()]
        lines.append((min(found)[0], [code(name), *(cell for _, cell in found)]))
    header = ["", *(GRAPHS.get(graph, "R-MAT") for graph in graphs)]
    used = [rows["build"] for rows in graphs.values()]
    return table(header, [line for _, line in sorted(lines)], used)


def fastest(one: Measured) -> tuple[float, str]:
    """Return the ratio of the fastest peer, and a cell with the time of this library and that ratio."""
    own = duration(one.median(one.own))
    others = [(one.slower(peer), peer) for peer in one.seconds if peer not in (LOOP, FRAME)]
    if not others:
        return math.inf, f"{own}; no peer ended"
    least, peer = min(others)
    return least, f"{own}; {times(least)} {NAMES[peer]}"


def gpu() -> str:
    """Return each algorithm's time and peak memory on a GPU, beside cuGraph: the worst losses first."""
    found = dict[tuple[str, str], Measured]()
    for results in stored(GPU):
        for graph, rows in questions(results).items():
            for name, one in rows.items():
                if CUGRAPH in one.seconds:
                    found.setdefault((name, graph), one)
    lines = []
    for (name, graph), one in found.items():
        slower, peaks = one.slower(CUGRAPH), [size(one.peaks[who]) for who in (one.own, CUGRAPH)]
        where = f"{GRAPHS.get(graph, 'R-MAT')}, {count(one.edges)}"
        cells = [where, duration(one.median(one.own)), times(slower)]
        lines.append((slower, [code(name), *cells, *peaks]))
    header = ["", "graph, edges", "here", "cuGraph / here", "peak here", "peak of cuGraph"]
    return table(header, [line for _, line in sorted(lines)], found.values())


def under_limit() -> str:
    """Return seconds in little memory, here and by the peers: of all edges, or of the most that they do."""
    found = [one for one in stored("under-limit-*.json") if one.get("peers")]
    largest, peers = max(found, key=lambda one: one["edges"]), ("scipy", "networkit", "graphframes")
    rows = []
    for call in ("connected_components", "bfs", "pagerank", "label_propagation"):
        tries = {peer: _tries(found, peer, call) for peer in peers}
        took = (largest["calls"][f"{name}, {PROCESS}"] for name in (BUILD, call))
        seconds = sum(one["seconds"] for one in took)
        rows.append([code(call), duration(seconds), *map(_most, tries.values())])
    header = ["", f"here, {count(largest['edges'])} edges", *(NAMES[peer] for peer in peers)]
    used = [Measured(one["edges"], {}, {}, one["machine"]) for one in found]
    return table(header, rows, used)


def _tries(found: Iterable[Mapping[str, Any]], peer: str, call: str) -> list[dict[str, Any]]:
    """Return the tries of a peer in all results, from many edges to few."""
    tries = [one for results in found for one in results["peers"].get(peer, {}).get(call, ())]
    return sorted(tries, key=lambda one: -one["edges"])


def _most(tries: Sequence[Mapping[str, Any]]) -> str:
    """Return a cell: the most edges that a peer did and its time, and the fewest that it did not do."""
    done = [
        f"{count(one['edges'])}: {duration(one['seconds'])}" for one in tries if "seconds" in one
    ]
    failed = [f"{count(one['edges'])}: {one['failed']}" for one in tries if "failed" in one]
    return ", ".join([*done[:1], *failed[-1:]])


def first_calls() -> str:
    """Return the CPU time of first calls beside peers: for each graph, the longest first."""
    results = stored("first-calls-*.json")[0]
    machine = Measured(0, {}, {}, results["machine"])
    texts = []
    for measured in results["scales"].values():
        rows = {}
        for name, rounds in measured["calls"].items():
            seconds = [[one[which]["cpu"] for one in rounds] for which in ("first", "cached")]
            seconds += [[process(one["cached"]) for one in rounds]]
            seconds += [[one["peers"].get(peer) for one in rounds] for peer in BY_PROCESS]
            rows[name] = ["-" if one[0] is None else statistics.median(one) for one in seconds]
        slowest = sorted(rows, key=lambda name: rows[name][0], reverse=True)
        cells = [
            [code(name), *(one if one == "-" else f"{one:.2f}" for one in rows[name])]
            for name in slowest
        ]
        header = [f"{measured['edges']:,} edges", "nothing compiled", "cached", "process"]
        texts.append(table([*header, *(NAMES[peer] for peer in BY_PROCESS)], cells, []))
    return "\n\n".join([*texts, f"Measured: on {machine.place} ({machine.day})."])


def networkx() -> str:
    """Return how many times as fast as NetworkX its backend is: the worst losses first."""
    sizes, lines = {"10000": "10,000", "100000": "100,000", "1000000": "1,000,000"}, []
    for name, by_size in stored("networkx-backend-*.json")[0]["seconds"].items():
        rows = [by_size.get(edges, {}) for edges in sizes]
        faster = [
            [row["NetworkX"] / row[way] for way in ("with conversion", "converted")]
            if "NetworkX" in row
            else []
            for row in rows
        ]
        lines.append((faster[0], [code(name), *(" / ".join(map(times, both)) for both in faster)]))
    return table(["edges:", *sizes.values()], [line for _, line in sorted(lines)], [])


MADE = (speed, from_a_table, built, every, gpu, under_limit, first_calls, networkx)
TABLES = {made.__name__: made for made in MADE}


def written(text: str) -> str:
    """Return a document with new tables in place of those that it has between marks."""
    return MARKED.sub(lambda mark: f"{mark[1]}\n{TABLES[mark[2]]()}\n{mark[3]}", text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(options: argparse.Namespace) -> int:
    """Write the tables and draw the picture."""
    for document in DOCUMENTS:
        document.write_text(written(document.read_text("utf-8")), "utf-8")
    picture.draw()
    return 0
