"""The graphs of the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

import dask_graphflow as gf

from .errors import UnusableInputError


@dataclass(frozen=True)
class Recipe:
    """The description of a graph, from which another process can make the same graph.

    Attributes
    ----------
    scale, edge_factor, seed : int
        Parameters of the R-MAT graph, which are ignored if `path` is given.
    path : str or None
        Parquet file or folder with the edges.
    source, target : str
        Its columns.
    """

    scale: int = 20
    edge_factor: int = 16
    seed: int = 0
    path: str | None = None
    source: str = "src"
    target: str = "dst"

    @property
    def title(self) -> str:
        """The name of the graph in a report."""
        if self.path is not None:
            return Path(self.path).name
        return f"R-MAT scale {self.scale}, edge factor {self.edge_factor}, seed {self.seed}"

    @property
    def short(self) -> str:
        """The name of the graph in a file name."""
        return f"scale{self.scale}" if self.path is None else Path(self.path).stem

    def lazy(self, partitions: int) -> Any:
        """Return a Dask frame whose partitions are made or read on the workers that need them."""
        if self.path is None:
            return gf.generate.rmat(
                self.scale, edge_factor=self.edge_factor, seed=self.seed, npartitions=partitions
            )
        frame = read(self.path, self.source, self.target)
        return (
            frame.repartition(npartitions=partitions) if frame.npartitions < partitions else frame
        )

    def load(self) -> Graph:
        """Return the graph in memory."""
        frame = self.lazy(1).compute(scheduler="threads").reset_index(drop=True)
        if frame.isna().any(axis=None):
            raise UnusableInputError(f"{self.title} has null ids, which the peers do not take")
        if not len(frame):
            raise UnusableInputError(f"{self.title} has no edges")
        # Return the memory that reading has freed, so that a contender does not reuse it uncounted.
        pa.default_memory_pool().release_unused()
        return Graph(frame, self.source, self.target)


@dataclass(frozen=True)
class Graph:
    """An edge list in memory, as a frame with two columns."""

    frame: pd.DataFrame
    source: str
    target: str

    @property
    def nbytes(self) -> int:
        """Size of the edge list in bytes."""
        return int(self.frame.memory_usage(index=False, deep=True).sum())

    @cached_property
    def bound(self) -> int | None:
        """The largest id plus 1 if ids can be used as array indices directly, otherwise None."""
        ends = (self.frame[self.source], self.frame[self.target])
        if any(end.dtype != np.dtype("int64") for end in ends):
            return None
        low, high = min(end.min() for end in ends), max(end.max() for end in ends)
        return int(high) + 1 if low >= 0 and high < 2 * len(self.frame) else None

    def codes(
        self, frame: pd.DataFrame
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int, pd.Index | None]:
        """Return the input of peers: two int64 columns, and the number of ids.

        Ids that cannot be used as array indices are numbered first. The fourth value is then the index of
        ids in the order of their numbers, otherwise None.
        """
        if self.bound is not None:
            source, target = frame[self.source].to_numpy(), frame[self.target].to_numpy()
            return source, target, self.bound, None
        ends = pd.concat([frame[self.source], frame[self.target]], ignore_index=True)
        numbers, ids = pd.factorize(ends)
        return numbers[: len(frame)], numbers[len(frame) :], len(ids), pd.Index(ids)

    def small(self) -> Graph:
        """Return a few edges of the same kind, for a warm-up that compiles and imports."""
        frame = self.frame.head(4096)
        return Graph(frame % 1024 if self.bound is not None else frame, self.source, self.target)

    @cached_property
    def has_edge(self) -> npt.NDArray[np.bool_]:
        """A mask of the ids that have an edge, if ids are array indices."""
        mask = np.zeros(self.bound or 0, bool)
        mask[self.frame[self.source]] = True
        mask[self.frame[self.target]] = True
        return mask


def read(path: str, source: str, target: str) -> Any:
    """Return the two columns of a Parquet file or folder as a Dask frame."""
    try:
        frame = dd.read_parquet(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise UnusableInputError(f"{path} cannot be read as Parquet: {error}") from error
    missing = [name for name in (source, target) if name not in frame.columns]
    if missing:
        raise UnusableInputError(
            f"{path} has no column {missing[0]!r}; it has {', '.join(map(repr, frame.columns))}: "
            "name two with --source and --target"
        )
    return frame[[source, target]]
