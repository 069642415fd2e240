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
import os
import platform
import re
import socket
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import dask
from dask.system import CPU_COUNT
from dask.utils import parse_timedelta

from dask_graphflow.exceptions import BackendError, GraphflowError, OptionError
from dask_graphflow.showing.bar import Step
from dask_graphflow.showing.suggestions import nearest

from . import microbenchmarks
from .curves import CURVES, Rates

__all__ = [
    "Entry",
    "about",
    "entries",
    "file_name",
    "folder",
    "hardware",
    "held",
    "pull_rate",
    "rates",
    "stored",
    "write",
]

FORMAT = 4
AGE = "30 days"
BUSY = 3600.0  # seconds that rates of a busy machine are kept

_known: dict[
    Path, Rates
] = {}  # measured by this process; the only copy of the rates if files cannot be written


def rates(
    device: bool,
    threads: int,
    *,
    only: str | None = None,
    fresh: bool = False,
    measure: Callable[[bool, int], Rates] | None = None,
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
        The only rate that is needed: "hooks", "builds", "pulls", "searches", "paths", "labels", "merges",
        "deals", "dense_ids", "far_ids" or "text_ids". If nothing is stored, no other kernel is compiled and
        measured.
    fresh : bool
        Whether to measure even if rates are stored.
    measure : callable, optional
        Function of `device` and `threads` that measures. By default the kernels are timed.
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
    ...     kept = {"graphflow.calibration.path": folder, "graphflow.calibration.scales": [8]}
    ...     with dask.config.set(kept):
    ...         first = costs.rates(False, 1, only="merges")
    ...         again = costs.rates(False, 1, only="merges")
    >>> first == again, first.rate("merges", 1 << 8) > 0
    (True, True)
    """
    if only is not None and only not in list(CURVES):
        raise OptionError(
            f"only={only!r}; give {', '.join(map(repr, CURVES))}, or None for all of them"
            f"{nearest(only, CURVES)}"
        )
    if not fresh and (found := stored(device, threads, only)) is not None:
        return found
    machine = about(device, threads)
    if measure is None:
        kernels = microbenchmarks.KERNELS if only is None else [only]
        measure = partial(microbenchmarks.measure, scales=_scales(), only=kernels, tell=tell)
    path = folder() / file_name(device, threads, only)
    busy = not device and microbenchmarks.is_busy(threads)
    _known[path] = made = measure(device, threads)
    busy = busy or (not device and microbenchmarks.is_busy(threads))
    if busy:
        warnings.warn(
            "other programs used the cores while the kernels were measured, so the rates may be too low. "
            "They are kept for an hour. Call gf.calibrate() again when the machine is idle",
            stacklevel=2,
        )
    try:
        write(path, {**machine, "made": time.time(), "busy": busy, "rates": made.as_dict()})
    except OSError as error:
        warnings.warn(
            f"what was measured of this machine cannot be kept in {path.parent} ({error}); it will be "
            "measured again in each process. Set graphflow.calibration.path in Dask's configuration",
            stacklevel=2,
        )
    return made


def stored(device: bool, threads: int, only: str | None = None) -> Rates | None:
    """Return the stored rates of this machine, or None; nothing is measured. See :func:`rates`."""
    machine = about(device, threads)
    for name in dict.fromkeys([file_name(device, threads), file_name(device, threads, only)]):
        path = folder() / name
        found = _known.get(path) if path in _known and not path.exists() else _read(path, machine)
        if found is not None:
            return found
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
    found = []
    for path in sorted(folder().glob(f"rates-{_host()}-*.json")):
        kind = re.match(r"-(cpu|gpu)-(\d+)", path.name.removeprefix(f"rates-{_host()}"))
        if kind is None:
            continue
        try:
            stale = _read(path, about(kind[1] == "gpu", int(kind[2]))) is None
        except BackendError:  # the GPU can no longer be used
            stale = True
        found.append(Entry(path, time.time() - path.stat().st_mtime, stale))
    return found


def folder() -> Path:
    """Return the directory of the stored files."""
    told = dask.config.get("graphflow.calibration.path", None)
    if told is not None:
        return Path(told).expanduser()
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
        about = cuda.runtime.getDeviceProperties(cuda.runtime.getDevice())
        name = about.get("name", f"compute capability {cuda.Device().compute_capability}")
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


def about(device: bool, threads: int) -> dict[str, Any]:
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
    told = dask.config.get("graphflow.calibration.scales", None)
    if told is None:
        return None
    if not isinstance(told, list | tuple) or not told or sorted(map(int, told)) != list(told):
        raise OptionError(
            f"graphflow.calibration.scales is {told!r} in Dask's configuration; give ascending logarithms "
            "of numbers of vertices, such as [12, 16]"
        )
    return list(told)


def file_name(device: bool, threads: int, only: str | None = None, *, start: str = "rates") -> str:
    """Return the name of the file for this machine's GPU, or for `threads` of its threads."""
    of = "" if only is None else f"-{only}"
    return f"{start}-{_host()}-{'gpu' if device else 'cpu'}-{threads}{of}.json"


def _host() -> str:
    return re.sub(r"[^\w.-]", "_", socket.gethostname())


def _age() -> float:
    told = dask.config.get("graphflow.calibration.age", AGE)
    try:
        age = float(parse_timedelta(told))
    except (KeyError, TypeError, ValueError):
        age = -1.0
    if not age >= 0:
        raise OptionError(
            f"graphflow.calibration.age is {told!r} in Dask's configuration; give a time like '30 days'"
        )
    return age


def held(path: Path, machine: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file about a machine; empty if it is stale or cannot be read."""
    age = _age()
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        # If the clock was set back, a file may come from the future. Such a file is stale too.
        if not 0 <= time.time() - found["made"] <= (min(age, BUSY) if found["busy"] else age):
            return {}
        return {} if any(found[name] != value for name, value in machine.items()) else found
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _read(path: Path, machine: dict[str, Any]) -> Rates | None:
    """Return the rates of a file, unless it is stale or cannot be read."""
    found = held(path, machine)
    try:
        return Rates.of(found["rates"])
    except (ValueError, KeyError, TypeError, GraphflowError):
        return None


def write(path: Path, held: dict[str, Any]) -> None:
    """Write a file atomically, since several workers of a machine may do so at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.name, suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(held, file, indent=1)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
