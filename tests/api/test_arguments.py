"""Calls with wrong arguments, and names that do not exist, get errors that say how to write them."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from types import FunctionType

import pandas as pd
import pyarrow as pa
import pytest
from conftest import ENDS

import dask_graphflow as gf
from dask_graphflow.exceptions import ArgumentError, OptionError, WeightError
from dask_graphflow.showing.aliases import ALIASES

EDGES = pd.DataFrame({"a": [1], "b": [2]})


@pytest.fixture(scope="module")
def graph():
    return gf.Graph(EDGES, **ENDS)


# More of them are in docs/howto/first_ten_minutes.md, whose rows are tests.
# Each call is followed by the message.
LINES = [
    line.strip()
    for line in r"""
gf.bfs(EDGES, 'a', 'b')
    such as bfs\(edges, source='a', target='b', sources=\.\.\.\)$
gf.connected_components(EDGES, 'a', 'b')
    such as connected_components\(edges, source='a', target='b'\)$
gf.Graph(EDGES, 'a', 'b')
    ^Graph\(\) was called .* such as Graph\(edges, source='a', target='b'\)$
EDGES.gf.pagerank('a', 'b')
    it allows none\. Name the others, such as frame\.gf\.pagerank\(source='a', target='b'\)$
graph.pagerank(0.85)
    ^graph\.pagerank\(\) .* 1 argument without .* such as graph\.pagerank\(alpha=0\.85\)$
graph.run('hops', {'level': 0})
    ^Graph\.run\(\) .* such as Graph\.run\(op, columns=\.\.\.\)$
gf.pagerank(EDGES, **ENDS, alfa=0.9)
    ^pagerank\(\) has no option 'alfa'; it has edges, .*; did you mean 'alpha'\?$
gf.Graph(EDGES, **ENDS, direct=True)
    ^Graph\(\) has no option 'direct'; .*did you mean 'directed'\?$
gf.estimate(EDGES, **ENDS, num_vertex=3)
    has no option 'num_vertex'; .*did you mean 'num_vertices'\?$
gf.bfs(EDGES, **ENDS)
    ^bfs\(\) was called without sources, .* give sources=\.\.\.$
gf.pagerank()
    without edges, which has no default
EDGES.gf.sssp(**ENDS, sources=[1])
    ^frame\.gf\.sssp\(\) was called without weight
gf.estimate('bfs')
    Call it as estimate\(edges, 'bfs'\)$
gf.pagerank(EDGES, edges=EDGES)
    multiple values for argument 'edges'
""".splitlines()[1:]
]
CALLS = dict(zip(LINES[::2], LINES[1::2], strict=True))


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_do_not_fit_are_refused_with_the_call_to_write(call, graph):
    with pytest.raises(ArgumentError, match=CALLS[call]) as raised:
        eval(call, {"gf": gf, "EDGES": EDGES, "ENDS": ENDS, "graph": graph})
    assert isinstance(raised.value, TypeError)


def test_a_misspelled_algorithm_of_an_estimate_is_corrected():
    with pytest.raises(OptionError, match=r"did you mean 'pagerank'\?$"):
        gf.estimate(EDGES, "pagernak", **ENDS)


@pytest.mark.parametrize(
    ("of", "name", "suggested"),
    [
        (lambda graph: gf, "pagerak", "pagerank"),
        (lambda graph: gf, "Graf", "Graph"),
        (lambda graph: graph, "betweenness", "betweenness_centrality"),
        (lambda graph: graph, "number_vertices", "num_vertices"),
        (lambda graph: EDGES.gf, "components", "connected_components"),
    ],
)
def test_misspelled_names_are_corrected(of, name, suggested, graph):
    with pytest.raises(
        AttributeError, match=rf"no attribute '{name}'; did you mean '{suggested}'\?$"
    ):
        getattr(of(graph), name)
    assert not hasattr(of(graph), "nothing_like_it")


def test_functions_keep_their_signature_and_can_be_pickled(graph):
    parameters = inspect.signature(gf.pagerank).parameters
    assert [*parameters][:3] == ["edges", "source", "target"]
    assert parameters["source"].default is None
    assert next(iter(inspect.signature(gf.Graph).parameters)) == "edges"
    for function in (gf.pagerank, gf.connected_components, gf.Graph.bfs, type(EDGES.gf).bfs):
        assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(graph).num_edges == pickle.loads(pickle.dumps(graph)).num_edges == 1


# Words of other libraries

ROADS = pd.DataFrame({"src": ["a", "b", "c"], "dst": ["b", "c", "a"], "km": [12.5, 3.0, 1.0]})
ON_ROADS = gf.Graph(ROADS, weight="km")

WORDS = [
    ("pagerank", {"damping": 0.9}, "alpha"),
    ("pagerank", {"damping_factor": 0.9}, "alpha"),
    ("pagerank", {"edge_attr": "km"}, "weight"),
    ("pagerank", {"weights": "km"}, "weight"),
    ("pagerank", {"n_iterations": 50}, "max_iter"),
    ("pagerank", {"epsilon": 1e-4}, "tol"),
    ("leiden", {"gamma": 2.0}, "resolution"),
    ("leiden", {"random_state": 3}, "seed"),
    ("leiden", {"objective_function": "cpm"}, "objective"),
    ("louvain", {"threshold": 1e-3}, "tol"),
    ("label_propagation", {"iterations": 3}, "max_iter"),
    ("bfs", {"max_depth": 2, "sources": "a"}, "depth_limit"),
    ("bfs", {"cutoff": 2, "sources": "a"}, "depth_limit"),
    ("bfs", {"start": "a"}, "sources"),
    ("sssp", {"depth_limit": 2, "sources": "a", "weight": "km"}, "cutoff"),
    ("sssp", {"node": "a", "weight": "km"}, "sources"),
    ("ego_graph", {"vertex": "a"}, "centers"),
    ("ego_graph", {"n": "a"}, "centers"),
    ("ego_graph", {"order": 2, "centers": "a"}, "radius"),
    ("induced_subgraph", {"nodes": ["a", "b"]}, "subset"),
    ("random_walks", {"sources": "a", "length": 2}, "starts"),
    ("random_walks", {"starts": "a", "walk_length": 2}, "length"),
    ("sample_neighbors", {"input_nodes": ["a"]}, "seeds"),
    ("sample_neighbors", {"seeds": ["a"], "num_neighbors": [2]}, "fanouts"),
    ("similarity", {"metric": "cosine"}, "measure"),
    ("similarity", {"k": 2}, "top_k"),
    (
        "community_metrics",
        {"partition": ROADS.assign(vertex=ROADS.src, c=1)[["vertex", "c"]]},
        "communities",
    ),
    ("degrees", {"src": "src", "target": "dst"}, "source"),
    ("degrees", {"u": "src", "v": "dst"}, "source"),
    ("degrees", {"source": "src", "dst_col": "dst"}, "target"),
]


def called_with(options, said):
    """Return the options with the name that an error suggests in place of the one that it refuses."""
    wrong = re.search(r"has no option '(\w+)'", said)[1]
    return {(named(said) if name == wrong else name): value for name, value in options.items()}


def named(said):
    return re.search(r"did you mean '(\w+)'\?$", said)[1]


@pytest.mark.parametrize(("name", "options", "meant"), WORDS)
def test_an_option_of_another_library_leads_to_a_call_that_runs(name, options, meant):
    suggested = []
    while not suggested or suggested[-1] not in options:
        try:
            getattr(gf, name)(ROADS, **options).compute()
            break
        except ArgumentError as error:
            suggested.append(named(str(error)))
            options = called_with(options, str(error))
    assert suggested[0] == meant


SLIPS = [
    ("gf.ego_graph(edges, 'a', 2)", "gf.ego_graph(edges, centers='a', radius=2)"),
    ("gf.bfs(edges, 'a')", "gf.bfs(edges, sources='a')"),
    ("gf.bfs(edges, ['a', 'b'], 3)", "gf.bfs(edges, sources=['a', 'b'], depth_limit=3)"),
    ("gf.bfs(graph, 'a')", "gf.bfs(edges, sources='a')"),
    ("graph.bfs('a', 2)", "graph.bfs(sources, depth_limit=2)"),
    ("frame.gf.bfs('a')", "frame.gf.bfs(sources='a')"),
    ("gf.sssp(edges, 'a', 'km')", "gf.sssp(edges, sources='a', weight='km')"),
    ("gf.pagerank(edges, 0.9)", "gf.pagerank(edges, alpha=0.9)"),
    (
        "gf.pagerank(edges, 'src', 'dst', 'km')",
        "gf.pagerank(edges, source='src', target='dst', weight='km')",
    ),
    ("gf.leiden(edges, 'cpm', 2.0)", "gf.leiden(edges, objective='cpm', resolution=2.0)"),
    ("gf.random_walks(edges, ['a'], 2)", "gf.random_walks(edges, starts=['a'], length=2)"),
    ("gf.k_truss(edges, 2)", "gf.k_truss(edges, k=2)"),
    ("gf.similarity(edges, 'cosine')", "gf.similarity(edges, measure='cosine')"),
    (
        "gf.induced_subgraph(edges, ['a', 'b'], weight='km')",
        "gf.induced_subgraph(edges, weight='km', subset=['a', 'b'])",
    ),
]


@pytest.mark.parametrize("kind", ["pandas", "Arrow"])
@pytest.mark.parametrize(("slip", "call"), SLIPS)
def test_the_call_that_a_positional_slip_suggests_runs(slip, call, kind):
    edges = ROADS if kind == "pandas" else pa.Table.from_pandas(ROADS)
    names = {"gf": gf, "edges": edges, "graph": ON_ROADS, "frame": ROADS, "sources": "a"}
    with pytest.raises(ArgumentError) as raised:
        eval(slip, names)
    suggested = str(raised.value).rpartition("such as ")[2]
    assert suggested == call.removeprefix("gf.")
    assert len(eval(call, names).compute())


@pytest.mark.parametrize(
    ("call", "contains", "lacks"),
    [
        (lambda: gf.bfs(ROADS, source="a"), "did you mean sources='a' instead", "column"),
        (lambda: ROADS.gf.bfs(source="a"), "did you mean sources='a' instead", "column"),
        (lambda: gf.bfs(ROADS, source="src", target="dst"), "give sources=...", "did you mean"),
        (lambda: ON_ROADS.bfs(source="a"), "did you mean 'sources'?", "Graph("),
        (lambda: ON_ROADS.bfs(directed=False), "Graph(edges, directed=False)", "did you mean"),
        (lambda: ON_ROADS.pagerank(weights="km"), "Graph(edges, weight='km')", "did you mean"),
        (lambda: gf.clustering(ROADS, weight="km"), "leave out weight=", "did you mean"),
        (lambda: gf.pagerank(ROADS, vertex="a"), "select those of your vertices", "did you mean"),
        (lambda: gf.Graph(ROADS, nodes=["a"]), "did you mean 'vertices'?", "select"),
        (lambda: gf.leiden(ROADS, n_jobs=2), "num_workers", "did you mean"),
        (lambda: gf.bfs(ROADS, sources="a", reverse=True), "exchange source=", "did you mean"),
        (lambda: gf.shortest_paths(ROADS, source="a", target="b"), "sssp(edges, sources=", "did you mean"),
        (lambda: gf.leiden(ROADS, objective="CPM"), "did you mean 'cpm'?", ""),
        (lambda: gf.Graph(ROADS, weight="km", multi="add"), "did you mean 'sum'?", ""),
        (lambda: gf.EdgeOp("x", target="x", signal="x[src]", slot="sum"), "did you mean 'add'?", ""),
    ],
)  # fmt: skip
def test_advice_fits_the_call(call, contains, lacks):
    with pytest.raises((ArgumentError, OptionError)) as raised:
        call()
    assert contains in str(raised.value)
    assert not lacks or lacks not in str(raised.value)


@pytest.mark.parametrize(
    "call", [lambda: gf.Graph(ROADS).sssp("a"), lambda: gf.sssp(ROADS, sources="a")]
)
def test_missing_weights_are_given_where_the_edges_are(call):
    with pytest.raises(WeightError, match=r"sssp\(edges, weight=\.\.\.\) or Graph\(edges, weight="):
        call()
    assert len(ON_ROADS.sssp("a").compute()) == len(
        gf.sssp(ROADS, weight="km", sources="a").compute()
    )


@pytest.mark.parametrize("of", [gf, ON_ROADS, ROADS.gf], ids=["module", "Graph", "accessor"])
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("dijkstra", "sssp"),
        ("bellman_ford", "sssp"),
        ("weakly_connected_components", "connected_components"),
        ("minimum_spanning_tree", "minimum_spanning_forest"),
        ("coreness", "core_number"),
        ("community_leiden", "leiden"),
    ],
)
def test_functions_of_other_libraries_are_found(of, name, meant):
    with pytest.raises(AttributeError, match=rf"'{name}'; did you mean '{meant}'\?$"):
        getattr(of, name)


def test_members_of_graphs_of_other_libraries_are_found():
    for name, meant in (
        ("nodes", "vertices"),
        ("number_of_nodes", "num_vertices"),
        ("is_directed", "directed"),
    ):
        with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
            getattr(ON_ROADS, name)


PUBLIC = {
    **{
        name: getattr(gf, name)
        for name in gf.__all__
        if isinstance(getattr(gf, name), FunctionType)
    },
    **{f"plot.{name}": getattr(gf.plot, name) for name in gf.plot.__all__},
    **{f"generate.{name}": getattr(gf.generate, name) for name in ("rmat", "grid", "path")},
    **{
        f"graph.{name}": getattr(ON_ROADS, name)
        for name, made in inspect.getmembers(gf.Graph, inspect.isfunction)
        if not name.startswith("_")
    },
}
# hybrid_cluster passes options on, and show_versions has none.
PUBLIC = {
    name: made for name, made in PUBLIC.items() if name not in ("hybrid_cluster", "show_versions")
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_says_which_options_it_has(name):
    with pytest.raises(ArgumentError, match="has no option 'no_such_option'; it has "):
        PUBLIC[name](no_such_option=1)


def test_every_word_of_another_library_stands_for_a_name_of_this_one():
    options = {name for made in PUBLIC.values() for name in inspect.signature(made).parameters}
    values = {"add", "or", "min", "max", "sum", "cpm", "modularity", "sorensen"}
    for word, meant in ALIASES.items():
        assert {*meant} <= options | {*gf.__all__} | {*dir(ON_ROADS)} | values, word


#: Options of NetworkX's functions that have another name here, and those without a counterpart.
NETWORKX = {
    "capacity": {"weight"},
    "cutoff": {"depth_limit", "cutoff", "max_length"},
    "length_bound": {"max_length"},
    "distance": {"depth_limit", "weight"},
    "ebunch": {"pairs"},
    "n": {"centers"},
    "center": {"centers"},
    "source": {"sources"},
    "sources": {"sources"},
    "target": {"targets"},
    "threshold": {"tol"},
    "undirected": {"directed"},
}


def test_names_of_networkx_lead_to_those_of_this_library():
    nx = pytest.importorskip("networkx")
    functions = pytest.importorskip("_graphflow_networkx").FUNCTIONS
    modules, seen = (nx, nx.community, nx.bipartite, nx.algorithms.connectivity), set()
    for name in functions:
        ours = name
        if name not in gf.__all__:
            with pytest.raises(AttributeError) as missing:
                getattr(gf, name)
            ours = named(str(missing.value))
        if ours == "shortest_paths":
            continue  # it reads results instead of edges, and its error says so
        theirs = next(getattr(one, name) for one in modules if hasattr(one, name))
        theirs = theirs.orig_func
        taken = inspect.signature(getattr(gf.Graph, ours)).parameters
        reading = inspect.signature(getattr(gf, ours)).parameters
        for option in inspect.signature(theirs).parameters:
            ends = option in ("source", "target")
            if option == "G" or option in (taken if ends else reading):
                continue
            with pytest.raises(ArgumentError) as wrong:
                getattr(ON_ROADS if ends else gf, ours)(*([] if ends else [ROADS]), **{option: 1})
            found = re.search(r"did you mean '(\w+)'", str(wrong.value))
            assert (found[1] if found else None) in NETWORKX.get(option, {None}) | {None}, (
                wrong.value
            )
            assert found or option not in NETWORKX or not {*taken} & NETWORKX[option], wrong.value
            seen.add(option)
    assert seen > {"cutoff", "distance", "ebunch", "nodes", "source", "sort_neighbors", "threshold"}
