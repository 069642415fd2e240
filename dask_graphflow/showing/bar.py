"""Progress of running work: a progress bar, or a function of the caller."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from dask_graphflow.exceptions import OptionError

from .tables import counted

Step = dict[str, Any]

Listener = Callable[[Step | None], None]
"""Receives each step of some work, and None when the work has ended."""


class Shown(NamedTuple):
    """The data of a step that a bar shows."""

    done: int  # number of steps done, including this one
    total: int | None  # total number of steps, if known
    how: str  # what the step did


class Kind(NamedTuple):
    """A kind of step."""

    unit: str  # plural name of the steps
    shown: Callable[[Step], Shown]  # takes a step, and returns :class:`Shown`


def _superstep(step: Step) -> Shown:
    how = f"{step['direction']} from {counted(step['frontier'], 'vertex', 'vertices')}"
    return Shown(step["superstep"] + 1, None, how)


def _part(step: Step) -> Shown:
    return Shown(step["done"], step["total"], step["stage"])


SUPERSTEPS = Kind("supersteps", _superstep)
PARTS = Kind("parts", _part)


def listener(progress: Any, name: str, kind: Kind = SUPERSTEPS) -> Listener | None:
    """Return the listener that ``progress=`` asks for, or raise if the value is not valid.

    True shows a progress bar with the name of the work; a function gets a dict for each step.
    """
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar(name, kind)
    if callable(progress):
        return lambda step: None if step is None else progress(step)
    raise OptionError(
        f"progress={progress!r}; give True for a progress bar, or a function that takes a dict"
    )


class Bar:
    """Shows a progress bar in a terminal or a notebook, and nothing elsewhere, such as in a log file.

    It raises :class:`.OptionError` if tqdm is not installed.
    """

    def __init__(self, name: str, kind: Kind = SUPERSTEPS) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise OptionError(
                "progress=True shows a bar of tqdm, which is not installed; run pip install tqdm, or give "
                "a function that takes a dict"
            ) from error
        self._shown = kind.shown
        # disable=None is tqdm's "only in a terminal". Standard error is not a terminal in a notebook.
        disable = False if in_notebook() else None
        self._begin = partial(
            tqdm, desc=name, unit=f" {kind.unit}", dynamic_ncols=True, disable=disable
        )
        self._bar: Any = None

    def __call__(self, step: Step | None) -> None:
        """Show a step, or close the bar when the work has ended."""
        if step is None:
            if self._bar is not None:
                self._bar.close()
            self._bar = None
            return
        done, total, how = self._shown(step)
        if self._bar is None:
            self._bar = self._begin(total=total)
        if done <= self._bar.n:
            self._bar.reset()  # the work started again, after a worker was lost
        self._bar.set_postfix_str(how, refresh=False)
        self._bar.update(done - self._bar.n)


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    # The import waits if another thread is importing it.
    ipython = importlib.import_module("IPython") if "IPython" in sys.modules else None
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")
