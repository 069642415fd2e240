"""How to divide the edges of a graph among members of different speeds. Nothing is measured here.

The model is TOTEM's [1]_: member p computes for E_p/r_p seconds and sends for B_p/c seconds. A superstep
takes as long as its slowest member.

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dask_graphflow.exceptions import GraphMemoryError, OptionError
from dask_graphflow.showing.tables import counted


def makespan(
    edges: Sequence[float], rates: Sequence[float], sent: Sequence[float], c: float
) -> float:
    """Return the time of one superstep in seconds, which is the time of the slowest member.

    Parameters
    ----------
    edges : sequence of float
        Number of edges of each member (E_p).
    rates : sequence of float
        Edges per second that each member processes (r_p).
    sent : sequence of float
        Bytes that each member sends (B_p).
    c : float
        Bandwidth of a link in bytes per second.
    """
    own = zip(edges, rates, sent, strict=True)
    return max((edge / rate + box / c for edge, rate, box in own), default=0.0)


def share_out(
    rates: Sequence[float], room: Sequence[float] | None = None, *, nbytes: int = 0
) -> list[float]:
    """Return the fraction of the edges for each member, so that all members finish at the same time.

    Parameters
    ----------
    rates : sequence of float
        Edges per second that each member processes.
    room : sequence of float, optional
        Largest fraction that fits on each member; infinite means no limit, which is the default. Edges
        that do not fit on a fast member go to the others, in proportion to their rates.
    nbytes : int
        Size of all edges in bytes. It is used only in the error.

    Returns
    -------
    list of float
        Fractions that add up to 1. No other fractions that fit let the slowest member finish earlier.

    Raises
    ------
    GraphMemoryError
        The edges do not fit on all members together.
    OptionError
        A rate is not positive, or a room is negative.

    References
    ----------
    .. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand
       Chickens for Heavy Lifting Graph Processing", PACT 2012.

    Examples
    --------
    >>> from dask_graphflow.costs import share_out
    >>> share_out([3.0, 1.0])
    [0.75, 0.25]
    >>> share_out([3.0, 1.0, 1.0], room=[0.5, 1.0, 1.0])
    [0.5, 0.25, 0.25]
    """
    limits = [math.inf] * len(rates) if room is None else list(room)
    if not rates or len(limits) != len(rates):
        raise OptionError(
            f"{counted(len(rates), 'rate')}, and room for {counted(len(limits), 'member')}; give one rate "
            "and one room per member"
        )
    if not all(0 < rate < math.inf for rate in rates) or not all(limit >= 0 for limit in limits):
        raise OptionError(
            f"rates {list(rates)!r}, room {limits!r}; give rates above 0, and room of at least 0"
        )
    if sum(limits) < 1 - 1e-9:
        raise GraphMemoryError(
            f"there is room for {sum(limits):.1%} of the graph on {counted(len(rates), 'worker')}. Add "
            "workers or memory, or leave weights out if the algorithm does not need them",
            needed=nbytes,
            available=int(sum(limits) * nbytes) if nbytes else None,
        )
    shares, left, free = [0.0] * len(rates), 1.0, set(range(len(rates)))
    while free:
        total = sum(rates[i] for i in free)
        full = [i for i in free if left * rates[i] / total > limits[i]]
        for i in full or free:
            shares[i] = limits[i] if full else left * rates[i] / total
        free = free.difference(full) if full else set()
        left = max(1.0 - sum(shares), 0.0)
    return shares
