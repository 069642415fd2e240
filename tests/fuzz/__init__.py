"""Random calls of all functions on columns of every type, and edge programs; answers are checked."""

from __future__ import annotations

import faulthandler
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import dask
from oracles.oracle import Outcome

from . import cases, graph_cases, programs

PATIENCE = 400.0  # seconds after which a case, which can have several slow calls, counts as hanging
KINDS: Mapping[Callable[[Random], Outcome], float] = {
    programs.run: 0.05,  # low, because each program is compiled
    cases.run: 0.3,
    graph_cases.answers: 0.35,
    graph_cases.changes: 0.3,
}
"""The kinds of cases, and their fractions."""


def fuzz(
    minutes: float,
    first: int,
    most: int | None = None,
    kinds: Mapping[Callable[[Random], Outcome], float] = KINDS,
) -> dict[str, Any]:
    """Run one case after another, each with its own seed, until the time is up."""
    outcomes: Counter[str] = Counter()
    errors: dict[str, str] = {}
    findings: list[dict[str, Any]] = []
    stop, number = time.monotonic() + minutes * 60, first
    while time.monotonic() < stop and (most is None or number < first + most):
        rng = Random(number)
        # If a call hangs, the run ends and prints all stacks. The last number printed is that of the call.
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            with dask.config.set(scheduler="sync"), warnings.catch_warnings():
                warnings.simplefilter("error")
                (run_case,) = rng.choices(list(kinds), list(kinds.values()))
                outcome = run_case(rng)
            outcomes[outcome.what] += 1
            if outcome.error:
                errors.setdefault(outcome.error.partition(":")[0], outcome.error)
        except KeyboardInterrupt:
            break
        except BaseException as error:
            told = "".join(traceback.format_exception(error))
            findings.append({"case": number, "told": told})
            print(f"case {number}: {told}", file=sys.stderr, flush=True)
        finally:
            faulthandler.cancel_dump_traceback_later()
        number += 1
    return {"cases": number - first, "outcomes": outcomes, "refusals": errors, "findings": findings}
