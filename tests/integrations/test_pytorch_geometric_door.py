"""`integrations.pytorch_geometric.NeighborSampler` in PyTorch Geometric's own loader."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import NodeLoader  # noqa: E402
from torch_geometric.nn import SAGEConv  # noqa: E402
from torch_geometric.utils import k_hop_subgraph, trim_to_layer  # noqa: E402

from dask_graphflow.integrations.pytorch_geometric import NeighborSampler  # noqa: E402

NODES = 60
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the real libraries


@pytest.fixture(scope="module")
def data():
    generator = torch.Generator().manual_seed(1)
    edge_index = torch.randint(NODES - 5, (2, 300), generator=generator)
    return Data(x=torch.eye(NODES), edge_index=edge_index, y=torch.arange(NODES))


def loaded(data, fanouts, *, nodes=None, seed=0, **options):
    """Return the batches of an epoch."""
    torch.manual_seed(seed)
    sampler = NeighborSampler(data, fanouts, replace=options.pop("replace", False))
    return [*NodeLoader(data, sampler, input_nodes=nodes, **options)]


@pytest.mark.parametrize("replace", [False, True])
def test_a_batch_has_the_nodes_first_and_edges_of_the_graph(data, replace):
    edges = {*map(tuple, data.edge_index.T.tolist())}
    batches = loaded(data, [3, 2], batch_size=16, replace=replace)
    assert [batch.batch_size for batch in batches] == [16, 16, 16, 12]
    for batch in batches:
        size = batch.batch_size
        assert batch.n_id[:size].equal(batch.input_id)
        assert batch.batch[:size].equal(torch.arange(size))
        assert batch.x.equal(data.x[batch.n_id])
        assert batch.y.equal(data.y[batch.n_id])
        assert {*map(tuple, batch.n_id[batch.edge_index].T.tolist())} <= edges
        source, target = batch.batch[batch.edge_index]
        assert source.equal(target)
        assert not torch.stack([batch.batch, batch.n_id]).unique(dim=1).size(1) < len(batch.n_id)
        assert np.bincount(batch.edge_index[1]).max() <= 3


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_all_edges_of_all_hops_are_the_subgraph_of_pytorch_geometric(data, hops):
    for batch in loaded(data, [-1] * hops):
        node = int(batch.input_id)
        nodes, _, _, _ = k_hop_subgraph(node, hops, data.edge_index, num_nodes=NODES)
        assert sorted(batch.n_id.tolist()) == sorted(nodes.tolist())
        inner, _, _, _ = k_hop_subgraph(node, hops - 1, data.edge_index, num_nodes=NODES)
        expected = data.edge_index[:, torch.isin(data.edge_index[1], inner)]
        found = batch.n_id[batch.edge_index]
        assert sorted(found.T.tolist()) == sorted(expected.T.tolist())


def test_a_model_computes_with_trimmed_hops_what_it_computes_with_all(data):
    (batch,) = loaded(data, [4, 3], batch_size=NODES)
    assert sum(batch.num_sampled_nodes) == batch.num_nodes
    assert sum(batch.num_sampled_edges) == batch.num_edges
    layers = [SAGEConv(NODES, NODES), SAGEConv(NODES, NODES)]
    full, x, edge_index = batch.x, batch.x, batch.edge_index
    for number, layer in enumerate(layers):
        full = layer(full, batch.edge_index)
        x, edge_index, _ = trim_to_layer(
            number, batch.num_sampled_nodes, batch.num_sampled_edges, x, edge_index
        )
        x = layer(x, edge_index)
    assert torch.allclose(x[:NODES], full[:NODES], atol=1e-5)


def test_pytorchs_seed_repeats_an_epoch_and_the_next_epoch_differs(data):
    def ids(batches):
        return [batch.n_id.tolist() for batch in batches]

    first = loaded(data, [2], batch_size=8, shuffle=True)
    assert ids(first) == ids(loaded(data, [2], batch_size=8, shuffle=True))
    assert ids(first) != ids(loaded(data, [2], batch_size=8, shuffle=True, seed=1))
    torch.manual_seed(0)
    loader = NodeLoader(data, NeighborSampler(data, [2]), batch_size=NODES)
    assert ids(loader) != ids(loader)


def test_a_graph_is_sampled_along_its_edges(data):
    source, target = data.edge_index.numpy()
    edges = pd.DataFrame({"source": target, "target": source})
    graph = gf.Graph(edges, vertices=np.arange(NODES))
    expected = loaded(data, [3, 2], batch_size=NODES)[0]
    torch.manual_seed(0)
    sampler = NeighborSampler(graph, [3, 2])
    nodes = Data(x=data.x, edge_index=torch.empty(2, 0, dtype=torch.long))
    found = next(iter(NodeLoader(nodes, sampler, batch_size=NODES)))
    assert found.n_id.equal(expected.n_id)
    assert found.edge_index.equal(expected.edge_index)


def test_a_node_that_is_given_twice_has_two_samples(data):
    (batch,) = loaded(data, [2], nodes=torch.tensor([7, 3, 7]), batch_size=3)
    assert batch.n_id[:3].tolist() == [7, 3, 7]
    first, last = (batch.n_id[batch.batch == at].tolist() for at in (0, 2))
    assert first == last
    assert len(first) > 1


def test_processes_of_the_loader_raise_instead_of_waiting(data):
    with pytest.raises(gf.exceptions.UsageError, match="num_workers=0"):
        loaded(data, [3, 2], batch_size=16, num_workers=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edge_attr": torch.zeros(300, 2)}, "del data.edge_attr"),
        ({"edge_index": None}, "without edge_index"),
    ],
)
def test_data_that_cannot_be_sampled_raises(data, change, message):
    changed = data.clone().update(change)
    with pytest.raises(gf.exceptions.OptionError, match=message):
        NeighborSampler(changed, [2])


def test_times_and_edges_raise(data):
    sampler = NeighborSampler(data, [2])
    with pytest.raises(gf.exceptions.UsageError, match="input_time"):
        next(iter(NodeLoader(data, sampler, input_time=torch.arange(NODES))))
    with pytest.raises(gf.exceptions.UsageError, match="NodeLoader"):
        sampler.sample_from_edges(None)
