"""How long do short cycles through many vertices take, and the alternative paths of many pairs?"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.lib import report, rss
from benchmarks.lib.errors import UnusableInputError
from benchmarks.lib.graphs import Inputs
from benchmarks.lib.harness import in_process

VERTICES, PAIRS, ALTERNATIVES = 100, 10_000, 3
LENGTHS = (3, 4, 5)
NOTES = f"""\
Each call is made in a process of its own, after a smaller one that compiles kernels. "cycles" are the
simple cycles through {VERTICES} drawn vertices of a directed R-MAT graph. The pairs are drawn, too, and the
weights of the roads are whole numbers from 1 to 255. "peak" is the largest resident memory of the process,
with the graph and the result."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="R-MAT edges of 2**scale ids (20)")
    parser.add_argument("--edge-factor", type=int, default=10, help="edges per id (10)")
    parser.add_argument(
        "--graph", required=True, metavar="FILE",
        help="a Parquet file whose first two columns are the ends of roads",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Make each call, print the results and store them."""
    import dask_graphflow as gf

    if not Path(options.graph).is_file():
        raise UnusableInputError(f"--graph {options.graph} is not a file")
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="graphflow-paths-") as folder:
        made = gf.generate.rmat(options.scale, edge_factor=options.edge_factor, dtype="int32")
        edges, roads = str(Path(folder, "edges.parquet")), str(Path(folder, "roads.parquet"))
        made.compute().to_parquet(edges)
        pd.DataFrame(Inputs.read(options.graph).columns("weighted")).to_parquet(roads)
        threads = str(options.workers)
        for length in LENGTHS:
            row = in_process(main, "simple_cycles", edges, str(length), threads)
            rows[f"cycles of at most {length} edges"] = row
        for function, name in (
            ("shortest_paths", f"shortest paths of {PAIRS:,} pairs"),
            ("k_shortest_paths", f"{ALTERNATIVES} paths of {PAIRS:,} pairs"),
        ):
            rows[name] = in_process(main, function, roads, str(ALTERNATIVES), threads)
    header = ["", "seconds", "found", "peak", "result"]
    lines = [
        [name, f"{row['seconds']:.2f}", f"{row['found']:,}", report.mib(row["peak"]), row["error"]]
        for name, row in rows.items()
    ]
    results = {
        "benchmark": "paths", "scale": options.scale, "edge_factor": options.edge_factor,
        "graph": Path(options.graph).stem, "threads": options.workers, "rows": rows,
    }  # fmt: skip
    report.show(f"{report.table(header, lines)}\n\n{NOTES}", results, "paths", options)
    return 0


def main(function: str, path: str, most: str, threads: str) -> None:
    """Make a call in this process; print its seconds, what it found and the peak memory."""
    import dask

    import dask_graphflow as gf
    from dask_graphflow.exceptions import GraphMemoryError

    dask.config.set(num_workers=int(threads))
    frame, random = pd.read_parquet(path), np.random.default_rng(0)
    every = np.unique(frame.iloc[:, :2])
    if function == "simple_cycles":
        graph = gf.Graph(frame, source="src", target="dst").persist()
        given: Any = random.choice(every, VERTICES, replace=False)
        options: dict[str, Any] = {"max_length": int(most), "through": given}
        small = {"max_length": 2, "through": given[:1]}
        counted = ["cycle"]
    else:
        ends = {"source": "source", "target": "target", "weight": "weight"}
        graph = gf.Graph(frame, **ends, directed=False).persist()
        given = pd.DataFrame(random.choice(every, (PAIRS, 2)), columns=["from", "to"])
        more = {"k": int(most)} if function == "k_shortest_paths" else {}
        options, small = {"pairs": given, **more}, {"pairs": given[:2], **more}
        counted = ["source", "target", *(["rank"] if more else [])]
    del frame
    call = getattr(graph, function)
    call(**small).compute()
    found, error = 0, ""
    begin = time.perf_counter()
    try:
        found = len(call(**options).compute()[counted].drop_duplicates())
    except GraphMemoryError as refused:
        error = str(refused)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "found": found, "peak": rss.peak(), "error": error}))
