"""What must hold between the answers of several calls: of changed graphs, or of several functions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from oracles.communities import modularity
from oracles.networks import ID_COLUMNS, Asker, Network, same
from oracles.oracle import Outcome, Wrong, expect

from dask_graphflow.algorithms import ALGORITHMS


@dataclass(frozen=True)
class Rule:
    """How the answer of a function changes with the graph.

    Where a change has no rule, the value is a text that says why.
    """

    options: Mapping[str, Any] = field(default_factory=dict)  # options of all calls
    flipped: str = "same"  # the direction in which an undirected edge is written does not matter
    # {"both", "this"}. With another graph beside it, the answer has the rows of "both", or those of "this"
    # graph.
    joined: str = "both"
    # {"this"}. With an isolated vertex more, the rows of "this" graph are the same.
    isolated: str = "this"
    # "once", or dict. "once": an edge that is repeated changes no row, but can be listed again. Or by how
    # much columns are multiplied if all edges are repeated.
    repeated: Any = "once"
    # By how much columns are multiplied if all weights are doubled; and by how much options are multiplied
    # then, or if all edges are repeated.
    doubled: Any = field(default_factory=dict)
    changed: Mapping[str, float] = field(default_factory=dict)
    # "same", or dict. What columns are called after all edges of a directed graph are reversed.
    turned: Any = "same"
    by_id: bool = False  # values depend on the ids, and not only on their order
    among_others: bool = False  # values are divided by the number of other vertices
    # By how much numbers may differ.
    rtol: float = 0.0
    atol: float = 0.0


AHEAD = "edges are followed ahead only"
SLOW = "on some graphs, scores come near their limit slowly"
DRAWN = "random numbers depend on the number of edges or vertices"
FLOWS = "maximum_flow", "minimum_cut"
SWAPPED = {"source": "target", "target": "source"}
HEAVIER = {"weight": 2}
EDGES: dict[str, Any] = {"repeated": {}, "doubled": HEAVIER, "turned": SWAPPED}
SEARCH: dict[str, Any] = {"turned": AHEAD}
ITERATED: dict[str, Any] = {"atol": 1e-9, "rtol": 1e-9}
STEPS = {"max_iter": 2000, "tol": 1e-13, "fail_on_nonconvergence": False}
GREEDY: dict[str, Any] = {
    "joined": "vertices move until none does in the whole graph, and modularity depends on all edges",
    "repeated": {},
}

RULES: dict[str, Rule] = {
    "articulation_points": Rule(),
    "betweenness_centrality": Rule({"normalized": False}, rtol=1e-9),
    "bfs": Rule(**SEARCH),
    "closeness_centrality": Rule(
        {"wf_improved": False}, doubled={"closeness": 0.5}, turned=AHEAD, rtol=1e-12
    ),
    "bipartite_matching": Rule(
        joined="searches end after a part of all edges", doubled=HEAVIER,
        repeated="a neighbor with two edges is not the only one", turned="the other side chooses",
    ),
    "bipartite_projection": Rule(
        {"side": "source", "measure": "jaccard"}, flipped="edges without directions have no sides",
        joined="the other graph is not bipartite", repeated={},
        turned="the other side is projected", rtol=1e-9,
    ),
    "bridges": Rule(repeated="a repeated edge is not a bridge"),
    "clustering": Rule(),
    "community_metrics": Rule(
        joined="the modularity depends on all edges",
        repeated={"internal_edges": 2, "cut_edges": 2, "density": 2},
        doubled={"internal_edges": 2, "cut_edges": 2, "density": 2},
        rtol=1e-12,
    ),
    "connected_components": Rule(),
    "core_number": Rule(),
    "degree_centrality": Rule(
        among_others=True, rtol=1e-12,
        repeated=dict.fromkeys(("degree_centrality", "in_degree_centrality", "out_degree_centrality"), 2),
        turned={"in_degree_centrality": "out_degree_centrality",
                "out_degree_centrality": "in_degree_centrality"},
    ),
    "degrees": Rule(
        repeated=dict.fromkeys(("degree", "in_degree", "out_degree"), 2),
        turned={"in_degree": "out_degree", "out_degree": "in_degree"},
    ),
    "diameter": Rule(joined="the larger of two diameters", isolated="this"),
    "earliest_arrival": Rule(
        {"departure": "leaves", "arrival": "arrives", "start": 1}, repeated={}, **SEARCH
    ),
    "eccentricity": Rule(),
    "edge_betweenness_centrality": Rule(
        {"normalized": False}, doubled=HEAVIER, turned=SWAPPED, rtol=1e-9
    ),
    "ego_graph": Rule({"radius": 2}, repeated={}, doubled=HEAVIER, turned=AHEAD),
    "eigenvector_centrality": Rule(
        {"max_iter": 20_000, "tol": 1e-12, "fail_on_nonconvergence": False},
        joined="the part with the larger eigenvalue has all of the score",
        isolated=SLOW, repeated=SLOW, doubled=SLOW, turned=AHEAD,
    ),
    "fast_rp": Rule(
        {"dimensions": 20}, repeated="a vertex that no edge leaves counts as one that one edge leaves",
        turned=AHEAD, by_id=True, rtol=1e-4, atol=1e-5
    ),
    "greedy_color": Rule(joined="this"),
    "harmonic_centrality": Rule(doubled={"harmonic": 0.5}, turned=AHEAD, rtol=1e-12),
    "hits": Rule(
        STEPS, joined="the part with the larger singular value has all of the score", **ITERATED,
        repeated={}, turned={"hub": "authority", "authority": "hub"},
    ),
    "induced_subgraph": Rule(**EDGES),
    "k_core": Rule({"k": 2}, repeated="once", doubled=HEAVIER, turned=SWAPPED),
    "k_truss": Rule({"k": 3}, repeated="once", doubled=HEAVIER, turned=SWAPPED),
    "katz_centrality": Rule(
        {"alpha": 2.0**-9, "normalized": False, "tol": 1e-13}, **ITERATED,
        repeated={}, changed={"alpha": 0.5}, turned=AHEAD,
    ),
    "k_shortest_paths": Rule(
        {"k": 3}, repeated={}, doubled={"length": 2}, turned="the last vertex decides between ties"
    ),
    "label_propagation": Rule(repeated={}),
    "leiden": Rule(**GREEDY),
    "louvain": Rule(**GREEDY),
    "maximal_independent_set": Rule(joined="this"),
    "minimum_spanning_forest": Rule(doubled=HEAVIER),
    "motif_counts": Rule({"size": 4}),
    "maximum_flow": Rule(
        joined="the number of edges per vertex decides which paths are first",
        repeated="the largest capacity decides which paths are first",
        doubled="the largest capacity decides which paths are first", turned=AHEAD,
    ),
    "minimum_cut": Rule(
        joined="the unit of rounded capacities depends on the number of edges", doubled={"cut": 2},
        repeated="the unit of rounded capacities depends on the number of edges",
        turned="the other side is smallest",
    ),
    "neighbors": Rule(repeated={}, doubled=HEAVIER, turned=AHEAD),
    "pagerank": Rule(STEPS, joined="this", repeated={}, turned=AHEAD, **ITERATED),
    "personalized_pagerank": Rule(
        {**STEPS, "top_k": None}, joined="this", repeated={}, turned=AHEAD, **ITERATED
    ),
    "random_walks": Rule(
        {"length": 6, "walks_per_vertex": 2, "p": 0.5, "q": 2.0}, joined="this",
        repeated=DRAWN, turned=AHEAD,
    ),
    "sample_neighbors": Rule({"fanouts": [2, -1]}, joined="this", repeated=DRAWN, turned=AHEAD),
    "shortest_paths": Rule(**SEARCH),
    "similarity": Rule(repeated={}, rtol=1e-9),
    "simple_cycles": Rule(
        {"max_length": 4, "min_length": 2}, joined="cycles of both graphs are numbered together",
        repeated="in an undirected graph, a repeated edge is a cycle", turned=AHEAD,
    ),
    "simple_paths": Rule({"max_length": 3}, joined="this", **SEARCH),
    "sssp": Rule(doubled={"distance": 2}, **SEARCH),
    "strongly_connected_components": Rule(),
    "topological_order": Rule(
        flipped="an undirected edge is a cycle", joined="the other graph can have cycles",
        turned="a path that leads to a vertex is not one that leaves it",
    ),
    "triangle_count": Rule(),
    "truss_number": Rule(),
}  # fmt: skip


def ask(asker: Asker, name: str, network: Network, at: Any, form: Any = None, **more: Any) -> Any:
    """Return the answer of a call with the options of the function's rule."""
    rule = RULES[name]
    options = {**rule.options, **more}
    declared = ALGORITHMS["sssp" if name == "shortest_paths" else name].options.values()
    named = [option.name for option in declared if option.kind == "ids" and option.required]
    options |= dict.fromkeys(named, at)
    if "sinks" in options:
        options["sinks"] = [v for v in network.vertices if v not in at][:1]
    if name == "pagerank":
        options["personalization"] = dict.fromkeys(at, 1.0)
    if name == "shortest_paths":
        options["targets"] = network.vertices
    if name == "simple_paths":
        options["pairs"] = [(a, b) for a in at for b in at]
    if name == "k_shortest_paths":
        options["pairs"] = [(a, b) for a in at for b in network.vertices]
    if name == "earliest_arrival":
        apart = [(a, b, abs(a - b)) for a, b, _ in network.edges]
        options["timetable"] = [(a, b, 3 * by % 7, 3 * by % 7 + by % 3) for a, b, by in apart]
    if name == "community_metrics":
        options["communities"] = [(v, v % 3) for v in network.vertices]
    return asker.ask(name, network, form, **options)


def compare(name: str, found: pd.DataFrame, expected: pd.DataFrame, *, exact: bool = False) -> None:
    rule = RULES[name]
    rows = [list(frame.itertuples(index=False, name=None)) for frame in (found, expected)]
    if not exact and [*found][:2] in (["source", "target"], ["first", "second"]):
        # Reversed edges come in another order, and so can pairs whose scores differ by rounding only.
        rows = [sorted(some) for some in rows]
    tolerance = (0.0, 0.0) if exact else (rule.rtol, rule.atol)
    if list(found) != list(expected) or not same(*rows, *tolerance):
        raise Wrong(f"found\n{found.to_string()}\nexpected\n{expected.to_string()}")


def _times(frame: pd.DataFrame, factors: Any) -> pd.DataFrame:
    return frame.assign(**{c: frame[c] * by for c, by in factors.items() if c in frame})


def _within(frame: pd.DataFrame, vertices: set[int]) -> pd.DataFrame:
    """Return the rows that name some vertices only."""
    ids = [c for c in frame if c in ID_COLUMNS or c.startswith("community")]
    keep = np.ones(len(frame), bool)
    for column in ids:
        keep &= frame[column].isin({*vertices, -1}).to_numpy()
    return frame[keep].reset_index(drop=True)


def renamed(name: str, asker: Asker, network: Network, at: list[int]) -> None:
    """Ids of another type in the same order, partitions, shards, and reversing twice change no bit."""
    one, other = ask(asker, name, network, at), asker.other
    if RULES[name].by_id:
        other = replace(other, ids=asker.form.ids)
    compare(name, ask(asker, name, network, at, other), one, exact=True)


def flipped(name: str, asker: Asker, network: Network, at: list[int]) -> None:
    """The direction in which an undirected edge is written changes no bit."""
    network = replace(network, directed=False)
    edges = [(b, a, w) if (3 * a + b) % 2 else (a, b, w) for a, b, w in network.edges]
    one = ask(asker, name, network, at)
    compare(name, ask(asker, name, network.with_edges(edges), at), one, exact=True)


def joined(name: str, asker: Asker, network: Network, at: list[int]) -> None:
    """The answer of two disjoint graphs is that of each."""
    both_rows, by = RULES[name].joined == "both", max(network.vertices) + 1
    kept = [(b, a, w) for a, b, w in network.edges if a <= b] + [(0, 1, 1.0), (1, 2, 1.0)]
    second = replace(network, edges=tuple((a + by, b + by, w) for a, b, w in kept), given=())
    both = network.with_edges([*network.edges, *second.edges])
    found = ask(asker, name, both, [*at, second.vertices[0]] if both_rows else at)
    found, one = (
        _undivided(name, found, both),
        _undivided(name, ask(asker, name, network, at), network),
    )
    compare(name, _within(found, {*network.vertices}), one)
    if both_rows:
        other = _undivided(name, ask(asker, name, second, second.vertices[:1]), second)
        compare(name, _within(found, {*second.vertices}), other)
        expect(len(found) == len(one) + len(other), f"rows of both graphs:\n{found.to_string()}")


def isolated(name: str, asker: Asker, network: Network, at: list[int]) -> None:
    """An isolated vertex more changes no other row."""
    more = network.with_edges(network.edges, [max(network.vertices) + 2])
    before, found = ask(asker, name, network, at), ask(asker, name, more, at)
    if name == "community_metrics":
        counted = ["internal_edges", "cut_edges", "modularity"]
        found = found[found["community"].isin(before["community"])].reset_index(drop=True)
        before, found = before[counted], found[counted]
    found = _within(_undivided(name, found, more), {*network.vertices})
    compare(name, found, _undivided(name, before, network))


def _undivided(name: str, frame: pd.DataFrame, network: Network) -> pd.DataFrame:
    """Return a result without the division by the number of other vertices."""
    others = len(network.vertices) - 1 if RULES[name].among_others else 1
    return _times(frame, {column: others for column in frame if frame[column].dtype == "float64"})


def repeated(name: str, asker: Asker, network: Network, at: list[int]) -> None:
    """Edges that are repeated change nothing, or multiply what is counted."""
    rule, edges = RULES[name], network.edges
    before = ask(asker, name, network, at)
    once = rule.repeated == "once"
    again = network.with_edges([*edges, *(edges[:1] if once else edges)])
    changed = {option: rule.options[option] * by for option, by in rule.changed.items()}
    found = ask(asker, name, again, at, **({} if once else changed))
    if once or [*found][:1] == ["source"]:
        found, before = (frame.drop_duplicates(ignore_index=True) for frame in (found, before))
    compare(name, found, before if once else _times(before, rule.repeated))


def doubled(name: str, asker: Asker, network: Network, at: list[int]) -> None:
    """If all weights are doubled, scores and groups are the same, and sums are doubled."""
    rule, network = RULES[name], replace(network, weighted=True)
    twice = network.with_edges([(a, b, 2 * w) for a, b, w in network.edges])
    changed = {option: rule.options[option] * by for option, by in rule.changed.items()}
    found = ask(asker, name, twice, at, **changed)
    compare(name, found, _times(ask(asker, name, network, at), rule.doubled))


def turned(name: str, asker: Asker, network: Network, at: list[int]) -> None:
    """If all edges of a directed graph are reversed, columns change places."""
    rule, network = RULES[name], replace(network, directed=True)
    back = network.with_edges([(b, a, w) for a, b, w in network.edges])
    one, found = ask(asker, name, network, at), ask(asker, name, back, at)
    if rule.turned != "same":
        found = found.rename(columns=rule.turned)[list(one)]
    compare(name, found, one)


CHANGES: dict[str, Callable[..., None]] = {
    change.__name__: change
    for change in (renamed, flipped, joined, isolated, repeated, doubled, turned)
}


def cores(asker: Asker, network: Network, at: list[int]) -> None:
    """k_core has the edges between vertices with a core number of at least k."""
    core = dict(asker.ask("core_number", network).to_numpy().tolist())
    for k in (None, 0, 1, 2, 3):
        least = max(core.values()) if k is None else k
        found = asker.ask("k_core", network, k=k).itertuples(index=False, name=None)
        expected = network.rows(lambda a, b, least=least: core[a] >= least and core[b] >= least)
        expect(same(list(found), expected), f"k={k}: core numbers {core}")


def trusses(asker: Asker, network: Network, at: list[int]) -> None:
    """k_truss has the edges with a truss number of at least k, and 3 or more are in triangles."""
    truss = {(a, b): k for a, b, k in asker.ask("truss_number", network).to_numpy().tolist()}
    for k in (2, 3, 4):
        found = asker.ask("k_truss", network, k=k)[["source", "target"]].to_numpy().tolist()
        pairs = {(min(pair), max(pair)) for pair in found}
        expect(
            pairs == {pair for pair, value in truss.items() if value >= k}, f"{k}-truss: {truss}"
        )
    degree = Counter(v for pair in truss for v in pair)
    within = {v for pair, value in truss.items() if value >= 3 for v in pair}
    triangles = dict(asker.ask("triangle_count", network).to_numpy().tolist())
    expect(
        {v for v, count in triangles.items() if count} == within, f"triangles {triangles}: {truss}"
    )
    found = dict(asker.ask("clustering", replace(network, directed=False)).to_numpy().tolist())
    wanted = {v: 2 * count / max(1, degree[v] * (degree[v] - 1)) for v, count in triangles.items()}
    expect(found == wanted, f"clustering {found}: triangles {triangles}")


def qualities(asker: Asker, network: Network, at: list[int]) -> None:
    """The modularity of communities is the sum of that of the metrics, and no less than at the start."""
    start = {v: v % 3 for v in network.vertices}
    least = math.fsum(part[-1] for part in modularity(network, start).values())
    for name in ("leiden", "louvain"):
        after = asker.ask(name, network, previous=[*start.items(), (300, 1)])
        moved = dict(after[["vertex", "community"]].to_numpy().tolist())
        reached = math.fsum(part[-1] for part in modularity(network, moved).values())
        expect(reached >= least - 1e-9, f"{name}: modularity {least} at the start, then {reached}")
        several = asker.ask(name, network, resolution=[1.0, 0.5])
        label = dict(asker.ask(name, network)[["vertex", "community"]].to_numpy().tolist())
        expect(list(label.values()) == several["community_1"].tolist(), f"{name}: two resolutions")
        metrics = asker.ask("community_metrics", network, communities=list(label.items()))
        reached = math.fsum(part[-1] for part in modularity(network, label).values())
        expect(math.isclose(metrics["modularity"].sum(), reached, rel_tol=1e-9, abs_tol=1e-12),
               f"{name}: modularity {reached}")  # fmt: skip


def restarts(asker: Asker, network: Network, at: list[int]) -> None:
    """PageRank with personalization is the mean of the personalized ones, if no vertex is dangling."""
    network = replace(network, directed=False, given=())
    at = [v for v in at if v in network.vertices]
    share = {v: 1.0 + i for i, v in enumerate(dict.fromkeys(at))}
    if not share:
        return
    found = asker.ask("pagerank", network, personalization=share, tol=1e-14, max_iter=1000)
    each = asker.ask("personalized_pagerank", network, sources=at, tol=1e-14, max_iter=1000)
    weights = each["source"].map(share) / sum(share.values())
    mean = (each["pagerank"] * weights).groupby(each["vertex"]).sum()
    expect(np.allclose(mean, found["pagerank"], rtol=0, atol=1e-9), f"found\n{found}, mean\n{mean}")


def searches(asker: Asker, network: Network, at: list[int]) -> None:
    """bfs, sssp with equal weights, ego_graph and shortest_paths agree on distances."""
    plain = replace(network, weighted=False)
    ones = replace(network.with_edges([(a, b, 1.0) for a, b, _ in network.edges]), weighted=True)
    hops = dict(asker.ask("bfs", plain, sources=at)[["vertex", "distance"]].to_numpy().tolist())
    found = asker.ask("sssp", ones, sources=at)[["vertex", "distance"]].to_numpy().tolist()
    expect(dict(found) == hops, f"bfs {hops}, sssp {found}")
    paths = asker.ask("shortest_paths", plain, sources=at, targets=network.vertices)
    expect(paths.groupby("target")["step"].max().to_dict() == hops, f"bfs {hops}, paths\n{paths}")
    ego = asker.ask("ego_graph", plain, centers=at, radius=2).itertuples(index=False, name=None)
    near = {v for v, distance in hops.items() if distance <= 2}
    expect(list(ego) == plain.rows(lambda a, b: {a, b} <= near), f"bfs {hops}")


def parts(asker: Asker, network: Network, at: list[int]) -> None:
    """A spanning forest has the components of its graph, which are strongly connected if undirected."""
    plain = replace(network, directed=False)
    one = asker.ask("connected_components", plain)
    for other in ("strongly_connected_components", "connected_components"):
        found = asker.ask(other, plain if other[0] == "s" else network)
        expect(found.equals(one), f"{other}\n{found}\nconnected components\n{one}")
    forest = asker.ask("minimum_spanning_forest", network).to_numpy().tolist()
    edges = [(int(a), int(b), 1.0) for a, b, *_ in forest]
    of_forest = asker.ask("connected_components", plain.with_edges(edges, plain.vertices))
    count = len(one) - one["component"].nunique()
    expect(of_forest.equals(one) and len(edges) == count, f"forest {edges}, components\n{one}")


EQUALITIES: dict[str, Callable[..., None]] = {
    equality.__name__: equality
    for equality in (cores, trusses, qualities, restarts, searches, parts)
}


def draw(rng: Random) -> tuple[str, str]:
    """Return a change and the function whose answers are compared, or an equality and no function."""
    if rng.random() < 0.15:
        return rng.choice(list(EQUALITIES)), ""
    while True:
        change, name = rng.choice(list(CHANGES)), rng.choice(list(RULES))
        rule = getattr(RULES[name], change, None)
        if not isinstance(rule, str) or " " not in rule:
            return change, name


def relate(
    change: str, name: str, asker: Asker, network: Network, options: dict[str, Any]
) -> Outcome:
    """Check a relation on a graph."""
    at = [v for v in options.get("at", ()) if v in network.vertices] or network.vertices[:1]
    if not at or (name and RULES[name].among_others and len(network.vertices) == 1):
        return Outcome("unfit")
    if name == "hits" and not any(weight for *_, weight in network.edges):
        return Outcome("unfit")  # all scores are one divided by the number of vertices
    if name == "topological_order":
        ahead = [(min(a, b), max(a, b), w) for a, b, w in network.edges if a != b]
        network = replace(network, edges=tuple(ahead), given=tuple(network.vertices), directed=True)
    if name in FLOWS and {*at} >= {*network.vertices}:
        return Outcome("unfit")
    if name in ("bipartite_matching", "bipartite_projection"):
        by = max(network.vertices) + 1
        apart = tuple((a, b + by, w) for a, b, w in network.edges)
        network = replace(network, edges=apart, given=tuple(network.vertices), directed=True)
    if name == "sssp":
        network = replace(network, weighted=True)
    if change in EQUALITIES:
        EQUALITIES[change](asker, network, at)
    else:
        CHANGES[change](name, asker, network, at)
    return Outcome(f"right {change}")
