"""Run a function when a library is imported, now or later."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def after_import(library: str, then: Callable[[], object]) -> None:
    """Call a function when a library has been imported: now, or at the end of its first import."""
    _finder.waiting[library] = then
    if library not in sys.modules and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    if library in sys.modules:  # also if another thread began to import it just now
        importlib.import_module(library)  # waits for that thread
        _finder.call(library)


class _Finder(MetaPathFinder):
    """Finds the libraries that functions wait for, as the other finders do, and calls the functions.

    It stays in ``sys.meta_path``: if a finder is removed, a thread that imports a module can skip another.
    """

    def __init__(self) -> None:
        self.waiting: dict[str, Callable[[], object]] = {}
        self._asking = threading.local()  # a set: libraries for which this thread asks others

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a library that a function waits for, and None for other modules."""
        # Another finder of this kind, such as that of another copy of the package, asks this one in turn.
        asking = self._asking.__dict__.setdefault("libraries", set())
        if fullname not in self.waiting or fullname in asking:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        asking.add(fullname)
        try:
            spec = next((spec for spec in specs if spec is not None), None)
        finally:
            asking.remove(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.call)  # type: ignore[assignment]
        return spec

    def call(self, library: str) -> None:
        """Call the function that waits for a library, once."""
        then = self.waiting.pop(library, None)
        if then is not None:
            then()


class _Loader:
    """The loader of a library, which then calls a function with the library's name."""

    def __init__(self, loader: Any, then: Callable[[str], None]) -> None:
        self._loader, self._then = loader, then

    def exec_module(self, module: Any) -> None:
        """Load the library, which is left with its own loader."""
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then(module.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


_finder = _Finder()
