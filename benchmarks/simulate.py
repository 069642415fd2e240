"""The cost model on 8 to 1,024 GPUs: a table and a plot for the documentation."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import report
from .errors import UnusableInputError
from .simulation import PARTS, GraphStats, simulate

DOCS = Path(__file__).parent.parent / "docs" / "internals"
BEGIN, END = "<!-- simulated -->", "<!-- end of what was simulated -->"
SCALES = (30, 32)
EDGE_FACTOR = 16
COLORS = ("#4c72b0", "#55a868", "#8172b3", "#c44e52", "#ccb974", "#8c8c8c")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, nargs="+", default=list(SCALES), help="2**scale ids")
    parser.add_argument("--docs", default=str(DOCS), help="where costs.md and costs.svg lie")


def run(options: argparse.Namespace) -> int:
    """Simulate, print the tables, and write them into the documentation."""
    if not all(1 <= scale <= 40 for scale in options.scale):
        raise UnusableInputError(f"--scale {options.scale}: give 1 to 40")
    text = tables(options.scale)
    print(text)
    page = Path(options.docs) / "costs.md"
    page.write_text(replaced(page.read_text("utf-8"), text), "utf-8")
    plot(options.scale, page.with_suffix(".svg"))
    print(f"\nwritten into {page} and {page.with_suffix('.svg')}")
    report.keep(options.json, "simulate", {"benchmark": "simulate", "tables": text})
    return 0


def tables(scales: Sequence[int] = SCALES) -> str:
    """Return the results of the simulation as Markdown tables."""
    parts = []
    for scale in scales:
        frame = simulate(GraphStats(1 << scale, EDGE_FACTOR << scale))
        names = [*PARTS, "Dask"]
        lines = [
            f"**Scale {scale}**: 2^{scale} ids, 2^{scale + 4} edges; ms",
            "",
            f"| algorithm | GPUs | all | {' | '.join(names)} | binding | GB a GPU |",
            "|---|" + "---:|" * (len(names) + 2) + "---|---:|",
        ]
        for row in frame.to_dict("records"):
            cells = " | ".join(f"{row[name] * 1e3:,.1f}" for name in names)
            size = f"{row['bytes'] / 1e9:,.0f}{'' if row['fits'] else ', does not fit'}"
            lines.append(
                f"| {row['algorithm']} | {row['gpus']:,} | {row['seconds'] * 1e3:,.0f} | {cells} "
                f"| {row['binding']} | {size} |"
            )
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def replaced(page: str, text: str) -> str:
    """Return a page with `text` between its two marks."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise UnusableInputError(f"costs.md has no {BEGIN} before an {END}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def plot(scales: Sequence[int], path: Path) -> None:
    """Plot the parts of the seconds."""
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise UnusableInputError('the plot takes matplotlib: pip install ".[plot]"') from error
    # Write the same file for the same numbers, and keep text as text.
    matplotlib.rcParams.update({"svg.hashsalt": "graphflow", "svg.fonttype": "none"})
    names = [*PARTS, "Dask"]
    figure, grid = pyplot.subplots(
        len(scales), 3, figsize=(11, 3.2 * len(scales)), squeeze=False, layout="constrained"
    )
    for row, scale in zip(grid, scales, strict=True):
        frame = simulate(GraphStats(1 << scale, EDGE_FACTOR << scale))
        for axes, (algorithm, part) in zip(
            row, frame.groupby("algorithm", sort=False), strict=True
        ):
            _bars(axes, part, names)
            axes.set_title(f"{algorithm}, scale {scale}")
        row[0].set_ylabel("ms")
    for axes in grid[-1]:
        axes.set_xlabel("GPUs")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(names), frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _bars(axes: Any, frame: Any, names: Sequence[str]) -> None:
    places = [str(count) for count in frame.gpus]
    bottom = [0.0] * len(frame)
    for name, color in zip(names, COLORS, strict=True):
        values = list(frame[name] * 1e3)
        axes.bar(places, values, bottom=bottom, label=name, color=color, width=0.8)
        bottom = [low + value for low, value in zip(bottom, values, strict=True)]
    for place, top, fits in zip(places, bottom, frame.fits, strict=True):
        if not fits:
            axes.annotate("does not fit", (place, top), rotation=90, ha="center", fontsize=7,
                          xytext=(0, 3), textcoords="offset points")  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(y=0.25)
