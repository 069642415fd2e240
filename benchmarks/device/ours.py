"""The timed calls of this library."""

from __future__ import annotations

from typing import Any

import numpy as np

import dask_graphflow as gf
from dask_graphflow.components.forest import Forest
from dask_graphflow.kernels import kernels_for

END_TO_END = "graphflow, end to end"
KERNELS = "graphflow, kernels"
WORKERS = "graphflow, workers"
PLAIN = "graphflow, workers, renumber=False"
STREAMED = "graphflow, streamed"
READ_ON_HOST = "graphflow, read on the host and streamed"


def end_to_end(edges: Any) -> Any:
    """Return the label frame of a cuDF frame of edges."""
    return gf.connected_components(edges, source="src", target="dst").compute(scheduler="sync")


def lazy(edges: Any, **options: Any) -> Any:
    """Return the lazy labels of a Dask frame."""
    return gf.connected_components(edges, source="src", target="dst", **options)


def streamed(edges: Any, **how: Any) -> Any:
    """Return the labels of pandas edges that exceed the device's memory, found on the device."""
    labels = gf.connected_components(edges, source="src", target="dst", device="gpu")
    return labels.compute(**how or {"scheduler": "sync"})


def columns(frame: Any, first: str, second: str) -> tuple[Any, Any]:
    """Return two columns of a frame as arrays in the same memory."""
    kernels = kernels_for(frame)
    return kernels.asarray(frame[first]), kernels.asarray(frame[second])


def forest(like: Any, vertices: int) -> Forest:
    """Return a forest without edges, in the memory of the array `like`."""
    return Forest(like, size=vertices)


def marked_labels(forest: Forest, vertices: int) -> tuple[Any, Any]:
    """Return the vertices of a complete forest and their components, as arrays."""
    forest.mark_members()
    return labels_of(forest, vertices)


def forest_of(source: Any, target: Any, vertices: int) -> Forest:
    """Return the forest of edges on the device, with its members marked."""
    forest = Forest(source, size=vertices)
    forest.hook(source, target)
    forest.mark_members()
    return forest


def labels_of(forest: Forest, vertices: int) -> tuple[Any, Any]:
    """Return the vertices of a marked forest and their components, as arrays."""
    return forest.labels(0, vertices, np.dtype("int64"))
