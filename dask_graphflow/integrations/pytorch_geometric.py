"""PyTorch Geometric: a sampler of neighbors for its loaders.

:class:`NeighborSampler` samples from a :class:`~dask_graphflow.Graph`, which can be larger than memory or
spread over workers. It needs neither pyg-lib nor torch-sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.api.graph import Graph
from dask_graphflow.exceptions import BackendError, OptionError, UsageError

try:
    import torch
    from torch_geometric.sampler import BaseSampler, SamplerOutput
except ImportError as error:
    raise BackendError(
        f"the sampler needs PyTorch Geometric, which cannot be imported ({error}); install it with "
        "pip install torch torch_geometric"
    ) from error

__all__ = ["NeighborSampler"]


class NeighborSampler(BaseSampler):  # type: ignore[misc]  # Any, because mypy skips it
    """Sample the neighborhoods of the nodes of each batch of a ``NodeLoader``.

    Each node of a batch has a sample of its own, as with ``disjoint=True`` of ``NeighborLoader``.

    Parameters
    ----------
    data : torch_geometric.data.Data or Graph
        The graph. The edges of `Data` lead to the node whose neighbors are sampled, as messages do. The
        edges of a :class:`~dask_graphflow.Graph` lead from this node to its neighbors, and its ids are the
        numbers of the nodes, from 0. The graph is built once, here.
    num_neighbors : list of int
        For each hop, the number of edges to sample per node; -1 samples all edges.
    replace : bool
        Whether an edge can be sampled several times for a node; False by default.

    Notes
    -----
    PyTorch's generator of random numbers gives each batch a seed, so ``torch.manual_seed`` makes an epoch
    repeatable. A batch depends only on this seed and its nodes, and not on threads or workers.

    A batch has ``batch`` and the number of sampled nodes and edges per hop. Its nodes and edges are in the
    order of the hops, so ``torch_geometric.utils.trim_to_layer`` works. It does not have ``e_id``, the
    numbers of its edges.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from torch_geometric.loader import NodeLoader
    >>> from dask_graphflow.integrations.pytorch_geometric import NeighborSampler
    >>> data = Data(x=torch.eye(4), edge_index=torch.tensor([[1, 2, 3], [0, 0, 1]]))
    >>> loader = NodeLoader(data, NeighborSampler(data, [2, 2]), input_nodes=torch.tensor([0]))
    >>> next(iter(loader)).n_id.tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, data: Any, num_neighbors: Sequence[int], *, replace: bool = False) -> None:
        if not isinstance(data, Graph):
            if getattr(data, "edge_index", None) is None:
                raise OptionError(
                    f"data is a {type(data).__name__} without edge_index; give a Data with edge_index, or "
                    "a Graph of this library"
                )
            if getattr(data, "edge_attr", None) is not None:
                raise OptionError(
                    "data has edge_attr, but a sample does not have the numbers of its edges; delete it "
                    "with del data.edge_attr"
                )
            source, target = data.edge_index.cpu().numpy()
            data = Graph(
                pd.DataFrame({"source": target, "target": source}, copy=False),
                vertices=np.arange(data.num_nodes),
            )
        self._graph = data.persist()
        self._fanouts, self._replace = [*num_neighbors], replace

    def sample_from_nodes(self, index: Any, **_: Any) -> Any:
        """Return a ``SamplerOutput`` for the nodes of a batch."""
        if torch.utils.data.get_worker_info() is not None:
            # The threads of kernels do not survive the fork, so a call would wait forever.
            raise UsageError(
                "the sampler was called in a process of the loader; give num_workers=0. A call uses all "
                "threads of this process, or the workers of Dask's cluster"
            )
        if index.time is not None:
            raise UsageError("samples do not depend on time; leave out input_time= of the loader")
        seeds = index.node.numpy()
        seed = int(torch.randint(2**62, ()))
        sample = self._graph.sample_neighbors(
            seeds=seeds, seed=seed, fanouts=self._fanouts, replace=self._replace
        ).compute()
        each = pd.DataFrame({"seed": seeds, "batch": np.arange(len(seeds))})
        edges = each.merge(sample, on="seed").sort_values("hop", kind="stable")
        # One number per node of each sample, in the order in which they are reached.
        vertices = np.concatenate([seeds, edges["target"], edges["source"]])
        batch = np.concatenate([each["batch"], edges["batch"], edges["batch"]])
        size = int(vertices.max(initial=0)) + 1
        number, reached = pd.factorize(batch * size + vertices)
        targets, sources = np.split(number[len(seeds) :], 2)
        counts = np.bincount(edges["hop"], minlength=len(self._fanouts) + 1)
        sizes = np.maximum.accumulate(number)[len(seeds) + counts.cumsum() - 1] + 1
        return SamplerOutput(
            node=torch.from_numpy(reached % size),
            row=torch.from_numpy(targets),
            col=torch.from_numpy(sources),
            edge=None,
            batch=torch.from_numpy(reached // size),
            num_sampled_nodes=np.diff(sizes, prepend=0).tolist(),
            num_sampled_edges=counts[1:].tolist(),
            metadata=(index.input_id, index.time),
        )

    def sample_from_edges(self, index: Any, neg_sampling: Any = None) -> Any:
        """Raise, since only samples of nodes are supported."""
        raise UsageError("this sampler samples for nodes, not for edges; use NodeLoader")
