"""The model: formulas for the time of a job, given rates and links. Nothing is measured or looked up here.

Components (Groute [1]_): each of N members hooks E/N edges in chunks of V, and a policy decides how the
forests are merged. Supersteps (TOTEM [2]_): a member p takes E_p/r_p to compute and B_p/c to send to the
others, and all members wait for the slowest one (:func:`.load_balance.makespan`).

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

# If others read at least one vertex in this many, all vertices are sent: MOST of operators/hub_rows.py.
MOST_TOLD = 2
SORTED = 3  # ends of edges that can be looked up in the time it takes to sort one distinct id


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
    """Return the seconds of connected components according to Groute's model.

    Parameters
    ----------
    vertices, edges, members : int
        V, E and N.
    t_at : float
        Seconds to hook and compress a chunk of V edges.
    t_com : float
        Seconds that do not depend on N: for the call and the results.
    t_merge : float
        Seconds to send a forest of V vertices and merge it.
    merge : {"tree", "one-way", "ring"}
        Order in which forests are merged; see :mod:`~dask_graphflow.scheduling.trees`.

    Returns
    -------
    float
        t_at·E/(N·V) + t_com + t_merge·(merges on the longest path).
    """
    depth = trees.depth(merging.merges_of(merge, members))
    return t_at * edges / (members * max(vertices, 1)) + t_com + t_merge * depth


def remote(vertices: float, degree: float, members: int) -> float:
    """Return how many vertices of other members a member reads, if vertices are assigned at random.

    A vertex with d edges has a neighbor on a given member with probability 1 - (1 - 1/N)^d. This is concave
    in d, so the value at the mean degree is an upper bound for all degrees with that mean. If at least half
    of the vertices are read, all of them are sent.
    """
    others = vertices * (1 - 1 / members)
    read = 1 - (1 - 1 / members) ** degree
    return others * (1.0 if read * MOST_TOLD >= 1 else read)


def distinct(ends: float, vertices: float) -> float:
    """Return the expected number of distinct vertices among the ends of edges, if ends are random."""
    return vertices * -math.expm1(-ends / max(vertices, 1))


def numbered(ends: float, vertices: float, partitions: int, members: int) -> float:
    """Return the work of a member that numbers ids that are not dense, as a number of ends looked up.

    A single member looks up all ends, and sorts the ids. In a gang, a member looks up the ends of its
    partitions, and then the distinct ids of each partition. It sorts its distinct ids, and merges the ids
    in its range from all members.

    Parameters
    ----------
    ends, vertices : float
        Twice the number of edges, and the number of vertices.
    partitions, members : int
        Number of partitions of the edges, and number of members that read them.
    """
    if members == 1:
        return ends + SORTED * vertices
    own = distinct(ends / members, vertices)
    again = partitions / members * distinct(ends / partitions, vertices)
    return ends / members + again + 2 * SORTED * own


def joined(ends: float, vertices: float, partitions: int, chains: int) -> float:
    """Return the work of a chain of components whose ids are not dense, as a number of ends looked up.

    A chain looks up the ends of each partition. Neighboring chunks of similar size are joined, which looks
    up the distinct ids of both again. At the end the chain sorts its ids, and an owner merges the ids of
    all chains.

    Parameters
    ----------
    ends, vertices : float
        Twice the number of edges, and the number of vertices.
    partitions, chains : int
        Number of partitions of the edges, and number of chains that share them.
    """
    chunks, size = partitions / chains, ends / partitions
    work = ends / chains
    while chunks > 1:
        work += chunks * distinct(size, vertices)
        chunks, size = chunks / 2, size * 2
    own = distinct(ends / chains, vertices)
    return work + SORTED * own * (1 if chains == 1 else 2)


def iterations(vertices: int, alpha: float = 0.85, tol: float = 1e-6, most: int = 100) -> int:
    """Return the maximum number of PageRank iterations; each one multiplies the change by alpha."""
    goal = tol * max(vertices, 1)
    if not 0 < alpha < 1 or goal >= 2:
        return 1 if alpha < 1 else most
    return min(most, 1 + math.ceil(math.log(goal / 2) / math.log(alpha)))


@dataclass(frozen=True)
class Scaling:
    """Speedup of shared work with the number of workers.

    Attributes
    ----------
    alone : float
        Seconds on one worker.
    contention : float
        Loss of a worker per other worker: n workers are n / (1 + contention·(n - 1)) times as fast as one.
        Workers lose time because they share the memory, or because their shares of the work differ.
    most : float
        Number of workers that there are cores for. Additional workers do not help.
    """

    alone: float
    contention: float
    most: float = math.inf

    def of(self, workers: int) -> float:
        """Return how many times as fast as one worker this number of workers is."""
        busy = min(workers, self.most)
        return busy / (1 + self.contention * (busy - 1))

    def seconds(self, workers: int) -> float:
        """Return the seconds on this number of workers."""
        return self.alone / self.of(workers)


def fit(
    measured: Mapping[int, float],
    beside: Callable[[int], float],
    *,
    most: float = math.inf,
) -> Scaling:
    """Return the constants that reproduce the times measured on one worker and on two.

    If two workers are more than twice as fast as one, they are taken to be exactly twice as fast.

    Parameters
    ----------
    measured : mapping of int to float
        Seconds on 1 and on 2 workers.
    beside : callable
        Takes a number of workers, and returns the seconds of work that is not shared and was measured
        separately: Dask's call, merges, messages.
    most : float
        Number of workers that there are cores for.

    Raises
    ------
    OptionError
        One of the two times is missing, or one worker takes no longer than the work that is not shared.
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
    # A larger speedup comes from caches or chance, and is not extrapolated.
    lost = (measured[2] - beside(2)) * both / alone - 1
    return Scaling(alone, max(lost / (both - 1), 0.0), most)
