"""The model: what a job takes, from rates and links. Formulas alone: nothing is measured or looked up here.

Components (Groute [1]_): N members hook E/N edges each, in chunks of V, and forests are merged by policy.
Supersteps (TOTEM [2]_): a member p takes E_p/r_p to compute and B_p/c to tell the others, and all wait for
the slowest.

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model
   for Irregular Computations", PPoPP 2017.
.. [2] A. Gharaibeh, L. Beltrao Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dask_graphflow.components import merging
from dask_graphflow.exceptions import GraphMemoryError, OptionError
from dask_graphflow.scheduling import trees
from dask_graphflow.showing.tables import counted

__all__ = [
    "Scaling",
    "components_seconds",
    "fit",
    "iterations",
    "makespan",
    "remote",
    "share_out",
]

MOST_TOLD = (
    2  # where one vertex in so many is read by others, all of them are told: algorithms/pulling.py
)


def components_seconds(
    vertices: int,
    edges: int,
    members: int,
    *,
    t_at: float,
    t_com: float,
    t_merge: float,
    merge: str = "tree",
) -> float:
    """Return the seconds of connected components, as Groute's model has them.

    Parameters
    ----------
    vertices, edges, members : int
        V, E and N.
    t_at : float
        Seconds to hook a chunk of V edges, and compress.
    t_com : float
        Seconds of what does not depend on N: the call, and the results.
    t_merge : float
        Seconds to send a forest of V vertices and merge it.
    merge : {"tree", "one-way", "ring", "adaptive"}
        Which forests are merged into which: see :mod:`~dask_graphflow.scheduling.trees`.

    Returns
    -------
    float
        t_at·E/(N·V) + t_com + t_merge·(merges on the longest path).
    """
    depth = trees.depth(merging.merges_of(merge, members))
    return t_at * edges / (members * max(vertices, 1)) + t_com + t_merge * depth


def makespan(
    edges: Sequence[float], rates: Sequence[float], sent: Sequence[float], c: float
) -> float:
    """Return the seconds of a superstep: those of the member that takes longest.

    Parameters
    ----------
    edges, rates : sequence of float
        E_p and r_p: each member's edges, and edges a second.
    sent : sequence of float
        B_p: bytes that each one sends.
    c : float
        Bytes a second of a link.
    """
    own = zip(edges, rates, sent, strict=True)
    return max((edge / rate + box / c for edge, rate, box in own), default=0.0)


def remote(vertices: float, degree: float, members: int) -> float:
    """Return how many vertices of the others a member reads, where vertices lie with members at random.

    A vertex with d edges has a neighbour at a given member with a chance of 1 - (1 - 1/N)^d. That is
    concave in d: with the mean degree for d it is no less than for any degrees of that mean. Where half of
    all are read, all of them are told.
    """
    others = vertices * (1 - 1 / members)
    read = 1 - (1 - 1 / members) ** degree
    return others * (1.0 if read * MOST_TOLD >= 1 else read)


def iterations(vertices: int, alpha: float = 0.85, tol: float = 1e-6, most: int = 100) -> int:
    """Return how many iterations PageRank takes at most: each makes the change alpha times as large."""
    goal = tol * max(vertices, 1)
    if not 0 < alpha < 1 or goal >= 2:
        return 1 if alpha < 1 else most
    return min(most, 1 + math.ceil(math.log(goal / 2) / math.log(alpha)))


def share_out(
    rates: Sequence[float], room: Sequence[float] | None = None, *, nbytes: int = 0
) -> list[float]:
    """Return each member's part of the edges, so that all are done at the same time where they fit.

    Parameters
    ----------
    rates : sequence of float
        Edges a second of each.
    room : sequence of float, optional
        The largest part that fits on each; infinite for no limit. What does not fit on the fast ones goes
        to the others, by their rates.
    nbytes : int
        What all edges take, for the error alone.

    Returns
    -------
    list of float
        Parts that sum to 1: of all that fit, those whose slowest member is done first.

    Raises
    ------
    GraphMemoryError
        There is not room for all edges.
    OptionError
        A rate is not above 0, or a room below it.

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
            f"{counted(len(rates), 'rate')} and room on {len(limits)}; give one of each a member"
        )
    if not all(0 < rate < math.inf for rate in rates) or not all(limit >= 0 for limit in limits):
        raise OptionError(
            f"rates {list(rates)!r}, room {limits!r}; give numbers above 0, and from 0 on"
        )
    if sum(limits) < 1 - 1e-9:
        raise GraphMemoryError(
            f"there is room for {sum(limits):.1%} of the graph on {counted(len(rates), 'worker')}. Add "
            "workers, or memory; or leave weights out, where the algorithm needs none",
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


@dataclass(frozen=True)
class Scaling:
    """How work that is shared out gets faster with the workers.

    Attributes
    ----------
    alone : float
        Seconds on one worker.
    contention : float
        What a worker loses for each other one: n of them do n / (1 + contention·(n - 1)) of what one does.
        They share the memory, or have shares that differ.
    most : float
        Workers that there are cores for: more do no more than those.
    """

    alone: float
    contention: float
    most: float = math.inf

    def of(self, workers: int) -> float:
        """Return how many workers' work so many do."""
        busy = min(workers, self.most)
        return busy / (1 + self.contention * (busy - 1))

    def seconds(self, workers: int) -> float:
        """Return the seconds on so many workers."""
        return self.alone / self.of(workers)


def fit(
    measured: Mapping[int, float],
    beside: Callable[[int], float],
    *,
    most: float = math.inf,
) -> Scaling:
    """Return the constants that give what was measured on one worker and on two.

    Two that are more than twice as fast are taken to be just that.

    Parameters
    ----------
    measured : mapping of int to float
        Seconds on 1 and on 2 workers.
    beside : callable
        Takes a number of workers; returns the seconds of what is not shared out, and was measured by
        itself: Dask's call, merges, messages.
    most : float
        Workers that there are cores for.

    Raises
    ------
    OptionError
        One of the two is missing, or one worker takes no longer than what there is besides.
    """
    if not {1, 2} <= set(measured) or measured[1] <= beside(1):
        raise OptionError(
            f"measured {measured!r}, of which {beside(1):.3g} s on 1 would be no work; give the "
            "seconds on 1 and on 2 workers, of a graph that takes longer"
        )
    alone = measured[1] - beside(1)
    both = min(2, most)
    if both <= 1:
        return Scaling(alone, 0.0, most)
    # More is a cache that fits, or chance, and is not carried on.
    lost = (measured[2] - beside(2)) * both / alone - 1
    return Scaling(alone, max(lost / (both - 1), 0.0), most)
