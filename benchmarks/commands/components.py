"""Compare connected components, from an edge list to labels, with other libraries."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import gpu, report
from benchmarks.lib.agreement import Agreement
from benchmarks.lib.errors import UnusableInputError
from benchmarks.lib.harness import Outcome, take_turns, timed, wait_until_forgotten
from benchmarks.peers import cugraph
from benchmarks.peers import host as peers

OURS, PROCESSES = "graphflow", "graphflow, processes"
PARTITIONS = 8
NOTES = f"""\
{OURS}: from a frame in memory to a frame of labels; {PROCESSES}: from a frame on workers of one
thread each to labels there. Peers start from arrays of ids, and pandas.factorize first numbers ids that
cannot be used as array indices, which counts. A ratio above 1 means that a peer takes longer. GAP: its
build and the fastest of its trials, without the reading of its file. All contenders take turns, after one
round to warm up, and all labels agree; GAP prints none."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="2**scale ids (default 20)")
    parser.add_argument("--graph", metavar="PATH", help="a Parquet graph instead of R-MAT")
    parser.add_argument("--source", default="src", help="column of --graph (default src)")
    parser.add_argument("--target", default="dst", help="column of --graph (default dst)")
    peers.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.repeat < 1 or not 4 <= options.scale <= 31:
        raise UnusableInputError("give --repeat 1 or more, and --scale from 4 to 31")
    if options.gpu:
        gpu.start(peer=cugraph.NAME in options.peers)
    title, frame = edges_of(options)
    agreement, failures = Agreement("partition"), dict[str, str]()
    with ExitStack() as stack:
        contenders = contenders_of(frame, options, stack)
        seconds = take_turns(contenders, options.repeat, agreement, failures)
        peaks = {name: gpu.peak(contenders[name]) for name in seconds} if options.gpu else {}
    size = int(frame.memory_usage(index=False, deep=True).sum())
    results = {
        "benchmark": "components",
        "graph": title,
        "gpu": options.gpu,
        "edges": len(frame),
        "input_bytes": size,
        "workers": options.workers,
        "seconds": seconds,
        "failures": failures,
        "peaks": peaks,
        "differs": agreement.differs,
    }
    columns = {"labels": agreement.answers}
    if options.gpu:
        columns["peak / input"] = {name: f"{peak / size:.2f}" for name, peak in peaks.items()}
    text = f"{title}: {len(frame):,} edges, {report.mib(size)}; cores: {options.workers}\n\n"
    text += report.comparison(seconds, OURS, columns, failures | agreement.differs)
    short = Path(options.graph).stem if options.graph else f"scale{options.scale}"
    report.show(f"{text}\n\n{NOTES}", results, f"components-{'gpu-' * options.gpu}{short}", options)
    return int(bool(agreement.differs))


def edges_of(options: argparse.Namespace) -> tuple[str, Any]:
    """Return the name of the graph, and its edges in the memory of the host or of the device."""
    if options.graph is None and options.gpu:
        edges = gpu.rmat(options.scale, parts=PARTITIONS, weighted=False)
        return f"R-MAT scale {options.scale}", edges.compute(scheduler="sync")
    if options.graph is None:
        lazy = gf.generate.rmat(options.scale)
        title, columns = f"R-MAT scale {options.scale}", ["src", "dst"]
    else:
        try:
            lazy = dd.read_parquet(options.graph)
        except OSError as error:
            raise UnusableInputError(
                f"{options.graph} cannot be read as Parquet: {error}"
            ) from error
        title, columns = Path(options.graph).name, [options.source, options.target]
        if missing := [name for name in columns if name not in lazy.columns]:
            raise UnusableInputError(
                f"{options.graph} has no column {missing[0]!r}; it has {', '.join(lazy.columns)}: "
                "name two with --source and --target"
            )
    frame = lazy[columns].compute(scheduler="threads").reset_index(drop=True)
    frame = frame.set_axis(["src", "dst"], axis=1).dropna()
    if not len(frame):
        raise UnusableInputError(f"{title} has no edges")
    if not options.gpu:
        return title, frame
    import cudf

    return title, cudf.DataFrame(frame)


def contenders_of(
    frame: Any, options: argparse.Namespace, stack: ExitStack
) -> dict[str, Callable[[], Outcome]]:
    """Return this library and the peers that can run, and print the reasons of the others."""
    if options.gpu:
        made = {OURS: partial(labels, frame, scheduler="sync", wait=gpu.wait)}
        if cugraph.NAME in options.peers:
            made[cugraph.NAME] = partial(cugraph_labels, frame)
        return made
    threads = {"scheduler": "threads", "num_workers": options.workers}
    # dd.from_pandas would list the whole index as Python numbers in the first round.
    lazy = dd.from_pandas(frame, npartitions=PARTITIONS, sort=False).persist(**threads)
    made = {
        OURS: partial(labels, lazy, **threads),
        PROCESSES: partial(labels_on_workers, *_workers(frame, options.workers, stack)),
    }
    for peer in peers.started(options, None, stack):
        made[peer.name] = partial(peer_labels, peer, frame)
    return made


def labels(edges: Any, wait: Callable[[], object] = lambda: None, **how: Any) -> Outcome:
    """Find the labels, in the order of the vertices."""
    lazy = partial(gf.connected_components, edges, source="src", target="dst")
    outcome = timed(lambda: lazy().compute(**how), wait)
    return Outcome(outcome.seconds, whole_numbers(outcome.answer["component"]))


def _workers(frame: pd.DataFrame, workers: int, stack: ExitStack) -> tuple[Any, Any]:
    from distributed import Client, wait

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="graphflow-edges-"))
    dd.from_pandas(frame, npartitions=PARTITIONS, sort=False).to_parquet(
        folder, compute_kwargs={"scheduler": "threads"}
    )
    cluster = stack.enter_context(gpu.cluster(workers, on_gpu=False))
    client = stack.enter_context(Client(cluster, set_as_default=False))
    with client.as_current(), dask.config.set(scheduler="dask.distributed"):
        edges = dd.read_parquet(folder).persist()
        wait(edges)
    return client, edges


def labels_on_workers(client: Any, edges: Any) -> Outcome:
    """Find the labels on a cluster, and fetch them after the timing."""
    from distributed import futures_of, wait

    wait_until_forgotten(client, len(futures_of(edges)))

    def work() -> Any:
        kept = gf.connected_components(edges, source="src", target="dst").persist()
        wait(kept)
        return kept

    with client.as_current(), dask.config.set(scheduler="dask.distributed"):
        outcome = timed(work)
        return Outcome(outcome.seconds, whole_numbers(outcome.answer["component"].compute()))


def cugraph_labels(frame: Any) -> Outcome:
    """Build a graph of cuGraph and find its components."""
    with gpu.peer_errors():
        import cugraph as peer

        def work() -> Any:
            return peer.weakly_connected_components(cugraph.build(frame, directed=False))

        outcome = timed(work, gpu.wait)
        labels = outcome.answer.sort_values("vertex")["labels"]
        return Outcome(outcome.seconds, whole_numbers(labels))


def peer_labels(peer: Any, frame: pd.DataFrame) -> Outcome:
    """Number the ids if necessary, then build a graph and find its components in the peer's process."""
    numbering = timed(lambda: numbered(frame))
    source, target, ids = numbering.answer
    if isinstance(peer, peers.Gap):
        return Outcome(numbering.seconds + peer.components(source, target).seconds)
    path = peer.folder / "edges.npz"
    if not path.exists():
        size = len(ids) if ids is not None else int(max(source.max(), target.max())) + 1
        np.savez(path, vertices=size, directed=False, source=source, target=target)
    outcome = peer.ask("connected_components", "edges", {}, wanted=True, from_edges=True)
    order = np.unique(np.concatenate([source, target])) if ids is None else np.argsort(ids)
    return Outcome(numbering.seconds + outcome.seconds, outcome.answer[order])


def numbered(frame: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Return sources and targets as array indices, and the ids in the order of their numbers.

    There are no ids if they can be used as array indices themselves.
    """
    ends = frame["src"], frame["dst"]
    if all(end.dtype.kind in "iu" and end.min() >= 0 and end.max() < 2 * len(end) for end in ends):
        return ends[0].to_numpy(), ends[1].to_numpy(), None
    numbers, ids = pd.factorize(pd.concat(ends, ignore_index=True))
    return numbers[: len(frame)], numbers[len(frame) :], np.asarray(ids)


def whole_numbers(labels: Any) -> Any:
    """Return labels as an array of whole numbers: unchanged, or in the order in which they first occur."""
    if labels.dtype.kind in "iu":
        return labels.values
    return pd.factorize(labels.to_pandas() if hasattr(labels, "to_pandas") else labels)[0]
