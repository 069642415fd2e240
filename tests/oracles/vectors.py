"""The oracle of vectors: FastRP as the Graph Data Science library defines it, by NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.graph.hash_ids import hash_ids
from dask_graphflow.operators.random_signs import random_signs

from .networks import Form, Network
from .oracle import SEED, oracle

NOISE = 2.0**-32


@oracle("sums", rtol=1e-4, atol=1e-5,
        dimensions=([1, 2, 5, 16, 17, 40], [0, -1, 1.5, None, 10**12]),
        weights=([(0, 1, 1), [1], (0, 0, -1.5, 2), (0.5, 0)], [[], [0, 0.0], [math.nan], 1, "12", [None]]),
        normalization=([-0.5, 0, -1, 1, 0.3], [-1.1, 2, math.nan, None]), seed=SEED)  # fmt: skip
def fast_rp(net: Network, o: dict[str, Any], rows: Any) -> Any:
    ids = Form(net.ids).columns("v", net.vertices) if net.ids else {"v": net.vertices}
    keys = hash_ids(pd.DataFrame(ids)).view("int64")
    signs = random_signs(keys, o.get("seed", 0), range(o.get("dimensions", 128))).astype(float)
    matrix = net.matrix()
    degrees = np.maximum([len(ends) for ends in net.near().values()], 1.0)
    powers = degrees ** o.get("normalization", -0.5)
    powers = (powers / powers.max(initial=0)).astype("float32")
    leaving = matrix.sum(1)
    vectors, found = signs * powers[:, None], np.zeros_like(signs)
    for weight in o.get("weights", (0, 1, 1)):
        vectors = (matrix @ vectors) / np.where(leaving == 0, 1.0, leaving)[:, None]
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        there = length > NOISE * math.sqrt(signs.shape[1])
        found += weight * np.divide(vectors, length, out=np.zeros_like(vectors), where=there)
    return dict(zip(net.vertices, found, strict=True))
