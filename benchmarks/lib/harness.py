"""The harness of all benchmarks: contenders take turns, and their answers are checked.

A contender has a name and some work. :func:`take_turns` runs A B C A B C ..., after one round to warm up.
So changes of the machine's speed affect all contenders equally, and a ratio compares times of one round.
"""

from __future__ import annotations

import gc
import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.lib.errors import ContenderFailedError

MESSAGE = 200  # characters of an error
TRIALS = 3  # runs in a row of which the fastest counts, because its data is in the caches
ENOUGH = 1.0  # seconds of runs in a row after which there is no other one
PATIENCE = 30  # seconds until a scheduler has to have forgotten the tasks of the last run


@dataclass(frozen=True)
class Outcome:
    """The seconds of a run, and its answer."""

    seconds: float
    answer: Any = None


def in_process(main: Callable[..., None], *arguments: str, **environment: str) -> Any:
    """Call a function of a benchmark in a process of its own; return what its last line has as JSON."""
    code = f"import sys; from {main.__module__} import main; main(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ContenderFailedError(f"{arguments[0]}: {done.stderr.strip()[-MESSAGE:]}")
    return json.loads(done.stdout.splitlines()[-1])


def timed(
    work: Callable[[], Any], wait: Callable[[], object] = lambda: None, trials: int = 1
) -> Outcome:
    """Run some work up to `trials` times in a row; return the fewest seconds, and the last answer.

    On a device, `wait` waits until the device is idle, before and after the work.
    """
    seconds: list[float] = []
    while len(seconds) < trials and sum(seconds) < ENOUGH:
        answer = None  # frees the memory of the last one
        wait()
        began = time.perf_counter()
        answer = work()
        wait()
        seconds.append(time.perf_counter() - began)
    return Outcome(min(seconds), answer)


@dataclass(frozen=True)
class Spread:
    """The minimum, the median and the maximum of several measurements."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of values."""
        return cls(min(values), statistics.median(values), max(values))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f})"


Contenders = Mapping[str, Callable[[], Outcome]]


def take_turns(
    contenders: Contenders,
    repeat: int,
    check: Callable[[str, Any], None],
    failures: dict[str, str] | None = None,
    patience: Mapping[str, float] | None = None,
) -> dict[str, list[float]]:
    """Run all contenders in each round, and return the seconds of each by round, without the first round.

    A contender does the work once, and returns an :class:`Outcome`. `check` gets the name and the answer of
    a contender after each run. `failures` receives the reasons why contenders cannot do the work. They are
    left out, including their earlier rounds. Without this dict, the first failure ends the benchmark. If
    the first run of a contender takes longer than its `patience` in seconds, the run counts, and there is
    no other.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    limits, done = patience or {}, set[str]()
    for turn in range(repeat + 1):
        for name in [name for name in seconds if name not in done]:
            gc.collect()  # so that this contender does not pay for the garbage of the last one
            try:
                outcome = contenders[name]()
            except ContenderFailedError as error:
                if failures is None:
                    raise
                failures[name] = str(error)
                del seconds[name]
                continue
            check(name, outcome.answer)
            if not turn and outcome.seconds > limits.get(name, math.inf):
                done.add(name)
            if turn or name in done:
                seconds[name].append(outcome.seconds)
            del outcome  # free its memory for the next contender
    return seconds


def ratios(seconds: Sequence[float], base: Sequence[float]) -> Spread:
    """Return the spread of the ratios, round by round; `base` can have more rounds."""
    return Spread.of([one / other for one, other in zip(seconds, base, strict=False)])


class JsonProcess:
    """A process that answers each line of JSON with one line. It is started again after a failure.

    Its standard error goes to a file, `log`. The options are those of :class:`subprocess.Popen`.
    """

    def __init__(self, command: Sequence[str], log: Path, **options: Any) -> None:
        self._command, self._log, self._options = command, log, options
        self._running: subprocess.Popen[str] | None = None

    @property
    def running(self) -> bool:
        """Whether the process was started, and has not failed since."""
        return self._running is not None

    def start(self) -> None:
        """Start the process."""
        with self._log.open("w") as log:
            self._running = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                **self._options,
            )

    def send(self, request: Mapping[str, Any]) -> None:
        """Send a request."""
        assert self._running is not None
        try:
            print(json.dumps(request), file=self._running.stdin, flush=True)
        except BrokenPipeError:
            raise self._ended() from None

    def receive(self, limit: float) -> dict[str, Any]:
        """Return the next answer; raise ContenderFailedError if there is none in time, or an error."""
        assert self._running is not None
        stdout = self._running.stdout
        assert stdout is not None
        if not select.select([stdout], [], [], limit)[0]:
            self.stop(patience=0)
            raise ContenderFailedError(f"no answer within {limit:g} s")
        line = stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise ContenderFailedError(answer["failed"][:MESSAGE])
        return answer

    def stop(self, patience: float = 10) -> None:
        """End the process and those that it started, after some seconds to close its clusters."""
        if self._running is None:
            return
        running, self._running = self._running, None
        with suppress(BrokenPipeError):
            running.stdin.close()  # type: ignore[union-attr]
        with suppress(subprocess.TimeoutExpired):
            running.wait(patience)
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        running.stdout.close()  # type: ignore[union-attr]

    def _ended(self) -> ContenderFailedError:
        self.stop()
        last = self._log.read_text("utf-8", "replace").strip().splitlines()[-1:]
        return ContenderFailedError(f"the process ended: {''.join(last)[:MESSAGE]}")


def known_tasks(client: Any) -> int:
    """Return the number of tasks that the scheduler of a client knows."""
    return int(client.run_on_scheduler(_tasks))


def wait_until_forgotten(client: Any, held: int) -> None:
    """Wait until the scheduler has at most `held` tasks; it would reuse the results of the last run."""
    deadline = time.monotonic() + PATIENCE
    while known_tasks(client) > held:
        if time.monotonic() > deadline:
            raise ContenderFailedError("the scheduler still holds the tasks of the last run")
        time.sleep(0.01)


def _tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)
