"""The NetworkX backend beside NetworkX and nx-parallel, on graphs of several sizes."""

from __future__ import annotations

import argparse
import functools
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

from benchmarks.lib import report

LIMIT = 20.0  # seconds of a call that is measured
BUDGET = 1.0  # seconds of repeated calls
NOTES = f"""\
Milliseconds of one call in NetworkX, in nx-parallel if it is installed, in this backend with the conversion
of the graph, and in this backend with a graph that was converted before: the least of 2 to 5 calls within
{BUDGET:g} s. The last columns are NetworkX's time divided by those of the others; above 1, the other is
faster. Iterators are read to their ends. "-" was not measured: its times on smaller graphs predict more
than {LIMIT:g} s, or NetworkX or nx-parallel does not have the function. The last table has the numbers of
edges from which this backend is faster, interpolated between the sizes and rounded up to 1, 2 or 5 times a
power of ten; they are in ``_graphflow_networkx``. The graphs are random ones of Barabási and Albert, 8
edges per node. Functions of directed graphs get them with each edge in a random direction, and those of
acyclic graphs with each edge from the older to the newer node. Those of bipartite graphs get edges between
even and odd nodes."""

OTHERS = "nx-parallel", "with conversion", "converted"
K = {"betweenness_centrality": 16, "edge_betweenness_centrality": 16, "k_corona": 8, "k_truss": 4}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--edges", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6], help="sizes of graphs"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these functions only")


def run(options: argparse.Namespace) -> int:
    """Measure, print a table per size and store the results."""
    import networkx as nx

    from _graphflow_networkx import FUNCTIONS

    nx.config.warnings_to_ignore.add("cache")
    names, texts = options.only or [*FUNCTIONS], []
    seconds: dict[str, dict[int, dict[str, float]]] = {name: {} for name in names}
    for name in names:  # this compiles what is not in the cache
        contenders(name, graph_of(1000, kind_of(name)))["with conversion"]()
    for edges in options.edges:
        graphs = {kind: graph_of(edges, kind) for kind in {*map(kind_of, names)}}
        for name in names:
            found = seconds[name][edges] = {}
            for contender, call in contenders(name, graphs[kind_of(name)]).items():
                before = [
                    sizes[contender] for sizes in seconds[name].values() if contender in sizes
                ]
                if forecast(before, len(seconds[name]) - 1) <= LIMIT:
                    found[contender] = least_seconds(call)
            print(edges, name, {one: f"{value:.4f}" for one, value in found.items()}, flush=True)
        texts.append(f"{edges} edges\n{table(seconds, edges)}")
    texts.append(summary(seconds))

    about = {"edges": options.edges, "threads": options.workers, "seconds": seconds}
    report.show("\n\n".join([*texts, NOTES]), about, "networkx-backend", options)
    return 0


def forecast(before: list[float], sizes: int) -> float:
    """Return the seconds of a call as its times on smaller graphs predict; infinite if one is missing."""
    if len(before) < sizes:
        return math.inf
    growth = before[-1] / before[-2] if len(before) > 1 else 100
    return before[-1] * growth if before else 0


def graph_of(edges: int, kind: str) -> Any:
    """Return an undirected, directed or acyclic graph with weights, or a bipartite one."""
    import networkx as nx
    import numpy as np

    graph = nx.barabasi_albert_graph(max(9, edges // 8), 8, seed=1)
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 100, graph.number_of_edges()).tolist()
    turned = (rng.random(graph.number_of_edges()) < 0.5).tolist()
    directed = nx.DiGraph()
    directed.add_nodes_from(graph)
    for (a, b, data), weight, turn in zip(graph.edges(data=True), weights, turned, strict=True):
        data["weight"] = weight
        if kind != "undirected":
            ends = (b, a) if turn and kind == "directed" else (a, b)
            directed.add_edge(*ends, weight=weight)
    if kind == "bipartite":  # each edge joins an even and an odd node
        return nx.Graph((a, b if (a + b) % 2 else b ^ 1) for a, b in graph.edges())
    return graph if kind == "undirected" else directed


def kind_of(name: str) -> str:
    """Return on which kind of graph a function is measured."""
    if any(word in name for word in ("topological", "acyclic")):
        return "acyclic"
    if name in ("color", "is_bipartite", "sets") or name.endswith("_matching"):
        return "bipartite"
    words = (
        "weakly",
        "strongly",
        "in_degree",
        "out_degree",
        "attracting",
        "arborescence",
        "branching",
        "semi",
    )
    return "directed" if any(word in name for word in words) else "undirected"


def options_of(name: str, graph: Any) -> dict[str, Any]:
    """Return the options of a call: those that are required, and fewer sources for slow functions."""
    from _graphflow_networkx.backend import signature_of

    parameters = signature_of(name).parameters
    first, last = 0, len(graph) - 1
    options: dict[str, Any] = {
        "_s": first,
        "_t": last,
        "alpha": 0.01 if name == "katz_centrality" else None,
        "capacity": "weight",
        "cutoff": 2 if name == "all_simple_paths" else None,
        "communities": [set(range(part, len(graph), 8)) for part in range(8)],
        "distance": 2 if name == "descendants_at_distance" else None,
        "ebunch": [(node, (node + 7) % len(graph)) for node in range(len(graph))],
        "k": K.get(name),
        "length_bound": 3,
        "n": last,
        "seed": 1,
        "source": first,
        "sources": [first] if name != "harmonic_centrality" else None,
        "top_nodes": range(0, len(graph), 2) if name.endswith("_matching") else None,
        "target": None if "single_source" in name or name.startswith("shortest") else last,
    }
    return {
        option: value
        for option, value in options.items()
        if option in parameters and value is not None
    }


def contenders(name: str, graph: Any) -> dict[str, Callable[[], Any]]:
    """Return a call for each contender."""

    from _graphflow_networkx.backend import function_of

    function, options = function_of(name), options_of(name, graph)
    if name in ("single_target_shortest_path", "single_target_shortest_path_length", "ancestors"):
        options.pop("source" if "target" in name else "target", None)

    def with_conversion() -> Any:
        graph.__networkx_cache__.clear()
        return function(graph, backend="graphflow", **options)

    calls = {
        "with conversion": with_conversion,
        "converted": lambda: function(graph, backend="graphflow", **options),
    }
    others = {"NetworkX": "networkx", "nx-parallel": "parallel"}
    return {
        contender: functools.partial(function, graph, backend=backend, **options)
        for contender, backend in others.items()
        if backend in function.backends
    } | calls


def least_seconds(call: Callable[[], Any]) -> float:
    """Return the least time of 2 to 5 calls, which read what they return to its end."""
    times: list[float] = []
    while len(times) < 2 or (len(times) < 5 and sum(times) < BUDGET):
        begin = perf_counter()
        found = call()
        if isinstance(found, Iterator):
            deque(found, maxlen=0)
        times.append(perf_counter() - begin)
    return min(times)


def table(seconds: Mapping[str, Mapping[int, Mapping[str, float]]], edges: int) -> str:
    """Return the table of one size."""
    columns = ["NetworkX", *OTHERS]
    rows = []
    for name, sizes in seconds.items():
        found = sizes[edges]
        cells = [f"{found[one] * 1e3:.3g}" if one in found else "-" for one in columns]
        ratios = [
            f"{found['NetworkX'] / found[one]:.2f}" if {"NetworkX", one} <= found.keys() else "-"
            for one in OTHERS
        ]
        rows.append([name, *cells, *ratios])
    return report.table(["function", *columns, *(f"{one} x" for one in OTHERS)], rows)


def summary(seconds: Mapping[str, Mapping[int, Mapping[str, float]]]) -> str:
    """Return the table of the numbers of edges from which this backend is faster than NetworkX."""
    columns = OTHERS[1:]
    rows = []
    for name, sizes in seconds.items():
        least = [least_edges(sizes, contender) for contender in columns]
        rows.append([name, *("never" if one is None else f"{one:,}" for one in least)])
    return report.table(["least edges", *columns], rows)


def least_edges(sizes: Mapping[int, Mapping[str, float]], contender: str) -> int | None:
    """Return the number of edges from which a contender is faster than NetworkX; None for never."""
    speedups = [
        (edges, found["NetworkX"] / found[contender])
        for edges, found in sizes.items()
        if {"NetworkX", contender} <= found.keys()
    ]
    if not speedups or speedups[-1][1] < 1:
        return None
    slower = [at for at, (_, speedup) in enumerate(speedups) if speedup < 1]
    least = float(speedups[0][0])
    if slower:
        (few, below), (many, above) = speedups[slower[-1] : slower[-1] + 2]
        least = few * (many / few) ** (math.log(below) / math.log(below / above))
    power = 10 ** math.floor(math.log10(least))
    return next(int(step * power) for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))
