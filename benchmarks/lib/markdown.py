"""Numbers and tables as the documentation shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchmarks.lib.ours import FRAME
from benchmarks.lib.stored import CUGRAPH, Measured

SPACE = "\N{NO-BREAK SPACE}"
NAMES = {
    "graphflow": "dask-graphflow",
    FRAME: "dask-graphflow",
    "gap": "GAP",
    "scipy": "SciPy",
    "networkit": "NetworKit",
    "networkx": "NetworkX",
    "igraph": "igraph",
    CUGRAPH: "cuGraph",
    "graphframes": "GraphFrames",
}


def ratio(number: float) -> str:
    """Format how many times as long a peer takes."""
    digits = 2 if number < 1 else 1 if number < 10 else 0
    return f"{number:,.{digits}f}"


def times(number: float) -> str:
    """Format how many times as long a peer takes; bold if the peer is faster."""
    return f"**{ratio(number)}**" if number < 1 else ratio(number)


def count(number: int) -> str:
    """Format a number of edges."""
    if number >= 1e9:
        return f"{number / 1e9:.3g} billion"
    return f"{number / 1e6:.3g} million" if number >= 1e6 else f"{number:,}"


def duration(seconds: float) -> str:
    """Format a time."""
    if seconds < 0.1:
        return f"{seconds * 1e3:.2g}{SPACE}ms"
    return f"{seconds:.2f}{SPACE}s" if seconds < 1 else f"{seconds:.3g}{SPACE}s"


def size(number: int) -> str:
    """Format a number of bytes."""
    if number >= 2**30:
        return f"{number / 2**30:.1f}{SPACE}GiB"
    return f"{number / 2**20:.0f}{SPACE}MiB"


def code(name: str) -> str:
    """Return the name of a row, with the function as code."""
    return re.sub(r"^\w+", r"`\g<0>`", name)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], used: Iterable[Measured]) -> str:
    """Return a table in Markdown, followed by the machines, the dates and the commits of its numbers."""
    lines = [header, ["---"] * len(header), *rows]
    text = ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in lines]
    runs = dict[str, dict[str, None]]()
    for one in sorted(used, key=lambda one: one.edges):
        runs.setdefault(f"edges on {one.place} ({one.day})", {})[count(one.edges)] = None
    measured = "; ".join(f"{', '.join(edges)} {run}" for run, edges in runs.items())
    return "\n".join([*text, *(["", f"Measured: {measured}."] if runs else [])])
