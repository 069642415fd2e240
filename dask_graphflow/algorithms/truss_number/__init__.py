"""Truss numbers of edges."""

from .truss_number import truss_number

__all__ = ["truss_number"]
