"""Plots with matplotlib: graphs, results of algorithms, supersteps, and the task graph.

Each function draws on the given Axes or creates a figure, and returns the Axes. It does not show or save
the plot, and it does not change any settings. `layout` returns positions instead. Matplotlib and the
package that computes layouts are imported when they are needed. To install both, run
``pip install "dask-graphflow[plot]"``.
"""

from __future__ import annotations

from .communities import communities
from .components import components
from .degrees import degrees
from .graph import graph
from .layout import layout
from .neighborhood import neighborhood
from .plan import plan
from .trace import trace

__all__ = [
    "communities",
    "components",
    "degrees",
    "graph",
    "layout",
    "neighborhood",
    "plan",
    "trace",
]
