"""From a DuckDB table of edges to PageRank: seconds and peak memory, beside NetworKit and igraph."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import report, rss
from .algorithms.agreement import Agreement
from .errors import DisagreementError
from .harness import Outcome, in_process, take_turns

NOTES = """\
Each run is a process of its own. Its time begins after the imports, and includes reading the table out of
DuckDB, numbering the ids, building the graph and PageRank with alpha 0.85, until the scores are an array.
The scores change by less than 1e-6 in total in the last iteration, except that igraph's solver has a limit
of its own. "peak" is the largest resident memory of the process in any round, with its imports. With "ids
from 0", every id of 0 to V - 1 occurs, and NetworKit and igraph use the ids as they are. With "ids far
apart", pandas numbers them first."""

DAMPING, TOLERANCE = 0.85, 1e-6
APART = 0x9E3779B97F4A7C15  # odd, so multiples modulo 2**64 are distinct


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--edges", type=int, default=10_000_000, help="rows (default 10_000_000)")
    parser.add_argument("--scale", type=int, default=20, help="R-MAT edges of 2**scale ids (20)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Write the table, let the contenders take turns, print the results and store them."""
    texts, found = [], {}
    with tempfile.TemporaryDirectory(prefix="graphflow-table-") as folder:
        for ids in ("ids from 0", "ids far apart"):
            table = Path(folder, "edges.duckdb")
            vertices = write(table, options, apart=ids != "ids from 0")
            found[ids] = {"vertices": vertices, **measured(table, ids, options)}
            table.unlink()
            peaks = {name: report.mib(peak) for name, peak in found[ids]["peak_bytes"].items()}
            rows = report.comparison(
                found[ids]["seconds"], "graphflow", {"peak": peaks}, found[ids]["failures"]
            )
            texts.append(f"{ids}: {options.edges:,} edges, {vertices:,} vertices\n{rows}")
    results = {
        "benchmark": "table-to-ranks", "edges": options.edges, "threads": options.workers, **found,
    }  # fmt: skip
    name = f"table-to-ranks-{options.edges}"
    report.show("\n\n".join([*texts, NOTES]), results, name, options)
    return 0


def write(path: Path, options: argparse.Namespace, *, apart: bool) -> int:
    """Write a database with the table ``edges``, and return the number of vertices."""
    import duckdb
    import pandas as pd

    import dask_graphflow as gf

    factor = -(-options.edges >> options.scale)
    edges = gf.generate.rmat(options.scale, edge_factor=factor).compute()[: options.edges]
    ids = pd.factorize(edges[["src", "dst"]].to_numpy().ravel())[0]
    vertices = int(ids.max()) + 1
    if apart:
        ids = (ids.astype("uint64") * np.uint64(APART)).view("int64")
    edges = pd.DataFrame(ids.reshape(-1, 2), columns=["src", "dst"])
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE edges AS FROM edges")
    return vertices


def measured(table: Path, ids: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds and the peak memory of each contender."""
    check, failures, peaks = Agreement("near"), {}, dict.fromkeys(CONTENDERS, 0)

    def once(name: str) -> Outcome:
        scores = table.with_name(f"{name}.npy")
        answer = in_process(main, name, str(table), str(scores), ids, str(options.workers))
        peaks[name] = max(peaks[name], answer["peak"])
        return Outcome(answer["seconds"], np.load(scores))

    turns = {name: partial(once, name) for name in CONTENDERS}
    seconds = take_turns(turns, options.repeat, check, failures)
    if check.differs:
        raise DisagreementError(f"{ids}: {check.differs}")
    return {"seconds": seconds, "peak_bytes": peaks, "failures": failures}


def main(name: str, table: str, scores: str, ids: str, threads: str) -> None:
    """Rank the vertices of the table in this process; print the seconds and the peak memory."""
    import duckdb

    ranked = CONTENDERS[name](int(threads), ids == "ids far apart")
    connection = duckdb.connect(table, read_only=True, config={"threads": threads})
    begin = time.perf_counter()
    vertices, ranks = ranked(connection)
    seconds = time.perf_counter() - begin
    answer = {"seconds": seconds, "peak": rss.peak()}
    np.save(scores, np.asarray(ranks)[np.argsort(vertices)])
    print(json.dumps(answer))


Ranked = Callable[[Any], tuple[Any, Any]]


def graphflow(threads: int, apart: bool) -> Ranked:
    """Return this library's way from a connection to ids and scores."""
    import dask

    import dask_graphflow as gf

    dask.config.set(num_workers=threads)

    def ranked(connection: Any) -> tuple[Any, Any]:
        graph = gf.Graph(connection.table("edges")).persist()
        # Its tolerance is the change of one vertex.
        tol = TOLERANCE / graph.num_vertices
        found = graph.pagerank(alpha=DAMPING, tol=tol).compute()
        return found["vertex"].to_numpy(), found["pagerank"].to_numpy()

    return ranked


def networkit(threads: int, apart: bool) -> Ranked:
    """Return NetworKit's way from a connection to ids and scores."""
    import networkit as nk

    nk.setNumberOfThreads(threads)

    def ranked(connection: Any) -> tuple[Any, Any]:
        ids, source, target = _ends(connection, apart)
        ends = source.astype("uint64"), target.astype("uint64")
        graph = nk.GraphFromCoo(ends, n=len(ids), directed=True)
        sinks = nk.centrality.SinkHandling.DistributeSinks
        made = nk.centrality.PageRank(graph, DAMPING, TOLERANCE, distributeSinks=sinks)
        made.norm = nk.centrality.Norm.L1_NORM
        return ids, np.array(made.run().scores())

    return ranked


def igraph(threads: int, apart: bool) -> Ranked:
    """Return igraph's way from a connection to ids and scores."""
    import igraph as ig

    def ranked(connection: Any) -> tuple[Any, Any]:
        ids, source, target = _ends(connection, apart)
        graph = ig.Graph(len(ids), np.column_stack([source, target]), directed=True)
        return ids, np.array(graph.pagerank(damping=DAMPING))

    return ranked


CONTENDERS = {"graphflow": graphflow, "networkit": networkit, "igraph": igraph}


def _ends(connection: Any, apart: bool) -> tuple[Any, Any, Any]:
    """Read the table; return the ids, and the ends of the edges as positions of ids."""
    import pandas as pd

    columns = connection.execute("SELECT src, dst FROM edges").fetchnumpy()
    source, target = columns["src"], columns["dst"]
    if not apart:
        return np.arange(max(source.max(), target.max()) + 1), source, target
    codes, ids = pd.factorize(np.concatenate([source, target]))
    return ids, codes[: len(source)], codes[len(source) :]
