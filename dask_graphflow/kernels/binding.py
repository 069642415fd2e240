"""Which kernels are used: those of the host, or those of the device."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def on_device(data: Any) -> bool:
    """Return whether a frame, a series or an array is on a device."""
    return type(data).__module__.partition(".")[0] in ("cudf", "cupy")


def bind(package: str) -> Callable[[Any], Any]:
    """Return a function that returns a package's kernels for the host or device that stores some data."""
    modules: dict[type, Any] = {}

    def of(data: Any) -> Any:
        module = modules.get(type(data))
        if module is None:  # imported on first use, because it imports Numba or CuPy
            side = "device" if on_device(data) else "host"
            module = modules[type(data)] = importlib.import_module(f"{package}.{side}")
        return module

    return of
