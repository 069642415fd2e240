"""Cost models: the measured speeds of kernels and links, stored per machine, and estimates from them."""

from __future__ import annotations

from dask_graphflow.graph.load_balance import share_out

from .cluster import ClusterSpec
from .links import Links
from .rates import Rates
from .store import rates

__all__ = ["ClusterSpec", "Links", "Rates", "rates", "share_out"]
