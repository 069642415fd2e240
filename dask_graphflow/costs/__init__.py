"""Predicted time and memory of calls, from the measured rates of workers and links."""

from __future__ import annotations

from dask_graphflow.graph.load_balance import share_out

from .cluster import ClusterSpec
from .links import Links
from .rates import Rates

__all__ = ["ClusterSpec", "Links", "Rates", "share_out"]
