"""The scheduler of a command: threads of this process, or worker processes."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any, Self

import dask
import dask.threaded
from dask.callbacks import Callback
from dask.system import CPU_COUNT
from tqdm import tqdm

from dask_graphflow.tasks import memory_limits


class Engine:
    """A scheduler with a progress bar.

    Parameters
    ----------
    workers : int
        Number of worker processes; 0 uses threads of this process.
    threads : int or None
        Threads of each process; None divides the cores evenly.
    memory_limit : int or None
        Bytes that each worker may use; None divides the memory evenly.
    show_progress : bool
        Whether to draw a progress bar, if the output is a terminal.

    Raises
    ------
    GraphMemoryError
        The memory limit is too low for a worker.
    """

    def __init__(
        self, workers: int, threads: int | None, memory_limit: int | None, *, show_progress: bool
    ) -> None:
        if workers and memory_limit:
            memory_limits.check_limit(memory_limit)
        self._workers = workers
        self._threads = threads or max(1, CPU_COUNT // max(1, workers))
        self._memory_limit = memory_limit
        self._show_progress = show_progress
        self._client: Any = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            # dynamic_ncols follows the terminal; disable=None is tqdm's "only on a terminal".
            self._bar = opened.enter_context(
                tqdm(
                    total=0,
                    unit=" tasks",
                    leave=False,
                    dynamic_ncols=True,
                    disable=None if self._show_progress else True,
                )
            )
            if self._workers:
                self._start_cluster(opened)
            else:
                # Pass the function instead of its name: for a name, Dask imports distributed.
                opened.enter_context(
                    dask.config.set(scheduler=dask.threaded.get, num_workers=self._threads)
                )
                opened.enter_context(_LocalProgress(self._bar))
            self._open = opened.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            # distributed would log long messages about the work that was interrupted.
            for name in ("asyncio", "distributed.nanny"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        self._open.close()

    def _start_cluster(self, opened: ExitStack) -> None:
        from distributed import Client, LocalCluster

        with _interrupts_held():
            cluster = opened.enter_context(
                LocalCluster(
                    n_workers=self._workers,
                    threads_per_worker=self._threads,
                    memory_limit=self._memory_limit or "auto",
                    dashboard_address=None,
                    # Without a dashboard, the scheduler would still listen on port 8787.
                    scheduler_kwargs={"dashboard_address": ":0"},
                )
            )
        self._client = opened.enter_context(Client(cluster))
        self._client.register_plugin(_quiet_workers())
        # The scheduler runs in this process, so that a plugin can update the bar.
        cluster.scheduler.add_plugin(_cluster_progress(self._bar), name="graphflow-progress")

    def compute(self, *collections: Any) -> tuple[Any, ...]:
        """Compute collections together."""
        return tuple(dask.compute(*collections))

    def peak_memory(self) -> int | None:
        """Return the sum of the peak memory of all processes, in bytes."""
        peaks = [peak_memory()]
        if self._client is not None:
            peaks += self._client.run(peak_memory).values()
        measured = [peak for peak in peaks if peak is not None]
        return sum(measured) if len(measured) == len(peaks) else None


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back interrupts, and block them in the threads and processes that are started here.

    A terminal also interrupts worker processes, and each would print its own traceback. With interrupts
    blocked, this process stops them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # If the first worker process started the tracker later, that would unblock interrupts again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _quiet_workers() -> Any:
    """Return a plugin that stops workers from logging errors that the command itself reports."""
    from distributed import WorkerPlugin

    class QuietWorkers(WorkerPlugin):  # type: ignore[misc]
        name = "graphflow-quiet"

        def setup(self, worker: Any) -> None:
            # The command reports a task's error in one line. Tasks are only canceled by an interrupt.
            logging.getLogger("distributed.worker").addFilter(
                lambda record: not str(record.msg).startswith("Compute Failed")
            )
            logging.getLogger("distributed.worker.state_machine").setLevel(logging.ERROR)

    return QuietWorkers()


class _LocalProgress(Callback):  # type: ignore[misc]
    """Counts the tasks of the threaded scheduler."""

    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar
        super().__init__()

    def _start_state(self, dsk: Any, state: Any) -> None:
        self._bar.total += sum(len(state[kind]) for kind in ("ready", "waiting", "running"))
        self._bar.refresh()

    def _posttask(self, key: Any, result: Any, dsk: Any, state: Any, worker_id: Any) -> None:
        self._bar.update()


def _cluster_progress(bar: tqdm[Any]) -> Any:
    """Return a scheduler plugin that counts tasks. distributed is imported only here."""
    from distributed import SchedulerPlugin

    class ClusterProgress(SchedulerPlugin):  # type: ignore[misc]
        def update_graph(self, scheduler: Any, *, tasks: Any, **_: Any) -> None:
            bar.total += len(tasks)
            bar.refresh()

        def transition(
            self, key: Any, start: str, finish: str, *_args: Any, **_kwargs: Any
        ) -> None:
            if (start, finish) == ("processing", "memory"):
                bar.update()

    return ClusterProgress()


def peak_memory() -> int | None:
    """Return the peak memory of this process in bytes, or None if the system does not record it."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    try:
        # On Linux, getrusage starts from the peak of the parent process, but VmHWM does not.
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
