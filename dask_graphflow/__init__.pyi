"""The names of the package, for type checkers. ``__init__.py`` imports each of them on first use."""

from dask_graphflow import costs, exceptions, integrations, plot
from dask_graphflow.api import functions as _functions
from dask_graphflow.api.estimate import calibrate, estimate
from dask_graphflow.api.functions import *  # noqa: F403
from dask_graphflow.api.graph import Graph
from dask_graphflow.api.load import load_graph
from dask_graphflow.api.shortest_paths import shortest_paths
from dask_graphflow.api.stable_ids import stable_ids
from dask_graphflow.api.vacuum import vacuum
from dask_graphflow.api.versions import show_versions
from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.graph.shares import Hybrid
from dask_graphflow.inputs import datasets, generate
from dask_graphflow.inputs.files.read_edges import read_edges
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.tasks.hybrid_cluster import hybrid_cluster

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
    "integrations",
    "load_graph",
    "plot",
    "read_edges",
    "shortest_paths",
    "show_versions",
    "stable_ids",
    "vacuum",
]
__all__ += _functions.__all__

__version__: str
