"""How fast is FastRP, and how well do its vectors tell the labels of vertices, beside the authors' method?

The file is a MATLAB file with the matrices "network" and "group", such as that of BlogCatalog in the
repository of DeepWalk (phanein/deepwalk, example_graphs/blogcatalog.mat). It needs SciPy and scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from benchmarks.lib import report
from benchmarks.lib.errors import UnusableInputError
from benchmarks.lib.harness import in_process

NOTES = """\
Seconds are those of the fastest of five calls on a graph that is built; "CPU" adds up all threads. SciPy
computes the same definition with sparse matrices and other random numbers, by one thread. Labels are told
as by DeepWalk's authors: one logistic regression per label (liblinear, C = 0.1) on a random tenth of the
vertices, and for each other vertex as many of the most likely labels as it has. Columns are standardized,
and then rows have the same length. Each F1 is the mean over five splits."""
LIBRARIES = ("dask_graphflow", "scipy")
CALLS = 5
SPLITS = 5
PART = 0.1
C = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--labels", required=True, metavar="FILE", help="the graph and its labels")
    parser.add_argument("--dimensions", type=int, default=512, help="dimensions (512)")
    parser.add_argument(
        "--weights", type=float, nargs="+", default=[0, 0, 1, 4.3], help="of the iterations"
    )
    parser.add_argument("--normalization", type=float, default=-0.5, help="exponent (-0.5)")


def run(options: argparse.Namespace) -> int:
    """Compute vectors by both libraries, tell labels, print the results and store them."""
    given = {name: getattr(options, name) for name in ("dimensions", "weights", "normalization")}
    found = {
        name: in_process(main, name, options.labels, str(options.workers), json.dumps(given))
        for name in LIBRARIES
    }
    rows = [
        [name, f"{one['seconds']:.2f}", f"{one['cpu']:.2f}", *(f"{f1:.4f}" for f1 in one["scores"])]
        for name, one in found.items()
    ]
    header = ["", "seconds", "CPU", "macro-F1", "micro-F1"]
    about = f"{given}, {options.workers} threads"
    text = f"{about}\n{report.table(header, rows)}\n\n{NOTES}"
    results = {"benchmark": "embeddings", **given, "found": found}
    report.show(text, results, "embeddings", options)
    return 0


def read(path: str) -> tuple[Any, np.ndarray]:
    """Return the adjacency matrix of a file, and whether each vertex has each label."""
    from scipy.io import loadmat
    from scipy.sparse import csr_array

    try:
        stored = loadmat(path)
        return csr_array(stored["network"]), stored["group"].toarray().astype(bool)
    except (OSError, KeyError, ValueError) as error:
        raise UnusableInputError(f"{path} has no network with groups: {error}") from error


def ours(network: Any, threads: int, dimensions: int, **how: Any) -> Any:
    """Return a function that returns our vectors."""
    import dask
    import pandas as pd

    import dask_graphflow as gf

    dask.config.set(num_workers=threads)
    entries = network.tocoo()
    once = entries.row <= entries.col
    edges = pd.DataFrame({"source": entries.row[once], "target": entries.col[once]})
    graph = gf.Graph(edges, directed=False).persist()
    return lambda: graph.fast_rp(dimensions=dimensions, **how).compute().iloc[:, 1:].to_numpy()


def by_scipy(
    network: Any, threads: int, dimensions: int, weights: Any, normalization: float
) -> Any:
    """Return a function that returns the vectors of the authors' method."""
    degrees = np.maximum(np.diff(network.indptr), 1.0)

    def compute() -> Any:
        signs = np.random.default_rng(0).choice([1.0, 0, 0, 0, 0, -1], (len(degrees), dimensions))
        vectors, total = signs * degrees[:, None] ** normalization, np.zeros_like(signs)
        for weight in weights:
            vectors = (network @ vectors) / degrees[:, None]
            length = np.linalg.norm(vectors, axis=1, keepdims=True)
            total += weight * vectors / np.where(length == 0, 1, length)
        return total

    return compute


def tell_labels(vectors: Any, groups: np.ndarray) -> list[float]:
    """Return the macro-F1 and the micro-F1 of labels that are told from vectors."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import StandardScaler, normalize

    features = normalize(StandardScaler().fit_transform(vectors)) * np.sqrt(vectors.shape[1])
    scores = []
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(groups))
        known, others = np.split(order, [int(PART * len(order))])
        one = LogisticRegression(C=C, solver="liblinear")
        model = OneVsRestClassifier(one).fit(features[known], groups[known])
        likely = np.argsort(-model.predict_proba(features[others]), axis=1)
        most = np.arange(groups.shape[1]) < groups[others].sum(axis=1)[:, None]
        told = np.zeros_like(most)
        np.put_along_axis(told, likely, most, axis=1)
        scores.append([f1_score(groups[others], told, average=how) for how in ("macro", "micro")])
    return np.mean(scores, axis=0).tolist()


def main(name: str, path: str, threads: str, given: str) -> None:
    """Compute the vectors by one library, and print the seconds and how well labels are told."""
    network, groups = read(path)
    make = ours if name == LIBRARIES[0] else by_scipy
    compute = make(network, int(threads), **json.loads(given))
    times = []
    for _ in range(CALLS):
        began = time.perf_counter(), time.process_time()
        vectors = compute()
        times.append((time.perf_counter() - began[0], time.process_time() - began[1]))
    scores = tell_labels(vectors, groups)
    seconds, cpu = np.min(times, axis=0).tolist()
    print(json.dumps({"seconds": seconds, "cpu": cpu, "scores": scores}))
