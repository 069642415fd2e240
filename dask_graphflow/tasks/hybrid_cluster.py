"""A local cluster with two kinds of workers: one worker for each GPU, and workers for the CPU.

Dask's resource `GPU` distinguishes them (:mod:`.placement`). Workers with a GPU are started as Dask-CUDA
starts them. The other workers get the remaining cores and cannot see a GPU.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

from dask.system import CPU_COUNT

from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.exceptions import BackendError

from .placement import GPU

PRELOADS = "preload", "preload_argv"


def hybrid_cluster(
    gpus: int | None = None,
    *,
    cpu_workers: int = 1,
    threads: int | None = None,
    memory_limit: Any = "auto",
    gpu_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Start a local cluster with one worker per GPU and additional workers for the CPU.

    Parameters
    ----------
    gpus : int, optional
        Number of workers with a GPU; each has its own GPU. By default, one per GPU of the machine.
    cpu_workers : int
        Number of workers without a GPU; 1 by default.
    threads : int, optional
        Number of threads of each worker without a GPU. By default they divide the remaining cores evenly.
    memory_limit : int, float, str or None
        Host memory of each worker, in the format of Dask. By default all workers get the same share.
    gpu_options : dict, optional
        Options only for the workers with a GPU, as for ``dask_cuda.LocalCUDACluster``: for example
        ``pre_import``, ``rmm_pool_size``, ``threads_per_worker`` (1 by default) or another
        ``memory_limit``. They have no effect if there is no GPU.
    **options
        Options for all workers and the scheduler, as for ``distributed.LocalCluster``: for example
        ``protocol``, ``dashboard_address`` or ``local_directory``.

    Returns
    -------
    distributed.SpecCluster
        The cluster. Close it, or use it as a context manager. Workers with a GPU have Dask's resource
        `GPU`. The other workers have the resource `CPU` and cannot see a GPU.

    Raises
    ------
    OptionError
        There would be no workers, or a number is invalid.
    BackendError
        The machine has fewer GPUs than requested, or Dask-CUDA is not installed.

    Examples
    --------
    Without a GPU, all workers use the CPU:

    >>> import dask_graphflow as gf
    >>> with gf.hybrid_cluster(0, cpu_workers=2, threads=1, dashboard_address=":0") as cluster:
    ...     sorted(cluster.workers)
    [0, 1]

    On a machine with GPUs, one worker per GPU and one for the CPU share a graph:

    >>> with gf.hybrid_cluster() as cluster, cluster.get_client():  # doctest: +SKIP
    ...     g = gf.Graph(edges, source="src", target="dst", hybrid="auto")
    ...     ranks = g.pagerank().compute()
    """
    from distributed import LocalCluster

    gpus = _gpus(gpus)
    check_count("cpu_workers", cpu_workers, least=0 if gpus else 1)
    own = {"threads_per_worker": 1, **(gpu_options or {})} if gpus else {}
    if threads is None:
        left = CPU_COUNT - gpus * own.get("threads_per_worker", 0)
        threads = max(1, left // max(1, cpu_workers))
    check_count("threads", threads)
    if memory_limit == "auto":
        memory_limit = 1 / (gpus + cpu_workers)  # a fraction of the machine's memory
    options["memory_limit"] = memory_limit
    cpu = {"resources": {"CPU": 1}, "env": {"CUDA_VISIBLE_DEVICES": ""}}
    if not gpus:
        return LocalCluster(n_workers=cpu_workers, threads_per_worker=threads, **cpu, **options)
    cluster = _local_cuda_cluster()(n_workers=gpus, resources={GPU: 1}, **(options | own))
    worker = dict(cluster.new_spec["options"])
    for asked in PRELOADS:  # Dask-CUDA has added its own, which set up a GPU
        worker.pop(asked, None)
    worker |= {name: options[name] for name in (*PRELOADS, "memory_limit") if name in options}
    worker |= {"nthreads": threads, **cpu}
    spec = {"cls": cluster.new_spec["cls"], "options": worker}
    cluster.worker_spec.update({f"cpu-{i}": spec for i in range(cpu_workers)})
    try:
        cluster.sync(_start, cluster)
    except BaseException:
        cluster.close()
        raise
    return cluster


async def _start(cluster: Any) -> None:
    await cluster


def _gpus(wanted: int | None) -> int:
    """Return how many GPUs to use; raise if there are fewer than requested."""
    if wanted is not None:
        check_count("gpus", wanted, least=0)
    there = 0 if wanted == 0 else _visible()
    if wanted is not None and wanted > there:
        raise BackendError(
            f"gpus={wanted}, but this machine has {there} (as NVML counts them, without those that "
            "CUDA_VISIBLE_DEVICES hides); give at most that number, or None for all of them"
        )
    return there if wanted is None else wanted


def _visible() -> int:
    """Return how many GPUs a process started here can see, counted as Dask-CUDA counts them."""
    from distributed.diagnostics import nvml

    there = int(nvml.device_get_count())
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not there:
        return there
    names = map(str.strip, visible.split(","))
    # CUDA ignores everything after the first invalid entry of the list.
    return len(list(itertools.takewhile(lambda name: name and not name.startswith("-"), names)))


def _local_cuda_cluster() -> Any:
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise BackendError(
            f"workers with a GPU need Dask-CUDA, which cannot be imported here ({error}); install "
            "dask-graphflow[cuda13] or [cuda12], as nvidia-smi says, or give gpus=0"
        ) from error
    return LocalCUDACluster
