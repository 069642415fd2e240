"""The graphs of most benchmarks: edges with weights, their sizes, and their files."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dask_graphflow as gf
from benchmarks.lib import side
from benchmarks.lib.errors import UnusableInputError

SMALL = "small"
PATH = "path"
SHORT_PATH = "short path"
SMALL_SCALE = 8
EDGE_FACTOR = 16
SEED = 0
PARTITIONS = 8
KEPT = 0.7  # fraction of a grid's edges that are kept, to imitate a road network
WARM_UP_EDGES = 1000  # edges of the frame that is used to compile the kernels
SHORTER = 10  # factor by which the path is shorter if there are several members


@dataclass(frozen=True)
class Edges:
    """An edge list with a weight from 1 to 255 for each edge."""

    frame: pd.DataFrame  # the columns src, dst, weight
    start: int  # a vertex in the largest component, where searches start

    @classmethod
    def of(cls, frame: pd.DataFrame, seed: int) -> Edges:
        """Add weights to a frame of src and dst."""
        weights = np.random.default_rng(seed).integers(1, 256, len(frame)).astype("float64")
        # The end of any edge is probably in the largest component, so the fifth edge is a fair choice.
        return cls(frame.assign(weight=weights), int(frame["src"].iloc[4]))


@dataclass(frozen=True)
class Sizes:
    """The sizes of the graphs, and the time for each row."""

    scale: int  # the R-MAT graph has ``2**scale`` ids
    grid: int  # vertices along each side of the grid
    path: int  # number of vertices of the path
    seconds: float  # seconds after which no further rounds of a row begin
    ids: str  # the dtype of the ids

    def at(self, scale: int | None) -> Sizes:
        """Return the sizes at another scale; the path grows like the sides of the grid."""
        if scale is None:
            return self
        factor = 2 ** ((scale - self.scale) / 2)
        grid, path = (max(4, round(size * factor)) for size in (self.grid, self.path))
        return replace(self, scale=scale, grid=grid, path=path)


HOST = Sizes(17, 300, 20_000, 6.0, "int64")
GPU = Sizes(22, 2000, 100_000, 5.0, "int32")


def rmat(scale: int) -> pd.DataFrame:
    """Return a power-law graph."""
    return gf.generate.rmat(scale, edge_factor=EDGE_FACTOR, seed=SEED).compute(scheduler="threads")


def grid(sizes: Sizes) -> pd.DataFrame:
    """Return a grid."""
    return gf.generate.grid(sizes.grid, sizes.grid).compute(scheduler="threads")


def road(sizes: Sizes) -> pd.DataFrame:
    """Return the roads of New York from the folder GRAPHFLOW_DATA, or a grid without some of its edges."""
    real = Path(os.environ.get("GRAPHFLOW_DATA", "")) / "road_ny.parquet"
    if real.is_file():
        return pd.read_parquet(real)[["src", "dst"]]
    whole = grid(sizes)
    return whole[np.random.default_rng(SEED).random(len(whole)) < KEPT]


def path(vertices: int) -> pd.DataFrame:
    """Return a path, which has as many supersteps as vertices."""
    return gf.generate.path(vertices).compute(scheduler="threads")


GRAPHS: dict[str, Callable[[Sizes], pd.DataFrame]] = {
    SMALL: lambda sizes: rmat(SMALL_SCALE),
    "rmat": lambda sizes: rmat(sizes.scale),
    "grid": grid,
    "road": road,
    PATH: lambda sizes: path(sizes.path),
    SHORT_PATH: lambda sizes: path(max(8, sizes.path // SHORTER)),
}
NAMED = tuple(graph for graph in GRAPHS if graph != SHORT_PATH)  # which only replaces the path


def write(frame: pd.DataFrame, folder: Path, ids: str) -> dict[str, Any]:
    """Write edges with weights as Parquet files; return the files, and the vertex to start from."""
    edges = Edges.of(frame.reset_index(drop=True), SEED)
    whole = edges.frame.astype({"src": ids, "dst": ids})

    def written(name: str, part: pd.DataFrame) -> str:
        part.to_parquet(folder / name, index=False, compression=None)
        return str(folder / name)

    bounds = [len(whole) * part // PARTITIONS for part in range(PARTITIONS + 1)]
    return {
        "few": [written("few.parquet", whole.head(WARM_UP_EDGES))],
        "files": [
            written(f"{low}.parquet", whole.iloc[low:high])
            for low, high in itertools.pairwise(bounds)
        ],
        "start": edges.start,
    }


def selected(only: Sequence[str], calls: Sequence[str] = side.CALLS) -> tuple[list[str], list[str]]:
    """Return the graphs and the calls that --only selects; builds come first."""
    names = {*NAMED, "build", *calls}
    if unknown := [name for name in only if name not in names]:
        raise UnusableInputError(f"--only {unknown[0]}: there are {', '.join(sorted(names))}")
    graphs = [graph for graph in NAMED if graph in only] or list(NAMED)
    chosen = set(only) - set(NAMED)
    builds = [*side.BUILDS] if not chosen or "build" in chosen else []
    return graphs, [*builds, *(name for name in calls if not chosen or name in chosen)]
