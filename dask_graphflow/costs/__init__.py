"""Cost models: the measured speeds of kernels and links, stored per machine, and estimates from them."""

from __future__ import annotations

from dask_graphflow.graph.load_balance import share_out

from .cluster import ClusterSpec
from .curves import Rates
from .links import Links
from .store import rates

__all__ = ["ClusterSpec", "Links", "Rates", "rates", "share_out"]
