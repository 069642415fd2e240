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
    "Scaling",
    "components_seconds",
    "fit",
    "iterations",
    "remote",
]

# If others read at least one vertex in so many, all vertices are sent: MOST of operators/pull.py.
MOST_TOLD = 2


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
