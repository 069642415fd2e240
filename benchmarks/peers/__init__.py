"""Other libraries, one file each.

A peer has two functions. ``available() -> str | None`` returns what is missing. ``run(source, target, n) ->
labels`` takes two int64 arrays of ids below `n`, and returns the component of each id. Nothing is prepared
before ``run``, so that all of its work is timed. A peer's file imports the library inside its functions, so
that only the requested libraries are imported.
"""

from __future__ import annotations

import importlib.util
import pkgutil
from types import ModuleType

from benchmarks.errors import UnusableInputError


def names() -> list[str]:
    """Return the names of all peers."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> ModuleType:
    """Return a peer's module."""
    if name not in names():
        raise UnusableInputError(f"no peer is called {name!r}; there are {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")


def missing(package: str) -> str | None:
    """Return a message if a package is missing, otherwise None."""
    if importlib.util.find_spec(package) is None:
        return f"{package} is not installed; pip install {package}"
    return None
