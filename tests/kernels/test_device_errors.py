"""Memory that runs out on a real GPU, and a GPU that is hidden. These tests need a GPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import as_dict, cupy_or_skip, frame

import dask_graphflow as gf
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.graph import renumber
from dask_graphflow.kernels import require_gpu

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()

HUGE = 1 << 46  # entries: more bytes than any GPU has


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in its own process, where it may set up RMM or lose the GPU."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_this_machine_meets_all_requirements():
    pytest.importorskip("cudf")
    require_gpu()


def test_the_error_reaches_the_user_and_the_next_call_works(monkeypatch):
    cudf = pytest.importorskip("cudf")
    monkeypatch.setattr(renumber, "SPARE_IDS", 1 << 60)  # ids this far apart are still dense
    edges = cudf.from_pandas(frame([(0, HUGE), (3, 4)]))
    with pytest.raises(GraphMemoryError) as got:
        gf.connected_components(edges, source="a", target="b").compute(scheduler="threads")
    assert got.value.needed >= 9 * HUGE
    monkeypatch.undo()
    labels = gf.connected_components(edges, source="a", target="b").compute(scheduler="threads")
    assert as_dict(labels.to_pandas()) == {0: 0, 3: 3, 4: 3, HUGE: 0}


POOL = """
import cupy, rmm
from rmm.allocators.cupy import rmm_cupy_allocator
pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), 2**26, 2**26)
resource = {resource}
rmm.mr.set_current_device_resource(resource)
cupy.cuda.set_allocator(rmm_cupy_allocator)
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.operators.forests.forest import Forest
held = cupy.zeros(2**24, "uint8")
try:
    Forest(held, size=2**25)
except GraphMemoryError as error:
    print(error.needed, error.available)
    print(error)
Forest(held, size=2**20)
"""


@pytest.mark.parametrize(
    ("resource", "most"),
    [("pool", 2**26), ("rmm.mr.StatisticsResourceAdaptor(pool)", 2**26 - 2**24)],
    ids=["pool", "pool that counts"],
)
def test_a_forest_larger_than_the_pool_of_rmm_names_the_pool(resource, most):
    pytest.importorskip("rmm")
    done = run(POOL.format(resource=resource))
    assert done.returncode == 0, done.stderr
    numbers, message = done.stdout.splitlines()
    needed, available = map(int, numbers.split())
    assert needed == 5 * 2**25
    assert available == most
    assert "RMM's pool of 67,108,864 bytes (64.0 MiB)" in message


LIMIT = """
import cupy
cupy.get_default_memory_pool().set_limit(size=2**26)
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.operators.forests.forest import Forest
try:
    Forest(cupy.zeros(0), size=2**25)
except GraphMemoryError as error:
    print(error.needed, error.available)
"""


def test_a_limit_of_the_pool_of_cupy_counts():
    done = run(LIMIT)
    assert done.returncode == 0, done.stderr
    needed, available = map(int, done.stdout.split())
    assert needed == 5 * 2**25
    assert 2**26 - 4096 < available <= 2**26


def test_an_error_about_an_invisible_gpu_names_the_installed_packages():
    done = run(
        "from dask_graphflow.kernels import require_gpu; require_gpu()", CUDA_VISIBLE_DEVICES=""
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("dask_graphflow.exceptions.BackendError: ")
    assert "finds no GPU to use" in last
    assert "Found: a driver for CUDA" in last
    assert "cupy" in last.partition("Found:")[2]
