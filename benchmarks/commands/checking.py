"""How long does it take to check a saved graph, beside reading its files and calling functions?"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lib import control_group, report
from benchmarks.lib.harness import in_process

NOTES = """\
The medians of the repetitions. Each load and its call are a process of their own. "load" maps the files and
checks them; "without the check", it only maps them. The files are in Linux's cache unless the line says
"cold". "read" reads the files without looking at their bytes."""
DEGREE = 24
WRITE = "write"
CALLS = {"degrees": "g.degrees()", "pagerank": "g.pagerank(max_iter=10, tol=None)"}
PIECE = 1 << 23  # bytes of a plain read at a time
CHUNK = 1 << 16  # rows that are made at a time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--edges", type=int, default=100_000_000, help="edges (100,000,000)")
    parser.add_argument("--repeats", type=int, default=3, help="repetitions (3)")
    parser.add_argument("--folder", help="where to make the graph (a temporary folder)")


def run(options: argparse.Namespace) -> int:
    """Save a random graph, measure loads and calls, print the results and store them."""
    took: dict[str, list[Any]] = {}
    threads = str(options.workers)
    with tempfile.TemporaryDirectory(prefix="graphflow-checking-", dir=options.folder) as folder:
        saved = str(Path(folder, "graph"))
        about = in_process(main, WRITE, saved, str(options.edges))
        for _ in range(options.repeats):
            took.setdefault("read, cold", []).append(plain_read(saved, cold=True))
            took.setdefault("read", []).append(plain_read(saved))
            for call in CALLS:
                for check in ("checked", "unchecked"):
                    load, answer = in_process(main, call, saved, threads, check, "warm")
                    took.setdefault(f"load, {check}", []).append(load)
                    took.setdefault(f"{call}, {check}", []).append(load + answer)
            load, _ = in_process(main, "degrees", saved, threads, "checked", "cold")
            took.setdefault("load, checked, cold", []).append(load)
    seconds = {name: statistics.median(values) for name, values in took.items()}
    pairs = [("read", "read"), ("load", "load"), *((f"load and {call}", call) for call in CALLS)]
    rows = []
    for name, key in pairs:
        checked, plain = (seconds.get(f"{key}, {how}") for how in ("checked", "unchecked"))
        if checked is None or plain is None:
            rows.append([name, f"{seconds[key]:.2f}", "", ""])
        else:
            rows.append([name, f"{checked:.2f}", f"{plain:.2f}", f"{checked / plain:.2f}"])
    rows.append(["read, cold", f"{seconds['read, cold']:.2f}", "", ""])
    rows.append(["load, cold", f"{seconds['load, checked, cold']:.2f}", "", ""])
    header = ["", "seconds", "without the check", "ratio"]
    text = (
        f"{about['edges']:,} directed edges of {about['vertices']:,} vertices, "
        f"{about['bytes'] / 1e9:.2f} GB\n{report.table(header, rows)}\n\n{NOTES}"
    )
    results = {"benchmark": "checking", "threads": options.workers, **about, "seconds": took}
    report.show(text, results, "checking", options)
    return 0


def plain_read(folder: str, *, cold: bool = False) -> float:
    """Return the seconds in which the files of a folder can be read."""
    files, buffer = [*Path(folder).iterdir()], bytearray(PIECE)
    if cold:
        for path in files:
            control_group.forget(path)
    began = time.perf_counter()
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    return time.perf_counter() - began


def write(path: str, edges: str) -> None:
    """Save a directed graph of random edges without building it; all vertices have the same out-degree."""
    from scipy.sparse import csr_array

    from dask_graphflow.exceptions import OutputError
    from dask_graphflow.graph import partition
    from dask_graphflow.kernels.csr import Rows
    from dask_graphflow.storage import folders, id_files
    from dask_graphflow.storage.manifest import VERSION, Manifest
    from dask_graphflow.storage.stored_range import Contents

    vertices, rng = int(edges) // DEGREE, np.random.default_rng(0)
    ends = np.empty((vertices, DEGREE), "int32")
    for low in range(0, vertices, CHUNK):
        some = ends[low : low + CHUNK]
        some[:] = np.sort(rng.integers(0, vertices, some.shape, "int32"), axis=1)
    ends = ends.reshape(-1)
    offsets = np.arange(0, len(ends) + 1, DEGREE, dtype="int64")
    turned = csr_array(
        (np.ones(len(ends), "int8"), ends, offsets.astype("int32")), shape=(vertices,) * 2
    ).tocsc()
    rows = {
        "out": Rows(offsets, ends, None, 0),
        "into": Rows(turned.indptr.astype("int64"), turned.indices, None, 0),
    }
    folder, token = folders.Folder.of(path, None, OutputError), "0" * 32
    folders.make_folder(folder)
    one = id_files.write_range(folder, token, 0, Contents(None, None, rows))
    grains = id_files.write_grains(folder, token, id_files.by_grain(rows))
    manifest = Manifest(
        VERSION, token, token, True, "keep", 1, vertices, len(ends), vertices, 0, ["int64"], None,
        ["src"], ["dst"], None, True, partition.GRAIN, grains, [one],
    )  # fmt: skip
    folders.write_manifest(folder, manifest)
    print(json.dumps({"edges": len(ends), "vertices": vertices, "bytes": one.size + grains.size}))


def main(what: str, path: str, number: str, check: str = "", state: str = "") -> None:
    """Save a graph of a number of edges; or load it and make a call, and print the seconds of both."""
    if what == WRITE:
        write(path, number)
        return
    import dask

    import dask_graphflow as gf
    from dask_graphflow.storage.checksums import Version

    dask.config.set(num_workers=int(number))
    g = gf.Graph([(0, 1)])
    eval(CALLS[what]).compute()  # loads the compiled kernels
    if check == "unchecked":
        Version.is_checked = lambda *_: True
    if state == "cold":
        for file in Path(path).iterdir():
            control_group.forget(file)
    began = time.perf_counter()
    g = gf.load_graph(path, shards=1).persist()
    loaded = time.perf_counter()
    eval(CALLS[what]).compute()
    print(json.dumps([loaded - began, time.perf_counter() - loaded]))
    del g
