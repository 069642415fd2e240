"""A random call of one function, with options at their limits, and the check of its answer or its error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from dask_graphflow.exceptions import (
    ConvergenceError,
    CycleError,
    EdgeListError,
    GraphflowError,
    OptionError,
    UnknownVertexError,
    UsageError,
    WeightError,
)

from .components import with_loops
from .networks import ID_COLUMNS, NAMES_VERTICES, WEIGHS_VERTICES, Asker, Network, same
from .oracle import ORACLES, Outcome, Wrong
from .ranks import bounded, converges

#: Measures that are not defined with weights.
WITHOUT_WEIGHTS = "cosine", "adamic_adar", "common_neighbors"
ARE_NEEDED = (
    *(("k_truss", "k"), ("k_shortest_paths", "k"), ("bipartite_projection", "side")),
    ("earliest_arrival", "departure"),
)
#: Functions that never follow an edge whose weight is infinite.
MAY_BE_INFINITE = (
    *("closeness_centrality", "harmonic_centrality", "k_shortest_paths"),
    *("shortest_paths", "sssp"),
)


def options_of(name: str, rng: Random, network: Network) -> dict[str, Any]:
    """Draw the options of a call; those that name vertices are always given unless None is allowed."""
    found = {}
    for option, values in ORACLES[name].options.items():
        if callable(values):
            value = values(rng, network)
            if value is not None:
                found[option] = value
        elif rng.random() < 0.6 or "length" in option or (name, option) in ARE_NEEDED:
            found[option] = rng.choice(values[1] if rng.random() < 0.03 else values[0])
    if found.get("fanouts") == [2**62]:
        found.pop("replace", None)  # the sample would have as many edges
    if name == "shortest_paths" and "pairs" in found:
        found = {"pairs": found["pairs"]}
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
        named = {*value}
        if option in ("pairs", "timetable"):
            named = {v for row in value for v in row[:2]}
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
    least, most = options.get("min_length"), options.get("max_length")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        found.add(OptionError)
    measure = options.get("measure", "common_neighbors" if name == "bipartite_projection" else None)
    if network.weighted and measure in WITHOUT_WEIGHTS:
        found.add(OptionError)
    if name == "bipartite_projection":
        both = {a for a, _, _ in network.edges} & {b for _, b, _ in network.edges}
        found |= {UsageError} if not network.directed else {EdgeListError} if both else set()
    if name == "bipartite_matching":
        both = {a for a, _, _ in network.edges} & {b for _, b, _ in network.edges}
        if both if network.directed else not nx.is_bipartite(with_loops(network)):
            found.add(EdgeListError)
    if {*options.get("sources", ())} & {*options.get("sinks", ())}:
        found.add(OptionError)
    weights = ORACLES[name].weights
    lowest = -math.inf if options.get("objective") == "cpm" else 0
    bad = [w for w in network.weights if not (lowest <= w < math.inf and math.isfinite(w))]
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
    refused = refusals(name, network, options)
    try:
        found = asker.ask(name, network, **options)
    except GraphflowError as error:
        if type(error) in refused or may_fail(name, network, options, error):
            return Outcome("refused", f"{type(error).__name__}: {error}")
        raise Wrong(f"a valid call was refused: {type(error).__name__}: {error}") from error
    if refused:
        raise Wrong(f"an invalid call was not refused: expected one of {refused}, found\n{found}")
    _compare(name, replace(network, ids=asker.form.ids), options, found)
    return Outcome(f"right {name}")


def network_of(edges: Any, directed: bool, vertices: Sequence[Any] = ()) -> Network:
    """Return the network of edges, which are pairs or a frame with the columns a, b and perhaps w."""
    weighted = isinstance(edges, pd.DataFrame) and "w" in edges
    rows = edges.itertuples(index=False, name=None) if isinstance(edges, pd.DataFrame) else edges
    listed = tuple((a, b, float(w[0]) if w else 1.0) for a, b, *w in rows)
    return Network(listed, tuple(vertices), directed, weighted)


def confirm(
    name: str, found: pd.DataFrame, edges: Any, options: dict[str, Any], *,
    directed: bool = True, vertices: Sequence[Any] = (), rtol: float = 0.0, atol: float = 0.0,
) -> None:  # fmt: skip
    """Check the computed answer of a call on edges; see :func:`network_of`. By default, it has to be exact.

    Raises
    ------
    Wrong
        The answer is wrong.
    """
    network = network_of(edges, directed, vertices)
    ids = [column for column in found if column in ID_COLUMNS and found[column].isna().any()]
    _compare(name, network, options, found.fillna(dict.fromkeys(ids, -1)), (rtol, atol))


def _compare(
    name: str,
    network: Network,
    options: dict[str, Any],
    found: Any,
    close: tuple[float, float] | None = None,
) -> None:
    declared = ORACLES[name]
    rows = list(found.itertuples(index=False, name=None))
    expected = declared.check(network, options, rows)
    if isinstance(expected, dict):
        expected = [(v, *np.atleast_1d(expected[v]).tolist()) for v in sorted(expected)]
    close = (declared.rtol, declared.atol) if close is None else close
    if expected is not None and not same(rows, expected, *close):
        raise Wrong(f"found {rows}, expected {expected}")


def may_fail(name: str, network: Network, options: dict[str, Any], error: GraphflowError) -> bool:
    """Say whether a valid call may raise this error.

    It may if it does not converge, if weights differ much, or if the graph has a cycle.
    """
    if isinstance(error, CycleError):
        return name == "topological_order" and not nx.is_directed_acyclic_graph(with_loops(network))
    if isinstance(error, ConvergenceError) and "max_iter" in ORACLES[name].options:
        if name == "katz_centrality" and not bounded(
            options.get("alpha", 0.1) * network.matrix().T
        ):
            return True
        return options.get("fail_on_nonconvergence", True) and not converges(name, network, options)
    spread = [abs(w) for w in network.weights if w]
    return isinstance(error, WeightError) and bool(spread) and max(spread) / min(spread) > 2.0**50
