"""Installed versions, for bug reports. They come from package metadata; no package is imported."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from typing import IO, Any

from dask_graphflow.kernels import gpu
from dask_graphflow.showing.tables import as_text, size

from .rate_store import hardware

PACKAGES = ("dask", "distributed", "pandas", "pyarrow", "numpy", "numba", "llvmlite")
ON_GPU = ("cupy", "cudf", "dask-cudf", "dask-cuda", "rmm", "ucxx")
FOR_CUDA = re.compile(r"-cuda\d+x|-cu\d+")  # suffix of wheels; Conda packages do not have it
PATIENCE = 20  # seconds; a driver that was not in use has to start first


def show_versions(file: IO[str] | None = None, *, as_dict: bool = False) -> dict[str, Any] | None:
    """Print the versions of this library, its dependencies, the system and the GPUs, for bug reports.

    Parameters
    ----------
    file : file-like, optional
        Where to print. By default the standard output.
    as_dict : bool
        Whether to return a dict instead of printing. False by default.

    Returns
    -------
    dict or None
        With `as_dict`, a dict with the keys "system", "packages" and "cuda", each of which is a dict. The
        version of a package that is not installed is None. "gpus" in "cuda" is a list of str, or None if
        ``nvidia-smi`` is not available.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> versions = gf.show_versions(as_dict=True)
    >>> list(versions)
    ['system', 'packages', 'cuda']
    >>> versions["system"]["dask_graphflow"] == gf.__version__
    True
    """
    import psutil  # always installed, because Dask's workers need it

    memory = psutil.virtual_memory()
    driver = gpu.found().driver
    versions: dict[str, Any] = {
        "system": {
            "dask_graphflow": importlib.import_module("dask_graphflow").__version__,
            "python": f"{platform.python_version()} ({platform.python_implementation()})",
            "os": platform.platform(),
            "processor": hardware(False),
            "memory": f"{size(memory.total)}, {size(memory.available)} free",
        },
        "packages": find_installed([*PACKAGES, *ON_GPU]),
        "cuda": {
            "driver": None if driver is None else f"CUDA {driver // 1000}.{driver % 1000 // 10}",
            "gpus": gpus(),
        },
    }
    if as_dict:
        return versions
    rows = [
        row
        for part in versions.values()
        for name, value in part.items()
        for row in _rows(name, value)
    ]
    (file or sys.stdout).write(f"{as_text(rows)}\n")
    return None


def _rows(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, list):
        return [(name, one) for one in value] or [(name, "none")]
    return [(name, "none" if value is None else str(value))]


def find_installed(names: Iterable[str]) -> dict[str, str | None]:
    """Return the versions of packages by their Conda names; None if not installed.

    Wheels are found too, such as ``cupy-cuda13x`` for ``cupy``.
    """
    there: dict[str, dict[str, str]] = {}
    for package in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", package.name).lower()
        base = base_name(name)
        # If two distributions have the same name, the first one is imported.
        there.setdefault(base, {}).setdefault(name, package.version)
    versions: dict[str, str | None] = {}
    for name in names:
        versions |= sorted(there[name].items()) if name in there else {name: None}
    return versions


def base_name(name: str) -> str:
    """Return the Conda name of a package that has a wheel for each CUDA version."""
    return FOR_CUDA.sub("", name)


def gpus() -> list[str] | None:
    """Return descriptions of the GPUs that ``nvidia-smi`` lists; None if it is missing or fails."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    asked = "--query-gpu=name,memory.total,driver_version"
    try:
        done = subprocess.run(
            [command, asked, "--format=csv,noheader"],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    lines = (line.split(",") for line in done.stdout.splitlines() if line.strip())
    return [", ".join(map(str.strip, line)) for line in lines]
