"""The summary that a command prints at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from dask_graphflow.showing.tables import counted

LONGEST_ID = 40


class Summary(dict[str, Any]):
    """Lines with a name and a value; whole numbers have thousands separators."""

    def __init__(self) -> None:
        super().__init__()
        self._started = time.perf_counter()

    def add_components(self, counts: dict[str, Any]) -> None:
        """Add the counts of :func:`count_components`."""
        for threshold, count in counts.items():
            at = f" at {threshold}" if threshold else ""
            components, largest, name = next(count.itertuples(index=False))
            self[f"components{at}"] = int(components)
            if components:
                short = name if len(name) <= LONGEST_ID else f"{name[: LONGEST_ID - 3]}..."
                self[f"largest{at}"] = f"{counted(largest, 'vertex', 'vertices')}, {short}"

    def finish(self, output: str, peak: int | None) -> None:
        """Add the lines that are known only at the end."""
        self["seconds"] = f"{time.perf_counter() - self._started:.2f}"
        if peak is not None:
            self["peak memory"] = f"{peak / (1 << 20):,.0f} MiB"
        self["output"] = output

    def __str__(self) -> str:
        width = max(map(len, self))
        return "\n".join(
            f"{name:<{width}}  {value:,}" if isinstance(value, int) else f"{name:<{width}}  {value}"
            for name, value in self.items()
        )


def count_components(labels: Any, width: int, thresholds: Sequence[float] | None) -> dict[str, Any]:
    """Count the components, lazily.

    Parameters
    ----------
    labels : dask.dataframe.DataFrame
        `width` columns for the vertex, then as many for its component at each threshold.
    width : int
    thresholds : sequence of float or None

    Returns
    -------
    dict
        A frame for each threshold (as text), or for "" if there are no thresholds. It has one row, with the
        number of components, the size of the largest component and its name.
    """
    import pandas as pd

    from dask_graphflow.components.thresholds import component_names

    names = [""]
    if thresholds:
        names = [name.removeprefix("component_") for name in component_names(sorted(thresholds))]
    meta = pd.DataFrame({"components": [0], "largest": [0], "name": ["a"]}).iloc[:0]
    counts = {}
    for i, name in enumerate(names, start=1):
        columns = list(labels.columns[i * width : (i + 1) * width])
        sizes = labels.groupby(columns, sort=False).size()
        counts[name] = sizes.map_partitions(_count, meta=meta, enforce_metadata=False)
    return counts


def _count(sizes: Any) -> Any:
    import pandas as pd

    largest = sizes.max() if len(sizes) else 0
    # If several are largest, take the smallest name, so that the result does not depend on partitions.
    name = sizes.index[sizes == largest].min() if len(sizes) else ""
    text = ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    return pd.DataFrame({"components": [len(sizes)], "largest": [largest], "name": [text]})
