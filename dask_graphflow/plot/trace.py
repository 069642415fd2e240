"""Supersteps: the frontier, direction and time of each one, and the time that members waited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

from dask_graphflow.exceptions import EdgeListError, UnknownColumnError
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.tasks.clients import check_waiting, compute

from .canvas import INK, PALETTE, plain, pyplot, with_commas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDED = ("superstep", "direction", "frontier", "edges", "seconds")
SPENT = ("compute", "communicate", "wait")
DIRECTIONS = ("push", "pull", "stream")
SPENT_COLORS = dict(zip(SPENT, (PALETTE[4], PALETTE[3], "#d5d8dc"), strict=True))
MOST_DOTS = 60  # up to this many supersteps, bars have gaps and each superstep has a dot
MEMBERS = 16  # maximum number of labeled members
SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


@explained
def trace(steps: Any, *, fig: Any = None) -> np.ndarray:
    """Plot the supersteps of an algorithm, in panels from top to bottom.

    1. The number of vertices in the frontier of each superstep, and of the edges that leave them, colored
       by direction (push or pull).
    2. The time of each superstep. If the graph has several shards: how this time was spent on average, and
       the compute time of the slowest member, which the others wait for.
    3. Only for several shards: the bytes that all members sent.
    4. Only for several shards: how each member spent its time over all supersteps.

    Parameters
    ----------
    steps : pandas.DataFrame or dask.dataframe.DataFrame
        The second frame that ``trace=True`` returns; see :func:`dask_graphflow.bfs`. A Dask frame is
        computed, which runs the algorithm. To keep the result as well, compute both frames together first.
    fig : matplotlib.figure.Figure or SubFigure, optional
        Figure to draw on. By default a new one.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (2,) or (4,)
        The panels from top to bottom: two for a graph in one process, four for several shards.

    Raises
    ------
    UnknownColumnError
        `steps` lacks a column of a trace.
    EdgeListError
        `steps` is not a DataFrame.
    BackendError
        Matplotlib is not installed.
    UsageError
        `steps` is lazy, and the caller is the event loop of an asynchronous client.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ring = pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 2, 3, 0]})
    >>> found, steps = gf.bfs(ring, source="a", target="b", sources=[0], trace=True)
    >>> work, time = gf.plot.trace(steps)
    >>> work.lines[0].get_ydata().tolist()
    [1, 1, 1, 1]
    """
    plt = pyplot()
    steps = _check(steps)
    many = "member" in steps.columns
    if fig is None:
        fig = plt.figure(figsize=(8, 8 if many else 5), layout="constrained")
    heights = [3, 2, 1.5, 2] if many else [3, 2]
    panels: np.ndarray = fig.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights})
    for panel in panels[1:3]:
        panel.sharex(panels[0])
    whole = _by_superstep(steps)
    _work(panels[0], whole)
    if many:
        _spent(panels[1], whole)
        _sent(panels[2], whole)
        _members(panels[3], steps)
    else:
        _time(panels[1], whole)
    shared = panels[:3] if many else panels
    for panel in shared[:-1]:
        panel.tick_params(labelbottom=False)
    for panel in shared:
        plain(panel, "y")
    last = shared[-1]
    last.set_xlabel("superstep")
    last.xaxis.get_major_locator().set_params(integer=True)
    last.set_xlim(whole.index.min() - 0.5, whole.index.max() + 0.5) if len(whole) else None
    members = f" on {counted(steps['member'].nunique(), 'member')}" if many else ""
    panels[0].set_title(counted(len(whole), "superstep") + members, loc="left", pad=26)
    return panels


def _check(steps: Any) -> pd.DataFrame:
    if not hasattr(steps, "columns"):
        raise EdgeListError(
            f"steps is a {type(steps).__module__}.{type(steps).__name__}; give the second frame that "
            "trace=True returns"
        )
    have = list(steps.columns)
    needed = [*NEEDED, *(("member", *SPENT, "bytes") if "member" in have else ())]
    for name in needed:
        if name not in have:
            raise UnknownColumnError(
                f"steps has no column {name!r}, but {', '.join(map(repr, have)) or 'none'}; "
                f"give the second frame that trace=True returns{nearest(name, have)}"
            )
    if isinstance(steps, dd.DataFrame):
        check_waiting("gf.plot.trace", "gf.plot.trace(...)")
        (steps,) = compute(steps)
    frame: pd.DataFrame = steps
    return frame


def _by_superstep(steps: pd.DataFrame) -> pd.DataFrame:
    """Return one row per superstep. Counts already include all members; seconds are the maximum."""
    how = {"direction": "first", "frontier": "first", "edges": "first", "seconds": "max"}
    if "member" in steps.columns:
        how |= dict.fromkeys(SPENT, "mean") | {"bytes": "sum"}
    whole = steps.groupby("superstep").agg(how)
    if "member" in steps.columns:
        whole["slowest"] = steps.groupby("superstep")["compute"].max()
    return whole


def _directions(whole: pd.DataFrame) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield each direction that occurs, its color, and a mask of its supersteps."""
    there = set(whole["direction"])
    for number, name in enumerate([*DIRECTIONS, *sorted(there - set(DIRECTIONS))]):
        if name in there:
            yield name, PALETTE[number % len(PALETTE)], (whole["direction"] == name).to_numpy()


def _work(ax: Axes, whole: pd.DataFrame) -> None:
    ax.set_yscale("log", nonpositive="clip")
    most = max(int(whole[["frontier", "edges"]].to_numpy().max(initial=1)), 10)
    ax.set_ylim(0.7, 2 * most)
    for name, color, chosen in _directions(whole):
        edges = np.where(chosen, whole["edges"], np.nan)
        _bars(ax, whole.index, edges, color=color, label=f"edges, {name}", least=0.5)
    mark = "o-" if len(whole) <= MOST_DOTS else "-"
    style = {"color": INK, "markersize": 4, "linewidth": 1.2, "path_effects": _halo()}
    ax.plot(whole.index, whole["frontier"].to_numpy(), mark, label="frontier (vertices)", **style)
    ax.yaxis.set_major_formatter(with_commas)
    ax.set_ylabel("edges, vertices")
    _legend(ax)


def _time(ax: Axes, whole: pd.DataFrame) -> None:
    scale, unit = _unit(whole["seconds"], SECONDS)
    for _, color, chosen in _directions(whole):
        _bars(ax, whole.index, np.where(chosen, whole["seconds"] / scale, np.nan), color=color)
    ax.set_ylabel(f"time ({unit})")
    ax.set_ylim(bottom=0)


def _spent(ax: Axes, whole: pd.DataFrame) -> None:
    scale, unit = _unit(whole["seconds"], SECONDS)
    below = np.zeros(len(whole))
    for name, color in SPENT_COLORS.items():
        # Parts of a time are measured separately, so that one of them may come out below zero.
        values = whole[name].clip(lower=0).to_numpy() / scale
        _bars(ax, whole.index, values, below=below, color=color, label=name)
        below = below + values
    mark = "_" if len(whole) <= MOST_DOTS else "-"
    style: dict[str, Any] = {
        "color": INK,
        "markersize": 9,
        "markeredgewidth": 1.4,
        "linewidth": 0.8,
    }
    label = "compute, slowest member"
    ax.plot(whole.index, whole["slowest"].to_numpy() / scale, mark, label=label, **style)
    ax.set_ylabel(f"time ({unit})\nmean of members")
    ax.set_ylim(bottom=0)
    _legend(ax)


def _sent(ax: Axes, whole: pd.DataFrame) -> None:
    scale, unit = _unit(whole["bytes"], BYTES)
    _bars(ax, whole.index, whole["bytes"].to_numpy() / scale, color=PALETTE[3])
    ax.set_ylabel(f"sent ({unit})")
    ax.set_ylim(bottom=0)


def _members(ax: Axes, steps: pd.DataFrame) -> None:
    spent = steps.groupby("member")[list(SPENT)].sum().clip(lower=0)
    scale, unit = _unit(spent.sum(axis=1), SECONDS)
    left = np.zeros(len(spent))
    for name, color in SPENT_COLORS.items():
        values = spent[name].to_numpy() / scale
        ax.barh(spent.index, values, left=left, color=color, height=0.8)
        left = left + values
    ax.invert_yaxis()
    ax.set_yticks(spent.index[:: -(-len(spent) // MEMBERS) or 1])
    ax.set_ylabel("member")
    ax.set_xlabel(f"time in all supersteps ({unit})")
    plain(ax, "x")


def _bars(
    ax: Axes,
    x: Any,
    values: np.ndarray,
    *,
    below: np.ndarray | None = None,
    least: float = 0.0,
    **style: Any,
) -> None:
    """Draw a bar per superstep, on top of `below`. NaN leaves a gap.

    All bars are one artist, because there may be thousands. On a logarithmic axis, which has no 0, bars
    begin at `least`, which is below the visible range.
    """
    if not len(x):
        return
    half = 0.4 if len(x) <= MOST_DOTS else 0.5
    x = np.asarray(x, float)
    ends = np.column_stack([x - half, x + half]).ravel()
    base = np.full(len(x), least) if below is None else below
    tops = np.asarray(values, float) + (0 if below is None else below)
    tall = np.column_stack([tops, np.full(len(x), np.nan)]).ravel()[:-1]
    base = np.column_stack([base, base]).ravel()[:-1]
    ax.stairs(tall, ends, baseline=base, fill=True, linewidth=0, **style)


def _legend(ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
        ax.legend(handles, labels, ncols=len(handles), frameon=False, columnspacing=1.2, **place)


def _halo() -> list[Any]:
    """Return path effects that set a line off from the bars that it crosses."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=3, foreground="white", alpha=0.8), Normal()]


def _unit(values: Any, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """Return the largest unit that is not above the largest value, or the smallest unit."""
    most = float(np.max(np.asarray(values, float), initial=0.0))
    return next((unit for unit in units if unit[0] <= most), units[-1])
