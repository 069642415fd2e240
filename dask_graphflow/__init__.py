"""Large-graph analytics on Dask DataFrames."""

from __future__ import annotations

import logging as _logging
import typing as _typing

from dask_graphflow import costs, exceptions, plot
from dask_graphflow.api import functions as _functions
from dask_graphflow.api.accessor import GraphflowAccessor as _GraphflowAccessor  # noqa: F401
from dask_graphflow.api.estimate import calibrate, estimate
from dask_graphflow.api.functions import *  # noqa: F403
from dask_graphflow.api.graph import Graph
from dask_graphflow.api.load import load_graph
from dask_graphflow.api.shortest_paths import shortest_paths
from dask_graphflow.api.versions import show_versions
from dask_graphflow.graph.shares import Hybrid
from dask_graphflow.inputs.files.read_edges import read_edges
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.showing.arguments import attribute_error as _attribute_error
from dask_graphflow.tasks.hybrid_cluster import hybrid_cluster

from .exceptions import GraphflowError
from .inputs import datasets, generate

__all__ = [
    "EdgeOp",
    "Graph",
    "GraphflowError",
    "Hybrid",
    "__version__",
    "calibrate",
    "costs",
    "datasets",
    "estimate",
    "exceptions",
    "generate",
    "hybrid_cluster",
    "load_graph",
    "plot",
    "read_edges",
    "shortest_paths",
    "show_versions",
]
__all__ += _functions.__all__

__version__ = "0.2.0"

_logging.getLogger(__name__).addHandler(_logging.NullHandler())

if not _typing.TYPE_CHECKING:  # for mypy, every name would be an attribute

    def __getattr__(name: str) -> object:
        raise _attribute_error(__name__, name, __all__)
