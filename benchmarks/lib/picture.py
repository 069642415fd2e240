"""Draw time and memory beside other libraries: the picture of README, the start page and the benchmarks."""

from __future__ import annotations

from typing import Any

from benchmarks.lib.markdown import NAMES, count, duration, ratio, size
from benchmarks.lib.receipt import ROOT
from benchmarks.lib.rows import FRAME_COMPONENTS
from benchmarks.lib.stored import CUGRAPH, FROM_0, GPU, Measured, newest

PICTURE = ROOT / "docs" / "_static" / "speed.png"
OWN, OTHERS, GRAY = "#0b7285", "#adb5bd", "#495057"


def groups() -> dict[str, tuple[Measured, list[str]]]:
    """Return the groups of bars: the title, the measurement and the contenders."""
    peers = ["graphflow", "scipy", "networkit", "networkx"]
    components = newest(FROM_0, "connected_components", peers[-1])
    pagerank = newest(FROM_0, "pagerank", peers[-1])
    gpu = newest(GPU, FRAME_COMPONENTS, CUGRAPH)
    assert components is not None
    assert pagerank is not None
    assert gpu is not None
    host = f"{count(components.edges)} edges, {components.machine['cores']} CPU cores"
    return {
        f"Components of a table of {host}": (components, peers),
        "PageRank of the same table": (pagerank, peers),
        f"Components of {count(gpu.edges)} edges, {gpu.place}": (gpu, [gpu.own, CUGRAPH]),
    }


def labels(one: Measured, names: list[str]) -> tuple[list[str], list[str]]:
    """Return the text beside the bars of times and of peak memory."""
    first, *others = names
    slower = [f"{duration(one.median(name))}  ({ratio(one.slower(name))}x)" for name in others]
    return [duration(one.median(first)), *slower], [size(one.peaks[name]) for name in names]


def description() -> str:
    """Return the numbers of the picture, which are stored in it."""
    return "; ".join(f"{title}: {labels(one, names)}" for title, (one, names) in groups().items())


def draw() -> None:
    """Draw the picture into docs/_static."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    drawn = groups()
    heights = [len(names) for _, names in drawn.values()]
    # The same file on every machine that has the same matplotlib, which brings this font.
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 13}):
        figure, axes = pyplot.subplots(
            len(drawn), 2, figsize=(6.4, 4.6), height_ratios=heights, layout="constrained"
        )
        for (title, (one, names)), (left, right) in zip(drawn.items(), axes, strict=True):
            seconds, peaks = labels(one, names)
            _bars(left, [one.median(name) for name in names], seconds)
            left.set_yticks(range(len(names)), [NAMES[name] for name in names])
            _bars(right, [one.peaks[name] for name in names], peaks)
            left.set_title(f"{title}\n", fontsize=13, loc="left", x=-0.59, fontweight="bold")
            beside = "peak without the edges" if CUGRAPH in names else "peak memory"
            for ax, text in ((left, "time"), (right, beside)):
                ax.text(0, 1.04, text, color=GRAY, transform=ax.transAxes)
        metadata = {"Software": None, "Description": description()}
        figure.savefig(PICTURE, dpi=110, metadata=metadata, pil_kwargs={"optimize": True})
        pyplot.close(figure)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1e3:.0f} kB")


def _bars(ax: Any, values: list[float], text: list[str]) -> None:
    bars = ax.barh(range(len(values)), values, color=[OWN, *[OTHERS] * (len(values) - 1)])
    ax.bar_label(bars, text, padding=4)
    ax.invert_yaxis()
    ax.set_xlim(0, max(values) * 2.1)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
