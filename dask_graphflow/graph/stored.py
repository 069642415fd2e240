"""Names under which shards store what is made once; see :meth:`.Shard.kept`.

A side, "out" or "into", is also the name under which its rows are stored.
"""

from __future__ import annotations

OUT = "out"
INTO = "into"
ENTERING = "entering"  # edges that enter the range's vertices, if they are not rows yet
LISTED = "listed"  # which of the range's numbers are vertices because a caller listed them
OCCURS = "occurs"  # which of the range's numbers are vertices
VERTICES = "vertices"  # how many vertices the graph has
SIMPLE = "simple"  # the graph without self-loops, parallel edges and weights
DEGREES = "degrees"
ENTERING_DEGREES = "entering degrees"
NUMBERS = "numbers"
ALL_NUMBERS = "all numbers"
NUMBERS_OF_ENDS = "numbers of ends"
PLACES = "places"
RESTORE_IDS = "restore ids"
WEIGHED = "weighed"  # the number of wrong weights, and their mean
SUMS_OF_WEIGHTS = "sums of weights"
LIGHT_FIRST = "light first"
AROUND = "around"  # the neighbors in both directions, without parallel edges


def local(which: str) -> str:
    """Return the name of rows with slots in place of vertex numbers: "out", "into" or "around"."""
    return f"local {which}"


def mirrored(which: str) -> str:
    """Return the name of what other members mirror for some rows."""
    return f"mirrored {which}"


def slot_numbers(which: str) -> str:
    """Return the name of the vertex numbers of slots."""
    return f"numbers {which}"


def weighted_degrees(side: str) -> str:
    """Return the name of the sums of the weights of each row."""
    return f"weighted degrees {side}"


def hub_rows(side: str) -> str:
    """Return the name of rows whose vertices are sorted by how often they are read."""
    return f"hub rows {side}"


def unsorted_rows(side: str) -> str:
    """Return the name of rows along which the first iterations go, until :func:`hub_rows` pay."""
    return f"unsorted rows {side}"
