"""A common form of results, so that they can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import DisagreementError
from .inputs import Graph


@dataclass(frozen=True)
class Labels:
    """The time of a run, and its result.

    Attributes
    ----------
    seconds : float
    vertices : array
        The ids that have an edge, in ascending order.
    components : array
        The smallest id of each vertex's component.
    """

    seconds: float
    vertices: npt.NDArray[Any]
    components: npt.NDArray[Any]

    def agree(self, name: str, other: Labels, other_name: str) -> None:
        """Raise unless the two are equal, vertex by vertex."""
        if not np.array_equal(self.vertices, other.vertices):
            raise DisagreementError(
                f"{name} and {other_name} do not have the same vertices in the same order: the "
                f"first has {len(self.vertices)}, the second {len(other.vertices)}"
            )
        wrong = np.flatnonzero(self.components != other.components)
        if len(wrong):
            at = wrong[0]
            raise DisagreementError(
                f"{name} and {other_name} differ at {len(wrong)} of {len(self.vertices)} vertices; "
                f"vertex {self.vertices[at]} is in component {self.components[at]} for the "
                f"first and {other.components[at]} for the second"
            )

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the sizes of the components, the largest first."""
        counts = np.unique(self.components, return_counts=True)[1]
        return np.sort(counts)[::-1]


@dataclass(frozen=True)
class Census:
    """The time of a run that only reports the number of components and the sizes of the largest.

    Attributes
    ----------
    seconds : float
    vertices : int
        Number of vertices, including those without an edge.
    components : int
    largest : tuple of int
        Sizes in descending order.
    """

    seconds: float
    vertices: int
    components: int
    largest: tuple[int, ...]

    def agree(self, name: str, other: Labels, other_name: str) -> None:
        """Raise unless the number and the sizes of components are the same in the other result."""
        alone = self.vertices - len(other.vertices)
        sizes = other.sizes()
        if self.components != len(sizes) + alone:
            raise DisagreementError(
                f"{name} counts {self.components} components, {alone} of them vertices without an "
                f"edge; {other_name} has {len(sizes)} besides those"
            )
        expected = tuple([*sizes[: len(self.largest)].tolist(), *[1] * alone][: len(self.largest)])
        if self.largest != expected:
            raise DisagreementError(
                f"{name} finds the largest components to have {self.largest} vertices, "
                f"{other_name} {expected}"
            )


def canonical(seconds: float, labels: Any, ids: Any, graph: Graph) -> Labels:
    """Name each component of a peer's result by the smallest id in it.

    Parameters
    ----------
    seconds : float
    labels : array
        The component of each array index, in any numbering from 0.
    ids : Index or None
        The id of each array index; None if ids are array indices.
    graph : Graph
    """
    labels = np.asarray(labels)
    places = len(graph.has_edge) if ids is None else len(ids)
    if labels.shape != (places,) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise DisagreementError(f"{places} labels were due, these came: {labels!r}")
    order = np.arange(places) if ids is None else np.argsort(ids.to_numpy())
    labels = labels[order]
    # NumPy keeps the last of several values for an index. In reverse order, this is the smallest one.
    smallest = np.empty(int(labels.max()) + 1, "int64")
    smallest[labels[::-1]] = np.arange(len(labels))[::-1]
    components = smallest[labels]
    if ids is None:
        vertices = np.flatnonzero(graph.has_edge)
        return Labels(seconds, vertices, components[vertices])
    ordered = ids.to_numpy()[order]
    return Labels(seconds, ordered, ordered[components])
