"""Does Leiden find the same communities with every number of threads, beside igraph and others?"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from typing import Any

import numpy as np

from benchmarks.lib import report
from benchmarks.lib.harness import in_process

NOTES = """\
Each call is a process of its own. All calls of a library have the same seed, and there are two with each
number of threads. "results" counts the different partitions of these calls, so 1 is best. igraph and
leidenalg use one thread. CPU seconds are those of the fastest call with one thread; the graph was built
before."""
THREADS = (1, 2, 4)
CALLS = 2  # with each number of threads
NEIGHBORS = 15
SEED = 7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--cells", type=int, default=50_000, help="points of the graph (50,000)")


def run(options: argparse.Namespace) -> int:
    """Find the communities of a graph of nearest neighbors, print the results and store them."""
    found: dict[str, Any] = {
        name: [
            {"threads": threads, **in_process(main, name, str(options.cells), str(threads))}
            for threads in (THREADS if name in PARALLEL else THREADS[:1])
            for _ in range(CALLS)
        ]
        for name in LIBRARIES
    }
    rows = []
    for name, calls in found.items():
        rows.append(
            [
                name,
                ", ".join(map(str, sorted({call["threads"] for call in calls}))),
                str(len({call["partition"] for call in calls})),
                f"{max(call['modularity'] for call in calls):.4f}",
                f"{min(call['seconds'] for call in calls if call['threads'] == 1):.2f}",
            ]
        )
    header = ["", "threads", "results", "modularity", "CPU seconds"]
    text = (
        f"{options.cells:,} points with {NEIGHBORS} nearest neighbors each\n"
        f"{report.table(header, rows)}\n\n{NOTES}"
    )
    results = {"benchmark": "reproducible", "cells": options.cells, "calls": found}
    report.show(text, results, "reproducible", options)
    return 0


def neighbors(cells: int) -> Any:
    """Return the weights of the edges between nearest neighbors of points around some centers."""
    from scipy.sparse import coo_array
    from scipy.spatial import KDTree

    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 8))[rng.integers(0, 40, cells)] + rng.normal(
        scale=0.5, size=(cells, 8)
    )
    distance, near = KDTree(points).query(points, NEIGHBORS + 1, workers=-1)
    rows = np.repeat(np.arange(cells), NEIGHBORS)
    values = np.exp(-distance[:, 1:].ravel())
    edges = coo_array((values, (rows, near[:, 1:].ravel())), shape=(cells, cells)).tocsr()
    return edges.maximum(edges.T).tocsr()


def ours(graph: Any, threads: int) -> Any:
    """Return a function that returns our communities."""
    import dask

    import dask_graphflow as gf

    dask.config.set(num_workers=threads)
    gf.leiden([(0, 1), (1, 2)], directed=False).compute()  # loads the compiled kernels
    built = gf.Graph(graph).persist()
    built.degrees().compute()
    return lambda: built.leiden(seed=SEED).compute()["community"].to_numpy()


def _igraph(graph: Any) -> Any:
    import igraph

    upper = graph.tocoo()
    keep = upper.row < upper.col
    edges = np.column_stack([upper.row[keep], upper.col[keep]])
    built = igraph.Graph(graph.shape[0], edges)
    built.es["weight"] = upper.data[keep]
    return built


def igraph(graph: Any, threads: int) -> Any:
    """Return a function that returns the communities of igraph."""
    import random

    built = _igraph(graph)
    random.seed(SEED)  # igraph draws from it
    how = {"objective_function": "modularity", "n_iterations": 2, "weights": "weight"}
    return lambda: built.community_leiden(**how).membership


def leidenalg(graph: Any, threads: int) -> Any:
    """Return a function that returns the communities of leidenalg, as Scanpy calls it by default."""
    import leidenalg as library

    built = _igraph(graph)
    how = {"weights": "weight", "n_iterations": 2, "seed": SEED}
    kind = library.RBConfigurationVertexPartition
    return lambda: library.find_partition(built, kind, **how).membership


def networkit(graph: Any, threads: int) -> Any:
    """Return a function that returns the communities of NetworKit."""
    import networkit as nk

    nk.setNumberOfThreads(threads)
    nk.setSeed(SEED, True)
    upper = graph.tocoo()
    keep = upper.row < upper.col
    parts = (upper.data[keep], (upper.row[keep], upper.col[keep]))
    built = nk.GraphFromCoo(parts, n=graph.shape[0], weighted=True)

    def find() -> Any:
        algorithm = nk.community.ParallelLeiden(built)
        algorithm.run()
        return algorithm.getPartition().getVector()

    return find


LIBRARIES = {
    "dask_graphflow": ours,
    "igraph": igraph,
    "leidenalg": leidenalg,
    "networkit": networkit,
}
PARALLEL = ("dask_graphflow", "networkit")


def main(name: str, cells: str, threads: str) -> None:
    """Find the communities once, and print the seconds, the modularity and a hash of the partition."""
    graph = neighbors(int(cells))
    os.environ["OMP_NUM_THREADS"] = threads
    find = LIBRARIES[name](graph, int(threads))
    began = time.process_time()
    labels = np.asarray(find())
    seconds = time.process_time() - began
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    entries, total = graph.tocoo(), graph.sum()
    inside = entries.data[labels[entries.row] == labels[entries.col]].sum()
    degrees = np.bincount(labels, graph.sum(axis=1))
    print(
        json.dumps(
            {
                "seconds": seconds,
                "modularity": float(inside / total - (degrees**2).sum() / total**2),
                "partition": hashlib.sha256(first[labels].astype("int64").tobytes()).hexdigest(),
            }
        )
    )
