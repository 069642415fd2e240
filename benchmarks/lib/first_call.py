"""The process of a first call. At its top it imports nothing else, because it measures imports."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

DASK = "Dask alone"  # adds 1 to the edges


def main(name: str, path: str, threads: str, listen: str) -> None:
    """Make a call twice in this process, and print the CPU seconds of imports and calls.

    Parameters
    ----------
    name : str
        Name of a function, or :data:`DASK`.
    path : str
        Pickle of the columns of the edges and the options of the function.
    threads : str
        Number of threads.
    listen : str
        Not empty to list what Numba compiles. That imports Numba before the call.
    """
    python = process_time()
    import dask
    import dask.dataframe as dd

    dask_alone = process_time()
    if name != DASK:
        import dask_graphflow as gf
    times: dict[str, Any] = {
        "python": python,
        "import dask": dask_alone - python,
        "import": process_time() - dask_alone,
    }
    import pandas as pd

    columns, options = pickle.loads(Path(path).read_bytes())
    edges = dd.from_pandas(pd.DataFrame(columns), npartitions=4)

    def call() -> None:
        if name == DASK:
            (edges + 1).compute()
            return
        made = getattr(gf, name)(edges, source="source", target="target", **options)
        if name != "estimate":
            made.compute()

    dask.config.set(num_workers=int(threads))
    with _listening() if listen else nullcontext(dict) as compiled:
        begin, cpu = perf_counter(), process_time()
        call()
        times |= {"call": perf_counter() - begin, "cpu": process_time() - cpu}
    cpu = process_time()
    call()
    print(json.dumps({**times, "second": process_time() - cpu, **compiled()}))


@contextmanager
def _listening() -> Iterator[Callable[[], dict[str, Any]]]:
    """Record the compile time of each kernel in seconds, without the kernels that it calls."""
    from numba.core.event import Listener, install_listener

    class Compiled(Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self._begun: list[float] = []
            self._within: list[float] = [0.0]
            self._kernels: dict[str, float] = {}

        def on_start(self, event: Any) -> None:
            self._begun.append(perf_counter())
            self._within.append(0.0)

        def on_end(self, event: Any) -> None:
            whole = perf_counter() - self._begun.pop()
            own = whole - self._within.pop()
            self._within[-1] += whole
            function = event.data["dispatcher"].py_func
            kernel = f"{function.__module__}.{function.__qualname__}{event.data['args']}"
            self._kernels[kernel] = self._kernels.get(kernel, 0.0) + own

        def times(self) -> dict[str, Any]:
            return {"compiling": self._within[0], "kernels": self._kernels}

    listener = Compiled()
    with install_listener("numba:compile", listener):
        yield listener.times
