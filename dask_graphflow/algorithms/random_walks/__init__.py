"""Random walks."""

from .random_walks import random_walks

__all__ = ["random_walks"]
