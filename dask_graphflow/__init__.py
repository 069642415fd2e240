"""Large-graph analytics on Dask DataFrames."""

# A name is imported when it is first used (PEP 562), because all of them together take as long as pandas.
# ``__init__.pyi`` has their types.

from __future__ import annotations

import importlib as _importlib
import logging as _logging

from dask_graphflow.api import accessor as _accessor  # noqa: F401, registers frame.gf
from dask_graphflow.api import functions as _functions
from dask_graphflow.api.lazy_methods import IMPORTING as _IMPORTING

__version__ = "0.2.0"

_MODULES = {
    "costs": "costs",
    "datasets": "inputs.datasets",
    "exceptions": "exceptions",
    "generate": "inputs.generate",
    "integrations": "integrations",
    "plot": "plot",
}
# The module of each other name.
_NAMES = {
    "EdgeOp": "programs.edge_op",
    "Graph": "api.graph",
    "GraphflowError": "exceptions",
    "Hybrid": "graph.shares",
    "calibrate": "api.estimate",
    "estimate": "api.estimate",
    "hybrid_cluster": "tasks.hybrid_cluster",
    "load_graph": "api.load",
    "read_edges": "inputs.files.read_edges",
    "shortest_paths": "api.shortest_paths",
    "show_versions": "api.versions",
    "stable_ids": "api.stable_ids",
    "vacuum": "api.vacuum",
    **dict.fromkeys(_functions.__all__, "api.functions"),
}
__all__ = ["__version__", *_MODULES, *_NAMES]

_logging.getLogger(__name__).addHandler(_logging.NullHandler())


def __getattr__(name: str) -> object:
    with _IMPORTING:
        if name in _MODULES:
            found = _importlib.import_module(f"{__name__}.{_MODULES[name]}")
        elif name in _NAMES:
            found = getattr(_importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
        else:
            from dask_graphflow.showing.suggestions import attribute_error

            raise attribute_error(__name__, name, __all__)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
