"""Algorithms: one paper, one file, over the operators."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dask_graphflow.declarations.algorithm import Algorithm

#: Modules that declare no algorithm. The module of an algorithm has its name.
HELPERS = (
    "by_source",
    "communities",
    "eccentricity_bounds",
    "edge_program",
    "quotient",
    "shortest_paths",
)


class _Algorithms(Mapping[str, "Algorithm"]):
    """The declarations of all algorithms by name. The module of an algorithm is imported on first use."""

    def __init__(self) -> None:
        modules = pkgutil.iter_modules(__path__)
        self._names = sorted(module.name for module in modules if module.name not in HELPERS)

    def __getitem__(self, name: str) -> Algorithm:
        if name not in self:
            raise KeyError(name)
        importlib.import_module(f"{__name__}.{name}")
        from dask_graphflow.declarations.algorithm import DECLARED

        return DECLARED[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


ALGORITHMS = _Algorithms()
