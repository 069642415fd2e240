"""The minimum spanning forest, and the steps that only it uses."""

from .minimum_spanning_forest import minimum_spanning_forest

__all__ = ["minimum_spanning_forest"]
