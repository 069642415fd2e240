"""Check whether there is a usable GPU. If not, report what was found and what to install.

Importing this module does not import CuPy or cuDF. An installation for the wrong CUDA version may fail in
three places: when it is imported, when it first talks to the driver, and when it first compiles a kernel.
It may raise any type of error there.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.metadata
import re
import sys
from typing import Any, NamedTuple

from dask_graphflow.exceptions import BackendError

EXTRAS = (12, 13)  # the CUDA versions for which there are extras: [cuda12], [cupy12] and so on
# What the driver says of a pair of GPUs: a CUdevice_P2PAttribute, and what is lacking if it is 0.
LACKING = {
    2: "the driver gives a GPU no access to the memory of another one",
    3: "the link between GPUs does not carry out atomic operations, as NVLink does",
}
PACKAGE = re.compile(r"(cupy|cudf)(-cuda\d+x|-cu\d+)?")


class GpuSetup(NamedTuple):
    """The GPU driver and packages of this environment."""

    # The newest CUDA version that the driver supports, as 1000 * major + 10 * minor; None without one.
    driver: int | None
    packages: dict[str, str]  # the installed CuPy and cuDF packages and their versions
    advice: str  # a sentence that says how to install the packages that fit the driver


def found() -> GpuSetup:
    """Return the GPU driver and packages of this environment, without importing CuPy or cuDF."""
    driver, packages = _driver_version(), _packages()
    return GpuSetup(driver, packages, _advice(driver, None, list(packages)))


def load_cupy() -> Any:
    """Return CuPy, or raise :class:`BackendError` if it is missing or has no GPU that it can use."""
    try:
        import cupy
    except Exception as error:
        raise _unusable(
            f"data on a GPU needs CuPy, which cannot be imported here ({_first_line(error)})"
        ) from error
    try:
        cupy.cuda.runtime.getDeviceCount()
    except RuntimeError as error:
        raise _unusable(
            f"CuPy {cupy.__version__} is installed, but finds no GPU to use ({_first_line(error)}); "
            "nvidia-smi lists the GPUs and the CUDA version that the driver supports"
        ) from error
    _check_compiler(cupy)
    return cupy


def require_gpu() -> None:
    """Raise :class:`BackendError` unless this process can use a GPU with CuPy and cuDF."""
    cupy = load_cupy()
    try:
        # Imported here, because a cuDF frame has imported cuDF already. Only a caller that requests a GPU
        # without such a frame needs this check.
        importlib.import_module("cudf")
    except Exception as error:
        built_for = cupy.cuda.runtime.runtimeGetVersion() // 1000
        raise _unusable(
            f"frames on a GPU need cuDF, which cannot be imported here ({_first_line(error)})",
            built_for,
        ) from error


def spills() -> bool | None:
    """Return whether cuDF spills to host memory in this process; None if it is not imported."""
    if "cudf" not in sys.modules:
        return None
    try:
        # The option "spill" is not enough: it may have been set too late to take effect.
        manager = importlib.import_module("cudf.core.buffer.spill_manager")
        return manager.get_global_manager() is not None
    except (ImportError, AttributeError):
        return None


def count() -> int:
    """Return how many GPUs this process sees."""
    driver, number = _driver(), ctypes.c_int(0)
    _succeeds(driver.cuInit(0), "cuInit")
    _succeeds(driver.cuDeviceGetCount(ctypes.byref(number)), "cuDeviceGetCount")
    return number.value


def why_apart(one: int, other: int) -> str:
    """Return why kernels on one GPU cannot use the memory of another one; an empty text if they can.

    The GPUs are given by their numbers in this process.
    """
    driver, supported = _driver(), ctypes.c_int(0)
    _succeeds(driver.cuInit(0), "cuInit")
    pair = ctypes.c_int(0), ctypes.c_int(0)
    for handle, number in zip(pair, (one, other), strict=True):
        _succeeds(driver.cuDeviceGet(ctypes.byref(handle), number), "cuDeviceGet")
    for attribute, lacking in LACKING.items():
        asked = driver.cuDeviceGetP2PAttribute(ctypes.byref(supported), attribute, *pair)
        _succeeds(asked, "cuDeviceGetP2PAttribute")
        if not supported.value:
            return lacking
    return ""


def _succeeds(status: int, call: str) -> None:
    if status:
        raise RuntimeError(f"{call} of the NVIDIA driver returned error {status}")


def _check_compiler(cupy: Any) -> None:
    """Check that kernels compiled by CuPy can run: CuPy looks for NVRTC only at its first kernel."""
    nvrtc, capability = cupy.cuda.nvrtc, int(cupy.cuda.Device().compute_capability)
    try:
        version, capabilities = nvrtc.getVersion(), nvrtc.getSupportedArchs()
    except (RuntimeError, ImportError, OSError) as error:
        raise _unusable(
            f"CuPy {cupy.__version__} finds no NVRTC to compile kernels with "
            f"({_first_line(error)}); it may have been built for another CUDA version"
        ) from error
    named = f"the NVRTC that CuPy {cupy.__version__} found is of CUDA {version[0]}.{version[1]}"
    driver = _driver_version()
    if driver and version[0] > driver // 1000:
        raise _unusable(f"{named}, and the driver does not run kernels that it compiles")
    if capability not in capabilities:
        raise _unusable(
            f"{named}, which does not compile for this GPU, of compute capability "
            f"{capability // 10}.{capability % 10}"
        )


def _unusable(problem: str, cuda: int | None = None) -> BackendError:
    """Return the error that says what is wrong, what was found, and what to install."""
    driver = _driver_version()
    packages = _packages()
    present = [f"{name} {version}" for name, version in packages.items()]
    if driver:
        present.insert(0, f"a driver for CUDA {driver // 1000}.{driver % 1000 // 10}")
    else:
        present.insert(0, "no NVIDIA driver")
    return BackendError(
        f"{problem}. Found: {', '.join(present)}. {_advice(driver, cuda, list(packages))}"
    )


def _advice(driver: int | None, cuda: int | None, packages: list[str]) -> str:
    """Return the advice to install packages that fit the driver, or the CUDA version if it is given."""
    newest = f'pip install "dask-graphflow[cuda{EXTRAS[-1]}]"'
    if not driver:
        return f"Install NVIDIA's driver, then {newest} (or [cuda12], as nvidia-smi says)"
    if driver // 1000 < EXTRAS[0]:
        return f"Update the driver to one for CUDA {EXTRAS[0]} or newer, then {newest}"
    cuda = cuda or min(driver // 1000, EXTRAS[-1])
    install = f'pip install "dask-graphflow[cuda{cuda}]"'
    # pip would keep packages for another CUDA version, and packages for two versions break each other.
    others = [name for name in packages if (at := re.search(r"\d+", name)) and int(at[0]) != cuda]
    advice = f"pip uninstall {' '.join(others)}, then {install}" if others else f"Run {install}"
    if any(name.startswith("cupy") for name in packages):
        return advice
    return f"{advice}; [cupy{cuda}] is enough for pandas frames and device='gpu'"


def _packages() -> dict[str, str]:
    """Return the installed CuPy and cuDF packages and their versions."""
    versions = {}
    for package in importlib.metadata.distributions():
        name = package.name.lower().replace("_", "-")
        if PACKAGE.fullmatch(name):
            versions[name] = package.version
    return dict(sorted(versions.items()))


def _driver_version() -> int | None:
    """Return the newest CUDA version of the driver, as 1000 * major + 10 * minor; None without a driver.

    This asks the driver directly, since CuPy may not be installed.
    """
    version = ctypes.c_int(0)
    try:
        _driver().cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return None
    return version.value or None


def _driver() -> Any:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def _first_line(error: BaseException) -> str:
    """Return an error as one line. CuPy raises an error with a banner; its cause says what went wrong."""
    cause = error.__cause__ or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return f"{type(cause).__name__}: {lines[0]}" if lines else type(cause).__name__
