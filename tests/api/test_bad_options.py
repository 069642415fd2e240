"""Any value of an option gives a result or one of this library's errors, never one of Python or NumPy."""

from __future__ import annotations

import inspect
import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS
from oracles import ORACLES

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS

# Scores can overflow for extreme numbers. Each algorithm has its own test for that.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

EDGES = pd.DataFrame({"a": [0, 1, 1, 2], "b": [1, 0, 2, 2], "w": [1.0, 2.0, 0.5, 1.0]})
VALUES = {
    "None": None,
    "True": True,
    "0": 0,
    "-1": -1,
    "0.5": 0.5,
    "2**63 - 1": 2**63 - 1,
    "2**70": 2**70,
    "10**5000": 10**5000,
    "1e-320": 1e-320,
    "nan": float("nan"),
    "inf": float("inf"),
    "complex": 1 + 2j,
    "longdouble": np.longdouble(0.1),
    "uint64": np.uint64(2**64 - 1),
    "array": np.array([0, 1]),
    "empty list": [],
    "list": [0, 1],
    "list of 2**63": [2**63],
    "list of None": [None],
    "mixed": [1, "x"],
    "empty text": "",
    "text": "x",
    "dict": {0: 1.0},
    "object": object(),
    "NA": pd.NA,
    "date": pd.Timestamp("2026-01-01"),
    "Series": pd.Series([0.5, 1.0]),
    "frame": pd.DataFrame({"a": [0, 1], "b": [1, 2]}),
    "function": len,
}
NEEDED = {
    "bfs": {"sources": [0]},
    "sssp": {"sources": [0]},
    "personalized_pagerank": {"sources": [0, 1]},
    "earliest_arrival": {
        "sources": [0],
        "departure": "t",
        "timetable": pd.DataFrame({"x": [0, 1], "y": [1, 2], "t": [3, 4]}),
    },
    "k_shortest_paths": {"pairs": pd.DataFrame({"x": [0], "y": [1]}), "k": 2},
    "k_truss": {"k": 2},
    "random_walks": {"starts": [0], "length": 2},
    "sample_neighbors": {"seeds": [0]},
    "bipartite_projection": {"side": "source"},
    "maximum_flow": {"sources": [0], "sinks": [1]},
    "minimum_cut": {"sources": [0], "sinks": [1]},
    "simple_cycles": {"max_length": 3},
    "simple_paths": {"pairs": pd.DataFrame({"x": [0], "y": [1]}), "max_length": 3},
    "neighbors": {"sources": [0]},
    "ego_graph": {"centers": [0]},
    "induced_subgraph": {"subset": [0, 1]},
    "community_metrics": {"communities": pd.DataFrame({"v": [0, 1, 2], "c": [0, 0, 1]})},
}


# Options that limit the number of steps. On this graph, all steps are done.
LEFT_OUT = {
    ("label_propagation", "max_iter", "2**63 - 1"),
    ("random_walks", "length", "2**63 - 1"),
}


def raised(call, options):
    """Return an error of another library that a call raises, as text; None if it raises none."""
    try:
        result = call(**options)
        if hasattr(result, "compute"):
            result.compute(scheduler="sync")
    except gf.GraphflowError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


def problems(name, call, options, needed):
    """Give each value to each option; return the errors of other libraries."""
    found = {}
    for option, (text, value) in itertools.product(options, VALUES.items()):
        if (name, option, text) in LEFT_OUT:
            continue
        if wrong := raised(call, needed | {option: value}):
            found[f"{option}={text}"] = wrong
    return found


@pytest.fixture(scope="module")
def graph():
    return gf.Graph(EDGES, **ENDS, weight="w", columns="w").persist()


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_options_of_an_algorithm(name, graph):
    declared = ALGORITHMS[name]
    options = [*declared.options, *(["trace"] if declared.supersteps else [])]
    options += ["columns"] if declared.parallel else []
    assert problems(name, getattr(graph, name), options, NEEDED.get(name, {})) == {}


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_an_option_out_of_range_is_refused_at_the_call(graph, name):
    listed = ORACLES[name].options.items()
    invalid = [(option, value) for option, of in listed if not callable(of) for value in of[1]]
    if name == "similarity":
        invalid += [("measure", "cosine"), ("pairs", [(1, 2)])]  # the graph has weights
    for option, value in invalid:
        with pytest.raises(gf.exceptions.OptionError, match="give"):
            getattr(graph, name)(**NEEDED.get(name, {}) | {option: value})


VERTICES = ["sources", "starts", "seeds", "centers", "subset"]


@pytest.mark.parametrize("name", [name for name in NEEDED if {*NEEDED[name]} & {*VERTICES}])
def test_vertices_that_are_not_in_the_graph_are_named(graph, name):
    (option,) = {*NEEDED[name]} & {*VERTICES}
    with pytest.raises(gf.exceptions.EdgeListError, match=f"{option} has no vertex; give at least"):
        getattr(graph, name)(**NEEDED[name] | {option: []})
    with pytest.raises(gf.exceptions.UnknownVertexError, match="1 of 2 ids is not in the graph: 7"):
        getattr(graph, name)(**NEEDED[name] | {option: [0, 7]}).compute(scheduler="sync")


CALLS = {
    "Graph": (lambda **options: gf.Graph(EDGES, **options).degrees(), ENDS),
    "connected_components": (partial(gf.connected_components, EDGES), ENDS),
    "estimate": (partial(gf.estimate, EDGES), {"algorithm": "closeness_centrality", **ENDS}),
    "rmat": (gf.generate.rmat, {"scale": 3}),
    "grid": (gf.generate.grid, {"rows": 3, "columns": 2}),
    "path": (gf.generate.path, {"n": 3}),
    "EdgeOp": (gf.EdgeOp, {"name": "p", "target": "x", "signal": "x[src] + 1", "slot": "max"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_options_of_other_calls(name):
    call, needed = CALLS[name]
    function = getattr(gf.generate, name, None) or getattr(gf, name)
    options = set(inspect.signature(function).parameters) - {"edges", "_", "progress"}
    assert problems(name, call, sorted(options), needed) == {}


def test_options_of_a_program(graph):
    op = gf.EdgeOp("p", target="x", signal="x[src]", slot="max")
    options = set(inspect.signature(graph.run).parameters) - {"progress"}
    needed = {"op": op, "columns": {"x": 0}, "max_iter": 2}
    assert problems("run", graph.run, sorted(options), needed) == {}
