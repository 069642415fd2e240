"""Limits of the hardware: copying on the device, reading the edges once, and copying to the device."""

from __future__ import annotations

from typing import Any

from . import clock

COPY_BYTES = 1 << 31
LINK_BYTES = 1 << 29


def copying(repeat: int) -> dict[str, Any]:
    """Time a copy on the device, and a copy from pinned host memory to the device."""
    import cupy
    import cupyx

    into, source = (cupy.zeros(COPY_BYTES, "uint8") for _ in range(2))
    on_device = clock.several(lambda: cupy.copyto(into, source), repeat)
    pinned = cupyx.zeros_pinned(LINK_BYTES, "uint8")
    to_device = clock.several(lambda: into[:LINK_BYTES].set(pinned), repeat)
    return {
        "copy_bytes": 2 * COPY_BYTES,  # each byte is read and written
        "copy_seconds": on_device,
        "link_bytes": LINK_BYTES,
        "link_seconds": to_device,
    }


def reading(source: Any, target: Any, repeat: int) -> list[float]:
    """Time a reduction of both columns, which reads every edge once."""
    return clock.several(lambda: (source.max(), target.max()), repeat)
