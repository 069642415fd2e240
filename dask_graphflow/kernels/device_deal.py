"""Who gets which edges, on the device; :mod:`.host_deal` has the twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import index_dtype
from .device import _indices
from .device import namespace as cupy
from .device_words import from_words
from .launching import NULL, launch
from .sources import instance

__all__ = ["choose"]


def choose(source: Any, target: Any, owners: Any, members: int, *, shift: int) -> list[Any]:
    """Return for each member the edges that have an end it owns; see :func:`.host_deal.choose`."""
    source, both = _indices(source, source if target is None else target)
    words = cupy.empty((members, -(-len(source) // 64)), "uint64")
    if len(source):
        launch(
            instance("choose", source.dtype),
            len(source),
            source,
            NULL if target is None else both,
            np.uint64(len(source)),
            np.uint32(shift),
            owners,
            np.uint32(members),
            np.uint64(2 * words.shape[1]),
            words,
        )
    return [from_words(own, index_dtype(len(source))) for own in words]
