"""Plots with matplotlib: components, supersteps, the neighborhood of a vertex, and the task graph.

Each function draws on the given Axes or creates a figure, and returns the Axes. It does not show or save
the plot, and it does not change any settings. Matplotlib is imported when something is drawn. To install
it, run ``pip install "dask-graphflow[plot]"``.
"""

from __future__ import annotations

from .components import components
from .neighborhood import neighborhood
from .plan import plan
from .trace import trace

__all__ = ["components", "neighborhood", "plan", "trace"]
