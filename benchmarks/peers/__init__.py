"""Other libraries, a file each.

A peer has ``available() -> str | None``, which says what is missing, and
``run(source, target, n) -> labels``: from two int64 arrays of ids below `n` to the component of
each id. It prepares nothing, so that all of its work is timed. A peer's file imports the library
inside its functions: only what is asked for is imported.
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
    """Say that a package is missing, if it is."""
    if importlib.util.find_spec(package) is None:
        return f"{package} is not installed; pip install {package}"
    return None
