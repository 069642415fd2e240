"""From a DuckDB table of edges to components or ranks: seconds and peak memory, beside other libraries."""

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

from benchmarks.lib import report, rss
from benchmarks.lib.agreement import Agreement
from benchmarks.lib.errors import DisagreementError, UnusableInputError
from benchmarks.lib.harness import Outcome, in_process, take_turns

NOTES = """\
Each run is a process of its own. Its time begins after the imports, and includes reading the table from
DuckDB, numbering the ids, building the graph if one is built, and the algorithm, until there is an array of
ids and an array of results. PageRank has alpha 0.85 and stops when the scores change by less than 1e-6 in
total. "peak" is the largest resident memory of the process in any round, with its imports. With "from-0",
every id of 0 to V - 1 occurs, and SciPy and NetworKit use the ids as they are. With "far-apart", pandas
numbers them first. SciPy's PageRank is a power iteration on a CSR matrix. A contender whose first run takes
more than 10 s is not run again, and that run counts."""

DAMPING, TOLERANCE = 0.85, 1e-6
APART = 0x9E3779B97F4A7C15  # odd, so multiples modulo 2**64 are distinct
SLOW = 10.0  # seconds of a first run that is the only one
RULES = {"connected_components": "partition", "pagerank": "near"}
IDS = ("from-0", "far-apart")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--edges", type=int, default=10_000_000, help="rows (default 10_000_000)")
    parser.add_argument("--scale", type=int, default=20, help="R-MAT edges of 2**scale ids (20)")
    parser.add_argument("--ids", choices=IDS, default=IDS[0], help=f"default {IDS[0]}")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS, help="default: all")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Write the table, let the contenders take turns, print the results and store them."""
    with tempfile.TemporaryDirectory(prefix="graphflow-table-") as folder:
        table = Path(folder, "edges.duckdb")
        vertices = write(table, options)
        questions = {question: measured(table, question, options) for question in RULES}
    texts = [
        f"{question}: {options.edges:,} edges, {vertices:,} vertices, ids {options.ids}\n"
        + report.comparison(
            found["seconds"],
            "graphflow",
            {"peak": {name: report.mib(peak) for name, peak in found["peak_bytes"].items()}},
            found["failures"],
        )
        for question, found in questions.items()
    ]
    results = {
        "benchmark": "from-a-table", "edges": options.edges, "vertices": vertices, "ids": options.ids,
        "threads": options.workers, "questions": questions,
    }  # fmt: skip
    name = f"from-a-table-{options.edges}-{options.ids}"
    report.show("\n\n".join([*texts, NOTES]), results, name, options)
    return 0


def write(path: Path, options: argparse.Namespace) -> int:
    """Write a database with the table ``edges``, and return the number of vertices."""
    import duckdb
    import pandas as pd

    import dask_graphflow as gf

    # Twice as many as are needed, because R-MAT repeats edges and NetworkX merges repeated edges.
    factor = -(-2 * options.edges >> options.scale)
    edges = gf.generate.rmat(options.scale, edge_factor=factor).compute().drop_duplicates()
    if len(edges) < options.edges:
        raise UnusableInputError(
            f"only {len(edges):,} of {options.edges:,} edges between 2**{options.scale} ids are distinct; "
            "give a larger --scale or fewer --edges"
        )
    ids = pd.factorize(edges[: options.edges].to_numpy().ravel())[0]
    vertices = int(ids.max()) + 1
    if options.ids == "far-apart":
        ids = (ids.astype("uint64") * np.uint64(APART)).view("int64")
    edges = pd.DataFrame(ids.reshape(-1, 2), columns=["src", "dst"])
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE edges AS FROM edges")
    return vertices


def measured(table: Path, question: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds and the peak memory of each contender."""
    names = ["graphflow", *options.peers]
    check, failures, peaks = Agreement(RULES[question]), {}, dict.fromkeys(names, 0)

    def once(name: str) -> Outcome:
        path = table.with_name(f"{name}.npy")
        answer = in_process(
            main, name, question, str(table), str(path), options.ids, str(options.workers)
        )
        peaks[name] = max(peaks[name], answer["peak"])
        return Outcome(answer["seconds"], np.load(path))

    turns = {name: partial(once, name) for name in names}
    patience = dict.fromkeys(names, SLOW)
    seconds = take_turns(turns, options.repeat, check, failures, patience)
    if check.differs:
        raise DisagreementError(f"{question}: {check.differs}")
    return {"seconds": seconds, "peak_bytes": peaks, "failures": failures}


def main(name: str, question: str, table: str, result: str, ids: str, threads: str) -> None:
    """Answer the question in this process; print the seconds and the peak memory."""
    import duckdb

    answer = CONTENDERS[name](question, int(threads), _reader(apart=ids == "far-apart"))
    connection = duckdb.connect(table, read_only=True, config={"threads": threads})
    begin = time.perf_counter()
    vertices, values = answer(connection)
    seconds = time.perf_counter() - begin
    measurement = {"seconds": seconds, "peak": rss.peak()}
    np.save(result, np.asarray(values)[np.argsort(vertices)])
    print(json.dumps(measurement))


Edges = tuple[Any, Any, Any]  # ids, and the ends of the edges as positions of ids
Reader = Callable[[Any], Edges]
Answer = Callable[[Any], tuple[Any, Any]]  # from a connection to ids and results


def _reader(*, apart: bool) -> Reader:
    """Return the function that reads the table and numbers its ids if necessary."""
    import pandas as pd

    def read(connection: Any) -> Edges:
        source, target = _columns(connection)
        if not apart:
            return np.arange(max(source.max(), target.max()) + 1), source, target
        codes, ids = pd.factorize(np.concatenate([source, target]))
        return ids, codes[: len(source)], codes[len(source) :]

    return read


def _columns(connection: Any) -> tuple[Any, Any]:
    columns = connection.execute("SELECT src, dst FROM edges").fetchnumpy()
    return columns["src"], columns["dst"]


def graphflow(question: str, threads: int, read: Reader) -> Answer:
    """Return this library's way."""
    import dask
    import distributed  # noqa: F401  # otherwise the first call would import it, through Dask
    import numba  # noqa: F401  # otherwise the first kernel would import it

    import dask_graphflow as gf

    _ = gf.connected_components, gf.Graph.pagerank  # names are imported when they are first used
    dask.config.set(num_workers=threads)

    def components(connection: Any) -> tuple[Any, Any]:
        found = gf.connected_components(connection.table("edges")).compute()
        return found["vertex"].to_numpy(), found["component"].to_numpy()

    def pagerank(connection: Any) -> tuple[Any, Any]:
        graph = gf.Graph(connection.table("edges")).persist()
        tol = TOLERANCE / graph.num_vertices  # here, the change of one vertex
        found = graph.pagerank(alpha=DAMPING, tol=tol).compute()
        return found["vertex"].to_numpy(), found["pagerank"].to_numpy()

    return pagerank if question == "pagerank" else components


def scipy(question: str, threads: int, read: Reader) -> Answer:
    """Return the way of SciPy's sparse matrices."""
    from scipy.sparse import coo_array, csgraph

    def components(connection: Any) -> tuple[Any, Any]:
        ids, source, target = read(connection)
        ones = np.ones(len(source), "int8")
        matrix = coo_array((ones, (source, target)), shape=(len(ids), len(ids)))
        return ids, csgraph.connected_components(matrix, directed=False)[1]

    def pagerank(connection: Any) -> tuple[Any, Any]:
        ids, source, target = read(connection)
        size = len(ids)
        degrees = np.bincount(source, minlength=size)
        links = coo_array((1 / degrees[source], (target, source)), shape=(size, size)).tocsr()
        rank, change = np.full(size, 1 / size), np.inf
        while change >= TOLERANCE:
            before, dangling = rank, rank[degrees == 0].sum()
            rank = DAMPING * (links @ before + dangling / size) + (1 - DAMPING) / size
            change = abs(rank - before).sum()
        return ids, rank

    return pagerank if question == "pagerank" else components


def networkit(question: str, threads: int, read: Reader) -> Answer:
    """Return NetworKit's way."""
    import networkit as nk

    nk.setNumberOfThreads(threads)

    def answer(connection: Any) -> tuple[Any, Any]:
        ids, source, target = read(connection)
        ends = source.astype("uint64"), target.astype("uint64")
        graph = nk.GraphFromCoo(ends, n=len(ids), directed=question == "pagerank")
        if question == "connected_components":
            made = nk.components.ParallelConnectedComponents(graph).run()
            return ids, np.array(made.getPartition().getVector())
        sinks = nk.centrality.SinkHandling.DistributeSinks
        made = nk.centrality.PageRank(graph, DAMPING, TOLERANCE, distributeSinks=sinks)
        made.norm = nk.centrality.Norm.L1_NORM
        return ids, np.array(made.run().scores())

    return answer


def networkx(question: str, threads: int, read: Reader) -> Answer:
    """Return NetworkX's way, which takes any ids."""
    import networkx as nx

    def components(connection: Any) -> tuple[Any, Any]:
        graph = nx.Graph(_pairs(connection))
        members = [list(found) for found in nx.connected_components(graph, backend="networkx")]
        labels = np.repeat(np.arange(len(members)), [len(found) for found in members])
        return np.concatenate(members), labels

    def pagerank(connection: Any) -> tuple[Any, Any]:
        graph = nx.DiGraph(_pairs(connection))
        tol = TOLERANCE / len(graph)  # NetworkX multiplies it by the number of vertices
        scores = nx.pagerank(graph, DAMPING, max_iter=1000, tol=tol, backend="networkx")
        values = np.fromiter(scores.values(), "float64", len(scores))
        return np.fromiter(scores.keys(), "int64", len(scores)), values

    return pagerank if question == "pagerank" else components


def _pairs(connection: Any) -> Any:
    source, target = _columns(connection)
    return zip(source.tolist(), target.tolist(), strict=True)


CONTENDERS = {
    "graphflow": graphflow,
    "scipy": scipy,
    "networkit": networkit,
    "networkx": networkx,
}
PEERS = [*CONTENDERS][1:]
