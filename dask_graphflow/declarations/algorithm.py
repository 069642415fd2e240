"""Declare an algorithm: one function of a graph, from which every way to call it is made at import.

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


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and its declaration.

    Attributes
    ----------
    run : callable
        The function. It takes the graph's view and the options.
    result : Result
        The rows and columns that it returns.
    options : mapping of str to Option
        The options, as the signature of `run` declares them.
    cost : Cost, optional
        What a call costs without the build of the graph, for estimates.
    weights : {"ignored", "optional", "required"}
        Whether the algorithm uses the weights of the edges.
    directed : bool
        Whether edges of a frame are directed by default.
    incoming : bool
        Whether the algorithm uses only the edges that enter vertices, as long as no option names vertices.
    supersteps : bool
        Whether the algorithm works in supersteps, which `trace` and `progress` report.
    edge_bytes : tuple of 2 int
        Bytes of memory per entry of the rows, which the algorithm needs even if the edges are on disk:
        without weights, and with weights.
    networkx : mapping of str to str
        The functions of NetworkX that return a dict of a column's values by node, and the column. The
        backend for NetworkX needs no code for these.
    """

    run: Callable[..., Answer]
    result: Result
    options: Mapping[str, Option]
    cost: Cost | None
    weights: str
    directed: bool
    incoming: bool
    supersteps: bool
    edge_bytes: tuple[int, int]
    networkx: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.run.__name__

    @cached_property
    def documentation(self) -> Documentation:
        """The docstring of the function."""
        return Documentation.parse(self.run.__doc__)


ALGORITHMS: dict[str, Algorithm] = {}


def algorithm(
    result: Result,
    *,
    cost: Cost | None = None,
    weights: str = "ignored",
    directed: bool = True,
    incoming: bool = False,
    supersteps: bool = True,
    edge_bytes: tuple[int, int] = (0, 0),
    networkx: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Return a decorator that declares an algorithm; see :class:`Algorithm` for the parameters."""

    def declare(run: Callable[..., Answer]) -> Callable[..., Answer]:
        ALGORITHMS[run.__name__] = Algorithm(
            run, result, options_of(run), cost, weights, directed, incoming, supersteps, edge_bytes,
            networkx or {},
        )  # fmt: skip
        return run

    return declare
