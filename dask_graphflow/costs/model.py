"""Formulas of the model that need neither measured rates nor the cost of an algorithm."""

from __future__ import annotations

import math

# If others read at least one vertex in this many, all are sent: MOST of operators/pull/hub_rows.py.
ALL_SENT = 2
SORTED = 3  # ends of edges that can be looked up in the time it takes to sort one distinct id


def remote(vertices: float, degree: float, members: int) -> float:
    """Return how many vertices of other members a member reads, if vertices are assigned at random.

    A vertex with d edges has a neighbor on a given member with probability 1 - (1 - 1/N)^d. This is concave
    in d, so the value at the mean degree is an upper bound for all degrees with that mean. If at least half
    of the vertices are read, all of them are sent.
    """
    others = vertices * (1 - 1 / members)
    read = 1 - (1 - 1 / members) ** degree
    return others * (1.0 if read * ALL_SENT >= 1 else read)


def numbered(ends: float, vertices: float, members: int) -> float:
    """Return the work of a member that numbers ids that are not dense, as a number of ends looked up.

    A member looks up its ends, and sorts its distinct ids. Several members sort the ids again, each those
    in its range.
    """
    distinct = vertices * -math.expm1(-ends / members / max(vertices, 1))  # if ends are random
    return ends / members + SORTED * distinct * (1 if members == 1 else 2)
