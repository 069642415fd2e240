"""Write the tables of measured times in README and on the page of benchmarks, and draw their picture.

`python -m benchmarks.pages` reads the stored results. A test fails if a table is out of date.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .algorithms.ours import FRAME, LOOP
from .harness import Spread
from .report import RESULTS

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "internals" / "benchmarks.md")
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(\n<!-- end of table -->)", re.DOTALL)
CUGRAPH = "cugraph"
NAMES = {
    "graphflow": "dask-graphflow",
    "gap": "GAP",
    "scipy": "SciPy",
    "networkit": "NetworKit",
    "networkx": "NetworkX",
    "igraph": "igraph",
    CUGRAPH: "cuGraph",
}
GRAPHS = {"cit_hepph": "citations", "road_ny": "roads of New York", "grid4096": "grid, 4096 x 4096"}
TABLE, HOST = "from-a-table-10000000-{ids}-*.json", "algorithms-scale20-*.json"
GPU, GPU_COMPONENTS = "algorithms-gpu-*.json", "components-gpu-*.json"
PEERS = ("gap", "scipy", "networkit", "networkx")
FROM_0, FAR_APART = TABLE.format(ids="from-0"), TABLE.format(ids="far-apart")
# The rows of README's table: the results and the question on the host, and the results on a GPU.
SPEED = (
    ("components of a table", FROM_0, "connected_components", GPU_COMPONENTS),
    ("... ids far apart", FAR_APART, "connected_components", None),
    ("PageRank of a table", FROM_0, "pagerank", None),
    ("... ids far apart", FAR_APART, "pagerank", None),
    ("building an undirected graph", HOST, "build", GPU),
    ("breadth-first search of a graph", HOST, "bfs", GPU),
    ("PageRank, 20 iterations", HOST, "pagerank", GPU),
    ("shortest paths", HOST, "sssp", GPU),
    ("components", HOST, "connected_components", GPU),
)


@dataclass(frozen=True)
class Measured:
    """One question of one file of results.

    Attributes
    ----------
    edges : int
    seconds : mapping of str to list of float
        By contender and round.
    peaks : mapping of str to int
        Bytes by contender.
    machine : mapping
        The machine, its packages, the commit and the date.
    """

    edges: int
    seconds: Mapping[str, Sequence[float]]
    peaks: Mapping[str, int]
    machine: Mapping[str, Any]

    def median(self, name: str) -> float:
        """Return a contender's median time in seconds."""
        return Spread.of(self.seconds[name]).median

    def slower(self, peer: str, base: str) -> float:
        """Return how many times as long as `base` a peer takes, by their medians."""
        return self.median(peer) / self.median(base)

    @property
    def own(self) -> str:
        """Return the call of this library that is compared: to a frame on a GPU, to arrays on the host.

        cuGraph returns frames, and the peers on the host return arrays.
        """
        on_gpu = bool(self.machine.get("gpus"))
        return FRAME if LOOP not in self.seconds or (on_gpu and FRAME in self.seconds) else LOOP


def stored(pattern: str) -> list[dict[str, Any]]:
    """Return the results whose file names match: the newest first, then the largest graph."""
    paths = sorted(RESULTS.glob(pattern), key=_stamp_and_name, reverse=True)
    return [json.loads(path.read_text("utf-8")) for path in paths]


def _stamp_and_name(path: Path) -> tuple[str, str]:
    name, _, stamp = path.stem.rpartition("-")
    return stamp, name


def questions(results: Mapping[str, Any]) -> dict[str, dict[str, Measured]]:
    """Return what a file of results has, by graph and question."""
    machine = results["machine"]
    if results["benchmark"] == "from-a-table":
        rows = results["questions"]
        return {
            results["ids"]: {
                name: Measured(results["edges"], row["seconds"], row["peak_bytes"], machine)
                for name, row in rows.items()
            }
        }
    if results["benchmark"] == "components":
        row = Measured(results["edges"], results["seconds"], results["peaks"], machine)
        return {results["graph"]: {"connected_components": row}}
    return {
        graph: {
            name: Measured(row["edges"], row["seconds"], row["peaks"], machine)
            for name, row in rows.items()
            if row["seconds"]
        }
        for graph, rows in results["graphs"].items()
    }


def newest(pattern: str, question: str, peer: str) -> Measured | None:
    """Return the newest measurement of a question that has a peer, or None."""
    for results in stored(pattern):
        for rows in questions(results).values():
            if question in rows and peer in rows[question].seconds:
                return rows[question]
    return None


# Text


def ratio(number: float) -> str:
    """Format how many times as long a peer takes."""
    digits = 2 if number < 1 else 1 if number < 10 else 0
    return f"{number:,.{digits}f}"


def times(number: float) -> str:
    """Format how many times as long a peer takes; bold if the peer is faster."""
    return f"**{ratio(number)}**" if number < 1 else ratio(number)


def count(number: int) -> str:
    """Format a number of edges."""
    if number >= 1e9:
        return f"{number / 1e9:.3g} billion"
    return f"{number / 1e6:.3g} million" if number >= 1e6 else f"{number:,}"


def duration(seconds: float) -> str:
    """Format a time."""
    if seconds < 0.1:
        return f"{seconds * 1e3:.2g} ms" if seconds < 0.01 else f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.3g} s"


def size(number: int) -> str:
    """Format a number of bytes."""
    return f"{number / 2**30:.1f} GiB" if number >= 2**30 else f"{number / 2**20:.0f} MiB"


def where(measured: Measured) -> str:
    """Return the machine of a measurement in a few words."""
    gpus = measured.machine.get("gpus")
    if not gpus:
        return f"{measured.machine['cores']} cores of an {measured.machine['cpu']}"
    return f"one {' '.join(gpus['devices'][0]['name'].split()[:2])}"


def when(measured: Measured) -> str:
    """Return the day and the commit of a measurement."""
    return f"{measured.machine['date'][:10]}, commit {measured.machine['commit'][:7]}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in lines
    )


# Tables


def speed() -> str:
    """Return README's table: how many times as long each other library takes."""
    rows, used = [], dict[str, Measured]()
    for title, host, question, gpu in SPEED:
        row = [title]
        for peer in (*PEERS, CUGRAPH):
            # cuGraph's ranks are float32.
            asked = "pagerank, float32" if (peer, question) == (CUGRAPH, "pagerank") else question
            pattern = gpu if peer == CUGRAPH else host
            one = newest(pattern, asked, peer) if pattern else None
            row.append("" if one is None else times(one.slower(peer, one.own)))
            if one is not None and pattern is not None:
                used.setdefault(pattern, one)
        rows.append(row)
    runs = {
        f"{count(one.edges)} edges on {where(one)} ({when(one)})": CUGRAPH in one.seconds
        for one in used.values()
    }
    header = ["", *(NAMES[peer] for peer in PEERS), f"{NAMES[CUGRAPH]}, one GPU"]
    return f"{table(header, rows)}\n\n{'; '.join(sorted(runs, key=runs.get))}."


def from_a_table() -> str:
    """Return the times from a table to an answer."""
    return _of_tables(
        "time here", duration, lambda one, peer: times(one.slower(peer, LOOP)), Measured.median
    )


def memory_of_tables() -> str:
    """Return the peak memory from a table to an answer."""
    return _of_tables(
        "here", size, lambda one, peer: size(one.peaks[peer]), lambda one, name: one.peaks[name]
    )


def _of_tables(
    header: str,
    text: Callable[[Any], str],
    cell: Callable[[Measured, str], str],
    own: Callable[[Measured, str], Any],
) -> str:
    peers, rows = PEERS[1:], []
    for question in ("connected_components", "pagerank"):
        for ids in ("from-0", "far-apart"):
            found = [newest(TABLE.format(ids=ids), question, peer) for peer in peers]
            cells = [cell(one, peer) if one else "" for one, peer in zip(found, peers, strict=True)]
            first = next(one for one in found if one)
            rows.append(
                [f"`{question}`, ids {ids.replace('-', ' ')}", text(own(first, LOOP)), *cells]
            )
    return table(["", header, *(NAMES[peer] for peer in peers)], rows)


def components() -> str:
    """Return the times and the peak memory of components of edges in memory."""
    results = stored("components-scale20-*.json")[0]
    ((one,),) = (rows.values() for rows in questions(results).values())
    rows = [
        [
            NAMES.get(name, NAMES["graphflow"] + name.removeprefix("graphflow")),
            duration(one.median(name)),
            times(one.slower(name, LOOP)),
            f"{one.peaks[name] / results['input_bytes']:.2g}",
        ]
        for name in one.seconds
    ]
    return table(["", "time", "time / ours", "peak / input"], rows)


def networkx() -> str:
    """Return how many times as fast as NetworkX its backend is: the worst losses first."""
    sizes, lines = {"10000": "10,000", "100000": "100,000", "1000000": "1,000,000"}, []
    for name, by_size in stored("networkx-backend-*.json")[0]["seconds"].items():
        ratios = {
            edges: [row["NetworkX"] / row[way] for way in ("with conversion", "converted")]
            for edges, row in by_size.items()
            if edges in sizes and "NetworkX" in row
        }
        cells = [
            " / ".join(map(times, ratios[edges])) if edges in ratios else "" for edges in sizes
        ]
        lines.append((ratios["10000"][0], [f"`{name}`", *cells]))
    header = ["edges:", *sizes.values()]
    return table(header, [row for _, row in sorted(lines)])


def built() -> str:
    """Return the times of algorithms on a graph of scale 20 that is built."""
    rows = []
    for name, one in questions(stored(HOST)[0])["scale20"].items():
        cells = [times(one.slower(peer, LOOP)) if peer in one.seconds else "" for peer in PEERS[:3]]
        rows.append([f"`{name}`", duration(one.median(LOOP)), *cells])
    return table(["", "time here", *(NAMES[peer] for peer in PEERS[:3])], rows)


def every() -> str:
    """Return each algorithm's time on three graphs, and the fastest peer: the worst losses first."""
    graphs = questions(stored("algorithms-scale16-*.json")[0])
    lines = dict[str, tuple[float, list[str]]]()
    for name in dict.fromkeys(name for rows in graphs.values() for name in rows):
        worst, cells = float("inf"), []
        for rows in graphs.values():
            least, cell = _fastest(rows[name])
            worst = min(worst, least)
            cells.append(cell)
        lines[name] = worst, [f"`{name.split(',')[0]}`{name[len(name.split(',')[0]) :]}", *cells]
    header = ["", *(GRAPHS.get(graph, "R-MAT") for graph in graphs)]
    return table(header, [line for _, line in sorted(lines.values(), key=lambda one: one[0])])


def _fastest(one: Measured) -> tuple[float, str]:
    peers = [peer for peer in one.seconds if peer not in (LOOP, FRAME)]
    least, peer = min((one.slower(peer, one.own), peer) for peer in peers)
    return least, f"{duration(one.median(one.own))}; {times(least)} {NAMES[peer]}"


def gpu() -> str:
    """Return each algorithm's time and peak memory on a GPU, beside cuGraph: the worst losses first."""
    found = dict[tuple[str, str], Measured]()
    for pattern in (GPU, GPU_COMPONENTS):
        for results in stored(pattern):
            for graph, rows in questions(results).items():
                for name, one in rows.items():
                    if CUGRAPH in one.seconds:
                        title = name if pattern == GPU else f"{name} of a frame"
                        found.setdefault((title, GRAPHS.get(graph, "R-MAT")), one)
    lines = []
    for (name, graph), one in found.items():
        slower = one.slower(CUGRAPH, one.own)
        peaks = [size(one.peaks[who]) if one.peaks.get(who) else "" for who in (one.own, CUGRAPH)]
        head, _, tail = name.partition(" ") if name.endswith("frame") else name.partition(",")
        title = f"`{head}`{' ' if name.endswith('frame') else ','}{tail}" if tail else f"`{head}`"
        row = [
            title,
            f"{graph}, {count(one.edges)}",
            duration(one.median(one.own)),
            times(slower),
            *peaks,
        ]
        lines.append((slower, row))
    header = ["", "graph, edges", "time here", "cuGraph / here", "peak here", "peak of cuGraph"]
    return table(header, [row for _, row in sorted(lines)])


MADE = (speed, from_a_table, memory_of_tables, components, built, every, gpu, networkx)
TABLES = {made.__name__: made for made in MADE}


def written(text: str) -> str:
    """Return a document with new tables in place of those that it has between marks."""
    return MARKED.sub(lambda mark: f"{mark[1]}\n{TABLES[mark[2]]()}\n{mark[3]}", text)


def main() -> None:
    """Write the tables and draw the picture."""
    argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__).parse_args()
    from . import picture

    for document in DOCUMENTS:
        document.write_text(written(document.read_text("utf-8")), "utf-8")
    picture.draw()


if __name__ == "__main__":
    main()
