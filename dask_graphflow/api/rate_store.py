"""The store of measured rates, so that each machine is measured only once.

The store has a file for each kind of worker, in ``graphflow.calibration.path`` of Dask's configuration or
by default in the user's cache directory. Rates are measured again if the file is older than
``graphflow.calibration.age`` (30 days), was written by another version of this library or on other
hardware, or cannot be read. If other programs used the cores during the measurement, rates expire after an
hour.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import os
import platform
import re
import socket
import time
import uuid
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dask
from dask.system import CPU_COUNT
from dask.utils import parse_timedelta

from dask_graphflow.costs.rates import Rates
from dask_graphflow.exceptions import BackendError, GraphflowError, OptionError
from dask_graphflow.showing.bar import Step

FORMAT = 6
AGE = "30 days"
BUSY = 3600.0  # seconds that rates of a busy machine are kept

# Rates that this process measured; the only copy if files cannot be written.
_measured: dict[Path, Rates] = {}


def rates(
    device: bool,
    threads: int,
    *,
    fresh: bool = False,
    tell: Callable[[Step], object] | None = None,
) -> Rates:
    """Return the stored rates of this machine, or measure and store them.

    Fresh rates are measured even if some are stored; see :func:`.measure` for the arguments. It raises
    :class:`.BackendError` if no GPU can be used, and :class:`.OptionError` if ``graphflow.calibration.age``
    is not a time.
    """
    if not fresh and (own := stored(device, threads)) is not None:
        return own
    from . import measuring  # not needed to look rates up, as the build of each graph does

    path, machine = _path(device, threads), _machine(device, threads)
    busy = not device and measuring.is_busy(threads)
    own = measuring.measure(device, threads, tell=tell)
    busy = busy or (not device and measuring.is_busy(threads))
    if busy:
        warnings.warn(
            "other programs used the cores while the kernels were measured, so the rates may be too low. "
            "They are kept for an hour. Call gf.calibrate() again when the machine is idle",
            stacklevel=2,
        )
    _measured[path] = own
    try:
        _write(path, {**machine, "made": time.time(), "busy": busy, "rates": asdict(own)})
    except OSError as error:
        warnings.warn(
            f"the rates of this machine cannot be kept in {path.parent} ({error}); they will be measured "
            "again in each process. Set graphflow.calibration.path in Dask's configuration",
            stacklevel=2,
        )
    return own


def stored(device: bool, threads: int) -> Rates | None:
    """Return the stored rates of this machine, or None; nothing is measured. See :func:`rates`."""
    path = _path(device, threads)
    unwritten = path in _measured and not path.exists()
    return _measured[path] if unwritten else _read(path, device, threads)


def pull_rate(device: bool, threads: int, vertices: int) -> float:
    """Return how many edges of a graph this process pulls per second in one iteration of PageRank."""
    return rates(device, threads).rate("pulls", vertices)


def entries() -> list[tuple[Path, float, bool]]:
    """Return the files of this machine, their ages in seconds, and whether they will be measured again."""
    files = []
    for path in sorted(folder().glob(f"rates-{_host()}-*.json")):
        kind = re.fullmatch(r"-(cpu|gpu)-(\d+)", path.stem.removeprefix(f"rates-{_host()}"))
        if kind is None:
            continue
        try:
            stale = _read(path, kind[1] == "gpu", int(kind[2])) is None
        except BackendError:  # the GPU can no longer be used
            stale = True
        files.append((path, time.time() - path.stat().st_mtime, stale))
    return files


def folder() -> Path:
    """Return the directory of the stored files."""
    configured = dask.config.get("graphflow.calibration.path", None)
    if configured is not None:
        return Path(configured).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG standard says to ignore relative paths.
    if Path(cache).is_absolute():
        return Path(cache) / "dask-graphflow"
    try:
        home = Path.home()
    except RuntimeError:  # the user has no home directory, as in a container
        home = Path(os.devnull)  # nothing can be stored here
    return home / ".cache" / "dask-graphflow"


def hardware(device: bool) -> str:
    """Return the name of the GPU, or the name of the processor and its number of cores."""
    if device:
        from dask_graphflow.kernels.gpu import load_cupy

        cuda = load_cupy().cuda
        properties = cuda.runtime.getDeviceProperties(cuda.runtime.getDevice())
        name = properties.get("name", f"compute capability {cuda.Device().compute_capability}")
        return name.decode() if isinstance(name, bytes) else str(name)
    return f"{_processor()}, {CPU_COUNT} cores"


@functools.cache  # the file has several lines per core
def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def _machine(device: bool, threads: int) -> dict[str, Any]:
    """Return the description of the machine that a file contains; a file with another one is stale."""
    return {
        "format": FORMAT,
        "version": importlib.import_module("dask_graphflow").__version__,
        "host": socket.gethostname(),
        "hardware": hardware(device),
        "threads": threads,
    }


def _path(device: bool, threads: int) -> Path:
    """Return the file for this machine's GPU, or for `threads` of its threads."""
    return folder() / f"rates-{_host()}-{'gpu' if device else 'cpu'}-{threads}.json"


def _host() -> str:
    return re.sub(r"[^\w.-]", "_", socket.gethostname())


def _read(path: Path, device: bool, threads: int) -> Rates | None:
    """Return the rates of a file, unless it is stale or cannot be read."""
    machine, age = _machine(device, threads), dask.config.get("graphflow.calibration.age", AGE)
    try:
        most = float(parse_timedelta(age))
    except (KeyError, TypeError, ValueError):
        most = math.nan
    if not most >= 0:
        raise OptionError(
            f"graphflow.calibration.age is {age!r} in Dask's configuration; give a time like '30 days'"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        most = min(most, BUSY) if content["busy"] else most
        # If the clock was set back, a file may come from the future. Such a file is stale too.
        if not (machine.items() <= content.items() and 0 <= time.time() - content["made"] <= most):
            return None
        return Rates(**{name: tuple(values) for name, values in content["rates"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, GraphflowError):
        return None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a file atomically, since several workers of a machine may do so at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{uuid.uuid4().hex}.partial")
    try:
        partial.write_text(json.dumps(content, indent=1), encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
