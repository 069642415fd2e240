"""Kernels: one definition each, one twin for the host and one for the device."""

from __future__ import annotations

from types import ModuleType
from typing import Any

__all__ = ["kernels_for"]


def kernels_for(data: Any) -> ModuleType:
    """Return the kernel module for where `data` (a frame, a series or an array) lies."""
    if type(data).__module__.partition(".")[0] in ("cudf", "cupy"):
        from . import device

        return device
    from . import host

    return host
