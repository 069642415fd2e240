"""What :mod:`.estimating` returns: plain values that print as small tables."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dask_graphflow.costs.cluster import ClusterSpec
from dask_graphflow.costs.links import Links

__all__ = ["Calibration", "Estimate"]

GiB = 2**30


@dataclass(frozen=True)
class Calibration:
    """What was measured of a cluster.

    Attributes
    ----------
    kinds : tuple of ClusterSpec
        Its workers by kind, each with its rates.
    links : Links
        Between them.
    """

    kinds: tuple[ClusterSpec, ...]
    links: Links

    def __repr__(self) -> str:
        rows: list[Sequence[str]] = [
            ("workers", "million edges/s:", "hook", "build", "pull", "search")
        ]
        for kind in self.kinds:
            assert kind.rates is not None
            size, own = kind.rates.sizes[-1], kind.rates
            name = f"{kind.workers} x {_kind(kind)}"
            found = own.hook(size), own.build(size), own.pull(size), own.search(size)
            rows.append((name, f"V = {size:,}", *(f"{rate / 1e6:,.0f}" for rate in found)))
        links = self.links
        return (
            f"{_laid_out(rows)}\nbetween two: {links.c / 1e9:.2f} GB/s of messages and "
            f"{links.moves / 1e9:.2f} of forests, {links.latency * 1e6:.0f} us a round; a call "
            f"{links.call * 1e3:.1f} ms, {links.level * 1e3:.1f} ms a level, a gang "
            f"{links.gang * 1e3:.1f} ms"
        )


@dataclass(frozen=True)
class Estimate:
    """What a call will take.

    Attributes
    ----------
    algorithm : str
    vertices, edges : int
    seconds : float
    parts : dict of str to float
        What they are made up of.
    bytes_per_worker : tuple of int
        What each worker needs at the most, beside what it holds already.
    fits : bool
        Whether each has as much.
    plan : dict
        How the work is cut: the share of each worker, and by algorithm what else there is to choose.
    reason : str
        What takes longest, why it is cut so, and where the numbers come from.
    """

    algorithm: str
    vertices: int
    edges: int
    seconds: float
    parts: dict[str, float]
    bytes_per_worker: tuple[int, ...]
    fits: bool
    plan: dict[str, Any]
    reason: str

    def _rows(self) -> list[tuple[str, str]]:
        parts = ", ".join(f"{name} {_time(value)}" for name, value in self.parts.items() if value)
        least, most = min(self.bytes_per_worker), max(self.bytes_per_worker)
        needed = f"{most / GiB:.3g} GiB"
        if least != most:
            needed = f"{least / GiB:.3g} to {needed}"
        plan = ", ".join(f"{name}={_short(value)}" for name, value in self.plan.items())
        return [
            ("algorithm", self.algorithm),
            ("graph", f"{self.vertices:,} vertices, {self.edges:,} edges"),
            ("seconds", f"{self.seconds:.3g} ({parts})"),
            ("bytes per worker", f"{needed}, which {'fits' if self.fits else 'does NOT fit'}"),
            ("plan", plan),
            ("reason", self.reason),
        ]

    def __repr__(self) -> str:
        return _laid_out(self._rows())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in self._rows()
        )
        return f"<table>{rows}</table>"


def _kind(kind: ClusterSpec) -> str:
    return "GPU" if kind.device else f"{kind.threads} thread{'s' * (kind.threads > 1)}"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _short(value: Any) -> str:
    if isinstance(value, list):
        shown = ", ".join(f"{one:.3g}" for one in value[:4])
        return f"[{shown}{', ...' if len(value) > 4 else ''}]"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _laid_out(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
