"""Cost models: what kernels and links do a second, kept for each machine, and what follows from that."""

from __future__ import annotations

from dask_graphflow.graph.load_balance import share_out

from .cluster import ClusterSpec
from .curves import Rates
from .links import Links
from .store import rates

__all__ = ["ClusterSpec", "Links", "Rates", "rates", "share_out"]
