"""A random call of each function, with options at their limits, and what NetworkX or a definition says."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import networkx as nx
import numpy as np

from dask_graphflow.exceptions import (
    ConvergenceError,
    CycleError,
    EdgeListError,
    GraphflowError,
    OptionError,
    UnknownVertexError,
    WeightError,
)
from dask_graphflow.operators.priorities import priorities

from .cases import Outcome, Wrong
from .networks import NAMES_VERTICES, WEIGHS_VERTICES, Asker, Network, same


@dataclass(frozen=True)
class Oracle:
    """How the answer of a function is checked.

    Attributes
    ----------
    check : callable
        Returns the rows of the answer, or checks it and returns None.
    options : dict
        The values of each option: valid ones and invalid ones, or a function that draws a value.
    weights : {"any", "ignored", "positive", "sums"}
        Whether weights can be any numbers, are ignored, or are added up, so that negative weights and
        those that are not finite are refused. "positive" also refuses weights of 0.
    rtol, atol : float
        By how much numbers may differ.
    """

    check: Callable[..., Any]
    options: dict[str, Any]
    weights: str
    rtol: float
    atol: float


ORACLES: dict[str, Oracle] = {}


def oracle(
    weights: str = "ignored", rtol: float = 1e-9, atol: float = 1e-12, **options: Any
) -> Any:
    def declare(check: Callable[..., Any]) -> Callable[..., Any]:
        ORACLES[check.__name__] = Oracle(check, options, weights, rtol, atol)
        return check

    return declare


def some(rng: Random, network: Network) -> list[int]:
    """Draw vertices: repeated ones, rarely unknown ones or none."""
    pool = network.vertices if network.vertices and rng.random() < 0.95 else range(200)
    return rng.choices(pool, k=rng.choice([0, *[1, 1, 2, 4] * 6]))


def maybe(draw: Callable[..., Any]) -> Callable[..., Any]:
    return lambda rng, network: draw(rng, network) if rng.random() < 0.5 else None


def weighed(rng: Random, network: Network) -> dict[int, float]:
    return {v: rng.choice([0.0, 1.0, 2.5, 1e-9]) for v in some(rng, network)}


def paired(rng: Random, network: Network) -> list[tuple[int, int]]:
    return list(zip(some(rng, network), some(rng, network), strict=False))


def labeled(rng: Random, network: Network) -> list[tuple[int, int]]:
    """Draw a community per vertex; rarely, one is missing, repeated or of an unknown vertex."""
    found = [(v, rng.choice([-3, 0, 7, 2**60])) for v in network.vertices]
    return found + rng.choices([*found, (300, 1)], k=1) if rng.random() < 0.05 else found


FLAG = [False, True], [None, 1, "yes"]
SEED = [0, 1, 2**40], [-1, 0.5, None]
SAMPLE = [None, None, 1, 2, 5, 10**12], [0, -1, 1.5, True]
DAMPING = [0.85, 0, 0.0, 0.5, 0.99, 1], [-0.1, 1.1, math.nan, None]
CONVERGENCE = {
    "max_iter": ([1, 100, 10_000], [0, -1, 1.5, None]),
    "fail_on_nonconvergence": FLAG,
}
TOL = [1e-6, 1e-3, 1e-11, 0.7, 1e-300, math.inf], [0, 0.0, -1.0, math.nan, "small"]
TOL_OR_NONE = [*TOL[0], None], TOL[1]
MEASURES = ["jaccard", "sorensen", "overlap", "cosine"]
WITHOUT_WEIGHTS = [
    "cosine",
    "adamic_adar",
    "common_neighbors",
]  # measures that are not defined with them
RESOLUTION = [1.0, 1, 0.01, 50, 1e-9, 1e9, [0.5, 2.0]], [0, -1.0, math.nan, [], [1.0, 1.0], [-1.0]]
COMMUNITIES = {"tol": ([1e-7, 0, 0.5, math.inf], [-1e-9, math.nan, None]), "seed": SEED,
               "levels": ([1, 2, 5, 40], [0, -1, 1.5])}  # fmt: skip

#: Functions that never follow an edge whose weight is infinite.
MAY_BE_INFINITE = "closeness_centrality", "harmonic_centrality", "shortest_paths", "sssp"


def options_of(name: str, rng: Random, network: Network) -> dict[str, Any]:
    """Draw the options of a call; those that name vertices are always given unless None is allowed."""
    found = {}
    for option, values in ORACLES[name].options.items():
        if callable(values):
            value = values(rng, network)
            if value is not None:
                found[option] = value
        elif rng.random() < 0.6 or option == "length" or (name, option) == ("k_truss", "k"):
            found[option] = rng.choice(values[1] if rng.random() < 0.03 else values[0])
    if found.get("fanouts") == [2**62]:
        found.pop("replace", None)  # the sample would have as many edges
    return found


def refusals(name: str, network: Network, options: dict[str, Any]) -> set[type[GraphflowError]]:
    """Return the errors of which a call must raise one; none if the call is valid."""
    found: set[type[GraphflowError]] = set()
    vertices = {*network.vertices}
    for option, value in options.items():
        values = ORACLES[name].options[option]
        if not callable(values):
            if repr(value) in map(repr, values[1]):
                found.add(OptionError)
            continue
        named = {v for pair in value for v in pair} if option == "pairs" else {*value}
        if option == "communities":
            named = {v for v, _ in value}
            if named != vertices or len(value) > len(named):
                found |= {EdgeListError, UnknownVertexError}
        elif not named <= vertices and (name, option) != ("shortest_paths", "targets"):
            found.add(UnknownVertexError)
        if option in (*NAMES_VERTICES, "pairs") and not value:
            found.add(EdgeListError)
        if option in WEIGHS_VERTICES and not sum(value.values()):
            found |= {EdgeListError, OptionError}
    if name == "sssp" and not network.weighted:
        found.add(WeightError)
    both = [("pairs", "top_k"), *([("k", "sources")] if "betweenness" in name else [])]
    if any(options.get(a) is not None and options.get(b) is not None for a, b in both):
        found.add(OptionError)
    if name == "similarity" and network.weighted and options.get("measure") in WITHOUT_WEIGHTS:
        found.add(OptionError)
    weights = ORACLES[name].weights
    bad = [w for w in network.weights if not 0 <= w < math.inf]
    if weights == "sums" and bad and not (name in MAY_BE_INFINITE and math.inf in bad):
        found.add(WeightError)
    if weights == "positive" and (bad or 0 in network.weights):
        found.add(WeightError)
    if any(map(math.isnan, network.weights)):
        found.add(WeightError)
    return found


def verify(name: str, asker: Asker, network: Network, options: dict[str, Any]) -> Outcome:
    """Make a call and check the answer or the error.

    Raises
    ------
    Wrong
        The answer is wrong, or a valid call was refused, or an invalid one was not.
    """
    declared, refused = ORACLES[name], refusals(name, network, options)
    try:
        found = asker.ask(name, network, **options)
    except GraphflowError as error:
        if type(error) in refused or may_fail(name, network, options, error):
            return Outcome("refused", f"{type(error).__name__}: {error}")
        raise Wrong(f"a valid call was refused: {type(error).__name__}: {error}") from error
    if refused:
        raise Wrong(f"an invalid call was not refused: expected one of {refused}, found\n{found}")
    rows = list(found.itertuples(index=False, name=None))
    expected = declared.check(network, options, rows)
    if isinstance(expected, dict):
        expected = [(v, *np.atleast_1d(expected[v]).tolist()) for v in sorted(expected)]
    if expected is not None and not same(rows, expected, declared.rtol, declared.atol):
        raise Wrong(f"found {rows}, expected {expected}")
    return Outcome(f"right {name}")


def may_fail(name: str, network: Network, options: dict[str, Any], error: GraphflowError) -> bool:
    """Say whether a valid call may raise this error.

    It may if it does not converge, if weights differ much, or if the graph has a cycle.
    """
    if isinstance(error, CycleError):
        return name == "topological_order" and not nx.is_directed_acyclic_graph(
            _with_loops(network)
        )
    if isinstance(error, ConvergenceError) and "max_iter" in ORACLES[name].options:
        if name == "katz_centrality" and not _bounded(
            options.get("alpha", 0.1) * network.matrix().T
        ):
            return True
        return options.get("fail_on_nonconvergence", True) and not converges(name, network, options)
    spread = [w for w in network.weights if w]
    return isinstance(error, WeightError) and bool(spread) and max(spread) / min(spread) > 2.0**50


def expect(condition: Any, message: str) -> None:
    if not condition:
        raise Wrong(message)


def distances(network: Network, sources: list[int], *, hops: bool = True) -> dict[int, float]:
    """Return the distance from the nearest source to each vertex, if it is finite."""
    graph = network.lightest()
    weight = (lambda a, b, edge: 1) if hops else "weight"
    reach = nx.multi_source_dijkstra_path_length(graph, {*sources}, weight=weight)
    return {v: distance for v, distance in reach.items() if distance < math.inf}


def sample(network: Network, o: dict[str, Any]) -> list[int]:
    """Return the sources of a sample. Which ones they are is up to the library."""
    k, every = o.get("k"), network.vertices
    if k is None or k >= len(every):
        return every
    order = np.argsort(priorities(np.arange(len(every)), o.get("seed", 0)))
    return [every[i] for i in order[:k]]


class Chosen(Random):
    """Lets NetworkX take the vertices of a sample."""

    def __init__(self, chosen: list[int]) -> None:
        super().__init__()
        self.chosen = chosen

    def sample(self, population: Any, k: Any, **_: Any) -> Any:
        return self.chosen


@oracle("positive", k=SAMPLE, sources=maybe(some), normalized=FLAG, endpoints=FLAG, seed=SEED)
def betweenness_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return between(nx.betweenness_centrality, net, o)


@oracle("positive", k=SAMPLE, sources=maybe(some), normalized=FLAG, seed=SEED)
def edge_betweenness_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, graph = between(nx.edge_betweenness_centrality, net, o), net.lightest()
    ends = {edge: edge if net.directed else tuple(sorted(edge)) for edge in found}
    weight = {edge: (graph.edges[edge]["weight"],) if net.weighted else () for edge in found}
    return sorted((*ends[edge], *weight[edge], value) for edge, value in found.items())


def between(function: Callable[..., Any], net: Network, o: dict[str, Any]) -> Any:
    chosen = sorted({*o["sources"]}) if "sources" in o else sample(net, o)
    how: dict[str, Any] = {name: o[name] for name in ("normalized", "endpoints") if name in o}
    how["k"] = None if len(chosen) == len(net.vertices) else len(chosen)
    graph = net.lightest() if net.weighted else net.graph()
    how["weight"] = "weight" if net.weighted else None
    return function(graph, seed=Chosen(chosen), **how)


def searched(net: Network, o: dict[str, Any], rows: Any, *, hops: bool) -> Any:
    if o.get("by_source"):
        sources = [source for source, *_ in rows]
        expect(sources == sorted(sources), f"sources {sources}")
        expect({*sources} <= {*o["sources"]}, f"sources {sources}")
        for source in {*o["sources"]}:
            own = [row for first, *row in rows if first == source]
            searched(net, o | {"sources": [source], "by_source": False}, own, hops=hops)
        return
    limit = o.get("depth_limit" if hops else "cutoff")
    reach = distances(net, o["sources"], hops=hops)
    reach = {v: d for v, d in reach.items() if limit is None or d <= limit * (1 + 1e-12)}
    near, sources = net.near(), {*o["sources"]}
    for vertex, distance, before in rows:
        if before < 0:
            expect(vertex in sources or not distance, f"no predecessor of {vertex}")
            continue
        steps = [1 if hops else w for b, w in near[before] if b == vertex]
        best = min((abs(reach[before] + w - distance) for w in steps), default=math.inf)
        expect(best <= 1e-9 * max(1, distance), f"predecessor {before} of {vertex} at {distance}")
    wanted = o.get("targets", list(reach))
    kind = int if hops else float
    compared = [(v, d) for v, d, _ in rows]
    expected = [(v, kind(reach[v])) for v in sorted({*wanted} & {*reach})]
    expect(same(compared, expected, 1e-9), f"found {compared}, expected {expected}")


@oracle(sources=some, targets=maybe(some), depth_limit=([None, 0, 1, 3, 10**12], [-1, 1.5]),
        direction=(["beamer", "gemini", "push", "pull"], ["up", None]), by_source=FLAG)  # fmt: skip
def bfs(net: Network, o: dict[str, Any], rows: Any) -> None:
    searched(net, o, rows, hops=True)


@oracle("sums", sources=some, targets=maybe(some),
        cutoff=([None, 0, 0.0, 2.5, 1e300, math.inf], [-1.0, math.nan, "far"]), by_source=FLAG)  # fmt: skip
def sssp(net: Network, o: dict[str, Any], rows: Any) -> None:
    searched(net, o, rows, hops=False)


@oracle("sums", sources=some, targets=some)
def shortest_paths(net: Network, o: dict[str, Any], rows: Any) -> None:
    hops, near, paths = not net.weighted, net.near(), defaultdict(list)
    reach = distances(net, o["sources"], hops=hops)
    for target, step, vertex in rows:
        expect(step == len(paths[target]), f"step {step} of the path to {target}")
        paths[target].append(vertex)
    expect(list(paths) == sorted({*o["targets"]} & {*reach}), f"paths to {list(paths)}")
    for target, path in paths.items():
        expect(path[0] in o["sources"] and path[-1] == target, f"path {path} to {target}")
        length = sum(min(1 if hops else w for v, w in near[a] if v == b)
                     for a, b in pairwise(path))  # fmt: skip
        expect(math.isclose(length, reach[target], abs_tol=1e-9), f"length {length} of {path}")


def near_counts(net: Network, o: dict[str, Any]) -> tuple[Any, Any]:
    """Return the distances from sampled vertices that reach each vertex, and how many could."""
    chosen = sample(net, o)
    found: dict[int, list[float]] = {v: [] for v in net.vertices}
    for source in chosen:
        for v, d in distances(net, [source], hops=not net.weighted).items():
            found[v] += [d] if v != source else []
    return found, {v: max(1, len(chosen) - (v in chosen)) for v in found}


@oracle("sums", wf_improved=FLAG, k=SAMPLE, seed=SEED)
def closeness_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, others = near_counts(net, o)
    share = {v: len(d) / others[v] if o.get("wf_improved", True) else 1.0 for v, d in found.items()}
    return {v: share[v] * len(d) / sum(d) if sum(d) else 0.0 for v, d in found.items()}


@oracle("sums", k=SAMPLE, seed=SEED)
def harmonic_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, others = near_counts(net, o)
    scale = {v: max(1, len(found) - 1) / others[v] for v in found}
    return {v: scale[v] * sum(1 / x for x in d if x) for v, d in found.items()}


@oracle()
def clustering(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, found = net.graph(), {}
    if not net.directed:
        return {v: float(c) for v, c in nx.clustering(graph).items()}
    for v in graph:
        near = {*nx.all_neighbors(graph, v)}
        edges = graph.subgraph(near).number_of_edges()
        found[v] = edges / max(1, len(near) * (len(near) - 1))
    return found


def modularity(
    net: Network, label: dict[int, Any], resolution: float = 1.0
) -> dict[Any, tuple[float, ...]]:
    """Return (size, internal, cut, total degree, part of the modularity) of each community."""
    inside, volume, size = Counter[Any](), Counter[Any](), Counter(label.values())
    skew = Counter[Any]()  # weight that leaves a community, less that which enters it
    for a, b, w in net.edges:
        w = w if net.weighted else 1.0
        volume.update({label[a]: w})
        volume.update({label[b]: w})
        if net.directed:
            skew[label[a]] += w
            skew[label[b]] -= w
        inside[label[a]] += w * (label[a] == label[b])
    total = math.fsum(volume.values()) or 1.0
    return {c: (size[c], inside[c], volume[c] - 2 * inside[c], volume[c],
                2 * inside[c] / total
                - resolution * ((volume[c] / total) ** 2 - (skew[c] / total) ** 2))
            for c in sorted(size)}  # fmt: skip


@oracle("sums", communities=labeled)
def community_metrics(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, expected = modularity(net, dict(o["communities"])), []
    total = sum(volume for *_, volume, _ in found.values())
    kind = float if net.weighted else int
    for c, (size, inside, cut, volume, part) in found.items():
        least = min(volume, total - volume)
        density = inside / (size * (size - 1) / 2) if size > 1 else 0.0
        conductance = cut / least if least > 0 else 0.0
        expected.append((c, size, kind(inside), kind(cut), density, conductance, part))
    return expected


def _smallest(parts: Any) -> dict[int, int]:
    return {v: min(part) for part in map(list, parts) for v in part}


@oracle()
def connected_components(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return _smallest(nx.connected_components(net.graph(directed=False)))


@oracle()
def strongly_connected_components(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return _smallest(nx.strongly_connected_components(net.graph().to_directed()))


def _with_loops(net: Network) -> Any:
    graph = net.graph().to_directed()
    graph.add_edges_from((a, b) for a, b, _ in net.edges)
    return graph


@oracle()
def topological_order(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = _with_loops(net)
    expect(nx.is_directed_acyclic_graph(graph), "the graph has a cycle")
    return {v: i for i, some in enumerate(nx.topological_generations(graph)) for v in some}


@oracle()
def bridges(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = nx.MultiGraph([(a, b) for a, b, _ in net.edges if a != b])
    return sorted(tuple(sorted(pair)) for pair in nx.bridges(graph))


@oracle()
def articulation_points(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = net.graph(directed=False)
    points = {*nx.articulation_points(graph)}
    return {v: v in points for v in graph}


@oracle()
def core_number(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return nx.core_number(net.graph())


@oracle("any", k=([None, 0, 1, 2, 3, 10**12], [-1, 1.5, "2"]))
def k_core(net: Network, o: dict[str, Any], rows: Any) -> Any:
    core, k = nx.core_number(net.graph()), o.get("k")
    k = max(core.values(), default=0) if k is None else k
    return net.rows(lambda a, b: core[a] >= k and core[b] >= k)


@oracle("any", k=([2, 3, 4, 5, 10**12], [1, 0, -1, 2.5, None]))
def k_truss(net: Network, o: dict[str, Any], rows: Any) -> Any:
    pairs = {frozenset(edge) for edge in nx.k_truss(net.graph(directed=False), o["k"]).edges}
    return net.rows(lambda a, b: frozenset((a, b)) in pairs)


@oracle()
def truss_number(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, found, k = net.graph(directed=False), {}, 2
    while graph := nx.k_truss(graph, k):
        found |= {tuple(sorted(edge)): k for edge in graph.edges}
        k += 1
    return [(a, b, found[a, b]) for a, b in sorted(found)]


@oracle()
def triangle_count(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return nx.triangles(net.graph(directed=False))


@oracle()
def degrees(net: Network, o: dict[str, Any], rows: Any) -> Any:
    leaving = {v: len(ends) for v, ends in net.near().items()}
    entering = Counter(b for _, b, _ in net.edges)
    return {v: (entering[v], leaving[v]) for v in leaving} if net.directed else leaving


@oracle()
def degree_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = nx.MultiDiGraph() if net.directed else nx.MultiGraph()
    graph.add_nodes_from(net.vertices)
    graph.add_edges_from(edge[:2] for edge in net.edges)
    names = ["degree", "in_degree", "out_degree"] if net.directed else ["degree"]
    found = [getattr(nx, f"{name}_centrality")(graph) for name in names]
    return {v: [float(scores[v]) for scores in found] for v in graph}


@oracle("any", centers=some, radius=([0, 1, 2, 10**12], [-1, 0.5, None]))
def ego_graph(net: Network, o: dict[str, Any], rows: Any) -> Any:
    reach = {v for v, d in distances(net, o["centers"]).items() if d <= o.get("radius", 1)}
    return net.rows(lambda a, b: {a, b} <= reach)


@oracle("any", subset=some)
def induced_subgraph(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return net.rows(lambda a, b: {a, b} <= {*o["subset"]})


@oracle("any", sources=some)
def neighbors(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return net.rows(lambda a, b: a in o["sources"] or (not net.directed and b in o["sources"]))


@oracle("any")
def minimum_spanning_forest(net: Network, o: dict[str, Any], rows: Any) -> Any:
    edges = [(w if net.weighted else 1.0, *sorted((a, b))) for a, b, w in net.edges if a != b]
    forest, found = nx.utils.UnionFind(net.vertices), []
    for w, a, b in sorted(edges):
        if forest[a] != forest[b]:
            forest.union(a, b)
            found.append((a, b, w) if net.weighted else (a, b))
    return sorted(found)


@oracle(seed=SEED)
def maximal_independent_set(net: Network, o: dict[str, Any], rows: Any) -> None:
    graph, chosen = net.graph(directed=False), dict(rows)
    for v in graph:
        near = any(chosen[u] for u in graph[v])
        expect(chosen[v] != near, f"vertex {v} is selected: {chosen[v]}, and a neighbor: {near}")


@oracle(seed=SEED)
def greedy_color(net: Network, o: dict[str, Any], rows: Any) -> None:
    graph, color = net.graph(directed=False), dict(rows)
    for v in graph:
        # Vertices are colored by descending degree, so the colors below are those of larger neighbors.
        before = {color[u] for u in graph[v] if graph.degree(u) >= graph.degree(v)}
        expect({*range(color[v])} <= before, f"vertex {v} has color {color[v]}")
        expect(
            all(color[u] != color[v] for u in graph[v]), f"a neighbor of {v} has color {color[v]}"
        )


@oracle("sums", max_iter=([1, 2, 10, 301], [0, -1, 1.5, None]))
def label_propagation(net: Network, o: dict[str, Any], rows: Any) -> Any:
    near, label = net.near(), {v: v for v in net.vertices}
    for a, b, w in net.edges if net.directed else ():
        near[b].append((a, w if net.weighted else 1.0))
    past = []
    for _ in range(o.get("max_iter", 10)):
        if label in past[-2:]:  # the labels of two iterations alternate, or stay
            break
        past.append(label)
        sums = {v: Counter[int]() for v in near}
        for v, ends in near.items():
            for u, w in ends:
                sums[v][label[u]] += w  # type: ignore[assignment]
        label = {v: min(s, key=lambda c, s=s: (-round(s[c], 9), c)) if any(s.values()) else label[v]
                 for v, s in sums.items()}  # fmt: skip
    if len(past) > 1 and past[-2] == label and (o.get("max_iter", 10) - len(past)) % 2:
        label = past[-1]
    return label


def grouped(net: Network, o: dict[str, Any], rows: Any, *, connected: bool) -> None:
    graph, resolutions = net.graph(directed=False), o.get("resolution", 1.0)
    graph.remove_edges_from([] if not net.weighted else _without_weight(net))
    levels, several = o.get("levels", 1), isinstance(resolutions, list)
    for start in range(1, levels * (len(resolutions) if several else 1) + 1, levels):
        finer = None
        for column in range(start, start + levels):
            label = {row[0]: row[column] for row in rows}
            parts = defaultdict(set)
            for v, c in label.items():
                parts[c].add(v)
            for c, part in parts.items():
                expect(min(part) == c, f"community {c} of {part}")
                expect(
                    not connected or nx.is_connected(graph.subgraph(part)),
                    f"{part} is not connected",
                )
                expect(
                    finer is None or len({*label.values()}) <= len({*finer.values()}),
                    "finer levels",
                )
                expect(
                    finer is None or all(label[finer[v]] == c for v in part), f"{part} cuts a part"
                )
            finer = label
        r = resolutions[(start - 1) // levels] if several else resolutions
        if o.get("objective", "modularity") == "modularity":
            reached, alone = (sum(part[-1] for part in modularity(net, of, r).values())
                              for of in (label, {v: v for v in label}))  # fmt: skip
            expect(
                reached >= alone - 1e-9 * max(1, r),
                f"quality {reached}, of single vertices {alone}",
            )


def _without_weight(net: Network) -> list[tuple[int, int]]:
    total: Counter[Any] = Counter()
    for a, b, w in net.edges:
        total[a, b] += w  # type: ignore[assignment]
    return [pair for pair, w in total.items() if not w + total[pair[::-1]]]


@oracle("sums", resolution=RESOLUTION, **COMMUNITIES)
def louvain(net: Network, o: dict[str, Any], rows: Any) -> None:
    grouped(net, o, rows, connected=False)


@oracle("sums", resolution=RESOLUTION, objective=(["modularity", "cpm"], ["potts", None]),
        max_community_size=([None, 1, 2, 3, 10**12], [0, -1, 1.5]), **COMMUNITIES)  # fmt: skip
def leiden(net: Network, o: dict[str, Any], rows: Any) -> None:
    grouped(net, o, rows, connected=True)
    for labels in list(zip(*rows, strict=True))[1:]:
        most = max(Counter(labels).values())
        expect(most <= (o.get("max_community_size") or most), f"a community of {most} vertices")


@oracle("sums", pairs=maybe(paired), top_k=([None, 1, 2, 10**12], [0, -1, 1.5]),
        measure=([*MEASURES, "adamic_adar", "common_neighbors"], ["dice"]))  # fmt: skip
def similarity(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, top, measure = net.graph(directed=False), o.get("top_k"), o.get("measure", "jaccard")
    near: dict[int, Counter[int]] = {v: Counter() for v in graph}
    for a, ends in net.near(directed=False).items():
        for b, w in ends:
            if a != b:
                near[a][b] += w  # type: ignore[assignment]
    if not net.weighted:
        near = {v: Counter(dict.fromkeys(ends, 1)) for v, ends in near.items()}

    def score(a: int, b: int) -> float:
        common = {*near[a]} & {*near[b]}
        sizes = [sum(near[v].values()) for v in (a, b)]
        both = sum(min(near[a][v], near[b][v]) for v in common)
        below = {"jaccard": sum(sizes) - both, "sorensen": sum(sizes) / 2, "overlap": min(sizes),
                 "cosine": math.sqrt(math.prod(sizes))}  # fmt: skip
        if measure == "adamic_adar":
            return math.fsum(1 / math.log(graph.degree(v)) for v in common if graph.degree(v) > 1)
        return both / (below.get(measure, 1) or 1)

    if o.get("pairs") is not None:
        return [(a, b, score(a, b)) for a, b in o["pairs"]]
    found = []
    for a in graph:
        best = [(-round(score(a, b), 12), b) for b in {b for w in graph[a] for b in graph[w]} - {a}]
        found += [(a, b, -negative) for negative, b in sorted(best)[:top]]
    if not net.weighted and measure != "cosine":
        return found
    # Weights and roots are rounded, so any of several pairs with equal scores can come first.
    scores = [(a, b, score(a, b)) for a, b, _ in rows]
    expect(same(rows, scores, 1e-9, 1e-12), f"found {rows}, expected {scores}")
    expect(len({row[:2] for row in rows}) == len(rows), f"a pair repeats in {rows}")
    best_scores = [[(row[0], row[2]) for row in some] for some in (rows, found)]
    expect(same(*best_scores, 1e-9, 1e-12), f"found {rows}, expected {found}")
    return None


def pulled(net: Network, o: dict[str, Any], restart: Any) -> tuple[Any, bool]:
    """Return the PageRank of each vertex, and whether it has surely converged.

    If `restart` is given, it is also the rank that each vertex starts with.
    """
    matrix, n = net.matrix(), len(net.vertices)
    leaving = matrix.sum(1, keepdims=True)
    matrix = np.divide(matrix, leaving, out=np.zeros_like(matrix), where=leaving > 0)

    def part(name: str, otherwise: Any) -> Any:
        given = o.get(name)
        if given is None:
            return otherwise
        return np.array([given.get(v, 0.0) for v in net.vertices]) / sum(given.values())

    even, tol, alpha = np.full(n, 1 / max(1, n)), o.get("tol", 1e-6), o.get("alpha", 0.85)
    rank = part("nstart", even) if restart is None else restart
    restart = part("personalization", even) if restart is None else restart
    onward = part("dangling", restart)
    sure = tol is None or tol * n > (1e-4 if o.get("precision") == "float32" else 1e-13)
    for _ in range(o.get("max_iter", 100)):
        lost = rank[leaving[:, 0] == 0].sum()
        before, rank = rank, alpha * (rank @ matrix) + (1 - alpha) * restart + alpha * lost * onward
        if tol is not None and abs(rank - before).sum() < tol * n:
            return rank, sure
    return rank, tol is None


def _ranks_close(net: Network, o: dict[str, Any]) -> float:
    """Return how far ranks may be from those that end an iteration earlier or later."""
    return 1e-4 if o.get("precision") == "float32" else 1e-9


@oracle("sums", alpha=DAMPING, tol=TOL_OR_NONE, precision=(["float64", "float32"], ["double", None]),
        **CONVERGENCE, **dict.fromkeys(WEIGHS_VERTICES, maybe(weighed)))  # fmt: skip
def pagerank(net: Network, o: dict[str, Any], rows: Any) -> None:
    expected = list(zip(net.vertices, pulled(net, o, None)[0].tolist(), strict=True))
    expect(same(rows, expected, 0, _ranks_close(net, o)), f"found {rows}, expected {expected}")


@oracle("sums", sources=some, alpha=DAMPING, tol=TOL_OR_NONE, top_k=([None, 1, 3, 10**12], [0, -1, 1.5]),
        **CONVERGENCE)  # fmt: skip
def personalized_pagerank(net: Network, o: dict[str, Any], rows: Any) -> None:
    found, top = defaultdict(list), o.get("top_k")
    for source, vertex, rank in rows:
        found[source].append((vertex, rank))
    expect(list(found) == sorted({*o["sources"]}), f"sources {list(found)}")
    for source, ranked in found.items():
        ranks = pulled(net, o, np.array([float(v == source) for v in net.vertices]))[0]
        wanted = dict(zip(net.vertices, ranks.tolist(), strict=True))
        best = sorted((r for r in wanted.values() if top is None or r > 1e-15), reverse=True)[:top]
        expect(same([(r,) for _, r in ranked if top is None or r > 1e-15], [(r,) for r in best], 0, 1e-9),
               f"ranks of {source}: {ranked}, expected {wanted}")  # fmt: skip
        expect(all(abs(r - wanted[v]) < 1e-9 for v, r in ranked), f"{ranked}, expected {wanted}")
        expect(ranked == sorted(ranked, key=lambda one: (-one[1], one[0])), f"order of {ranked}")


def iterated(net: Network, o: dict[str, Any]) -> tuple[Any, Any, bool]:
    """Return the hubs and authorities, and whether they have surely converged."""
    matrix, n, tol = net.matrix(), len(net.vertices), o.get("tol", 1e-8)
    hub = authority = np.full(n, 1 / max(1, n))
    for _ in range(o.get("max_iter", 100) if matrix.any() else 0):
        before, authority = hub, hub @ matrix
        authority = authority / authority.sum()
        hub = matrix @ authority
        hub = hub / hub.sum()
        if abs(hub - before).sum() < tol:
            return hub, authority, tol > 1e-13
    return hub, authority, not matrix.any()


@oracle("sums", tol=TOL, **CONVERGENCE)
def hits(net: Network, o: dict[str, Any], rows: Any) -> None:
    hub, authority, _ = iterated(net, o)
    expected = list(zip(net.vertices, hub.tolist(), authority.tolist(), strict=True))
    expect(same(rows, expected, 0, 1e-8), f"found {rows}, expected {expected}")


@oracle("sums", tol=TOL, alpha=([0.1, 1e-3, 1e-12], [0, -1.0, math.nan, None]),
        beta=([1.0, 3, 0.5], [0, -1.0, math.nan]), normalized=FLAG, **CONVERGENCE)  # fmt: skip
def katz_centrality(net: Network, o: dict[str, Any], rows: Any) -> None:
    matrix, n = o.get("alpha", 0.1) * net.matrix().T, len(net.vertices)
    if o.get("fail_on_nonconvergence") is False or not _bounded(matrix):
        return expect(all(math.isfinite(row[1]) for row in rows), f"found {rows}")
    beta, norm = o.get("beta", 1.0), 1.0
    limit = np.linalg.inv(np.eye(n) - matrix)
    expected = limit @ np.full(n, beta)
    error = o.get("tol", 1e-6) * n * (limit.sum(0).max() if n else 1)
    if o.get("normalized", True):
        norm = np.linalg.norm(expected) or 1.0
    for (v, found), wanted in zip(rows, expected.tolist(), strict=True):
        close = (
            abs(found - wanted / norm) <= 4 * min(error, beta * 1e12) / norm + 1e-9 * wanted / norm
        )
        expect(close, f"{v}: found {found}, expected {wanted / norm}")
    return None


def _bounded(matrix: Any) -> bool:
    return not len(matrix) or max(abs(np.linalg.eigvals(matrix))) < 0.95


@oracle("sums", tol=TOL, **CONVERGENCE)
def eigenvector_centrality(net: Network, o: dict[str, Any], rows: Any) -> None:
    matrix, n = net.matrix().T, len(net.vertices)
    score = np.array([row[1] for row in rows])
    expect((score >= 0).all() and (not n or abs(score @ score - 1) < 1e-9), f"found {rows}")
    if o.get("fail_on_nonconvergence", True):
        # An iteration, which may be shifted, changes scores by little.
        scale = max(1.0, matrix.sum(1).max(initial=0))
        left = abs(matrix @ score - (score @ matrix @ score) * score).sum() / scale
        expect(
            not n or left <= 8 * o.get("tol", 1e-6) * n + 1e-9,
            f"found {rows}: {left} from an eigenvector",
        )


def converges(name: str, net: Network, o: dict[str, Any]) -> bool:
    """Say whether a call with these options surely converges."""
    if name == "hits":
        return iterated(net, o)[2]
    if name == "pagerank":
        return pulled(net, o, None)[1]
    if name == "personalized_pagerank":
        restarts = [np.array([float(v == source) for v in net.vertices]) for source in o["sources"]]
        return all(pulled(net, o, restart)[1] for restart in restarts)
    return (name == "katz_centrality" and _bounded(o.get("alpha", 0.1) * net.matrix().T)
            and o.get("max_iter", 1000) > 1000 and o.get("tol", 1e-6) >= 1e-6)  # fmt: skip


@oracle("sums", starts=some, length=([1, 2, 9], [0, -1, 1.5, None]),
        walks_per_vertex=([1, 3], [0, -1, 1.5]), seed=SEED,
        p=([1.0, 1e-12, 1e12, 1e-300, 1e300, math.inf, 0.5], [0, -1.0, math.nan]),
        q=([1.0, 0.001, 1000, 3], [0, 1e-4, 1001, math.inf, math.nan]))  # fmt: skip
def random_walks(net: Network, o: dict[str, Any], rows: Any) -> None:
    near = {v: {u for u, w in ends if w} for v, ends in net.near().items()}
    # Weights are rounded to a part of their sum, so much lighter edges are not followed.
    least = {v: sum(w for _, w in ends) * 2.0**-48 for v, ends in net.near().items()}
    heavy = {v: {u for u, w in ends if w > least[v]} for v, ends in net.near().items()}
    walks, p, weights = defaultdict(list), o.get("p", 1.0), [w for w in net.weights if w]
    even = not weights or max(weights) < 100 * min(weights)
    for walk, step, vertex in rows:
        expect(step == len(walks[walk]), f"step {step} of walk {walk}")
        walks[walk].append(vertex)
    starts = [v for v in sorted({*o["starts"]}) for _ in range(o.get("walks_per_vertex", 1))]
    expect(list(walks) == [*range(len(starts))], f"walks {list(walks)}")
    for (walk, path), start in zip(walks.items(), starts, strict=True):
        steps = list(pairwise(path))
        expect(path[0] == start and all(b in near[a] for a, b in steps), f"walk {walk}: {path}")
        # Without a bound for p, a walk never returns.
        onward = heavy[path[-1]] - ({path[-2]} if p == math.inf and steps else set())
        expect(len(steps) == o["length"] or (len(steps) < o["length"] and not onward),
               f"walk {walk} ends early: {path}")  # fmt: skip
        for before, (at, after) in zip(path, steps[1:], strict=False) if even else ():
            back, other = after == before, near[at] - {before}
            expect(p < 1e12 or not back or not other, f"walk {walk} returns at {at}: {path}")
            expect(
                p > 1e-12 or back or before not in near[at], f"walk {walk} goes on at {at}: {path}"
            )


@oracle(seeds=some, fanouts=([[1], [-1], [2, 3], [2**62], [-1, 1, -1], [1] * 9],
                             [[0], [], [-2], [1.5], 3, None, "12", [True]]),
        replace=FLAG, seed=SEED)  # fmt: skip
def sample_neighbors(net: Network, o: dict[str, Any], rows: Any) -> None:
    expect(rows == sorted(rows), f"order of {rows}")
    edges = {v: Counter(u for u, _ in ends) for v, ends in net.near().items()}
    sampled = defaultdict(Counter)
    for seed, hop, source, target in rows:
        sampled[seed, hop, source][target] += 1
    for seed in {*o["seeds"]}:
        seen, frontier = {seed}, {seed}
        for hop, fanout in enumerate(o.get("fanouts", [25, 10]), 1):
            reached = set()
            for v in frontier:
                own, count = sampled.pop((seed, hop, v), Counter()), edges[v].total()
                again = o.get("replace", False) and fanout > 0
                wanted = (
                    count if fanout < 0 else fanout * (count > 0) if again else min(count, fanout)
                )
                right = (
                    own.total() == wanted
                    and own.keys() <= edges[v].keys()
                    and (again or own <= edges[v])
                )
                expect(right, f"seed {seed}, hop {hop}, vertex {v}: {own} of {edges[v]}")
                reached |= own.keys()
            frontier = reached - seen
            seen |= reached
    expect(not sampled, f"rows of other vertices: {sampled}")
