"""The update of a graph: each member makes the next version of its shard from the current one.

The ids of a batch are *numbered* among those of the graph (:mod:`.number`). The edges of the batch become
pairs of numbers, and each member splices the pairs of its own vertices into its *rows* (:mod:`.rows`). If
ids are new, all numbers behind them grow, and so do the members' ranges. Their bounds have to be whole
grains, so a few rows *move* to a neighboring member (:mod:`.move`).
"""

from __future__ import annotations

from .update import Batch, update

__all__ = ["Batch", "update"]
