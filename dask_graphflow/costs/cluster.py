"""Clusters: descriptions of the workers that exist, or of ones that could exist."""

from __future__ import annotations

from dataclasses import dataclass, field

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.tables import counted

from .links import Links
from .rates import Rates


@dataclass(frozen=True)
class ClusterSpec:
    """A description of workers of one kind; use a list of them for several kinds.

    Parameters
    ----------
    workers : int
        Number of workers; 1 by default.
    threads : int
        Number of threads of each worker; 1 by default.
    device : bool
        Whether each worker has its own GPU, which holds its part of the graph. False by default.
    memory : int or None
        Memory of each worker, in bytes. The process of a worker without a GPU takes about 300 MB of it.
        None, the default, means no limit.
    hosts : int
        Number of machines that the workers are spread over; 1 by default. Workers on one machine share
        its cores.
    addresses : tuple of str
        Addresses of the workers, if they exist.
    rates : Rates or None
        Speed of each worker. None, the default, uses the stored or measured rates.
    links : Links or None
        Speed of the links between workers. None, the default, measures those of the current cluster.

    Raises
    ------
    OptionError
        A number is below 1, or there are more hosts than workers.

    Examples
    --------
    >>> from dask_graphflow.costs import ClusterSpec
    >>> laptop = ClusterSpec(threads=8, memory=16 << 30)
    >>> both = [ClusterSpec(workers=2, device=True), ClusterSpec(workers=1, threads=30)]
    >>> sum(kind.workers for kind in both)
    3
    """

    workers: int = 1
    threads: int = 1
    device: bool = False
    memory: int | None = None
    hosts: int = 1
    addresses: tuple[str, ...] = ()
    # These are tables, and have their own reprs.
    rates: Rates | None = field(default=None, repr=False)
    links: Links | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("workers", "threads", "hosts"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise OptionError(f"{name}={value!r} of a cluster; give a whole number, 1 or more")
        if self.hosts > self.workers:
            raise OptionError(
                f"{self.hosts:,} hosts for {counted(self.workers, 'worker')}; give at most one per worker"
            )
        if self.memory is not None and not self.memory >= 0:
            raise OptionError(
                f"memory={self.memory!r} of a worker; give a number of bytes, or None"
            )
