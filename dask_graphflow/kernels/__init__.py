"""Kernels: one definition each, one twin for the host and one for the device."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .gpu import require_gpu
from .memory import no_room

__all__ = ["index_dtype", "kernels_for", "no_room", "require_gpu"]


def index_dtype(count: int) -> str:
    """Return the narrowest dtype of the kernels' that holds the indices of `count` items."""
    return "int32" if count <= 2**31 else "int64"


def kernels_for(data: Any) -> ModuleType:
    """Return the kernel module for where `data` (a frame, a series or an array) lies."""
    if type(data).__module__.partition(".")[0] in ("cudf", "cupy"):
        from . import device

        return device
    from . import host

    return host
