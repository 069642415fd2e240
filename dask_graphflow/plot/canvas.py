"""Shared parts of all plots: the lazy import of matplotlib, colors, and numbers as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphflow.exceptions import BackendError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# The palette of Okabe and Ito. Color-blind readers can tell its colors apart, and it nearly works in gray.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK = "#33383d"
FAINT = "#c9ced3"


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise an error that says how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise BackendError(
            f"pictures need matplotlib, which cannot be imported ({error}); install it with "
            'pip install "dask-graphflow[plot]"'
        ) from error
    return pyplot


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given Axes, or those of a new figure with this size in inches."""
    plt = pyplot()
    if ax is None:
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    return ax


def map_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return Axes like :func:`new_axes`, without axes, and with the same scale in both directions."""
    ax = new_axes(ax, size)
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def color_bar(ax: Axes, colored: Any, label: str, **options: Any) -> None:
    """Explain the colors of something below the picture."""
    how = {"location": "bottom", "shrink": 0.6, "aspect": 30, "pad": 0.02, **options}
    ax.figure.colorbar(colored, ax=ax, label=label, **how).outline.set_visible(False)


def plain(ax: Axes, grid: str = "both") -> None:
    """Hide the top and right spines, and draw a light grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=FAINT, linewidth=0.6, alpha=0.6)
    ax.set_axisbelow(True)


def with_commas(value: float, _: object = None) -> str:
    """Return a number as an axis label.

    Examples
    --------
    >>> with_commas(12000.0), with_commas(0.5)
    ('12,000', '0.5')
    """
    return f"{value:,.0f}" if value == round(value) else f"{value:,g}"


def named(parts: Sequence[Any], most: int) -> str:
    """Return the parts of an id as a name of at most `most` letters.

    Examples
    --------
    >>> named(("A", 17), 40), named(("a-long-name",), 6)
    ('A, 17', 'a-lon…')
    """
    name = ", ".join(map(str, parts))
    return name if len(name) <= most else f"{name[: most - 1]}…"


def log_axes(ax: Axes, most_x: float, most_y: float) -> None:
    """Make both axes logarithmic, with room around values from 1 to the largest ones."""
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="clip")
    # At least a decade, so that the axes also work for a single value.
    ax.set_xlim(0.8, max(10, 1.6 * most_x))
    ax.set_ylim(0.7, max(10, 1.8 * most_y))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(with_commas)
        axis.set_minor_formatter("")
    plain(ax)


def names_of(ids: pd.DataFrame, most: int) -> list[str]:
    """Return the names of ids, of at most `most` letters each."""
    return [named(parts, most) for parts in ids.itertuples(index=False, name=None)]


def halo(ax: Axes) -> list[Any]:
    """Return path effects that set a text off from what it covers."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=ax.get_facecolor())]


def write_names(ax: Axes, names: Sequence[str], points: np.ndarray, above: np.ndarray) -> None:
    """Write names in the given order, and leave out each one that would cover a name before it.

    Points are in the units of the data. `above` is how far a name begins above its point, in points; a name
    is centered on its point if it is 0.
    """
    around = halo(ax)
    texts = [
        ax.annotate(
            name,
            tuple(point),
            xytext=(0, up),
            textcoords="offset points",
            ha="center",
            va="bottom" if up else "center",
            color=INK,
            path_effects=around,
            zorder=4,
        )
        for name, point, up in zip(names, points, above, strict=True)
    ]
    ax.figure.canvas.figure.draw_without_rendering()  # the sizes of names are only known afterwards
    boxes: list[Any] = []
    for text in texts:
        box = text.get_window_extent()
        if box.count_overlaps(boxes):
            text.remove()
        else:
            boxes.append(box)
