"""What benchmarks on a GPU need: its memory pool, waiting for it, peak memory, and errors of peers."""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.lib.errors import ContenderFailedError, UnusableInputError

POOL = 0.85  # of the free memory; kernels, cuGraph's handles and UCX need some outside the pool
ALIGNMENT = 256  # bytes, required by RMM
RMAT_FACTOR = 16  # edges per id
HUB = 11  # the id of the first vertex of an R-MAT graph
MESSAGE = 200  # characters of a peer's error that a table has room for
INSTALL = 'pip install "dask-graphflow[cuda13]" (or [cuda12], as nvidia-smi says)'
ADVICE = {
    "cugraph": "pip install cugraph-cu13 (or -cu12), from NVIDIA's package index",
    "torch": "pip install torch, whose profiler reads what the device does from CUPTI",
}


def start(size: int | None = None, *, fixed: bool = True, peer: bool = False) -> int:
    """Create one RMM pool for cuDF, cuGraph and CuPy, and return its size in bytes.

    First, check that the packages are installed, and cuGraph too if a peer is measured. By default, the
    pool starts with most of the free memory, and may grow. A pool with a given size may grow unless it is
    `fixed`.
    """
    check("cupy", "rmm", "cudf", *(["cugraph"] if peer else []))
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    free, _ = cupy.cuda.runtime.memGetInfo()
    fixed = fixed and size is not None
    size = (int(free * POOL) if size is None else size) // ALIGNMENT * ALIGNMENT
    rmm.reinitialize(
        pool_allocator=True,
        initial_pool_size=size,
        maximum_pool_size=size if fixed else None,
    )
    cupy.cuda.set_allocator(rmm_cupy_allocator)
    return size


def part_of_memory(part: float) -> int:
    """Return a part of the memory of the current device, in bytes."""
    import cupy

    return int(cupy.cuda.runtime.memGetInfo()[1] * part)


def check(*modules: str) -> None:
    """Raise an error that says what to install, unless all modules can be imported."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        advice = ADVICE.get(missing[0], INSTALL) if len(missing) == 1 else INSTALL
        raise UnusableInputError(f"{', '.join(missing)} not installed; {advice}")


def cluster(workers: int, *, on_gpu: bool, protocol: str = "tcp", pool: float = 0.6) -> Any:
    """Return a cluster of workers with one thread each.

    On GPUs, each worker has a GPU, and a memory pool with a part of its memory.
    """
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    if not on_gpu:
        from distributed import LocalCluster

        return LocalCluster(**options)
    check("cupy", "cudf", "dask_cudf", "dask_cuda")
    from dask_cuda import LocalCUDACluster

    options |= {"rmm_pool_size": pool, "rmm_allocator_external_lib_list": ["cupy"]}
    return LocalCUDACluster(protocol=protocol, **options)


def rmat(scale: int, *, parts: int, weighted: bool) -> Any:
    """Return the lazy edges of a Graph500 R-MAT graph, which the workers' GPUs make.

    The ids are int32, and permuted, so that :data:`HUB` is the id of the largest degree. These are other
    edges than those of :func:`dask_graphflow.generate.rmat`, which take a host a minute at scale 26.
    """
    import cudf
    import dask.dataframe as dd

    make = partial(
        _rmat_part, scale=scale, edges=(RMAT_FACTOR << scale) // parts, weighted=weighted
    )
    types = {"src": "int32", "dst": "int32"} | ({"weight": "float64"} if weighted else {})
    meta = cudf.DataFrame({name: np.empty(0, dtype) for name, dtype in types.items()})
    return dd.from_map(make, range(parts), meta=meta)


def _rmat_part(part: int, *, scale: int, edges: int, weighted: bool) -> Any:
    import cudf
    import cupy

    random = cupy.random.default_rng(part)
    ends = {name: cupy.zeros(edges, "int32") for name in ("src", "dst")}
    for level in range(scale):
        drawn = random.random(edges, dtype="float32")
        ends["src"] |= (drawn >= 0.76).astype("int32") << level
        ends["dst"] |= (((drawn >= 0.57) & (drawn < 0.76)) | (drawn >= 0.95)).astype(
            "int32"
        ) << level
    last = (1 << scale) - 1
    # An odd factor permutes the ids.
    columns = {
        name: ((end.astype("int64") * 0x9E3779B1 + HUB) & last).astype("int32")
        for name, end in ends.items()
    }
    if weighted:
        columns["weight"] = random.integers(1, 256, edges).astype("float64")
    return cudf.DataFrame(columns)


def wait() -> None:
    """Wait until the current device is idle."""
    import cupy

    cupy.cuda.Device().synchronize()


def peak(work: Callable[[], Any]) -> int:
    """Return the peak memory of a run in bytes, above the memory in use before it.

    The result of the run counts too. The run is not timed, because counting every allocation takes time.
    """
    import rmm.statistics

    gc.collect()
    with rmm.statistics.statistics():
        work()
        wait()
        counted = rmm.statistics.get_statistics()
    gc.collect()
    return int(counted.peak_bytes)


@contextmanager
def peer_errors() -> Iterator[None]:
    """Convert an error of a peer, such as running out of memory, to the reason shown below its table."""
    try:
        yield
    except MemoryError as error:
        raise ContenderFailedError(f"out of memory: {_short(error)}") from error
    except Exception as error:
        raise ContenderFailedError(f"{type(error).__name__}: {_short(error)}") from error


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:MESSAGE]
