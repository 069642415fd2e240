"""Read the stored results: which contender took how long, and used how much memory, for which question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.lib.harness import Spread
from benchmarks.lib.ours import FRAME, LOOP
from benchmarks.lib.report import RESULTS
from benchmarks.lib.rows import FRAME_COMPONENTS

CUGRAPH = "cugraph"
TABLE = "from-a-table-10000000-{ids}-*.json"
FROM_0 = TABLE.format(ids="from-0")
GPU = "*s-gpu-*.json"  # of the command algorithms, and of components, which older files are from


@dataclass(frozen=True)
class Measured:
    """One question of one file of results."""

    edges: int
    seconds: Mapping[str, Sequence[float]]  # by contender and round
    peaks: Mapping[str, int]  # bytes by contender
    machine: Mapping[str, Any]  # the machine, its packages, the commit and the date

    def median(self, name: str) -> float:
        """Return a contender's median time in seconds."""
        return Spread.of(self.seconds[name]).median

    def slower(self, peer: str) -> float:
        """Return a peer's median time divided by that of this library."""
        return self.median(peer) / self.median(self.own)

    @property
    def own(self) -> str:
        """Return the call of this library that is compared: to a frame on a GPU, to arrays on the host.

        cuGraph returns frames, and the peers on the host return arrays.
        """
        wanted = FRAME if self.machine.get("gpus") else LOOP
        return wanted if wanted in self.seconds else {FRAME: LOOP, LOOP: FRAME}[wanted]

    @property
    def place(self) -> str:
        """Return the name of the GPU, or the number and the kind of the cores."""
        gpus = self.machine.get("gpus")
        if gpus:
            return f"one {' '.join(gpus['devices'][0]['name'].split()[:2])}"
        return f"{self.machine['cores']} cores of an {self.machine['cpu']}"

    @property
    def day(self) -> str:
        """Return the date and the commit."""
        return f"{self.machine['date'][:10]}, commit {self.machine['commit'][:7]}"


def stored(pattern: str) -> list[dict[str, Any]]:
    """Return the results whose file names match: the newest first, then the largest graph."""
    paths = sorted(RESULTS.glob(pattern), key=_stamp_and_name, reverse=True)
    return [json.loads(path.read_text("utf-8")) for path in paths]


def _stamp_and_name(path: Path) -> tuple[str, str]:
    name, _, stamp = path.stem.rpartition("-")
    return stamp, name


def questions(results: Mapping[str, Any]) -> dict[str, dict[str, Measured]]:
    """Return what a file of results has, by graph and question."""
    machine = results["machine"]
    if results["benchmark"] == "from-a-table":
        rows = {
            name: Measured(results["edges"], row["seconds"], row["peak_bytes"], machine)
            for name, row in results["questions"].items()
        }
        return {results["ids"]: rows}
    if results["benchmark"] == "components":
        row = Measured(results["edges"], results["seconds"], results["peaks"], machine)
        return {results["graph"]: {FRAME_COMPONENTS: row}}
    return {
        graph: {
            name: Measured(row["edges"], row["seconds"], row["peaks"], machine)
            for name, row in rows.items()
            if row["seconds"]
        }
        for graph, rows in results["graphs"].items()
    }


def newest(pattern: str, question: str, peer: str) -> Measured | None:
    """Return the newest measurement of a question that a peer has answered too, or None."""
    for results in stored(pattern):
        for rows in questions(results).values():
            if question in rows and peer in rows[question].seconds:
                return rows[question]
    return None
