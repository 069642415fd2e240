"""The results of an estimate and of a calibration: plain values that print as small tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dask_graphflow.showing.tables import Table, counted, duration, size

from .cluster import ClusterSpec
from .links import Links, speed

MEASURED = ("workers", "million edges/s:", "hook", "build", "pull", "search")


@dataclass(frozen=True, repr=False)
class Calibration(Table):
    """The measured speed of a cluster's workers and of the links between them.

    Attributes
    ----------
    kinds : tuple of ClusterSpec
        The kinds of workers, each with its rates in edges per second.
    links : Links
        Speed and latency of the links between workers.
    """

    kinds: tuple[ClusterSpec, ...]
    links: Links

    def _rows(self) -> list[tuple[str, ...]]:
        rows = []
        for kind in self.kinds:
            assert kind.rates is not None, "kinds are calibrated"
            largest, own = kind.rates.sizes[-1], kind.rates
            rates = [own.rate(name, largest) for name in ("hooks", "builds", "pulls", "searches")]
            name = f"{kind.workers} x {kind_name(kind)}"
            rows.append((name, f"V = {largest:,}", *(f"{rate / 1e6:,.0f}" for rate in rates)))
        return rows

    def _head(self) -> tuple[str, ...]:
        return MEASURED

    def _note(self) -> str:
        links = self.links
        return (
            f"between two: messages {speed(links.c)}, forests {speed(links.moves)}, a round "
            f"{duration(links.latency)}; a call {duration(links.call)}, a level of tasks "
            f"{duration(links.level)}, a task {duration(links.task)}, a gang {duration(links.gang)}"
        )


@dataclass(frozen=True, repr=False)
class Estimate(Table):
    """The predicted time and memory of a call.

    Attributes
    ----------
    algorithm : str
        Name of the function.
    vertices, edges : int
        Size of the graph.
    seconds : float
        Predicted time.
    parts : dict of str to float
        The seconds of each part of the work; they add up to `seconds`.
    bytes_per_worker : tuple of int
        Peak memory in bytes of each worker. It includes the edges and, unless it is memory of a GPU, the
        process itself, which takes about 300 MB.
    fits : bool
        Whether every worker has enough memory. If the memory depends on degrees or on the diameter, and
        these are not known, this is about the largest possible ones.
    plan : dict
        How the work is divided: the share of each worker, and further choices of the algorithm.
    reason : str
        Which part takes longest, what the time depends on, why the work is divided this way, and where the
        sizes come from.
    most_seconds : float
        The time if the degrees, the diameter or the number of iterations is as large as it can be. Equal to
        `seconds` if the time does not depend on these.
    disk_bytes_per_worker : tuple of int
        Peak size in bytes of the files that each worker writes for a graph on disk; 0 for other graphs.
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
    most_seconds: float
    disk_bytes_per_worker: tuple[int, ...]

    def _rows(self) -> list[tuple[str, str]]:
        parts = ", ".join(
            f"{name} {duration(value)}" for name, value in self.parts.items() if value
        )
        vertices = counted(self.vertices, "vertex", "vertices")
        needed, files = _sizes(self.bytes_per_worker), _sizes(self.disk_bytes_per_worker)
        plan = ", ".join(f"{name}={_short(value)}" for name, value in self.plan.items())
        return [
            ("algorithm", self.algorithm),
            ("graph", f"{vertices}, {counted(self.edges, 'edge')}"),
            ("seconds", f"{self.seconds:.3g} ({parts})"),
            ("memory per worker", f"{needed}, which {'fits' if self.fits else 'does NOT fit'}"),
            *([("disk per worker", files)] if any(self.disk_bytes_per_worker) else []),
            ("plan", plan),
            ("reason", self.reason),
        ]


def kind_name(kind: ClusterSpec) -> str:
    """Return a short name for a kind of worker."""
    return "GPU" if kind.device else counted(kind.threads, "thread")


def _sizes(of_each: tuple[int, ...]) -> str:
    least, most = min(of_each), max(of_each)
    return size(most) if least == most else f"{size(least)} to {size(most)}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        shown = ", ".join(f"{one:.3g}" for one in value[:4])
        return f"[{shown}{', ...' if len(value) > 4 else ''}]"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
