"""The checks of ``graphflow doctor``.

The required packages and versions come from the metadata of the installed package.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import itertools
import platform
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import dask
import pandas as pd
from dask.system import CPU_COUNT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from dask_graphflow.api import rate_store, versions
from dask_graphflow.api.graph import Graph
from dask_graphflow.api.measuring import room_of
from dask_graphflow.kernels import gpu, require_gpu
from dask_graphflow.showing.tables import size

OK, MISSING, WRONG = "ok", "missing", "wrong"
PACKAGE = "dask-graphflow"
DAY = 86_400


class CheckResult(NamedTuple):
    """The result of one check."""

    name: str
    state: str  # {"ok", "missing", "wrong"}
    found: str
    todo: str = ""  # what the user should do; empty if there is nothing to do
    needed: bool = False  # whether the library needs it even on a CPU


def checked() -> list[CheckResult]:
    """Return all checks, in the order in which they are shown."""
    results: list[CheckResult] = []
    for check in CHECKS:
        try:
            results += check()
        except Exception as error:
            # A check that fails to run is a finding itself, and the other checks are still useful.
            name = check.__name__
            results.append(
                CheckResult(name, WRONG, _describe(error), "report this line as a bug", needed=True)
            )
    return results


def requirements() -> Iterator[CheckResult]:
    """Check the versions of Python and of the required packages."""
    try:
        wanted = importlib.metadata.metadata(PACKAGE)["Requires-Python"]
    except importlib.metadata.PackageNotFoundError:
        state = "not installed; Python imports it from a folder"
        yield CheckResult(PACKAGE, WRONG, state, "run pip install . in that folder", needed=True)
        return
    python = platform.python_version()
    if SpecifierSet(wanted).contains(python, prereleases=True):
        yield CheckResult("Python", OK, python, needed=True)
    else:
        yield CheckResult("Python", WRONG, python, f"install Python {wanted}", needed=True)
    needed = _required()
    there = versions.find_installed(one.name for one in needed)
    for one in needed:
        yield _requirement(one, there[one.name])


def _required(extra: str = "") -> list[Requirement]:
    """Return the requirements that an extra adds, or those of the package itself if there is no extra."""
    try:
        lines = importlib.metadata.requires(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return []  # `requirements` already reports this
    required = []
    for line in lines:
        wanted = Requirement(line)
        always = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        asked = wanted.marker is not None and wanted.marker.evaluate({"extra": extra})
        if asked and not always if extra else always:
            required.append(wanted)
    return required


def _requirement(wanted: Requirement, version: str | None) -> CheckResult:
    install = f'pip install "{wanted}"'
    if version is None:
        return CheckResult(wanted.name, MISSING, "not installed", install, needed=True)
    if not wanted.specifier.contains(version, prereleases=True):
        state = f"{version}; {wanted.specifier} is required"
        return CheckResult(wanted.name, WRONG, state, install, needed=True)
    return CheckResult(wanted.name, OK, version, needed=True)


def kernels() -> Iterator[CheckResult]:
    """Check that a kernel runs, and say whether it was compiled with the package or by Numba."""
    from dask_graphflow.kernels import precompiled

    library = precompiled.library()
    try:
        _run(None)
    except Exception as error:
        todo = "pip install --upgrade --force-reinstall numba llvmlite"
        yield CheckResult("kernels", WRONG, _describe(error), todo, needed=True)
    else:
        way = (
            f"compiled with the package for {library.level}"
            if library.level
            else "compiled by Numba"
        )
        yield CheckResult("kernels", OK, f"{way}; the result is correct", needed=True)
    if library.problem:
        todo = f"pip install --upgrade --force-reinstall {PACKAGE}"
        state = f"{library.problem}, so Numba compiles all kernels"
        yield CheckResult("precompiled kernels", WRONG, state, todo)


def cache() -> Iterator[CheckResult]:
    """Check the folder in which Numba caches compiled kernels."""
    from dask_graphflow.kernels import jit
    from dask_graphflow.kernels.common import host

    name = "kernel cache"
    folder, by_numba = jit.cached_in(host._hook)
    if by_numba:
        yield CheckResult(name, OK, f"compiled kernels are kept in {folder}")
        return
    unwritable = "neither the installation nor the home folder can be written to"
    if folder is None:
        place = f"none, so each process compiles anew: {unwritable}"
    else:
        place = f"{folder}, among temporary files: {unwritable}"
    yield CheckResult(name, MISSING, place, jit.ADVICE)


def _run(device: Literal["gpu"] | None) -> None:
    """Find the components of one edge."""
    edge = pd.DataFrame({"a": [2], "b": [1]})
    if device == "gpu" and importlib.util.find_spec("cudf"):
        require_gpu()
    labels = Graph(edge, source="a", target="b", device=device).connected_components()
    components = labels.compute(scheduler="sync")["component"].tolist()
    if components != [1, 1]:
        raise RuntimeError(f"the components of the edge from 2 to 1 are {components}, not [1, 1]")


def gpus() -> Iterator[CheckResult]:
    """Check the GPUs, their driver and packages, and that a kernel runs on a GPU."""
    there, (driver, packages, advice) = versions.gpus(), gpu.found()
    listed = "; ".join(there or [])
    if driver is None:
        if listed:
            state = f"{listed}; but the driver library, libcuda, cannot be loaded"
            todo = (
                "in a container, start it with --gpus all and include compute in "
                "NVIDIA_DRIVER_CAPABILITIES; otherwise, reinstall the NVIDIA driver"
            )
            yield CheckResult("GPU", WRONG, state, todo)
        else:
            held = ", ".join(f"{name} {version}" for name, version in packages.items())
            state = "no NVIDIA driver; everything runs on the CPU"
            yield CheckResult("GPU", MISSING, f"{state} ({held} cannot be used)" if held else state)
        return
    cuda = f"a driver for CUDA {driver // 1000}.{driver % 1000 // 10}"
    if there == []:
        todo = "in a container, start it with --gpus all; otherwise, check the output of nvidia-smi"
        yield CheckResult("GPU", WRONG, f"{cuda}, but no GPU", todo)
        return
    listed = listed or "not listed, because nvidia-smi is missing"
    if driver // 1000 < gpu.EXTRAS[0]:
        yield CheckResult("GPU", WRONG, f"{listed}; {cuda}", advice)
        return
    yield CheckResult("GPU", OK, f"{listed}; {cuda}")
    # Without cuDF, calls on pandas frames with device="gpu" need only CuPy.
    rapids = not packages or any(name.startswith("cudf") for name in packages)
    extra = f"{'cuda' if rapids else 'cupy'}{_cuda_of(driver, packages)}"
    checks = [_for_cuda(wanted, extra) for wanted in _required(extra)]
    yield from checks
    if not rapids:
        state = "not installed; pandas frames run on the GPU with device='gpu'"
        todo = f"for cuDF frames, {_install(extra.replace('cupy', 'cuda'))}"
        yield CheckResult("cudf", MISSING, state, todo)
    if gpu.count() > 1:
        yield _pairs(gpu.count())
    yield _on_gpu([check for check in checks if versions.base_name(check.name) in ("cupy", "cudf")])


def _pairs(count: int) -> CheckResult:
    """Check whether the GPUs of a graph's members can use each other's memory."""
    pairs = {pair: gpu.why_apart(*pair) for pair in itertools.combinations(range(count), 2)}
    apart = {pair: why for pair, why in pairs.items() if why}
    if not apart:
        state = f"the kernels of all {count} GPUs can use each other's memory"
        return CheckResult("GPU pairs", OK, state)
    (one, other), why = next(iter(apart.items()))
    state = f"{len(apart)} of {len(pairs)} pairs send arrays by NCCL. GPUs {one} and {other}: {why}"
    return CheckResult("GPU pairs", MISSING, state)


def _cuda_of(driver: int, packages: dict[str, str]) -> int:
    """Return the CUDA version for packages: that of the installed CuPy, if the driver supports it."""
    for cuda in gpu.EXTRAS:
        others = [f"cupy-cuda{other}x" for other in gpu.EXTRAS if other != cuda]
        alone = not any(name in packages for name in others)
        if f"cupy-cuda{cuda}x" in packages and alone and cuda <= driver // 1000:
            return cuda
    return min(driver // 1000, gpu.EXTRAS[-1])


def _for_cuda(wanted: Requirement, extra: str) -> CheckResult:
    base, install = versions.base_name(wanted.name), _install(extra)
    there = {name: version for name, version in versions.find_installed([base]).items() if version}
    installed = ", ".join(f"{name} {version}" for name, version in there.items())
    others = " ".join(name for name in there if name not in (wanted.name, base))
    if others:
        todo = f"pip uninstall {others}, then {install}"
        return CheckResult(wanted.name, WRONG, f"{installed}, built for another CUDA version", todo)
    if not there:
        return CheckResult(wanted.name, MISSING, "not installed", install)
    return CheckResult(wanted.name, OK, installed)


def _install(extra: str) -> str:
    return f'pip install "{PACKAGE}[{extra}]"'


def _on_gpu(packages: list[CheckResult]) -> CheckResult:
    name, lacking = "GPU kernels", [check for check in packages if check.state != OK]
    if lacking:
        state = f"the GPU needs {' and '.join(one.name for one in lacking)}"
        return CheckResult(name, WRONG, state, lacking[0].todo)
    try:
        _run("gpu")
    except Exception as error:
        advice = gpu.found().advice
        return CheckResult(name, WRONG, _describe(error).removesuffix(advice).rstrip(), advice)
    return CheckResult(name, OK, "compiled by NVRTC; the result is correct")


def extras() -> Iterator[CheckResult]:
    """Check the packages that plots and Dask's dashboard need."""
    for extra, user in (("plot", "gf.plot"), ("dashboard", "Dask's dashboard")):
        for wanted in _required(extra):
            (version,) = versions.find_installed([wanted.name]).values()
            check = _requirement(wanted, version)._replace(needed=False)
            if check.state != OK:
                found = f"{check.found}; {user} needs it"
                check = check._replace(found=found, todo=_install(extra))
            yield check


def cluster() -> Iterator[CheckResult]:
    """Look for a cluster in Dask's configuration, without connecting to it."""
    address = dask.config.get("scheduler-address", None)
    if address is None:
        state = f"none in the Dask configuration; {CPU_COUNT} threads in one process"
    else:
        state = f"{address}, from the Dask configuration; not contacted"
    yield CheckResult("cluster", OK, state)


def memory() -> Iterator[CheckResult]:
    """Report the free memory."""
    free = room_of(False)
    yield CheckResult("memory", OK, "unknown" if free is None else f"{size(free)} free")


def calibration() -> Iterator[CheckResult]:
    """Report the stored measurements of this machine."""
    kept = rate_store.entries()
    for path, age, stale in kept:
        again = "; stale, will be measured again when needed" if stale else ""
        yield CheckResult("calibration", OK, f"{path}, {age / DAY:.1f} days old{again}")
    if not kept:
        state = f"nothing in {rate_store.folder()}; gf.calibrate() measures this machine"
        todo = 'optional: python -c "import dask_graphflow as gf; gf.calibrate()"'
        yield CheckResult("calibration", MISSING, state, todo)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


CHECKS: tuple[Callable[[], Iterator[CheckResult]], ...] = (
    requirements,
    kernels,
    cache,
    gpus,
    extras,
    cluster,
    memory,
    calibration,
)
