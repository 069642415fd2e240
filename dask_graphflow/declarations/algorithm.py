"""Declare an algorithm: one function of a graph, from which every way to call it is made.

``python3 dev.py generate`` writes the type stubs of the public functions and methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .answer import Answer, Result
from .cost import Cost
from .documentation import Documentation
from .option import Option, options_of
from .previous import Earlier


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and its declaration."""

    run: Callable[..., Answer]  # the function. It takes the graph's view and the options.
    result: Result  # the rows and columns that it returns
    options: Mapping[str, Option]  # the options, as the signature of `run` declares them
    cost: Cost | None  # what a call costs without the build of the graph, for estimates
    # {"ignored", "optional", "required"}. Whether the algorithm uses the weights of the edges.
    weights: str
    directed: bool  # whether edges of a frame are directed by default
    # Whether the algorithm uses only the edges that enter vertices, as long as no option names vertices.
    incoming: bool
    # Whether the algorithm works in supersteps, which `trace` and `progress` report.
    supersteps: bool
    # Bytes of memory per entry of the rows, which the algorithm needs even if the edges are on disk:
    # without weights, and with weights.
    edge_bytes: tuple[int, int]
    # {"all", "lightest"} or None. The rows of parallel edges that a call with the option `columns` returns,
    # if the algorithm has this option.
    parallel: str | None
    # The functions of NetworkX that return a dict of a column's values by node, and the column. The backend
    # for NetworkX needs no code for these.
    networkx: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.run.__name__

    @cached_property
    def previous(self) -> Earlier | None:
        """The option that takes the result of an earlier version of the graph, if there is one."""
        checks = (option.check for option in self.options.values())
        return next((check for check in checks if isinstance(check, Earlier)), None)

    @cached_property
    def documentation(self) -> Documentation:
        """The docstring of the function."""
        return Documentation.parse(self.run.__doc__)


#: The declarations of those algorithms whose modules were imported. ``algorithms.ALGORITHMS`` has all.
DECLARED: dict[str, Algorithm] = {}


def algorithm(
    result: Result,
    *,
    cost: Cost | None = None,
    weights: str = "ignored",
    directed: bool = True,
    incoming: bool = False,
    supersteps: bool = True,
    edge_bytes: tuple[int, int] = (0, 0),
    parallel: str | None = None,
    networkx: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Return a decorator that declares an algorithm; see :class:`Algorithm` for the parameters."""

    def declare(run: Callable[..., Answer]) -> Callable[..., Answer]:
        DECLARED[run.__name__] = Algorithm(
            run, result, options_of(run), cost, weights, directed, incoming, supersteps, edge_bytes,
            parallel, networkx or {},
        )  # fmt: skip
        return run

    return declare
