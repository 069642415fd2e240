"""Large-graph analytics on Dask DataFrames."""

from __future__ import annotations

from dask_graphflow import exceptions
from dask_graphflow._accessor import GraphflowAccessor as _GraphflowAccessor  # noqa: F401
from dask_graphflow.algorithms.cc import connected_components
from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.graph import generate
from dask_graphflow.operators.tune import tune_chunk_size

__all__ = [
    "GraphflowError",
    "__version__",
    "connected_components",
    "exceptions",
    "generate",
    "tune_chunk_size",
]

__version__ = "0.1.0"
