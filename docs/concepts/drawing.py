"""What the figures of these pages have in common: a canvas in inches, colors, boxes, circles, arrows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "PALE",
    "PURPLE",
    "RED",
    "WIDTH",
    "array",
    "arrow",
    "box",
    "canvas",
    "chart",
    "circle",
    "heading",
    "legend",
    "levels",
    "text",
    "tint",
]

WIDTH = 7.4  # inches: some 700 pixels on a page, so that a point of a font is a good pixel

INK, GREY, PALE = "#24303c", "#7b8794", "#eef1f4"
BLUE, ORANGE, GREEN, PURPLE, RED = "#2b6ca3", "#d07a1c", "#34845a", "#7457a6", "#b43e38"

plt.rcParams.update(
    {
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": GREY,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.frameon": False,
        "svg.hashsalt": "dask-graphflow",  # the same file from the same figure
    }
)


def tint(color: str, share: float = 0.18) -> tuple[float, ...]:
    """Return a color thinned with white."""
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(1 - share + share * part for part in parts)


def canvas(height: float) -> Axes:
    """Return axes over a whole figure, whose units are inches from its lower left corner."""
    figure = plt.figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, height))
    axes.axis("off")
    return axes


def chart(height: float, rows: int = 1, **how: Any) -> Any:
    """Return the axes of a chart, or several of them below each other."""
    _, axes = plt.subplots(rows, figsize=(WIDTH, height), layout="constrained", **how)
    return axes


def text(axes: Axes, x: float, y: float, words: str, **how: Any) -> None:
    """Write, around a point unless `ha` and `va` say otherwise."""
    axes.text(x, y, words, **({"ha": "center", "va": "center", "linespacing": 1.35} | how))


def heading(axes: Axes, x: float, y: float, words: str, **how: Any) -> None:
    """Write what a part of a figure is about."""
    text(axes, x, y, words, **({"weight": "bold", "ha": "left"} | how))


def box(
    axes: Axes,
    x: float,
    y: float,
    width: float,
    height: float,
    words: str = "",
    color: str = GREY,
    **how: Any,
) -> None:
    """Draw a box around a point, with words in it."""
    patch = FancyBboxPatch(
        (x - width / 2 + 0.05, y - height / 2 + 0.05),
        width - 0.1,
        height - 0.1,
        boxstyle="round,pad=0.05,rounding_size=0.08",
        facecolor=how.pop("fill", tint(color)),
        edgecolor=color,
        linestyle=how.pop("linestyle", "-"),
        linewidth=how.pop("linewidth", 1.2),
        zorder=how.pop("zorder", 2),
    )
    axes.add_patch(patch)
    text(axes, x, y, words, zorder=4, **how)


def circle(
    axes: Axes,
    x: float,
    y: float,
    words: object = "",
    color: str = GREY,
    *,
    radius: float = 0.17,
    solid: bool = False,
    dashed: bool = False,
) -> None:
    """Draw a vertex."""
    axes.add_patch(
        Circle(
            (x, y),
            radius,
            facecolor=color if solid else "white" if dashed else tint(color),
            edgecolor=color,
            linestyle=(0, (3, 2)) if dashed else "-",
            linewidth=1.3,
            zorder=3,
        )
    )
    text(axes, x, y - 0.01, str(words), color="white" if solid else INK, zorder=4, fontsize=9.5)


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    color: Any = GREY,
    *,
    gap: float | tuple[float, float] = 0.19,
    bend: float = 0.0,
    width: float = 1.2,
    head: bool = True,
    dashed: bool = False,
    zorder: float = 1,
) -> None:
    """Draw an arrow between two points, whose ends keep a distance in inches from them."""
    first, last = gap if isinstance(gap, tuple) else (gap, gap)
    patch = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>,head_length=0.35,head_width=0.18" if head else "-",
        mutation_scale=14,
        shrinkA=first * 72,
        shrinkB=last * 72,
        connectionstyle=f"arc3,rad={bend}",
        color=color,
        linewidth=width,
        linestyle=(0, (4, 2.5)) if dashed else "-",
        zorder=zorder,
    )
    axes.add_patch(patch)


def array(
    axes: Axes,
    x: float,
    y: float,
    values: Sequence[object],
    *,
    cell: float = 0.27,
    marked: Mapping[int, str] | None = None,
) -> None:
    """Draw an array, its first entry at a point, its indices above it; `marked` entries have a color."""
    for i, value in enumerate(values):
        color = (marked or {}).get(i)
        axes.add_patch(
            plt.Rectangle(
                (x + (i - 0.5) * cell, y - cell / 2),
                cell,
                cell,
                facecolor=tint(color, 0.35) if color else "white",
                edgecolor=GREY,
                linewidth=0.9,
            )
        )
        text(axes, x + i * cell, y - 0.01, str(value), fontsize=9)
        text(axes, x + i * cell, y + 0.8 * cell, str(i), fontsize=7.5, color=GREY)


def legend(
    axes: Axes, x: float, y: float, meanings: Sequence[tuple[str, str]], step: float = 1.5
) -> None:
    """Say what colors mean, in a row that begins at a point."""
    for i, (color, words) in enumerate(meanings):
        at = x + i * step
        patch = plt.Rectangle((at, y - 0.06), 0.17, 0.12, facecolor=tint(color, 0.5))
        patch.set(edgecolor=color, linewidth=1)
        axes.add_patch(patch)
        text(axes, at + 0.25, y, words, ha="left", fontsize=9)


def levels(
    graph: Mapping[Any, Any],
    stage: Callable[[Any], str],
    colors: Mapping[str, str],
    *,
    step: float = 0.5,
    margin: float = 1.35,
) -> Axes:
    """Draw a task graph, a row for all tasks that have as many before them at most.

    Parameters
    ----------
    graph : mapping
        Dask's tasks by their keys.
    stage : callable
        Takes a key; returns what the task is called.
    colors : mapping of str to str
        By what a task is called.
    """
    depth: dict[Any, int] = {}

    def depth_of(key: Any) -> int:
        if key not in depth:
            before = [one for one in graph[key].dependencies if one in graph]
            depth[key] = 1 + max(map(depth_of, before), default=-1)
        return depth[key]

    rows: dict[int, list[Any]] = {}
    for key in graph:
        rows.setdefault(depth_of(key), []).append(key)
    height = step * len(rows) + 0.05
    axes = canvas(height)
    at: dict[Any, tuple[float, float]] = {}
    for row, keys in sorted(rows.items()):
        keys.sort(key=lambda key: (stage(key), key[1:] if isinstance(key, tuple) else ()))
        room = (WIDTH - margin) / len(keys)
        y = height - step * (row + 0.5)
        for i, key in enumerate(keys):
            at[key] = margin + room * (i + 0.5), y
        names = list(dict.fromkeys(map(stage, keys)))
        text(axes, 0.1, y, ", ".join(names), ha="left", fontsize=9.5)
    for key, (x, y) in at.items():
        color = colors[stage(key)]
        axes.add_patch(Circle((x, y), 0.1, facecolor=tint(color, 0.5), edgecolor=color, zorder=3))
        for before in graph[key].dependencies:
            if before not in at:
                continue
            if depth[key] - depth[before] == 1:
                arrow(axes, at[before], (x, y), gap=0.11, width=0.9)
            else:  # past other rows: paler, or they would hide the rest
                arrow(axes, at[before], (x, y), tint(GREY, 0.45), gap=0.11, width=0.8, zorder=0)
    return axes
