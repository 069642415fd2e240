"""Kernels that are being moved."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from dask_graphflow.kernels import on_device


def of(data: Any) -> ModuleType:
    """Return the kernels for the host or device that stores `data`."""
    if on_device(data):
        from . import device

        return device
    from . import host

    return host
