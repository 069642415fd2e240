"""If a GPU, CuPy, cuDF or memory is missing, one error says what was found and what to do."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from types import SimpleNamespace

import conftest
import dask
import numpy as np
import pytest
from conftest import ENDS, frame
from distributed import Client, LocalCluster

import dask_graphflow as gf
from dask_graphflow import kernels
from dask_graphflow.exceptions import BackendError, GraphflowError, GraphMemoryError
from dask_graphflow.graph import renumber
from dask_graphflow.kernels import gpu, no_room, require_gpu
from dask_graphflow.operators.forests.forest import Forest
from dask_graphflow.tasks import placement

NO_DRIVER = (
    "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
)
BANNER = "\n====\nFailed to import CuPy.\n\nOriginal error:\n  ImportError: libcublas\n====\n"
IMPORTED_FOR_ANOTHER_CUDA = f"""
try:
    import _no_such_library
except ImportError as error:
    raise ImportError({BANNER!r}) from error
"""


def raising(error):
    def call(*_, **__):
        raise error

    return call


def fake_cupy(*, devices=None, nvrtc=(13, 0), archs=(75, 80, 90, 100), runtime=13000):
    """Return a stand-in for CuPy with a GPU of compute capability 9.0, changed by the arguments."""

    def answer(value):
        return raising(value) if isinstance(value, Exception) else lambda: value

    cuda = SimpleNamespace(
        runtime=SimpleNamespace(
            getDeviceCount=answer(devices or 1), runtimeGetVersion=answer(runtime)
        ),
        nvrtc=SimpleNamespace(getVersion=answer(nvrtc), getSupportedArchs=answer(archs)),
        Device=lambda: SimpleNamespace(compute_capability="90"),
    )
    return SimpleNamespace(__version__="14.2.0", cuda=cuda)


@pytest.fixture
def machine(monkeypatch):
    """Return a function that sets what is installed here."""

    def set_up(*, cupy, cudf=None, driver=13000, packages=()):
        monkeypatch.setattr(gpu, "_driver_version", lambda: driver)
        monkeypatch.setattr(gpu, "_packages", lambda: dict(packages))
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setitem(sys.modules, "cudf", cudf)
        monkeypatch.delitem(sys.modules, "dask_graphflow.kernels.common.device", raising=False)
        monkeypatch.delattr(kernels, "device", raising=False)

    return set_up


CUPY_13, CUDF_13 = ("cupy-cuda13x", "14.2.0"), ("cudf-cu13", "26.10.0")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(
            {"cupy": None},
            r"needs CuPy.*a driver for CUDA 13\.0\. Run pip install .*\[cuda13\]\"; \[cupy13\] is enough",
            id="no CuPy",
        ),
        pytest.param(
            {"cupy": None, "driver": None},
            r"no NVIDIA driver\. Install NVIDIA's driver, then pip install .*\(or \[cuda12\]",
            id="nothing at all",
        ),
        pytest.param(
            {"cupy": fake_cupy(devices=RuntimeError(NO_DRIVER)), "driver": None},
            "CuPy 14.2.0 is installed, but finds no GPU to use.*InsufficientDriver.*no NVIDIA driver",
            id="no driver",
        ),
        pytest.param(
            {"cupy": fake_cupy(devices=RuntimeError(NO_DRIVER)), "driver": 11020},
            r"a driver for CUDA 11\.2\. Update the driver to one for CUDA 12 or newer, then",
            id="a driver too old for any",
        ),
        pytest.param(
            {"cupy": fake_cupy(nvrtc=(13, 1)), "driver": 12080},
            r"of CUDA 13\.1, and the driver does not run kernels that it compiles.*\[cuda12\]",
            id="an NVRTC newer than the driver",
        ),
        pytest.param(
            {"cupy": fake_cupy(runtime=12090), "packages": [("cupy-cuda12x", "14.2.0")]},
            r'need cuDF.*cupy-cuda12x 14\.2\.0\. Run pip install "dask-graphflow\[cuda12\]"$',
            id="no cuDF: one that fits the CuPy that works",
        ),
        pytest.param(
            {"cupy": fake_cupy(), "packages": [("cudf-cu12", "26.10.0"), CUPY_13]},
            r"need cuDF.*pip uninstall cudf-cu12, then pip install .*\[cuda13\]",
            id="a cuDF for another CUDA",
        ),
    ],
)
def test_a_missing_gpu_package_is_named_with_the_package_to_install(machine, given, message):
    machine(**given)
    with pytest.raises(BackendError, match=message) as raised:
        require_gpu()
    assert "\n" not in str(raised.value)


def test_a_complete_gpu_installation_raises_no_error(machine):
    machine(cupy=fake_cupy(), cudf=SimpleNamespace())
    require_gpu()
    # A driver runs code for an older CUDA version, and for a newer one of the same major version.
    machine(cupy=fake_cupy(nvrtc=(12, 9)), cudf=SimpleNamespace())
    require_gpu()
    machine(cupy=fake_cupy(nvrtc=(13, 3)), cudf=SimpleNamespace(), driver=13000)
    require_gpu()


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        (
            "cupy",
            IMPORTED_FOR_ANOTHER_CUDA,
            "needs CuPy, which cannot be imported here (ModuleNotFoundError: No module named",
        ),
        ("cudf", "raise OSError('libcudf.so: cannot open')", "need cuDF, which cannot be imported"),
    ],
)
def test_a_package_that_breaks_on_import_gets_the_error(tmp_path, name, code, message):
    (tmp_path / f"{name}.py").write_text(code)
    run = (
        "from dask_graphflow.kernels import gpu, require_gpu\n"
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "sys.modules.pop(sys.argv[2], None)\n"  # on some machines, every interpreter imports it
        "if sys.argv[2] == 'cudf':\n"
        "    from types import SimpleNamespace as Of\n"
        "    runtime = Of(runtimeGetVersion=lambda: 13000)\n"
        "    gpu.load_cupy = lambda: Of(cuda=Of(runtime=runtime))\n"
        "require_gpu()"
    )
    command = [sys.executable, "-c", run, str(tmp_path), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("dask_graphflow.exceptions.BackendError: ")
    assert message in last
    assert "pip install" in last


def test_the_driver_is_asked_without_cupy(monkeypatch):
    def answer(pointer):
        pointer._obj.value = 12040
        return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(cuDriverGetVersion=answer))
    assert gpu._driver_version() == 12040
    monkeypatch.setattr(ctypes, "CDLL", raising(OSError("libcuda.so.1: cannot open")))
    assert gpu._driver_version() is None


class Driver:
    """A driver with three GPUs, of which one pair has no access, and another one no atomic operations."""

    apart = {(0, 2): 2, (1, 2): 3}  # noqa: RUF012

    def __init__(self, status=0):
        self._status = status

    def cuInit(self, flags):  # noqa: N802
        return self._status

    def cuDeviceGetCount(self, number):  # noqa: N802
        number._obj.value = 3
        return 0

    def cuDeviceGet(self, handle, number):  # noqa: N802
        handle._obj.value = number
        return 0

    def cuDeviceGetP2PAttribute(self, supported, attribute, one, other):  # noqa: N802
        supported._obj.value = self.apart.get((one.value, other.value)) != attribute
        return 0


def test_the_driver_says_which_gpus_can_use_each_others_memory(monkeypatch):
    monkeypatch.setattr(gpu, "_driver", Driver)
    assert gpu.count() == 3
    assert gpu.why_apart(0, 1) == ""
    assert gpu.why_apart(0, 2) == "the driver gives a GPU no access to the memory of another one"
    assert gpu.why_apart(1, 2).startswith("the link between GPUs does not carry out atomic")
    monkeypatch.setattr(gpu, "_driver", lambda: Driver(999))
    with pytest.raises(RuntimeError, match="cuInit of the NVIDIA driver returned error 999"):
        gpu.why_apart(0, 1)


HUGE = 1 << 46  # more entries than there are addresses: NumPy's own allocation fails


@pytest.mark.usefixtures("backend")
def test_a_forest_that_does_not_fit_says_what_it_needs_and_what_there_is():
    with pytest.raises(GraphMemoryError, match=r"More workers or GPUs do not|to_backend") as got:
        Forest(conftest.on_backend(np.zeros(0)), size=HUGE)
    assert got.value.needed == 9 * HUGE
    assert got.value.available is None or 0 < got.value.available < got.value.needed
    assert f"{HUGE:,} vertices" in str(got.value)
    assert f"{9 * HUGE:,} bytes" in str(got.value)
    assert isinstance(got.value, GraphflowError | MemoryError)


@pytest.mark.usefixtures("backend")
def test_a_forest_that_cannot_grow_is_unchanged():
    forest = Forest(conftest.on_backend(np.zeros(0)), size=4096)
    forest.hook(*map(conftest.on_backend, (np.array([1, 2]), np.array([2, 3]))))
    with pytest.raises(
        GraphMemoryError, match="in addition to the 20,480 bytes of the one it replaces"
    ):
        forest.cover(0, HUGE - 1)
    forest.compress()
    assert forest.parent[:5].tolist() == [0, 1, 1, 1, 4]
    assert len(forest.parent) == len(forest.seen) == 4096


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_the_error_reaches_the_user(monkeypatch, scheduler):
    monkeypatch.setattr(renumber, "SPARE_IDS", 1 << 60)  # ids this far apart are still dense
    lazy = gf.connected_components(frame([(0, HUGE), (3, 4)]), **ENDS)
    if scheduler == "processes":  # workers do not see the patch, so only sending is tested
        lazy = dask.delayed(Forest)(np.zeros(0), size=HUGE)
    with pytest.raises(GraphMemoryError) as got:
        lazy.compute(scheduler=scheduler)
    assert got.value.needed >= 9 * HUGE
    # The next call still works.
    monkeypatch.undo()
    assert len(gf.connected_components(frame([(3, 4)]), **ENDS).compute(scheduler="sync")) == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="takes Linux's limit of the address space")
def test_a_limit_of_the_address_space_counts():
    code = (
        "import resource, numpy as np\n"
        "from dask_graphflow.operators.forests.forest import Forest\n"
        "from dask_graphflow.exceptions import GraphMemoryError\n"
        "forest = Forest(np.zeros(0), size=4096)\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))\n"
        "try:\n"
        "    forest.cover(0, 2**27 - 1)\n"
        "except GraphMemoryError as error:\n"
        "    print(error.needed, error.available)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    needed, available = map(int, done.stdout.split())
    assert needed == 5 * 2**27
    assert 0 < available <= 2**28


class FakePool:
    """A resource of RMM, or an adaptor around one."""

    def __init__(self, upstream=None, **answers):
        if upstream is not None:
            self.get_upstream = lambda: upstream
        for name, value in answers.items():
            setattr(self, name, value if name == "allocation_counts" else lambda v=value: v)


def fake_device(monkeypatch, *, resource=None, limit=0, used=0):
    """Return device kernels on a GPU with 100 bytes free, of CuPy's own pool or of RMM's."""

    def malloc(size):
        raise NotImplementedError

    malloc.__module__ = "rmm.allocators.cupy" if resource else "cupy.cuda.memory"
    monkeypatch.setitem(
        sys.modules,
        "rmm",
        SimpleNamespace(mr=SimpleNamespace(get_current_device_resource=lambda: resource)),
    )
    pool = SimpleNamespace(free_bytes=lambda: 7, used_bytes=lambda: used, get_limit=lambda: limit)
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(memGetInfo=lambda: (100, 1000)),
        get_allocator=lambda: malloc,
    )
    namespace = SimpleNamespace(
        __name__="cupy", cuda=cuda, get_default_memory_pool=lambda: pool, zeros=raising(MemoryError)
    )
    return SimpleNamespace(namespace=namespace)


STATISTICS = SimpleNamespace(current_bytes=150)


@pytest.mark.parametrize(
    ("given", "available", "said"),
    [
        ({}, 107, "107 bytes of the GPU's 1,000 bytes free"),
        ({"limit": 60, "used": 40}, 20, "20 bytes left of CuPy's limit of 60 bytes"),
        ({"limit": 600, "used": 40}, 107, "107 bytes of the GPU's"),
        ({"resource": FakePool()}, 100, "100 bytes of the GPU's 1,000 bytes free"),
        ({"resource": FakePool(pool_size=400)}, 400, "RMM's pool of 400 bytes, less"),
        (
            {"resource": FakePool(FakePool(pool_size=400), allocation_counts=STATISTICS)},
            250,
            "250 bytes in RMM's pool of 400 bytes",
        ),
        (
            {"resource": FakePool(FakePool(FakePool(pool_size=400)), get_allocated_bytes=390)},
            10,
            "10 bytes in RMM's pool of 400 bytes",
        ),
    ],
)
def test_free_memory_of_a_gpu_is_that_of_the_allocator_of_cupy(monkeypatch, given, available, said):
    error = no_room(fake_device(monkeypatch, **given), vertices=99, needed=495, held=0)
    assert error.available == available
    assert f"and there is {said}" in str(error)
    assert "rmm_pool_size" in str(error)


# cuDF that spills to host memory


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def spilling(manager):
    """Return the modules of a cuDF that spills by a manager, or not without one."""
    module = SimpleNamespace(get_global_manager=lambda: manager)
    return {"cudf": SimpleNamespace(), "cudf.core.buffer.spill_manager": module}


def spill_on_worker(manager):
    sys.modules.update(spilling(manager))


GpuFrame = type("GpuFrame", (), {"__module__": "cudf.core.dataframe"})


@pytest.mark.parametrize(
    ("here", "there", "advice"),
    [
        (None, "manager", r"in the cluster's workers .*CUDF_SPILL=on.*enable_cudf_spill=False"),
        ("manager", None, r"in this process, .*enable_cudf_spill=True"),
    ],
    ids=["in workers", "in the client"],
)
def test_cudf_that_spills_on_one_side_only_is_refused(cluster, monkeypatch, here, there, advice):
    with Client(cluster) as client:
        client.run(spill_on_worker, there)
        for name, module in spilling(here).items():
            monkeypatch.setitem(sys.modules, name, module)
        with pytest.raises(BackendError, match=rf"cuDF spills to host memory {advice}"):
            placement.check_spilling(GpuFrame())
        placement.check_spilling(frame([]))  # pandas is not affected
        for name, module in spilling(there).items():  # as the advice says
            monkeypatch.setitem(sys.modules, name, module)
        placement.check_spilling(GpuFrame())
        monkeypatch.setattr(client, "run", None)
        placement.check_spilling(GpuFrame())  # asked once
