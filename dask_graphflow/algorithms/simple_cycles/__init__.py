"""Simple cycles, and which vertices can be on them."""

from .simple_cycles import simple_cycles

__all__ = ["simple_cycles"]
