"""Compare PageRank and breadth-first search on a graph split between CPU and GPUs with the CPU alone.

The CPU alone is one worker with all threads. It needs no messages, so it is the fastest way to use the CPU.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dask_graphflow.kernels import device_link

from . import report
from .errors import UnusableInputError

ITERATIONS = 20
ENDS = {"source": "src", "target": "dst"}
ALONE = "CPU alone"
END = 4  # bytes of an edge's end
ALIGNED = 1 << 20  # the size of a pool is a multiple of this many bytes
THIRD = 3  # a capped GPU has room for 1 / THIRD of the graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=22, help="2**scale ids (default 22)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--gpus", type=int, default=1, help="workers with one (default 1)")
    parser.add_argument("--threads", type=int, default=14, help="of the CPU's worker (default 14)")
    parser.add_argument("--shares", default="auto,0.33", help="of the GPUs: numbers, or auto")
    parser.add_argument("--placements", default="auto", help="see dask_graphflow.Hybrid")
    parser.add_argument("--questions", default="pagerank,bfs", help="pagerank, bfs or both")
    parser.add_argument(
        "--capped", action="store_true", help="let GPUs have a third of the graph's bytes"
    )
    parser.add_argument("--repeat", type=int, default=3, help="rounds, after one to warm up")


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    results = measure(options)
    name = f"hybrid-{options.gpus}-scale{options.scale}{'-capped' * options.capped}"
    report.show(show(results), results, name, options)
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time each algorithm on the CPU alone and on the split graph, in turn."""
    asked = options.questions.split(",")
    if options.repeat < 1 or options.gpus < 0 or not set(asked) <= {"pagerank", "bfs"}:
        raise UnusableInputError(
            "give --repeat 1 or more, --gpus 0 or more, --questions pagerank,bfs"
        )
    found = {}
    for name in asked:
        limit = room(name, options) if options.capped and options.gpus else None
        with (
            workers(0, options.threads) as alone,
            workers(options.gpus, options.threads, limit, cpus=1 if options.gpus else 2) as both,
        ):
            found[name] = {"limit": limit, **Question(name, alone, both, options).answer()}
    return {
        "benchmark": "hybrid",
        "gpus": options.gpus,
        "threads": options.threads,
        "graph": f"R-MAT scale {options.scale}, edge factor {options.edge_factor}",
        "edges": options.edge_factor << options.scale,
        "capped": options.capped,
        "questions": found,
    }


def room(name: str, options: argparse.Namespace) -> int:
    """Return a third of the bytes that the whole graph would take on a GPU."""
    from dask_graphflow.graph.shares import Size

    edges = options.edge_factor << options.scale
    size = Size(1 << options.scale, 2 * edges, 4 if name == "pagerank" else 8)
    return size.bytes() // THIRD // ALIGNED * ALIGNED


@contextmanager
def workers(gpus: int, threads: int, limit: int | None = None, cpus: int = 1) -> Iterator[Any]:
    """Start workers for the CPU, and one for each GPU with a memory limit in bytes."""
    from distributed import Client

    import dask_graphflow as gf

    own: dict[str, Any] = {}
    if gpus:
        # All members build their parts on the host, even those for a GPU.
        own["gpu_options"] = {"threads_per_worker": max(1, threads // 2)}
    if limit is not None:
        pool = {"rmm_pool_size": limit, "rmm_maximum_pool_size": limit}
        own["gpu_options"] |= {**pool, "rmm_allocator_external_lib_list": ["cupy"]}
    with (
        gf.hybrid_cluster(
            gpus,
            cpu_workers=cpus,
            threads=threads,
            dashboard_address=":0",
            memory_limit=None,
            **own,
        ) as made,
        Client(made, set_as_default=False) as client,
    ):
        client.wait_for_workers(gpus + cpus)
        yield client


class Question:
    """One algorithm on one graph, built by each cluster."""

    def __init__(self, name: str, alone: Any, both: Any, options: argparse.Namespace) -> None:
        self.name, self.alone, self.both, self.options = name, alone, both, options
        self.directed = name == "pagerank"
        # Measure the GPUs before they have copies of graphs, while there is room.
        self.calibrations = {client: self.calibrated(client) for client in (alone, both)}
        self.streams = (
            both.submit(device_link, resources={"GPU": 1}).result() if options.gpus else 0.0
        )
        self.edges = {client: self.generated(client) for client in (alone, both)}

    def answer(self) -> dict[str, Any]:
        """Return the measurements."""
        import dask_graphflow as gf

        parts: list[Any] = [s if s == "auto" else float(s) for s in self.options.shares.split(",")]
        placements = self.options.placements.split(",")
        made = {ALONE: self.built(self.alone, {"shards": 1})}
        for part, placement in itertools.product(parts, placements):
            shares = part if part == "auto" else {"gpu": part, "cpu": 1 - part}
            if part != "auto" and not self.options.gpus:
                shares = [part, 1 - part]
            how = {"hybrid": gf.Hybrid(shares, placement)}
            if not self.options.gpus:
                how["shards"] = 2
            made[f"{part} on GPUs, {placement}"] = self.built(self.both, how)
        self.start = self.begin()
        found: dict[str, Any] = {
            name: {"build": build, "seconds": [], "inside": [], "steps": None, "trace": None}
            for name, (_, _, build) in made.items()
        }
        results: dict[str, Any] = {}
        for turn in range(self.options.repeat + 1):
            for name, (client, graph, _) in made.items():
                # Make a different call each time, so that no known result is reused.
                seconds, result = self.ask(client, graph, 2 * turn)
                inside, steps, trace = self.inside(client, graph, 2 * turn + 1)
                if turn == 0:
                    results[name] = result
                    continue
                found[name]["seconds"].append(seconds)
                found[name]["inside"].append(inside)
                found[name] |= {"steps": steps, "trace": trace}
                print(f"{name}: {seconds:.3f} s, loop {inside:.3f} s, {steps}", flush=True)
        for name, (client, graph, _) in made.items():
            found[name]["same"] = results[name] == results[ALONE]
            if name != ALONE:
                with client.as_current():
                    layout = graph.layout().compute()
                found[name] |= {"shares": layout.share.tolist(), "beta": layout.beta.tolist()}
            found[name]["predicted"] = None
            if name != ALONE:
                found[name]["predicted"] = self.predicted(found[name])
        return {"constants": self.constants(), "contenders": found}

    def built(self, client: Any, how: dict[str, Any]) -> tuple[Any, Any, float]:
        """Build the graph; return its client, the graph, and the seconds."""

        import dask_graphflow as gf

        with client.as_current():
            began = time.perf_counter()
            graph = gf.Graph(self.edges[client], **ENDS, directed=self.directed, **how).persist()
            _ = graph.num_edges  # waits for the build
            seconds = time.perf_counter() - began
        print(f"{self.name}, {how}: built in {seconds:.1f} s", flush=True)
        return client, graph, seconds

    def calibrated(self, client: Any) -> Any:
        """Return the calibration of a cluster's workers and links."""
        import dask_graphflow as gf

        with client.as_current():
            return gf.calibrate(fresh=False, progress=False)

    def generated(self, client: Any) -> Any:
        """Return the edges on the workers of a cluster."""
        from distributed import wait

        import dask_graphflow as gf

        with client.as_current():
            edges = gf.generate.rmat(
                self.options.scale,
                edge_factor=self.options.edge_factor,
                npartitions=16,
                dtype="int32",
            ).persist()
            wait(edges)
        return edges

    def constants(self) -> dict[str, Any]:
        """Return the measured constants of the workers and their links, for a graph of this size.

        These are the edges per second of the CPU alone and of each member, the bytes per second and seconds
        per message between members, and the bytes per second that a GPU reads over its link.
        """
        vertices, kernel = 1 << self.options.scale, "pulls" if self.directed else "searches"
        (alone,), both = self.calibrations[self.alone].kinds, self.calibrations[self.both]
        kinds = sorted(both.kinds, key=lambda kind: not kind.device)
        members = [kind for kind in kinds for _ in range(kind.workers)]
        return {
            "alone": alone.rates.rate(kernel, vertices),
            "members": [member.rates.rate(kernel, vertices) for member in members],
            "c": both.links.c,
            "latency": both.links.latency,
            "streams": self.streams,
        }

    def predicted(self, one: dict[str, Any]) -> float | None:
        """Return the predicted speedup of the supersteps over the CPU alone.

        The prediction uses the constants. It also uses the shares, the bytes of the cut and which GPUs have
        no room for their edges, which are known once the graph is built. It is None for a search over the
        link, because the number of edges that it reads is not known in advance.
        """
        from dask_graphflow.graph.load_balance import makespan

        known = self.constants()
        entries = (self.options.edge_factor << self.options.scale) * (1 if self.directed else 2)
        linked = {row["member"]: row["linked"] for row in one["trace"]}
        if not self.directed and any(linked.values()):
            return None
        rates = [
            min(rate, known["streams"] / END) if linked[rank] else rate
            for rank, rate in enumerate(known["members"])
        ]
        spent = [one["steps"][rank] for rank in sorted(one["steps"])]
        steps, sweeps = spent[0]["supersteps"], ITERATIONS if self.directed else 1
        seconds = makespan(
            [sweeps * entries * share for share in one["shares"]],
            rates,
            [member["bytes"] for member in spent],
            c=known["c"],
        )
        seconds += (len(spent) > 1) * 2 * steps * known["latency"]
        return float(sweeps * entries / known["alone"] / seconds)

    def begin(self) -> int:
        """Return the vertex where searches start."""
        with self.alone.as_current():
            return int(self.edges[self.alone].partitions[0].head(1)["src"].iloc[0])

    def asked(self, graph: Any, number: int, *, trace: bool) -> Any:
        if self.name == "bfs":
            return graph.bfs(self.start, trace=trace, depth_limit=1000 + number)
        how = {"tol": None, "max_iter": ITERATIONS, "alpha": 0.85 + number * 1e-9}
        return graph.pagerank(trace=trace, **how)

    def ask(self, client: Any, graph: Any, number: int) -> tuple[float, Any]:
        """Compute the result; return the seconds, and a value to compare results by."""
        from distributed import wait

        with client.as_current():
            began = time.perf_counter()
            found = self.asked(graph, number, trace=False).persist()
            wait(found)
            seconds = time.perf_counter() - began
            column = "distance" if self.name == "bfs" else "pagerank"
            values = found[column].compute().to_numpy()
            return seconds, (len(values), hash(values.tobytes()))

    def inside(
        self, client: Any, graph: Any, number: int
    ) -> tuple[float, dict[str, Any], list[dict[str, Any]]]:
        """Return the seconds of the supersteps alone, how members spent them, and each superstep."""
        with client.as_current():
            _, steps = self.asked(graph, number, trace=True)
            steps = steps.compute()
        trace = steps.to_dict("records")
        if "member" not in steps:
            return float(steps.seconds.sum()), {"supersteps": len(steps)}, trace
        by = steps.groupby("member")
        spent = by[["compute", "communicate", "wait", "bytes"]].sum()
        spent["supersteps"] = by.size()
        return float(by.seconds.sum().max()), spent.to_dict("index"), trace


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    head = f"{results['graph']}: {results['edges']:,} edges; {results['gpus']} GPU and "
    head += f"{results['threads']} threads{', capped' * results['capped']}"
    parts = [head]
    for name, question in results["questions"].items():
        rows = []
        alone = question["contenders"][ALONE]
        for who, one in question["contenders"].items():
            shares = "-"
            if "shares" in one:
                shares = " ".join(f"{share:.4f}" for share in one["shares"])
            rows.append(
                [
                    who,
                    f"{one['build']:.2f}",
                    *milliseconds(one["seconds"]),
                    over(alone["seconds"], one["seconds"]),
                    *milliseconds(one["inside"]),
                    over(alone["inside"], one["inside"]),
                    "-" if one["predicted"] is None else f"{one['predicted']:.2f}",
                    shares,
                    "yes" if one["same"] else "NO",
                ]
            )
        header = [name, "build s", "ms", "faster", "loop ms", "faster", "said", "shares", "same"]
        parts.append("\n" + report.table(header, rows))
        parts += [
            f"{who}: {one['steps']}"
            for who, one in question["contenders"].items()
            if "shares" in one
        ]
        if question["limit"]:
            parts.append(f"GPUs may take {question['limit']:,} bytes")
    return "\n".join(parts)


def milliseconds(seconds: list[float]) -> list[str]:
    """Return the median in milliseconds."""
    return [f"{statistics.median(seconds) * 1e3:.1f}"]


def over(one: list[float], other: list[float]) -> str:
    """Return how many times as fast the other one is: the median of the ratios of all rounds."""
    return f"{statistics.median(a / b for a, b in zip(one, other, strict=True)):.2f}"
