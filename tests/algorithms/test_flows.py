"""Maximum flows and minimum cuts: those of NetworkX, with the same bits for every partitioning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame
from oracles import confirm
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from shapes import WAYS, at_random, grid, rmat

import dask_graphflow as gf
from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import GraphMemoryError, OptionError, WeightError
from dask_graphflow.kernels import memory
from dask_graphflow.kernels.flow import host as host_flow

pytestmark = pytest.mark.usefixtures("backend")

CAPACITIES = {"none": None, "whole": [0, 1, 2, 9], "quarters": [0.25, 0.5, 3.0],
              "rounded": [0.1, 0.7, 1 / 3]}  # fmt: skip
# Several sources and sinks. In the grid, they are far from each other.
SHAPES = {"grid": (grid(6, "right", "down"), [0, 1], [35, 34]),
          "random": (at_random(40, 160), [0], [1]),
          "parallel": ([(0, 1), (0, 1), (1, 0), (1, 2), (2, 2), (2, 1), (1, 2)], [0], [2]),
          "apart": ([(0, 1), (2, 3)], [0], [3])}  # fmt: skip


def with_capacities(pairs, values, seed=0):
    """Return a frame of edges with capacities that are drawn from some values."""
    edges = frame(pairs)
    if values is None:
        return edges
    return edges.assign(w=np.random.default_rng(seed).choice(values, len(edges)))


def listed(result):
    return result.compute().reset_index(drop=True)


@WAYS
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("capacities", CAPACITIES)
def test_flows_and_cuts_are_those_of_networkx(built, shape, capacities, directed):
    pairs, sources, sinks = SHAPES[shape]
    edges = with_capacities(pairs, CAPACITIES[capacities])
    graph, asked = built(edges, directed=directed), {"sources": sources, "sinks": sinks}
    for name in ("maximum_flow", "minimum_cut"):
        found = getattr(graph, name)(**asked).compute()
        confirm(name, found, edges, asked, directed=directed, rtol=1e-12)
        amounts = {"maximum_flow": "flow", "minimum_cut": "cut"}[name]
        whole = capacities in ("none", "whole")
        assert found[amounts].dtype == ("int64" if whole else "float64")


@WAYS
@pytest.mark.parametrize(
    ("pairs", "most"),
    [(rmat(9), 100), (grid(24, "right", "down"), 100), (grid(24, "right", "down"), 1)],
)
def test_flows_have_the_value_of_scipy(built, directed, pairs, most):
    """On short and on long paths, with several sources and sinks."""
    edges = with_capacities(pairs, range(1, most + 1))
    count = int(edges[["a", "b"]].to_numpy().max()) + 1
    ways = [edges, edges.rename(columns={"a": "b", "b": "a"})[edges.a != edges.b]]
    graph = built(edges, directed=directed)
    often = edges.a.value_counts(sort=False).sort_values(kind="stable").index
    for ends in (often[-2:], often[::-40], often[::25]):
        sources, sinks = ends[::2].tolist(), ends[1::2].tolist()
        joined = [*([edges] if directed else ways)]
        joined += [pd.DataFrame({"a": count, "b": sources, "w": 1 << 20})]
        joined += [pd.DataFrame({"a": sinks, "b": count + 1, "w": 1 << 20})]
        whole = pd.concat(joined)
        matrix = csr_array((whole.w, (whole.a, whole.b)), shape=(count + 2, count + 2))
        value = maximum_flow(csr_array(matrix.astype("int32")), count, count + 1).flow_value
        flow = graph.maximum_flow(sources, sinks).compute()
        assert flow.flow[flow.source.isin(sources)].sum() == value
        assert not flow.target.isin(sources).any()
        assert not flow.source.isin(sinks).any()
        assert graph.minimum_cut(sources, sinks).compute().cut.sum() == value


@WAYS
def test_flows_have_the_same_bits_for_every_partitioning(built, directed):
    edges = with_capacities(rmat(8), [0.1, 0.7, 5.0])
    asked = {"sources": [edges.a[0], edges.a[1]], "sinks": [edges.b[2]]}
    one = gf.Graph(edges, **ENDS, weight="w", directed=directed)
    other = built(edges.sample(frac=1, random_state=1), directed=directed)
    text = edges.assign(**{end: edges[end].map("{:05}".format) for end in "ab"})
    renamed = built(text, directed=directed)
    for name in ("maximum_flow", "minimum_cut"):
        expected = getattr(one, name)(**asked).compute()
        assert len(expected) > 5
        pd.testing.assert_frame_equal(listed(getattr(other, name)(**asked)), expected)
        ids = {option: [f"{v:05}" for v in named] for option, named in asked.items()}
        found = listed(getattr(renamed, name)(**ids))
        for column in set(found) & {"source", "target", "vertex"}:
            found[column] = found[column].astype("int64")
        pd.testing.assert_frame_equal(found, expected)


def test_the_source_side_is_the_smallest(built):
    """Each edge of a path is a minimum cut."""
    cut = built(frame([(i, i + 1) for i in range(9)])).minimum_cut([0], [9]).compute()
    assert cut.vertex[cut.source_side].tolist() == [0]
    assert cut["cut"].tolist() == [1, *[0] * 9]


def test_a_flow_between_near_vertices_reads_only_their_surroundings(monkeypatch):
    """A chain of 2000 vertices leaves the source."""
    chain = [(0, 10), *((i, i + 1) for i in range(10, 2000))]
    graph = gf.Graph(frame([*chain, (0, 1), (0, 2), (2, 1)]), **ENDS).persist()
    read = []
    put = host_flow._list.py_func

    def noted(offsets, lists, v, which):
        read.append(offsets[v + np.uint64(1)] - offsets[v])
        put(offsets, lists, v, which)

    for name in ("_send", "_send_between", "_grow", "_adopt", "_cut_off", "_join_again", "_find_parent",
                 "_unlist", "_orphan", "_spare", "_least_to_root", "_send_to_root"):  # fmt: skip
        monkeypatch.setattr(host_flow, name, getattr(host_flow, name).py_func)
    monkeypatch.setattr(host_flow, "_list", noted)
    assert graph.maximum_flow(0, 1).compute().flow.sum() == 3
    assert sum(read) < 40


def test_wrong_capacities_and_vertices_are_refused(built):
    edges = frame([(0, 1), (1, 2)])
    with pytest.raises(OptionError, match="vertex 1 is among the sources and among the sinks"):
        built(edges).maximum_flow([0, 1], [1, 2]).compute()
    for bad in (-1.0, np.inf):
        with pytest.raises(WeightError, match="a capacity is negative, infinite or NaN"):
            built(edges.assign(w=[1.0, bad])).minimum_cut([0], [2]).compute()
    with pytest.raises(WeightError, match=r"the weights sum to more than 2\*\*61"):
        built(edges.assign(w=[2**61, 2**61])).maximum_flow([0], [2]).compute()
    with pytest.raises(
        WeightError, match=r"a capacity is below .* rounded to 0 because the largest"
    ):
        built(edges.assign(w=[1e-30, 1.0])).maximum_flow([0], [2]).compute()


@WAYS
def test_whole_capacities_can_sum_to_2_to_the_61(built, directed):
    edges = frame([(0, 1), (1, 2)]).assign(w=[2**60, 2**60])
    found = built(edges, directed=directed).maximum_flow([0], [2]).compute()
    assert found.flow.tolist() == [2**60, 2**60]


def test_edges_that_are_left_out_as_advised_are_enough(built):
    """The error shows rounded numbers, and capacities just below half of the unit are rounded to 0."""
    edges = frame([(0, 1)] * 60)
    for large in 2.0 ** np.arange(8):
        unit = large * 2.0**-55
        weighed = edges.assign(w=[*[large] * 40, *np.linspace(0.48 * unit, 0.52 * unit, 20)])
        with pytest.raises(WeightError) as refused:
            built(weighed).maximum_flow([0], [1]).compute()
        least = float(str(refused.value).rsplit(" ", 1)[1])
        found = built(weighed[weighed.w >= least]).maximum_flow([0], [1]).compute()
        assert found.flow.sum() >= large


def test_infinite_capacities_can_be_replaced_as_advised(built):
    edges = frame([(0, 1), (1, 2), (1, 2)]).assign(w=[np.inf, 1.0, 2.0])
    with pytest.raises(WeightError, match="give twice the sum of the others in place of infinity"):
        built(edges).minimum_cut([0], [2]).compute()
    cut = built(edges.replace({"w": {np.inf: 6.0}})).minimum_cut([0], [2]).compute()
    assert cut["cut"].tolist() == [0, 3, 0]


def test_members_without_room_for_a_network_say_so(built, monkeypatch):
    monkeypatch.setattr(memory, "CHECKED", 0)
    graph = built(at_random(200, 500))
    graph.num_vertices  # noqa: B018  # the graph is built with the usual limit
    monkeypatch.setattr(Resources, "memory", lambda self, device: 1000)
    with pytest.raises(GraphMemoryError, match=r"(all edges|the network of a flow) needs "):
        graph.maximum_flow([0], [1]).compute()
