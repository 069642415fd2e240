"""Labels of vertices, and the groups of vertices with the same label."""

from .coarser import contract, count_labels, find_smallest
from .groups import Groups
from .labels import labels_of_neighbors

__all__ = [
    "Groups",
    "contract",
    "count_labels",
    "find_smallest",
    "labels_of_neighbors",
]
