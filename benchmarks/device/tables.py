"""Tables of measurements on a GPU. This module does not need a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import machine, report
from benchmarks.timing import Spread, ratios

FORESTS = """\
peak - input: device memory in one run above what is there with the input loaded, its result among
it; / input: that over the size of the input; forests: that over a forest of an index a vertex."""


def rows(
    contenders: Mapping[str, Mapping[str, Any]],
    edges: int,
    *,
    against: Mapping[str, str] | None = None,
    floor: Sequence[float] | None = None,
    input_bytes: int = 0,
    forest_bytes: int = 0,
) -> list[list[str]]:
    """Return one row per contender.

    Parameters
    ----------
    contenders : mapping
        Name to ``{"seconds": [...], "peak_bytes": int or None, "failed": str or None}``.
    edges : int
    against : mapping of str to str, optional
        For each of our contenders, the peer whose time is divided by ours.
    floor : sequence of float, optional
        Seconds that the time of each contender is divided by.
    input_bytes, forest_bytes : int
        Bytes that the peak is divided by.
    """
    made = []
    for name, one in contenders.items():
        if one["failed"] is not None:
            made.append([name, "failed", *["-"] * 8])
            continue
        spread = Spread.of(one["seconds"])
        other = contenders.get((against or {}).get(name, ""))
        peak = one["peak_bytes"]
        made.append(
            [
                name,
                *(f"{value * 1e3:.2f}" for value in (spread.least, spread.median, spread.most)),
                f"{edges / spread.median / 1e9:.2f}",
                "-"
                if other is None or other["failed"] is not None
                else report.times(ratios(other["seconds"], one["seconds"])),
                "-" if not floor else f"{spread.median / Spread.of(floor).median:.1f}",
                "-" if peak is None else report.mib(peak),
                "-" if peak is None or not input_bytes else f"{peak / input_bytes:.2f}",
                "-" if peak is None or not forest_bytes else f"{peak / forest_bytes:.2f}",
            ]
        )
    return made


def table(
    header: str, made: Sequence[Sequence[str]], contenders: Mapping[str, Mapping[str, Any]]
) -> str:
    """Format rows with the columns that all these tables share; `header` names the ratio.

    The reasons of failed contenders are listed below the table.
    """
    names = ["", "min ms", "median", "max", "G edges/s", header, "/ read once"]
    laid = report.table([*names, "peak - input", "/ input", "forests"], made)
    failed = [
        f"{name} failed: {one['failed']}" for name, one in contenders.items() if one["failed"]
    ]
    return "\n".join([laid, *failed])


def laid_out(header: str, one: Mapping[str, Any], against: Mapping[str, str]) -> str:
    """Return the table of all measurements on one graph."""
    made = rows(
        one["contenders"],
        one["edges"],
        against=against,
        floor=one.get("read_once_seconds"),
        input_bytes=one.get("input_bytes", 0),
        forest_bytes=one.get("forest_bytes", 0),
    )
    return table(header, made, one["contenders"])


def contender(
    seconds: Mapping[str, Sequence[float]],
    failures: Mapping[str, str],
    peaks: Mapping[str, int],
    name: str,
) -> dict[str, Any]:
    """Return all measurements of one contender."""
    return {
        "seconds": list(seconds.get(name, [])),
        "peak_bytes": peaks.get(name),
        "failed": failures.get(name),
    }


def copying(floors: Mapping[str, Any]) -> str:
    """Return the rates of the hardware in one line."""
    copied = floors["copy_bytes"] / Spread.of(floors["copy_seconds"]).median
    linked = floors["link_bytes"] / Spread.of(floors["link_seconds"]).median
    return (
        f"copying on the device: {copied / 1e9:.0f} GB/s, read and written; "
        f"from pinned memory to it: {linked / 1e9:.1f} GB/s"
    )


def machine_line() -> str:
    """Return the machine's description in one line."""
    return report.machine_line(machine.describe())
