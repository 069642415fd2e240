"""Copy integers to a narrower type, in host memory, on the way to a device."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


def narrow(source: np.ndarray, to: np.ndarray) -> bool:
    """Copy integers to an array of another integer dtype; return whether all of them fit.

    The integers are read only once. The GIL is released for the whole copy.
    """
    if not source.dtype.isnative:
        source = source.astype(source.dtype.newbyteorder("="))
    own, other = np.iinfo(source.dtype), np.iinfo(to.dtype)
    low, high = max(own.min, other.min), min(own.max, other.max)
    return bool(_narrow()(source, to, source.dtype.type(low), source.dtype.type(high)))


@cache
def _narrow() -> Any:
    # Imported here, because only wide ids need Numba.
    from dask_graphflow.kernels.compiling import compiled

    # The loop has no early exit, so that it can be vectorized.
    def narrow(source: Any, to: Any, low: Any, high: Any) -> bool:
        fits = True
        for i in range(len(source)):
            value = source[i]
            fits &= (low <= value) & (value <= high)
            to[i] = value
        return fits

    return compiled(narrow)
