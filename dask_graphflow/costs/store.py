"""The store of measured rates, so that each machine is measured only once.

The store has a file for each kind of worker, in ``graphflow.calibration.path`` of Dask's configuration or
by default in the user's cache directory. Rates are measured again if the file is older than
``graphflow.calibration.age`` (30 days), was written by another version of this library or on other
hardware, or cannot be read. If other programs used the cores during the measurement, rates expire after an
hour. ``graphflow.calibration.scales`` sets the sizes of the measured graphs, as binary logarithms of the
numbers of vertices.
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
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import dask
from dask.system import CPU_COUNT
from dask.utils import parse_timedelta

from dask_graphflow.exceptions import BackendError, GraphflowError, OptionError
from dask_graphflow.showing.bar import Step
from dask_graphflow.showing.suggestions import nearest

from . import measuring
from .rates import KERNELS, Rates

FORMAT = 5
AGE = "30 days"
BUSY = 3600.0  # seconds that rates of a busy machine are kept

# Rates that this process measured; the only copy if files cannot be written.
_measured: dict[Path, Rates] = {}


def rates(
    device: bool,
    threads: int,
    *,
    only: str | None = None,
    fresh: bool = False,
    tell: Callable[[Step], object] | None = None,
) -> Rates:
    """Return the stored rates of this machine, or measure and store them, which takes seconds.

    Parameters
    ----------
    device : bool
        Whether to return the rates of this process' GPU; otherwise those of the host.
    threads : int
        Number of host threads that may be used.
    only : str, optional
        The only rate that is needed: "hooks", "builds", "pulls", "searches", "paths", "labels" or "merges".
        If nothing is stored, no other kernel is compiled and measured.
    fresh : bool
        Whether to measure even if rates are stored.
    tell : callable, optional
        Called for each kernel that was measured.

    Returns
    -------
    Rates
        Edges and vertices per second, by the size of the graph.

    Raises
    ------
    BackendError
        No GPU can be used.
    OptionError
        `only` is not one of these names, or ``graphflow.calibration.age`` is not a time.

    Examples
    --------
    >>> import tempfile
    >>> import dask
    >>> from dask_graphflow import costs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"graphflow.calibration.path": folder, "graphflow.calibration.scales": [8]}
    ...     with dask.config.set(options):
    ...         first = costs.rates(False, 1, only="merges")
    ...         again = costs.rates(False, 1, only="merges")
    >>> first == again, first.rate("merges", 1 << 8) > 0
    (True, True)
    """
    if only is not None and only not in list(KERNELS):
        raise OptionError(
            f"only={only!r}; give {', '.join(map(repr, KERNELS))}, or None for all of them"
            f"{nearest(only, KERNELS)}"
        )
    if not fresh and (own := stored(device, threads, only)) is not None:
        return own
    path, machine = _path(device, threads, only), _machine(device, threads)
    kernels = tuple(KERNELS) if only is None else (only,)
    busy = not device and measuring.is_busy(threads)
    own = measuring.measure(device, threads, scales=_scales(), only=kernels, tell=tell)
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


def stored(device: bool, threads: int, only: str | None = None) -> Rates | None:
    """Return the stored rates of this machine, or None; nothing is measured. See :func:`rates`."""
    for name in (None,) if only is None else (None, only):
        path = _path(device, threads, name)
        unwritten = path in _measured and not path.exists()
        own = _measured[path] if unwritten else _read(path, device, threads)
        if own is not None:
            return own
    return None


def pull_rate(device: bool, threads: int, vertices: int) -> float:
    """Return how many edges this process pulls per second in one iteration of PageRank.

    The rate is measured if it is not stored yet.

    Parameters
    ----------
    device : bool
        Whether to return the rate of this process' GPU; otherwise that of the host.
    threads : int
        Number of host threads that may be used.
    vertices : int
        Number of vertices of the graph.
    """
    return rates(device, threads, only="pulls").rate("pulls", vertices)


class Entry(NamedTuple):
    """A file of stored rates of this machine.

    Attributes
    ----------
    path : Path
    age : float
        Seconds since it was written.
    stale : bool
        Whether the rates will be measured again when they are next needed.
    """

    path: Path
    age: float
    stale: bool


def entries() -> list[Entry]:
    """Return the files that are stored for this machine, sorted by path; nothing is measured.

    Raises
    ------
    OptionError
        ``graphflow.calibration.age`` or ``.scales`` is invalid.
    """
    files = []
    for path in sorted(folder().glob(f"rates-{_host()}-*.json")):
        kind = re.match(r"-(cpu|gpu)-(\d+)", path.name.removeprefix(f"rates-{_host()}"))
        if kind is None:
            continue
        try:
            stale = _read(path, kind[1] == "gpu", int(kind[2])) is None
        except BackendError:  # the GPU can no longer be used
            stale = True
        files.append(Entry(path, time.time() - path.stat().st_mtime, stale))
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
        "scales": _scales(),
    }


def _scales() -> list[int] | None:
    """Return the configured binary logarithms of the sizes to measure, or None."""
    scales = dask.config.get("graphflow.calibration.scales", None)
    if scales is None:
        return None
    if not isinstance(scales, list | tuple) or not scales or sorted(map(int, scales)) != [*scales]:
        raise OptionError(
            f"graphflow.calibration.scales is {scales!r} in Dask's configuration; give ascending "
            "base-2 logarithms of numbers of vertices, such as [12, 16]"
        )
    return list(scales)


def _path(device: bool, threads: int, only: str | None = None) -> Path:
    """Return the file for this machine's GPU, or for `threads` of its threads."""
    kind = f"{'gpu' if device else 'cpu'}-{threads}" + ("" if only is None else f"-{only}")
    return folder() / f"rates-{_host()}-{kind}.json"


def _host() -> str:
    return re.sub(r"[^\w.-]", "_", socket.gethostname())


def _age() -> float:
    """Return the maximum age of a file in seconds."""
    age = dask.config.get("graphflow.calibration.age", AGE)
    try:
        seconds = float(parse_timedelta(age))
    except (KeyError, TypeError, ValueError):
        seconds = math.nan
    if not seconds >= 0:
        raise OptionError(
            f"graphflow.calibration.age is {age!r} in Dask's configuration; give a time like '30 days'"
        )
    return seconds


def _read(path: Path, device: bool, threads: int) -> Rates | None:
    """Return the rates of a file, unless it is stale or cannot be read."""
    machine, most = _machine(device, threads), _age()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if any(content[name] != value for name, value in machine.items()):
            return None
        # If the clock was set back, a file may come from the future. Such a file is stale too.
        if not 0 <= time.time() - content["made"] <= (min(most, BUSY) if content["busy"] else most):
            return None
        values: Any = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content["rates"].items()
        }
        return Rates(**values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, GraphflowError):
        return None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a file atomically, since several workers of a machine may do so at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.name, suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
