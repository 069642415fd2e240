"""Describe the machine that a result was measured on."""

from __future__ import annotations

import datetime as dt
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

import dask_graphflow as gf

PACKAGES = (
    "dask",
    "distributed",
    "pandas",
    "numpy",
    "numba",
    "pyarrow",
    "scipy",
    "networkit",
    "igraph",
    "networkx",
    *(
        f"{name}-{cuda}"
        for cuda in ("cu12", "cu13")
        for name in ("cudf", "dask-cudf", "rmm", "cugraph", "ucxx", "distributed-ucxx")
    ),
    "cupy-cuda12x",
    "cupy-cuda13x",
    "dask-cuda",
)


def describe() -> dict[str, object]:
    """Return what a reader of the results needs to know about the machine and the software."""
    devices = gpus()
    return {
        **({"gpus": devices} if devices else {}),
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": versions(),
    }


def cpu_model() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def versions() -> dict[str, str]:
    """Return the versions of the relevant installed packages."""
    installed = {"dask_graphflow": gf.__version__}
    for package in PACKAGES:
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return installed


def gpus() -> dict[str, Any] | None:
    """Return the GPUs, their driver and the links between them, or None without nvidia-smi."""
    listed = _output(
        "nvidia-smi",
        "--query-gpu=name,memory.total,driver_version",
        "--format=csv,noheader,nounits",
    )
    return parse_gpus(listed, _output("nvidia-smi", "topo", "-m") or "") if listed else None


def gpu_count() -> int:
    """Return the number of GPUs that nvidia-smi lists."""
    listed = gpus()
    return len(listed["devices"]) if listed else 0


def parse_gpus(listed: str, links: str) -> dict[str, Any]:
    """Parse nvidia-smi's list of GPUs and its matrix of links, in which NV18 means 18 NVLinks."""
    rows = [[cell.strip() for cell in line.split(",")] for line in listed.splitlines()]
    return {
        "devices": [{"name": name, "memory_mib": int(memory)} for name, memory, _ in rows],
        "driver": rows[0][2],
        "nvlink": sorted(set(re.findall(r"\bNV\d+\b", links))),
    }


def commit() -> str | None:
    """Return the git commit, with a mark if the working tree differs from it.

    In a copy without history, the environment variable GRAPHFLOW_COMMIT gives the commit.
    """
    given = os.environ.get("GRAPHFLOW_COMMIT")
    if given:
        return given
    name = _output("git", "rev-parse", "HEAD")
    if name is None:
        return None
    return f"{name} with changes" if _output("git", "status", "--porcelain") else name


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(
            command,
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
