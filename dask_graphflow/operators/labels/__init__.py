"""Labels of vertices, and the groups of vertices with the same label."""

from .coarser import contract, label_sizes, smallest_in_groups
from .groups import Groups
from .labels import labels_of_neighbors

__all__ = [
    "Groups",
    "contract",
    "label_sizes",
    "labels_of_neighbors",
    "smallest_in_groups",
]
