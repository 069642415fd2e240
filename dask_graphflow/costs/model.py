"""The model: what a job takes, from rates and links. Formulas alone: nothing is measured or looked up here.

Components (Groute [1]_): N members hook E/N edges each, in chunks of V, and forests are merged by policy.
Supersteps (TOTEM [2]_): a member p takes E_p/r_p to compute and B_p/c to tell the others, and all wait for
the slowest (:func:`.load_balance.makespan`).

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model
   for Irregular Computations", PPoPP 2017.
.. [2] A. Gharaibeh, L. Beltrao Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dask_graphflow.components import merging
from dask_graphflow.exceptions import OptionError
from dask_graphflow.scheduling import trees

__all__ = [
    "SORTED",
    "Scaling",
    "components_seconds",
    "distinct",
    "fit",
    "iterations",
    "joined",
    "numbered",
    "remote",
]

# If others read at least one vertex in so many, all vertices are sent: MOST of operators/hub_rows.py.
MOST_TOLD = 2
SORTED = 3  # ends of edges that are looked up in the time in which one distinct id is sorted


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


def remote(vertices: float, degree: float, members: int) -> float:
    """Return how many vertices of the others a member reads, where vertices lie with members at random.

    A vertex with d edges has a neighbour at a given member with a chance of 1 - (1 - 1/N)^d. That is
    concave in d: with the mean degree for d it is no less than for any degrees of that mean. Where half of
    all are read, all of them are told.
    """
    others = vertices * (1 - 1 / members)
    read = 1 - (1 - 1 / members) ** degree
    return others * (1.0 if read * MOST_TOLD >= 1 else read)


def distinct(ends: float, vertices: float) -> float:
    """Return how many vertices some ends of edges have, if each end is any of the vertices."""
    return vertices * -math.expm1(-ends / max(vertices, 1))


def numbered(ends: float, vertices: float, partitions: int, members: int) -> float:
    """Return the work of a member that numbers ids that are not dense, as a number of ends looked up.

    A member that is alone looks up all ends, and sorts the ids. In a gang, a member looks up the ends of
    its partitions, and then the distinct ids of all of them. It sorts its distinct ids, and merges those
    of its range of all members.

    Parameters
    ----------
    ends, vertices : float
        Twice the number of edges, and the number of vertices.
    partitions, members : int
        Partitions of the edges, and members that read them.
    """
    if members == 1:
        return ends + SORTED * vertices
    own = distinct(ends / members, vertices)
    again = partitions / members * distinct(ends / partitions, vertices)
    return ends / members + again + 2 * SORTED * own


def joined(ends: float, vertices: float, partitions: int, chains: int) -> float:
    """Return the work of a chain of components whose ids are not dense, as a number of ends looked up.

    A chain looks up the ends of each partition. Neighbors of like size are joined: the distinct ids of both
    are looked up again. At the end the chain sorts its ids, and an owner merges those of all chains.

    Parameters
    ----------
    ends, vertices : float
        Twice the number of edges, and the number of vertices.
    partitions, chains : int
        Partitions of the edges, and chains that take them in turn.
    """
    chunks, size = partitions / chains, ends / partitions
    work = ends / chains
    while chunks > 1:
        work += chunks * distinct(size, vertices)
        chunks, size = chunks / 2, size * 2
    own = distinct(ends / chains, vertices)
    return work + SORTED * own * (1 if chains == 1 else 2)


def iterations(vertices: int, alpha: float = 0.85, tol: float = 1e-6, most: int = 100) -> int:
    """Return how many iterations PageRank takes at most: each makes the change alpha times as large."""
    goal = tol * max(vertices, 1)
    if not 0 < alpha < 1 or goal >= 2:
        return 1 if alpha < 1 else most
    return min(most, 1 + math.ceil(math.log(goal / 2) / math.log(alpha)))


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
