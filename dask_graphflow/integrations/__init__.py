"""Functions for users of other tools: their objects in, their objects out.

Each module belongs to one tool, and is imported when it is first used. No other part of the library needs
the tool.
"""

from __future__ import annotations

import importlib as _importlib

__all__ = ["graphrag", "pytorch_geometric", "scanpy", "splink"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return _importlib.import_module(f"{__name__}.{name}")
    from dask_graphflow.showing.suggestions import attribute_error

    raise attribute_error(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
