"""Pictures, with matplotlib: of components, supersteps, what is near a vertex, and the task graph.

Each function draws on the Axes that it is given, or makes a figure for them, and returns the Axes: nothing
is shown or saved, and no settings are changed. Matplotlib is imported when something is drawn; it comes
with ``pip install "dask-graphflow[plot]"``.
"""

from __future__ import annotations

from .components import components
from .neighborhood import neighborhood
from .plan import plan
from .trace import trace

__all__ = ["components", "neighborhood", "plan", "trace"]
