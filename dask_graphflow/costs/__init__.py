"""Cost models: what kernels and links do a second, kept for each machine, and what follows from that."""

from __future__ import annotations

from .cluster import ClusterSpec
from .curves import Rates
from .links import Links
from .model import share_out
from .store import rates

__all__ = ["ClusterSpec", "Links", "Rates", "rates", "share_out"]
