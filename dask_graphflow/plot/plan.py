"""The plan of connected components: chains of partitions, merges of their forests, and their workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.tables import counted
from dask_graphflow.tasks.forest_expr import ForestGang
from dask_graphflow.tasks.trees import Chain, Merge, depth

from .canvas import INK, PALETTE, new_axes, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 10.0  # maximum width of the longest chain, and of the merges; a dot is 0.5 if there is room
NARROW = 2.6  # minimum width, for the text below
ROWS = 4  # minimum height
TICKS = 24
NAMED = 12  # workers that get a line in the legend
ANYWHERE = "#8a939b"


@explained
def plan(labels: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the steps of a connected-components computation before it runs.

    The plot reads from left to right. Each chain hooks its partitions into one forest, one after another.
    The chains of a process share a forest, so their lines join. The forests of the processes are merged,
    two at a time, into one. Each process then writes its range of the labels. Colors show workers, if it
    is known which worker runs a chain: from the location of its partitions, or from ``inputs=``. A merge
    between two workers, which moves a forest, is a filled dot. A merge on one worker, or on unknown
    workers, is a ring.

    Parameters
    ----------
    labels : dask.dataframe.DataFrame
        The lazy result of :func:`dask_graphflow.connected_components`, or a lazy frame made from it.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes. Chain i is at y = i. The partitions, merges and labels are collections with these names
        (``get_label()``) and have one dot each.

    Raises
    ------
    OptionError
        `labels` is already computed, or comes from no call or from several calls of
        :func:`dask_graphflow.connected_components`.
    BackendError
        Matplotlib is not installed.

    Examples
    --------
    >>> import dask
    >>> import dask_graphflow as gf
    >>> edges = gf.generate.rmat(8, npartitions=16)
    >>> with dask.config.set(num_workers=4):
    ...     labels = gf.connected_components(edges, source="src", target="dst")
    >>> gf.plot.plan(labels).get_title(loc="left")
    '16 partitions in 4 chains, 0 merges'
    """
    pyplot()
    reduction = _find_reduction(labels)
    chains: Sequence[Chain] = reduction.operand("chains")
    merges: Sequence[Merge] = reduction.operand("merges")
    parts = int(reduction.operand("parts"))
    ax = new_axes(ax, (8.5, min(1.6 + 0.36 * max(len(chains), ROWS), 9)))
    workers = sorted({chain.at for chain in chains if chain.at is not None})
    colors: dict[str | None, str] = {None: ANYWHERE if workers else PALETTE[0]}
    colors |= {worker: PALETTE[i % len(PALETTE)] for i, worker in enumerate(workers)}
    paint = [colors[chain.at] for chain in chains]

    hooked = _hooks(ax, chains, paint)
    homes = _homes(chains, int(reduction.operand("members")))
    begin = _share(ax, homes, paint, hooked)
    between = [(homes.index(source), homes.index(target)) for source, target in merges]
    end = _merges(ax, chains, between, paint, begin)
    rows = max(len(chains), ROWS)
    _labels(ax, parts, paint[0], end, rows)
    marks = {hooked / 2: "hook", (begin + end) / 2: "merge", end + 3.0: "label"}
    ax.set_xticks(sorted(marks), [marks[x] for x in sorted(marks)])
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-1, end + 4.2)
    ax.set_ylim(rows - 0.3, -0.7)
    ax.set_ylabel("chain")
    ax.set_yticks(range(0, len(chains), -(-len(chains) // TICKS)))
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    _legend(ax, workers, colors, any(chain.at is None for chain in chains))
    partitions = counted(sum(len(chain.chunks) for chain in chains), "partition")
    deep = f", {depth(merges):,} deep" if merges else ""
    ax.set_title(
        f"{partitions} in {counted(len(chains), 'chain')}, {counted(len(merges), 'merge')}{deep}",
        loc="left",
    )
    return ax


def _find_reduction(labels: Any) -> Any:
    """Return the only reduction in the expression of a lazy frame."""
    give = "give the lazy result of connected_components, before compute() or persist()"
    if not hasattr(labels, "expr"):
        raise OptionError(f"labels is a {type(labels).__module__}.{type(labels).__name__}; {give}")
    reductions = {one._name: one for one in labels.expr.find_operations(ForestGang)}
    if len(reductions) != 1:
        raise OptionError(
            f"labels is the result of {counted(len(reductions), 'call')} of connected_components, not of "
            f"one; {give}"
        )
    (only,) = reductions.values()
    return only


def _hooks(ax: Axes, chains: Sequence[Chain], paint: Sequence[str]) -> float:
    """Draw a dot per partition, chain by chain, and return where the longest chain ends."""
    longest = max((len(chain.chunks) for chain in chains), default=1)
    step = min(0.5, WIDTH / longest)
    spots = [(step * i, row) for row, chain in enumerate(chains) for i in range(len(chain.chunks))]
    colors = [color for chain, color in zip(chains, paint, strict=True) for _ in chain.chunks]
    _dots(ax, "partitions", spots, colors, "s", 36 if step > 0.4 else 20)
    return max(step * longest, NARROW)


def _homes(chains: Sequence[Chain], members: int) -> list[int]:
    """Return the member that takes the forest of each chain, as far as that is known before it runs."""
    workers = list(dict.fromkeys(chain.at for chain in chains))
    if None in workers or len(workers) != members:
        return [row * members // len(chains) for row in range(len(chains))]
    return [workers.index(chain.at) for chain in chains]


def _share(ax: Axes, homes: Sequence[int], paint: Sequence[str], hooked: float) -> float:
    """Draw how the chains of a member join, in one forest, and return where the merges begin."""
    x = hooked + 0.4
    for row, home in enumerate(homes):
        first = homes.index(home)
        ax.plot([0, x, x], [row, row, first], color=paint[row], linewidth=1.0, zorder=1)
    return x + 0.4


def _merges(
    ax: Axes,
    chains: Sequence[Chain],
    merges: Sequence[Merge],
    paint: Sequence[str],
    begin: float,
) -> float:
    """Draw the line of each chain to its merges and a dot per merge, and return where the merges end."""
    step = min(1.2, WIDTH / max(depth(merges), 1))
    level = [0] * len(chains)
    at = [begin - 0.4] * len(chains)  # how far each chain's line is drawn
    spots, fills, rims = [], [], []
    for source, target in merges:
        level[target] = max(level[source], level[target]) + 1
        x = begin + step * level[target]
        moved = None not in (pair := (chains[source].at, chains[target].at)) and pair[0] != pair[1]
        style: dict[str, Any] = {"linewidth": 1.6 if moved else 1.0, "solid_joinstyle": "round"}
        ax.plot(
            [at[source], x, x], [source, source, target], color=paint[source], zorder=1, **style
        )
        ax.plot([at[target], x], [target, target], color=paint[target], linewidth=1.0, zorder=1)
        at[target] = x
        spots.append((x, target))
        fills.append(paint[target] if moved else "white")
        rims.append(paint[target])
    end = begin + max(step * level[0], NARROW)
    ax.plot([at[0], end + 1.0], [0, 0], color=paint[0], linewidth=1.0, zorder=1)
    _dots(ax, "merges", spots, fills, "o", 40, rims)
    return end


def _labels(ax: Axes, parts: int, color: str, end: float, rows: int) -> None:
    """Draw a dot per partition of the result, and a line from the merged forest to each."""
    spots = [(end + 3.0, part * min(0.7, (rows - 1) / parts)) for part in range(parts)]
    for x, y in spots:
        ax.plot([end + 1.0, x], [0, y], color=color, linewidth=0.6, alpha=0.6, zorder=1)
    _dots(ax, "labels", spots, [INK] * parts, "s", 36 if parts <= rows else 16)


def _dots(
    ax: Axes,
    name: str,
    spots: Sequence[tuple[float, float]],
    colors: Sequence[str],
    marker: str,
    size: float,
    rims: Sequence[str] | None = None,
) -> None:
    x, y = np.array(spots, float).reshape(-1, 2).T
    edges: Any = rims if rims is not None else "white"
    width = 1.4 if rims is not None else 0.5 if size > 20 else 0
    style: dict[str, Any] = {"edgecolors": edges, "linewidths": width, "zorder": 3, "label": name}
    ax.scatter(x, y, s=size, marker=marker, c=list(colors), **style)


def _legend(
    ax: Axes, workers: Sequence[str], colors: dict[str | None, str], some_anywhere: bool
) -> None:
    if not workers:
        return
    from matplotlib.lines import Line2D

    shown = [(worker.partition("://")[2] or worker, colors[worker]) for worker in workers[:NAMED]]
    if len(workers) > NAMED:
        shown.append((f"and {len(workers) - NAMED} more", "none"))
    if some_anywhere:
        shown.append(("any", ANYWHERE))
    style: dict[str, Any] = {"marker": "s", "linestyle": "none", "markersize": 6}
    handles = [Line2D([], [], color=color, label=name, **style) for name, color in shown]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    ax.legend(handles=handles, title="worker", frameon=False, **place)
